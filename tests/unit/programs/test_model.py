"""The model subject end to end: its process, the recording gateway, a scripted endpoint, a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from oyer.instruments import Upstream, make_gateway
from oyer.subjects import Given, ModelAccess, ModelSettings, ServerCommand, StopLimits, make_subject

PEERS = Path(__file__).parents[2] / "peers"
SOURCES = str(Path(__file__).parents[3] / "src")
DONE: dict[str, Any] = {"text": "All done."}


def calls(*names: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments or {}} for name in names], **more}


class Bench:
    def __init__(self, subject: Any, given: Given, harness: Any, gateway: Any, log: Path) -> None:
        self.subject = subject
        self.given = given
        self.harness = harness
        self.gateway = gateway
        self.log = log

    async def play(self, *texts: str, timeout_s: float = 10) -> list[Any]:
        """One session of these turns."""
        await self.subject.open_session("a", self.given)
        try:
            return [await self.subject.turn(text, timeout_s=timeout_s) for text in texts]
        finally:
            await self.subject.close_session()

    def requests(self) -> list[dict[str, Any]]:
        """The bodies that reached the endpoint."""
        return [json.loads(json.loads(line)["body"]) for line in self.log.read_text().split("\n") if line]

    def notes(self) -> list[dict[str, Any]]:
        """What the subject's process noted."""
        return [json.loads(self.harness.raw(event))["note"] for event in self.harness.of("subject.output")]


