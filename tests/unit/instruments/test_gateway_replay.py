"""Recorded answers in place of an endpoint: in order, once each, under the tokens of this run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_kit import send
from model_streams import APIS, ASKS, PATHS, STREAMS, sse

from oyer.instruments.gateway import RecordingGateway
from oyer.instruments.gateway_replay import ReplaySource
from oyer.observe import RecordedExchange

THEIRS, OURS = {"tok-old": "{random.a}"}, {"tok-new": "{random.a}"}


def recorded(name: str = "chat", body: bytes = b"{}", request: Any = None, **more: Any) -> RecordedExchange:
    sent = json.dumps(ASKS[name] if request is None else request).encode()
    known = {
        "status": 200,
        "content_type": "application/json",
        "content_encoding": None,
        "complete": True,
        "fault": None,
    }
    return RecordedExchange(path=PATHS[name], request=sent, body=body, **{**known, **more})


class Replayed:
    """A gateway over a recording, and what it answers."""

    def __init__(self, journal: Any, *exchanges: RecordedExchange) -> None:
        self.journal = journal
        self.exchanges = exchanges

    async def ask(self, *asks: tuple[str, Any]) -> list[Any]:
        gateway = RecordingGateway(self.journal, ReplaySource(self.exchanges, THEIRS, lambda: OURS))
        door = await gateway.start()
        try:
            return [
                await asyncio.to_thread(send, door, json.dumps(request).encode(), root=PATHS[name])
                for name, request in asks
            ]
        finally:
            await gateway.stop()


@pytest.fixture
def replay(open_journal: Callable[[str], Any]) -> Callable[..., Replayed]:
    return lambda *exchanges: Replayed(open_journal("gateway"), *exchanges)


async def test_equal_requests_get_the_answers_in_order_and_then_none(replay: Any) -> None:
    """GW-11: a retry advances, and the third request is a named miss."""
    lab = replay(recorded(body=b'{"n": 1}'), recorded("messages", b'{"n": 7}'), recorded(body=b'{"n": 2}'))
    replies = await lab.ask(*[("chat", ASKS["chat"])] * 3)
    assert [reply.status for reply in replies] == [200, 200, 502]
    assert [json.loads(reply.body) for reply in replies[:2]] == [{"n": 1}, {"n": 2}]
    ((where, class_, message),) = lab.journal.faults()
    assert (where, class_) == ("gateway", "harness") and "not in the recording" in message
    assert message.endswith(
        "number 3 of the trial; answers to it that were given already: 2, and there is no further one"
    )


async def test_another_request_is_a_fault_of_the_harness(replay: Any) -> None:
    lab = replay(recorded())
    (reply,) = await lab.ask(("chat", {**ASKS["chat"], "temperature": 1}))
    assert reply.status == 502 and lab.journal.faults()[0][1] == "harness"
    message = lab.journal.faults()[0][2]
    assert message.endswith("number 1 of the trial; the next one recorded differs in temperature")
    assert lab.journal.of("model.response")[0].body["complete"] is False


@pytest.mark.parametrize("name", APIS)
async def test_a_stream_comes_again_as_a_stream(replay: Any, name: str) -> None:
    lab = replay(recorded(name, STREAMS[name], content_type="text/event-stream; charset=utf-8"))
    (reply,) = await lab.ask((name, ASKS[name]))
    assert (reply.body, reply.whole) == (STREAMS[name], True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    said = lab.journal.of("model.response")[0].body
    assert (said["reported_model"], said["complete"]) == ("m-1-2026", True)


async def test_the_tokens_of_that_run_become_those_of_this_one(replay: Any) -> None:
    lab = replay(recorded(request={"model": "m", "messages": ["tok-old"]}, body=b'{"said": "tok-old, other"}'))
    (reply,) = await lab.ask(("chat", {"model": "m", "messages": ["tok-new"]}))
    assert json.loads(reply.body) == {"said": "tok-new, other"}


@pytest.mark.parametrize(
    ("body", "fault", "status", "whole"),
    [
        (STREAMS["chat"][:90], "the answer broke off: ClientPayloadError", 200, False),
        (STREAMS["chat"][:90], "no whole answer within 5 s", 200, False),
        (b"", "no answer from the model endpoint: ServerDisconnectedError", 502, True),
        (STREAMS["chat"][:90], "the stream ended without its end marker: it did", 200, True),
        (sse({"error": {"message": "busy"}}), "the endpoint reported an error in its stream: busy", 200, True),
    ],
)
async def test_a_failure_fails_again_in_the_same_way(
    replay: Any, body: bytes, fault: str, status: int, whole: bool
) -> None:
    came = 0 if not body else 200
    lab = replay(recorded(body=body, status=came, content_type="text/event-stream", complete=False, fault=fault))
    (reply,) = await lab.ask(("chat", ASKS["chat"]))
    assert (reply.status, reply.whole) == (status, whole)
    ((_, class_, message),) = lab.journal.faults()
    assert class_ == "dependency_unavailable" and message[:20] == fault[:20]
    assert lab.journal.of("model.response")[0].body["http_status"] == came


async def test_an_answer_that_nobody_waited_for_is_not_made_up(replay: Any) -> None:
    lab = replay(recorded(body=b"data: 1\n\n", complete=False))
    assert (await lab.ask(("chat", ASKS["chat"])))[0].status == 502
    assert lab.journal.faults()[0][1] == "harness"


async def test_an_error_comes_again_and_its_bytes_with_it(replay: Any) -> None:
    lab = replay(recorded(body=b'{"error": "slow"}', status=429), recorded(body=b'{"n": 1}'))
    assert [reply.status for reply in await lab.ask(*[("chat", ASKS["chat"])] * 2)] == [429, 200]
    assert not lab.journal.of("fault")
