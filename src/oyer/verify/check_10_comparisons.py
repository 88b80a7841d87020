"""Check 10: the recorded comparisons and matched sets are those that the evidence gives.

Proves that every `comparisons/*.json` (mechanical outcome, every reason, every link, attribution, contrast) is byte for
byte what this version derives from the sealed journals and the pinned records; that each repetition of an experiment
has one and that there are no others; and the same of every `sets/*.json`, for each repetition of a trap with controls.
Where a rule stopped the series, every look is taken again: what it counts and decides is what the ledger says.
Coverage and further statistics come under the same check.
Source: the design's scoring page, "Mechanical outcome of an experiment".
"""

from __future__ import annotations

from collections.abc import Sequence

from oyer.adjudicate import Judge
from oyer.verify.comparing import Derivation
from oyer.verify.derived_files import report_derived
from oyer.verify.result import Check, Findings
from oyer.verify.stopped import redecide
from oyer.verify.survey import Survey

__all__ = ["check_comparisons"]

ADVICE = "what is recorded does not follow from the evidence: derive it again, and trust only that"


def check_comparisons(survey: Survey, derivation: Derivation, asked: Sequence[Judge] = ()) -> Check:
    """Compare every recorded comparison with the one derived again, and every decision of a rule with its look."""
    found = Findings(10, "comparisons", ADVICE)
    count = report_derived(survey, derivation, "comparison", found)
    sets = report_derived(survey, derivation, "set", found)
    stops = redecide(survey, derivation, asked, found)
    told = f"{count} comparisons" + (f" and {sets} matched sets" if sets else "")
    told += f" and {stops} decisions of the stopping rule" if stops else ""
    return found.close(f"{told} are byte for byte those that the evidence gives")
