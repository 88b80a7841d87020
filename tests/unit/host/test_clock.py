"""Stamps have the form the journal demands, and order within one boot."""

from __future__ import annotations

import re

from oyer.host import boot_id, stamp, wall_text


def test_wall_text_is_utc_with_microseconds() -> None:
    assert wall_text(1_769_850_000_000_001_999) == "2026-01-31T09:00:00.000001Z"
    assert wall_text(0) == "1970-01-01T00:00:00.000000Z"


def test_stamps_never_go_back() -> None:
    stamps = [stamp() for _ in range(100)]
    assert [one.t_mono_ns for one in stamps] == sorted(one.t_mono_ns for one in stamps)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", one.t_wall) for one in stamps)


def test_boot_id_is_stable_and_not_empty() -> None:
    assert boot_id() == boot_id()
    assert re.fullmatch(r"[0-9A-Za-z.-]{8,80}", boot_id())
