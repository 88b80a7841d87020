"""Any bytes: a value or a named error, for every parser that a bundle goes through."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundle_kit import archive_of, check_bytes, members_of, mended, odd_header, piece, verify_bytes
from golden_build import build_series
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oyer.errors import EvidenceError, OyerError
from oyer.evidence import (
    ARCHIVE_END,
    MANIFEST_NAME,
    Signed,
    compare_statements,
    encode_signed,
    make_plan_statement,
    parse_manifest,
    parse_plan_statement,
    parse_signed,
)
from oyer.store import write_bundle

PARSERS: list[Callable[[bytes], Any]] = [
    parse_manifest,
    parse_signed,
    parse_plan_statement,
    lambda data: list(compare_statements(data, make_plan_statement(b"", "2026-01-01T00:00:00Z"))),
]
PLAN = make_plan_statement(b"{}", "2026-01-01T00:00:00Z")
SEEDS = [encode_signed(Signed(PLAN, "0" * 64, bytes(64))), PLAN, b'{"files":[],"oyer":"Bundle@1","withheld":[]}']


@functools.cache
def golden_bundle() -> bytes:
    """The smallest good bundle, made once in a process."""
    with tempfile.TemporaryDirectory() as place:
        build_series(Path(place) / "series", ("wary",), ("baseline", "manipulated"))
        return write_bundle(Path(place) / "series", Path(place) / "x.oyer").path.read_bytes()


@st.composite
def mangled(draw: st.DrawFn, seed: bytes) -> bytes:
    """A good file with a few places changed, cut, doubled or moved."""
    data = seed
    for _ in range(draw(st.integers(1, 4))):
        one, other = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        put = draw(st.sampled_from([b"", data[one:other] * 2, draw(st.binary(max_size=24))]))
        data = data[:one] + put + data[other:]
    return data


@pytest.mark.parametrize("parse", PARSERS)
@given(st.data())
def test_a_parser_returns_or_names_what_is_wrong(parse: Callable[[bytes], Any], data: st.DataObject) -> None:
    given_bytes = data.draw(st.binary(max_size=200) | st.sampled_from(SEEDS).flatmap(mangled))
    try:
        parse(given_bytes)
    except EvidenceError as error:
        assert error.code.startswith("E-") and error.problems[0].message


HEADERS = st.builds(
    odd_header,
    st.text(st.characters(max_codepoint=127, exclude_characters="\x00"), min_size=1, max_size=99),
    st.integers(0, 600) | st.just(8**11 - 1),
    st.sampled_from([b"0", b"x", b"1", b"2", b"5", b"g", b"L"]),
)


@given(st.lists(HEADERS | st.binary(max_size=700) | st.just(piece("manifest.json", b"{}")), max_size=6), st.booleans())
def test_any_archive_is_checked_to_an_end(pieces: list[bytes], ended: bool) -> None:
    check = check_bytes(b"".join(pieces) + (ARCHIVE_END if ended else b""))
    assert check.intact == (not check.defects)
    for defect in check.defects:
        assert defect.code.startswith("E-ARCHIVE-") and defect.message and defect.where.isprintable()


@settings(max_examples=settings().max_examples // 5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_bundle_is_verified_to_an_end(data: st.DataObject) -> None:
    good = golden_bundle()
    if data.draw(st.booleans()):
        spoiled = data.draw(mangled(good))
    else:
        members = members_of(good)
        path = data.draw(st.sampled_from(sorted(members)))
        members[path] = data.draw(mangled(members[path]))
        spoiled = archive_of(mended(members) if data.draw(st.booleans()) and path != MANIFEST_NAME else members)
    with tempfile.TemporaryDirectory() as place:
        try:
            found = verify_bytes(spoiled, Path(place))
        except OyerError as error:  # pragma: no cover - verifying never raises for what is stored
            raise AssertionError(f"verify raised {error}") from error
    assert len(found.checks) == 11
    assert (found.exit_code == 0) == (spoiled == good)
