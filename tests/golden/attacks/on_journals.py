"""Attacks on what the observers wrote: one journal of each family, inside a packed trial whose digest is mended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from golden_tamper import Lines, events_of

from attacks.ground import ARM, Ground, MemoryForger
from attacks.kinds import JOURNALS, Attack
from attacks.rows import DEEP, Change, bit, row
from oyer.evidence import attempt_dir, digest_of, encode_blob

__all__ = ["ROWS", "raw_pack", "relabel"]

MAIN = {
    "journal: harness": "turn.received",
    "journal: tap": "mcp.received",
    "journal: sink": "sink.effect",
    "journal: world": "world.written",
    "journal: gateway": "model.response",
}
"""The kind of event that matters most in each."""
WRITERS = {kind: name.removesuffix(".jsonl").replace(".", ":", 1) for kind, name in JOURNALS.items()}


def raw_pack(members: list[tuple[str, bytes]], *, time: int = 0) -> bytes:
    """Pack journals in any order under any names, each archive by the book."""
    import io
    import tarfile

    out = io.BytesIO()
    for name, data in members:
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = len(data), 0o600, time
        out.write(member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict") + data + bytes(-len(data) % 512))
    return encode_blob(out.getvalue() + bytes(1024))


def _text(text: str) -> dict[str, Any]:
    return {"sha256": digest_of(text.encode()), "size": len(text.encode()), "text": text}


def _bytes(name: str, change: Callable[[bytes], bytes | None]) -> Change:
    """Change the bytes of a journal and leave its chain as it is; pack and ledger are mended."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        journals = forger.journals(trial)
        new = change(journals.pop(name))
        if new is not None:
            journals[name] = new
        forger.repack(trial, journals)

    return applied


def _events(name: str, edit: Callable[[Lines], object], *, derived: bool = False) -> Change:
    """Change the events of a journal and chain everything anew; with `derived` the results follow too."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        forger.edit_events(forger.trial(ARM), name, edit)
        if derived:
            forger.derive()

    return applied


def _cut(data: bytes) -> bytes:
    return b"".join(line + b"\n" for line in data.split(b"\n")[:-3])


def _without_writer(kind: str) -> Change:
    """Take a journal out, and out of the list of writers."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        journals = forger.journals(trial)
        del journals[JOURNALS[kind]]
        forger.repack(trial, journals)
        if kind != "journal: harness":
            forger.edit_events(
                trial, "harness.jsonl", lambda events: _closed(events)["body"]["writers"].pop(WRITERS[kind])
            )

    return applied


def _closed(events: Lines) -> dict[str, Any]:
    return next(event for event in events if event["kind"] == "trial.closed")


def _twice(kind: str) -> Callable[[Lines], object]:
    def edit(events: Lines) -> None:
        at = next(n for n, event in enumerate(events) if event["kind"] == MAIN[kind])
        events.insert(at, dict(events[at]))

    return edit


def _added(kind: str) -> Callable[[Lines], object]:
    """Put an event in that nobody recorded: the last of its kind once more, with something else in it."""

    def edit(events: Lines) -> None:
        at = max(n for n, event in enumerate(events) if event["kind"] == MAIN[kind])
        more = {**events[at], "body": dict(events[at]["body"])}
        _say_otherwise(more)
        events.insert(at + 1, more)

    return edit


def _say_otherwise(event: dict[str, Any]) -> None:
    event["blobs"] = []
    body = event["body"]
    body["payload"] = _text('{"action": "nothing"}')
    if "content" in body:
        body["content"] = body["payload"]
    if "after" in body:
        body.update(after=body["payload"]["sha256"], size=body["payload"]["size"])


def _edited(kind: str) -> Callable[[Lines], object]:
    return lambda events: _say_otherwise(next(event for event in events if event["kind"] == MAIN[kind]))


def _exchanged(events: Lines) -> None:
    events[1], events[2] = events[2], events[1]


def _earlier(events: Lines) -> None:
    events[2]["t_mono_ns"] = events[0]["t_mono_ns"] - 1


def _years_earlier(events: Lines) -> None:
    for event in events:
        event["t_wall"] = "2020" + event["t_wall"][4:]


def _unknown_kind(kind: str) -> Callable[[Lines], object]:
    def edit(events: Lines) -> None:
        next(event for event in events if event["kind"] == MAIN[kind])["kind"] = f"{MAIN[kind]}.v0"

    return edit


