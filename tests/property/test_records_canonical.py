"""Laws of canonical bytes, digests and directories."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from hypothesis import assume, example, given
from hypothesis import strategies as st

from oyer.errors import RecordError
from oyer.records import (
    Entry,
    FrozenDict,
    canonical_bytes,
    diff_entries,
    digest,
    directory_digest,
    freeze_json,
    parse_canonical,
)

SAFE = 2**53 - 1
TEXT = st.text(max_size=12)
# Every float that has a canonical form: none that would be written as a bare whole number beyond 2^53-1.
FLOATS = st.floats(-(2.0**53) + 1, 2.0**53 - 1) | st.floats(1e21, 1.7e308) | st.floats(-1.7e308, -1e21)
SCALARS = st.none() | st.booleans() | st.integers(-SAFE, SAFE) | FLOATS | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=16
)


def shuffled(value: Any) -> Any:
    """The same value with every mapping in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
@example({"\uff20": 1, "\U0001f600": 1})
@example([5e-324, 1e21, -0.0, 1e-7, 1e300])
def test_canonical_bytes_are_their_own_canonical_form(value: Any) -> None:
    data = canonical_bytes(value)
    again = parse_canonical(data)
    assert again == value
    assert canonical_bytes(again) == data


@given(VALUES)
@example({"\uff20": 1, "\U0001f600": 1})
@example(['\x7f\u2028\u0000\x1f\b\f\n\r\t"\\/', "\u00e9", {"\u00e9": 0, "z": 0}])
def test_the_form_is_that_of_the_reference_encoder(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(VALUES)
def test_the_order_of_a_mapping_does_not_count(value: Any) -> None:
    assert canonical_bytes(shuffled(value)) == canonical_bytes(value)


@given(VALUES)
def test_freezing_changes_no_digest(value: Any) -> None:
    frozen = freeze_json(value)
    assert digest(frozen) == digest(value)
    assert isinstance(hash(frozen), int)
    assert not isinstance(frozen, dict) or isinstance(frozen, FrozenDict)


@given(VALUES, VALUES)
def test_different_values_have_different_bytes(left: Any, right: Any) -> None:
    same = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assume(not same)
    # Only the spelling of a number may differ: 1 and 1.0 are one number to JSON.
    assert canonical_bytes(left) != canonical_bytes(right) or left == right


@given(VALUES)
def test_the_standard_reader_reads_the_same(value: Any) -> None:
    assert json.loads(canonical_bytes(value)) == value


@given(FLOATS)
@example(1e21)
@example(2.0**53 - 1)
def test_every_float_comes_back(number: float) -> None:
    text = canonical_bytes(number).decode()
    assert float(text) == number
    assert len(text) <= 25
    assert not math.isnan(float(text))


@given(st.integers(min_value=SAFE + 1) | st.integers(max_value=-SAFE - 1))
def test_no_integer_beyond_the_safe_range_gets_in(number: int) -> None:
    with pytest.raises(RecordError):
        canonical_bytes({"id": number})
    with pytest.raises(RecordError):
        parse_canonical(b'{"id":%d}' % number)


@given(VALUES, st.data())
def test_one_byte_inserted_is_never_the_same_canonical_value(value: Any, data: st.DataObject) -> None:
    raw = canonical_bytes(value)
    at = data.draw(st.integers(0, len(raw)))
    other = raw[:at] + data.draw(st.sampled_from([b" ", b"0", b"\n", b"\t", b"-", b"\\", b'"', b","])) + raw[at:]
    try:
        read = parse_canonical(other)
    except RecordError:
        return
    assert canonical_bytes(read) == other


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=4)
PATHS = NAMES.filter(lambda name: name not in (".", ".."))


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    paths = draw(st.lists(PATHS, max_size=6, unique=True))
    contents = draw(st.lists(st.tuples(st.binary(max_size=3), st.booleans()), min_size=6, max_size=6))
    return [
        Entry(path, executable, len(content), sha256(content).hexdigest())
        for path, (content, executable) in zip(paths, contents, strict=False)
    ]


@given(entries(), st.randoms(use_true_random=False))
def test_a_directory_has_no_order(listed: list[Entry], random: Any) -> None:
    other = list(listed)
    random.shuffle(other)
    assert directory_digest(other) == directory_digest(listed)


@given(entries(), entries())
def test_two_directories_are_equal_exactly_when_nothing_changed(before: list[Entry], after: list[Entry]) -> None:
    changes = diff_entries(before, after)
    assert (directory_digest(before) == directory_digest(after)) is (changes == [])
    state = {entry.path: entry for entry in before}
    for change in changes:
        assert state.get(change.path) == change.before
        if change.after is None:
            del state[change.path]
        else:
            state[change.path] = change.after
    assert directory_digest(state.values()) == directory_digest(after)
