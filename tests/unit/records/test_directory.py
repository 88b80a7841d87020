"""Directory digests and what changed between two of them."""

from __future__ import annotations

from hashlib import sha256

import pytest

from oyer.errors import RecordError
from oyer.records import Change, Entry, diff_entries, digest, directory_digest


def file(path: str, content: bytes = b"", *, executable: bool = False) -> Entry:
    return Entry(path, executable, len(content), sha256(content).hexdigest())


def codes(entries: list[Entry], *, symlinks_declared: bool = False) -> list[tuple[str, str]]:
    with pytest.raises(RecordError) as caught:
        directory_digest(entries, symlinks_declared=symlinks_declared)
    return [(problem.code, problem.where) for problem in caught.value.problems]


def test_the_digest_is_over_the_sorted_list() -> None:
    entries = [file("b", b"2"), file("a/c", b"1", executable=True)]
    listed = [
        {"executable": True, "kind": "file", "path": "a/c", "sha256": sha256(b"1").hexdigest(), "size_bytes": 1},
        {"executable": False, "kind": "file", "path": "b", "sha256": sha256(b"2").hexdigest(), "size_bytes": 1},
    ]
    assert directory_digest(entries) == directory_digest(reversed(entries)) == digest(listed)
    assert directory_digest([]) == digest([])


def test_order_is_that_of_utf8_bytes() -> None:
    """The order of UTF-16 units would put U+1F600 before U+FF20."""
    listed = [file("\uff20"), file("\U0001f600")]
    plain = [{"executable": False, "kind": "file", "path": e.path, "sha256": e.sha256, "size_bytes": 0} for e in listed]
    assert directory_digest(reversed(listed)) == digest(plain)


@pytest.mark.parametrize(
    "other",
    [file("a", b"x", executable=True), file("a", b"y"), file("A", b"x"), file("b/a", b"x")],
)
def test_path_mode_and_content_count(other: Entry) -> None:
    assert directory_digest([other]) != directory_digest([file("a", b"x")])


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "./a", "a/..", "../a", ".", "a\0b"])
def test_paths_that_leave_or_repeat_are_refused(path: str) -> None:
    assert codes([file(path)]) == [("E-DIRECTORY-PATH", path)]


@pytest.mark.parametrize("path", ["a\\b", "a\nb", "..a", "a..", " ", "C:x", "-rf", "\u00e9"])
def test_odd_names_are_names(path: str) -> None:
    assert directory_digest([file(path)])


def test_a_name_that_is_not_utf8_is_refused() -> None:
    assert codes([file("a\udcff")]) == [("E-DIRECTORY-PATH", "a\\udcff")]


def test_everything_is_told_at_once() -> None:
    entries = [file("/x"), file("a"), file("a"), file("a/b"), Entry("z", False, -1, "00")]
    assert codes(entries) == [
        ("E-DIRECTORY-PATH", "/x"),
        ("E-DIRECTORY-ENTRY", "z"),
        ("E-DIRECTORY-DUPLICATE", "a"),
        ("E-DIRECTORY-CONFLICT", "a/b"),
    ]


def test_names_that_differ_in_case_are_two_files() -> None:
    assert directory_digest([file("a"), file("A")])


def test_links_count_only_when_declared() -> None:
    link = Entry("l", False, 1, sha256(b"a").hexdigest(), "symlink", "a")
    assert codes([link]) == [("E-DIRECTORY-SYMLINK", "l")]
    there = directory_digest([link], symlinks_declared=True)
    assert there != directory_digest([link._replace(target="b")], symlinks_declared=True)
    assert there != directory_digest([file("l", b"a")])
    assert codes([link._replace(target=None)], symlinks_declared=True) == [("E-DIRECTORY-ENTRY", "l")]


def test_changes_are_named_and_sorted() -> None:
    before = [file("gone"), file("same", b"1"), file("m", b"1"), file("x", b"1"), file("both", b"1")]
    link = Entry("x", False, 1, sha256(b"1").hexdigest(), "symlink", "1")
    after = [
        file("both", b"2", executable=True),
        file("m", b"1", executable=True),
        file("new"),
        file("same", b"1"),
        link,
    ]
    assert diff_entries(before, after) == [
        Change("both", "modified", before[4], after[0]),
        Change("gone", "deleted", before[0], None),
        Change("m", "mode", before[2], after[1]),
        Change("new", "created", None, after[2]),
        Change("x", "modified", before[3], link),
    ]
    assert diff_entries(before, before) == []
