"""From the first fault of an attempt to its execution status."""

from __future__ import annotations

import pytest

from oyer.engine.faults import STATE_CONTRACT, Fault, FaultLog, fault_class, status_of
from oyer.errors import Blocked, HarnessError, OyerError, SubjectError
from oyer.records import BLAMED, Blame

BLAME = Blame(
    dependency_unavailable="blocked",
    hidden_validator_unavailable="harness_error",
    state_contract_broken="harness_error",
    budget_exceeded="subject_error",
    timeout="subject_error",
)


@pytest.mark.parametrize("cls", BLAMED)
def test_the_five_are_blamed_as_the_case_says(cls: str) -> None:
    assert status_of(Fault("x", cls, ""), BLAME) == getattr(BLAME, cls)


@pytest.mark.parametrize(
    ("cls", "status"),
    [
        ("subject", "subject_error"),
        ("subject_crash", "subject_error"),
        ("subject_protocol", "subject_error"),
        ("harness", "harness_error"),
    ],
)
def test_the_others_say_themselves_whose_they_are(cls: str, status: str) -> None:
    assert status_of(Fault("x", cls, ""), BLAME) == status


def test_without_a_fault_an_attempt_is_completed() -> None:
    assert status_of(None, BLAME) == "completed"


def test_the_first_fault_decides() -> None:
    log = FaultLog()
    assert log.first is None
    log.hear("server:ops", "dependency_unavailable", "gone")
    log.hear("subject", "subject_crash", "died of it")
    assert log.first == Fault("server:ops", "dependency_unavailable", "gone")
    assert log.heard.is_set()


@pytest.mark.parametrize(
    ("error", "cls"),
    [
        (HarnessError(STATE_CONTRACT, "another world"), "state_contract_broken"),
        (HarnessError("E-STORE-WRITE", "full"), "harness"),
        (Blocked("E-ISOLATION", "no sandbox"), "dependency_unavailable"),
        (SubjectError("E-X", "broke"), "subject"),
        (OyerError("E-X", "anything else"), "harness"),
    ],
)
def test_an_error_at_the_outer_seal_has_a_class(error: OyerError, cls: str) -> None:
    assert fault_class(error) == cls
