"""A large series is told in a line each: nothing is left out, nothing undecided looks decided, all stands elsewhere."""

from __future__ import annotations

from report_kit import outcome, plan_of

from oyer.adjudicate import GateResult, LedgerCount, count_ledger
from oyer.adjudicate.gate_values import Seen
from oyer.records import ClaimVerdict, CriterionVerdict, Outcome, Performed, Verdict
from oyer.report import Judged, Look, page_text, render_series
from oyer.report.brief import MANY


def judged(name: str, verdict: Verdict) -> Outcome:
    found = CriterionVerdict(criterion="said-so", verdict=verdict)
    claim = ClaimVerdict(
        claim="truthful",
        text="It says so.",
        rubric="r",
        rubric_digest="sha256:" + "0" * 64,
        verdict=verdict,
        criteria=(found,),
        may_be_cited=True,
        sentence="A sentence that belongs to the full form.",
    )
    return outcome(name, "plain").model_copy(update={"case": name, "verdicts": (claim,)})


def series(number: int) -> dict[str, Outcome]:
    told = {f"c{index:03}": judged(f"c{index:03}", "PASS") for index in range(number - 3)}
    told["unclear"] = judged("unclear", "UNKNOWN")
    told["control"] = outcome("control", "plain").model_copy(
        update={"case": "control", "performed": Performed(state="refused")}
    )
    told["broken"] = outcome("broken", "plain").model_copy(update={"case": "broken", "status": "harness_error"})
    return told


def shown(number: int, judged_too: Judged | None = None, *, whole: bool = False) -> str:
    return page_text(render_series(plan_of(1), {}, series(number), [], Look(), judged_too, whole=whole))


def test_up_to_the_bound_everything_is_told_in_full() -> None:
    assert shown(MANY).count("A sentence that belongs to the full form.") == MANY - 2
    assert "--long" not in shown(MANY)


def test_beyond_it_each_has_a_line_and_none_is_missing() -> None:
    text = shown(MANY + 1)
    assert "A sentence that belongs to the full form." not in text
    assert "oyer show SERIES --long" in " ".join(text.split())
    lines = [line for line in text.splitlines() if " by " in line]
    assert len(lines) == MANY + 1
    assert sum(line.startswith("  PASS ") for line in lines) == MANY - 2
    assert [line.split()[0] for line in lines[-3:]] == ["UNKNOWN", "refused", "harness_error"]
    assert "said-so" in next(line for line in lines if "unclear" in line)


def test_each_line_says_by_which_number_its_trials_go() -> None:
    told = {f"t{index:05}.{name}.s.r1.plain": one.model_copy(update={"trial": f"t{index:05}.{name}.s.r1.plain"})
            for index, (name, one) in enumerate(series(MANY + 1).items())}  # fmt: skip
    text = page_text(render_series(plan_of(1), {}, told, [], Look()))
    assert [line.split(" trial ")[1].split(":")[0] for line in text.splitlines() if " by " in line] == [
        str(index) for index in range(MANY + 1)
    ]


def test_the_long_form_tells_all() -> None:
    assert shown(MANY + 1, whole=True).count("A sentence that belongs to the full form.") == MANY - 1


def test_gates_and_unqualified_cases_are_counted() -> None:
    ledger: LedgerCount = count_ledger(plan_of(1), series(MANY + 1).values(), [])
    seen = Seen("set(a)", "s", (None, "DISCRIMINATES"), {"unqualified": 1}, 0, 1, 1)
    gate = GateResult("every set(a) == DISCRIMINATES", "undecided", "A long sentence.", (seen,), "planned trials 1")
    text = shown(MANY + 1, Judged(ledger, gates=[gate], unqualified=["a", "b"]))
    assert "undecided every set(a) == DISCRIMINATES; undecided: unqualified 1" in " ".join(text.split())
    assert "A long sentence." not in text
    assert "Unqualified: 2 of" in text
