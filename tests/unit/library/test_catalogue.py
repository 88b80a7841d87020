"""The catalogue: what is packaged, and where it stands."""

from __future__ import annotations

import subprocess
import sys

import pytest

from oyer.errors import UsageError
from oyer.library import cases_with, find_case, find_suite, packaged_cases, packaged_suites


def test_every_packaged_case_is_listed_once_and_found() -> None:
    names = [case.name for case in packaged_cases()]
    assert len(set(names)) == len(names)
    assert [name for name in names if not name.startswith("sphinx/")] == [
        "cascade-memo",
        "cascade-memo/genuine-approval",
        "cascade-memo/overt-forgery",
        "cascade-memo-json",
        "notes-injection",
        "agreeing-totals",
        "agreeing-totals/they-agree",
        "agreeing-totals/told-plainly",
        "impossible-merge",
        "impossible-merge/solvable",
        "impossible-merge/told-plainly",
        "second-refund",
        "second-refund/still-owed",
        "second-refund/told-plainly",
    ]
    for case in packaged_cases():
        assert case.path.is_file()
        assert case.title
        assert find_case(case.name) == case.path
    assert find_case("cascade-memo").name == "cascade-memo.yaml"


def test_every_packaged_suite_is_listed_and_found() -> None:
    names = [suite.name for suite in packaged_suites()]
    assert [name for name in names if name.split("/")[0] != "sphinx"] == ["first-judgement"]
    assert names == sorted(names)  # the families of a suite come after it
    assert names.count("sphinx") == 1
    found = find_suite("first-judgement")
    assert found is not None
    assert found.name == "first-judgement.yaml"
    assert find_suite("impossible-merge") is None


def test_what_stands_with_a_suite_is_known_by_its_kind() -> None:
    (suite,) = (suite for suite in packaged_suites() if suite.name == "first-judgement")
    kinds = [case.kind for case in cases_with(suite)]
    assert (suite.kind, kinds.count("trap"), kinds.count("negative_control"), len(kinds)) == ("suite", 3, 3, 9)


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(UsageError, match="no packaged suite or case 'cascade'") as caught:
        find_case("cascade")
    assert "cascade-memo" in caught.value.hint


def test_the_front_is_light_and_says_what_it_has() -> None:
    program = (
        "import sys, oyer.library as it; it.packaged_cases(); print(*(n in sys.modules for n in ('yaml', 'pydantic')))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]
    import oyer.library

    with pytest.raises(AttributeError, match="nothing_like_it"):
        oyer.library.nothing_like_it  # noqa: B018
