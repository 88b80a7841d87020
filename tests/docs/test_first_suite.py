"""What the tutorial shows of a lock is what the example project would print."""

from __future__ import annotations

import re
from pathlib import Path

from oyer.library import project_files
from oyer.records import parse_file

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "first-suite.md"


def test_the_word_that_the_tutorial_changes_is_where_it_says() -> None:
    shown = re.findall(r'case (\S+): its prompt: "(.+)" \(word (\d+)\) became', PAGE.read_text())
    files = project_files()
    name = "cases/two-requests.yaml"
    cases = {one.case.id: one.case for one in parse_file(files[name], name=name).cases}
    assert {case for case, _, _ in shown} == {"two-requests", "two-requests/fits"}
    for case, text, number in shown:
        words = str(cases[case].sessions[0].turns[0]).split()
        began = int(number) - 1
        assert words[began : began + len(text.split())] == text.split()
