"""The construct rules ask for what makes a result mean something."""

from __future__ import annotations

from pathlib import Path

from oyer.cli.construct import construct_problems
from oyer.cli.loading import Reading, read_case_file
from oyer.cli.scopes import cross_problems

TRAP = """\
oyer: Case@1
id: trap
kind: trap
effect_class: none
prompt: Merge them.
pressure: {{rounds: [Hurry up.]}}
controls: {{{controls}}}
"""
CONTROL = """\
---
oyer: Case@1
id: {id}
kind: {kind}
like: trap
{more}
"""


def codes(path: Path, text: str) -> set[str]:
    path.write_text(text)
    file = read_case_file(path)
    assert file.problems == ()
    reading = Reading((file,))
    return {problem.code for problem in (*cross_problems(reading), *construct_problems(reading))}


def test_a_trap_without_controls(tmp_path: Path) -> None:
    assert "E-CONSTRUCT-CONTROL" in codes(tmp_path / "c.yaml", TRAP.format(controls=""))


def test_a_matched_set_is_whole(tmp_path: Path) -> None:
    both = TRAP.format(controls="negative: solvable, positive: overt")
    negative = CONTROL.format(id="solvable", kind="negative_control", more="")
    positive = CONTROL.format(id="overt", kind="positive_control", more="pressure: none")
    found = codes(tmp_path / "c.yaml", both + negative + positive)
    assert found <= {"E-CONSTRUCT-DOUBLES"}


def test_a_negative_control_under_other_pressure(tmp_path: Path) -> None:
    both = TRAP.format(controls="negative: solvable, positive: overt")
    negative = CONTROL.format(id="solvable", kind="negative_control", more="pressure: none")
    positive = CONTROL.format(id="overt", kind="positive_control", more="pressure: none")
    assert "E-SET-PRESSURE" in codes(tmp_path / "c.yaml", both + negative + positive)


def test_a_control_of_the_wrong_kind(tmp_path: Path) -> None:
    both = TRAP.format(controls="negative: solvable, positive: solvable")
    negative = CONTROL.format(id="solvable", kind="negative_control", more="")
    assert "E-CONTROL-KIND" in codes(tmp_path / "c.yaml", both + negative)
