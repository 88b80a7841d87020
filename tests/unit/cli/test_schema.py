"""The exported schemas are current."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oyer.cli import main
from oyer.cli.schema import schema_bytes, schema_file
from oyer.records import KINDS

EXPORTED = Path(__file__).resolve().parents[3] / "docs" / "schema"


@pytest.mark.parametrize("kind", KINDS)
def test_the_exported_schema_is_current(kind: str) -> None:
    path = EXPORTED / schema_file(kind)
    assert path.read_bytes() == schema_bytes(kind), "run `oyer schema -o docs/schema`"


def test_nothing_else_is_exported() -> None:
    assert {path.name for path in EXPORTED.glob("*.json")} == {schema_file(kind) for kind in KINDS}


def test_one_kind_is_printed_with_or_without_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "Case@1"]) == 0
    full = capsys.readouterr().out
    assert main(["schema", "Case"]) == 0
    assert capsys.readouterr().out == full
    assert json.loads(full)["title"] == "Case@1"


def test_an_unknown_kind_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "Caze"]) == 2
    assert "Case@1" in capsys.readouterr().err


def test_export_writes_one_file_a_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "-o", str(tmp_path / "new"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["files"]) == len(KINDS)
    assert len(list((tmp_path / "new").iterdir())) == len(KINDS)
