"""Selection and occurrence."""

from __future__ import annotations

from oyer.protocol import Correlator, Occurrence, OccurrenceCounter, Request, Selector, dumps


def call(wire: Correlator, number: int, ref: str, name: str = "read", **arguments: object) -> Request:
    params = {"name": name, "arguments": arguments}
    raw = dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    (seen,) = wire.sent(raw, ref)
    assert isinstance(seen, Request)
    return seen


def test_only_matching_requests_count() -> None:
    wire = Correlator()
    counter = OccurrenceCounter(Selector("ops", "a", tool="read", arguments={"box": "in"}, occurrence=2))
    assert counter.take(call(wire, 1, "1", box="in"), "ops", "a") == Occurrence(1, False)
    assert counter.take(call(wire, 2, "2", box="out"), "ops", "a") is None
    assert counter.take(call(wire, 3, "3", "write", box="in"), "ops", "a") is None
    assert counter.take(call(wire, 4, "4", box="in"), "ops", "b") is None
    assert counter.take(call(wire, 5, "5", box="in"), "other", "a") is None
    assert counter.take(call(wire, 6, "6", box="in", page=2), "ops", "a") == Occurrence(2, True)
    assert counter.take(call(wire, 7, "7", box="in"), "ops", "a") == Occurrence(3, False)


def test_another_transmission_is_the_same_occurrence() -> None:
    wire = Correlator()
    counter = OccurrenceCounter(Selector("ops", tool="read"))
    assert counter.take(call(wire, 1, "1"), "ops", "a") == Occurrence(1, True)
    assert counter.take(call(wire, 1, "2"), "ops", "a") == Occurrence(1, True)
    assert counter.take(call(wire, 2, "3"), "ops", "a") == Occurrence(2, False)


def test_every_is_one_declared_change() -> None:
    wire = Correlator()
    counter = OccurrenceCounter(Selector("ops", occurrence="every"))
    assert [counter.take(call(wire, n, str(n)), "ops", "a") for n in (1, 2)] == [
        Occurrence(1, True),
        Occurrence(2, True),
    ]


def test_other_methods_name_their_target_and_parameters() -> None:
    wire = Correlator()
    (seen,) = wire.sent(dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "a:b"}}), "1")
    assert isinstance(seen, Request)
    assert Selector("ops", method="resources/read", tool="a:b").matches(seen, "ops", "a")
    assert Selector("ops", method="resources/read", arguments={"uri": "a:b"}).matches(seen, "ops", "a")
    assert not Selector("ops", tool="a:b").matches(seen, "ops", "a")
