"""The table of reasons of verdicts is closed."""

from __future__ import annotations

import pytest

from oyer.adjudicate import REASONS, VERDICT_REASONS
from oyer.adjudicate.verdict_reasons import verdict_reason


def test_a_reason_is_its_code_and_what_it_is_about() -> None:
    assert verdict_reason("VOICES_DIFFER") == "VOICES_DIFFER"
    assert verdict_reason("EVALUATOR_MISSING", "x\ud800") == "EVALUATOR_MISSING:x\\ud800"
    with pytest.raises(KeyError):
        verdict_reason("NO_SUCH_REASON")


def test_no_code_means_two_things() -> None:
    assert not set(REASONS) & set(VERDICT_REASONS)
