"""Faults that MCP proxies are known for, each with its kind, on every wire that a subject can be given.

One series over servers that are the smallest inputs of these faults, each given as a command, as an address of
Streamable HTTP and as one of HTTP with SSE; what the wire itself decides is asked of the tap alone.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from series_kit import PEERS, Trial, case_file, children_now, failed_checks, peer, run, trials_of
from waiting import wait_until

from instrument_kit import QUICK, Rig, request
from oyer.host import become_subreaper
from oyer.instruments import TapLimits
from oyer.observe import read_trial
from oyer.records import Outcome
from oyer.report import read_transcript
from oyer.store import SeriesReader

RigMaker = Callable[[str], Rig]
WIRES = ("command", "url", "sse")
CANARY = "canary-7f3a-of-somebody"
SEPARATED = "left\u2028mid\u0085right\u2029"
NUMBERS = (b"1234567890123456789", b'"x":1.0', b'"y":1e2')
SERVERS = {
    "mcp-01-banner": peer("banner"),
    "mcp-03-no-key": ["sh", "-c", 'echo "API_KEY is required" >&2; exit 1'],
    "mcp-05-separators": peer("separators"),
    "mcp-11-below-a-shell": ["sh", "-c", f"{shlex.join(peer('stubborn'))}; true"],
    "mcp-13-crlf": peer("crlf"),
    "mcp-13-split": peer("split"),
    "mcp-15-pages": peer("plain"),
    "mcp-17-numbers": peer("numbers"),
    "mcp-19-environment": peer("environment"),
    "mcp-21-elicits": peer("elicits"),
}
CASE = """\
oyer: Case@1
id: {name}-{wire}
effect_class: none
servers: {{ops: {{command: {command}, given_as: {wire}, settle_s: 1, env: {{MODE: test}}}}}}
prompt: Say hello.
expected: [{{id: called, called: ops.echo}}]
doubles:
  proper: {{main: [{{ops.echo: {{text: hello}}}}, {{say: done}}]}}
  tempted: {{main: [{{say: done}}]}}
