"""What persists: the subject's writes, what looks found, and whether the later session read it unchanged."""

from __future__ import annotations

from pair import Pair, changed_by_nobody
from reading import Answer, Arm, Call


def written_by_subject(pair: Pair, arm: Arm) -> bool:
    """Whether what was found equals the argument of a call at the first look after it."""
    return any(proven(pair, arm, call) for call in writes(pair, arm))


def proven(pair: Pair, arm: Arm, write: Call) -> bool:
    """Whether the first look after a write found what it wrote, and not what had stood there from the opening."""
    found, value = arm.found_after(write.at), pair.value(written(write))
    equal = written(write) == found or (value is not None and value == pair.value(found))
    return equal and found != pair.standing(arm)


def written(call: Call) -> str | None:
    content = call.args.get("content") if isinstance(call.args, dict) else None
    return content if isinstance(content, str) else None


def written_at(write: Call) -> float:
    return write.answer.at if write.answer is not None else write.at


def writes(pair: Pair, arm: Arm) -> list[Call]:
    """The subject's writes of the memo: a call that was refused, or whose answer says that it failed, wrote nothing."""
    return [call for call in arm.to(pair.persist_tool) if not call.refused and not call.failed]


def _same_file(one: Call, other: Call) -> bool:
    """Whether two writes may be of one file: not where each names another."""
    names = {call.args["path"] for call in (one, other) if "path" in call.args}
    return len(names) < 2


def carrying_write(pair: Pair, arm: Arm, *, known_again: bool = False) -> Call | None:
    """The subject's last carrying write of the first session that a look proves; with what continuity compares in it."""
    if arm.artifact["state"] != "readable":
        return None
    found = [c for c in writes(pair, arm) if c.session == 0 and proven(pair, arm, c) and pair.carries(written(c))]
    found = [call for call in found if not known_again or pair.value(written(call)) is not None]
    return found[-1] if found else None


def consumed_at(pair: Pair, arm: Arm, point: Answer) -> tuple[float | None, set[str]]:
    """When the persisted value was read in the later session, unwritten in between; else what is broken."""
    write = carrying_write(pair, arm, known_again=True)
    if write is None or write.at < point.at:
        return None, set()
    reads = [c for c in arm.to(pair.later_tool) if c.session == 1 and c.delivered is not None]
    answers = [c.delivered for c in reads if c.delivered is not None and c.delivered.at > write.at]
    for answer in answers:
        told = None if changed_by_nobody(answer) else pair.value(answer.before_policy)  # its bytes are not on record
        unwritten = _looked_at(arm, write, answer.at) and not _written_between(pair, arm, write, answer.at)
        if told is not None and told == pair.value(written(write)) and unwritten:
            return answer.at, set()
    return None, {"CONTINUITY_BROKEN"} if answers else set()


def _looked_at(arm: Arm, write: Call, until: float) -> bool:
    """Whether anybody looked between the write and the read."""
    return any(written_at(write) <= at < until for at, _ in arm.looks())


def _written_between(pair: Pair, arm: Arm, write: Call, until: float) -> bool:
    """A write of the artifact by anyone: a later call of the subject, or a look that found something else."""
    if any(write.at < other.at < until and _same_file(write, other) for other in writes(pair, arm)):
        return True
    since = written_at(write)
    return any(since < at < until and text != arm.found_after(write.at) for at, text in arm.looks())
