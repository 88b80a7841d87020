"""Blobs are one frame, bounded and exact."""

from __future__ import annotations

import pytest
import zstandard

from oyer.errors import EvidenceError
from oyer.evidence import blob_path, decode_blob, digest_of, encode_blob, measure_blob


@pytest.mark.parametrize("raw", [b"", b"x", b"x" * 100_000, bytes(range(256)) * 40])
def test_round_trip(raw: bytes) -> None:
    assert decode_blob(encode_blob(raw), len(raw)) == raw


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        (b"", "E-BLOB-FORM"),
        (b"plain", "E-BLOB-FORM"),
        (encode_blob(b"x" * 5000)[:-1], "E-BLOB-FORM"),
        (encode_blob(b"x" * 5000) + b"y", "E-BLOB-FORM"),
        (encode_blob(b"x" * 5000) + encode_blob(b"y"), "E-BLOB-FORM"),
        (zstandard.ZstdCompressor(write_checksum=False).compress(b"x" * 5000), "E-BLOB-FORM"),
        (zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(b"x" * 99), "E-BLOB-FORM"),
        (encode_blob(b"\x00" * 10_000_000), "E-BLOB-LIMIT"),
    ],
)
def test_other_frames_are_refused(stored: bytes, code: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        decode_blob(stored, 1_000_000)
    assert caught.value.code == code


def test_a_flipped_bit_is_caught() -> None:
    stored = bytearray(encode_blob(bytes(range(256)) * 40))
    stored[-1] ^= 1
    with pytest.raises(EvidenceError, match="E-BLOB-FORM"):
        decode_blob(bytes(stored), 1_000_000)


def test_paths() -> None:
    digest = digest_of(b"x")
    assert blob_path(digest) == f"blobs/{digest[7:9]}/{digest[7:]}.zst"
    with pytest.raises(EvidenceError, match="E-DIGEST-FORM"):
        blob_path("sha256:../x")


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 5_000_000, bytes(range(256)) * 4000])
def test_a_blob_is_measured_in_pieces(content: bytes) -> None:
    assert measure_blob(encode_blob(content)) == (digest_of(content), len(content))


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"no frame",
        encode_blob(b"x" * 9000)[:-1],
        encode_blob(b"x") + b"\x00",
        encode_blob(b"x") + b"\x00" * 3000,
        encode_blob(b"x") * 2,
        zstandard.ZstdCompressor(write_checksum=False).compress(b"x"),
    ],
)
def test_what_is_not_exactly_one_frame_is_not_measured(stored: bytes) -> None:
    with pytest.raises(EvidenceError, match="E-BLOB-FORM"):
        measure_blob(stored)
