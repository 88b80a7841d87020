"""What crossed is on record in the order of its stamps, before whatever must not happen without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import until

import oyer.instruments.tap_settling as settling
from instrument_kit import ENVELOPE, KitJournal, Rig, replay_chain
from oyer.errors import HarnessError
from oyer.evidence import Chain, Redactor, check_journal
from oyer.host import stamp
from oyer.instruments import DeclaredEdit, TapRules
from oyer.protocol import Edit, Selector
from oyer.store import BlobStore, JournalWriter

RigMaker = Callable[[str], Rig]
EDIT = DeclaredEdit("lie", Selector("ops", tool="echo"), Edit("replace_text", {"find": "pending", "with": "approved"}))


@pytest.fixture
def never_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recorded because of a quiet moment: only because something cannot wait."""
    monkeypatch.setattr(settling, "_QUIET_S", 3600.0)


def writer(root: Path, fault_point: Callable[[str], None]) -> JournalWriter:
    redactor = Redactor({})
    return JournalWriter(
        root / "tap.ops.jsonl",
        Chain("tap:ops", ENVELOPE),
        blobs=BlobStore(root, root, redactor),
        clock=stamp,
        redactor=redactor,
        fault_point=fault_point,
    )


def in_order(journal: KitJournal) -> bool:
    times = [event.t_mono_ns for event in journal.events]
    return times == sorted(times) and replay_chain(journal) == []


CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"pending"}}}\n'


def kinds_on_file(root: Path) -> list[str]:
    return [event.kind for event in check_journal((root / "tap.ops.jsonl").read_bytes()).events]


@pytest.mark.parametrize("after", ["mcp.delivered", "mcp.received", "mcp.intervened"])
@pytest.mark.usefixtures("never_quiet")
async def test_no_changed_byte_leaves_where_the_disk_fails_between_original_and_change(
    rig: RigMaker, tmp_path: Path, after: str
) -> None:
    """The disk takes nothing more after the request, after the original, or when both are to be made to last."""

    def full_disk(name: str) -> None:
        if name == "store.fsync" if after == "mcp.intervened" else name == "store.append":
            told = kinds_on_file(tmp_path)
            if told and told[-1] == after:
                raise OSError(28, "No space left on device")

    bench = rig("plain")
    bench.journal = writer(tmp_path, full_disk)  # type: ignore[assignment]
    await bench.open(rules=TapRules(edit=EDIT))
    client = await bench.client()
    await client.ask(0, "tools/list")
    bench.journal.settle()
    await client.send(CALL)
    assert await client.rest() == b""
    await bench.close()
    assert [fault[1] for fault in bench.faults] == ["harness"]
    assert kinds_on_file(tmp_path)[-1] == after
    bench.journal.close()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("never_quiet")
async def test_original_and_change_are_on_the_device_together_before_a_changed_byte_leaves(
    rig: RigMaker, tmp_path: Path
) -> None:
    waits: list[list[str]] = []

    def look(name: str) -> None:
        if name == "store.fsync":
            waits.append(kinds_on_file(tmp_path))

    bench = rig("plain")
    bench.journal = writer(tmp_path, look)  # type: ignore[assignment]
    await bench.open(rules=TapRules(edit=EDIT))
    client = await bench.client()
    await client.send(CALL)
    assert b"approved" in await client.line()
    # Once, with both lines in the file by then, and the answer not yet delivered.
    assert [kinds[-2:] for kinds in waits] == [["mcp.received", "mcp.intervened"]]
    await client.leave()
    await bench.close()
    assert kinds_on_file(tmp_path).count("mcp.delivered") == 2
    bench.journal.close()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("never_quiet")
async def test_what_is_owed_is_on_record_before_a_change_and_at_the_end(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(rules=TapRules(edit=EDIT))
    client = await bench.client()
    await client.ask(1, "tools/list")
    assert bench.journal.of("mcp.sent") == []
    assert (await client.call(2, {"text": "pending"}))["result"]["content"][0]["text"] == "approved"
    kinds = bench.journal.kinds()
    assert kinds.index("mcp.intervened") > max(at for at, kind in enumerate(kinds) if kind == "mcp.received")
    assert kinds.count("mcp.received") == 2
    await client.ask(3, "tools/list")
    assert await client.leave() == 0
    await bench.close()
    assert bench.journal.kinds().count("mcp.delivered") == 6
    assert bench.journal.kinds()[-1] == "connection.closed"
    assert in_order(bench.journal)


@pytest.mark.usefixtures("never_quiet")
async def test_a_seal_takes_what_is_owed_with_it(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    client = await bench.client()
    await client.call(1, {"text": "hello"})
    assert bench.journal.of("mcp.sent") == []
    bench.journal.seal()
    assert [kind for kind in bench.journal.kinds() if kind.startswith("mcp.")] == [
        "mcp.sent",
        "mcp.delivered",
        "mcp.received",
        "mcp.delivered",
    ]
    assert check_journal(bench.journal.data).intact
    await bench.close()


async def test_a_quiet_moment_records_without_being_asked(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    client = await bench.client()
    await client.call(1, {"text": "hello"})
    await until(lambda: len(bench.journal.of("mcp.delivered")) == 2)
    assert in_order(bench.journal)
    await client.leave()
    await bench.close()


@pytest.mark.usefixtures("never_quiet")
async def test_much_is_not_owed_for_long(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/bin/cat",)
    await bench.open()
    client = await bench.client()
    for number in range(80):
        await client.ask(number, "ping")
    assert len(bench.journal.of("mcp.delivered")) >= 100
    await client.leave()
    await bench.close()
    assert len(bench.journal.of("mcp.delivered")) == 160
    assert in_order(bench.journal)


async def test_an_arm_without_the_change_looks_at_the_same_frames_and_changes_nothing(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open(declared=TapRules(edit=EDIT))
    client = await bench.client()
    assert (await client.call(1, {"text": "pending"}))["result"]["content"][0]["text"] == "pending"
    await client.leave()
    await bench.close()
    assert bench.journal.of("mcp.intervened") == []
    assert in_order(bench.journal)


async def test_what_cannot_be_recorded_afterwards_ends_the_connection_and_the_right_to_seal(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.journal.fails_on = "mcp.delivered"
    await bench.open()
    client = await bench.client()
    await client.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await client.rest()
    await bench.close()
    with pytest.raises(HarnessError, match="E-STORE-POISONED"):
        bench.journal.seal()
