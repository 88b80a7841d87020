"""The canonical form is RFC 8785, checked against an independent implementation and a known vector."""

from __future__ import annotations

from hashlib import sha256

import pytest
import rfc8785

from oyer.errors import EvidenceError
from oyer.evidence import encode_canonical


def test_keys_stand_in_utf16_order() -> None:
    encoded = encode_canonical({"\uff20": 1, "\U0001f600": 1})
    assert sha256(encoded).hexdigest() == "425159f5c1f0575fbcbf9d05a8f60cde3d040eae5166aa2136657564048651b6"


@pytest.mark.parametrize(
    "value",
    [
        {"b": [1, -1, 0, True, None], "a": {"\u20ac": "", "\r": '\x0f\n\t\x08\x0c\x7f"\\/'}},
        {"\U0001f600": {"\ue000": 1, "\U00010000": 2, "z": 3}},
        "\u2028\u2029\u0085",
        [2**53 - 1, -(2**53) + 1],
    ],
)
def test_an_independent_implementation_agrees(value: object) -> None:
    assert encode_canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, object()])
def test_what_has_no_form_is_refused(value: object) -> None:
    with pytest.raises(EvidenceError, match="E-CANONICAL"):
        encode_canonical(value)
