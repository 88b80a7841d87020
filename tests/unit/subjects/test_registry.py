from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from oyer.errors import UsageError
from oyer.subjects import (
    ModelSettings,
    Scripts,
    StopLimits,
    check_subject,
    double_names,
    identify_subject,
    make_subject,
    subject_names,
    with_common,
)

STEP = {"call": "ops.act", "arguments": {"x": "y"}}
SCRIPTS = Scripts.parse({"proper": {"a": [{"say": "No."}]}, "tempted": {"a": [STEP]}})
MODEL = ModelSettings("small", "http://127.0.0.1:9102/v1", {"temperature": 0, "seed": 1})


def test_every_subject_is_listed_with_what_it_does() -> None:
    named = subject_names()
    assert set(named) == {"model", *(f"scripted:{double}" for double in double_names())} and all(named.values())


@pytest.mark.parametrize("spec", ["", "modell", "scripted", "command", "obedient"])
def test_an_unknown_subject_is_refused_with_the_list(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_subject(spec, scripts=SCRIPTS, model=MODEL)
    assert caught.value.code == "E-SUBJECT-UNKNOWN" and "scripted:obedient" in caught.value.hint


@pytest.mark.parametrize("model", [None, ModelSettings("", "http://x/v1"), ModelSettings("m", "")])
def test_a_model_needs_a_name_and_an_address(model: ModelSettings | None) -> None:
    with pytest.raises(UsageError, match="E-SUBJECT-MODEL"):
        check_subject("model", model=model)


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "parameters",
    [
        {"stream": "yes"},
        {"tools": []},
        {"messages": []},
        {"x": float("nan")},
        {"x": object()},
        {"seed": 2**53},
        {"x": "\ud800"},
        {"x": nested(200)},
        {"x": nested(5000)},
    ],
)
def test_parameters_that_cannot_be_passed_on_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="E-SUBJECT-PARAMETER"):
        check_subject("model", model=dataclasses.replace(MODEL, parameters=parameters))


def test_what_makes_no_sense_is_refused_before_anything_is_made(open_journal: Callable[[str], Any]) -> None:
    journal = open_journal("harness")
    with pytest.raises(UsageError, match="E-DOUBLE-NO-SCRIPT"):
        make_subject("scripted:obedient", journal)
    assert not journal.events


def test_an_identity_is_a_digest_of_sources_and_parameters() -> None:
    one = identify_subject("model", model=MODEL)
    assert (one.name, one.driver, one.model) == ("model", "model", "small") and one.revision.startswith("sha256:")
    assert one == identify_subject("model", model=MODEL)
    assert one.revision == identify_subject("model", model=dataclasses.replace(MODEL, base_url="http://b/v1")).revision
    others = [
        identify_subject("model", model=dataclasses.replace(MODEL, name="large")),
        identify_subject("model", model=dataclasses.replace(MODEL, parameters={"temperature": 1, "seed": 1})),
        identify_subject("model", model=dataclasses.replace(MODEL, system="Be brief.")),
        identify_subject("model", model=MODEL, stop=StopLimits(model_calls=3)),
        identify_subject("scripted:idle"),
        identify_subject("scripted:obedient", scripts=SCRIPTS),
        identify_subject("scripted:replay", scripts=SCRIPTS),
        identify_subject("scripted:replay", scripts=dataclasses.replace(SCRIPTS, earlier={"a": ["then"]})),
    ]
    assert len({each.revision for each in [one, *others]}) == 9


def test_what_a_run_draws_is_not_part_of_the_identity() -> None:
    drawn = Scripts.parse({"proper": {"a": [{"say": "No."}]}, "tempted": {"a": [{"say": "token-1"}]}})
    assert identify_subject("scripted:obedient", scripts=drawn) == identify_subject(
        "scripted:obedient", scripts=SCRIPTS
    )


@pytest.mark.parametrize(
    ("api", "parameters"),
    [
        ("chat", {"x": 1, "temperature": 0, "max_tokens": 9}),
        ("responses", {"x": 1, "temperature": 0, "max_output_tokens": 9}),
        ("messages", {"x": 1, "temperature": 0, "max_tokens": 9}),
        ("gemini", {"x": 1, "generationConfig": {"temperature": 0, "maxOutputTokens": 9}}),
    ],
)
def test_common_parameters_stand_where_an_api_has_them(api: Any, parameters: Any) -> None:
    common = {"temperature": 0, "max_tokens": 9, "seed": None}
    assert with_common(api, {"x": 1}, common) == parameters
    check_subject("model", model=dataclasses.replace(MODEL, api=api, parameters=parameters))


@pytest.mark.parametrize("api", ["responses", "messages"])
def test_a_parameter_that_an_api_does_not_have_is_refused(api: Any) -> None:
    with pytest.raises(UsageError, match="E-SUBJECT-PARAMETER"):
        with_common(api, {}, {"seed": 1})


def test_what_an_api_would_refuse_is_refused_before() -> None:
    with pytest.raises(UsageError, match="without max_tokens"):
        check_subject("model", model=dataclasses.replace(MODEL, api="messages"))
    with pytest.raises(UsageError, match="E-SUBJECT-API"):
        check_subject("model", model=dataclasses.replace(MODEL, api="telepathy"))


def test_another_api_is_another_subject() -> None:
    one, other = (identify_subject("model", model=dataclasses.replace(MODEL, api=api)) for api in ("chat", "responses"))
    assert one.revision != other.revision
