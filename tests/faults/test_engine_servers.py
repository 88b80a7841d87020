"""Whole trials over servers that break: recorded, bounded, blamed by the Case's own table, and gone afterwards."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from series_kit import Trial, failed_checks, peer, peer_case, run, trials_of

from oyer.host import become_subreaper
from oyer.host.process_table import descendants_of
from oyer.records import Outcome

STUBBORN = shlex.join(peer("stubborn"))

# Name of the case: the server's command, bounds of the case.
SERVERS: dict[str, tuple[list[str], dict[str, int]]] = {
    "not-there": (["/nonexistent/server"], {}),
    "no-key": (["sh", "-c", 'echo "API_KEY is required" >&2; exit 1'], {}),
    "silent": (peer("silent"), {"answer_s": 1}),
    "hangs": (peer("hangs"), {"answer_s": 1}),
    "wrong-id": (peer("wrong_id"), {"answer_s": 1}),
    "dies": (peer("dies"), {}),
    "closes-stdout": (peer("closes_stdout"), {}),
    "huge": (peer("huge"), {"message_bytes": 1_000_000}),
    "endless-line": (peer("endless_line"), {"message_bytes": 1_000_000}),
    "outlasts": (peer("hangs"), {"wall_s": 1}),
    "banner": (peer("banner"), {}),
    "crlf": (peer("crlf"), {}),
    "split": (peer("split"), {}),
    "separators": (peer("separators"), {}),
    "invalid-utf8": (peer("invalid_utf8"), {}),
    "elicits": (peer("elicits"), {}),
    "stubborn": (["sh", "-c", f"{STUBBORN}; true"], {}),
}
CALL = "[{ops.echo: {text: hello, size: 100000000}}, {say: done}]"


class Ran(NamedTuple):
    path: Path
    outcomes: dict[str, Outcome]
    trials: dict[str, Trial]
    left: list[str]

    def faults(self, name: str) -> list[tuple[str, str, str]]:
        return self.trials[self.outcomes[name].trial].faults()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """One series: a plain case for every kind of server."""
    become_subreaper()
    place = tmp_path_factory.mktemp("servers")
    temp = place / "temp"
    temp.mkdir()
    before = {row.pid for row in descendants_of(os.getpid())}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(temp))
        cases = [
            peer_case(place, command, name=name, steps=CALL, **bounds) for name, (command, bounds) in SERVERS.items()
        ]
        outcome = run(cases, ["scripted:obedient"], place / "out", jobs=4)
    after = [row.name for row in descendants_of(os.getpid()) if row.pid not in before and not row.is_zombie]
    left = [*after, *(str(entry) for entry in temp.iterdir())]
    yield Ran(place / "out", {o.case: o for o in outcome.result.outcomes.values()}, trials_of(place / "out"), left)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("not-there", ["could not be started"]),
        ("no-key", ["exit code 1", "API_KEY is required"]),
        ("silent", ["did not answer initialize", "within 1 s"]),
        ("hangs", ["did not answer tools/call", "within 1 s"]),
        ("wrong-id", ["did not answer tools/call", "within 1 s"]),
        ("dies", ["exit code 3", "tools/call", "unanswered", "out of memory"]),
        ("closes-stdout", ["closed its streams", "tools/call"]),
        ("huge", ["beyond the bound"]),
        ("endless-line", ["beyond the bound"]),
    ],
)
def test_a_server_that_fails_is_blamed_as_the_case_says(ran: Ran, name: str, said: list[str]) -> None:
    outcome = ran.outcomes[name]
    assert outcome.error is not None
    assert (outcome.status, outcome.error.where, outcome.error.error_class) == (
        "blocked",
        "server:ops",
        "dependency_unavailable",
    )
    assert all(words in outcome.error.message for words in said), outcome.error.message
    assert outcome.evidence_defects == ()
    # It was the failure that ended the trial, and not the bound on the whole of it.
    assert ran.trials[outcome.trial].events("budget.exceeded") == []


def test_a_trial_that_outlasts_its_bound_is_the_subjects_by_the_case(ran: Ran) -> None:
    outcome = ran.outcomes["outlasts"]
    assert outcome.error is not None
    assert (outcome.status, outcome.error.error_class) == ("subject_error", "budget_exceeded")
    (exceeded,) = ran.trials[outcome.trial].events("budget.exceeded")
    assert (exceeded.body["what"], exceeded.body["limit"]) == ("wall_s", 1)


@pytest.mark.parametrize(
    ("name", "noise"),
    [("banner", 1), ("crlf", 1), ("split", 0), ("separators", 0), ("invalid-utf8", 1), ("elicits", 0), ("stubborn", 0)],
)
def test_odd_manners_are_recorded_and_end_nothing(ran: Ran, name: str, noise: int) -> None:
    outcome = ran.outcomes[name]
    assert (outcome.status, outcome.error, outcome.evidence_defects) == ("completed", None, ())
    assert outcome.measurements["noise_lines"] == noise
    assert outcome.measurements["tool_calls"] == 1
    assert outcome.said == ("done",)


def test_frames_are_kept_as_they_came(ran: Ran) -> None:
    def received(name: str) -> list[bytes]:
        trial = ran.trials[ran.outcomes[name].trial]
        return [trial.raw(event) for event in trial.events("mcp.received", "mcp.noise")]

    assert received("banner")[0] == b"Fake server version: 1.2.3\n"
    assert b"\r\n" in received("crlf")
    assert any(frame.endswith(b'"}]}}\r\n') for frame in received("crlf"))
    assert any("left\u2028mid\u0085right\u2029".encode() in frame for frame in received("separators"))
    assert any(b"\xff\xfe" in frame for frame in received("invalid-utf8"))


def test_a_hundred_megabytes_are_not_kept(ran: Ran) -> None:
    trial = ran.trials[ran.outcomes["huge"].trial]
    assert sum(len(raw) for raw in trial.contents.values()) < 2_000_000
    # What is kept of it says that it was cut.
    (noise,) = [event for event in trial.events("mcp.noise") if event.body.get("truncated")]
    assert noise.body["side"] == "server"


def test_a_server_below_a_shell_is_ended_with_it_and_named(ran: Ran) -> None:
    trial = ran.trials[ran.outcomes["stubborn"].trial]
    (ended,) = [event for event in trial.events("process.exited") if event.body["role"] == "server:ops"]
    assert len(ended.body["survivors"]) == 1
    assert "python" in ended.body["survivors"][0]["name"] or Path(sys.executable).name.startswith(
        ended.body["survivors"][0]["name"]
    )


def test_nothing_is_left_of_any_of_them(ran: Ran) -> None:
    assert ran.left == []


def test_the_series_verifies(ran: Ran) -> None:
    assert failed_checks(ran.path) == []
