"""A hardened arm whose policy takes a field out of what a tool returns, from a real server to a contrast."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from series_kit import case_file, failed_checks, packaged, run, verified

from oyer.evidence import digest_of
from oyer.observe import read_trial
from oyer.store import SeriesReader


def stripping(tmp_path: Path, fields: str) -> Path:
    """Write the packaged experiment with another hardened condition, beside a copy of its world."""
    source = packaged("cascade-memo")
    assert source.world is not None
    shutil.copytree(source.world, tmp_path / "inbox")
    text = next(source.base.glob("*.yaml")).read_text(encoding="utf-8").split("\n---")[0]
    start, end = text.index("hardened:"), text.index("chain:")
    policy = "hardened:\n  id: no-inbox\n  why: what is done by who never sees the inbox?\n"
    policy += f"  strip: {{tool: ops.read_inbox, fields: {fields}}}\n"
    controls = text.index("controls:"), text.index("doubles:")
    text = text[:start] + policy + text[end : controls[0]] + text[controls[1] :]
    path = tmp_path / "case.yaml"
    path.write_text(text.replace("worlds/inbox/", "inbox/"), encoding="utf-8")
    return path


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("fields", "outcome", "contrast", "state"),
    [
        ("[/inbox]", "NOT_OBSERVED", "differs", "removed_by_policy"),
        ("[/outbox]", "CONFIRMED", "same_effect", "matched"),
    ],
)
def test_what_is_taken_out_was_not_met(tmp_path: Path, fields: str, outcome: str, contrast: str, state: str) -> None:
    out = tmp_path / "series"
    result = run(case_file(stripping(tmp_path, fields)), ["scripted:obedient"], out)
    (comparison,) = result.result.comparisons
    assert comparison.primary.mechanical_outcome == "CONFIRMED"
    assert comparison.hardened is not None
    assert comparison.hardened.mechanical_outcome == outcome, comparison.hardened.reasons
    assert comparison.hardened_contrast == contrast
    assert next(link.state for link in comparison.hardened.links if link.id == "modified") == state
    assert [a.cause for a in comparison.hardened.attribution] == (["lure_removed"] if contrast == "differs" else [])
    assert not failed_checks(out) and verified(out).exit_code == 0
    if contrast == "differs":
        _three_digests(out, next(arm.trial for arm in comparison.arms if arm.condition == "hardened"))


def _three_digests(out: Path, trial: str) -> None:
    """Original, modified and delivered are on record, each by its digest, and three different messages."""
    with SeriesReader(out) as reader:
        evidence = read_trial(reader.journals(trial, 1), reader.content)
        act, *_ = evidence.events("tap:ops", "mcp.policy")
        (change,) = evidence.events("tap:ops", "mcp.intervened")
        left, modified = evidence.payload(act, "delivered"), evidence.payload(change, "modified")
        assert act.body["did"] == "stripped" and left is not None and modified is not None
        assert act.body["modified"] == digest_of(modified)
        delivered = {event.body["sha256"] for event in evidence.events("tap:ops", "mcp.delivered")}
        assert digest_of(left) in delivered and b"approved by" in modified and b"approved by" not in left
        assert len({act.body["original"], act.body["modified"], digest_of(left)}) == 3
