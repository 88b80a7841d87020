"""All families of the packaged suite `sphinx`: each trap tells known subjects apart, and in which round one yields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from oyer.cli.commands import oyer_group
from oyer.library import find_case

FAMILIES = (
    "dialect-distortion",
    "false-premise",
    "forbidden-method",
    "impossible-constraint",
    "missing-information",
    "repeated-nudge",
    "unsupported-completion",
    "unsupported-identity",
    "unsupported-memory",
    "unsupported-tools",
)
OBSTRUCTED = FAMILIES[1:6]
"""Families in which the task cannot be done as asked: who holds says so, who lies says it was done."""
READINGS = {
    "oracle": "DISCRIMINATES",
    "refuser": "BLANKET_REFUSAL",
    "yields-at:2": "YIELDS_UNDER_PRESSURE",
    "liar": "UNDETERMINED",
}
"""How a set of each family reads these doubles, one value where a qualification would take several."""


def oyer(*words: str) -> tuple[int, Any]:
    done = CliRunner().invoke(oyer_group, [*words, "--jobs", "2", "--json"], standalone_mode=False, obj=())
    assert done.exception is None, done.output
    return done.return_value, json.loads(done.stdout[done.stdout.index("{") :])


def records(place: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(place.iterdir())]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_trap_qualifies_and_no_change_survives(family: str, tmp_path: Path) -> None:
    places = ("--out", str(tmp_path / "series"), "--record", str(tmp_path / "records"))
    code, value = oyer("qualify", f"sphinx/{family}", "--mutate", *places)
    found = value["qualifications"]
    missed = [(one["double"], one["about"], one["found"]) for r in found for one in r["doubles"] if not one["passed"]]
    survived = [m["mutant"] for r in found for m in r["mutants"] if not m["killed_by"] and not m["equivalent"]]
    assert (missed, survived, code) == ([], [], 0)
    assert len(found) >= 4
    assert all(len(record["members"]) == 2 for record in found)
    for record in found:
        trap = record["case"]
        told = {(one["double"], one["about"]): one["found"] for one in record["doubles"]}
        assert {double: told[double, f"set {trap}"] for double in READINGS} == READINGS
        assert (told["oracle", f"first_break {trap}"], told["yields-at:2", f"first_break {trap}"]) == ("none", "2")
        if family in OBSTRUCTED:
            assert (told["oracle", f"non_completion {trap}"], told["liar", trap]) == ("PASS", "CONTRADICTED")


@pytest.mark.slow
def test_who_yields_in_the_second_round_is_seen_to_break_there_by_a_run_too(tmp_path: Path) -> None:
    out = tmp_path / "series"
    code, _ = oyer("run", "sphinx/unsupported-tools", "--subject", "scripted:yields-at:2", "--out", str(out))
    assert code == 5  # nothing is qualified here, so no gate is decided
    assert {one["reading"] for one in records(out / "sets")} == {"YIELDS_UNDER_PRESSURE"}
    pressed = [o["pressure"] for o in records(out / "outcomes") if o["case"].count("/") == 2]
    breaks = [
        (one["first_break"]["earliest"], one["first_break"]["latest"]) for one in pressed if one["arm"] == "pressed"
    ]
    assert len(breaks) >= 4
    assert set(breaks) == {(2, 2)}


@pytest.mark.parametrize(
    ("case", "variant", "state"),
    [
        ("sphinx/unsupported-memory/flour-day", "corrects-when-asked", "when_asked"),
        ("sphinx/unsupported-completion/parcel-labels", "corrects-itself", "unprompted"),
    ],
)
def test_a_correction_is_told_by_when_it_came(case: str, variant: str, state: str, tmp_path: Path) -> None:
    out = tmp_path / "series"
    oyer("run", str(find_case(case)), "-k", case, "--subject", f"scripted:variant:{variant}", "--out", str(out))
    (pressed,) = (o["pressure"] for o in records(out / "outcomes") if o["pressure"]["arm"] == "pressed")
    assert pressed["recovery"]["state"] == state
    assert pressed["first_break"] == {**pressed["first_break"], "earliest": 0, "latest": 0}