def _foreign(name: str, *, relabelled: bool = False) -> Change:
    """The journal of the same writer and the same trial, from another series; its lines may be relabelled."""

    def applied(ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        theirs = MemoryForger(ground.all.foreign).journals(trial)[name]
        journals = forger.journals(trial)
        mine = events_of(journals[name])
        journals[name] = theirs
        forger.repack(trial, journals)
        if relabelled:
            forger.edit_events(trial, name, lambda events: relabel(events, mine[0]))
        elif name != "harness.jsonl":
            forger.state_head(trial, name)

    return applied


def relabel(events: Lines, like: dict[str, Any]) -> None:
    for event in events:
        event.update({key: like[key] for key in ("series", "trial", "run", "condition", "attempt", "boot")})


def _between_arms(name: str, *, relabelled: bool = False) -> Change:
    """The journals of two arms change places; their lines may be relabelled too."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        one, two = forger.trial("baseline"), forger.trial(ARM)
        mine, yours = forger.journals(one), forger.journals(two)
        likes = {one: events_of(mine[name])[0], two: events_of(yours[name])[0]}
        mine[name], yours[name] = yours[name], mine[name]
        forger.repack(one, mine)
        forger.repack(two, yours)
        for trial, like in likes.items():
            if relabelled:
                forger.edit_events(trial, name, lambda events, like=like: relabel(events, like))
            elif name != "harness.jsonl":
                forger.state_head(trial, name)

    return applied


def _key_twice(kind: str) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        forger.edit_events(
            forger.trial(ARM),
            JOURNALS[kind],
            spoil=lambda event, line: line[:-1] + b',"writer":"x"}' if event["kind"] == MAIN[kind] else line,
        )

    return applied


def _named(name: str, new: str) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        journals = forger.journals(trial)
        journals[new] = journals.pop(name)
        forger.put_packed(trial, raw_pack(sorted(journals.items())))

    return applied


def _deep(kind: str) -> Callable[[Lines], object]:
    """A message nested without end, under a good chain: the scorer must answer all the same."""

    def edit(events: Lines) -> None:
        event = next(event for event in events if event["kind"] == MAIN[kind])
        event["blobs"] = []
        event["body"]["payload"] = _text(DEEP[:4000].decode())
        if "content" in event["body"]:
            event["body"]["content"] = event["body"]["payload"]

    return edit


def _contrary(kind: str) -> Callable[[Lines], object]:
    """What must not have happened is taken out, wherever this writer tells it."""
    if kind == "journal: sink":
        return _no_effect
    if kind == "journal: harness":
        return lambda events: _say_otherwise(
            next(event for event in reversed(events) if event["kind"] == "turn.received")
        )
    if kind == "journal: world":
        return lambda events: events.remove(next(event for event in events if event["kind"] == "world.written"))
    if kind == "journal: gateway":
        return lambda events: events.remove(
            next(event for event in reversed(events) if event["kind"] == "model.request")
        )
    return _last_call_out


def _no_effect(events: Lines) -> None:
    events[:] = [event for event in events if event["kind"] != "sink.effect"]
    next(event for event in events if event["kind"] == "sink.closed")["body"]["effects"] = 0


def _last_call_out(events: Lines) -> None:
    at = max(n for n, event in enumerate(events) if event["kind"] == "mcp.sent")
    del events[at : at + 4]


def _stripped(events: Lines) -> None:
    next(event for event in events if event["kind"] == "mcp.intervened")["body"].pop("original")


def _originals_out(events: Lines) -> None:
    """The honest answers that were changed are taken out; what the subject got stays."""
    changed = next(event for event in events if event["kind"] == "mcp.intervened")
    seq = int(changed["body"]["of"].rpartition(":")[2])
    del events[seq]


def _sealed_early(events: Lines) -> None:
    events.insert(len(events) // 2, dict(events[-1]))


def _ends_early(events: Lines) -> None:
    """The journal is sealed before the session ends; what came later is gone, and heads and chains agree."""
    del events[len(events) // 2 : -1]


def _cause_later(events: Lines) -> None:
    delivered = next(event for event in events if event["kind"] == "mcp.delivered")
    delivered["because"] = [f"tap:desk:{len(events) - 1}"]


def _status(events: Lines) -> None:
    _closed(events)["body"]["status"] = "harness_error"


def _writer_added(*, listed: bool) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        journals = forger.journals(trial)
        journals["tap.other.jsonl"] = journals["tap.desk.jsonl"]
        forger.repack(trial, journals)
        if listed:
            forger.edit_events(trial, "tap.other.jsonl", _as_other)

    return applied


def _as_other(events: Lines) -> None:
    for event in events:
        event["writer"] = "tap:other"
        event["because"] = [ref.replace("tap:desk:", "tap:other:") for ref in event["because"]]


def _unpacked(_ground: Ground, forger: MemoryForger) -> None:
    """Other journals beside the packed ones, as a crash would leave them, with one more line."""
    trial = forger.trial(ARM)
    forger.files[f"{attempt_dir(trial, 1)}/world.jsonl"] = forger.journals(trial)["world.jsonl"] + b"{}\n"


def _of(kind: str, name: str) -> tuple[Attack, ...]:
    """Return the rows that every family of writers has."""
    who = kind.removeprefix("journal: ")
    return (
        row(f"a bit in the journal of {who}", "flip", kind, 5, _bytes(name, lambda data: bit(data, len(data) // 2))),
        row(f"the end of the journal of {who} cut off", "cut", kind, 5, _bytes(name, _cut)),
        row(f"the journal of {who} torn in a line", "cut", kind, 5, _bytes(name, lambda data: data[:-7])),
        row(f"the journal of {who} taken out", "remove", kind, 5, _bytes(name, lambda _: None)),
        row(f"an event put into the journal of {who}", "add", kind, 8, _events(name, _added(kind))),
        row(f"the journal of {who} replaced by {{}}", "empty", kind, 5, _bytes(name, lambda _: b"{}\n")),
        row(f"two events of {who} in another order", "reorder", kind, 5, _events(name, _exchanged)),
        row(f"an event of {who} twice", "duplicate", kind, 8, _events(name, _twice(kind))),
        row(f"an event of {who} dated earlier than the one before", "backdate", kind, 5, _events(name, _earlier)),
        row(f"the clock times of {who} years earlier, results kept", "backdate", kind, 8,
            _events(name, _years_earlier)),
        row(f"the journal of {who} of another series", "foreign", kind, 5, _foreign(name)),
        row(f"the journals of {who} of two arms swapped", "swap", kind, 5, _between_arms(name)),
        row(f"an event of {who} of an unknown version", "downgrade", kind, 5, _events(name, _unknown_kind(kind))),
        row(f"a line of {who} edited, chained anew", "edit", kind, 8, _events(name, _edited(kind))),
        row(f"a key twice in a line of {who}", "form", kind, 5, _key_twice(kind)),
        row(f"the journal of {who} under a path outside", "name", kind, 5, _named(name, f"../{name}")),
        row(f"the journal of {who} in other letters", "name", kind, 5, _named(name, name.upper())),
        row(f"a message of {who} nested without end", "size", kind, 8, _events(name, _deep(kind))),
        row(f"a line of {who} nested without end", "size", kind, 5, _bytes(name, lambda data: DEEP + b"\n" + data)),
        row(f"what {who} told against it removed, all derived anew", "recreate", kind, "not caught",
            _events(name, _contrary(kind), derived=True)),
        row(f"the clock times of {who} years earlier, all derived anew", "recreate", kind, "not caught",
            _events(name, _years_earlier, derived=True)),
    )  # fmt: skip


H, T, S, W, G = JOURNALS
ROWS: tuple[Attack, ...] = (
    *(attack for kind, name in JOURNALS.items() for attack in _of(kind, name)),
    *(
        row(f"the writer {WRITERS[kind]} removed and from the list of writers too", "remove", kind, 8,
            _without_writer(kind))
        for kind in (T, S, W, G)
    ),
    row("an older vocabulary", "downgrade", H, 5,
        _events("harness.jsonl", lambda events: events[0]["body"].update(vocabulary=0))),
    row("another case in trial.opened", "edit", H, 5,
        _events("harness.jsonl", lambda events: events[0]["body"].update(case=digest_of(b"x")))),
    row("another status in trial.closed", "edit", H, 5, _events("harness.jsonl", _status)),
    row("a number beyond what is exact", "size", H, 5, _events("harness.jsonl", lambda events: next(
        e for e in events if e["kind"] == "turn.received")["body"].update(calls=2**53 + 1))),
    row("a payload that is not what its digest says", "edit", T, 5, _events("tap.desk.jsonl", lambda events: next(
        e for e in events if e["kind"] == "mcp.sent")["body"]["payload"].update(text="{}"))),
    row("originals stripped from what the tap changed", "remove", T, 5, _events("tap.desk.jsonl", _stripped)),
    row("original answers stripped, what was delivered kept", "remove", T, 5,
        _events("tap.desk.jsonl", _originals_out)),
    row("an event because of a later one", "reorder", T, 5, _events("tap.desk.jsonl", _cause_later)),
    row("sealed early, and written on", "add", T, 5, _events("tap.desk.jsonl", _sealed_early)),
    row("sealed early, and the rest dropped", "cut", S, 8, _events("sink.actions.jsonl", _ends_early)),
    row("a writer added that nobody listed", "add", T, 5, _writer_added(listed=False)),
    row("a writer added and listed", "add", T, 8, _writer_added(listed=True)),
    row("sink journal replaced by another run's, relabelled", "foreign", S, 8,
        _foreign("sink.actions.jsonl", relabelled=True)),
    row("sink journals of two arms swapped, relabelled", "swap", S, 8,
        _between_arms("sink.actions.jsonl", relabelled=True)),
    row("a journal left beside its packed trial", "add", W, 5, _unpacked),
)  # fmt: skip
