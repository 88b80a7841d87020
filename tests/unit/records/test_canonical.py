"""Canonical bytes: RFC 8785, the safe range, and the vectors that tell readers apart."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

import pytest
from pydantic import Field

from oyer.errors import RecordError
from oyer.records import (
    Record,
    canonical_bytes,
    digest,
    digest_bytes,
    document_of,
    parse_canonical,
    plain,
    raw_digest,
    validate,
)


class Sample(Record):
    oyer: Literal["Sample@1"] = "Sample@1"
    with_: str = Field(validation_alias="with", serialization_alias="with")
    note: str | None = None
    parts: tuple[int, ...] = ()


def test_keys_are_ordered_by_utf16_units() -> None:
    """U+1F600 is written with units below U+FF20 and comes first, though its code point is greater."""
    value = {"\uff20": 1, "\U0001f600": 1}
    assert digest(value) == "sha256:425159f5c1f0575fbcbf9d05a8f60cde3d040eae5166aa2136657564048651b6"
    by_code_point = '{"\uff20":1,"\U0001f600":1}'.encode()
    assert sha256(by_code_point).hexdigest() == "1c314559129cce00bc1b3caa2ee37fa3e81f926aee65b34f8e4e21856b2de83b"
    with pytest.raises(RecordError, match="E-CANONICAL-FORM"):
        parse_canonical(by_code_point)


def test_the_rfcs_own_example() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_bytes(value) == expected.encode()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e21, "1e+21"),
        (2251799813685248.5, "2251799813685248.5"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.00001234, "0.00001234"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, text: str) -> None:
    assert canonical_bytes(number) == text.encode()


@pytest.mark.parametrize("number", [2.0**53, -1e20, 999999999999999900000.0, float("inf")])
def test_a_float_that_would_become_a_bare_unsafe_integer_is_refused(number: float) -> None:
    """The bytes would be canonical by the RFC, and no strict reader would take them back."""
    with pytest.raises(RecordError, match="E-CANONICAL"):
        canonical_bytes({"n": number})


def test_everything_that_has_no_canonical_form_is_told_with_its_path() -> None:
    value = {"a": [2**53, float("nan")], "b": {"c": "\ud800"}, "d": {1: 2}, "e": b"x", "f": -(2**53), "\udc00": 1}
    with pytest.raises(RecordError) as caught:
        canonical_bytes(value)
    assert [problem.where for problem in caught.value.problems] == ["a[0]", "a[1]", "b.c", "d", "e", "f", '["?"]']
    assert {problem.code for problem in caught.value.problems} == {"E-CANONICAL"}


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(RecordError, match="nested deeper"):
        canonical_bytes(loop)


def test_a_record_is_encoded_with_all_its_fields_under_document_names() -> None:
    record = Sample(with_="x", parts=(1, 2))
    assert plain(record) == {"oyer": "Sample@1", "with": "x", "note": None, "parts": [1, 2]}
    data = canonical_bytes(record)
    assert data == b'{"note":null,"oyer":"Sample@1","parts":[1,2],"with":"x"}'
    assert digest(record) == digest_bytes(data) == "sha256:" + sha256(data).hexdigest()
    assert validate(document_of(parse_canonical(data)), {"Sample@1": Sample}) == record


def test_a_raw_digest_says_that_it_is_one() -> None:
    assert raw_digest(b'{"a":1e999}') == "raw:" + sha256(b'{"a":1e999}').hexdigest()


def test_two_raw_payloads_that_differ_in_a_digit_beyond_2_53_differ() -> None:
    assert raw_digest(b'{"id":9007199254740993}') != raw_digest(b'{"id":9007199254740992}')


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1}', b'{"b":1,"a":2}', b"1.0", b"-0", b"1e2", b'"\\u0061"', b'"\\/"', b"1\n", b'"\\u001F"', b"[1 ]"],
)
def test_bytes_in_any_other_form_are_refused(data: bytes) -> None:
    with pytest.raises(RecordError) as caught:
        parse_canonical(data, name="seal")
    assert caught.value.code == "E-CANONICAL-FORM"
    assert caught.value.where == "seal"


def test_malformed_bytes_keep_the_readers_code() -> None:
    with pytest.raises(RecordError, match="E-JSON-DUPLICATE-KEY"):
        parse_canonical(b'{"a":1,"a":1}')
