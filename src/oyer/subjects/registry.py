"""From the name of a subject to a subject.

Owns the list of what can be named and the making of it. Must never start anything: what does not make sense is
refused before a trial opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from oyer.errors import RecordError, UsageError
from oyer.protocol import API_NAMES, manner_of
from oyer.records import ModelApiName, Price, canonical_bytes, nearest
from oyer.subjects.child import ChildSubject, program_argv
from oyer.subjects.doubles import check_double, derive, describe_double, double_names
from oyer.subjects.identity import identify
from oyer.subjects.ports import NO_STOPS, Given, Recorder, StopLimits, Subject, SubjectIdentity
from oyer.subjects.scripts import Scripts

__all__ = [
    "ModelSettings",
    "check_subject",
    "identify_subject",
    "make_subject",
    "scripted_double",
    "subject_names",
    "with_common",
]

_SCRIPTED: Final = "scripted:"
_MODEL: Final = "model"
_NO_MODELS: Final = ("crasher", "garbler")
"""Doubles that break their own process: a model has none."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model, at which endpoint, with which parameters.

    `base_url` is the declared upstream (the subject itself is given the gateway's address). `parameters` pass into
    every request exactly as they are: temperature, seed, max_tokens, and whatever else the endpoint knows
    (`cache_prompt: false`); with `stream: true` the answers are read as streams. `system` is a system prompt; none by
    default. `reports` says by requested name which model its answers have to report: it is pinned, and never sent.
    `api` is how the endpoint is asked: `chat`, `responses`, `messages` or `gemini`. A `base_url` of the form
    `scripted:DOUBLE` is no address: the gateway answers as that double would.
    `faults` are declared of the endpoint (see `ModelFaultText`), `prices` say what models cost.
    `reasoning_delimiters` are the pairs of texts between which the model thinks in its own text.
    """

    name: str
    base_url: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    system: str | None = None
    reports: Mapping[str, str] = field(default_factory=dict)
    api: ModelApiName = "chat"
    reasoning_delimiters: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)


def scripted_double(base_url: str) -> str | None:
    """Return the double that an endpoint's address names (`scripted:obedient`), None for any other address."""
    return base_url.removeprefix(_SCRIPTED) if base_url.startswith(_SCRIPTED) else None


def with_common(api: ModelApiName, parameters: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Add `temperature`, `max_tokens` and `seed` to the parameters of a request, where and as its API calls them.

    What is None is not added. Raises: UsageError E-SUBJECT-PARAMETER for one that the API does not have.
    """
    found = dict(parameters)
    for name, value in common.items():
        if value is None:
            continue
        place = manner_of(api).names.get(name)
        if place is None:
            raise UsageError("E-SUBJECT-PARAMETER", f"the API {api} has no parameter {name}")
        holder = found
        for step in place[:-1]:
            inner = holder.get(step)
            holder[step] = dict(inner) if isinstance(inner, Mapping) else {}
            holder = holder[step]
        holder[place[-1]] = value
    return found


def subject_names() -> dict[str, str]:
    """Name every subject that can be asked for, with what it does."""
    named = {f"{_SCRIPTED}{double}": describe_double(double) for double in double_names()}
    return {**named, _MODEL: "a tool loop over a model's endpoint (needs a model name and a base URL)"}


def check_subject(spec: str, *, scripts: Scripts | None = None, model: ModelSettings | None = None) -> None:
    """Refuse a subject that does not exist or makes no sense here.

    Raises: UsageError E-SUBJECT-UNKNOWN, E-SUBJECT-MODEL, E-SUBJECT-PARAMETER or E-DOUBLE-*.
    """
    if spec.startswith(_SCRIPTED):
        check_double(spec.removeprefix(_SCRIPTED), scripts or Scripts({}, {}))
    elif spec == _MODEL:
        _check_model(model)
        double = scripted_double(model.base_url) if model is not None else None
        if double is not None and double.partition(":")[0] in _NO_MODELS:
            raise UsageError(
                "E-DOUBLE-NOT-APPLICABLE", f"scripted:{double} is no model: it breaks a process, and a model has none"
            )
        if double is not None:
            check_double(double, scripts or Scripts({}, {}))
    else:
        close = nearest(spec, tuple(subject_names()))
        meant = f"did you mean {close}? " if close else ""
        raise UsageError(
            "E-SUBJECT-UNKNOWN", f"there is no subject {spec!r}", hint=f"{meant}one of {', '.join(subject_names())}"
        )


def identify_subject(
    spec: str, *, scripts: Scripts | None = None, model: ModelSettings | None = None, stop: StopLimits = NO_STOPS
) -> SubjectIdentity:
    """Say who a subject is without making it. Raises: as `check_subject`."""
    check_subject(spec, scripts=scripts, model=model)
    limits = {"model_calls": stop.model_calls, "tool_calls": stop.tool_calls}
    if spec != _MODEL or model is None:
        parameters: dict[str, Any] = {"double": spec.removeprefix(_SCRIPTED), "stop": limits}
        if scripts is not None and scripts.earlier:
            parameters["earlier"] = {session: list(texts) for session, texts in scripts.earlier.items()}
        return identify(spec, "scripted", parameters)
    parameters = {"api": model.api, "parameters": dict(model.parameters), "system": model.system, "stop": limits}
    if model.faults:
        parameters["faults"] = list(model.faults)
    return identify(spec, _MODEL, parameters, model=model.name)


def make_subject(
    spec: str,
    recorder: Recorder,
    *,
    scripts: Scripts | None = None,
    model: ModelSettings | None = None,
    stop: StopLimits = NO_STOPS,
) -> Subject:
    """Make the subject for one attempt; its processes start with its sessions.

    `spec` is `scripted:DOUBLE` or `model`; `recorder` is the harness writer of the attempt.
    Raises: as `check_subject`.
    """
    identity = identify_subject(spec, scripts=scripts, model=model, stop=stop)
    if spec == _MODEL and model is not None:
        settings = model

        def configure_model(_session: str, given: Given) -> dict[str, Any]:
            return _model_configuration(settings, given)

        argv = program_argv("oyer.programs.model")
        return ChildSubject(recorder, identity, argv=argv, role=_MODEL, configure=configure_model, stop=stop)
    double = spec.removeprefix(_SCRIPTED)
    written = scripts or Scripts({}, {})

    def configure_script(session: str, given: Given) -> dict[str, Any]:
        return {**derive(double, written, session=session), "turns": given.turns}

    argv = program_argv("oyer.programs.scripted")
    return ChildSubject(recorder, identity, argv=argv, role="script", configure=configure_script, stop=stop)


def _check_model(model: ModelSettings | None) -> None:
    lacks = [] if model is not None and model.name else ["a model name"]
    lacks += [] if model is not None and model.base_url else ["the base URL of its endpoint"]
    if model is None or lacks:
        raise UsageError(
            "E-SUBJECT-MODEL",
            f"the subject `model` needs {' and '.join(lacks)}: not given, or empty",
            hint="--model NAME --base-url http://127.0.0.1:9102/v1",
        )
    if model.api not in API_NAMES:
        raise UsageError(
            "E-SUBJECT-API", f"there is no API {model.api!r}", where="--api", hint=f"one of {', '.join(API_NAMES)}"
        )
    manner = manner_of(model.api)
    missing = [name for name in manner.wanted if name not in model.parameters]
    if missing:
        raise UsageError(
            "E-SUBJECT-PARAMETER",
            f"the API {model.api} refuses a request without {', '.join(missing)}",
            hint="--max-tokens 1024",
        )
    taken = sorted(manner.taken & set(model.parameters))
    if not taken and not isinstance(model.parameters.get("stream", False), bool):
        taken = ["a stream that is neither true nor false"]
    if taken:
        raise UsageError("E-SUBJECT-PARAMETER", f"{', '.join(taken)} is no parameter: the tool loop sets it itself")
    try:
        # As they will be pinned: a number that is not exact or half a letter would be another one when it is sent.
        canonical_bytes([model.name, model.system, dict(model.parameters)])
    except (RecordError, TypeError, RecursionError) as error:
        raise UsageError("E-SUBJECT-PARAMETER", f"the model's settings cannot be pinned: {error}") from error


def _model_configuration(model: ModelSettings, given: Given) -> dict[str, Any]:
    if given.model is None:
        raise UsageError("E-SUBJECT-MODEL", "the subject `model` was given no gateway to ask")
    return {
        "base_url": given.model.base_url,
        "key": given.model.key,
        "api": model.api,
        "model": model.name,
        "parameters": dict(model.parameters),
        "system": model.system,
    }
