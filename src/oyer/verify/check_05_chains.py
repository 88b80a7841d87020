"""Check 5: every chain is intact, sealed, and agrees with the others.

Proves that the ledger is one unbroken chain of legal transitions; that every journal of every attempt is one too, ends
in `sealed`, and carries this series, trial, run, condition and attempt; that `trial.closed` lists exactly the writers
that are there, with their lengths and heads; that the packed attempt is the one the ledger recorded, with the status
it recorded; that every turn that was sent is one that its case declares in this arm. An attempt that failed on our side
may be torn: its torn tail is kept and named, and nothing else of it may be wrong. Source: the design's evidence page,
"Sealing"; known fault EVID-07.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from oyer.errors import Problem
from oyer.records import PlannedModel, PlannedTrial, plain_price
from oyer.verify.attempts import AttemptReading
from oyer.verify.result import Check, Findings
from oyer.verify.survey import Phase, Survey

__all__ = ["check_chains"]

ADVICE = "nothing may rest on this attempt: restore it from a copy, or run a new series"
LEDGER_ADVICE = "nothing after this place is known to have happened: restore the ledger from a copy"

UNFINISHED = frozenset(
    {
        "E-ATTEMPT-CLOSED",
        "E-ATTEMPT-HARNESS",
        "E-ATTEMPT-OPENED",
        "E-CHAIN-CAUSE",
        "E-CHAIN-TORN",
        "E-CHAIN-UNSEALED",
        "E-WRITERS-UNLISTED",
    }
)
"""What an attempt that was interrupted may lack. A link that does not match is never among it."""


def check_chains(survey: Survey, attempts: Iterable[AttemptReading]) -> Check:
    """Check the ledger, then every attempt on disk."""
    found = Findings(5, "chains", ADVICE)
    _ledger(survey, found)
    count = 0
    for attempt in attempts:
        count += 1
        _attempt(survey, attempt, found)
    lines = f"{survey.ledger.length} lines"
    return found.close(f"the ledger ({lines}) and every journal of {count} attempts are whole, sealed and agree")


def _ledger(survey: Survey, found: Findings) -> None:
    ledger, path = survey.ledger, "ledger.jsonl"
    for problem in survey.problems.get(path, ()):
        if survey.phase is not Phase.UNOPENED:
            found.failed(problem.code, problem.message, path, LEDGER_ADVICE)
    for finding in ledger.findings:
        found.note(f"torn and marked: {path} {finding.where}: {finding.message}")
    if survey.phase is Phase.UNOPENED:
        found.open("E-SERIES-NONE", "the series was never opened: there is no chain", path)
    elif survey.phase is Phase.OPEN:
        for defect in ledger.defects:
            found.note(f"torn: {path}: {defect.message}")
        found.open(
            "E-SERIES-OPEN",
            "the ledger was not closed: nothing commits to its end",
            path,
            "run the plan again, in a new directory",
        )
    elif survey.ledger_data is not None:
        for defect in ledger.defects:
            found.failed(defect.code, defect.message, f"{path} {defect.where}", LEDGER_ADVICE)


def _attempt(survey: Survey, attempt: AttemptReading, found: Findings) -> None:
    if attempt.missing:
        found.failed("E-ATTEMPT-MISSING", f"the evidence of {attempt.name} is not there", attempt.path)
        return
    if attempt.unreadable is not None:
        problem = attempt.unreadable
        found.failed(problem.code, f"{problem.message} ({attempt.name})", attempt.path)
        _packed(attempt, found)
        return
    _packed(attempt, found)
    for problem in attempt.leftovers:
        found.failed(problem.code, problem.message, problem.where)
    for writer, size in sorted(attempt.torn.items()):
        found.note(f"torn: {attempt.name}, {size} bytes without a newline in {writer}")
    for defect in attempt.defects:
        if attempt.must_be_whole or defect.code not in UNFINISHED:
            _tell(found, attempt, defect)
    if attempt.defects and not attempt.must_be_whole:
        found.note(
            f"unfinished: {attempt.name} ({_status(attempt)}), {len(attempt.defects)} things are missing or torn"
        )
    _status_agrees(attempt, found)
    planned = survey.planned.get(attempt.trial)
    if planned is not None and attempt.opened is not None:
        model = survey.plan.models.get(planned.subject) if survey.plan is not None else None
        _opened_as_planned(attempt, planned, model, attempt.opened, found)
    for ref, told in attempt.untold:
        found.failed("E-TURN-OTHER", f"{told} ({attempt.name})", f"{attempt.path} {ref}")
    for ref, told in attempt.unseen:
        found.failed("E-LOOK-MISSING", f"{told} ({attempt.name})", f"{attempt.path} {ref}")
    if survey.manifest is not None and attempt.opened is not None:
        _opened_in_its_vocabulary(attempt, survey.manifest.vocabulary, attempt.opened["vocabulary"], found)


def _tell(found: Findings, attempt: AttemptReading, defect: Problem) -> None:
    found.failed(defect.code, f"{defect.message} ({attempt.name})", f"{attempt.path} {defect.where}")


def _status(attempt: AttemptReading) -> str:
    state = attempt.state
    return "unknown to the ledger" if state is None else state.status or state.state


def _packed(attempt: AttemptReading, found: Findings) -> None:
    """Compare the stored bytes of the packed attempt with the digest that the ledger recorded when it was sealed."""
    state, packed = attempt.state, attempt.packed
    if state is None:
        return
    if state.digest is None:
        if state.state in {"torn", "refused"}:
            found.failed("E-ATTEMPT-UNKNOWN", f"the ledger says that {attempt.name} left nothing", attempt.path)
        return
    if packed is None:
        if attempt.unreadable is None:
            found.failed("E-ATTEMPT-UNPACKED", f"the ledger recorded {attempt.name} as packed", attempt.path)
    elif packed.sha256 != state.digest:
        message = f"{attempt.name} is not the one that the ledger recorded"
        found.failed("E-ATTEMPT-DIGEST", message, attempt.path)


def _status_agrees(attempt: AttemptReading, found: Findings) -> None:
    state, closed = attempt.state, attempt.closed
    if state is None or state.state != "sealed" or closed is None or closed == state.status:
        return
    # A journal that could not be sealed is packed as it is, and the ledger then says harness_error.
    if state.status == "harness_error" and attempt.defects:
        return
    message = f"the ledger says {state.status} and trial.closed says {closed} ({attempt.name})"
    found.failed("E-LEDGER-STATUS", message, attempt.path)


def _opened_as_planned(
    attempt: AttemptReading, planned: PlannedTrial, model: PlannedModel | None, opened: Any, found: Findings
) -> None:
    wanted = {"case": planned.case_digest, "case_id": planned.case, "repetition": planned.repetition}
    wrong = [name for name, value in wanted.items() if opened.get(name) != value]
    between = () if model is None else model.reasoning_delimiters
    told = opened.get("reasoning_delimiters") or ()
    if [list(pair) for pair in told] != [list(pair) for pair in between]:
        wrong.append("reasoning_delimiters")
    if list(opened.get("model_faults") or ()) != list(() if model is None else model.faults):
        wrong.append("model_faults")
    prices = {} if model is None else {name: plain_price(price) for name, price in model.prices.items()}
    if {name: dict(price) for name, price in (opened.get("prices") or {}).items()} != prices:
        wrong.append("prices")
    if opened.get("model_source") not in (None, *_sources(model)):
        wrong.append("model_source")
    if wrong:
        message = f"{attempt.name} was opened for another {', '.join(wrong)} than planned"
        found.failed("E-CHAIN-FOREIGN", message, f"{attempt.path} harness:0")


def _sources(model: PlannedModel | None) -> tuple[str, ...]:
    """Who may have answered as a planned model: who its address names, or a recording in their place."""
    if model is None:
        return ()
    return "replay", "scripted" if model.base_url.startswith("scripted:") else "endpoint"


def _opened_in_its_vocabulary(attempt: AttemptReading, named: int, opened: int, found: Findings) -> None:
    if named != opened:
        message = f"{attempt.name} names event vocabulary {opened}, and its series {named}"
        found.failed("E-EVENT-VERSION", message, f"{attempt.path} harness:0")
