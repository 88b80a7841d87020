"""The gateway between a strict client (http.client, which decodes nothing) and a scripted endpoint, on loopback."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from gateway_kit import ASK, KEY, send

from oyer.errors import HarnessError, UsageError
from oyer.instruments.gateway import GatewayDoor
from oyer.instruments.gateway_port import GatewayLimits
from oyer.instruments.gateway_upstream import Upstream


async def test_an_exchange_is_recorded_and_its_bytes_are_untouched(lab: Any) -> None:
    raw = b'{ "model":"m", "messages" : [], "temperature": 0.10, "seed":1e2, "tools":[{}] , "x": "\\u00e9" }'
    async with lab({"text": "Hi.", "model": "m-2026"}) as bench:
        bench.gateway.session = "a"
        reply = await bench.ask(raw)
        assert reply.status == 200 and json.loads(reply.body)["choices"][0]["message"]["content"] == "Hi."
        (request,), (response,) = bench.journal.of("model.request"), bench.journal.of("model.response")
        assert bench.journal.raw(request) == raw == bench.received()[0]["body"].encode()
        assert bench.journal.raw(request, "parameters") == b'{"model":"m","temperature":0.10,"seed":1e2,"x":"\xc3\xa9"}'
        assert (request.body["requested_model"], request.body["path"]) == ("m", "/v1/chat/completions")
        assert bench.journal.raw(response) == reply.body
        assert response.because == (request.ref,) and (request.session, response.session) == ("a", "a")
        said = {key: response.body[key] for key in ("requested_model", "reported_model", "http_status", "finish")}
        assert said == {"requested_model": "m", "reported_model": "m-2026", "http_status": 200, "finish": "stop"}
        assert response.body["usage"] == {"input": 10, "output": 5, "total": 15}
        assert response.body["complete"] and response.body["latency_ns"] > 0 and not bench.journal.of("fault")


async def test_the_endpoint_gets_the_real_key_and_the_subject_never_sees_it(lab: Any) -> None:
    async with lab() as bench:
        reply = await bench.ask(headers={"X-Api-Key": "mine", "X-Kept": "yes", "Accept-Encoding": "br"})
        sent = {name.lower(): value for name, value in bench.received()[0]["headers"]}
        assert sent["authorization"] == f"Bearer {KEY}" and sent["accept-encoding"] == "identity"
        assert sent["x-kept"] == "yes" and "x-api-key" not in sent and bench.door.key not in str(sent)
        assert KEY not in str(reply) and KEY not in str(bench.door)


async def test_an_endpoint_that_repeats_the_key_is_not_passed_on(lab: Any) -> None:
    async with lab({"echo_key": True}) as bench:
        reply = await bench.ask()
        assert reply.status == 502 and KEY.encode() not in reply.body
        assert b"[upstream key]" in bench.journal.raw(bench.journal.of("model.response")[0])
        assert bench.journal.faults()[0][:2] == ("gateway", "dependency_unavailable")


@pytest.mark.parametrize("letters", [KEY, KEY[3], KEY[-1]], ids=["every letter", "one letter", "the last letter"])
async def test_a_key_that_is_spelt_with_escapes_is_not_passed_on_either(lab: Any, letters: str) -> None:
    spelt = "".join(f"\\u{ord(letter):04X}" if letter in letters else letter for letter in KEY)
    raw = '{"model": "small", "choices": [{"message": {"role": "assistant", "content": "KEY"}}]}'.replace("KEY", spelt)
    assert KEY in json.loads(raw)["choices"][0]["message"]["content"]
    async with lab({"raw": raw}) as bench:
        reply = await bench.ask()
        assert (reply.status, spelt.encode() in reply.body) == (502, False)
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == b"[upstream key]"
        assert bench.journal.faults()[0][:2] == ("gateway", "dependency_unavailable")


@pytest.mark.parametrize(("status", "body"), [(429, {"error": "slow down"}), (500, {"error": "oops"}), (404, {})])
async def test_an_error_answer_passes_as_it_is_and_is_no_fault_of_ours(lab: Any, status: int, body: Any) -> None:
    async with lab({"status": status, "body": body, "headers": {"Retry-After": "7"}}) as bench:
        reply = await bench.ask()
        assert (reply.status, json.loads(reply.body), reply.headers["retry-after"]) == (status, body, "7")
        assert bench.response()["http_status"] == status and not bench.journal.of("fault")
        assert len(bench.received()) == 1


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_cut_body_stays_cut_and_says_so(lab: Any, chunked: bool) -> None:
    async with lab({"text": "A long answer.", "cut": 40, "chunked": chunked}) as bench:
        reply = await bench.ask()
        assert (reply.status, reply.whole) == (200, False)
        response = bench.response()
        assert (response["complete"], response["http_status"], response["reported_model"]) == (False, 200, None)
        kept = bench.journal.raw(bench.journal.of("model.response")[0])
        assert len(kept) == 40 and reply.body == kept
        assert bench.journal.faults()[0][1] == "dependency_unavailable"


async def test_an_endpoint_that_hangs_is_a_timeout(lab: Any) -> None:
    async with lab({"hang": 60}, answer_s=0.1) as bench:
        reply = await bench.ask()
        assert reply.status == 504 and (bench.response()["http_status"], bench.response()["complete"]) == (0, False)
        assert "within 0.1 s" in bench.journal.faults()[0][2]


async def test_an_endpoint_that_closes_without_a_word(lab: Any) -> None:
    async with lab({"close": True}) as bench:
        assert (await bench.ask()).status == 502 and bench.response()["complete"] is False


async def test_an_endpoint_that_is_not_there(lab: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused, and nobody else gets the port
        async with lab(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as bench:
            assert (await bench.ask()).status == 502
            assert bench.journal.faults()[0][1] == "dependency_unavailable"


async def test_a_redirect_is_recorded_and_not_followed(lab: Any) -> None:
    async with lab({"status": 307, "headers": {"Location": "/v1/chat/completions"}, "body": {}}) as bench:
        reply = await bench.ask()
        assert reply.status == 502 and "location" not in reply.headers
        assert bench.response()["http_status"] == 307 and len(bench.received()) == 1
        assert "redirect" in bench.journal.faults()[0][2]


async def test_a_client_that_waits_to_be_told_to_go_on_is_told(lab: Any) -> None:
    async with lab() as bench:
        body = b'{"model":"m","messages":[]}'
        host, _, path = bench.door.base_url.removeprefix("http://").partition("/")
        reader, writer = await asyncio.open_connection(*host.split(":"))
        head = f"POST /{path}/chat/completions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {bench.door.key}\r\n"
        long = "a" * 20_000
        more = f"X-Long: {long}\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write((head + more).encode())
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(body)
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).startswith(b"HTTP/1.1 200 ")
        writer.close()


async def test_an_answer_beyond_the_limit_is_cut_with_a_fault(lab: Any) -> None:
    async with lab({"text": "x" * 5000}, max_bytes=1000) as bench:
        assert (await bench.ask()).status == 502
        assert bench.response()["complete"] is False and "larger than 1000 bytes" in bench.journal.faults()[0][2]
        assert len(bench.journal.raw(bench.journal.of("model.response")[0])) == 1000


async def test_a_request_beyond_the_limit_is_refused_and_its_beginning_kept(lab: Any) -> None:
    async with lab(limits=GatewayLimits(request_bytes=64)) as bench:
        assert (await bench.ask(b"y" * 65)).status == 413
        assert bench.journal.raw(bench.journal.of("model.request")[0]) == b"y" * 64
        assert bench.journal.faults()[0][1] == "subject" and not bench.received()


async def test_requests_beyond_their_total_are_the_subjects(lab: Any) -> None:
    async with lab(limits=GatewayLimits(total_bytes=2000)) as bench:
        assert (await bench.ask(b"y" * 1500)).status == 200
        assert (await bench.ask(b"y" * 1500)).status == 413
        ((_, class_, told),) = bench.journal.faults()
        assert class_ == "subject" and "more than 2000 bytes in all" in told and len(bench.received()) == 1


async def test_requests_beyond_their_number_are_the_subjects(lab: Any) -> None:
    async with lab(limits=GatewayLimits(requests=2)) as bench:
        assert [(await bench.ask()).status for _ in range(3)] == [200, 200, 413]
        ((_, class_, told),) = bench.journal.faults()
        assert class_ == "subject" and "more than 2 times" in told and len(bench.received()) == 2


async def test_answers_beyond_their_total_are_the_endpoints(lab: Any) -> None:
    async with lab({"text": "z" * 3000}, limits=GatewayLimits(total_bytes=5000)) as bench:
        assert [(await bench.ask()).status for _ in range(2)] == [200, 200]
        ((_, class_, told),) = bench.journal.faults()
        assert class_ == "dependency_unavailable" and "answered more than 5000 bytes in all" in told


async def test_an_answer_that_falls_silent_is_the_endpoints(lab: Any) -> None:
    async with lab({"pieces": ["data: {}\n\n"], "then": "stay"}, idle_s=0.2, answer_s=600) as bench:
        assert not (await bench.ask()).whole
        ((_, class_, told),) = bench.journal.faults()
        assert class_ == "dependency_unavailable" and "nothing more came for 0.2 s" in told
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == b"data: {}\n\n"


async def test_stream_false_is_no_stream(lab: Any) -> None:
    async with lab() as bench:
        assert (await bench.ask({**ASK, "stream": False})).status == 200


async def test_a_wrong_key_is_an_exchange_that_went_nowhere(lab: Any) -> None:
    async with lab() as bench:
        assert (await bench.ask(key="sk-someone-elses")).status == 401
        assert bench.response()["http_status"] == 401 and not bench.journal.of("fault")
        assert not bench.received() and b"someone-elses" not in bench.journal.everything()


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"root": ""}, 404),
        ({"headers": {"Origin": "http://evil.example"}}, 403),
        ({"headers": {"Host": "evil.example"}}, 403),
    ],
)
async def test_what_is_not_of_this_run_is_turned_away_unrecorded(lab: Any, more: Any, status: int) -> None:
    async with lab() as bench:
        assert (await bench.ask(**more)).status == status
        assert not bench.journal.events and not bench.received()


@pytest.mark.parametrize("path", ["/../secret", "/./x", "/%2e%2E/secret", "/a/.."])
async def test_a_path_that_climbs_is_refused_on_record(lab: Any, path: str) -> None:
    async with lab() as bench:
        assert (await bench.ask(path=path)).status == 400
        assert bench.response()["http_status"] == 400 and not bench.received()


async def test_another_path_finds_nothing(lab: Any) -> None:
    async with lab() as bench:
        guessed = GatewayDoor(bench.door.base_url[:-6] + "abc/v1", bench.door.key)
        assert (await asyncio.to_thread(send, guessed, b"{}")).status == 404 and not bench.journal.events


async def test_models_pass_through(lab: Any) -> None:
    async with lab() as bench:
        reply = await bench.ask(method="GET", path="/models")
        assert json.loads(reply.body)["data"] == [{"id": "scripted"}]
        assert bench.journal.of("model.request")[0].body["path"] == "/v1/models"


async def test_an_encoded_body_keeps_its_header_and_is_still_read(lab: Any) -> None:
    async with lab({"text": "Hi.", "encode": "gzip"}) as bench:
        reply = await bench.ask()
        assert reply.headers["content-encoding"] == "gzip" and b'"Hi."' in gzip.decompress(reply.body)
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == reply.body
        assert bench.response()["reported_model"] == "m"


@pytest.mark.parametrize(
    ("status", "raw", "coding"),
    [(200, "not it", "br"), (200, "not it", "zstd"), (404, "{}", "x-odd"), (204, "", "gzip")],
)
async def test_an_unknown_coding_passes_untouched(lab: Any, status: int, raw: str, coding: str) -> None:
    async with lab({"status": status, "raw": raw, "headers": {"Content-Encoding": coding}}) as bench:
        reply = await bench.ask()
        assert (reply.status, reply.body.decode(), reply.headers["content-encoding"]) == (status, raw, coding)
        assert bench.response()["reported_model"] is None and bench.response()["usage"] is None
        assert bench.response().get("unread") == ("coding" if status == 200 else "answer" if status == 204 else None)


@pytest.mark.parametrize("raw", [b"not json", b"[]", b'{"model": 7}', b"\xff\xfe", b""])
async def test_a_request_that_cannot_be_read_is_forwarded_and_recorded(lab: Any, raw: bytes) -> None:
    async with lab({"text": "?"}) as bench:
        await bench.ask(raw)
        (request,) = bench.journal.of("model.request")
        assert bench.journal.raw(request) == raw and request.body["requested_model"] is None
        assert request.body.get("unread") == (None if raw.startswith(b"{") else "not_json")


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None, "usage": {"prompt_tokens": "many"}},
        {"model": 5, "choices": [None], "usage": {"prompt_tokens": -1, "total_tokens": True}},
        [1],
    ],
)
async def test_an_odd_answer_is_recorded_with_what_can_be_read(lab: Any, body: Any) -> None:
    async with lab({"body": body}) as bench:
        assert json.loads((await bench.ask()).body) == body
        assert (bench.response()["reported_model"], bench.response()["usage"]) == (None, None)
        assert bench.response().get("unread") == ("answer" if isinstance(body, list) else None)


async def test_partial_usage_is_kept_and_never_filled_up(lab: Any) -> None:
    async with lab({"text": "Hi.", "usage": {"prompt_tokens": 3}}) as bench:
        await bench.ask()
        assert bench.response()["usage"] == {"input": 3}


async def test_an_exchange_under_way_when_the_door_closes_is_broken_off(lab: Any) -> None:
    async with lab({"hang": 60}) as bench:
        asking = asyncio.create_task(bench.ask())
        while not bench.received():
            await asyncio.sleep(0.005)
        await bench.gateway.stop()
        with pytest.raises((http.client.HTTPException, OSError)):
            await asking
        assert (bench.response()["http_status"], bench.response()["complete"]) == (0, False)


async def test_what_cannot_be_recorded_is_not_answered(lab: Any) -> None:
    async with lab() as bench:
        written = bench.journal.record

        def full(kind: str, body: Any, **more: Any) -> str:
            if kind == "model.response":
                raise HarnessError("E-DISK", "no space left")
            return str(written(kind, body, **more))

        bench.journal.record = full
        with pytest.raises((http.client.HTTPException, OSError)):
            await bench.ask()
        with pytest.raises(HarnessError, match="no space left"):
            await bench.gateway.stop()
        bench.journal.record = written


async def test_many_at_once_keep_their_numbers(lab: Any) -> None:
    async with lab() as bench:
        await asyncio.gather(*(bench.ask({**ASK, "seed": number}) for number in range(8)))
        requests, responses = bench.journal.of("model.request"), bench.journal.of("model.response")
        assert sorted(event.body["exchange"] for event in requests) == list(range(8))
        by_ref = {event.ref: event.body["exchange"] for event in requests}
        assert all(by_ref[event.because[0]] == event.body["exchange"] for event in responses)


def test_an_address_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="E-BASE-URL"):
        Upstream("127.0.0.1:9102/v1")


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(Upstream("http://127.0.0.1:1/v1", key=KEY))


async def test_names_that_are_no_text_are_recorded_with_an_escape_and_blamed_on_nobody(lab: Any) -> None:
    """Half of a surrogate pair is JSON and no text: a record of it would have no form at all."""
    message = {"role": "assistant", "content": "Hi."}
    answer = {"model": "\ud800", "choices": [{"index": 0, "message": message, "finish_reason": "\udfff"}]}
    async with lab({"body": answer}) as bench:
        reply = await bench.ask(b'{"model": "m\\udc00", "messages": []}')
        assert reply.status == 200 and json.loads(reply.body) == answer
        said = bench.response()
        assert (said["requested_model"], said["reported_model"], said["finish"]) == ("m\\udc00", "\\ud800", "\\udfff")
        assert not bench.journal.faults()


async def test_a_request_that_is_no_http_prints_nothing(lab: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Least of all the address of the door, which is secret."""
    async with lab() as bench:
        address = urlsplit(bench.door.base_url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(f"POST {address.path}/".encode() + b"\xff HTTP/1.1\r\nHost: x\r\n\r\n")
        answered = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert b" 400 " in answered and not caplog.records
