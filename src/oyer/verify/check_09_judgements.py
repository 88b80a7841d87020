"""Check 9: the recorded judgements are those that their evaluators make of the evidence.

Proves that every judgement of the built-in evaluator, and of a plug-in that was given with the very code that is
pinned, is byte for byte what it makes again of the sealed journals under the pinned rubric; that every planned one is
there; and of all others that they stand where they belong, judged the evidence that counts and cite events that exist.
A judgement that cannot be made again is `not_run`, never taken for right.
Source: the design's evidence page, "Verify".
"""

from __future__ import annotations

from oyer.adjudicate import BUILT_IN
from oyer.records import digest
from oyer.verify.comparing import Derivation
from oyer.verify.derived_files import report_derived
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Survey

__all__ = ["check_judgements"]

ADVICE = "what is recorded is not what its evaluator makes of the evidence: judge it again, and trust only that"
GIVE = "verify with --plugin FILE, the file whose digest is pinned; give every file where there are several revisions"
_OWN = f"judgements/{digest(BUILT_IN).removeprefix('sha256:')}/"


def check_judgements(survey: Survey, derivation: Derivation) -> Check:
    """Compare every recorded judgement with the one made again, where its evaluator is here."""
    found = Findings(9, "judgements", ADVICE)
    if not survey.of("judgement") and not (survey.plan is not None and survey.plan.rubrics):
        return found.close("")._replace(status="not_applicable", detail="nothing is judged by the plan")
    theirs = frozenset(path for path in survey.of("judgement") if not path.startswith(_OWN)) - derivation.expected
    count = report_derived(survey, derivation, "judgement", found, spared=theirs)
    for path in sorted(derivation.relied - frozenset(survey.parts)):
        if survey.judged:
            found.failed("E-DERIVED-MISSING", "a planned evaluator made no judgement of the trial", path)
    planned = survey.planned
    for path in sorted(theirs):
        wrong = derivation.unfounded.get(path)
        if wrong is not None:
            found.failed(wrong.code, wrong.message, path, wrong.hint)
        elif survey.parts[path].name not in planned and planned:
            found.failed("E-DERIVED-EXTRA", "the plan has no such trial", path, "remove it")
        else:
            found.open("E-JUDGEMENT-UNSEEN", "its evaluator is not here to make it again", path, GIVE)
    return found.close(f"{count} judgements are byte for byte those that their evaluators make of the evidence")
