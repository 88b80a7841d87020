"""A content is kept once and can be had back."""

from __future__ import annotations

from pathlib import Path

import pytest

from oyer.errors import HarnessError
from oyer.evidence import Redactor, blob_path, decode_blob, digest_of
from oyer.store import BlobStore

RAW = b"content " * 1000


def store(root: Path, secrets: dict[str, bytes] | None = None) -> BlobStore:
    (root / ".tmp").mkdir(exist_ok=True)
    return BlobStore(root, root / ".tmp", Redactor(secrets or {}))


def test_once_under_its_digest(tmp_path: Path) -> None:
    blobs = store(tmp_path)
    digest = blobs.put(RAW)
    path = tmp_path / blob_path(digest)
    before = path.stat()
    assert digest == digest_of(RAW) == blobs.put(RAW) == store(tmp_path).put(RAW)
    assert path.stat() == before
    assert decode_blob(path.read_bytes(), len(RAW)) == RAW
    blobs.sync()
    blobs.sync([digest])
    assert list((tmp_path / ".tmp").iterdir()) == []


@pytest.mark.parametrize("left", [b"", b"garbage"])
def test_what_a_crash_left_is_not_trusted(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / blob_path(digest_of(RAW))
    path.parent.mkdir(parents=True)
    path.write_bytes(left)
    store(tmp_path).put(RAW)
    assert decode_blob(path.read_bytes(), len(RAW)) == RAW


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    path = tmp_path / blob_path(digest_of(RAW))
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere")
    store(tmp_path).put(RAW)
    assert not path.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_a_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="E-STORE-SECRET"):
        store(tmp_path, {"KEY": b"content content"}).put(RAW)
    assert not (tmp_path / "blobs").exists()


def test_a_disk_that_refuses_is_an_error(tmp_path: Path) -> None:
    blobs = store(tmp_path)
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(HarnessError, match="E-STORE-WRITE"):
        blobs.put(RAW)
