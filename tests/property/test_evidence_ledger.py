"""Laws of the ledger: conservation, refusal, and torn tails at every byte."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from oyer.errors import EvidenceError
from oyer.evidence import LedgerChain, check_ledger, digest_of

WALL = "2026-01-01T00:00:00Z"
PACKED = digest_of(b"packed")
KINDS = ("claimed", "opened", "sealed", "torn", "refused", "excluded", "closed")
MOVES = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.sampled_from(["t1", "t2"]),
        st.integers(1, 3),
        st.sampled_from(["completed", "subject_error", "harness_error", "blocked"]),
    ),
    max_size=25,
)


def record(kind: str, trial: str, attempt: int, status: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": kind}
    if kind != "closed":
        fields["trial"] = trial
    if kind not in {"closed", "excluded"}:
        fields["attempt"] = attempt
    if kind == "opened":
        fields["run"] = f"{trial}-{attempt}"
    if kind in {"torn", "refused", "excluded"}:
        fields["why"] = "w"
    if kind == "sealed":
        fields |= {"status": status, "digest": PACKED}
    if kind == "torn":
        fields["status"] = "harness_error"
    return fields


def write(moves: list[tuple[str, str, int, str]]) -> tuple[LedgerChain, bytes]:
    chain = LedgerChain()
    data = chain.append("opened_series", t_wall=WALL, body={"plan": PACKED, "manifest": PACKED})
    for move in moves:
        try:
            data += chain.append(t_wall=WALL, **record(*move))
        except EvidenceError:
            continue
    return chain, data


@given(MOVES)
def test_whatever_is_asked_the_ledger_stays_good_and_counts_one_attempt(
    moves: list[tuple[str, str, int, str]],
) -> None:
    chain, data = write(moves)
    check = check_ledger(data, planned={"t1", "t2"})
    assert check.defects == ()
    assert (check.length, check.head, check.closed) == (chain.length, chain.head, chain.closed)
    for states in check.attempts.values():
        assert [state.attempt for state in states] == list(range(1, len(states) + 1))
        assert all(state.state in {"sealed", "torn", "refused"} for state in states[:-1])
        assert sum(state.status in {"completed", "subject_error"} for state in states) <= 1
        assert all(state.status not in {"completed", "subject_error"} for state in states[:-1])


@given(MOVES, st.data())
def test_a_ledger_cut_anywhere_resumes_with_every_byte_kept(
    moves: list[tuple[str, str, int, str]], data: st.DataObject
) -> None:
    _, whole = write(moves)
    torn = whole[: data.draw(st.integers(whole.index(b"\n") + 1, len(whole)))]
    for _ in range(data.draw(st.integers(0, 2))):  # the mark itself may be torn, again and again
        _, mending = LedgerChain.resume(torn, t_wall=WALL)
        torn += mending[: data.draw(st.integers(0, len(mending)))]
    chain, mending = LedgerChain.resume(torn, t_wall=WALL)
    after = torn + mending
    if not chain.closed:
        after += chain.append("closed", t_wall=WALL) if not _open(chain) else b""
    check = check_ledger(after)
    assert check.defects == ()
    assert after.startswith(torn)
    assert (check.length, check.head) == (chain.length, chain.head)


def _open(chain: LedgerChain) -> bool:
    return any(states[-1].state in {"claimed", "opened"} for states in chain.attempts.values())


@given(MOVES, st.data())
def test_no_changed_byte_before_the_last_line_passes(
    moves: list[tuple[str, str, int, str]], data: st.DataObject
) -> None:
    _, whole = write([("claimed", "t1", 1, ""), *moves])
    at = data.draw(st.integers(0, whole[:-1].rindex(b"\n") - 1))
    value = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    changed = check_ledger(whole[:at] + bytes([value]) + whole[at + 1 :])
    assert changed.defects
