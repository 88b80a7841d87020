"""Messages in order, original beside delivered; separators in a text make no second message."""

from __future__ import annotations

import json

import pytest
from report_kit import Tape

from oyer.evidence import digest_of
from oyer.report import Look, message_value, page_text, read_transcript, render_transcript


def answer(text: str, id_: int = 1) -> bytes:
    result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}, ensure_ascii=False).encode()


def call(tool: str = "read_inbox", id_: int = 1) -> bytes:
    params = {"name": tool, "arguments": {"limit": 5}}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode()


def changed_tape(before: str = "one\nstatus: pending\nlast", after: str = "one\nstatus: approved\nlast") -> Tape:
    tape = Tape()
    tape.add("harness", "turn.sent", {"number": 0, "payload": tape.payload(b"Read it.")}, session="a")
    tape.sent(call(), method="tools/call", id_=1, tool="read_inbox")
    original, modified = answer(before), answer(after)
    received = tape.received(original, id_=1)
    intervened = {
        "server": "ops",
        "connection": 1,
        "intervention": "grant",
        "occurrence": 1,
        "of": received,
        "request": "tap:ops:0",
        "original": digest_of(original),
        "modified": tape.payload(modified),
        "applied": True,
        "proof": {"kind": "replace_text", "spans": []},
    }
    tape.add("tap:ops", "mcp.intervened", intervened, session="a")
    tape.delivered(received, modified)
    return tape


def test_a_changed_message_has_both_its_forms() -> None:
    messages = read_transcript(changed_tape().read())
    assert [message.kind for message in messages] == ["turn.sent", "mcp.sent", "mcp.received"]
    got = messages[-1]
    assert got.changed
    assert got.original is not None and b"pending" in got.original
    assert got.delivered is not None and b"approved" in got.delivered
    assert [(act.name, act.did, act.applied) for act in got.acts] == [("grant", "intervened", True)]
    value = message_value(got)
    assert (value["direction"], value["server"], value["session"], value["changed"]) == ("to_subject", "ops", "a", True)
    assert value["original"]["sha256"] != value["delivered"]["sha256"]


def test_the_change_is_drawn_as_a_small_difference() -> None:
    text = page_text(render_transcript(read_transcript(changed_tape().read()), Look()))
    lines = [one.strip() for one in text.split("\n")]
    assert "- status: pending" in lines
    assert "+ status: approved" in lines
    assert "intervened by grant" in text
    assert "limit: 5" in lines
    assert "session a" in lines


@pytest.mark.parametrize("far", [0, 50_000], ids=["in one place", "in two places far apart"])
def test_the_change_in_a_text_made_to_be_slow_to_compare(far: int) -> None:
    """The same line over and over is the worst for comparing line by line."""
    before = "\n" * 50_000 + "status: pending" + "\n" * far + ("pending too" if far else "") + "\n" * 50_000
    text = page_text(
        render_transcript(read_transcript(changed_tape(before, before.replace("pending", "done")).read()), Look())
    )
    lines = [one.strip() for one in text.split("\n")]
    assert "- status: pending" in lines and "+ status: done" in lines
    assert ("- pending too" in lines) == bool(far)
    assert lines.count("-") == max(0, far - 1)


def test_bytes_that_nobody_can_prove_are_not_shown_as_delivered() -> None:
    tape = Tape()
    received = tape.received(answer("honest"), id_=1)
    tape.delivered(received, b"something else")
    message = read_transcript(tape.read())[0]
    assert message.delivered is None
    assert not message.changed
    assert "no bytes of it are proven" in page_text(render_transcript([message], Look()))


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_inside_a_message_makes_no_second_one(separator: str) -> None:
    tape = Tape()
    raw = answer(f"left{separator}right")
    tape.delivered(tape.received(raw, id_=1), raw)
    messages = read_transcript(tape.read())
    assert len(messages) == 1
    assert messages[0].delivered == raw
    text = page_text(render_transcript(messages, Look()))
    assert separator not in text
    assert "left\\" in text
    assert "right" in text.split("left\\")[1].split("\n")[0]


