"""Correlation: the right pair, or none."""

from __future__ import annotations

from oyer.protocol import Answer, Cancel, Correlator, NoiseLine, Notification, Request


def call(id_: str, name: str = "run") -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s"}}\n' % (id_.encode(), name.encode())


def reply(id_: str, text: str = "x") -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":{"t":"%s"}}\n' % (id_.encode(), text.encode())


def request(wire: Correlator, raw: bytes, ref: str) -> Request:
    (seen,) = wire.sent(raw, ref)
    assert isinstance(seen, Request)
    return seen


def answer(wire: Correlator, raw: bytes, ref: str) -> Answer:
    (seen,) = wire.received(raw, ref)
    assert isinstance(seen, Answer)
    return seen


def test_answers_out_of_order_find_their_calls() -> None:
    wire = Correlator()
    assert request(wire, call("1"), "a").tool == "run"
    request(wire, call('"1"'), "b")
    assert answer(wire, reply('"1"'), "c").to == "b"
    assert wire.pending("to_server") == ("a",)
    assert answer(wire, reply("1"), "d").to == "a"
    assert wire.pending("to_server") == ()


def test_a_fraction_that_equals_the_id_answers_it() -> None:
    wire = Correlator()
    request(wire, call("1"), "a")
    assert answer(wire, reply("1.0"), "b").to == "a"


def test_the_two_directions_have_their_own_ids() -> None:
    wire = Correlator()
    request(wire, call("1"), "a")
    (asked,) = wire.received(b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}\n', "b")
    assert isinstance(asked, Request)
    assert asked.direction == "to_subject"
    (refused,) = wire.sent(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}\n', "c")
    assert isinstance(refused, Answer)
    assert (refused.to, refused.is_error) == ("b", True)
    assert answer(wire, reply("1"), "d").to == "a"


def test_an_id_may_be_used_again_once_answered() -> None:
    wire = Correlator()
    request(wire, call("5"), "a")
    assert answer(wire, reply("5"), "b").to == "a"
    again = request(wire, call("5"), "c")
    assert (again.reuses, again.transmission_of) == ((), None)
    assert answer(wire, reply("5", "y"), "d")[4:8] == ("c", ("c",), None, None)


def test_a_reused_pending_id_is_marked_and_never_paired() -> None:
    wire = Correlator()
    request(wire, call("5", "one"), "a")
    assert request(wire, call("5", "two"), "b").reuses == ("a",)
    first = answer(wire, reply("5"), "c")
    assert (first.to, first.candidates, first.ambiguous) == (None, ("a", "b"), True)
    second = answer(wire, reply("5", "y"), "d")
    assert (second.to, second.ambiguous, second.contradicts) == (None, True, None)
    assert wire.pending("to_server") == ()


def test_the_same_bytes_again_are_one_call() -> None:
    wire = Correlator()
    request(wire, call("5"), "a")
    again = request(wire, call("5"), "b")
    assert (again.transmission_of, again.reuses) == ("a", ())
    assert answer(wire, reply("5"), "c").to == "a"


def test_a_second_answer_repeats_or_contradicts() -> None:
    wire = Correlator()
    request(wire, call("5"), "a")
    answer(wire, reply("5"), "b")
    assert answer(wire, reply("5"), "c")[4:8] == ("a", ("a",), "b", None)
    assert answer(wire, reply("5", "other"), "d").contradicts is not None


def test_an_answer_to_nothing_has_no_owner() -> None:
    wire = Correlator()
    assert answer(wire, reply("9"), "a").orphan
    assert answer(wire, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}', "b").orphan


def test_cancellation_before_and_after_the_answer() -> None:
    wire = Correlator()
    request(wire, call("5"), "a")
    cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}\n'
    (early,) = wire.sent(cancel, "b")
    assert isinstance(early, Cancel)
    assert (early.of, early.late) == ("a", False)
    assert wire.pending("to_server") == ()
    assert answer(wire, reply("5"), "c").cancelled
    (late,) = wire.sent(cancel, "d")
    assert isinstance(late, Cancel)
    assert (late.of, late.late) == ("a", True)
    (nothing,) = wire.received(cancel, "e")  # the other direction: names no call of that side
    assert isinstance(nothing, Cancel)
    assert nothing.of is None


def test_a_batch_gives_one_value_per_part() -> None:
    wire = Correlator()
    seen = wire.sent(b"[" + call("1", "one").strip() + b"," + call("1", "two").strip() + b',3,{"method":"n"}]\n', "a")
    assert [type(item) for item in seen] == [Request, Request, NoiseLine, Notification]
    assert [item.part for item in seen] == [0, 1, 2, 3]
    assert isinstance(seen[1], Request)
    assert seen[1].reuses == ("a",)


def test_noise_changes_nothing() -> None:
    wire = Correlator()
    request(wire, call("1"), "a")
    (noise,) = wire.received(b"banner\n", "b")
    assert isinstance(noise, NoiseLine)
    assert answer(wire, reply("1"), "c").to == "a"
