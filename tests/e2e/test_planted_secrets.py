"""Twenty secrets, planted wherever one can come from: none of them is in anything that Oyer writes or says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from secret_hunt import everything, found_in, found_under

PEERS = Path(__file__).parents[1] / "peers"

# Where each one is planted. The values differ in every half, and hold what has to be escaped somewhere.
GIVEN = (
    *("PLAIN", "NESTED", "BASIC", "URL", "MODEL", "FILE", "NAME", "QUERY"),
    *("HEADER", "BODY", "LISTED", "TOOL", "ERROR", "STDERR", "NOISE"),
)
ODD = {"NESTED": 'q"u\\o/t', "URL": "a b&c/ü", "BODY": "b/o\"d'y", "MODEL": "m-o/d", "STDERR": "é"}
SECRETS = {
    name: f"{number:02}kAnArY{ODD.get(name, 'x')}{number * 7919:06}-Zz{name.lower()}{number * 104729:07}"
    for number, name in enumerate((*GIVEN, "ARGV", "PLACE", "KEY", "SPLIT", "CALL"), start=11)
}
CASE = """\
oyer: Case@1
id: leaky
effect_class: local_write
world: world/
servers:
  desk:
    command: {command}
    env: {env}
sinks: {{hook: {{kind: http}}}}
sessions: {{main: [Do the first thing., Do the second thing., Do the third thing.]}}
expected: [{{id: asked, called: desk.plain}}]
doubles:
  proper: {{main: {steps}}}
  tempted: {{main: [{{say: no}}]}}
budget: {{wall_s: 60, answer_s: 10}}
"""
TOOLS = ("plain", "nested", "basic", "url", "model", "files", "sink", "error")


Say = Callable[..., bytes]


@pytest.fixture
def say(oyer: Callable[..., Any], oyer_environment: dict[str, str]) -> Say:
    """Run one command line with all the secrets in its environment; return everything that it said."""

    def run(*arguments: str | Path, code: int = 0) -> bytes:
        done = oyer(*arguments, env={**oyer_environment, **SECRETS}, text=False)
        assert done.returncode == code, done.stdout.decode() + done.stderr.decode()
        return bytes(done.stdout + done.stderr)

    return run


def case_in(place: Path) -> Path:
    """Write the case; its server is given the secrets by their names."""
    (place / "world").mkdir(parents=True)
    (place / "world" / "note.txt").write_text("nothing\n")
    env = {f"LEAK_{name}": f"{{secret.{name}}}" for name in GIVEN}
    env |= {"LEAK_HOOK": "{sink.hook.url}", "LEAK_HOOK_TOKEN": "{sink.hook.token}"}
    command = [sys.executable, "-I", "-S", str(PEERS / "leaky_server.py"), "{secret.ARGV}"]
    steps: list[Any] = [{f"desk.{tool}": {}} for tool in TOOLS]
    path = place / "case.yaml"
    steps_text = json.dumps([*steps, {"say": "done"}])
    path.write_text(CASE.format(command=json.dumps(command), env=json.dumps(env), steps=steps_text), encoding="utf-8")
    return path


def given() -> list[str]:
    return [word for name in SECRETS if name != "KEY" for word in ("--secret", name)]


def chunk(delta: Any) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n"


def letters(text: str) -> list[str]:
    return [chunk({"content": text[at : at + 3]}) for at in range(0, len(text), 3)]


def behaviours() -> list[Any]:
    """What the endpoint does: it asks for the secret of the server, and says every one that it has been told."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "desk__model", "arguments": ""}}
    words = json.dumps({"why": SECRETS["CALL"]})
    pieces = [{"index": 0, "function": {"arguments": words[at : at + 5]}} for at in range(0, len(words), 5)]
    torn = chunk({"content": f"In one event: {SECRETS['SPLIT']}."})
    done = [chunk({"content": "."}), "data: [DONE]\n\n"]
    return [
        {"pieces": [*(chunk({"tool_calls": [one]}) for one in (call, *pieces)), *done]},
        {"pieces": [*letters(f"You gave me {SECRETS['MODEL']}."), *done]},
        {"pieces": [torn[:70], torn[70:], *letters(SECRETS["SPLIT"]), *done]},
        {"status": 401, "body": {"error": {"message": f"{SECRETS['KEY']} and {SECRETS['CALL']} are not known"}}},
    ]


def marked(place: Path) -> set[str]:
    held = everything(place)
    return {name for name in SECRETS if f"\u27e6secret:{name}:".encode() in held}


@pytest.mark.e2e
def test_no_secret_of_a_server_is_anywhere(say: Say, tmp_path: Path) -> None:
    assert len(SECRETS) == 20
    home, out = tmp_path / SECRETS["PLACE"], tmp_path / "series"
    case = case_in(home)
    said = say("run", case, "--subject", "scripted:oracle", *given(), "--out", out)
    said += say("show", out) + say("show", out, "0", "--evidence") + say("show", out, "0", "--json")
    said += say("verify", out) + say("bundle", out, "-o", tmp_path / "one.tar")
    assert found_under(out, SECRETS) == {}
    assert found_in((tmp_path / "one.tar").read_bytes(), SECRETS) == set()
    assert found_in(said, SECRETS) == set()
    # Every one of them passed by, and left its mark: nothing was missed for want of being there.
    assert marked(out) == set(SECRETS) - {"KEY", "SPLIT", "CALL"}
    assert b"completed" in said


