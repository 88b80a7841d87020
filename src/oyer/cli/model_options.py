"""What the options of `--subject model` come to: which model, where, how it is asked, its key and its prices.

Must never print a key, or keep it anywhere but in the subject that it is for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oyer.cli.project import PlacedProject
    from oyer.engine import SubjectSpec
    from oyer.records import ModelApiName

__all__ = ["model_of", "priced", "read_key"]

_REPEATED = (
    ("param", "params"),
    ("reports", "reports"),
    ("reasoning-delimiters", "reasoning_delimiters"),
    ("model-fault", "model_faults"),
)


def model_of(options: Mapping[str, Any], *, wanted: bool) -> SubjectSpec | None:
    """Return the subject `model` of the options; None where it is not wanted. Raises: UsageError."""
    from oyer.engine import SubjectSpec
    from oyer.errors import UsageError
    from oyer.subjects import ModelSettings, scripted_double

    flags = ("model", "base_url", "api", "key_env", "key_file", "system")
    named = [flag for flag in flags if options.get(flag) is not None]
    if not wanted:
        given = [*named, *(flag for flag, name in _REPEATED if options[name])]
        if given:
            flag = "--" + given[0].replace("_", "-")
            raise UsageError("E-SUBJECT-MODEL", f"{flag} is for --subject model, which is not named", where=flag)
        return None
    api: ModelApiName = options["api"] or "chat"
    base_url = options["base_url"] or ""
    name = options["model"] or ("scripted" if scripted_double(base_url) else "")
    reports = _reports(options)
    if reports and name and name not in reports:
        told = f"nothing is pinned for {name}, which is the model that is asked for"
        hint = f"--reports {name}={next(iter(reports.values()))}"
        raise UsageError("E-SUBJECT-REPORTS", told, where="--reports", hint=hint)
    model = ModelSettings(
        name,
        base_url,
        parameters=_parameters(options, api),
        system=options["system"],
        reports=reports,
        faults=_faults(options),
        api=api,
        reasoning_delimiters=_delimiters(options),
    )
    if scripted_double(base_url) is None:
        _require_endpoint(base_url)
    return SubjectSpec("model", model=model, key=read_key(options), key_name=options.get("key_env") or "MODEL_KEY")


def _require_endpoint(url: str) -> None:
    """Refuse what is no endpoint; a key in an address would be kept with the series."""
    from urllib.parse import urlsplit

    from oyer.errors import UsageError

    where = "--base-url"
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, named = urlsplit(""), False
    if url and (parts.scheme not in ("http", "https") or not named):
        hint = "for instance http://127.0.0.1:8080/v1"
        raise UsageError("E-SUBJECT-ENDPOINT", "not an http or https address", where=where, hint=hint)
    if parts.username is not None or parts.password is not None or parts.query:
        raise UsageError(
            "E-SUBJECT-ENDPOINT", "an address that carries a key", where=where, hint="use --key-env or --key-file"
        )


def read_key(options: Mapping[str, Any]) -> str | None:
    """Read the key of a model's endpoint, None where none is named. Raises: UsageError."""
    from oyer.cli.secret_options import read_hidden
    from oyer.errors import UsageError

    env, file = options.get("key_env"), options.get("key_file")
    if env is None and file is None:
        return None
    if env is not None and file is not None:
        raise UsageError("E-USAGE", "name the key once: --key-env or --key-file", where="--key-file")
    return read_hidden(env or "MODEL_KEY", env=env, file=file)


def _reports(options: Mapping[str, Any]) -> dict[str, str]:
    from oyer.errors import UsageError

    found: dict[str, str] = {}
    for text in options["reports"]:
        name, equals, reported = text.partition("=")
        if not (equals and name and reported) or name in found:
            told = f"{name!r} is named twice" if name in found else f"{text!r} is not NAME=REPORTED"
            raise UsageError("E-SUBJECT-REPORTS", told, where="--reports", hint="for instance gpt-x=gpt-x-2026-01-31")
        found[name] = reported
    return found


def _delimiters(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    from oyer.errors import UsageError

    given = tuple((opening, closing) for opening, closing in options["reasoning_delimiters"])
    if not all(opening and closing for opening, closing in given):
        where = "--reasoning-delimiters"
        raise UsageError("E-SUBJECT-REASONING", "a delimiter is an empty text", where=where, hint="<think> </think>")
    return given


def _faults(options: Mapping[str, Any]) -> tuple[str, ...]:
    from oyer.errors import UsageError
    from oyer.records import parse_model_fault

    for text in options["model_faults"]:
        try:
            parse_model_fault(text)
        except ValueError as error:
            hint = "429@2, 500@1x3, cut@2 or slow:1500ms@1; after @ stands which request, counted from 1"
            raise UsageError("E-SUBJECT-FAULT", str(error), where="--model-fault", hint=hint) from None
    return tuple(options["model_faults"])


def _parameters(options: Mapping[str, Any], api: ModelApiName) -> dict[str, Any]:
    from oyer.errors import UsageError
    from oyer.subjects import with_common

    found: dict[str, Any] = {}
    for text in options["params"]:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError("E-SUBJECT-PARAMETER", f"{text!r} is not NAME=JSON", where="--param")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(
                "E-SUBJECT-PARAMETER",
                f"the value of {name} is not JSON",
                where="--param",
                hint=f"{name}=true, {name}=3; a text is {name}='\"...\"'",
            ) from None
    common = {"temperature": options["temperature"], "max_tokens": options["max_tokens"], "seed": options["model_seed"]}
    return with_common(api, found, common)


def priced(
    specs: Sequence[SubjectSpec], options: Mapping[str, Any], project: PlacedProject | None
) -> list[SubjectSpec]:
    """Give every subject that asks a model the prices of a file, else those of the project. Raises: UsageError,
    RecordError.
    """
    from oyer.cli.prices import read_prices

    prices = read_prices(options["prices"], project)
    return [spec if spec.model is None else replace(spec, model=replace(spec.model, prices=prices)) for spec in specs]