def test_a_refusal_is_a_message_that_no_server_sent() -> None:
    tape = Tape()
    raw = call("run_action")
    body = {
        "server": "ops",
        "connection": 1,
        "payload": tape.payload(raw),
        "method": "tools/call",
        "tool": "run_action",
    }
    asked = tape.add("tap:ops", "mcp.sent", {**body, "id": 1}, session="a")
    refusal = answer("not allowed")
    policy = {
        "server": "ops",
        "connection": 1,
        "policy": "deny",
        "did": "refused",
        "of": asked,
        "original": digest_of(raw),
        "modified": None,
        "delivered": tape.payload(refusal),
    }
    tape.add("tap:ops", "mcp.policy", policy, session="a")
    tape.delivered(asked, refusal)
    sent, refused = read_transcript(tape.read())
    assert (sent.kind, sent.delivered) == ("mcp.sent", None)
    assert (refused.kind, refused.delivered, refused.original) == ("mcp.refused", refusal, None)
    assert refused.note is not None and "the server was not asked" in refused.note


def test_plumbing_takes_one_line_and_its_bytes_only_when_asked() -> None:
    tape = Tape()
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"probe"}}}'
    tape.sent(hello, method="initialize", id_=0)
    raw = b'{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"ops"}}}'
    tape.delivered(tape.received(raw, id_=0), raw)
    messages = read_transcript(tape.read())
    brief = page_text(render_transcript(messages, Look()))
    assert "initialize" in brief
    assert "serverInfo" not in brief
    assert "serverInfo" in page_text(render_transcript(messages, Look(), raw=True))


def test_a_model_exchange_shows_what_was_asked_and_answered() -> None:
    tape = Tape()
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello there"}]}).encode()
    asked = {"exchange": 1, "payload": tape.payload(request), "requested_model": "m", "path": "/v1/chat/completions"}
    tape.add("gateway", "model.request", asked, session="a")
    call_ = {"function": {"name": "ops_run", "arguments": "{}"}}
    choice = {"message": {"role": "assistant", "content": "I will.", "tool_calls": [call_]}}
    answered = {
        "exchange": 1,
        "payload": tape.payload(json.dumps({"choices": [choice]}).encode()),
        "http_status": 200,
        "requested_model": "m",
        "reported_model": "m-2",
        "usage": None,
        "latency_ns": 5,
        "complete": True,
    }
    tape.add("gateway", "model.response", answered, session="a")
    text = page_text(render_transcript(read_transcript(tape.read()), Look()))
    assert "user: hello there" in text
    assert "assistant: I will." in text
    assert "asks for ops_run {}" in text
    assert "m-2" in text


@pytest.mark.parametrize(
    ("kind", "word", "said"),
    [
        ("model.request", "no_api", "its path is of no API"),
        ("model.request", "not_json", "no JSON object"),
        ("model.response", "coding", "in a coding that is not read"),
        ("model.response", "answer", "none of its API"),
    ],
)
def test_a_model_exchange_that_is_not_understood_says_so(kind: str, word: str, said: str) -> None:
    tape = Tape()
    body = {"exchange": 1, "payload": tape.payload(b"{}"), "requested_model": None, "unread": word}
    if kind == "model.request":
        body["path"] = "/v1/embeddings"
    else:
        body |= {"http_status": 200, "reported_model": None, "usage": None, "latency_ns": 5, "complete": True}
    tape.add("gateway", kind, body, session="a")
    text = " ".join(page_text(render_transcript(read_transcript(tape.read()), Look())).split())
    assert "not understood" in text and said in text


def test_a_changed_request_to_a_model_shows_what_went_on_in_its_place() -> None:
    tape = Tape()
    told = [json.dumps({"messages": [{"role": "tool", "content": text}]}).encode() for text in ("pending", "approved")]
    asked = {"exchange": 1, "payload": tape.payload(told[0]), "requested_model": "m", "path": "/v1/chat/completions"}
    ref = tape.add("gateway", "model.request", asked, session="a")
    act = {"intervention": "grant", "of": ref, "original": digest_of(told[0]), "applied": True}
    tape.add("gateway", "model.intervened", {**act, "modified": tape.payload(told[1])}, session="a")
    answered = {"http_status": 200, "reported_model": "m", "usage": None, "latency_ns": 5, "complete": True}
    answered |= {"exchange": 1, "payload": tape.payload(b"{}"), "requested_model": "m", "sent": digest_of(told[1])}
    tape.add("gateway", "model.response", answered, session="a")
    messages = read_transcript(tape.read())
    assert messages[0].changed and messages[0].delivered == told[1] and messages[0].original == told[0]
    text = page_text(render_transcript(messages, Look()))
    assert "intervened by grant" in text and "- tool: pending" in text and "+ tool: approved" in text