@pytest.fixture
def bench(tmp_path: Path, open_journal: Callable[[str], Any]) -> Callable[..., Any]:
    @contextlib.asynccontextmanager
    async def open_bench(
        *behaviours: dict[str, Any],
        stop: StopLimits | None = None,
        parameters: Any = None,
        upstream: str | None = None,
        system: str | None = None,
        answer_s: float = 10,
    ) -> AsyncIterator[Bench]:
        script, log = tmp_path / "behaviours.json", tmp_path / "requests.jsonl"
        script.write_text(json.dumps(behaviours or [DONE]))
        log.touch()
        endpoint = await asyncio.create_subprocess_exec(
            sys.executable, "-S", str(PEERS / "scripted_endpoint.py"), str(script), "--log", str(log),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert endpoint.stdin is not None and endpoint.stdout is not None
        base_url = upstream or (await endpoint.stdout.readline()).decode().strip()
        harness, witness = open_journal("harness"), open_journal("gateway")
        gateway = make_gateway(witness, Upstream(base_url, answer_s=answer_s))
        door = await gateway.start()
        settings = ModelSettings("small", base_url, parameters or {"temperature": 0.0, "seed": 1}, system)
        command = ServerCommand((sys.executable, "-S", str(PEERS / "notes_server.py")), {"PYTHONPATH": SOURCES})
        given = Given(
            servers={"ops": command},
            cwd=str(tmp_path),
            env={"PATH": os.environ["PATH"]},
            model=ModelAccess(door.base_url, door.key),
        )
        try:
            yield Bench(
                make_subject("model", harness, model=settings, stop=stop or StopLimits()), given, harness, witness, log
            )
        finally:
            await gateway.stop()
            endpoint.stdin.close()
            await endpoint.wait()
        harness.require_whole()
        witness.require_whole()

    return open_bench


async def test_tools_are_called_and_their_answers_go_back(bench: Any) -> None:
    async with bench(
        calls("read"), calls("write", arguments={"text": "memo: {last.text}"}), calls("read"), DONE
    ) as lab:
        (end,) = await lab.play("Keep a memo.")
        assert (end.text, end.ended_by, end.calls, end.fault) == ("All done.", "subject", 3, None)
        first, *_, last = lab.requests()
        assert first["messages"] == [{"role": "user", "content": "Keep a memo."}]
        assert [each["content"] for each in last["messages"] if each["role"] == "tool"] == [
            "status: pending",
            "written",
            "memo: status: pending",
        ]
        assert len(lab.gateway.of("model.response")) == 4


@pytest.mark.parametrize(("place", "transport"), [("mcp", "http"), ("mcp", "auto"), ("sse", "sse")])
async def test_a_server_at_an_address_is_used_like_any_other(
    bench: Any, place: str, transport: Literal["http", "auto", "sse"]
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = ["-m", "oyer.programs.http_door", "1000000", str(port), sys.executable, str(PEERS / "notes_server.py")]
    env = {**os.environ, "PYTHONPATH": SOURCES}
    door = await asyncio.create_subprocess_exec(sys.executable, *argv, stdin=asyncio.subprocess.PIPE, env=env)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            await asyncio.sleep(0.02)
        async with bench(calls("write", arguments={"text": "memo é"}), calls("read"), DONE) as lab:
            told = ServerCommand(("never-started",), url=f"http://127.0.0.1:{port}/{place}", transport=transport)
            lab.given = replace(lab.given, servers={"ops": told})
            (end,) = await lab.play("Keep a memo.")
            assert (end.text, end.ended_by, end.calls, end.fault) == ("All done.", "subject", 2, None)
            shown = [each["content"] for each in lab.requests()[-1]["messages"] if each["role"] == "tool"]
            assert shown == ["written", "memo é"]
    finally:
        assert door.stdin is not None
        door.stdin.close()
        assert await asyncio.wait_for(door.wait(), 10) == 0  # every session was ended with its stream


async def test_all_tools_are_offered_and_parameters_pass_exactly(bench: Any) -> None:
    parameters = {"temperature": 0.0, "seed": 7, "max_tokens": 50, "cache_prompt": False}
    async with bench(parameters=parameters, system="Be brief.") as lab:
        await lab.play("Hello.")
        (asked,) = lab.requests()
        offered = [tool["function"]["name"] for tool in asked.pop("tools")]
        assert "ops__read" in offered and len(offered) == 8  # three to a page: all pages were read
        assert asked.pop("messages")[0] == {"role": "system", "content": "Be brief."}
        assert asked == {"model": "small", **parameters}
        (request,) = lab.gateway.of("model.request")
        assert lab.gateway.raw(request, "parameters") == (
            b'{"model":"small","temperature":0.0,"seed":7,"max_tokens":50,"cache_prompt":false}'
        )


async def test_a_conversation_lasts_as_long_as_its_session(bench: Any) -> None:
    async with bench({"text": "One."}, {"text": "Two."}, {"text": "Three."}) as lab:
        ends = await lab.play("First?", "Second?") + await lab.play("Third?")
        assert [end.text for end in ends] == ["One.", "Two.", "Three."]
        said = [[each["content"] for each in asked["messages"]] for asked in lab.requests()]
        assert said == [["First?"], ["First?", "One.", "Second?"], ["Third?"]]


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (calls("say_hello"), "unknown_tool"),
        (calls("read", arguments="{broken"), "bad_arguments"),
        (calls("read", arguments="[1, 2]"), "bad_arguments"),
    ],
)
async def test_a_bad_call_is_noted_and_the_loop_goes_on(bench: Any, behaviour: Any, kind: str) -> None:
    async with bench(behaviour, DONE) as lab:
        (end,) = await lab.play("Go.")
        assert (end.text, end.ended_by, end.calls) == ("All done.", "subject", 0)
        assert [kind in note for note in lab.notes()] == [True] and not lab.harness.of("fault")


async def test_a_tools_own_error_and_a_dead_server_go_back_to_the_model(bench: Any) -> None:
    async with bench(calls("fail"), calls("vanish"), calls("read"), DONE) as lab:
        (end,) = await lab.play("Go.")
        assert (end.text, end.ended_by) == ("All done.", "harness") and "gone" in end.detail
        told = [each["content"] for each in lab.requests()[-1]["messages"] if each["role"] == "tool"]
        assert told[0] == "it does not work" and "gone" in told[1] and "gone" in told[2]


