"""Declared faults of a model endpoint: acted where declared and nowhere else, on record first, told from real ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_kit import open_lab, send
from model_streams import APIS, ASKS, PATHS, STREAMS, WHOLE
from waiting import until

from oyer.records import parse_model_fault

WHOLE_PATHS = {**PATHS, "gemini": "/v1beta/models/m-1:generateContent"}


def faults(*texts: str) -> Any:
    return tuple(parse_model_fault(text) for text in texts)


def kinds(journal: Any) -> list[str]:
    return [event.kind for event in journal.events if event.kind != "sealed"]


@pytest.fixture
def journal(open_journal: Callable[[str], Any]) -> Any:
    return open_journal("gateway")


@pytest.mark.parametrize("status", [429, 500])
async def test_an_error_that_is_declared_comes_from_here_and_only_where_it_is_declared(
    journal: Any, tmp_path: Any, status: int
) -> None:
    async with open_lab(tmp_path, journal, faults=faults(f"{status}@2x2")) as bench:
        bench.gateway.session = "a"
        replies = [await bench.ask() for _ in range(4)]
        assert len(bench.received()) == 2
    assert [reply.status for reply in replies] == [200, status, status, 200]
    assert "error" in json.loads(replies[1].body)
    acts = journal.of("model.fault")
    assert [(act.body["exchange"], act.body["declared"]) for act in acts] == [
        (1, f"{status}@2x2"),
        (2, f"{status}@2x2"),
    ]
    assert [one.body.get("source") for one in journal.of("model.response")] == [None, "declared", "declared", None]
    assert journal.faults() == []
    assert kinds(journal)[2:5] == ["model.request", "model.fault", "model.response"]
    assert all(act.because == (f"gateway:{number}",) for act, number in zip(acts, (2, 5), strict=True))


@pytest.mark.parametrize("fault", ["500@1", "cut@1"])
async def test_an_agent_that_gives_up_over_a_declared_fault_has_one_in_its_session(
    journal: Any, tmp_path: Any, fault: str
) -> None:
    async with open_lab(tmp_path, journal, faults=faults(fault)) as bench:
        bench.gateway.session = "a"
        await bench.ask()
        assert journal.faults() == []
        bench.gateway.session = None
    ((where, class_, message),) = journal.faults()
    assert (where, class_) == ("gateway", "dependency_unavailable")
    assert fault in message and "declared" in message and "no whole answer followed" in message


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_a_cut_answer_reaches_the_subject_in_part_and_the_record_whole(
    journal: Any, tmp_path: Any, api: str, stream: bool
) -> None:
    told: Any = {"pieces": [STREAMS[api].decode()]} if stream else {"body": WHOLE[api]}
    async with open_lab(tmp_path, journal, told, faults=faults("cut@1")) as bench:
        request = {**ASKS[api], "stream": stream} if api != "gemini" else ASKS[api]
        root = (PATHS if stream else WHOLE_PATHS)[api]
        ask = json.dumps(request).encode()
        replies = [await asyncio.to_thread(send, bench.door, ask, root=root) for _ in range(2)]
    first, again = replies
    (act,) = journal.of("model.fault")
    assert not first.whole and again.whole
    assert journal.raw(act) == again.body and first.body == again.body[: len(again.body) // 2]
    cut, whole = journal.of("model.response")
    assert journal.raw(cut) == first.body and cut.body["complete"] is False and whole.body["complete"] is True
    assert journal.faults() == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_slow_answer_is_late_and_the_same(journal: Any, tmp_path: Any, stream: bool) -> None:
    told: Any = {"pieces": [STREAMS["chat"].decode()]} if stream else {"body": WHOLE["chat"]}
    async with open_lab(tmp_path, journal, told, faults=faults("slow:300ms@1")) as bench:
        late, prompt = [await bench.ask({**ASKS["chat"], "stream": stream}) for _ in range(2)]
    assert late.body == prompt.body and late.whole and prompt.whole
    first, second = journal.of("model.response")
    assert first.body["latency_ns"] >= 300_000_000 and first.body["complete"] is True
    assert first.body["usage"] == second.body["usage"] and journal.faults() == []
    assert [act.body["declared"] for act in journal.of("model.fault")] == ["slow:300ms@1"]


async def test_requests_that_ask_no_model_are_not_counted(journal: Any, tmp_path: Any) -> None:
    async with open_lab(tmp_path, journal, faults=faults("429@1")) as bench:
        await asyncio.to_thread(send, bench.door, b"", method="GET", root="/v1/models")
        await bench.ask(key="wrong")
        reply = await bench.ask()
    assert reply.status == 429 and [act.body["exchange"] for act in journal.of("model.fault")] == [2]


async def test_an_answer_that_fails_by_itself_is_the_endpoints(journal: Any, tmp_path: Any) -> None:
    async with open_lab(tmp_path, journal, {"text": "Hello.", "cut": 10}, faults=faults("cut@1")) as bench:
        await bench.ask()
    assert journal.of("model.fault") == []
    assert [class_ for _, class_, _ in journal.faults()] == ["dependency_unavailable"]


@pytest.mark.parametrize(
    "text", ["", "429", "404@1", "429@0", "cut@1x0", "slow@1", "slow:0ms@1", "429@1 ", "cut@1x1000"]
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no fault"):
        parse_model_fault(text)


@pytest.mark.parametrize("fault", ["cut@1", "slow:10ms@1"])
@pytest.mark.parametrize(
    "told", [{"status": 500, "body": {"error": {"message": "no"}}}, {"pieces": ['data: {"choices": []}\n\n']}]
)
async def test_an_endpoints_own_error_is_never_a_declared_fault(
    journal: Any, tmp_path: Any, fault: str, told: Any
) -> None:
    async with open_lab(tmp_path, journal, told, faults=faults(fault)) as bench:
        bench.gateway.session = "a"
        reply = await bench.ask({**ASKS["chat"], "stream": "pieces" in told})
        bench.gateway.session = None
    assert journal.of("model.fault") == [] and reply.whole
    ((_, class_, message),) = journal.faults()
    assert class_ == "dependency_unavailable" and "declared" not in message


async def test_an_error_is_owed_until_an_answer_follows_and_while_nothing_is_under_way(
    journal: Any, tmp_path: Any
) -> None:
    error: Any = {"status": 503, "body": {"error": {"message": "busy"}}}
    gate = tmp_path / "gate"
    held = {"pieces": ["data: {}\n\n", "data: [DONE]\n\n"], "gate": str(gate)}
    async with open_lab(tmp_path, journal, error, {"text": "Hi."}, error, held) as bench:
        bench.gateway.session = "a"
        owed = [bench.gateway.owes]
        for _ in range(3):
            await bench.ask()
            owed.append(bench.gateway.owes)
        waiting = asyncio.create_task(bench.ask({**ASKS["chat"], "stream": True}))
        await until(lambda: len(journal.of("model.request")) == 4)
        owed.append(bench.gateway.owes)
        gate.touch()
        await waiting
    assert owed == [False, True, False, True, False]
