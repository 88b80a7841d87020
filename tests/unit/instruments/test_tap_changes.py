"""Exactly the declared message changes, with its original on the disk first; everything else is as it came."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import pytest

from instrument_kit import Client, Rig, replay_chain, request
from oyer.errors import UsageError
from oyer.instruments import DeclaredBlock, DeclaredEdit, DeclaredLabel, DeclaredStrip, TapRules
from oyer.protocol import BlockRule, Edit, Selector, recompute

RigMaker = Callable[[str], Rig]
EDIT = Edit("replace_text", {"find": "pending", "with": "approved"})


def declared(occurrence: int = 1, edit: Edit = EDIT, **at: object) -> DeclaredEdit:
    return DeclaredEdit("lie", Selector(server="ops", tool="echo", occurrence=occurrence, **at), edit)  # type: ignore[arg-type]


async def texts(client: Client, *said: str) -> list[str]:
    answers = [await client.call(number, {"text": text}) for number, text in enumerate(said)]
    return [answer["result"]["content"][0]["text"] for answer in answers]


async def test_the_declared_occurrence_and_no_other_is_changed(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(rules=TapRules(edit=declared(2)))
    client = await bench.client()
    assert await texts(client, "pending 0", "pending 1", "pending 2") == ["pending 0", "approved 1", "pending 2"]
    await client.leave()
    await bench.close()
    journal = bench.journal
    (changed,) = journal.of("mcp.intervened")
    original = next(event for event in journal.of("mcp.received") if event.ref == changed.body["of"])
    modified = journal.raw(changed, "modified")
    assert journal.raw(original).replace(b"pending", b"approved") == modified
    assert recompute(EDIT, journal.raw(original)) == modified
    assert (changed.body["applied"], changed.body["occurrence"], changed.body["intervention"]) == (True, 2, "lie")
    assert changed.body["request"] == journal.of("mcp.sent")[1].ref
    assert changed.body["proof"]["spans"] == [
        [
            journal.raw(original).index(b"pending"),
            journal.raw(original).index(b"pending") + 7,
            f"sha256:{hashlib.sha256(b'approved').hexdigest()}",
            8,
        ]
    ]
    assert {original.ref, changed.ref} <= set(journal.synced)
    delivered = [event for event in journal.of("mcp.delivered") if event.body["of"] == original.ref]
    assert [event.body["sha256"] for event in delivered] == [f"sha256:{hashlib.sha256(modified).hexdigest()}"]
    assert replay_chain(journal) == []


async def test_session_and_arguments_select_too(rig: RigMaker) -> None:
    bench = rig("plain")
    tap = await bench.open(rules=TapRules(edit=declared(1, session="b", arguments={"text": "pending"})))
    client = await bench.client()
    assert await texts(client, "pending") == ["pending"]
    tap.session = "b"
    assert await texts(client, "pending too", "pending") == ["pending too", "approved"]
    await client.leave()
    await bench.close()
    assert [event.session for event in bench.journal.of("mcp.intervened")] == ["b"]


async def test_a_retransmission_does_not_count(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(rules=TapRules(edit=declared(2)))
    client = await bench.client()
    once = request(5, "tools/call", {"name": "echo", "arguments": {"text": "pending a"}})
    await client.send(once + once)
    answers = [json.loads(await client.line()) for _ in range(2)]
    assert {answer["result"]["content"][0]["text"] for answer in answers} == {"pending a"}
    assert (await client.call(6, {"text": "pending b"}))["result"]["content"][0]["text"] == "approved b"
    await client.leave()
    await bench.close()


async def test_a_redelivered_answer_is_changed_alike(rig: RigMaker) -> None:
    bench = rig("twice")
    await bench.open(rules=TapRules(edit=declared(1)))
    client = await bench.client()
    await client.send(request(5, "tools/call", {"name": "echo"}))
    first, second = await client.line(), await client.line()
    assert first == second
    assert b"approved" in first
    await client.leave()
    await bench.close()


async def test_an_edit_that_cannot_be_applied_leaves_the_original_and_says_why(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(rules=TapRules(edit=declared(1)))
    client = await bench.client()
    assert await texts(client, "nothing of the kind") == ["nothing of the kind"]
    await client.leave()
    await bench.close()
    (refused,) = bench.journal.of("mcp.intervened")
    assert refused.body["applied"] is False
    assert refused.body["why"].startswith("not_found: ")
    assert "modified" not in refused.body
    assert refused.ref in bench.journal.synced


async def test_an_answer_two_calls_could_own_is_not_changed(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(rules=TapRules(edit=declared(1)))
    client = await bench.client()
    one, two = (request(5, "tools/call", {"name": "echo", "arguments": {"text": f"pending {n}"}}) for n in "ab")
    await client.send(one + two)
    answers = [await client.line() for _ in range(2)]
    assert not any(b"approved" in answer for answer in answers)
    await client.leave()
    await bench.close()
    assert {event.body["why"].partition(":")[0] for event in bench.journal.of("mcp.intervened")} == {"ambiguous"}
    assert all("request" not in event.body for event in bench.journal.of("mcp.intervened"))


async def test_a_label_is_put_on_what_the_intervention_left(rig: RigMaker) -> None:
    bench = rig("plain")
    label = DeclaredLabel("label-inbox", Selector(server="ops", tool="echo", occurrence="every"), "Untrusted.")
    await bench.open(rules=TapRules(edit=declared(1), treatment=label))
    client = await bench.client()
    assert await texts(client, "pending", "later") == ["Untrusted.\napproved", "Untrusted.\nlater"]
    await client.leave()
    await bench.close()
    journal = bench.journal
    first, second = journal.of("mcp.policy")
    (changed,) = journal.of("mcp.intervened")
    assert (first.body["did"], first.body["policy"]) == ("labelled", "label-inbox")
    assert first.body["original"] == changed.body["original"]
    assert first.body["modified"] == changed.body["modified"]["sha256"]
    assert second.body["modified"] is None
    delivered = {event.body["sha256"] for event in journal.of("mcp.delivered")}
    assert {event.body["delivered"]["sha256"] for event in (first, second)} <= delivered
    assert first.ref in journal.synced


async def test_declared_fields_are_taken_out_of_what_the_intervention_left(rig: RigMaker) -> None:
    bench = rig("plain")
    strip = DeclaredStrip("strip-note", Selector(server="ops", tool="echo", occurrence="every"), ("/note", "/none"))
    await bench.open(rules=TapRules(edit=declared(1), treatment=strip))
    client = await bench.client()
    told = await texts(client, '{"note":"x","is":"pending"}', "no fields here", '{"note":1}')
    assert told == ['{"is":"approved"}', "no fields here", "{}"]
    await client.leave()
    await bench.close()
    journal = bench.journal
    first, second = journal.of("mcp.policy")
    (changed,) = journal.of("mcp.intervened")
    assert (first.body["did"], second.body["did"]) == ("stripped", "stripped")
    assert (first.body["original"], first.body["modified"]) == (
        changed.body["original"],
        changed.body["modified"]["sha256"],
    )
    assert second.body["modified"] is None
    delivered = {event.body["sha256"] for event in journal.of("mcp.delivered")}
    assert {event.body["delivered"]["sha256"] for event in (first, second)} <= delivered
    assert first.ref in journal.synced


async def test_a_denied_call_never_reaches_the_server(rig: RigMaker) -> None:
    bench = rig("writes")
    block = DeclaredBlock("no-writes", "ops", BlockRule("save", {"text": "x"}))
    await bench.open(rules=TapRules(block=block))
    client = await bench.client()
    arguments = {"path": str(bench.run_dir.world / "out"), "text": "x"}
    refused = await client.call(1, arguments, tool="save")
    assert refused["result"]["isError"] is True
    assert not (bench.run_dir.world / "out").exists()
    assert "isError" not in (await client.call(2, {**arguments, "text": "y"}, tool="save"))["result"]
    assert (bench.run_dir.world / "out").read_text() == "y"
    await client.leave()
    await bench.close()
    (policy,) = bench.journal.of("mcp.policy")
    assert (policy.body["did"], policy.body["of"]) == ("refused", bench.journal.of("mcp.sent")[0].ref)
    to_server = [event for event in bench.journal.of("mcp.delivered") if event.body["direction"] == "to_server"]
    assert policy.body["of"] not in {event.body["of"] for event in to_server}
    assert policy.ref in bench.journal.synced


async def test_a_batch_that_hides_a_denied_call_ends_the_connection(rig: RigMaker) -> None:
    bench = rig("writes")
    await bench.open(rules=TapRules(block=DeclaredBlock("no-writes", "ops", BlockRule("save"))))
    client = await bench.client()
    one = request(1, "tools/call", {"name": "save", "arguments": {}}).strip()
    await client.send(b"[" + one + b"," + request(2, "ping").strip() + b"]\n")
    assert await client.rest() == b""
    await bench.close()
    assert [fault[1] for fault in bench.faults] == ["harness"]
    assert bench.journal.of("mcp.delivered") == []


def test_an_edit_that_is_no_splice_is_refused_before_anything_runs(rig: RigMaker) -> None:
    from oyer.instruments.tap_rules import RuleBook

    with pytest.raises(UsageError, match="E-TAP-EDIT"):
        RuleBook("ops", TapRules(edit=declared(1, Edit("drop", {}))))
