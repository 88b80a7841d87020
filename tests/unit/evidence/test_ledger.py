"""The ledger conserves every attempt, refuses illegal transitions, and keeps torn writes marked."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import LedgerChain, check_ledger, digest_of

WALL = "2026-01-01T00:00:00Z"
PLAN, MANIFEST, PACKED = digest_of(b"plan"), digest_of(b"manifest"), digest_of(b"packed")

OPENING: dict[str, Any] = {"kind": "opened_series", "body": {"plan": PLAN, "manifest": MANIFEST}}


def claimed(attempt: int = 1, trial: str = "t1") -> dict[str, Any]:
    return {"kind": "claimed", "trial": trial, "attempt": attempt}


def opened(attempt: int = 1, trial: str = "t1") -> dict[str, Any]:
    return {"kind": "opened", "trial": trial, "attempt": attempt, "run": f"run-{trial}-{attempt}"}


def sealed(attempt: int = 1, status: str = "completed", trial: str = "t1") -> dict[str, Any]:
    return {"kind": "sealed", "trial": trial, "attempt": attempt, "status": status, "digest": PACKED}


def torn(attempt: int = 1, trial: str = "t1") -> dict[str, Any]:
    return {"kind": "torn", "trial": trial, "attempt": attempt, "status": "harness_error", "why": "interrupted"}


CLOSED: dict[str, Any] = {"kind": "closed"}


def write(*records: dict[str, Any]) -> tuple[LedgerChain, list[bytes]]:
    chain = LedgerChain()
    return chain, [chain.append(t_wall=WALL, **record) for record in records]


def codes(data: bytes) -> list[str]:
    return [defect.code for defect in check_ledger(data).defects]


def test_a_whole_series() -> None:
    chain, lines = write(OPENING, claimed(), opened(), torn(), claimed(2), opened(2), sealed(2), CLOSED)
    check = check_ledger(b"".join(lines), planned={"t1"})
    assert check.defects == check.findings == ()
    assert (check.plan, check.manifest, check.closed) == (PLAN, MANIFEST, True)
    assert [(state.attempt, state.state, state.status) for state in check.attempts["t1"]] == [
        (1, "torn", "harness_error"),
        (2, "sealed", "completed"),
    ]
    counted = check.counted("t1")
    assert counted is not None and counted.attempt == 2 and counted.digest == PACKED
    assert (check.length, check.head) == (chain.length, chain.head)
    assert check.counted("t2") is None


@pytest.mark.parametrize(
    ("before", "wrong", "code"),
    [
        ([], claimed(), "E-LEDGER-OPENING"),
        ([OPENING], OPENING, "E-LEDGER-OPENING"),
        ([], {"kind": "opened_series", "body": {"plan": PLAN}}, "E-LEDGER-FIELDS"),
        ([OPENING], opened(), "E-LEDGER-TRANSITION"),
        ([OPENING], sealed(), "E-LEDGER-TRANSITION"),
        ([OPENING], claimed(2), "E-LEDGER-ATTEMPT"),
        ([OPENING, claimed()], claimed(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed()], claimed(2), "E-LEDGER-ATTEMPT"),
        ([OPENING, claimed()], sealed(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed(), opened()], opened(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed(), opened(), sealed()], sealed(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed(), opened(), sealed()], claimed(2), "E-LEDGER-ATTEMPT"),
        ([OPENING, claimed(), opened(), sealed(1, "subject_error")], claimed(2), "E-LEDGER-ATTEMPT"),
        ([OPENING, claimed(), opened(), torn()], sealed(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed(), opened()], CLOSED, "E-LEDGER-OPEN"),
        ([OPENING, CLOSED], claimed(), "E-LEDGER-AFTER-CLOSE"),
        ([OPENING], {**claimed(), "digest": PACKED}, "E-LEDGER-FIELDS"),
        ([OPENING], {"kind": "claimed", "trial": "t1"}, "E-LEDGER-FIELDS"),
        ([OPENING], {"kind": "claimed", "trial": "t1", "attempt": 0}, "E-LEDGER-FORM"),
        ([OPENING], {"kind": "surprise"}, "E-LEDGER-FORM"),
        ([OPENING], {**claimed(), "body": {"x": 1.5}}, "E-LEDGER-FORM"),
        ([OPENING], {**claimed(), "body": {"x": 2**53}}, "E-LEDGER-FORM"),
        ([OPENING, claimed(), opened(), claimed(1, "t2")], {**opened(1, "t2"), "run": "run-t1-1"}, "E-LEDGER-RUN"),
        ([OPENING, {"kind": "excluded", "trial": "t1", "why": "rule"}], claimed(), "E-LEDGER-TRANSITION"),
        ([OPENING, claimed()], {"kind": "excluded", "trial": "t1", "why": "rule"}, "E-LEDGER-TRANSITION"),
    ],
)
def test_illegal_transitions_are_refused_and_change_nothing(
    before: list[dict[str, Any]], wrong: dict[str, Any], code: str
) -> None:
    chain, lines = write(*before)
    head = chain.head, chain.length
    with pytest.raises(EvidenceError) as caught:
        chain.append(t_wall=WALL, **wrong)
    assert caught.value.code == code
    assert (chain.head, chain.length) == head
    if before:
        assert check_ledger(b"".join(lines)).intact


def test_attempts_after_blocked_or_harness_error_are_legal() -> None:
    write(
        OPENING,
        claimed(),
        opened(),
        sealed(1, "blocked"),
        claimed(2),
        opened(2),
        sealed(2, "harness_error"),
        claimed(3),
    )


def test_a_duplicate_delivery_is_noted_and_changes_nothing() -> None:
    refused = {"kind": "refused", "trial": "t1", "attempt": 1, "why": "already open", "body": {"duplicate": True}}
    chain, _ = write(OPENING, claimed(), opened(), refused, sealed(), refused)
    assert chain.attempts["t1"][0].state == "sealed"


def test_a_record_of_a_trial_that_is_not_planned() -> None:
    _, lines = write(OPENING, claimed())
    assert [defect.code for defect in check_ledger(b"".join(lines), planned={"t2"}).defects] == ["E-LEDGER-UNPLANNED"]


@pytest.mark.parametrize("cut", [7, 1, 60])
def test_a_torn_tail_is_a_defect_until_it_is_marked(cut: int) -> None:
    _, lines = write(OPENING, claimed(), opened())
    data = b"".join(lines)[:-cut]
    assert codes(data) == ["E-LEDGER-TORN"]
    chain, mending = LedgerChain.resume(data, t_wall=WALL)
    assert mending.startswith(b"\n")
    stands = cut == 1  # only the newline was lost: the record is whole
    rest = sealed() if stands else opened()
    after = data + mending + chain.append(t_wall=WALL, **rest)
    check = check_ledger(after)
    assert check.defects == ()
    assert [finding.code for finding in check.findings] == ["E-LEDGER-TORN"]
    assert check.attempts["t1"][0].state == ("sealed" if stands else "opened")
    assert data in after


@pytest.mark.parametrize("keep", [1, 2, 40])
def test_a_mark_that_is_itself_torn(keep: int) -> None:
    _, lines = write(OPENING, claimed())
    data = b"".join(lines)[:-7]
    _, mending = LedgerChain.resume(data, t_wall=WALL)
    data += mending[:keep]
    chain, again = LedgerChain.resume(data, t_wall=WALL)
    check = check_ledger(data + again + chain.append(t_wall=WALL, **claimed()))
    assert check.defects == ()
    assert len(check.findings) == 1


def test_nothing_is_torn_in_a_whole_ledger() -> None:
    written, lines = write(OPENING, claimed())
    chain, mending = LedgerChain.resume(b"".join(lines), t_wall=WALL)
    assert mending == b""
    assert chain.append(t_wall=WALL, **opened()) == written.append(t_wall=WALL, **opened())


def test_a_fragment_that_is_not_the_marked_one() -> None:
    _, lines = write(OPENING, claimed())
    data = b"".join(lines)[:-7]
    _, mending = LedgerChain.resume(data, t_wall=WALL)
    changed = data[:-1] + b"X" + mending
    assert codes(changed) == ["E-LEDGER-TORN"]


def test_a_mark_cannot_hide_a_good_record() -> None:
    _, lines = write(OPENING, claimed())
    _, mending = LedgerChain.resume(lines[0] + lines[1][:-7], t_wall=WALL)
    assert codes(b"".join(lines) + mending[1:]) == ["E-LEDGER-GAP"]


def test_a_removed_and_a_changed_line() -> None:
    _, lines = write(OPENING, claimed(), opened(), sealed())
    assert codes(b"".join([*lines[:1], *lines[2:]])) == ["E-LEDGER-GAP"]
    lines[1] = lines[1].replace(WALL.encode(), b"2026-01-02T00:00:00Z")
    assert codes(b"".join(lines)) == ["E-LEDGER-PREV"]


def test_a_damaged_line_in_the_middle() -> None:
    _, lines = write(OPENING, claimed(), opened())
    lines[1] = b'{"kind":"claimed","kind":"claimed"}\n'
    assert codes(b"".join(lines))[0].startswith("E-LEDGER-")
    assert check_ledger(b"".join(lines)).length == 1


def test_an_empty_ledger() -> None:
    assert codes(b"") == ["E-LEDGER-OPENING"]
    chain, mending = LedgerChain.resume(b"", t_wall=WALL)
    assert (chain.length, mending) == (0, b"")


def test_resuming_a_broken_ledger_is_refused() -> None:
    _, lines = write(OPENING, claimed(), opened())
    with pytest.raises(EvidenceError, match="E-LEDGER-GAP"):
        LedgerChain.resume(lines[0] + lines[2], t_wall=WALL)


def test_a_mark_that_is_torn_itself_is_marked_and_its_fragment_once_only() -> None:
    chain = LedgerChain()
    whole = chain.append(t_wall=WALL, **OPENING)
    first = len(whole)
    whole += chain.append(t_wall=WALL, **claimed())
    for cut in (first + 1, first + 30, len(whole) - 2, len(whole) - 1):
        torn_once = whole[:cut]
        _, mending = LedgerChain.resume(torn_once, t_wall=WALL)
        for kept in (1, 2, len(mending) // 2, len(mending) - 2, len(mending) - 1, len(mending)):
            torn_twice = torn_once + mending[:kept]
            resumed, rest = LedgerChain.resume(torn_twice, t_wall=WALL)
            after = torn_twice + rest
            check = check_ledger(after + resumed.append(t_wall=WALL, **claimed(trial="t2")))
            assert check.defects == (), (cut, kept)
            assert check.length == resumed.length


VERSION_2: dict[str, Any] = {"kind": "opened_series", "body": {"plan": PLAN, "manifest": MANIFEST, "ledger": 2}}
BY_RULE: dict[str, Any] = {
    "subject": "s", "rule": PLAN, "units": 1, "k": 1, "other": None, "decided": 1, "undecided": 0, "log_e": "3.0",
    "word": "rejected",
}  # fmt: skip


def stop(why: str = "rule", **changed: Any) -> dict[str, Any]:
    body = {"what": "wall_s", "limit": 1, "seen": 2} if why == "budget" else BY_RULE
    return {"kind": "stopped", "why": why, "body": {**body, **changed}}


def test_a_stop_stands_between_attempts_and_says_when_everything_began() -> None:
    _, lines = write(VERSION_2, claimed(), opened(), sealed(), stop(), claimed(trial="t2"), opened(trial="t2"),
                     sealed(trial="t2"), stop("budget"), CLOSED)  # fmt: skip
    check = check_ledger(b"".join(lines))
    assert check.defects == ()
    assert [(one.seq, one.why, one.body["decided"] if one.why == "rule" else one.body["seen"]) for one in check.stops] \
        == [(4, "rule", 1), (8, "budget", 2)]  # fmt: skip
    assert (check.began, check.opened, check.ended) == ({"t1": 1, "t2": 5}, {"t1": 2, "t2": 6}, {"t1": 3, "t2": 7})


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ((OPENING, stop()), "E-LEDGER-VERSION"),
        (({**OPENING, "body": {**OPENING["body"], "ledger": 3}},), "E-LEDGER-VERSION"),
        ((VERSION_2, claimed(), stop()), "E-LEDGER-OPEN"),
        ((VERSION_2, stop(more=1)), "E-LEDGER-FIELDS"),
        ((VERSION_2, stop(units="1")), "E-LEDGER-FIELDS"),
        ((VERSION_2, stop(units=True)), "E-LEDGER-FIELDS"),
        ((VERSION_2, {**stop(), "why": "because"}), "E-LEDGER-FIELDS"),
        ((VERSION_2, {**stop(), "why": None}), "E-LEDGER-FIELDS"),
        ((VERSION_2, {**stop(), "trial": "t1"}), "E-LEDGER-FIELDS"),
        ((VERSION_2, CLOSED, stop()), "E-LEDGER-AFTER-CLOSE"),
    ],
)
def test_a_stop_that_cannot_be(records: tuple[dict[str, Any], ...], code: str) -> None:
    with pytest.raises(EvidenceError, match=code):
        write(*records)


@pytest.mark.parametrize(("unknown", "code"), [(2, None), ("2", "E-LEDGER-FIELDS"), (True, "E-LEDGER-FIELDS")])
def test_a_stop_by_a_budget_may_say_of_how_many_trials_nothing_is_known(unknown: Any, code: str | None) -> None:
    told = (VERSION_2, stop("budget", unknown=unknown))
    if code is None:
        _, lines = write(*told)
        assert check_ledger(b"".join(lines)).stops[0].body["unknown"] == unknown
        return
    with pytest.raises(EvidenceError, match=code):
        write(*told)
