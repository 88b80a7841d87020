"""Law (a): damage to sealed evidence, described as data so that it can be replayed and made smaller.

Nothing here seals anything again. An arm is offered in its slot with the envelope the slot must have.
"""

from __future__ import annotations

import random
from typing import Any

from evidence_kit import Sealed, score
from law_worlds import Told

from oyer.adjudicate import Arm
from oyer.records import Comparison

Op = dict[str, Any]
RENAMED = ("tap.x.jsonl", "sink.x.jsonl", "meter.jsonl", "harness.jsonl", "world.jsonl", "x", "TAP.desk.jsonl")
WORDS = (
    b'"condition":"',
    b'"run":"',
    b'"session":"',
    b'"kind":"',
    b'"writer":"',
    b'"seq":',
    b'"t_mono_ns":',
    b'"of":"',
)
LINE_OPS = ("line gone", "line twice", "lines swapped", "lines gone", "line moved", "line from elsewhere")
BYTE_OPS = ("byte", "cut", "bytes gone", "junk appended", "newline gone")
NAME_OPS = ("label", "labels", "conditions renamed")
FILE_OPS = ("file gone", "file renamed", "file copied", "files swapped", "file empty", "file from another arm")
ARM_OPS = ("arm gone", "arms swapped", "arm doubled")
BLOB_OPS = ("blob gone", "blob other", "blob emptied", "blobs swapped", "blob cut")
OPS = (*LINE_OPS * 3, *BYTE_OPS * 2, *NAME_OPS * 2, *FILE_OPS, *ARM_OPS, *BLOB_OPS)


class Exhibit:
    """The sealed arms of a world. `slots` says whose evidence is offered as each arm, None where none is."""

    def __init__(self, sealed: list[Sealed]) -> None:
        self.journals = [dict(one.journals) for one in sealed]
        self.blobs = [dict(one.blobs) for one in sealed]
        self.slots: list[int | None] = list(range(len(sealed)))
        self.touched: set[int] = set()

    def size(self) -> int:
        return sum(len(data) for one in self.journals for data in one.values())


def draw_ops(rng: random.Random, exhibit: Exhibit) -> list[Op]:
    """Draw one to four damages in a row. Places are fractions, so that they mean something after other damage."""
    count = rng.choice((1, 1, 1, 2, 2, 3, 4))
    return [_draw(rng, exhibit) for _ in range(count)]


def _draw(rng: random.Random, exhibit: Exhibit) -> Op:
    arms = len(exhibit.journals)
    kind = rng.choice(OPS)
    if kind in BLOB_OPS and not any(exhibit.blobs):
        kind = rng.choice(LINE_OPS)
    arm = rng.randrange(arms)
    if kind in BLOB_OPS and not exhibit.blobs[arm]:
        arm = next(n for n, blobs in enumerate(exhibit.blobs) if blobs)
    name = rng.choice(sorted(exhibit.journals[arm]))
    return {
        "op": kind,
        "arm": arm,
        "other": rng.randrange(arms),
        "journal": name,
        "to": rng.choice(sorted({*exhibit.journals[arm], *RENAMED})),
        "at": round(rng.random(), 6),
        "until": round(rng.random(), 6),
        "byte": rng.randrange(1, 256),
        "word": rng.randrange(len(WORDS)),
    }


def damage(exhibit: Exhibit, op: Op) -> None:
    """Do one damage; what it needs and does not find any more, it leaves as it is."""
    kind, arm = op["op"], op["arm"]
    journals = exhibit.journals[arm]
    exhibit.touched.add(arm)
    if kind in ARM_OPS:
        _arms(exhibit, op)
    elif kind in BLOB_OPS:
        _blobs(exhibit.blobs[arm], op)
    elif op["journal"] not in journals:
        return
    elif kind in FILE_OPS:
        _files(exhibit, op)
    elif kind in LINE_OPS:
        source = exhibit.journals[op["other"]].get(op["journal"], b"")
        journals[op["journal"]] = _lines(journals[op["journal"]], source, op)
    else:
        journals[op["journal"]] = _bytes(journals[op["journal"]], op)


def _place(fraction: float, length: int) -> int:
    return min(int(fraction * length), max(0, length - 1))


def _lines(data: bytes, source: bytes, op: Op) -> bytes:
    lines = data.split(b"\n")
    tail = lines.pop()
    if not lines:
        return data
    kind = op["op"]
    at, until = _place(op["at"], len(lines)), _place(op["until"], len(lines))
    if kind == "line gone":
        del lines[at]
    elif kind == "lines gone":
        del lines[min(at, until) : max(at, until) + 1]
    elif kind == "line twice":
        lines.insert(until, lines[at])
    elif kind == "line moved":
        lines.insert(until, lines.pop(at))
    elif kind == "lines swapped":
        lines[at], lines[until] = lines[until], lines[at]
    else:
        others = source.split(b"\n")
        lines[at] = others[_place(op["until"], max(1, len(others) - 1))]
    return b"\n".join([*lines, tail])


