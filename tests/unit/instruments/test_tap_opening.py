"""A server that refuses to open a connection is blamed by the tap, whoever the subject is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from instrument_kit import QUICK, Rig, request
from oyer.instruments import TapLimits
from oyer.instruments.tap_opening import Opening
from oyer.protocol import Message, parse_message

RigMaker = Callable[[str], Rig]
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def answer(**outcome: Any) -> Message:
    message = parse_message(json.dumps({"jsonrpc": "2.0", "id": 1, **outcome}).encode())
    assert isinstance(message, Message)
    return message


def error(code: int) -> Message:
    return answer(error={"code": code, "message": "no licence"})


@pytest.mark.parametrize(
    ("heard", "refusal"),
    [
        ([], None),
        ([("initialize", error(-32000))], "refused initialize: no licence"),
        ([("initialize", error(-32602))], "refused initialize: no licence"),
        ([("initialize", error(-32600))], None),  # the request itself was broken
        ([("server/discover", error(-32601)), ("initialize", answer(result={}))], None),
        ([("initialize", error(-32601)), ("server/discover", answer(result={}))], None),
        ([("initialize", error(-32000)), ("server/discover", error(-32601))], "refused initialize: no licence"),
        ([("initialize", error(-32000)), ("tools/call", answer(result={}))], None),
        ([("initialize", error(-32000)), ("tools/call", error(-32002))], "refused initialize: no licence"),
        ([("initialize", answer(result={})), ("tools/list", error(-32000))], "refused tools/list: no licence"),
        ([("initialize", answer(result={})), ("tools/list", error(-32601))], None),  # it has no tools
        ([("tools/list", error(-32000)), ("tools/list", answer(result={}))], None),
        ([("tools/call", error(-32000))], None),
    ],
)
def test_what_counts_as_a_refusal(heard: list[tuple[str, Message]], refusal: str | None) -> None:
    opening = Opening()
    for method, said in heard:
        opening.answered(method, said)
    assert opening.refusal == refusal


@pytest.mark.parametrize(
    ("manner", "said"),
    [("refuses", "refused initialize: no licence"), ("lists_nothing", "refused tools/list: no quota")],
)
async def test_the_tap_says_so_without_any_word_of_the_subject(rig: RigMaker, manner: str, said: str) -> None:
    bench = rig(manner)
    await bench.open(limits=TapLimits(patience=QUICK))
    client = await bench.client()
    for number, method, params in ((1, "initialize", GREETING), (2, "tools/list", {})):
        await client.send(request(number, method, params))
        await client.line()
    await client.leave()
    await bench.close()
    assert bench.faults == [("server:ops", "dependency_unavailable", f"server ops {said}")]
    (fault,) = bench.journal.of("fault")
    assert fault.body["message"] == f"server ops {said}"
