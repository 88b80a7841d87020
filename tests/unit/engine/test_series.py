"""What is refused before a series starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from series_kit import case_file, run

from oyer.errors import UsageError

CASE = "oyer: Case@1\nid: plain-one\neffect_class: none\nworld: world/\nservers: {fs: oyer:files}\nprompt: Say hello.\n"


@pytest.mark.parametrize("out", ["world", "world/out", "world/deep/er/out", "link/out"])
def test_a_series_never_lies_in_a_world(tmp_path: Path, out: str) -> None:
    (tmp_path / "world").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "world")
    case = tmp_path / "case.yaml"
    case.write_text(CASE)
    with pytest.raises(UsageError, match="E-OUT-IN-WORLD"):
        run(case_file(case), ["scripted:idle"], tmp_path / out)
    assert list((tmp_path / "world").iterdir()) == []
