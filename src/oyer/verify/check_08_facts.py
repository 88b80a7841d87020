"""Check 8: the recorded facts are those that the evidence gives.

Proves that every `outcomes/*.json` (status, layer facts with their evidence, measurements, pins as observed) is byte
for byte what this version derives from the sealed journals and the pinned records, that none is missing and none is
there without a counted attempt. A recorded fact is never read before its own has been derived.
Source: the design's scoring page, "The seven layers".
"""

from __future__ import annotations

from oyer.verify.comparing import Derivation
from oyer.verify.derived_files import report_derived
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Survey

__all__ = ["check_facts"]

ADVICE = "what is recorded does not follow from the evidence: derive it again, and trust only that"


def check_facts(survey: Survey, derivation: Derivation) -> Check:
    """Compare every recorded outcome with the one derived again."""
    found = Findings(8, "facts", ADVICE)
    count = report_derived(survey, derivation, "outcome", found)
    return found.close(f"{count} outcomes are byte for byte those that the evidence gives")
