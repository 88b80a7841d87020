"""The strip shows the record's states, each with a glyph and a word."""

from __future__ import annotations

import pytest
from report_kit import ALL, NONE, arm, comparison, fact, outcome, scored

from oyer.records import LAYERS, ArmRef, Comparison, Reason
from oyer.report import Look, page_text, read_strip, render_legend, render_strip


def states(found: Comparison, arm_name: str, declared: str | None = None, **outcomes: object) -> list[str]:
    rows = read_strip(found, outcomes, declared)  # type: ignore[arg-type]
    return [cell.state for cell in next(row for row in rows if row.arm == arm_name).cells]


def test_states_are_those_of_the_record() -> None:
    mixed = ("matched", "matched", "broken", "removed_by_policy", "absent", "not_reached")
    found = comparison(scored("INCONCLUSIVE"), arms=(arm("manipulated", mixed),))
    assert states(found, "manipulated") == ["matched", *mixed]


def test_a_baseline_has_no_change_to_show() -> None:
    assert states(comparison(scored("CONFIRMED")), "baseline")[2] == "not_in_chain"


def test_a_layer_without_a_link_is_not_part_of_the_chain() -> None:
    whole = arm("manipulated", ALL)
    short = whole.model_copy(update={"links": tuple(k for k in whole.links if k.layer != "persistence")})
    assert states(comparison(scored("CONFIRMED"), arms=(short,)), "manipulated")[3] == "not_in_chain"


def test_the_worst_of_several_links_in_one_layer_is_shown() -> None:
    whole = arm("manipulated", ALL)
    other = whole.links[-1].model_copy(update={"id": "second", "state": "absent"})
    two = whole.model_copy(update={"links": (*whole.links, other)})
    row = read_strip(comparison(scored("INCONCLUSIVE"), arms=(two,)), {})[0]
    assert row.cells[-1].state == "absent"
    assert row.cells[-1].links == ("effect", "second")


def test_an_unanswered_call_is_still_an_invocation() -> None:
    never = ("not_reached",) * 6
    found = comparison(scored("INCONCLUSIVE"), arms=(arm("manipulated", never),))
    asked = {"r1.manipulated": outcome("r1.manipulated", observations=(fact(),))}
    assert states(found, "manipulated", "ops.read_inbox", **asked)[0] == "matched"
    assert states(found, "manipulated", "ops.other", **asked)[0] == "absent"
    assert states(found, "manipulated", "ops.read_inbox")[0] == "absent"


def test_an_arm_without_evidence_has_its_row() -> None:
    missing = Reason(code="ARM_MISSING", about="baseline", arm="baseline", sentence="it is missing")
    found = comparison(scored("INCONCLUSIVE", (missing,)), arms=(arm("manipulated", NONE),))
    rows = {row.arm: row for row in read_strip(found, {})}
    assert rows["baseline"].remark == "no sealed attempt"
    assert {cell.state for cell in rows["baseline"].cells} == {"not_reached", "not_in_chain"}


@pytest.mark.parametrize("look", [Look(100), Look(100, unicode=False), Look(64), Look(64, unicode=False)])
def test_a_strip_fits_and_never_rests_on_colour(look: Look) -> None:
    arms: tuple[ArmRef, ...] = tuple(arm(name, NONE) for name in ("baseline", "manipulated", "hardened"))
    rows = read_strip(comparison(scored("INCONCLUSIVE"), arms=arms), {})
    text = page_text((*render_strip(rows, look), *render_legend(rows, look)))
    assert all(len(one) <= look.width for one in text.split("\n"))
    for word in ("matched", "unreached", "baseline", "manipulated", "hardened"):
        assert word in text
    for number in range(1, len(LAYERS) + 1):
        assert str(number) in text
    assert look.unicode or text.isascii()


def test_an_arm_that_crashed_says_so() -> None:
    broken = arm("manipulated", NONE, status="subject_error")
    page = render_strip(read_strip(comparison(scored("INCONCLUSIVE"), arms=(broken,)), {}), Look())
    assert "manipulated: subject_error" in page_text(page)
