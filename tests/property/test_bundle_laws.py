"""Laws of archives and manifests: what is written reads back; one content has one form; every change is seen."""

from __future__ import annotations

from bundle_kit import archive_of, check_bytes, members_of
from hypothesis import given
from hypothesis import strategies as st

from oyer.evidence import StoredFile, digest_of, encode_manifest, make_manifest, parse_manifest

SEGMENTS = st.text("aB0_", min_size=1, max_size=3) | st.sampled_from(["a.b", "a-b=c,d@e~f+g", "t" * 95, "u" * 255])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=4).map(lambda parts: "series/" + "/".join(parts))
CONTENTS = st.binary(max_size=20) | st.integers(500, 1100).map(lambda size: b"\xff" * size)


@st.composite
def members(draw: st.DrawFn) -> dict[str, bytes]:
    found = draw(st.dictionaries(PATHS, CONTENTS, max_size=4))
    kept: dict[str, bytes] = {}
    for path, content in found.items():
        clash = {path[:at] for at, letter in enumerate(path) if letter == "/"} & set(kept)
        below = any(other.startswith(path + "/") for other in kept)
        if not clash and not below and path.casefold() not in {other.casefold() for other in kept}:
            kept[path] = content
    return kept


@given(members())
def test_an_archive_reads_back_for_us_and_for_others(found: dict[str, bytes]) -> None:
    data = archive_of(found)
    check = check_bytes(data)
    assert check.intact
    assert {m.path: data[m.offset : m.offset + m.size] for m in check.members} == found == members_of(data)
    assert [m.path for m in check.members] == sorted(found)


@given(members())
def test_an_intact_archive_is_the_only_form_of_its_members(found: dict[str, bytes]) -> None:
    """Whatever passes is what writing its own members again gives: there is nowhere to hide a second reading."""
    data = archive_of(found)
    assert archive_of(members_of(data)) == data


def require_seen(found: dict[str, bytes], at: int, bit: int) -> None:
    """A changed bit is refused, or makes the archive one of other members: of other content, or under another path."""
    whole = bytearray(archive_of(found))
    whole[at] ^= 1 << bit
    check = check_bytes(bytes(whole))
    if check.intact:
        assert members_of(bytes(whole)) != found


@given(members(), st.data())
def test_a_changed_bit_is_refused_or_changes_a_member(found: dict[str, bytes], data: st.DataObject) -> None:
    require_seen(found, data.draw(st.integers(0, len(archive_of(found)) - 1)), data.draw(st.integers(0, 7)))


def test_a_changed_bit_of_a_long_path_changes_the_path() -> None:
    """No checksum covers it there; the manifest, which names every path, does."""
    found = {"series/" + "u" * 255: b""}
    require_seen(found, archive_of(found).index(b"u" * 200), 0)


@given(members(), st.data())
def test_cut_anywhere_or_added_to_it_is_refused(found: dict[str, bytes], data: st.DataObject) -> None:
    whole = archive_of(found)
    assert not check_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))]).intact
    assert not check_bytes(whole + data.draw(st.binary(min_size=1, max_size=600))).intact


@given(members(), st.data())
def test_a_manifest_reads_back_whatever_the_order(found: dict[str, bytes], data: st.DataObject) -> None:
    files = [StoredFile(path=path, sha256=digest_of(content), size=len(content)) for path, content in found.items()]
    made = make_manifest(data.draw(st.permutations(files)))
    assert made == make_manifest(files) == parse_manifest(encode_manifest(made))
