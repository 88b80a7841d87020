"""Deriving only what a change can touch gives what deriving everything gives: for every change and known subject."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from pressed_kit import PRESSED_FILE

from oyer.adjudicate import derive_series, found_words, measured_words, mutants, reading_of
from oyer.cli.commands import oyer_group
from oyer.cli.noticing import Evidence
from oyer.cli.qualifying import Group, choose, members_of
from oyer.store import SeriesReader
from oyer.verify import read_series

DOUBLES = ("oracle", "obedient", "yields-at:2")


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("noticing") / "series"
    words = [word for double in DOUBLES for word in ("--double", double)]
    CliRunner().invoke(oyer_group, ["qualify", str(PRESSED_FILE), *words, "--out", str(out), "--jobs", "2"], obj=())
    return sorted(out.iterdir())


@pytest.fixture
def evidence(series: list[Path]) -> Iterator[Evidence]:
    with Evidence(series, ()) as evidence:
        yield evidence


def group() -> Group:
    selection, named = choose([str(PRESSED_FILE)], ())
    (found,) = members_of([placed.loaded.case for placed in selection.cases], named)
    return found


def test_what_is_derived_again_is_what_everything_derived_anew_shows(series: list[Path], evidence: Evidence) -> None:
    rubrics = choose([str(PRESSED_FILE)], ())[0].rubrics
    compared = 0
    for case in group().all:
        for mutant in mutants(case, rubrics):
            changed = {} if mutant.case is case else {case.id: mutant.case}
            others = {name: one for name, one in mutant.rubrics.items() if one is not rubrics[name]}
            shown = {double: evidence.show_under(double, changed, others) for double in DOUBLES}
            for path in series:
                with SeriesReader(path) as reader:
                    given = read_series(reader, ()).given
                    cases = {**given.cases, **changed}
                    judges = given.judges._replace(rubrics={**given.judges.rubrics, **others})
                    result = derive_series(given._replace(cases=cases, judges=judges))
                for outcome in result.outcomes.values():
                    mine = shown[outcome.subject.removeprefix("scripted:")]
                    assert mine.words[outcome.case] == found_words(cases[outcome.case], (outcome,), None), mutant.name
                    measured = {k: v for k, v in mine.measures[outcome.case].items() if k != "traces"}
                    assert measured == measured_words(outcome), mutant.name
                    compared += 1
                for one in result.sets:
                    double = one.subject.removeprefix("scripted:")
                    assert shown[double].readings[one.trap] == reading_of(one), mutant.name
    assert compared > 100


def test_the_declarations_as_they_are_show_what_the_series_shows(series: list[Path], evidence: Evidence) -> None:
    for path in series:
        with SeriesReader(path) as reader:
            given = read_series(reader, ()).given
            result = derive_series(given)
            for outcome in result.outcomes.values():
                shown = evidence.show(outcome.subject.removeprefix("scripted:"))
                assert shown.words[outcome.case] == found_words(given.cases[outcome.case], (outcome,), None)
