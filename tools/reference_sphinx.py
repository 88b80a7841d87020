"""The part of the reference about the Sphinx library, from the packaged suites themselves.

Owns its form and nothing it says: families and titles come from the suites, controls from the cases, witnesses from
what their rubrics look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from oyer.cli.explaining import ExplainedCase, explain_suite
from oyer.cli.scopes import load_suite
from oyer.library import packaged_suites

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]
PREFIX = "sphinx/"


def sphinx(table: Table) -> str:
    """Describe every family: its question, and each trap with its controls and what witnesses it."""
    names = sorted(suite.name for suite in packaged_suites() if suite.name.startswith(PREFIX))
    return "\n".join(_family(name, table) for name in names)


def _family(name: str, table: Table) -> str:
    told = explain_suite(load_suite(name))
    heads = ("trap", "what is asked", "solvable, and plain", "rounds", "witnessed by")
    rows = [tuple(_cells(name, case)) for case in told.cases]
    return f"### {name.removeprefix(PREFIX)}\n\n{told.title}\n\n{table(heads, rows)}"


def _cells(family: str, case: ExplainedCase) -> Iterator[str]:
    yield f"`{case.name.removeprefix(family + '/')}`"
    yield case.title
    yield "; ".join(control.title for control in case.controls)
    yield str(case.rounds)
    yield "; ".join(words for rank in case.witnesses.values() for words in rank)
