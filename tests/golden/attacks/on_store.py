"""Attacks on how evidence is kept: ledger, seals, packed trials, blobs; and on what was derived from it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from golden_tamper import Lines, events_of

from attacks.ground import ARM, Ground, MemoryForger
from attacks.kinds import Attack
from attacks.on_journals import raw_pack
from attacks.rows import DEEP, Change, Edit, bit, emptied, half, linked, on, record, row, twice, written
from oyer.evidence import (
    blob_path,
    decode_blob,
    digest_of,
    encode_blob,
    encode_canonical,
    encode_seal,
    make_seal,
    pack,
    packed_path,
    parse_seal,
)

__all__ = ["ROWS", "results"]

L, Z, T, B, R, C = "ledger", "seals", "packed trial", "blobs", "outcomes", "comparisons"
BOMB = b"\x28\xb5\x2f\xfd\xe4" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
"""A frame that says it unfolds to a terabyte."""
OUTCOME, COMPARISON, BLOB = f"outcomes/*{ARM}.json", "comparisons/*", "blobs/*"


def _gone(pattern: str) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        del forger.files[forger.find(pattern)]

    return applied


def _updated(**more: Any) -> Edit:
    return lambda value: value.update(more)


def _swapped(pattern: str) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        one, two = forger.find(pattern), forger.find(pattern, 1)
        forger.files[one], forger.files[two] = forger.files[two], forger.files[one]

    return applied


def _foreign(pattern: str, other: str = "foreign") -> Change:
    def applied(ground: Ground, forger: MemoryForger) -> None:
        path = forger.find(pattern)
        forger.files[path] = MemoryForger(getattr(ground.all, other)).files[path]

    return applied


def _copied(pattern: str, rename: Callable[[str], str], change: Callable[[bytes], bytes] = bytes) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        path = forger.find(pattern)
        forger.files[rename(path)] = change(forger.files[path])

    return applied


def _moved(pattern: str, rename: Callable[[str], str]) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        path = forger.find(pattern)
        forger.files[rename(path)] = forger.files.pop(path)

    return applied


# ---------------------------------------------------------------- the ledger


def _ledger(edit: Callable[[Lines, str], object]) -> Change:
    """Edit the records and chain them anew; the trial of the attacked arm is given."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        forger.edit_ledger(lambda records: edit(records, trial))

    return applied


def _excluded(records: Lines, trial: str) -> None:
    more = dict.fromkeys(("attempt", "digest", "run", "status"))
    records.insert(-1, {**more, "body": {}, "kind": "excluded", "t_wall": records[0]["t_wall"], "trial": trial,
                        "why": "it looked odd"})  # fmt: skip


def _mine(records: Lines, trial: str, kind: str) -> dict[str, Any]:
    return next(r for r in records if r["trial"] == trial and r["kind"] == kind)


def _drop(records: Lines, trial: str) -> None:
    records[:] = [record for record in records if record["trial"] != trial]


def _attempts_dropped(_ground: Ground, forger: MemoryForger) -> None:
    trial = forger.trial(ARM)
    forger.edit_ledger(lambda records: _drop(records, trial))
    del forger.files[packed_path(trial, 1)]


def _digests_swapped(records: Lines, _trial: str) -> None:
    one, two = [record for record in records if record["kind"] == "sealed"][:2]
    one["digest"], two["digest"] = two["digest"], one["digest"]


def _years_earlier(records: Lines, _trial: str) -> None:
    for each in records:
        each["t_wall"] = "2020" + each["t_wall"][4:]


def _first_attempt_dropped(*, derived: bool) -> Change:
    """A failed first attempt never was: the second becomes the first, in every line of it."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)

        def edit(records: Lines) -> None:
            first = [r for r in records if r["trial"] == trial and r["attempt"] == 1]
            records[:] = [r for r in records if r not in first]
            for each in records:
                if each["trial"] == trial:
                    each["attempt"] = 1

        forger.files[packed_path(trial, 1)] = forger.files.pop(packed_path(trial, 2))
        if derived:
            forger.edit_ledger(edit)
            for name in forger.journals(trial):
                forger.edit_events(trial, name, lambda events: [event.update(attempt=1) for event in events])
            forger.derive()
        else:
            forger.edit_ledger(edit)

    return applied


def _older_line(_ground: Ground, forger: MemoryForger) -> None:
    forger.edit_ledger(lambda records: [each.pop("why") for each in records])


# ---------------------------------------------------------------- seals: nothing is mended after


def _seal(number: int, edit: Edit) -> Change:
    """Edit a seal and its own digest."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        value = json.loads(forger.files[f"seals/00{number}.json"])
        edit(value)
        del value["digest"]
        value["digest"] = digest_of(encode_canonical(value))
        forger.files[f"seals/00{number}.json"] = encode_canonical(value)

    return applied


