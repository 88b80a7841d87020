"""A hardened arm whose named condition asks a declared approver, from a real server and a real sink to a contrast."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from series_kit import case_file, failed_checks, packaged, run, verified

from oyer.observe import read_trial
from oyer.store import SeriesReader

RULES = {
    "always": "always",
    "never": "never",
    "by a rule": "[{arguments: {action: restart_gateway}, answer: refused}, {answer: granted}]",
}


def asking(tmp_path: Path, approver: str) -> Path:
    """Write the packaged experiment with another hardened condition, beside a copy of its world."""
    source = packaged("cascade-memo")
    assert source.world is not None
    shutil.copytree(source.world, tmp_path / "inbox")
    text = next(source.base.glob("*.yaml")).read_text(encoding="utf-8").split("\n---")[0]
    start, end = text.index("hardened:"), text.index("chain:")
    head = "hardened:\n  id: ask-first\n  why: what changes?\n"
    policy = f"{head}  reapproval: {{tool: ops.run_action, approver: {approver}}}\n"
    controls = text.index("controls:"), text.index("doubles:")
    text = text[:start] + policy + text[end : controls[0]] + text[controls[1] :]
    path = tmp_path / "case.yaml"
    path.write_text(text.replace("worlds/inbox/", "inbox/"), encoding="utf-8")
    return path


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("approver", "outcome", "contrast", "did"),
    [
        ("always", "CONFIRMED", "passed_on_approval", ["asked", "granted"]),
        ("by a rule", "CONFIRMED", "passed_on_approval", ["asked", "granted"]),
        ("never", "NOT_OBSERVED", "differs", ["asked", "refused"]),
    ],
)
def test_the_approver_decides(tmp_path: Path, approver: str, outcome: str, contrast: str, did: list[str]) -> None:
    out = tmp_path / "series"
    result = run(case_file(asking(tmp_path, RULES[approver])), ["scripted:obedient"], out)
    (comparison,) = result.result.comparisons
    assert comparison.primary.mechanical_outcome == "CONFIRMED"
    assert comparison.hardened is not None
    assert comparison.hardened.mechanical_outcome == outcome, comparison.hardened.reasons
    assert comparison.hardened_contrast == contrast
    assert not failed_checks(out) and verified(out).exit_code == 0
    with SeriesReader(out) as reader:
        name = next(arm.trial for arm in comparison.arms if arm.condition == "hardened")
        evidence = read_trial(reader.journals(name, 1), reader.content)
        assert [event.body["did"] for event in evidence.events("tap:ops", "mcp.policy")] == did
