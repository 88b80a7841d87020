"""A packed attempt has one form; anything else is refused before it is used."""

from __future__ import annotations

import io
import tarfile

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import encode_blob, pack, unpack

JOURNALS = {"tap.mail.jsonl": b"two\n", "harness.jsonl": b"one\n" * 300, "meter.jsonl": b""}


def tar(*members: tuple[str, bytes, dict[str, object]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, more in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o600
            for field, value in more.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(content))
    # without the padding to whole records, so that only the rule under test can object
    return out.getvalue()[: sum(512 + -(-len(content) // 512) * 512 for _, content, _ in members)] + b"\x00" * 1024


def test_a_plain_archive_of_the_same_form_is_accepted() -> None:
    archive = tar(*((name, JOURNALS[name], {}) for name in sorted(JOURNALS)))
    assert unpack(encode_blob(archive), 1 << 20) == JOURNALS


def test_round_trip_is_deterministic() -> None:
    stored = pack(JOURNALS)
    assert stored == pack(dict(reversed(JOURNALS.items())))
    assert unpack(stored, 1 << 20) == JOURNALS
    assert list(unpack(stored, 1 << 20)) == sorted(JOURNALS)
    assert unpack(pack({}), 1 << 20) == {}


@pytest.mark.parametrize(
    ("archive", "code"),
    [
        (tar(("harness.jsonl", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/hosts"})), "E-PACK-FORM"),
        (tar(("harness.jsonl", b"", {"type": tarfile.DIRTYPE})), "E-PACK-FORM"),
        (tar(("../harness.jsonl", b"", {})), "E-PACK-NAME"),
        (tar(("/harness.jsonl", b"", {})), "E-PACK-NAME"),
        (tar(("notes.txt", b"", {})), "E-PACK-NAME"),
        (tar(("harness.jsonl", b"a", {}), ("harness.jsonl", b"b", {})), "E-PACK-FORM"),
        (tar(("tap.A.jsonl", b"a", {}), ("tap.a.jsonl", b"b", {})), "E-PACK-NAME"),
        (tar(("meter.jsonl", b"a", {}), ("harness.jsonl", b"b", {})), "E-PACK-FORM"),
        (tar(("harness.jsonl", b"a", {"mode": 0o644})), "E-PACK-FORM"),
        (tar(("harness.jsonl", b"a", {"mtime": 1})), "E-PACK-FORM"),
        (b"\x00" * 1024 + b"hidden", "E-PACK-FORM"),
        (b"not a tar" * 100, "E-PACK-FORM"),
        (b"", "E-PACK-FORM"),
    ],
)
def test_other_archives_are_refused(archive: bytes, code: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        unpack(encode_blob(archive), 1 << 20)
    assert caught.value.code == code


def test_a_hidden_byte_in_the_padding_is_refused() -> None:
    archive = bytearray(tar(("harness.jsonl", b"a", {})))
    assert unpack(encode_blob(bytes(archive)), 1 << 20) == {"harness.jsonl": b"a"}
    archive[512 + 1] = 65
    with pytest.raises(EvidenceError, match="E-PACK-FORM"):
        unpack(encode_blob(bytes(archive)), 1 << 20)


def test_the_limit_holds() -> None:
    with pytest.raises(EvidenceError, match="E-BLOB-LIMIT"):
        unpack(pack({"harness.jsonl": b"\x00" * 100_000}), 50_000)
