"""`oyer run`: cases against subjects, and what the evidence shows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

if TYPE_CHECKING:
    from oyer.engine import SubjectSpec

__all__ = ["command"]


@click.command("run", short_help=COMMANDS["run"].about)
@click.argument("names", nargs=-1, required=True, metavar="CASE|FILE...")
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Who is on trial: scripted:NAME or model. Give it several times for several subjects.",
)
@click.option("-k", "only", multiple=True, metavar="CASE", help="Only this case of the files.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the series goes; runs/... by default."
)
@click.option("--conditions", metavar="A,B", help="Only these conditions: baseline, manipulated, hardened.")
@click.option("--repeat", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Repetitions.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Repetitions at one time.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True, help="Seed of the order.")
@click.option("--model", metavar="NAME", help="For --subject model: the model to ask for.")
@click.option("--base-url", metavar="URL", help="Its Chat Completions endpoint, up to /v1.")
@click.option("--key-env", metavar="NAME", help="Environment variable that holds its key.")
@click.option(
    "--key-file", type=click.Path(path_type=Path), metavar="FILE", help="File of mode 0600 that holds its key."
)
@click.option("--system", metavar="TEXT", help="A system prompt; none by default.")
@click.option("--temperature", type=float, help="Passed into every request.")
@click.option("--max-tokens", type=click.IntRange(1), help="Passed into every request.")
@click.option("--model-seed", type=int, help="Passed into every request as seed.")
@click.option("--param", "params", multiple=True, metavar="NAME=JSON", help="Any other request parameter.")
@json_option
def command(names: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Run cases against subjects and say what the evidence shows.

    A CASE is a packaged one (`oyer library` lists them), a FILE holds your own. Everything is checked before anything
    starts or is written. Outcomes are data: the exit code is 0 when every planned trial is sealed.
    """  # fmt: skip
    from oyer.cli.loading import load_cases
    from oyer.cli.places import new_series_path
    from oyer.cli.running import INTERRUPTED, announce, outcome_value_of, read_conditions, require_subjects, run
    from oyer.cli.terminal import print_json

    specs = _subjects(options)
    cases = load_cases(names, only=options["only"])
    conditions = read_conditions(options["conditions"], cases)
    require_subjects(specs, cases)
    out = new_series_path(options["out"])
    outcome = run(
        cases, specs, out, conditions=conditions, seed=options["seed"], repeat=options["repeat"],
        jobs=options["jobs"], arguments=click.get_current_context().obj,
    )  # fmt: skip
    code = INTERRUPTED if outcome.interrupted else 0
    if as_json:
        print_json({**outcome_value_of(outcome, cases), "exit_code": code})
    else:
        announce(outcome, cases)
    return code


def _subjects(options: Mapping[str, Any]) -> list[SubjectSpec]:
    from oyer.engine import SubjectSpec
    from oyer.errors import UsageError
    from oyer.subjects import ModelSettings

    model = None
    named = [flag for flag in ("model", "base_url", "key_env", "key_file", "system") if options[flag] is not None]
    if "model" not in options["subjects"]:
        if named or options["params"]:
            flag = "--" + (named[0] if named else "param").replace("_", "-")
            raise UsageError("E-SUBJECT-MODEL", f"{flag} is for --subject model, which is not named", where=flag)
        return [SubjectSpec(name) for name in options["subjects"]]
    model = ModelSettings(
        options["model"] or "", options["base_url"] or "", parameters=_parameters(options), system=options["system"]
    )
    _require_endpoint(model.base_url)
    key = _key(options)
    key_name = options["key_env"] or "MODEL_KEY"
    return [
        SubjectSpec(name, model=model, key=key, key_name=key_name) if name == "model" else SubjectSpec(name)
        for name in options["subjects"]
    ]


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


def _key(options: Mapping[str, Any]) -> str | None:
    from oyer.errors import UsageError
    from oyer.host import read_secret

    if options["key_env"] is None and options["key_file"] is None:
        return None
    if options["key_env"] is not None and options["key_file"] is not None:
        raise UsageError("E-USAGE", "name the key once: --key-env or --key-file", where="--key-file")
    return read_secret(env=options["key_env"], file=options["key_file"], environ=os.environ)


def _parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    from oyer.errors import UsageError

    found: dict[str, Any] = {}
    for text in options["params"]:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError("E-SUBJECT-PARAMETER", f"{text!r} is not NAME=JSON", where="--param")
        try:
            found[name] = json.loads(value)
        except ValueError:
            raise UsageError(
                "E-SUBJECT-PARAMETER",
                f"the value of {name} is not JSON",
                where="--param",
                hint=f"a text is {name}='\"...\"'",
            ) from None
    for flag, name in (("temperature", "temperature"), ("max_tokens", "max_tokens"), ("model_seed", "seed")):
        if options[flag] is not None:
            found[name] = options[flag]
    return found