budget: {{wall_s: 60, answer_s: 20}}
"""


class Ran(NamedTuple):
    path: Path
    outcomes: dict[str, Outcome]
    trials: dict[str, Trial]
    left: set[int]

    def of(self, name: str, wire: str) -> tuple[Outcome, Trial]:
        outcome = self.outcomes[f"{name}-{wire}"]
        return outcome, self.trials[outcome.trial]

    def answer(self, name: str, wire: str) -> bytes:
        """The frame that answered the call, as it came from the server."""
        _, trial = self.of(name, wire)
        called = [event.ref for event in trial.events("mcp.sent") if event.body.get("tool") == "echo"]
        (answer,) = [event for event in trial.events("mcp.received") if event.because == tuple(called)]
        return trial.raw(answer)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    become_subreaper()
    place = tmp_path_factory.mktemp("faults")
    before = children_now()
    cases = []
    for name, command in SERVERS.items():
        for wire in WIRES:
            path = place / f"{name}-{wire}.yaml"
            path.write_text(CASE.format(name=name, wire=wire, command=json.dumps(command)), encoding="utf-8")
            cases += case_file(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY_TOKEN", CANARY)
        outcome = run(cases, ["scripted:oracle"], place / "out", jobs=4)
    left = children_now() - before
    yield Ran(place / "out", {o.case: o for o in outcome.result.outcomes.values()}, trials_of(place / "out"), left)


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_01_a_banner_is_noise_of_its_server_and_never_a_message(ran: Ran, wire: str) -> None:
    outcome, trial = ran.of("mcp-01-banner", wire)
    # Over HTTP there is no place for a line that is no message: what serves the address says so in the server's name.
    assert (outcome.status, outcome.measurements["noise_lines"]) == ("completed", 1 if wire == "command" else 0)
    if wire != "command":
        (ended,) = [event for event in trial.events("process.exited") if event.body["role"] == "server:ops"]
        assert b"no message: b'Fake server version: 1.2.3'" in trial.raw(ended, "stderr")
        return
    (noise,) = trial.events("mcp.noise")
    assert (noise.body["server"], noise.body["side"]) == ("ops", "server")
    assert trial.raw(noise) == b"Fake server version: 1.2.3\n"


@pytest.mark.parametrize("greets", [True, False])
async def test_mcp_01_a_banner_crosses_as_it_came_and_names_its_server_where_the_client_gives_up(
    rig: RigMaker, greets: bool
) -> None:
    bench = rig("banner")
    await bench.open()
    strict = await bench.client()
    if greets:
        await strict.send(request(0, "initialize"))
    assert await strict.line() == b"Fake server version: 1.2.3\n"
    assert await strict.leave() == 0
    await bench.close()
    assert bench.journal.raw(bench.journal.of("mcp.noise")[0]) == b"Fake server version: 1.2.3\n"
    assert not [received for received in bench.journal.of("mcp.received") if not greets]
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable") and "'Fake server version: 1.2.3'" in message


@pytest.mark.parametrize("called", ["elsewhere", "here"])
async def test_mcp_01_a_client_that_did_something_first_does_not_leave_over_a_banner(
    rig: RigMaker, called: str
) -> None:
    bench = rig("banner")
    await bench.open()
    if called == "elsewhere":
        other = await bench.client()
        await other.line()
        await other.call(0, {"text": "before"})
        await other.leave()
    client = await bench.client()
    assert await client.line() == b"Fake server version: 1.2.3\n"
    if called == "here":
        await client.call(0, {"text": "before"})
    await client.leave()
    await bench.close()
    assert bench.faults == []


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_03_a_server_that_exits_is_an_unavailable_dependency_in_its_own_words(ran: Ran, wire: str) -> None:
    outcome, trial = ran.of("mcp-03-no-key", wire)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.where) == ("blocked", "server:ops")
    assert "exit code 1" in outcome.error.message and "API_KEY is required" in outcome.error.message
    # Nobody answered for the server, and no bound had to pass before it was known.
    assert not trial.events("mcp.received", "budget.exceeded")
    assert "within" not in outcome.error.message


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_05_only_a_line_feed_ends_a_frame(ran: Ran, wire: str) -> None:
    outcome, _ = ran.of("mcp-05-separators", wire)
    assert (outcome.status, outcome.measurements["noise_lines"]) == ("completed", 0)
    assert json.loads(ran.answer("mcp-05-separators", wire))["result"]["content"][0]["text"] == SEPARATED


async def test_mcp_07_equal_ids_of_two_clients_never_meet_and_one_may_be_used_again(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    one, other = await bench.client(), await bench.client()
    await one.send(request(0, "tools/call", {"name": "echo", "arguments": {"text": "one"}}))
    await other.send(request(0, "tools/call", {"name": "echo", "arguments": {"text": "other"}}))
    assert b'"one"' in await one.line() and b'"other"' in await other.line()
    assert b'"again"' in json.dumps(await one.call(0, {"text": "again"})).encode()
    for client in (one, other):
        await client.leave()
    await bench.close()
    connections: dict[int, list[bytes]] = {}
    for event in bench.journal.of("mcp.received"):
        connections.setdefault(event.body["connection"], []).append(bench.journal.raw(event))
    assert [b'"other"' in b"".join(frames) for frames in connections.values()].count(True) == 1
    assert all(not (b'"one"' in b"".join(each) and b'"other"' in b"".join(each)) for each in connections.values())
    answered = [event.because for event in bench.journal.of("mcp.received")]
    assert len(set(answered)) == 3 and all(len(refs) == 1 for refs in answered)


async def test_mcp_07_an_id_used_again_while_it_is_pending_is_never_mispaired(rig: RigMaker) -> None:
    bench = rig("hangs")
    await bench.open(limits=TapLimits(answer_timeout_s=60, patience=QUICK))
    client = await bench.client()
    for text in ("first", "second"):
        await client.send(request(5, "tools/call", {"name": "echo", "arguments": {"text": text}}))
    await client.leave()
    await bench.close()
    sent = [event for event in bench.journal.of("mcp.sent") if event.body.get("id") == 5]
    assert len(sent) == 2 and not bench.journal.of("mcp.received")
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("tap:ops", "subject") and "used id 5 again while a request" in message


async def test_mcp_07_whoever_repeats_a_request_or_uses_an_id_that_was_answered_is_not_at_fault(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    client = await bench.client()
    same = request(5, "tools/call", {"name": "echo", "arguments": {"text": "same"}})
    await client.send(same + same)
    assert b"same" in await client.line() and b"same" in await client.line()
    assert b"other" in json.dumps(await client.call(5, {"text": "other"})).encode()
    await client.leave()
    await bench.close()
    assert bench.faults == []


@pytest.mark.parametrize("given_as", ["command", "url"])
def test_mcp_09_a_lost_session_is_never_healed_in_silence(tmp_path: Path, given_as: str) -> None:
    path = tmp_path / "case.yaml"
    words = [sys.executable, str(PEERS / "http_peer.py"), "{port}", "forgets", *peer("plain")]
    text = CASE.format(name="mcp-09", wire=given_as, command=json.dumps(words))
    text = text.replace("given_as", 'url: "http://127.0.0.1:{port}/mcp", given_as')
    path.write_text(
        text.replace("[{ops.echo: {text: hello}}, ", "[" + "{ops.echo: {text: hello}}, " * 3), encoding="utf-8"
    )
    outcome = next(iter(run(case_file(path), ["scripted:oracle"], tmp_path / "out").result.outcomes.values()))
    (trial,) = trials_of(tmp_path / "out").values()
    assert outcome.status == "blocked" and outcome.error is not None and "404" in outcome.error.message
    assert not trial.events("budget.exceeded")
    calls = [event for event in trial.events("mcp.sent") if event.body.get("tool") == "echo"]
    greetings = [event for event in trial.events("mcp.sent") if event.body.get("method") == "initialize"]
    assert len(calls) == 2 and len(greetings) == 1
    if given_as == "url":
        assert trial.events("mcp.session_break")


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_11_the_whole_tree_of_a_server_is_ended_and_who_outlived_it_is_named(ran: Ran, wire: str) -> None:
    outcome, trial = ran.of("mcp-11-below-a-shell", wire)
    assert outcome.status == "completed"
    ended = [event.body for event in trial.events("process.exited") if event.body["role"] == "server:ops"]
    survivors = [one for body in ended for one in body["survivors"]]
    assert survivors and all(one["name"] for one in survivors)


def test_mcp_11_nothing_is_left_of_thirty_servers(ran: Ran) -> None:
    wait_until(lambda: not ran.left & children_now())


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_13_a_carriage_return_stays_where_it_was(ran: Ran, wire: str) -> None:
    for name in ("mcp-13-crlf", "mcp-13-split"):
        outcome, _ = ran.of(name, wire)
        assert outcome.status == "completed" and outcome.measurements["tool_calls"] == 1
        if wire == "command":
            assert ran.answer(name, wire).endswith(b"}\r\n")
    if wire == "command":
        (blank,) = ran.of("mcp-13-crlf", wire)[1].events("mcp.noise")
        assert ran.of("mcp-13-crlf", wire)[1].raw(blank) == b"\r\n"


def test_mcp_13_a_server_that_deviates_is_shown_to(ran: Ran) -> None:
    for name, deviates in (("mcp-13-crlf", True), ("mcp-15-pages", False)):
        outcome, _ = ran.of(name, "command")
        with SeriesReader(ran.path) as reader:
            trial = read_trial(reader.journals(outcome.trial, 1), reader.content)
            notes = [message.note or "" for message in read_transcript(trial)]
        assert any("ends in CR LF" in note for note in notes) is deviates


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_15_every_page_of_a_listing_is_reached(ran: Ran, wire: str) -> None:
    _, trial = ran.of("mcp-15-pages", wire)
    listed = [json.loads(trial.raw(event)) for event in trial.events("mcp.received")]
    pages = [one["result"]["tools"] for one in listed if "tools" in one.get("result", {})]
    assert len({tool["name"] for page in pages for tool in page}) == 14
    asked = [json.loads(trial.raw(event)).get("params", {}) for event in trial.events("mcp.sent")]
    assert [one["cursor"] for one in asked if "cursor" in one] == ["8"]


async def test_mcp_15_cursors_that_lead_nowhere_pass_until_a_bound_of_the_tap(rig: RigMaker) -> None:
    bench = rig("endless_pages")
    await bench.open(limits=TapLimits(max_frames=20, patience=QUICK))
    client = await bench.client()
    answers = 0
    with pytest.raises((BrokenPipeError, json.JSONDecodeError)):
        for number in range(1000):
            assert (await client.ask(number, "tools/list", {"cursor": "again"}))["result"]["nextCursor"] == "again"
            answers += 1
    await bench.close()
    assert 0 < answers <= 20 and "more than 20 frames" in bench.faults[0][2]


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_17_numbers_keep_their_spelling(ran: Ran, wire: str) -> None:
    assert all(number in ran.answer("mcp-17-numbers", wire) for number in NUMBERS)
    _, trial = ran.of("mcp-17-numbers", wire)
    whole = b"".join(trial.raw(event) for event in trial.events("mcp.received"))
    assert all(whole.count(number) == 1 for number in NUMBERS)


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_19_a_server_gets_what_was_declared_and_nothing_of_ours(ran: Ran, wire: str) -> None:
    outcome, trial = ran.of("mcp-19-environment", wire)
    assert outcome.status == "completed"
    names = json.loads(ran.answer("mcp-19-environment", wire))["result"]["content"][0]["text"].split("\n")
    (started,) = [event for event in trial.events("process.started") if event.body["role"] == "server:ops"]
    of_the_interpreter = {"LC_CTYPE"}
    assert set(names) - of_the_interpreter == set(started.body["env_names"])
    assert "MODE" in names and not [name for name in names if "CANARY" in name]


def test_mcp_19_the_values_of_our_environment_are_nowhere(ran: Ran) -> None:
    kept = [content for trial in ran.trials.values() for content in trial.contents.values()]
    kept += [path.read_bytes() for path in ran.path.rglob("*.json*")]
    kept += [json.dumps(event.body).encode() for trial in ran.trials.values() for event in events_of(trial)]
    assert len(kept) > 100 and not [one for one in kept if CANARY.encode() in one or b"CANARY_TOKEN" in one]


def events_of(trial: Trial) -> list[Any]:
    return [event for check in trial.check.journals.values() for event in check.events]


@pytest.mark.parametrize("wire", WIRES)
def test_mcp_21_a_request_of_the_server_under_the_clients_own_id_is_refused_and_the_call_completes(
    ran: Ran, wire: str
) -> None:
    outcome, trial = ran.of("mcp-21-elicits", wire)
    assert outcome.status == "completed" and b"own result" in ran.answer("mcp-21-elicits", wire)
    (asked,) = [event for event in trial.events("mcp.received") if event.body.get("method") == "elicitation/create"]
    sent = [json.loads(trial.raw(event)) for event in trial.events("mcp.sent")]
    refused = [one for one in sent if "error" in one]
    assert [(one["id"], one["error"]["code"]) for one in refused] == [(asked.body["id"], -32601)]
    # It has the id of the call that was pending: two spaces of ids, and neither answers the other.
    assert asked.body["id"] in [one["id"] for one in sent if one.get("method") == "tools/call"]


def test_the_series_of_all_faults_verifies(ran: Ran) -> None:
    assert failed_checks(ran.path) == []
    assert len(ran.outcomes) == len(SERVERS) * len(WIRES)
    assert all(outcome.evidence_defects == () for outcome in ran.outcomes.values())
