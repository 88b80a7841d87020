"""An archive has one form: what is written reads back, and whatever differs is refused with its reason."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest
import zstandard
from bundle_kit import MemoryBytes, archive_of, check_bytes, members_of, odd_header, piece, with_piece

from oyer.errors import EvidenceError
from oyer.evidence import (
    ARCHIVE_END,
    MAX_MEMBER_BYTES,
    Member,
    check_unfolding,
    encode_blob,
    is_member_path,
    member_header,
)

GOOD = {"manifest.json": b"{}", "series/plan.json": b"plan", "series/seals/001.json": b"x" * 512, "series/a": b""}
LONG = "series/outcomes/" + "t" * 150 + ".json"
DEEP = "series/trials/ab/" + "t" * 120 + "/1.tar.zst"


def codes(data: bytes) -> list[str]:
    return [defect.code.removeprefix("E-ARCHIVE-") for defect in check_bytes(data).defects]


def test_members_read_back_in_order_and_in_place() -> None:
    data = archive_of(GOOD)
    found = check_bytes(data)
    assert found.intact
    assert [member.path for member in found.members] == sorted(GOOD)
    assert {m.path: data[m.offset : m.offset + m.size] for m in found.members} == GOOD
    assert members_of(data) == GOOD


def test_nothing_in_it_is_no_archive_and_no_member_is_one() -> None:
    assert codes(b"") == ["CUT"]
    assert check_bytes(ARCHIVE_END).intact and not check_bytes(ARCHIVE_END).members


def test_a_check_has_no_truth_value() -> None:
    with pytest.raises(TypeError):
        bool(check_bytes(b""))


@pytest.mark.parametrize("path", [LONG, DEEP, "series/" + "a" * 93, "series/" + "a" * 94, "series/" + "b" * 255])
def test_long_paths_have_one_form_that_other_tools_read(path: str) -> None:
    data = archive_of({path: b"content"})
    assert check_bytes(data).members == (Member(path, len(data) - len(ARCHIVE_END) - 512, 7),)
    assert members_of(data) == {path: b"content"}
    assert len(member_header(path, 7)) == (1536 if path in {LONG, "series/" + "b" * 255} else 512)


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513])
def test_every_size_is_padded_to_a_block(size: int) -> None:
    data = archive_of({"series/x": b"\xff" * size, "series/y": b"z"})
    assert len(data) % 512 == 0
    assert check_bytes(data).intact


def test_what_does_not_fit_is_not_written() -> None:
    assert member_header("series/x", MAX_MEMBER_BYTES)
    with pytest.raises(EvidenceError, match="E-ARCHIVE-SIZE"):
        member_header("series/x", MAX_MEMBER_BYTES + 1)


REFUSED = ["/etc/passwd", "../x", "series/../x", "series/a//b", "series/", "series", "x.txt", "series/./a", "C:\\x"]
REFUSED += ["series\\x", "series/C:x", "series/\u00e9", "series/a\nb", "series/a b", "", "series/.hidden", "series/-rf"]
REFUSED += ["Manifest.json", "series/" + "a" * 256, "series/" + "/".join(["d" * 200] * 6), "series/a\x00b"]


@pytest.mark.parametrize("path", REFUSED)
def test_a_name_outside_the_grammar_is_never_written(path: str) -> None:
    assert not is_member_path(path)
    with pytest.raises(EvidenceError, match="E-ARCHIVE-NAME"):
        member_header(path, 0)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "absolute"),
        ("../x", "leads out"),
        ("series/../../x", "leads out"),
        ("C:\\x", "backslash or a drive"),
        ("series/a\\b", "backslash or a drive"),
        ("evil.txt", "no part of a bundle"),
        ("series/.hidden", "no part of a bundle"),
        ("series/q/../b", "leads out"),
    ],
)
def test_a_name_outside_the_grammar_is_refused_and_the_rest_is_looked_at(path: str, why: str) -> None:
    data = with_piece(GOOD, path, piece(path, b"evil", odd_header(path, 4)))
    found = check_bytes(data)
    (defect,) = [defect for defect in found.defects if defect.code == "E-ARCHIVE-NAME"]
    assert why in defect.message and defect.where == path
    assert len(found.members) == len(GOOD) + 1


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.DIRTYPE, "directory"),
        (tarfile.AREGTYPE, "no plain file"),
        (tarfile.CONTTYPE, "no plain file"),
        (tarfile.GNUTYPE_LONGNAME, "no plain file"),
        (tarfile.GNUTYPE_SPARSE, "no plain file"),
        (b"g", "no plain file"),
    ],
)
def test_what_is_no_plain_file_is_refused(kind: bytes, told: str) -> None:
    data = with_piece(GOOD, "series/q", odd_header("series/q", 0, kind, "/etc/hosts"))
    (defect,) = check_bytes(data).defects
    assert defect.code == "E-ARCHIVE-KIND" and told in defect.message and defect.where.rstrip("/") == "series/q"


def test_a_name_twice() -> None:
    data = b"".join(piece(path, GOOD[path]) for path in sorted([*GOOD, "series/plan.json"])) + ARCHIVE_END
    assert codes(data) == ["TWICE"]
    apart = archive_of(GOOD)[: -len(ARCHIVE_END)] + piece("manifest.json", b"{}") + ARCHIVE_END
    assert codes(apart) == ["TWICE"]


def test_two_names_that_differ_only_in_case() -> None:
    assert codes(archive_of({**GOOD, "series/PLAN.json": b"x"})) == ["CASE"]


def test_names_out_of_order() -> None:
    data = b"".join(piece(path, GOOD[path]) for path in sorted(GOOD, reverse=True)) + ARCHIVE_END
    assert set(codes(data)) == {"ORDER"}


def test_a_file_where_a_directory_should_be() -> None:
    assert codes(archive_of({"series/a": b"", "series/a/b": b""})) == ["NAME"]


@pytest.mark.parametrize("offset", [0, 100, 108, 116, 124, 136, 148, 156, 157, 257, 263, 265, 297, 329, 337, 345, 500])
def test_any_header_that_says_something_else_is_refused(offset: int) -> None:
    """One bit of every field of the header is changed, and the checksum made right again."""
    data = bytearray(archive_of(GOOD))
    data[offset] ^= 1
    if not 148 <= offset < 156:
        data[148:156] = b" " * 8
        data[148:156] = b"%06o\x00 " % sum(data[:512])
    assert codes(bytes(data))


def test_a_time_or_an_owner_or_a_mode_is_refused() -> None:
    for field, value in (("mtime", 1), ("uid", 1000), ("uname", "root"), ("mode", 0o644)):
        member = tarfile.TarInfo("series/q")
        member.mode = 0o600
        setattr(member, field, value)
        data = with_piece(GOOD, "series/q", member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
        assert codes(data) == ["FORM"], field


def test_the_archives_of_other_tools_are_refused() -> None:
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            member = tarfile.TarInfo("manifest.json")
            member.size = 2
            archive.addfile(member, io.BytesIO(b"{}"))
        assert codes(out.getvalue()) in (["FORM"], ["FORM", "TAIL"])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("manifest.json", "{}" * 600)
    assert codes(out.getvalue()) == ["FORM"]
    assert codes(encode_blob(archive_of(GOOD) * 20)) in (["FORM"], ["CUT"])


@pytest.mark.parametrize(
    "record",
    [b"18 path=series/q\n", b"17 path=series/q\n\n", b"17 mtime=series/q", b"16 path=series/qq", b"0 path=series/q\n",
     b"17 path=series/q\n17 path=series/r\n", b"17 path=series/q", b"", b"99 path=" + b"x" * 90 + b"\n"],
)  # fmt: skip
def test_a_long_path_that_says_something_else_is_refused(record: bytes) -> None:
    raw = odd_header("pax", len(record), b"x") + record + bytes(-len(record) % 512) + odd_header("series/q")
    assert codes(with_piece(GOOD, "series/q", raw))


def test_a_long_path_header_for_a_short_path_is_refused() -> None:
    record = b"17 path=series/q\n"
    raw = odd_header("pax", len(record), b"x") + record + bytes(512 - len(record)) + odd_header("series/q")
    assert codes(with_piece(GOOD, "series/q", raw)) == ["FORM"]


def test_cut_off_anywhere_is_named() -> None:
    data = archive_of({"manifest.json": b"{}", LONG: b"x" * 700})
    for length in [*range(0, len(data), 97), len(data) - 1, len(data) - 512]:
        assert codes(data[:length]) == ["CUT"], length


@pytest.mark.parametrize("tail", [b"\x00", b"x", bytes(512), bytes(9216), b"PK\x05\x06" + bytes(18), archive_of(GOOD)])
def test_anything_after_the_end_is_refused(tail: bytes) -> None:
    assert codes(archive_of(GOOD) + tail) == ["TAIL"]


def test_one_zero_block_is_no_end() -> None:
    data = archive_of(GOOD)
    assert codes(data[: -len(ARCHIVE_END)] + bytes(512) + piece("series/z", b"")) == ["TAIL"]


def test_bytes_hidden_in_the_padding_are_found() -> None:
    data = archive_of(GOOD)
    at = next(m.offset + m.size for m in check_bytes(data).members if m.path == "series/plan.json")
    hidden = data[:at] + b"hidden" + data[at + 6 :]
    assert codes(hidden) == ["FORM"]


@pytest.mark.parametrize(
    "size", [b"77777777777\x00", b"00000000009\x00", b"            ", b"\x80" + bytes(11), b"-0000000001\x00"]
)
def test_sizes_that_lie_are_refused(size: bytes) -> None:
    data = bytearray(archive_of(GOOD))
    data[124:136] = size
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\x00 " % sum(data[:512])
    assert codes(bytes(data)) in (["SIZE"], ["CUT"])


# ---------------------------------------------------------------- what members unfold to


def bomb(size: int) -> bytes:
    """A frame that unfolds to so many zeros."""
    compressor = zstandard.ZstdCompressor(level=19, write_content_size=True, write_checksum=True)
    unfolding = compressor.compressobj(size=size)
    block = bytes(1 << 20)
    out = b"".join(unfolding.compress(block) for _ in range(size >> 20))
    return out + unfolding.compress(bytes(size & ((1 << 20) - 1))) + unfolding.flush()


def stating(size: int) -> bytes:
    """The header of a frame that states a content size, and no more."""
    return b"\x28\xb5\x2f\xfd" + b"\xe4" + size.to_bytes(8, "little") + b"\x01\x00\x00"


def unfolding(members: dict[str, bytes]) -> list[str]:
    data = archive_of(members)
    return [problem.where for problem in check_unfolding(MemoryBytes(data), check_bytes(data).members)]


def test_a_member_that_unfolds_to_too_much_is_named_before_it_is_unfolded() -> None:
    name = "series/blobs/ab/" + "a" * 64 + ".zst"
    assert unfolding({name: stating((1 << 31) + 1)}) == [name, ""]
    assert unfolding({name: stating(1 << 30)}) == []


def test_many_members_that_unfold_to_too_much_together_are_refused() -> None:
    few = {f"series/blobs/ab/{n:064d}.zst": stating(200 << 20) for n in range(5)}
    assert unfolding(few) == []
    assert unfolding({**few, "series/blobs/ab/" + "b" * 64 + ".zst": stating(200 << 20)}) == [""]


def test_what_compresses_well_and_is_small_passes() -> None:
    assert unfolding({"series/blobs/ab/" + "a" * 64 + ".zst": bomb(64 << 20)}) == []


def test_what_states_nothing_or_is_no_frame_is_left_to_the_check_that_opens_it() -> None:
    quiet = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 1000)
    assert unfolding({"series/a.zst": quiet, "series/b.zst": b"no frame", "series/c.zst": b""}) == []