async def test_a_structured_answer_is_shown_where_there_is_no_text(bench: Any) -> None:
    async with bench(calls("structured"), DONE) as lab:
        await lab.play("Go.")
        assert "approved by the officer" in lab.requests()[-1]["messages"][-1]["content"]


async def test_no_call_content_null_and_another_model_are_all_answers(bench: Any) -> None:
    async with bench({"text": None}, {"text": "Hi.", "model": "other"}) as lab:
        ends = await lab.play("Go.", "Again.")
        assert [(end.text, end.ended_by) for end in ends] == [("", "subject"), ("Hi.", "subject")]
        reported = [event.body["reported_model"] for event in lab.gateway.of("model.response")]
        assert reported == ["small", "other"]


async def test_an_endless_loop_ends_at_the_declared_stop_over_all_sessions(bench: Any) -> None:
    async with bench(calls("read"), stop=StopLimits(model_calls=5)) as lab:
        (end,) = await lab.play("Go.")
        assert (end.ended_by, end.detail, end.calls) == ("stop", "model_calls", 5)
        (end,) = await lab.play("Go on.")
        assert (end.ended_by, end.calls) == ("stop", 0) and len(lab.requests()) == 5


async def test_declared_tool_calls_stop_the_loop(bench: Any) -> None:
    async with bench(calls("read", "read", "read"), stop=StopLimits(tool_calls=2)) as lab:
        (end,) = await lab.play("Go.")
        assert (end.ended_by, end.detail, end.calls) == ("stop", "tool_calls", 2)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ({"status": 429, "body": {"error": {"message": "slow down"}}}, "answered 429"),
        ({"status": 500, "raw": "oops"}, "answered 500"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}, "body": {}}, "answered 502"),
        ({"text": "A long answer.", "cut": 30}, "broke off"),
        ({"text": "A long answer.", "cut": 30, "chunked": True}, "IncompleteRead"),
        ({"raw": "<html>busy</html>"}, "not JSON"),
        ({"body": {"choices": []}}, "no choice"),
        ({"body": {"error": {"message": "overloaded"}}}, "overloaded"),
        ({"close": True}, "answered 502"),
        ({"hang": 60}, "answered 504"),
    ],
)
async def test_an_endpoint_that_fails_is_a_dependency_and_never_asked_twice(
    bench: Any, behaviour: Any, said: str
) -> None:
    async with bench(behaviour, DONE, answer_s=0.5 if "hang" in behaviour else 60) as lab:
        (end,) = await lab.play("Go.")
        assert (end.ended_by, end.text) == ("harness", "") and said in end.detail
        ((where, class_, message),) = lab.harness.faults()
        assert (where, class_) == ("subject", "dependency_unavailable") and message == end.detail
        assert end.fault == lab.harness.of("fault")[0].ref and len(lab.requests()) == 1


async def test_an_endpoint_that_is_not_there(bench: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with bench(upstream=f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as lab:
            (end,) = await lab.play("Go.")
            assert end.ended_by == "harness" and lab.gateway.faults()[0][1] == "dependency_unavailable"


async def test_a_gateway_that_is_gone_is_a_dependency_too(bench: Any) -> None:
    async with bench() as lab:
        lab.given = Given(**{**given_of(lab.given), "model": ModelAccess("http://127.0.0.1:9/v1", "k")})
        (end,) = await lab.play("Go.")
        assert end.ended_by == "harness" and "refused" in end.detail


async def test_a_session_can_go_on_after_a_failed_turn(bench: Any) -> None:
    async with bench({"status": 503, "body": {}}, DONE) as lab:
        ends = await lab.play("Go.", "Once more.")
        assert [end.ended_by for end in ends] == ["harness", "subject"]


async def test_a_deadline_ends_a_model_that_waits(bench: Any) -> None:
    async with bench({"hang": 60}) as lab:
        (end,) = await lab.play("Go.", timeout_s=0.6)
        assert end.ended_by == "budget"


def given_of(given: Given) -> dict[str, Any]:
    return {name: getattr(given, name) for name in Given.__slots__}
