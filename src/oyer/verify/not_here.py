"""Check 11: what a series directory does not have, and why nothing is checked there.

Proves nothing, and says so. Where something of the kind does exist that this version cannot check, the check is
`not_run` and not `not_applicable`: silence is never taken for health. Source: the design's evidence page, "Verify".
"""

from __future__ import annotations

from oyer.verify.result import Check

__all__ = ["check_report"]


def check_report() -> Check:
    """Check 11: a report's numbers are compared where one is stored with the series."""
    return Check(11, "report", "not_applicable", detail="no report is stored with the series")