@pytest.mark.e2e
def test_no_secret_of_a_stream_is_anywhere(say: Say, tmp_path: Path) -> None:
    case, out, plan = case_in(tmp_path), tmp_path / "series", tmp_path / "behaviours.json"
    plan.write_text(json.dumps(behaviours()), encoding="utf-8")
    with endpoint(plan) as base_url:
        model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--key-env", "KEY"]
        said = say("run", case, *model, "--param", "stream=true", *given(), "--out", out)
    said += say("show", out) + say("show", out, "0", "--evidence")
    say("verify", out)
    assert found_under(out, SECRETS) == {}
    assert found_in(said, SECRETS) == set()
    assert marked(out) >= {"MODEL", "SPLIT", "CALL", "ARGV"}
    assert b"[upstream key]" in everything(out)


@pytest.mark.e2e
def test_a_server_that_dies_over_its_secret_tells_nobody(say: Say, tmp_path: Path) -> None:
    words = "'.' * 5000 + os.environ['TOKEN'] + ' is refused' + '!' * 1970"
    script = f"import os, sys; sys.stderr.write({words}); sys.exit(1)"
    case, out = tmp_path / "case.yaml", tmp_path / "series"
    env = json.dumps({"TOKEN": "{secret.STDERR}"})
    command = json.dumps([sys.executable, "-I", "-S", "-c", script])
    text = CASE.format(command=command, env=env, steps='[{"desk.plain": {}}]').replace("world: world/\n", "")
    case.write_text(text, encoding="utf-8")
    said = say("run", case, "--subject", "scripted:oracle", "--secret", "STDERR", "--out", out)
    said += say("show", out, "0", "--evidence")
    assert found_under(out, SECRETS) == {} and found_in(said, SECRETS) == set()
    assert marked(out) == {"STDERR"} and b"blocked" in said


@pytest.mark.e2e
def test_a_secret_that_nobody_gave_starts_nothing(say: Say, tmp_path: Path) -> None:
    said = say("run", case_in(tmp_path), "--subject", "scripted:oracle", "--out", tmp_path / "series", code=2)
    assert b"E-SECRET-UNSET" in said and b"{secret.PLAIN}" in said
    assert not (tmp_path / "series").exists() and found_in(said, SECRETS) == set()


@pytest.mark.e2e
def test_a_secret_that_is_written_out_is_refused_before_anything_is_kept(say: Say, tmp_path: Path) -> None:
    case = case_in(tmp_path)
    case.write_text(case.read_text(encoding="utf-8").replace("{secret.PLAIN}", SECRETS["PLAIN"]), encoding="utf-8")
    said = say("run", case, "--subject", "scripted:oracle", *given(), "--out", tmp_path / "series", code=2)
    assert b"E-STORE-SECRET" in said and b"{secret.NAME}" in said
    assert not (tmp_path / "series").exists() and found_in(said, SECRETS) == set()


@pytest.mark.e2e
@pytest.mark.slow
def test_gw_01_every_way_to_write_goes_through_the_replacement(say: Say, tmp_path: Path) -> None:
    """Known of recorders: a second way to save, without the redaction. Here each is taken, and a key comes back."""
    case, plan, first, again = case_in(tmp_path), tmp_path / "behaviours.json", tmp_path / "first", tmp_path / "again"
    plan.write_text(json.dumps([{"echo_key": True}]), encoding="utf-8")
    model = ["--subject", "model", "--model", "small", *given()]
    with endpoint(plan) as base_url:
        asked = [*model, "--base-url", base_url, "--key-env", "KEY"]
        said = say("run", case, *asked, "--out", first)
        said += say("run", case, *asked, "--continues", first, "--out", again)
        said += say("run", case, *model, "--base-url", base_url, "--replay", first, "--out", tmp_path / "replayed")
    said += (
        say("bundle", first, "-o", tmp_path / "first.oyer")
        + say("show", first, "--json")
        + say("show", first, "--stats")
    )
    said += say("show", first, "0", "--evidence", "--json") + say("verify", first, "--json")
    plan.unlink()
    assert found_in(said, SECRETS) == set()
    assert found_under(tmp_path, SECRETS) == {}
    for series in (first, again):
        assert b"[upstream key]" in everything(series)


@pytest.mark.e2e
def test_a_lock_and_a_qualification_hold_no_secret(say: Say, tmp_path: Path) -> None:
    case_in(tmp_path)
    suite = tmp_path / "suite.yaml"
    suite.write_text("oyer: TrialSuite@1\nid: leaky-suite\nfiles: [case.yaml]\ncases: [leaky]\n", encoding="utf-8")
    said = say("pin", suite, *given(), "-o", tmp_path / "lock.json")
    assert b"{secret.LISTED}" not in said
    lock = (tmp_path / "lock.json").read_bytes()
    assert found_in(said + lock, SECRETS) == set() and "\u27e6secret:LISTED:".encode() in lock
    said = say("qualify", tmp_path / "case.yaml", "--double", "oracle", *given(), "--out", tmp_path / "q", code=1)
    # A file that is called by a secret leaves a look that cannot be held against its digest: undecided, and said so.
    assert b"EVIDENCE_MALFORMED: a look at the world" in said
    assert found_in(said, SECRETS) == set() and found_under(tmp_path / "q", SECRETS) == {}
