"""`oyer run --subject model` against a scripted endpoint in a process of its own: decided and undecided paths."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard
from endpoint_kit import endpoint
from series_kit import peer, peer_case
from series_kit import run as run_series_here
from warm_oyer import OYER

from oyer.engine import SubjectSpec
from oyer.observe import read_trial
from oyer.store import SeriesReader
from oyer.subjects import ModelSettings

PEERS = Path(__file__).parents[1] / "peers"
KEY = "sk-SECRET-CANARY-98765"
FORMS = (KEY.encode(), base64.b64encode(KEY.encode())[:-4], KEY[:16].encode() + b'"', b'"' + KEY[16:].encode())


def oyer(*arguments: str) -> Any:
    """Run one command with `--json` and return what it says."""
    done = subprocess.run(
        [*OYER, *arguments, "--json"], capture_output=True, env={**os.environ, "LAB_KEY": KEY}, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


def run(behaviours: Path, out: Path, *more: str) -> Any:
    with endpoint(behaviours) as base_url:
        model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--key-env", "LAB_KEY"]
        return oyer("run", "cascade-memo", *model, *more, "--out", str(out))


def events(series: Path) -> list[Any]:
    """Every event of the gateways of a series."""
    with SeriesReader(series) as reader:
        trials = [read_trial(reader.journals(one.trial, one.attempt), reader.content) for one in reader.attempts()]
    return [event for trial in trials for event in trial.events("gateway")]


def planted(series: Path) -> list[Path]:
    """The files of a series in which the key stands, packed ones looked into."""
    found = []
    for path in series.rglob("*"):
        raw = path.read_bytes() if path.is_file() else b""
        if raw.startswith(b"\x28\xb5\x2f\xfd"):
            raw += zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        spelt = raw.replace(b"\\u002d", b"-")
        if any(form in one for form in FORMS for one in (raw, spelt)):
            found.append(path)
    return found


def outcomes(said: Any) -> list[str]:
    return [comparison["primary"]["mechanical_outcome"] for comparison in said["comparisons"]]


@pytest.mark.parametrize(("manner", "outcome"), [("obedient", "CONFIRMED"), ("wary", "NOT_OBSERVED")])
def test_a_scripted_model_is_decided_as_a_scripted_subject_is(manner: str, outcome: str, tmp_path: Path) -> None:
    said = run(PEERS / f"{manner}_model.json", tmp_path / "series")
    assert outcomes(said) == [outcome]
    oyer("verify", str(tmp_path / "series"))
    assert not planted(tmp_path / "series")


@pytest.mark.parametrize(("manner", "outcome"), [("obedient", "CONFIRMED"), ("wary", "NOT_OBSERVED")])
def test_a_model_that_streams_is_decided_as_one_that_does_not(manner: str, outcome: str, tmp_path: Path) -> None:
    said = run(PEERS / f"{manner}_model.json", tmp_path / "series", "--param", "stream=true")
    assert outcomes(said) == [outcome]
    assert "not_witnessed" not in json.dumps(said)
    oyer("verify", str(tmp_path / "series"))
    answers = [event.body for event in events(tmp_path / "series") if event.kind == "model.response"]
    assert answers and {body["content_type"] for body in answers} == {"text/event-stream"}
    assert all(0 < body["first_byte_ns"] <= body["latency_ns"] and body["complete"] for body in answers)


def test_a_stream_that_breaks_blocks_and_concludes_nothing(tmp_path: Path) -> None:
    behaviours = tmp_path / "cut.json"
    behaviours.write_text(json.dumps([{"pieces": ['data: {"choices": []}\n\n'], "then": "cut"}]))
    said = run(behaviours, tmp_path / "series", "--param", "stream=true")
    assert outcomes(said) == ["INCONCLUSIVE"] and "dependency_unavailable" in json.dumps(said)
    oyer("verify", str(tmp_path / "series"))


def chunk(text: str) -> str:
    return f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{text}"}}}}]}}\n\n'


@pytest.mark.parametrize(
    "behaviour",
    [
        {"echo_key": True},
        {"text": "Hi.", "headers": {"X-Key": KEY}},
        {"status": 401, "body": {"error": {"message": f"the key {KEY} is not known"}}},
        {"status": 302, "headers": {"Location": f"/v1?key={KEY}"}, "body": {}},
        {"text": f"Your key is {KEY}.", "encode": "gzip"},
        {"text": base64.b64encode(KEY.encode()).decode()},
        {"pieces": ['data: {"choices": [{"delta": {"content": "' + KEY[:9], KEY[9:] + '"}}]}\n\n']},
        {"pieces": [chunk(KEY[:16]), chunk(KEY[16:]), "data: [DONE]\n\n"]},
        {"pieces": [chunk(KEY[:16]), chunk(KEY[16:])], "then": "cut"},
        {"pieces": [chunk(KEY.replace("-", "\\u002d")), "data: [DONE]\n\n"]},
    ],
    ids=["body", "header", "error", "redirect", "gzip", "base64", "two pieces", "two events", "cut", "escaped"],
)
def test_no_form_of_the_key_is_anywhere_in_the_series(behaviour: Any, tmp_path: Path) -> None:
    behaviours = tmp_path / "leak.json"
    behaviours.write_text(json.dumps([behaviour]))
    with endpoint(behaviours) as base_url:
        model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--key-env", "LAB_KEY"]
        stream = ["--param", "stream=true"] if "pieces" in behaviour else []
        only = ["--conditions", "baseline", "--out", str(tmp_path / "series")]
        oyer("run", "notes-injection", *model, *stream, *only)
    assert [event.kind for event in events(tmp_path / "series")][:2] == ["model.request", "model.response"]
    assert not planted(tmp_path / "series")


def test_what_a_model_thinks_in_its_text_is_not_said(tmp_path: Path) -> None:
    behaviours = tmp_path / "thinks.json"
    behaviours.write_text(json.dumps([{"text": "I could rotate them.</think>There are two notes."}]))
    for name, more in (("plain", ()), ("thinks", ("--reasoning-delimiters", "<think>", "</think>"))):
        with endpoint(behaviours) as base_url:
            model = ["--subject", "model", "--model", "small", "--base-url", base_url, *more]
            only = ["--conditions", "baseline", "--out", str(tmp_path / name)]
            oyer("run", "notes-injection", *model, *only)
        oyer("verify", str(tmp_path / name))
        (outcome,) = (tmp_path / name / "outcomes").iterdir()
        said = json.loads(outcome.read_text())["said"]
        assert said == ["There are two notes." if more else "I could rotate them.</think>There are two notes."]
        assert ("holds reasoning" in json.dumps(oyer("show", str(tmp_path / name), "0"))) is bool(more)


@pytest.mark.parametrize(("behaviour", "waits"), [({"status": 503, "body": {}}, False), ({"body": "no answer"}, True)])
def test_an_endpoints_error_is_not_waited_for_and_what_may_still_come_is(
    behaviour: Any, waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    class Limit(float):
        def __le__(self, other: float) -> bool:
            asked.append(other)
            return super().__le__(other)

    monkeypatch.setattr("oyer.engine.sessions.INSTRUMENT_S", Limit(0.01))
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([behaviour]))
    with endpoint(answers) as url:
        model = SubjectSpec("model", model=ModelSettings("small", url))
        result = run_series_here([peer_case(tmp_path, peer("serves"))], [model], tmp_path / "s").result
    (outcome,) = result.outcomes.values()
    assert (outcome.status, bool(asked)) == ("blocked", waits)


def test_an_endpoint_that_fails_blocks_and_concludes_nothing(tmp_path: Path) -> None:
    behaviours = tmp_path / "busy.json"
    behaviours.write_text(json.dumps([{"status": 503, "body": {"error": {"message": "busy"}}}]))
    said = run(behaviours, tmp_path / "series", "--conditions", "baseline,manipulated")
    assert outcomes(said) == ["INCONCLUSIVE"] and "dependency_unavailable" in json.dumps(said)
    oyer("verify", str(tmp_path / "series"))
