"""A file of exactly one record: what it is read as, and what it is told that it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from oyer.cli.one_record import read_one_record
from oyer.errors import OyerError
from oyer.records import PriceTable

TABLE = 'oyer: PriceTable@1\nprices:\n  small: {input_per_mtok_usd: "2.50", output_per_mtok_usd: "10"}\n'


def read(path: Path) -> PriceTable:
    called = ("price table", "a price table")
    return read_one_record(path, "PriceTable@1", PriceTable, largest_bytes=1 << 20, called=called, hint="write one")


def test_the_one_record_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(TABLE)
    assert list(read(path).prices) == ["small"]


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (None, "E-PATH", "cannot be read"),
        (TABLE + "---\n" + TABLE, "E-RECORD-TYPE", "2 documents, not one price table"),
        (TABLE.replace("10", "ten"), "E-", ""),
    ],
)
def test_anything_else_is_refused_and_named(text: str | None, code: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(OyerError) as refused:
        read(path)
    assert refused.value.problems[0].code.startswith(code) and told in refused.value.problems[0].message
