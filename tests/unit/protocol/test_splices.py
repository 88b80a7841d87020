"""Splices and their composition."""

from __future__ import annotations

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import Splice, splice
from oyer.protocol.splices import compose


def test_splices_replace_ranges_of_the_original() -> None:
    assert splice(b"abcdef", [Splice(1, 2, b"XX"), Splice(4, 4, b"-")]) == b"aXXcd-ef"


@pytest.mark.parametrize("bad", [[Splice(2, 4, b""), Splice(3, 5, b"")], [Splice(0, 9, b"")], [Splice(3, 2, b"")]])
def test_overlap_is_refused(bad: list[Splice]) -> None:
    with pytest.raises(ProtocolError):
        splice(b"abcdef", bad)


def test_what_touches_melts_and_what_does_not_stays_apart() -> None:
    first = (Splice(1, 2, b"XX"),)
    assert compose(first, Splice(5, 6, b"!")) == (Splice(1, 2, b"XX"), Splice(4, 5, b"!"))
    assert compose(first, Splice(2, 4, b"Y")) == (Splice(1, 3, b"XY"),)
    assert compose((Splice(4, 5, b""),), Splice(0, 1, b"Z")) == (Splice(0, 1, b"Z"), Splice(4, 5, b""))