def _outside(path: str) -> Edit:
    return lambda value: value["files"].insert(0, {"path": path, "sha256": digest_of(b""), "size": 0})


def _seal_more(_ground: Ground, forger: MemoryForger) -> None:
    last = parse_seal(forger.files["seals/002.json"])
    forger.files["seals/009.json"] = encode_seal(make_seal(9, "report", [], last.digest, last.t_wall))


def _backdated(_ground: Ground, forger: MemoryForger) -> None:
    """Both seals are made anew with times before the run."""
    prev = None
    for number in (1, 2):
        path = f"seals/00{number}.json"
        seal = parse_seal(forger.files[path])
        made = make_seal(number, seal.act, seal.files, prev, "2020-01-01T00:00:00Z")
        forger.files[path], prev = encode_seal(made), made.digest


def _last_act_gone(_ground: Ground, forger: MemoryForger) -> None:
    for path in [p for p in forger.files if p.startswith(("outcomes/", "comparisons/", "seals/002"))]:
        del forger.files[path]


def _everything_empty(_ground: Ground, forger: MemoryForger) -> None:
    for path in list(forger.files):
        forger.files[path] = b"{}"


# ---------------------------------------------------------------- packed trials


def _stored(change: Callable[[bytes], bytes]) -> Change:
    """Change the stored bytes of a packed trial, and mend the ledger."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        forger.put_packed(trial, change(forger.files[packed_path(trial, 1)]))

    return applied


def _repacked(order: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]], *, time: int = 0) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        trial = forger.trial(ARM)
        forger.put_packed(trial, raw_pack(order(sorted(forger.journals(trial).items())), time=time))

    return applied


def _trial_gone(_ground: Ground, forger: MemoryForger) -> None:
    del forger.files[packed_path(forger.trial(ARM), 1)]


def _attempt_more(_ground: Ground, forger: MemoryForger) -> None:
    trial = forger.trial(ARM)
    forger.files[packed_path(trial, 2)] = forger.files[packed_path(trial, 1)]


def _foreign_trial(ground: Ground, forger: MemoryForger) -> None:
    trial = forger.trial(ARM)
    forger.put_packed(trial, ground.all.foreign[packed_path(trial, 1)])


def _trials_swapped(_ground: Ground, forger: MemoryForger) -> None:
    one, two = forger.trial("baseline"), forger.trial(ARM)
    mine, yours = forger.files[packed_path(one, 1)], forger.files[packed_path(two, 1)]
    forger.put_packed(one, yours)
    forger.put_packed(two, mine)


def _arms_exchanged(_ground: Ground, forger: MemoryForger) -> None:
    """What happened in one arm is told of the other: every line is relabelled, everything derived anew."""
    one, two = forger.trial("hardened"), forger.trial(ARM)
    mine, yours = forger.journals(one), forger.journals(two)
    labels = {trial: events_of(each["harness.jsonl"])[0] for trial, each in ((one, mine), (two, yours))}
    forger.repack(one, yours)
    forger.repack(two, mine)
    for trial, like in labels.items():
        new = {key: like[key] for key in ("trial", "run", "condition")}
        for name in forger.journals(trial):
            forger.edit_events(trial, name, lambda events, new=new: [event.update(new) for event in events])
    forger.derive()


def _hardened_gone(_ground: Ground, forger: MemoryForger) -> None:
    """The hardened arm is dropped from disk and ledger; the plan still knows it."""
    trial = forger.trial("hardened")
    del forger.files[packed_path(trial, 1)]
    forger.edit_ledger(lambda records: _drop(records, trial))


def _in_another_shard(_ground: Ground, forger: MemoryForger) -> None:
    path = packed_path(forger.trial(ARM), 1)
    forger.files["trials/00/" + path.split("/", 2)[2]] = forger.files.pop(path)


def _other_level(stored: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(decode_blob(stored, 1 << 24))


def _plain_tar(stored: bytes) -> bytes:
    return gzip.compress(decode_blob(stored, 1 << 24), mtime=0)


def _packed_anew(_ground: Ground, forger: MemoryForger) -> None:
    _stored(_other_level)(_ground, forger)
    forger.derive()


# ---------------------------------------------------------------- blobs


def _blob_more(_ground: Ground, forger: MemoryForger) -> None:
    forger.files[blob_path(digest_of(b"more"))] = encode_blob(b"more")


def _other_blob(ground: Ground, forger: MemoryForger) -> None:
    """A good blob of the same shape from elsewhere, under this name."""
    forger.files[forger.find(BLOB)] = encode_blob(ground.all.foreign["plan.json"])


def _content_edited(*, derived: bool) -> Change:
    """The content of a blob is edited, and every event that names it; with `derived` the results follow."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        path = next(p for p in forger.paths() if p.startswith("blobs/") and _is_request(forger.files[p]))
        content = decode_blob(forger.files.pop(path), 1 << 24)
        new = content.replace(b"Read the inbox", b"Skip the inbox")
        old, now = digest_of(content), digest_of(new)
        forger.files[blob_path(now)] = encode_blob(new)
        for trial in [item["trial"] for item in json.loads(forger.files["plan.json"])["trials"]]:
            journals = forger.journals(trial)
            gateway = events_of(journals["gateway.jsonl"].replace(old.encode(), now.encode()))
            forger.edit_events(trial, "gateway.jsonl", lambda events, new=gateway: events.__setitem__(slice(None), new))
        if derived:
            forger.derive()

    return applied


