"""Which doubles make sense for which member of a trap and its controls: none is left out without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import oyer.library
from oyer.cli.applicable import applicable, require_shown, senseless, together
from oyer.cli.loading import read_case_file
from oyer.errors import UsageError
from oyer.records import Case, Qualification
from oyer.report import Look, page_text, render_qualification

PLACE = Path(oyer.library.__file__).parent / "project" / "cases" / "two-requests.yaml"


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {placed.loaded.case.id: placed.loaded.case for placed in read_case_file(PLACE).cases}


def test_a_double_is_named_once_for_all_or_for_each_member_that_it_makes_no_sense_for(cases: dict[str, Case]) -> None:
    able = together(tuple(cases.values()))
    found = senseless({name: why for name, (_, why) in able.items()})
    assert set(found) == {"stale", "near-miss on two-requests/fits", "yields-at:2"}
    assert "nothing here has any" in found["yields-at:2"]
    assert not [name for names, _ in able.values() for name in names if name.startswith("yields-at")]
    assert "makes no call that the proper one does not make" in found["near-miss on two-requests/fits"]
    assert "holds no token" in found["stale"]
    shown = {name: applicable(case)[0] for name, case in cases.items()}
    assert "near-miss" in shown["two-requests"]
    assert not {"near-miss", "stale"} & set(shown["two-requests/fits"])


def test_the_page_says_for_whom_it_makes_no_sense_and_qualifies_nothing_by_a_selection() -> None:
    record = Qualification(
        case="a", case_digest="d", harness="h", at="t", qualified=True, doubles=(),
        not_applicable={"near-miss on a/b": "no call", "stale": "no token"},
    )  # fmt: skip
    page = " ".join(page_text(render_qualification(record, Look())).split())
    assert page.startswith("a qualified")
    assert "near-miss makes no sense for a/b: no call" in page
    assert "stale makes no sense here: no token" in page
    chosen = page_text(render_qualification(record, Look(), recorded=False))
    assert "no record was made" in chosen and "qualified" not in chosen.lower()


@pytest.mark.parametrize(("name", "hint"), [("obediant", "did you mean obedient?"), ("variant:mine", "one of oracle")])
def test_a_double_that_nobody_is_shown_is_refused(cases: dict[str, Case], name: str, hint: str) -> None:
    require_shown(["idle", "near-miss"], cases.values())
    with pytest.raises(UsageError) as refused:
        require_shown(["idle", name], cases.values())
    (problem,) = refused.value.problems
    assert (problem.code, hint in problem.hint) == ("E-DOUBLE-UNKNOWN", True)
