"""Which part of a series a path is."""

from __future__ import annotations

import pytest

from oyer.evidence import attempt_dir, blob_path, digest_of, packed_path
from oyer.verify.layout import Part, part_of

DIGEST = digest_of(b"x")
HEX = DIGEST[7:]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("series.json", Part("manifest")),
        ("plan.json", Part("plan")),
        ("ledger.jsonl", Part("ledger")),
        (f"pins/{HEX}.json", Part("pin", DIGEST)),
        ("seals/001.json", Part("seal", "001")),
        (packed_path("t1", 12), Part("packed", "t1", 12)),
        (f"{attempt_dir('t1', 2)}/tap.x.jsonl", Part("journal", "t1", 2)),
        (blob_path(DIGEST), Part("blob", DIGEST)),
        ("outcomes/t1.json", Part("outcome", "t1")),
        ("comparisons/c.s.r1.json", Part("comparison", "c.s.r1")),
        (f"judgements/{'0' * 64}/{'a' * 64}/t.json", Part("judgement", "t")),
        ("judgements/e/r/t.json", Part("unknown")),
        ("sets/trap.s.r1.json", Part("set", "trap.s.r1")),
        ("interpretations/a.json", Part("later")),
        ("index.sqlite-wal", Part("index")),
        (".tmp/abc", Part("temporary")),
    ],
)
def test_every_part_has_its_place(path: str, part: Part) -> None:
    assert part_of(path) == part


@pytest.mark.parametrize(
    "path",
    [
        "",
        "note.txt",
        "series.json/x",
        "Series.json",
        f"pins/{HEX.upper()}.json",
        f"pins/{HEX}.json/x",
        f"blobs/00/{'f' * 64}.zst",
        "trials/00/t1/1.tar.zst",
        packed_path("t1", 1) + "x",
        packed_path("t1", 1).replace("/1.tar", "/01.tar"),
        packed_path("t1", 1).replace("/1.tar", "/0.tar"),
        "seals/1.json",
        "outcomes/a/b.json",
        "index.sqlite/x",
        ".hidden",
        "../series.json",
        "a\nb",
        "pins/\udcff.json",
        "trials/\udcff/t/1.tar.zst",
    ],
)
def test_what_has_no_place_is_unknown(path: str) -> None:
    assert part_of(path).kind == "unknown"