def _is_request(stored: bytes) -> bool:
    return b"Read the inbox" in decode_blob(stored, 1 << 24)


# ---------------------------------------------------------------- results


def _relevant(outcome: dict[str, Any]) -> None:
    outcome["observations"] = list(reversed(outcome["observations"]))


def _flip_outcome(found: dict[str, Any]) -> None:
    found["primary"]["mechanical_outcome"] = "NOT_OBSERVED"


def _odd_reason(found: dict[str, Any]) -> None:
    """A reason that does not go with the outcome: nothing was reached, and yet it is confirmed."""
    found["primary"]["reasons"] = [
        {**reason, "code": "NO_EXPOSURE"} for reason in found["primary"].get("reasons", [{}]) or [{}]
    ]


def _bigger(name: str) -> Edit:
    return lambda value: value.update({name: 2**53 + 1})


def results(
    kind: str, pattern: str, check: int, *, ground: str = "plain", other: str = "foreign"
) -> tuple[Attack, ...]:
    """Return the rows that all kinds of derived files share."""
    word = kind.removesuffix("s")
    a = "an" if word[0] == "o" else "a"
    two = "pair" if ground == "plain" else ground
    return (
        row(f"a bit of {a} {word}", "flip", kind, check, on(pattern, bit), ground=ground),
        row(f"{word} cut in half", "cut", kind, check, on(pattern, half), ground=ground),
        row(f"{word} removed", "remove", kind, check, _gone(pattern), ground=ground),
        row(f"{word} of a trial that never was", "add", kind, check,
            _copied(pattern, lambda path: f"{path.rpartition('/')[0]}/t9.golden.obedient.r9.json",
                    written(_updated(repetition=9))), ground=ground),
        row(f"{word} replaced by {{}}", "empty", kind, check, on(pattern, emptied), ground=ground),
        row(f"{word} twice under two names", "duplicate", kind, check,
            _copied(pattern, lambda path: path.replace(".r1", ".r9")), ground=ground),
        row(f"{word} of another series", "foreign", kind, check, _foreign(pattern, other), ground=ground),
        row(f"two {kind} swapped", "swap", kind, check, _swapped(f"{kind}/*"), ground=two),
        row(f"{word} of an older version", "downgrade", kind, 4,
            record(lambda value: value.update(oyer=value["oyer"].replace("@1", "@0")), pattern), ground=ground),
        row(f"a key twice in {a} {word}", "form", kind, 4, on(pattern, twice("oyer")), ground=ground),
        row(f"a link in the place of the {word}", "name", kind, 1, linked(f"series/{kind}/"), step="archive",
            ground=ground),
        row(f"{word} in two cases of letters", "name", kind, 1, _copied(pattern, str.upper), ground=ground),
        row(f"{word} nested without end", "size", kind, 4, on(pattern, lambda _: DEEP), ground=ground),
        row(f"a number beyond what is exact in the {word}", "size", kind, 4, record(_bigger("repetition"), pattern),
            ground=ground),
    )  # fmt: skip


