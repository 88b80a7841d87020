"""Names look alike and never repeat."""

from __future__ import annotations

import re

from oyer.host import neutral_name, new_run_id, new_token


def test_values_have_one_form_each_and_do_not_repeat() -> None:
    for draw, form in (
        (neutral_name, r"[a-z][a-z0-9]{11}"),
        (new_run_id, r"r[0-9a-f]{16}"),
        (new_token, r"[A-Za-z0-9_-]{32}"),
    ):
        drawn = [draw() for _ in range(500)]
        assert len(set(drawn)) == 500
        assert all(re.fullmatch(form, value) for value in drawn)