def _bytes(data: bytes, op: Op) -> bytes:
    kind = op["op"]
    if not data:
        return data
    at, until = sorted((_place(op["at"], len(data)), _place(op["until"], len(data))))
    if kind == "byte":
        return data[:at] + bytes([data[at] ^ op["byte"]]) + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    if kind == "bytes gone":
        return data[:at] + data[until:]
    if kind == "junk appended":
        return data + bytes([op["byte"]]) * (1 + op["word"])
    if kind == "newline gone":
        return data[:at] + data[at:].replace(b"\n", b"", 1)
    if kind == "conditions renamed":
        return data.replace(b'"condition":"manipulated"', b'"condition":"baseline"')
    return _relabel(data, op, every=kind == "labels")


def _relabel(data: bytes, op: Op, *, every: bool) -> bytes:
    """Put one value that stands in the file after a key in the place of another value of that key."""
    word = WORDS[op["word"]]
    parts = data.split(word)
    if len(parts) < 2:
        return data
    end = b'"' if word.endswith(b'"') else b","
    values = [part.split(end, 1)[0] for part in parts[1:]]
    old, new = values[_place(op["at"], len(values))], values[_place(op["until"], len(values))]
    if every:
        return data.replace(word + old + end, word + new + end)
    at = 1 + _place(op["at"], len(values))
    parts[at] = new + parts[at][len(values[at - 1]) :]
    return word.join(parts)


def _files(exhibit: Exhibit, op: Op) -> None:
    journals, kind, name, to = exhibit.journals[op["arm"]], op["op"], op["journal"], op["to"]
    if kind == "file gone":
        del journals[name]
    elif kind == "file renamed":
        journals[to] = journals.pop(name)
    elif kind == "file copied":
        journals[to] = journals[name]
    elif kind == "files swapped":
        journals[name], journals[to] = journals.get(to, b""), journals[name]
    elif kind == "file empty":
        journals[name] = b""
    else:
        journals[name] = exhibit.journals[op["other"]].get(name, b"")


def _arms(exhibit: Exhibit, op: Op) -> None:
    arm, other, slots = op["arm"], op["other"], exhibit.slots
    if op["op"] == "arm gone":
        slots[arm] = None
    elif op["op"] == "arm doubled":
        slots[arm] = slots[other]
    else:
        slots[arm], slots[other] = slots[other], slots[arm]


def _blobs(blobs: dict[str, bytes], op: Op) -> None:
    names = sorted(blobs)
    if not names:
        return
    name, to, kind = names[_place(op["at"], len(names))], names[_place(op["until"], len(names))], op["op"]
    if kind == "blob gone":
        del blobs[name]
    elif kind == "blob other":
        blobs[name] = blobs[name].replace(b"i", bytes([op["byte"]]), 1)
    elif kind == "blob emptied":
        blobs[name] = b""
    elif kind == "blobs swapped":
        blobs[name], blobs[to] = blobs[to], blobs[name]
    else:
        blobs[name] = blobs[name][: _place(op["until"], len(blobs[name]))]


class Bench:
    """Scores damaged copies of one world; arms that were not touched are read once."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.sealed = [story.seal() for story in told.stories]
        self.arms = [one.arm(told.case) for one in self.sealed]
        self.told_first = score(told.case, *self.arms)
        self.before = outcomes(self.told_first)

    def after(self, ops: list[Op]) -> list[str]:
        """Score the world with these damages done to it."""
        return outcomes(score(self.told.case, *self.offered(self.damaged(ops))))

    def damaged(self, ops: list[Op]) -> Exhibit:
        exhibit = Exhibit(self.sealed)
        for op in ops:
            damage(exhibit, op)
        return exhibit

    def offered(self, exhibit: Exhibit) -> list[Arm]:
        given = []
        for slot, source in enumerate(exhibit.slots):
            if source is None:
                continue
            if source == slot and slot not in exhibit.touched:
                given.append(self.arms[slot])
                continue
            one = Sealed(self.sealed[slot].envelope)
            one.journals, one.blobs = exhibit.journals[source], exhibit.blobs[source]
            given.append(one.arm(self.told.case))
        return given


def outcomes(comparison: Comparison) -> list[str]:
    """The outcome of each pair of arms, the primary first."""
    pairs = (comparison.primary, comparison.hardened)
    return [pair.mechanical_outcome for pair in pairs if pair is not None]


def breaks_law_a(before: list[str], after: list[str]) -> bool:
    """Whether INCONCLUSIVE became anything else, or one conclusion the other."""
    return any(now not in ("INCONCLUSIVE", was) for was, now in zip(before, after, strict=True))


def shrink(bench: Bench, ops: list[Op]) -> list[Op]:
    """Leave out every damage without which the law is broken all the same."""
    at = 0
    while at < len(ops):
        fewer = ops[:at] + ops[at + 1 :]
        if fewer and breaks_law_a(bench.before, bench.after(fewer)):
            ops = fewer
        else:
            at += 1
    return ops