ROWS: tuple[Attack, ...] = (
    row("a bit of the ledger", "flip", L, 5, on("ledger.jsonl", lambda data: bit(data, len(data) // 2))),
    row("the last line of the ledger cut off", "cut", L, 2,
        on("ledger.jsonl", lambda data: data[: data.rstrip(b"\n").rindex(b"\n") + 1])),
    row("the ledger torn in a line", "cut", L, 2, on("ledger.jsonl", lambda data: data[:-9])),
    row("the ledger removed", "remove", L, 5, _gone("ledger.jsonl")),
    row("attempts dropped: from ledger and disk", "remove", L, 6, _attempts_dropped),
    row("attempts dropped: from the ledger", "remove", L, 6, _ledger(_drop)),
    row("a trial excluded without a rule", "add", L, 6, _ledger(_excluded)),
    row("the ledger replaced by {}", "empty", L, 5, on("ledger.jsonl", emptied)),
    row("records of the ledger in another order", "reorder", L, 5,
        _ledger(lambda records, _: records.insert(3, records.pop(2)))),
    row("a record of the ledger twice", "duplicate", L, 5,
        _ledger(lambda records, _: records.insert(2, dict(records[2])))),
    row("the ledger's times before the series", "backdate", L, "not caught", _ledger(_years_earlier)),
    row("the ledger of another series", "foreign", L, 4, _foreign("ledger.jsonl")),
    row("the digests of two trials swapped in the ledger", "swap", L, 5, _ledger(_digests_swapped)),
    row("a ledger in a form without reasons", "downgrade", L, 5, _older_line),
    row("another status in the ledger", "edit", L, 5,
        _ledger(lambda records, trial: _mine(records, trial, "sealed").update(status="blocked"))),
    row("another run in the ledger", "edit", L, 5,
        _ledger(lambda records, trial: _mine(records, trial, "opened").update(run="rother"))),
    row("a failed first attempt dropped, its journals kept", "edit", L, 5, _first_attempt_dropped(derived=False),
        ground="retried"),
    row("a key twice in a line of the ledger", "form", L, 5,
        on("ledger.jsonl", lambda data: data.replace(b'"kind":', b'"kind":"closed","kind":', 1))),
    row("a link in the place of the ledger", "name", L, 1, linked("ledger.jsonl"), step="archive"),
    row("a line of the ledger nested without end", "size", L, 5, on("ledger.jsonl", lambda data: DEEP + b"\n" + data)),
    row("a failed first attempt dropped from everything", "recreate", L, "not caught",
        _first_attempt_dropped(derived=True), ground="retried"),
    row("a bit of a seal", "flip", Z, 2, on("seals/001.json", bit), step="unsealed"),
    row("a seal cut in half", "cut", Z, 2, on("seals/002.json", half), step="unsealed"),
    row("the first seal removed", "remove", Z, 2, _gone("seals/001.json"), step="unsealed"),
    row("a seal that stands apart", "add", Z, 2, _seal_more, step="unsealed"),
    row("a seal replaced by {}", "empty", Z, 2, on("seals/002.json", emptied), step="unsealed"),
    row("every artifact replaced by {}", "empty", Z, 2, _everything_empty, step="unsealed"),
    row("the files of a seal in another order", "reorder", Z, 2, _seal(2, lambda value: value["files"].reverse()),
        step="unsealed"),
    row("a file listed twice in a seal", "duplicate", Z, 2,
        _seal(2, lambda value: value["files"].insert(0, value["files"][0])), step="unsealed"),
    row("seals dated before the series", "backdate", Z, "not caught", _backdated, step="unsealed"),
    row("the seal of another series", "foreign", Z, 2, _foreign("seals/002.json"), step="unsealed"),
    row("two seals swapped", "swap", Z, 2, _swapped("seals/*"), step="unsealed"),
    row("a seal of another version", "downgrade", Z, 2, _seal(2, _updated(oyer="Seal@0")), step="unsealed"),
    row("a seal that lists other bytes", "edit", Z, 2,
        _seal(2, lambda value: value["files"][0].update(sha256=digest_of(b""))), step="unsealed"),
    row("a seal that leaves a file out", "edit", Z, 2, _seal(2, lambda value: value["files"].pop()), step="unsealed"),
    row("a key twice in a seal", "form", Z, 2, on("seals/002.json", twice("act")), step="unsealed"),
    row("a seal that lists a path outside", "name", Z, 2, _seal(2, _outside("../evil")), step="unsealed"),
    row("a seal that lists an absolute path", "name", Z, 2, _seal(2, _outside("/etc/passwd")), step="unsealed"),
    row("a seal that lists a size beyond what is exact", "size", Z, 2,
        _seal(2, lambda value: value["files"][0].update(size=2**53 + 1)), step="unsealed"),
    row("the last act cut off whole", "recreate", Z, "open", _last_act_gone, step="unsealed"),
    row("a bit of a packed trial", "flip", T, 5, _stored(lambda data: bit(data, len(data) // 2))),
    row("a packed trial cut in half", "cut", T, 5, _stored(half)),
    row("a packed trial removed", "remove", T, 6, _trial_gone),
    row("hardened arm dropped from disk and ledger", "remove", T, 6, _hardened_gone,
        ground="hardened"),
    row("an attempt that the ledger does not know", "add", T, 6, _attempt_more),
    row("a packed trial replaced by {}", "empty", T, 5, _stored(emptied)),
    row("the journals of a packed trial in another order", "reorder", T, 5,
        _repacked(lambda members: members[::-1])),
    row("a journal twice in a packed trial", "duplicate", T, 5, _repacked(lambda members: members[:1] + members)),
    row("a packed trial with times", "backdate", T, 5, _repacked(list, time=1)),
    row("a packed trial of another series", "foreign", T, 5, _foreign_trial),
    row("arms swapped: two packed trials change places", "swap", T, 5, _trials_swapped),
    row("a packed trial in an older archive form", "downgrade", T, 5, _stored(_plain_tar)),
    row("the same journals packed otherwise", "edit", T, 8, _stored(_other_level)),
    row("bytes after a packed trial", "form", T, 5, _stored(lambda data: data + b"\x00")),
    row("a packed trial in another shard", "name", T, 1, _in_another_shard),
    row("a packed trial that is a bomb", "size", T, 1, _stored(lambda _: BOMB)),
    row("a packed trial of many empty journals", "size", T, 5,
        _stored(lambda _: pack({f"tap.t{n}.jsonl": b"" for n in range(2000)}))),
    row("the same journals packed otherwise, all derived anew", "recreate", T, "not caught", _packed_anew),
    row("arms swapped and relabelled, all derived anew", "recreate", T, "not caught", _arms_exchanged,
        ground="hardened"),
    row("a bit of a blob", "flip", B, 7, on(BLOB, bit)),
    row("a blob cut in half", "cut", B, 7, on(BLOB, half)),
    row("a blob removed", "remove", B, 7, _gone(BLOB)),
    row("a blob nobody cites", "add", B, 7, _blob_more),
    row("a blob replaced by {}", "empty", B, 7, on(BLOB, emptied)),
    row("a blob whose halves change places", "reorder", B, 7,
        on(BLOB, lambda data: encode_blob((c := decode_blob(data, 1 << 24))[len(c) // 2 :] + c[: len(c) // 2]))),
    row("a blob's frame twice", "duplicate", B, 7, on(BLOB, lambda data: data * 2)),
    row("a blob swapped for a good one from elsewhere", "foreign", B, 7, _other_blob),
    row("two blobs swapped", "swap", B, 7, _swapped(BLOB)),
    row("a blob in an older compression", "downgrade", B, 7,
        on(BLOB, lambda data: gzip.compress(decode_blob(data, 1 << 24), mtime=0))),
    row("a blob edited, its name and every event with it", "edit", B, 8, _content_edited(derived=False)),
    row("a blob in a second frame", "form", B, 7, on(BLOB, lambda data: data + encode_blob(b""))),
    row("a blob in another directory", "name", B, 1, _moved(BLOB, lambda path: "blobs/00/" + path.rpartition("/")[2])),
    row("a link in the place of a blob", "name", B, 1, linked("series/blobs/"), step="archive"),
    row("a blob that says it unfolds to a terabyte", "size", B, 1, on(BLOB, lambda _: BOMB)),
    row("a blob edited with all that names it, all derived anew", "recreate", B, "not caught",
        _content_edited(derived=True)),
    *results(R, OUTCOME, 8),
    *results(C, COMPARISON, 10),
    row("observations in another order", "reorder", R, 8, record(_relevant, OUTCOME)),
    row("an outcome that was not so", "edit", R, 8, record(_updated(status="harness_error"), OUTCOME)),
    row("an outcome without its observations", "edit", R, 8, record(_updated(observations=[]), OUTCOME)),
    row("arms of a comparison in another order", "reorder", C, 10, record(lambda v: v["arms"].reverse(), COMPARISON)),
    row("outcome flipped and re-hashed", "edit", C, 10, record(_flip_outcome, COMPARISON)),
    row("reason inconsistent with outcome", "edit", C, 10, record(_odd_reason, COMPARISON)),
    row("hardened arm dropped from the comparison", "edit", C, 10, record(lambda v: v["arms"].pop(), COMPARISON),
        ground="hardened"),
)  # fmt: skip
