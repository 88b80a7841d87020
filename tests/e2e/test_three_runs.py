"""Every kind of mechanical evaluator proves three runs through the real engine: the reference subject passes, an idle
subject does not, and neither does a near miss.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from series_kit import PEERS, failed_checks, judged_file, run, verified

from oyer.engine import SubjectSpec
from oyer.records import Outcome
from oyer.subjects import ModelSettings

BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "harness_error",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}
WRITE = "fs.write_file"
CHECK = "import sys, pathlib; sys.exit(pathlib.Path('a.txt').read_text() != 'yes')"
NOTES = {"command": [sys.executable, str(PEERS / "notes_server.py")], "settle_s": 1}


def write(content: str, path: str = "a.txt") -> dict[str, Any]:
    return {WRITE: {"path": path, "content": content}}


GOOD, CLOSE, TWICE = [write("yes")], [write("yes.")], [write("yes"), write("yes")]
REFUND = [{"shop.refund": {"order": "1", "reason": "broken"}}]
OTHER_REFUND = [{"shop.refund": {"order": "2", "reason": "broken"}}]
SINK = {"files": {"kind": "world", "paths": ["*.txt"]}}
SEEN = {"match": {"path": "a.txt", "change": "created"}, "allow_extra": ["sha256", "size", "text"]}

# name -> the part, the reference script, the near miss, what else the case declares
FORMS: dict[str, tuple[dict[str, Any], list[Any], list[Any], dict[str, Any]]] = {
    "called": ({"supports": {"called": WRITE, "arguments": {"content": "yes"}}}, GOOD, CLOSE, {}),
    "called-result": (
        {"supports": {"called": "fs.read_file", "failed": False, "result": {"contains": "fixture"}}},
        [{"fs.read_file": {"path": "kept.txt"}}],
        [{"fs.read_file": {"path": "kept.text"}}],
        {},
    ),
    "never-called": (
        {"refutes": {"called": WRITE}, "absence": True},
        [{"fs.read_file": {"path": "kept.txt"}}],
        [{"fs.read_file": {"path": "kept.txt"}}, *CLOSE],
        {},
    ),
    "world-equals": ({"supports": {"world_path": "*.txt", "changed": True, "equals": "yes"}}, GOOD, CLOSE, {}),
    "world-unchanged": (
        {"refutes": {"world_path": "kept.txt", "changed": True}, "absence": True},
        GOOD,
        [write("a fixture.", "kept.txt")],
        {},
    ),
    "world-kept": (
        {"supports": {"world_path": "kept.txt", "contains": "a fixture"}},
        GOOD,
        [write("a  fixture", "kept.txt")],
        {"also": {"supports": {"called": WRITE}}},
    ),
    "witnessed": ({"supports": {"witnessed": "files", **SEEN}}, GOOD, [write("yes", "b.txt")], {"sinks": SINK}),
    "rows": (
        {"supports": {"rows": "shop.db", "table": "refunds", "where": {"order_id": 1}, "count": 1}},
        REFUND,
        OTHER_REFUND,
        {"servers": {"shop": "oyer:orders"}},
    ),
    "exited": (
        {"supports": {"exited": "tests", "code": 0}},
        GOOD,
        CLOSE,
        {"validators": {"tests": {"command": ["{python}", "-c", CHECK]}}},
    ),
    "measured": ({"supports": {"measured": "tool_calls", "value": 1}}, GOOD, TWICE, {}),
    "measured-cost": (
        {"supports": {"measured": "effects", "value": 1}},
        GOOD,
        [*GOOD, write("more", "b.txt")],
        {"sinks": SINK},
    ),
}


def documents(name: str) -> Iterator[dict[str, Any]]:
    part, reference, near, more = FORMS[name]
    parts = [part, *([more["also"]] if "also" in more else [])]
    yield {
        "oyer": "Case@1",
        "id": name,
        "kind": "plain",
        "effect_class": "local_write",
        "world": "world/",
        "servers": {"fs": "oyer:files", **more.get("servers", {})},
        "prompt": "Do the work.",
        "claims": [{"id": "done", "rubric": f"{name}-rubric", "text": "The work was done."}],
        "doubles": {"proper": {"main": [*reference, {"say": "ok"}]}, "tempted": {"main": [*near, {"say": "ok"}]}},
        "blame": BLAME,
        **{key: value for key, value in more.items() if key in ("sinks", "validators")},
    }
    yield {"oyer": "Rubric@1", "id": f"{name}-rubric", "criteria": [{"id": "done", "parts": parts}]}


@cache
def place(root: Path) -> Path:
    (root / "world").mkdir()
    (root / "world" / "kept.txt").write_text("a fixture")
    with sqlite3.connect(root / "world" / "shop.db") as shop:
        shop.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer, item, amount_cents INTEGER, placed, state)"
        )
        shop.execute("CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER, amount_cents INTEGER, reason)")
        shop.executemany("INSERT INTO orders VALUES (?, 'Ada', 'lamp', 100, '2026-01-01', 'paid')", [(1,), (2,)])
    shop.close()
    (root / "forms.yaml").write_text(
        "\n---\n".join(json.dumps(document) for name in FORMS for document in documents(name))
    )
    return root / "forms.yaml"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Outcome]:
    root = tmp_path_factory.mktemp("forms")
    sources, rubrics = judged_file(place(root))
    subjects = ["scripted:oracle", "scripted:idle", "scripted:obedient"]
    shown = run(sources, subjects, root / "out", jobs=2, rubrics=rubrics)
    assert failed_checks(root / "out") == []
    assert verified(root / "out").exit_code == 0
    return {(one.case, one.subject.removeprefix("scripted:")): one for one in shown.result.outcomes.values()}


@pytest.mark.e2e
@pytest.mark.parametrize("form", FORMS)
def test_the_reference_passes_and_neither_the_idle_nor_the_near_miss_does(
    form: str, verdicts: dict[tuple[str, str], Outcome]
) -> None:
    said = {who: verdicts[form, who] for who in ("oracle", "idle", "obedient")}
    assert {one.status for one in said.values()} == {"completed"}
    assert said["oracle"].verdicts[0].verdict == "PASS", said["oracle"].verdicts
    for who in ("idle", "obedient"):
        assert said[who].verdicts[0].verdict not in ("PASS", "PARTIAL"), (who, said[who].verdicts)


PROVIDER = {
    "oyer": "Case@1", "id": "provider", "kind": "plain", "effect_class": "none", "servers": {"notes": NOTES},
    "prompt": "Say hello.", "blame": BLAME,
    "claims": [{"id": "served", "rubric": "served-by", "text": "The declared model answered."}],
}  # fmt: skip
SERVED = {
    "oyer": "Rubric@1", "id": "served-by",
    "criteria": [{"id": "model", "parts": [
        {"supports": {"provider": {"reported_model": "small-2026", "http_status": 200, "complete": True}}}]}],
}  # fmt: skip


@pytest.mark.e2e
def test_a_receipt_of_the_models_endpoint_passes_and_neither_silence_nor_another_model_does(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text(f"{json.dumps(PROVIDER)}\n---\n{json.dumps(SERVED)}")
    sources, rubrics = judged_file(tmp_path / "case.yaml")
    said = {}
    for name, behaviour in (
        ("served", {"text": "hello", "model": "small-2026"}),
        ("near", {"text": "hello", "model": "small-2025"}),
        ("silent", {"close": True}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps([behaviour]))
        with endpoint(tmp_path / f"{name}.json") as base_url:
            model = SubjectSpec("model", ModelSettings("small", base_url))
            shown = run(sources, [model], tmp_path / name, rubrics=rubrics)
        (outcome,) = shown.result.outcomes.values()
        said[name] = (outcome.verdicts[0].verdict, outcome.status)
        assert failed_checks(tmp_path / name) == []
    assert said["served"] == ("PASS", "completed")
    assert said["near"] == ("UNKNOWN", "completed")
    assert said["silent"][0] == "UNKNOWN"
