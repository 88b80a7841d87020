"""Evidence matchers: one form each, and nothing written is without effect."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from oyer.records import EvidenceMatcher

FORMS: dict[str, dict[str, Any]] = {
    "called": {"called": {"server": "a", "tool": "b"}, "arguments": {"x": 1}, "result": {"ok": True}, "failed": False},
    "world_path": {"world_path": "a/*.txt", "changed": True, "contains": "x"},
    "witnessed": {"witnessed": "s", "match": {"a": 1}, "allow_extra": ["t"]},
    "rows": {"rows": "shop.db", "table": "refunds", "where": {"kind": "refund"}, "count": {"lte": 1}},
    "exited": {"exited": "tests", "code": 0},
    "measured": {"measured": "tool_calls", "value": {"lte": 5}},
    "provider": {"provider": {"reported_model": "m"}},
}
RANK = {"called": "protocol", "measured": "protocol"}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_known_by_its_key_and_has_the_rank_of_its_instrument(form: str) -> None:
    matcher = EvidenceMatcher.model_validate(FORMS[form])
    assert (matcher.form, matcher.rank) == (form, RANK.get(form, "receipt"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", FORMS)
def test_what_a_form_does_not_look_at_is_refused(form: str, other: str) -> None:
    for name, value in FORMS[other].items():
        if name in FORMS[form] or name in ("changed", "allow_extra"):
            continue
        with pytest.raises(ValidationError):
            EvidenceMatcher.model_validate({**FORMS[form], name: value})


@pytest.mark.parametrize(
    "lacking", [{"rows": "a.db"}, {"measured": "tool_calls"}, {}, {"rows": "a", "table": "t", "where": {"regex": "("}}]
)
def test_what_a_form_needs_is_asked_for(lacking: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvidenceMatcher.model_validate(lacking)
