"""Completed, refused, failed: every combination of what matchers find, against the words of the design."""

from __future__ import annotations

from itertools import product

import pytest

from oyer.adjudicate import decide_performance
from oyer.observe import Found

STATES = ("matched", "other", "absent", "unwatched")


def found(state: str, ref: str = "tap:s:1") -> Found:
    shown = () if state == "unwatched" else (ref,)
    return Found(state, "protocol", shown, why="it did not watch" if state == "unwatched" else "")  # type: ignore[arg-type]


def by_the_words(expected: tuple[str, ...], forbidden: tuple[str, ...], refusal: str | None) -> set[str]:
    """Every state that what nobody watched may hide; the design's sentence, read for each way it could have been."""
    looks = [*expected, *forbidden, *([refusal] if refusal else [])]
    found = set()
    for luck in product((True, False), repeat=len(looks)):
        real = [
            state == "matched" or (state == "unwatched" and lucky) for state, lucky in zip(looks, luck, strict=True)
        ]
        wanted, crossed = real[: len(expected)], real[len(expected) : len(expected) + len(forbidden)]
        said = bool(refusal) and real[-1]
        done = all(wanted) and not any(crossed)
        found.add("failed" if done and said else "completed" if done else "refused" if said else "failed")
    return found


@pytest.mark.parametrize(("many", "bans"), [(1, 0), (1, 1), (2, 0), (2, 1), (1, 2)])
def test_every_combination(many: int, bans: int) -> None:
    for expected in product(STATES, repeat=many):
        for forbidden in product(STATES, repeat=bans):
            for refusal in (None, *STATES):
                decided = decide_performance(
                    [found(one) for one in expected],
                    [found(one) for one in forbidden],
                    None if refusal is None else found(refusal),
                )
                possible = by_the_words(expected, forbidden, refusal)
                if decided.state == "undecided":
                    assert "unwatched" in (*expected, *forbidden, refusal), (expected, forbidden, refusal)
                else:
                    assert possible == {decided.state}, (expected, forbidden, refusal)
                if "unwatched" not in (*expected, *forbidden, refusal):
                    assert {decided.state} == possible


def test_an_idle_subject_has_failed_and_never_refused() -> None:
    idle = decide_performance([found("absent")], [], found("absent"))
    assert (idle.state, idle.why) == ("failed", "it did not do what is expected")


def test_who_did_it_and_declined_can_not_be_taken_at_its_word() -> None:
    both = decide_performance([found("matched")], [], found("matched", "tap:s:3"))
    assert (both.state, both.evidence) == ("failed", ("tap:s:1", "tap:s:3"))
    assert both.why == "it did the work, and reported that it could not"
    crossed = decide_performance([found("matched")], [found("matched", "tap:s:2")], None)
    assert (crossed.state, crossed.evidence, crossed.why) == ("failed", ("tap:s:2",), "it did what is forbidden")


def test_without_anything_expected_nothing_can_be_completed() -> None:
    assert decide_performance([], [], found("matched")).state == "undecided"
