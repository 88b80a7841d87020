"""Exchanges re-read from raw bytes: the journal's own words about a message are never believed."""

from __future__ import annotations

import json
from typing import Any

from evidence_kit import ACT, STATUS, Story, make_case, status_story

from oyer.evidence import digest_of
from oyer.observe import Exchange, Wire, read_wire

CASE = make_case()


def wire(story: Story) -> Wire:
    return read_wire(story.arm().evidence)


def request(id_: Any, tool: str = "run_action", arguments: Any = None) -> dict[str, Any]:
    params = {"name": tool, "arguments": ACT if arguments is None else arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def reply(id_: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result or {"content": []}}


def frames(*frames: tuple[str, Any], connection: int = 0) -> Story:
    """A story of frames: `>` from the subject, `<` from the server; each is delivered."""
    story = Story(CASE)
    story.begin("a")
    for way, value in frames:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"
        draft = story.frame("mcp.sent" if way == ">" else "mcp.received", raw, connection)
        story.deliver(draft, "to_server" if way == ">" else "to_subject", raw)
    return story.finish()


def only(found: Wire) -> Exchange:
    (exchange,) = found.exchanges
    return exchange


def test_a_plain_exchange() -> None:
    exchange = only(wire(frames((">", request(1)), ("<", reply(1)))))
    assert (exchange.server, exchange.tool, exchange.arguments, exchange.session) == ("desk", "run_action", ACT, "a")
    assert exchange.answer is not None
    assert exchange.answer.delivered == exchange.answer.original
    assert not exchange.answer.changed
    assert exchange.refs == (exchange.ref, exchange.answer.ref)


def test_the_journals_own_id_and_tool_are_not_believed() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    story.all("mcp.sent")[0].body.update(id=99, tool="harmless", method="ping")
    story.all("mcp.received")[0].body.update(id=98)
    exchange = only(wire(story))
    assert exchange.tool == "run_action"
    assert exchange.answer is not None


def test_ids_are_compared_by_type() -> None:
    found = wire(frames((">", request(1)), (">", request("1", "other")), ("<", reply("1")), ("<", reply(1))))
    assert [(e.tool, len(e.answers)) for e in found.exchanges] == [("run_action", 1), ("other", 1)]
    assert not found.orphans


def test_ids_are_unique_within_one_connection_only() -> None:
    story = Story(CASE)
    story.begin("a")
    for connection, tool in ((0, "one"), (1, "two")):
        raw = json.dumps(request(1, tool)).encode() + b"\n"
        story.frame("mcp.sent", raw, connection)
    for connection in (1, 0):
        story.frame("mcp.received", json.dumps(reply(1, at=connection)).encode() + b"\n", connection)
    found = wire(story.finish())
    assert [(e.tool, e.answers[0].message.result) for e in found.exchanges] == [("one", {"at": 0}), ("two", {"at": 1})]


def test_a_call_sent_again_while_pending_is_one_call() -> None:
    found = wire(frames((">", request(1)), (">", request(1)), ("<", reply(1)), ("<", reply(1))))
    exchange = only(found)
    assert len(exchange.transmissions) == 2
    assert [answer.repeats is not None for answer in exchange.answers] == [False, True]
    assert not found.contradictions


def test_two_different_answers_contradict() -> None:
    found = wire(frames((">", request(1)), ("<", reply(1, a=1)), ("<", reply(1, a=2))))
    assert len(found.contradictions) == 1
    assert [answer.message.result for answer in only(found).answers] == [{"a": 1}, {"a": 2}]


def test_an_id_used_again_while_pending_is_ambiguous_and_never_mispaired() -> None:
    found = wire(frames((">", request(1, "one")), (">", request(1, "two")), ("<", reply(1))))
    assert [e.answers for e in found.exchanges] == [(), ()]
    assert len(found.ambiguous) == 2


def test_answers_that_nobody_asked_for_in_either_direction() -> None:
    assert len(wire(frames(("<", reply(9)))).orphans) == 1
    assert len(wire(frames((">", reply(9)))).orphans) == 1
    served = wire(frames(("<", {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}), (">", reply(9))))
    assert (served.orphans, served.exchanges) == ((), ())


def test_a_batch_is_taken_apart() -> None:
    calls = [request(1, "one"), request(2, "two"), {"jsonrpc": "2.0", "method": "notifications/x"}]
    found = wire(frames((">", calls), ("<", [reply(2, a=2), reply(1, a=1)])))
    assert [(e.tool, e.part, e.answers[0].message.result) for e in found.exchanges] == [
        ("one", 0, {"a": 1}),
        ("two", 1, {"a": 2}),
    ]
    answer = found.exchanges[0].answers[0]
    assert answer.in_batch
    assert json.loads(answer.own) == reply(1, a=1)
    assert len({e.key for e in found.exchanges}) == 2


def test_a_batch_with_one_id_twice_loses_no_call() -> None:
    found = wire(frames((">", [request(1, "one"), request(1, "two")])))
    assert [e.tool for e in found.exchanges] == ["one", "two"]
    assert found.ambiguous


def test_one_call_of_a_batch_is_cancelled() -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    found = wire(frames((">", [request(1, "one"), request(2, "two")]), (">", cancel)))
    assert [(e.tool, e.cancelled) for e in found.exchanges] == [("one", False), ("two", True)]
    late = wire(frames((">", request(2)), ("<", reply(2)), (">", cancel)))
    assert not only(late).cancelled


def test_what_was_delivered_is_held_against_what_is_on_record() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    assert wire(story).unexpected_changes == ()
    for direction in ("to_server", "to_subject"):
        story = frames((">", request(1)), ("<", reply(1)))
        story.all("mcp.delivered", direction=direction)[0].body["sha256"] = digest_of(b"other")
        assert len(wire(story).unexpected_changes) == 1
    assert only(wire(story)).answer is not None
    assert only(wire(story)).answer.delivered is None  # type: ignore[union-attr]


def test_every_delivery_counts_not_only_the_last() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    good = story.all("mcp.delivered", direction="to_subject")[0]
    bad = story.deliver(good.body["of"], "to_subject", b"other")
    bad.t_ns = good.t_ns
    assert len(wire(story).unexpected_changes) == 1
    story.drafts.remove(bad)
    story.drafts.insert(0, bad)
    bad.t_ns = good.t_ns
    assert len(wire(story).unexpected_changes) == 1


def test_records_about_what_is_not_there() -> None:
    story = status_story(CASE)
    sealed = story.seal(without=frozenset(story.all("mcp.received")))
    found = read_wire(sealed.arm(CASE).evidence)
    assert len(found.lost_originals) == 1
    assert len(found.strays) == 1
    story = status_story(CASE)
    delivered = story.all("mcp.delivered")[0]
    delivered.t_ns = 0
    sealed = story.seal(without=frozenset([delivered]))
    delivered.body["of"] = f"tap:desk:{int(sealed.refs[id(story.all('mcp.sent')[0])].rpartition(':')[2]) + 1}"
    assert len(wire(story).strays) == 1, "a delivery before its message"


def test_noise_is_no_message_and_must_not_change_either() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    body = {"server": "desk", "connection": 0, "side": "server"}
    noise = story.note("tap:desk", "mcp.noise", body, payload=b"hello\n")
    story.deliver(noise, "to_subject", b"hello\n")
    found = wire(story)
    assert (len(found.noise), found.unexpected_changes) == (1, ())
    story.deliver(noise, "to_subject", b"hullo\n")
    assert len(wire(story).unexpected_changes) == 1


def test_truncated_noise_cannot_be_compared() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    body = {"server": "desk", "connection": 0, "side": "server", "truncated": True}
    noise = story.note("tap:desk", "mcp.noise", body, payload=b"xxxx")
    story.deliver(noise, "to_subject", b"xxxxxxxx\n")
    assert wire(story).unexpected_changes == ()


def test_the_server_is_the_writers_own() -> None:
    story = status_story(CASE)
    for sent in story.all("mcp.sent"):
        sent.body["server"] = "other"
    found = wire(story)
    assert {e.server for e in found.exchanges} == {"desk"}
    assert len(found.misnamed) == len(story.all("mcp.sent"))


def test_exchanges_stand_in_the_order_of_their_frames() -> None:
    """Ten calls in one instant: order is that of the journal, not of the text of its references."""
    story = frames(*((">", request(n, f"tool_{n}")) for n in range(12)))
    for draft in story.drafts:
        draft.t_ns = 5
    assert [e.tool for e in wire(story).exchanges] == [f"tool_{n}" for n in range(12)]


def test_refusals() -> None:
    story = frames()
    story.begin("a")
    sent, raw = story.ask("run_action", ACT)
    story.refuse(sent, raw, "p")
    exchange = only(wire(story.finish()))
    assert exchange.refusal is not None
    assert exchange.refusal_delivered_ns is not None
    assert not exchange.half_refused
    story.deliver(sent, "to_server", raw)
    exchange = only(wire(story))
    assert (exchange.refusal, exchange.half_refused) == (None, True)


def test_a_message_whose_bytes_are_gone_is_named() -> None:
    story = Story(CASE)
    story.begin("a")
    story.call("read_status", says=STATUS + "x" * 5000)
    sealed = story.finish().seal()
    sealed.blobs.clear()
    assert len(read_wire(sealed.arm(CASE).evidence).unreadable) == 1


def test_a_record_of_an_act_explains_no_other_request_than_was_sent() -> None:
    story = frames((">", request(1)), ("<", reply(1)))
    sent = story.all("mcp.sent")[0]
    body = {"server": "desk", "connection": 0, "policy": "p", "did": "labelled", "of": sent}
    story.note("tap:desk", "mcp.policy", {**body, "original": digest_of(b"x")}, delivered=b"other")
    story.deliver(sent, "to_server", b"other")
    assert len(wire(story).unexpected_changes) == 1
