"""Seals list every stored file once and hang on to each other."""

from __future__ import annotations

import msgspec
import pytest

from oyer.errors import EvidenceError
from oyer.evidence import (
    StoredFile,
    check_seals,
    digest_of,
    encode_canonical,
    encode_seal,
    make_seal,
    parse_seal,
    seal_path,
)

WALL = "2026-01-01T00:00:00Z"


def stored(path: str, content: bytes = b"x") -> StoredFile:
    return StoredFile(path=path, sha256=digest_of(content), size=len(content))


FILES = {path: stored(path) for path in ("series.json", "plan.json", "trials/ab/t/1.tar.zst", "outcomes/t.json")}
FIRST = make_seal(1, "run", [FILES["series.json"], FILES["plan.json"], FILES["trials/ab/t/1.tar.zst"]], None, WALL)
SECOND = make_seal(2, "judge", [FILES["outcomes/t.json"]], FIRST.digest, WALL)
SEALS = [encode_seal(FIRST), encode_seal(SECOND)]


def codes(seals: list[bytes], files: dict[str, StoredFile]) -> list[str]:
    return [defect.code for defect in check_seals(seals, files)]


def test_whole() -> None:
    assert parse_seal(SEALS[0]) == FIRST
    assert [file.path for file in FIRST.files] == ["plan.json", "series.json", "trials/ab/t/1.tar.zst"]
    also = {"index.sqlite": stored("index.sqlite"), seal_path(1): stored(seal_path(1))}
    assert codes(SEALS, {**FILES, **also}) == []


def test_files_and_seals_must_agree() -> None:
    assert codes(SEALS, {**FILES, "extra.json": stored("extra.json")}) == ["E-SEAL-UNSEALED"]
    assert codes(SEALS, {**FILES, "plan.json": stored("plan.json", b"y")}) == ["E-SEAL-CHANGED"]
    assert codes(SEALS, {path: file for path, file in FILES.items() if path != "plan.json"}) == ["E-SEAL-MISSING"]
    twice = make_seal(3, "report", [FILES["plan.json"]], SECOND.digest, WALL)
    assert codes([*SEALS, encode_seal(twice)], FILES) == ["E-SEAL-TWICE"]


def test_a_seal_that_is_gone() -> None:
    assert set(codes(SEALS[:1], FILES)) == {"E-SEAL-UNSEALED"}
    assert {"E-SEAL-NUMBER", "E-SEAL-PREV"} <= set(codes(SEALS[1:], FILES))
    assert set(codes([], FILES)) == {"E-SEAL-UNSEALED"}


def test_a_seal_that_was_changed() -> None:
    fields = msgspec.json.decode(SEALS[0])
    fields["files"][0]["size"] = 2
    assert codes([encode_canonical(fields), SEALS[1]], FILES)[0] == "E-SEAL-DIGEST"
    with pytest.raises(EvidenceError, match="duplicate key 'act'"):
        parse_seal(SEALS[0].replace(b'{"act":"run"', b'{"act":"judge","act":"run"'))
    with pytest.raises(EvidenceError, match="E-SEAL-FORM"):
        parse_seal(SEALS[0] + b"\n{}")


@pytest.mark.parametrize(
    "path",
    ["/etc/hosts", "../x", "a/../b", "a//b", "", "./a", "C:\\x", ".hidden", "seals/001.json", "index.sqlite", "a\n"],
)
def test_paths_that_no_seal_may_list(path: str) -> None:
    with pytest.raises(EvidenceError, match="E-SEAL-PATH"):
        make_seal(1, "run", [stored(path)], None, WALL)


def test_a_file_listed_twice() -> None:
    with pytest.raises(EvidenceError, match="E-SEAL-TWICE"):
        make_seal(1, "run", [stored("a"), stored("a")], None, WALL)
