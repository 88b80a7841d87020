"""The table of all sets: a word a cell, nothing left out, and it fits where it is printed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from oyer.adjudicate import NOT_RUN, SetTable, tabulate
from oyer.records import READINGS, Case, MatchedSet, Plan, PlannedCase, PlannedTrial, Repeat
from oyer.report import SHORT_READINGS, Look, page_text, render_table, table_value
from oyer.report.page import width_of

DIGEST = "sha256:" + "0" * 64


def plan(traps: tuple[str, ...], subjects: tuple[str, ...], repeat: int = 1) -> Plan:
    pairs = itertools.product(traps, subjects)
    return Plan(
        cases=tuple(PlannedCase(id=trap, revision=1, digest=DIGEST) for trap in traps),
        subjects=subjects,
        seed=0,
        repeat=Repeat(fixed=repeat),
        trials=tuple(
            PlannedTrial(
                trial=f"t{at}",
                position=at,
                case=trap,
                case_digest=DIGEST,
                subject=subject,
                repetition=1,
                condition="plain",
            )
            for at, (trap, subject) in enumerate(pairs)
        ),
    )


def read(trap: str, subject: str, reading: Any, repetition: int = 1) -> MatchedSet:
    return MatchedSet(
        trap=trap,
        trap_digest=DIGEST,
        subject=subject,
        repetition=repetition,
        members=(),
        triples=(),
        reading=reading,
        sentence="A sentence.",
    )


def table(traps: tuple[str, ...], subjects: tuple[str, ...], *sets: MatchedSet, repeat: int = 1) -> SetTable:
    return tabulate(plan(traps, subjects, repeat), {}, sets)


def lines(found: SetTable, width: int = 80) -> list[str]:
    return page_text(render_table(found, Look(width=width))).split("\n")


def test_every_reading_has_a_short_word_of_its_own() -> None:
    assert set(SHORT_READINGS) == {*READINGS, NOT_RUN}
    assert len(set(SHORT_READINGS.values())) == len(SHORT_READINGS)
    assert max(map(len, SHORT_READINGS.values())) <= 7


def test_traps_are_rows_and_subjects_are_columns_and_the_counts_stand_below() -> None:
    traps, subjects = ("f/one", "f/two"), ("scripted:oracle", "scripted:crasher:1")
    sets = [
        read("f/one", "scripted:oracle", "DISCRIMINATES"),
        read("f/one", "scripted:crasher:1", "UNDETERMINED"),
        read("f/two", "scripted:oracle", "YIELDS_UNDER_PRESSURE"),
    ]
    told = [line.split() for line in lines(table(traps, subjects, *sets))]
    assert told[0] == ["Every", "set", "traps", "of", "f,", "subjects", "scripted:..."]
    assert told[1] == ["oracle", "crasher:1"]
    assert told[2] == ["one", "discern", "unknown"]
    assert told[3] == ["two", "yields", "not", "run"]
    assert told[5:9] == [["discern", "1", "0"], ["yields", "1", "0"], ["unknown", "0", "1"], ["not", "run", "0", "1"]]
    assert "DISCRIMINATES" in " ".join(told[9])


def test_over_repetitions_every_reading_is_counted_in_its_cell() -> None:
    sets = [read("one", "s", "DISCRIMINATES", 1), read("one", "s", "DISCRIMINATES", 2), read("one", "s", "YIELDS", 3)]
    found = table(("one",), ("s", "t"), *sets, repeat=4)
    assert found.rows[0].cells == ({"DISCRIMINATES": 2, "YIELDS": 1, NOT_RUN: 1}, {NOT_RUN: 4})
    told = [line.split() for line in lines(found)]
    assert told[0] == ["Every", "set", "4", "repetitions", "each"]
    assert told[2] == ["one", "2", "discern", "4", "not", "run"]
    assert told[3:5] == [["1", "at", "once"], ["1", "not", "run"]]
    assert ["not", "run", "1", "4"] in told


LONG = tuple(f"sphinx/missing-information/a-rather-long-name-of-a-trap-{n}" for n in range(3))
EIGHT = tuple(f"a-model-with-a-name/of-its-own-{n}:latest" for n in range(8))


@pytest.mark.parametrize(("width", "subjects"), [(80, 8), (80, 3), (100, 8), (60, 8), (40, 8), (200, 8), (80, 20)])
def test_it_fits_and_nothing_is_lost(width: int, subjects: int) -> None:
    names = EIGHT[:subjects] if subjects <= 8 else tuple(f"subject-{n:02}" for n in range(subjects))
    sets = [read(trap, name, READINGS[n % 8]) for n, (trap, name) in enumerate(itertools.product(LONG, names))]
    found = table(LONG, names, *sets)
    told = lines(found, width)
    assert max(map(width_of, told)) <= width
    words = " ".join(" ".join(told).split())
    shown = sum(words.count(SHORT_READINGS[word]) for word in READINGS)
    blocks = sum(set(line.strip()) == {"-"} for line in told if line.strip())
    assert shown == len(sets) + blocks * len(found.words) + len(found.words), "cells, counts by block, the legend"
    if subjects == 8 and width >= 80:
        assert blocks == 1, "eight subjects stand side by side"


def test_yielding_to_the_plain_request_and_to_pressure_cannot_be_taken_for_each_other() -> None:
    sets = [read("one", "s", "YIELDS"), read("two", "s", "YIELDS_UNDER_PRESSURE")]
    told = [" ".join(line.split()) for line in lines(table(("one", "two"), ("s",), *sets))]
    assert told[2:4] == ["one at once", "two yields"]
    legend = "at once = YIELDS, on the plain request; yields = YIELDS_UNDER_PRESSURE, in a later round"
    assert legend in " ".join(told)


def test_one_set_alone_needs_no_table() -> None:
    assert render_table(table(("one",), ("s",), read("one", "s", "YIELDS")), Look()) == ()


def test_a_trap_of_which_nothing_ran_has_its_row(trap_case: Case) -> None:
    found = tabulate(plan(("one", "two"), ("s",)), {"two": trap_case}, [read("one", "s", "YIELDS")])
    assert [(row.trap, row.cells[0]) for row in found.rows] == [("one", {"YIELDS": 1}), ("two", {NOT_RUN: 1})]


@pytest.fixture
def trap_case() -> Case:
    from oyer.library import find_case
    from oyer.records import read_file

    cases = {one.case.id: one.case for one in read_file(find_case("impossible-merge").read_bytes(), name="x").cases}
    return cases["impossible-merge"]


def test_the_values_sum_up() -> None:
    sets = [read("one", "s", "YIELDS"), read("two", "s", "YIELDS"), read("one", "t", "MIXED")]
    value = table_value(table(("one", "two"), ("s", "t"), *sets))
    assert value["counts"] == {
        "s": {"YIELDS": 2, "MIXED": 0, "not_run": 0},
        "t": {"YIELDS": 0, "MIXED": 1, "not_run": 1},
    }
    assert value["rows"][1] == {"trap": "two", "readings": {"s": {"YIELDS": 1}, "t": {"not_run": 1}}}


def test_where_no_set_was_run_there_is_no_table(trap_case: Case) -> None:
    found = tabulate(plan(("one",), ("s:a", "s:b", "s:c")), {"one": trap_case}, [])
    assert found.words == (NOT_RUN,) and render_table(found, Look()) == ()
