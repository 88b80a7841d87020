"""Strict YAML: the core schema, what is refused, and the place of everything."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records.source_text import MAX_DEPTH, MAX_PROBLEMS, MAX_SIZE_BYTES
from oyer.records.strict_yaml import parse_yaml

BOTH_PARSERS = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])


def one(text: str, *, pure: bool = False) -> object:
    (parsed,) = parse_yaml(text.encode(), name="f.yaml", pure=pure)
    return parsed.value


def refused(data: bytes | str, *, pure: bool = False) -> list[tuple[str, str]]:
    with pytest.raises(RecordError) as caught:
        parse_yaml(data.encode() if isinstance(data, str) else data, name="f", pure=pure)
    return [(problem.code, problem.where) for problem in caught.value.problems]


@BOTH_PARSERS
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("Off", "Off"), ("y", "y"), ("n", "n"),
        ("true", True), ("True", True), ("TRUE", True), ("tRue", "tRue"), ("false", False),
        ("null", None), ("~", None), ("", None), ("Null", None), ("nULL", "nULL"),
        ("0", 0), ("-0", 0), ("+12", 12), ("-7", -7), ("007", 7), ("0o17", 15), ("0x1F", 31), ("-0x1F", "-0x1F"),
        ("0b11", "0b11"), ("1_000", "1_000"), ("12:30", "12:30"), ("190:20:30", "190:20:30"),
        ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-1.5E-2", -0.015), ("+.5e+1", 5.0),
        ("1e", "1e"), (".", "."), ("-", None), ("+", "+"), ("e3", "e3"), ("1.2.3", "1.2.3"), (".infinity", ".infinity"),
        ("2026-09-13", "2026-09-13"), ("2026-09-13T12:00:00Z", "2026-09-13T12:00:00Z"),
        ("'true'", "true"), ('"1"', "1"), ("'<<'", "<<"), ("<<x", "<<x"), ("=", "="),
        ("9007199254740991", 2**53 - 1), ("-9007199254740991", -(2**53) + 1), ("0x1FFFFFFFFFFFFF", 2**53 - 1),
        ("000000000000000000000000000000000001", 1),
    ],
)  # fmt: skip
def test_plain_scalars_follow_the_core_schema(written: str, value: object, pure: bool) -> None:
    if written == "-":
        assert one("-", pure=pure) == [None]
        return
    found = one(f"v: {written}", pure=pure)
    assert found == {"v": value}
    assert isinstance(found, dict)
    assert type(found["v"]) is type(value)


@BOTH_PARSERS
@pytest.mark.parametrize(
    "written",
    ["9007199254740992", "-9007199254740992", "0x20000000000000", "0o" + "7" * 20, "1" * 5000, "1e400", "1e20",
     "9007199254740993.0", ".inf", "-.INF", ".nan", ".NaN"],
)  # fmt: skip
def test_numbers_that_json_cannot_hold_are_refused_in_place(written: str, pure: bool) -> None:
    assert refused(f"a:\n  - {written}", pure=pure) == [("E-YAML-NUMBER", "f:2:5: a[0]")]


@BOTH_PARSERS
def test_every_problem_of_one_file_is_told_at_once(pure: bool) -> None:
    text = (
        "a: &x 1\n"
        "b: *x\n"
        "<<: {q: 1}\n"
        "1: one\n"
        "true: yes\n"
        "a: again\n"
        "t: !!str 7\n"
        "u: !thing {v: 99999999999999999999}\n"
        "? [k]\n"
        ": v\n"
        "m: {~: 1, n: {n: 1, n: 2}}\n"
    )
    assert refused(text, pure=pure) == [
        ("E-YAML-ANCHOR", "f:1:4: a"),
        ("E-YAML-ALIAS", "f:2:4: b"),
        ("E-YAML-MERGE", "f:3:1"),
        ("E-YAML-KEY", "f:4:1"),
        ("E-YAML-KEY", "f:5:1"),
        ("E-YAML-DUPLICATE-KEY", "f:6:1: a"),
        ("E-YAML-TAG", "f:7:4: t"),
        ("E-YAML-TAG", "f:8:4: u"),
        ("E-YAML-NUMBER", "f:8:15: u.v"),
        ("E-YAML-KEY", "f:9:3"),
        ("E-YAML-KEY", "f:11:5: m"),
        ("E-YAML-DUPLICATE-KEY", "f:11:21: m.n.n"),
    ]


def test_a_number_as_key_comes_with_a_hint() -> None:
    with pytest.raises(RecordError, match='put it in quotes: "1"'):
        parse_yaml(b"1: x", name="f")


def test_a_duplicate_names_both_places() -> None:
    with pytest.raises(RecordError, match=r"f:2:1: a: .*first on line 1, column 1"):
        parse_yaml(b'a: 1\n"\\u0061": 2', name="f")


@BOTH_PARSERS
def test_a_syntax_error_ends_the_reading_and_keeps_what_was_found(pure: bool) -> None:
    found = refused("a: 1\na: 2\nb: [1,\nc: }", pure=pure)
    assert found[0] == ("E-YAML-DUPLICATE-KEY", "f:2:1: a")
    assert [code for code, _ in found[1:]] == ["E-YAML-SYNTAX"]


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (b"a: b\nc: \xc3\xa9\xff", "E-YAML-UTF8", "f:2:5"),
        (b"a: \xed\xa0\x80", "E-YAML-UTF8", "f:1:4"),
        (b"a: \xc3\xa9\0", "E-YAML-NUL", "f:1:5"),
        (b"\xef\xbb\xbfa: 1", "E-YAML-BOM", "f:1:1"),
        (b"\xff\xfea\0", "E-YAML-BOM", "f:1:1"),
        ("a: 1\nb: x\u2028y".encode(), "E-YAML-LINE-SEPARATOR", "f:2:5"),
        ("a: x\x85y".encode(), "E-YAML-LINE-SEPARATOR", "f:1:5"),
        ("a: \ufeff1".encode(), "E-YAML-CHARACTER", "f:1:4"),
        (b"a: \x1b[31m", "E-YAML-CHARACTER", "f:1:4"),
        (b"", "E-YAML-EMPTY", "f:1:1"),
        (b"# only a comment\n", "E-YAML-EMPTY", "f:1:1"),
        (b"%YAML 1.1\n---\na: 1", "E-YAML-DIRECTIVE", "f:1:1"),
        (b"%TAG ! tag:x,2000:\n---\na: 1", "E-YAML-DIRECTIVE", "f:1:1"),
        (b"[" * (MAX_DEPTH + 1), "E-YAML-DEPTH", f"f:1:{MAX_DEPTH + 1}"),
        (b"a" * (MAX_SIZE_BYTES + 1), "E-YAML-SIZE", "f:1:1"),
    ],
)
def test_what_no_grammar_sees_is_refused_by_name_and_place(data: bytes, code: str, where: str) -> None:
    assert refused(data) == [(code, where)]


def test_the_deepest_allowed_nesting_is_read() -> None:
    assert one("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_half_a_surrogate_pair_is_refused_by_both_parsers() -> None:
    assert refused(r'a: "\ud800"', pure=True) == [("E-YAML-SURROGATE", "f:1:4: a")]
    assert refused(r'"\ud800": a', pure=True) == [("E-YAML-SURROGATE", "f:1:1")]
    assert refused(r'a: "\ud800"')[0][0] == "E-YAML-SYNTAX"
    assert refused(r'a: "\UFFFFFFFF"', pure=True)[0][0] == "E-YAML-SYNTAX"


def test_problems_are_bounded() -> None:
    found = refused("".join(f"{number}: x\n" for number in range(MAX_PROBLEMS * 2)))
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1][0] == "E-YAML-PROBLEMS"


def test_what_is_printed_has_no_control_characters() -> None:
    with pytest.raises(RecordError) as caught:
        parse_yaml(b'"\\e[2Jx": 1\n"\\e[2Jx": 2', name="f")
    assert str(caught.value).isprintable()


@BOTH_PARSERS
def test_several_documents_each_with_their_lines(pure: bool) -> None:
    documents = parse_yaml(b"a: 1\n---\nb: 2\n...\n---\n- 3\n", name="f", pure=pure)
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}, [3]]
    assert [document.place[0] for document in documents] == [1, 3, 6]


@BOTH_PARSERS
def test_texts_of_every_style(pure: bool) -> None:
    text = "fold: >\n  one\n  two\nkeep: |-\n  a\n  b\nplain: one\n  two\nquoted: 'it''s'\nescaped: \"\\u00e9\\N\\0\"\n"
    assert one(text, pure=pure) == {
        "fold": "one two\n",
        "keep": "a\nb",
        "plain": "one two",
        "quoted": "it's",
        "escaped": "\u00e9\x85\0",
    }
