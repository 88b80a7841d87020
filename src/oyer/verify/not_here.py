"""Checks 9 and 11: what a series directory does not have, and why nothing is checked there.

Proves nothing, and says so. Where something of the kind does exist that this version cannot check, the check is
`not_run` and not `not_applicable`: silence is never taken for health. Source: the design's evidence page, "Verify".
"""

from __future__ import annotations

from oyer.verify.result import Check, Findings
from oyer.verify.survey import Survey

__all__ = ["check_judgements", "check_report"]

NEWER = "verify with a newer Oyer"


def check_judgements(survey: Survey) -> Check:
    """Check 9: mechanical evaluators are run again where judgements were recorded."""
    found = Findings(9, "judgements", NEWER)
    for path in survey.of("judgement"):
        found.open("E-VERIFY-UNKNOWN", "this version cannot run its evaluator again", path, NEWER)
    check = found.close("")
    return check if check.findings else check._replace(status="not_applicable", detail="no judgement is recorded")


def check_report() -> Check:
    """Check 11: a report's numbers are compared where one is stored with the series."""
    return Check(11, "report", "not_applicable", detail="no report is stored with the series")
