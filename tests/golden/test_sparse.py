"""A file that claims terabytes and holds nothing: its size is compared before anything of it is read or hashed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bundle_kit import check_bytes, verify_file
from golden_tamper import Forger, failing, told, verify

from oyer.errors import EvidenceError
from oyer.evidence import ARCHIVE_END, member_header, member_padding
from oyer.store import write_bundle

HUGE_BYTES = 1 << 40
MEMBER_BYTES = 4 << 30
ALLOWED_BYTES = 64 << 20
"""Far more than the golden series holds, far less than one of its files pretends to hold here."""


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at once where more is read than everything that is really there."""
    left = ALLOWED_BYTES

    def counted(read: Callable[..., bytes]) -> Callable[..., bytes]:
        def reading(*arguments: int) -> bytes:
            nonlocal left
            data = read(*arguments)
            left -= len(data)
            assert left > 0, "bytes were read that a comparison of sizes would have spared"
            return data

        return reading

    monkeypatch.setattr(os, "read", counted(os.read))
    monkeypatch.setattr(os, "pread", counted(os.pread))


def inflate(path: Path) -> None:
    os.truncate(path, HUGE_BYTES)


@pytest.mark.parametrize(
    "kind",
    ["series.json", "plan.json", "ledger.jsonl", "pins/*", "trials/*/*/*.zst", "blobs/*/*", "outcomes/*", "seals/001*"],
)
def test_a_file_of_a_series_that_is_huge(forger: Forger, kind: str) -> None:
    inflate(sorted(forger.root.glob(kind))[0])
    found = verify(forger.root)
    assert 2 in failing(found), told(found)


@pytest.mark.parametrize("name", ["pins/" + "0" * 64 + ".json", "blobs/00/" + "0" * 64 + ".zst", "outcomes/x.json"])
def test_a_huge_file_that_no_seal_lists(forger: Forger, name: str) -> None:
    path = forger.root / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    inflate(path)
    found = verify(forger.root)
    assert 2 in failing(found) and name in told(found)


def test_a_huge_file_is_not_bundled(forger: Forger, tmp_path: Path) -> None:
    inflate(sorted(forger.root.glob("blobs/*/*"))[0])
    with pytest.raises(EvidenceError, match="E-SEAL-CHANGED"):
        write_bundle(forger.root, tmp_path / "x.oyer")


@pytest.mark.parametrize("kind", ["ledger.jsonl", ".tar.zst", "comparisons/"])
def test_a_member_that_is_huge(forger: Forger, tmp_path: Path, kind: str) -> None:
    data = write_bundle(forger.root, tmp_path / "x.oyer").path.read_bytes()
    members = check_bytes(data).members
    target = next(member.path for member in members if kind in member.path)
    with (tmp_path / "huge.oyer").open("wb") as file:
        for member in members:
            size = MEMBER_BYTES if member.path == target else member.size
            file.write(member_header(member.path, size) + data[member.offset : member.offset + member.size])
            file.seek(size - member.size, os.SEEK_CUR)
            file.write(member_padding(size))
        file.write(ARCHIVE_END)
    found = verify_file(tmp_path / "huge.oyer")
    assert 2 in failing(found) and target in told(found)


def test_a_blob_of_a_few_bytes_that_states_an_enormous_content_is_not_unfolded(forger: Forger) -> None:
    path = sorted(forger.root.glob("blobs/*/*"))[0]
    # The head of a zstd frame: eight bytes of content size, one segment, a checksum. Source: RFC 8878 section 3.1.1.1.
    head = bytes.fromhex("28b52ffde4")
    for stated, code in ((1 << 45, "E-BLOB-RATIO"), ((1 << 30) + 1, "E-BLOB-RATIO"), (1 << 30, "E-BLOB-FORM")):
        path.write_bytes(head + stated.to_bytes(8, "little") + bytes(32))
        found = verify(forger.root)
        assert code in told(found), told(found)
