"""Attacks on what judging leaves: judgements, matched sets, verdicts in outcomes, and what they rest on in the pins."""

from __future__ import annotations

from typing import Any

from golden_judged import judged_records

from attacks.ground import Ground, MemoryForger
from attacks.kinds import Attack
from attacks.on_store import results
from attacks.rows import Change, record, row, written
from oyer.adjudicate import BUILT_IN
from oyer.evidence import digest_of
from oyer.plan import outcome_form
from oyer.records import digest

__all__ = ["ROWS"]

J, S = "judgements", "sets"
JUDGEMENT, SET, OUTCOME = "judgements/*.json", "sets/*.json", "outcomes/*.json"
_CASES, _RUBRICS = judged_records()
RUBRIC = digest(_RUBRICS["truthful"])
FORM = digest(outcome_form(_CASES[0].case, _RUBRICS))
EVALUATOR = digest(BUILT_IN)


def _flipped(value: dict[str, Any]) -> None:
    """A part that was supported is refuted by the same evidence."""
    value["parts"][0]["state"] = "refuted"


def _of_another_trial(_ground: Ground, forger: MemoryForger) -> None:
    """The judgement of one trial stands in the place of another's, under the other's name."""
    one, other = forger.find(JUDGEMENT), forger.find(JUDGEMENT, 2)
    name = other.rpartition("/")[2].removesuffix(".json")
    forger.files[other] = written(lambda value: value.update(trial=name))(forger.files[one])


def _member_swapped(value: dict[str, Any]) -> None:
    one, two = value["members"][0], value["members"][1]
    one["state"], two["state"] = two["state"], one["state"]
    one["by"], two["by"] = two["by"], one["by"]


def _member_of_another_case(value: dict[str, Any]) -> None:
    one, two = value["members"][0], value["members"][1]
    one["case"], two["case"] = two["case"], one["case"]


def _verdict(value: dict[str, Any]) -> None:
    for verdict in value["verdicts"]:
        verdict["verdict"] = "UNKNOWN"


def _reading(value: dict[str, Any]) -> None:
    value["reading"] = "BLANKET_REFUSAL" if value["reading"] == "DISCRIMINATES" else "DISCRIMINATES"


def _pin(name: str, edit: Any) -> Change:
    return record(edit, f"pins/{name[7:]}.json")


def _renamed(name: str, edit: Any) -> Change:
    """Edit a pinned record, and mend every name of it in plan, manifest, ledger and the names of judgements."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        data = written(edit)(forger.files.pop(f"pins/{name[7:]}.json"))
        new = digest_of(data)
        forger.files[f"pins/{new[7:]}.json"] = data
        forger.files["plan.json"] = forger.files["plan.json"].replace(name.encode(), new.encode())
        for path in [path for path in forger.files if path.startswith("judgements/")]:
            there = forger.files.pop(path).replace(name.encode(), new.encode())
            forger.files[path.replace(name[7:], new[7:])] = there
        forger.reopen()

    return applied


def _form_renamed(ground: Ground, forger: MemoryForger) -> None:
    """A form that promises less, with every name of it mended, and the outcomes as they were."""
    _renamed(FORM, lambda value: value.update(judged=[], observed=[]))(ground, forger)


def _rubric_softened(value: dict[str, Any]) -> None:
    value["criteria"] = value["criteria"][:1]


def _all_anew(ground: Ground, forger: MemoryForger) -> None:
    _renamed(RUBRIC, _rubric_softened)(ground, forger)
    forger.derive()


ROWS: tuple[Attack, ...] = (
    *results(J, JUDGEMENT, 9, ground="judged", other="judged_foreign"),
    *results(S, SET, 10, ground="judged", other="judged_foreign"),
    row("judgement flipped and resealed", "edit", J, 9, record(_flipped, JUDGEMENT), ground="judged"),
    row("judgement of another trial", "edit", J, 9, _of_another_trial, ground="judged"),
    row("judgement that cites what is not there", "edit", J, 9,
        record(lambda v: v["parts"][0].update(evidence=["tap:desk:999"]), JUDGEMENT), ground="judged"),
    row("judgement under another evaluator", "edit", J, 9,
        record(lambda v: v.update(evaluator="somebody"), JUDGEMENT), ground="judged"),
    row("judgement that says it could not be made", "edit", J, 9,
        record(lambda v: v.update(parts=[], error="it raised"), JUDGEMENT), ground="judged"),
    row("parts of a judgement in another order", "reorder", J, 9,
        record(lambda v: v["parts"].reverse(), JUDGEMENT), ground="judged"),
    row("reading of a set changed", "edit", S, 10, record(_reading, SET), ground="judged"),
    row("states of two members of a set swapped", "edit", S, 10, record(_member_swapped, SET), ground="judged"),
    row("member of a set swapped for another case", "edit", S, 10, record(_member_of_another_case, SET),
        ground="judged"),
    row("members of a set in another order", "reorder", S, 10, record(lambda v: v["members"].reverse(), SET),
        ground="judged"),
    row("verdict changed in the outcome only", "edit", "outcomes", 8, record(_verdict, OUTCOME), ground="judged"),
    row("performance changed in the outcome only", "edit", "outcomes", 8,
        record(lambda v: v["performed"].update(state="failed"), OUTCOME), ground="judged"),
    row("another form named in the outcome", "edit", "outcomes", 8, record(lambda v: v.update(form=RUBRIC), OUTCOME),
        ground="judged"),
    row("a rubric edited", "edit", "pins", 4, _pin(RUBRIC, _rubric_softened), ground="judged"),
    row("a rubric edited, and every name of it mended", "edit", "pins", 8, _renamed(RUBRIC, _rubric_softened),
        ground="judged"),
    row("a rubric edited, its names mended, and all judged anew", "recreate", "pins", "not caught", _all_anew,
        ground="judged"),
    row("an evaluator swapped", "edit", "pins", 4, _pin(EVALUATOR, lambda v: v.update(id="somebody")),
        ground="judged"),
    row("an evaluator of another law, every name of it mended", "edit", "pins", "open",
        _renamed(EVALUATOR, lambda v: v.update(code=digest_of(b"another law"))), ground="judged"),
    row("a form edited", "edit", "pins", 4, _pin(FORM, lambda v: v.update(judged=[])), ground="judged"),
    row("a form edited, and every name of it mended", "edit", "pins", 8, _form_renamed, ground="judged"),
)  # fmt: skip
