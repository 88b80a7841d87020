"""Plug-ins: what they are given, what they may answer, and what becomes of those that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_kit import ACT
from plugin_kit import CASE, HEAD, facts_of, judged, rubric, told

import oyer
from oyer.errors import UsageError
from oyer.evaluators import Evidence, declared_ids, load_plugins, load_revisions
from oyer.records import digest


@pytest.mark.parametrize(
    ("body", "state", "rank"),
    [
        ('return oyer.supported(evidence.effects("actions"))', "supported", "receipt"),
        ('return oyer.refuted(evidence.calls("desk.run_action"))', "refuted", "protocol"),
        ('return oyer.conflict(evidence.calls(), evidence.effects("actions"))', "conflict", "receipt"),
        ('return oyer.supported(evidence.files("new.txt")[0])', "supported", "receipt"),
        ('return oyer.supported(evidence.find(called="desk.run_action"))', "supported", "protocol"),
        ("return oyer.supported(evidence.may_rest_on_absence())", "supported", "protocol"),
        ('return oyer.unknown("who knows")', "unknown", None),
    ],
)
def test_what_it_says_with_evidence_is_its_judgement(body: str, state: str, rank: str | None, tmp_path: Path) -> None:
    found = judged(tmp_path, body)
    assert found.error is None
    ((one,)) = found.parts
    assert (one.state, one.rank) == (state, rank)
    assert (found.run, found.evidence, found.rubric_digest) == ("r7f31c2aa", "s", digest(rubric()))


@pytest.mark.parametrize(
    ("body", "declared", "why"),
    [
        ("raise KeyError('x')", 'id="mine"', "it raised KeyError: 'x'"),
        ("return True", 'id="mine"', "it returned bool, which is no opinion"),
        ("return None", 'id="mine"', "it returned NoneType, which is no opinion"),
        ("return oyer.supported()", 'id="mine"', "it says supported and cites nothing"),
        ("return oyer.supported([])", 'id="mine"', "it says supported and cites nothing"),
        ('return oyer.refuted("tap:desk:999")', 'id="mine"', "it cites tap:desk:999, which is no event of the trial"),
        ('return oyer.refuted("what it said")', 'id="mine"', "it cites what it said, which is no event of the trial"),
        ("return oyer.supported(7)", 'id="mine"', "it raised TypeError"),
        ("return oyer.supported(evidence.calls())", 'id="mine", needs="receipt"', "it needs evidence of rank receipt"),
    ],
)
def test_what_fails_or_proves_nothing_is_an_error_and_no_verdict(
    body: str, declared: str, why: str, tmp_path: Path
) -> None:
    found = judged(tmp_path, body, declared=declared)
    assert found.parts == ()
    assert found.error is not None
    assert found.error.startswith(why)


@pytest.mark.parametrize("status", ["subject_error", "harness_error", "blocked"])
def test_a_trial_that_did_not_complete_is_not_shown_to_it(status: str, tmp_path: Path) -> None:
    found = judged(tmp_path, "raise AssertionError('asked')", told(status))
    assert (found.error, found.parts[0].state) == (None, "unknown")
    assert status in found.parts[0].why


def test_it_judges_the_parts_that_are_its_own(tmp_path: Path) -> None:
    called = {"supports": [{"called": {"server": "desk", "tool": "x"}}]}
    by = rubric(
        {"id": "voice", "evaluators": ["oyer.parts", "mine"], "parts": [called, {"evaluator": "other"}]},
        {"id": "part", "parts": [called, {"evaluator": "mine"}]},
        {"id": "others", "parts": [called]},
    )
    found = judged(tmp_path, "return oyer.supported(evidence.calls())", by=by)
    assert [(one.criterion, one.part) for one in found.parts] == [("voice", 0), ("part", 1)]


def test_it_sees_calls_effects_files_measurements_and_exits() -> None:
    evidence = Evidence(facts_of(told()))
    first, second = evidence.calls()
    assert (first.tool, first.result, first.failed, second.arguments) == ("desk.read_status", {"n": 7}, False, ACT)
    assert evidence.calls("desk.run_action", arguments={"action": "x"}) == ()
    assert [effect.content for effect in evidence.effects("actions", match=ACT)] == [ACT]
    assert evidence.watched("actions") and not evidence.watched("nowhere")
    kept, new = evidence.files()
    assert (kept.changed, new.changed, new.content, new.before) == (False, True, b"yes", None)
    assert evidence.measured("tool_calls") == 2
    assert evidence.exit_of("tests") is None
    assert evidence.rows("nowhere.db", "t") == (None, (), "there is no nowhere.db")
    assert evidence.find(world_path="new.txt", equals="yes").state == "matched"
    assert evidence.case is CASE


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import nowhere_at_all", "E-PLUGIN-IMPORT"),
        ("def f(:", "E-PLUGIN-IMPORT"),
        ("x = 1", "E-PLUGIN-EMPTY"),
        (HEAD + '@oyer.evaluator(id="A B")\ndef f(e): ...', "E-PLUGIN-DECLARED"),
        (HEAD + '@oyer.evaluator(id="f", needs="rumour")\ndef f(e): ...', "E-PLUGIN-DECLARED"),
        (HEAD + '@oyer.evaluator(id="oyer.parts")\ndef f(e): ...', "E-PLUGIN-TWICE"),
        (HEAD + '@oyer.evaluator(id="f")\ndef f(e): ...\n\n@oyer.evaluator(id="f")\ndef g(e): ...', "E-PLUGIN-TWICE"),
    ],
)
def test_what_does_not_load_is_an_error(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(text)
    (tmp_path / "good.py").write_text(HEAD + '@oyer.evaluator(id="good")\ndef good(e): ...')
    with pytest.raises(UsageError) as refused:
        load_plugins([tmp_path / "bad.py", tmp_path / "missing.py", tmp_path / "good.py"])
    assert [problem.code for problem in refused.value.problems] == [code, "E-PLUGIN-READ"]


def test_the_code_is_the_digest_of_the_bytes_and_what_is_declared_shows_without_running_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + '@oyer.evaluator(id="mine")\ndef mine(e): ...\nraise SystemExit')
    assert declared_ids(path) == ("mine",)
    path.write_text(HEAD + '@oyer.evaluator(id="mine", limits=["one"])\ndef mine(e): ...')
    loaded = load_plugins([path, path])
    assert loaded.sources == {str(path): loaded.judges["mine"].evaluator.code}
    assert loaded.judges["mine"].evaluator.limits == ("one",)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("x = 1", "E-PLUGIN-EMPTY", "declares no evaluator"),
        ("import oyer\nimport os, nosuchmod.inner\n", "E-PLUGIN-IMPORT", "there is no module nosuchmod"),
        ("import oyer\nfrom nosuchmod import x\n", "E-PLUGIN-IMPORT", "there is no module nosuchmod"),
        ('@oyer.evaluator(id="f", needs="reciept")', "E-PLUGIN-DECLARED", "needs 'reciept', which is no rank"),
        ('@oyer.evaluator(id="f", need="receipt")', "E-PLUGIN-DECLARED", "is declared with need"),
        ('@oyer.evaluator(id="A B")', "E-PLUGIN-DECLARED", "its id"),
        ('@oyer.evaluator(id="oyer.parts")', "E-PLUGIN-TWICE", "is there twice"),
    ],
)
def test_what_will_keep_it_from_loading_shows_in_its_text(text: str, code: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    if text.startswith("@"):
        text = f"{HEAD}{text}\ndef f(e): ..."
    elif "nosuchmod" in text:
        text += '@oyer.evaluator(id="f")\ndef f(e): ...'
    path.write_text(text)
    for reading in (declared_ids, lambda one: load_plugins([one])):
        with pytest.raises(UsageError) as refused:
            reading(path)
        (problem,) = refused.value.problems
        assert problem.code == (code if reading is declared_ids or "need=" not in text else "E-PLUGIN-IMPORT")
    with pytest.raises(UsageError, match=told):
        declared_ids(path)


def test_an_import_that_may_fail_is_for_the_loading_to_say(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        f'{HEAD}try:\n    import nosuchmod\nexcept ImportError:\n    pass\n\n@oyer.evaluator(id="f")\ndef f(e): ...'
    )
    assert declared_ids(path) == ("f",)


def test_revisions_of_one_evaluator_load_side_by_side_where_that_is_asked_for(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.py", "two.py", "copy.py")]
    body = HEAD + '@oyer.evaluator(id="f")\ndef f(e): ...\n'
    for path, text in zip(paths, (body, body + "# revised\n", body), strict=True):
        path.write_text(text)
    first, second = load_revisions(paths)
    assert first.evaluator.id == second.evaluator.id == "f"
    assert first.evaluator.code != second.evaluator.code
    with pytest.raises(UsageError, match="evaluator f is there twice"):
        load_plugins(paths[:2])


def test_the_front_gives_it_and_nothing_else() -> None:
    assert oyer.Evidence is Evidence
    with pytest.raises(AttributeError):
        _ = oyer.nothing_of_the_kind  # type: ignore[attr-defined]
