"""Checks and what they come to."""

from __future__ import annotations

import json

import pytest

from oyer.verify import Check, Status, Verification
from oyer.verify.result import MAX_FINDINGS, Findings


def verification(*statuses: Status) -> Verification:
    checks = tuple(Check(number, "name", status) for number, status in enumerate(statuses, start=1))
    return Verification(checks, "s1", None, "words")


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((), 0),
        (("ok", "not_applicable"), 0),
        (("ok", "not_run"), 5),
        (("not_run", "failed", "ok"), 4),
        (("failed", "failed"), 4),
    ],
)
def test_the_exit_code(statuses: tuple[Status, ...], code: int) -> None:
    assert verification(*statuses).exit_code == code


def test_nothing_here_has_a_truth_value() -> None:
    with pytest.raises(TypeError, match="truth value"):
        bool(verification("ok"))
    with pytest.raises(TypeError, match="truth value"):
        bool(Check(1, "name", "failed"))


def test_a_check_by_its_number() -> None:
    assert verification("ok", "failed").check(2).status == "failed"
    with pytest.raises(KeyError):
        verification("ok").check(9)


def test_a_failure_outweighs_what_could_not_be_checked() -> None:
    found = Findings(4, "records", "restore it")
    found.open("E-A", "cannot be read", "a")
    found.failed("E-B", "is wrong", "b")
    found.note("by the way")
    check = found.close("all is well")
    assert (check.status, [problem.code for problem in check.findings]) == ("failed", ["E-B", "E-A"])
    assert check.findings[0].hint == "restore it" and check.notes == ("by the way",)
    assert check.lines()[0] == "check 4 (records): b: is wrong; restore it [E-B]"


def test_without_findings_the_detail_says_what_was_proven() -> None:
    check = Findings(4, "records", "restore it").close("all is well")
    assert (check.status, check.detail) == ("ok", "all is well")


def test_many_findings_are_counted_and_not_all_listed() -> None:
    found = Findings(5, "chains", "restore it")
    for number in range(MAX_FINDINGS + 7):
        found.failed("E-A", "is wrong", f"place {number}")
        found.failed("E-A", "is wrong", "place 0")
    check = found.close("")
    assert len(check.findings) == MAX_FINDINGS
    assert check.detail == f"{MAX_FINDINGS + 7} defects; 7 more are not listed"


def test_the_plain_form() -> None:
    found = Findings(5, "chains", "restore it")
    found.failed("E-A", "is wrong", "trials/x", "do this")
    plain = Verification((found.close(""),), "s1", "sha256:x", "words").to_json()
    assert json.loads(json.dumps(plain)) == {
        "exit_code": 4,
        "series": "s1",
        "head": "sha256:x",
        "words": "words",
        "signatures": {"bundle": None, "plan": None, "plan_signed": None},
        "checks": [
            {
                "number": 5,
                "name": "chains",
                "status": "failed",
                "detail": "1 defect",
                "notes": [],
                "findings": [
                    {"check": 5, "code": "E-A", "where": "trials/x", "message": "is wrong", "hint": "do this"}
                ],
            }
        ],
    }
