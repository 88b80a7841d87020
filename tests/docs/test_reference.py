"""The reference says what the code says: generated parts are current, and every error code has its row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reference

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "oyer").rglob("*.py"))
ERRORS = ROOT / "docs" / "reference" / "errors.md"
CODE = re.compile(r"E-[A-Z0-9]+(-[A-Z0-9]+)*")
RULE = re.compile(r"[A-Z][A-Z0-9]+(-[A-Z0-9]+)*")
STRICT_READERS = {"strict_yaml": ("YAML",), "strict_json": ("JSON",), "source_text": ("YAML", "JSON")}
"""Modules whose rules become codes of these families; the family is not in the text of their code."""


def codes_of(path: Path) -> Iterator[str]:
    """Find every code that a module may raise: whole in a text, or put together from a family and a rule."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    families = set(STRICT_READERS.get(path.stem, ()))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value
        if isinstance(node, ast.JoinedStr) and isinstance(head := node.values[0], ast.Constant):
            opened = re.fullmatch(r"E-([A-Z0-9]+)-", str(head.value))
            families |= {opened[1]} if opened else set()
    for node in ast.walk(tree):
        if families and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            for given in node.args[:1]:
                for text in ast.walk(given):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str) and RULE.fullmatch(text.value):
                        yield from (f"E-{family}-{text.value}" for family in families)
    if path.stem == "strict_yaml":  # chosen by name before they are reported
        yield from ("E-YAML-KEY", "E-YAML-MERGE", "E-YAML-SURROGATE")


def rows() -> list[tuple[list[str], str, str]]:
    """Read the rows of errors.md that describe codes: the codes, what they mean, what to do."""
    found = []
    for line in ERRORS.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].startswith("`E-"):
            found.append((re.findall(r"`(E-[A-Z0-9-]+)`", cells[0]), cells[1], cells[2]))
    return found


def test_every_code_of_the_sources_has_a_row_and_every_row_a_code() -> None:
    raised = {code for path in SOURCES for code in codes_of(path)}
    told = [code for codes, _, _ in rows() for code in codes]
    assert sorted(raised - set(told)) == [], "write a row into docs/reference/errors.md"
    assert sorted(set(told) - raised) == [], "nothing raises these any more"
    assert sorted(code for code in set(told) if told.count(code) > 1) == []
    assert len(raised) > 200


def test_every_row_says_what_it_means_and_what_to_do() -> None:
    for codes, means, do in rows():
        assert len(means) > 8, codes
        assert len(do) > 4, codes


def test_codes_are_found_whole_and_put_together(tmp_path: Path) -> None:
    module = tmp_path / "some.py"
    module.write_text(
        'raise X("E-ONE-TWO")\n"""About E-NOT-THIS."""\nf"E-FAM-{rule}"\nself.stop("FORM", "no code HERE")\n'
    )
    assert sorted(codes_of(module)) == ["E-FAM-FORM", "E-ONE-TWO"]


@pytest.mark.parametrize("name", reference.PARTS)
def test_a_generated_part_is_current(name: str) -> None:
    file, make = reference.PARTS[name]
    page = (reference.REFERENCE / file).read_text(encoding="utf-8")
    assert reference.renewed(page, name, make()) == page, "run python tools/reference.py"


def test_marks_that_are_missing_are_refused() -> None:
    with pytest.raises(SystemExit, match="must stand once"):
        reference.renewed("no marks here", "events", "text")
    page = "a\n<!-- generated: events -->\nold\n<!-- end: events -->\nb"
    assert reference.renewed(page, "events", "new") == "a\n<!-- generated: events -->\n\nnew\n\n<!-- end: events -->\nb"


def test_types_are_worded() -> None:
    assert reference.worded(dict[str, str | None]) == "map of text to text or null"
    assert reference.worded(tuple[int, ...]) == "list of integer"