def test_a_change_that_an_earlier_message_of_a_request_holds_is_a_small_difference() -> None:
    tape = Tape()
    told = [
        json.dumps({"messages": [{"content": f"a\n{text}\nz"}, {"role": "tool", "content": "ok"}], "n": "far"}).encode()
        for text in ("pending", "approved")
    ]
    asked = {"exchange": 1, "payload": tape.payload(told[0]), "requested_model": "m", "path": "/v1/chat/completions"}
    ref = tape.add("gateway", "model.request", asked, session="a")
    act = {"intervention": "grant", "of": ref, "original": digest_of(told[0]), "applied": True}
    tape.add("gateway", "model.intervened", {**act, "modified": tape.payload(told[1])}, session="a")
    answered = {"http_status": 200, "reported_model": "m", "usage": None, "latency_ns": 5, "complete": True}
    answered |= {"exchange": 1, "payload": tape.payload(b"{}"), "requested_model": "m", "sent": digest_of(told[1])}
    tape.add("gateway", "model.response", answered, session="a")
    text = page_text(render_transcript(read_transcript(tape.read()), Look()))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "- pending" in lines and "+ approved" in lines and "far" not in text


@pytest.mark.parametrize("with_bytes", [True, False])
def test_a_declared_fault_misses_bytes_only_where_it_has_some(with_bytes: bool) -> None:
    tape = Tape()
    body = {"exchange": 1, "declared": "cut@1"} | ({"payload": tape.payload(b"whole")} if with_bytes else {})
    tape.add("gateway", "model.fault", body, session="a")
    text = page_text(render_transcript(read_transcript(tape.read()), Look()))
    assert "declared fault cut@1" in text and "not retained" not in text
    assert ("the whole answer" in text and "whole\n" in text) == with_bytes


def test_where_no_answer_came_none_is_told_of() -> None:
    tape = Tape()
    body = {"exchange": 1, "payload": tape.payload(b""), "requested_model": None, "source": "replay"}
    body |= {"http_status": 0, "reported_model": None, "usage": None, "latency_ns": 5, "complete": False}
    tape.add("gateway", "model.response", body, session="a")
    text = page_text(render_transcript(read_transcript(tape.read()), Look()))
    assert "(no answer)" in text and "recording" not in text and "HTTP 0" not in text


def test_noise_and_binary_bytes_are_kept_and_shown_safely() -> None:
    tape = Tape()
    noise = {"server": "ops", "connection": 1, "side": "server", "payload": tape.payload(b"\xff\xfe\x1b[31m")}
    tape.add("tap:ops", "mcp.noise", noise, session="a")
    message = read_transcript(tape.read())[0]
    original = message_value(message)["original"]
    assert "base64" in original
    assert "text" not in original
    assert "\x1b" not in page_text(render_transcript([message], Look(), raw=True))


def test_a_large_message_comes_from_its_blob() -> None:
    tape = Tape()
    raw = answer("x" * 10_000)
    tape.delivered(tape.received(raw, id_=1), raw)
    assert read_transcript(tape.read())[0].delivered == raw


def test_bytes_are_broken_where_the_line_is_full_and_no_space_is_lost() -> None:
    tape = Tape()
    text = "word " * 60
    tape.sent(call(), method="tools/call", id_=1, tool="read_inbox")
    tape.received(answer(text), id_=1)
    printed = page_text(render_transcript(read_transcript(tape.read()), Look(width=60), raw=True))
    block = printed[printed.rindex("| {") :].split("\n")
    rows = [block[0].removeprefix("| "), *(row[8:] for row in block[1:] if row.startswith(" " * 8))]
    assert max(len(row) for row in rows) == 52
    assert "".join(row.ljust(52) for row in rows).rstrip() == answer(text).decode()  # a page has no spaces at an end


def test_a_turn_is_named_by_what_it_is() -> None:
    tape = Tape()
    for number in (0, 1):
        tape.add("harness", "turn.sent", {"number": number, "payload": tape.payload(b"Go on.")}, session="a")
    messages = read_transcript(tape.read(), {("a", 1): "round 1"})
    assert [message_value(message)["note"] for message in messages] == [None, "round 1"]
    page = page_text(render_transcript(messages, Look()))
    assert "turn (round 1) harness:2" in page
    assert "turn harness:1" in page
