"""A catalogue of tamperings, each with the number of the check that must notice it.

Where a test reseals, the forger has mended every digest and chain: only a check that looks at the thing itself is left.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from golden_build import build_series
from golden_script import ACTION, golden_case
from golden_tamper import Forger, Lines, events_of, failing, flip, statuses, told, verify

from oyer.evidence import (
    attempt_dir,
    blob_path,
    digest_of,
    encode_blob,
    encode_canonical,
    encode_seal,
    make_seal,
    packed_path,
    parse_seal,
)

CONFIRMED, QUIET = "obedient.r1.manipulated", "wary.r1.manipulated"
TAP, HARNESS, SINK = "tap.desk.jsonl", "harness.jsonl", "sink.actions.jsonl"


def expect(forger: Forger, *numbers: int, only: bool = False) -> str:
    """Verify: these checks fail (and with `only` no other); return all findings."""
    found = verify(forger.root)
    assert found.exit_code == 4, found.to_json()
    assert set(numbers) <= failing(found), told(found)
    assert not only or failing(found) == set(numbers), told(found)
    assert all(
        finding.where and finding.hint
        for check in found.checks
        for finding in check.findings
        if check.status == "failed"
    )
    return told(found)


# ---------------------------------------------------------------- one line of evidence, every digest mended


def _twice(kind: str, extra: bytes) -> Any:
    def spoil(event: dict[str, Any], line: bytes) -> bytes:
        return line[:-1] + extra + b"}" if event["kind"] == kind else line

    return spoil


@pytest.mark.parametrize(
    ("kind", "extra"),
    [
        ("turn.received", b',"kind":"turn.sent"'),
        ("turn.received", b',"\\u006bind":"turn.sent"'),
        ("turn.received", b',"kind":"turn.received"'),
    ],
    ids=["another-value", "escaped", "the-same-value"],
)
def test_evid_01_a_key_twice_in_a_journal_line(forger: Forger, kind: str, extra: bytes) -> None:
    trial = forger.trial(CONFIRMED)
    forger.edit_events(trial, HARNESS, spoil=_twice(kind, extra))
    forger.reseal()
    text = expect(forger, 5)
    assert "duplicate key 'kind'" in text and trial in text and "harness:" in text


def test_evid_01_a_key_twice_inside_a_body(forger: Forger) -> None:
    trial = forger.trial(CONFIRMED)
    forger.edit_events(
        trial,
        HARNESS,
        spoil=lambda event, line: line.replace(b'"ended_by":"subject"', b'"ended_by":"stop","ended_by":"subject"'),
    )
    forger.reseal()
    assert "duplicate key 'ended_by'" in expect(forger, 5)


def test_white_space_in_a_journal_line(forger: Forger) -> None:
    forger.edit_events(forger.trial(CONFIRMED), TAP, spoil=lambda event, line: line.replace(b'":"', b'": "', 1))
    forger.reseal()
    assert "not canonical JSON" in expect(forger, 5)


def test_an_event_taken_out_of_a_rehashed_journal_changes_what_follows(forger: Forger) -> None:
    forger.edit_events(
        forger.trial(CONFIRMED),
        SINK,
        lambda events: events.remove(next(e for e in events if e["kind"] == "sink.effect")),
    )
    forger.reseal()
    text = expect(forger, 8, 10)
    assert "observations" in text and "primary" in text


def test_the_subjects_words_changed_in_a_rehashed_journal(forger: Forger) -> None:
    def edit(events: Lines) -> None:
        body = next(e for e in events if e["kind"] == "turn.received")["body"]
        body["payload"] = {"sha256": digest_of(b"no"), "size": 2, "text": "no"}

    forger.edit_events(forger.trial(CONFIRMED), HARNESS, edit)
    forger.reseal()
    assert "said" in expect(forger, 8)


def test_a_payload_that_is_not_what_its_digest_says(forger: Forger) -> None:
    def edit(events: Lines) -> None:
        next(e for e in events if e["kind"] == "turn.received")["body"]["payload"]["text"] += "!"

    forger.edit_events(forger.trial(CONFIRMED), HARNESS, edit)
    forger.reseal()
    assert "E-PAYLOAD-DIGEST" in expect(forger, 5)


def test_evid_05_a_bare_integer_beyond_what_is_safe(forger: Forger) -> None:
    def edit(events: Lines) -> None:
        next(e for e in events if e["kind"] == "turn.received")["body"]["calls"] = 2**53 + 1

    forger.edit_events(forger.trial(CONFIRMED), HARNESS, edit)
    forger.reseal()
    assert "E-EVENT-BODY" in expect(forger, 5)


@pytest.mark.parametrize("text", ["[" * 4000, "[" * 2000 + "]" * 2000, '{"a":' * 600 + "1" + "}" * 600, "9" * 4000])
def test_a_message_made_to_break_its_reader(forger: Forger, text: str) -> None:
    """A server may answer anything; the scorer sees it through a good chain and has an answer."""

    def edit(events: Lines) -> None:
        for event in events:
            if event["kind"] == "mcp.received":
                event["body"]["payload"] = {"sha256": digest_of(text.encode()), "size": len(text), "text": text}
                event["blobs"] = []

    forger.edit_events(forger.trial(CONFIRMED), TAP, edit)
    forger.reseal()
    expect(forger, 8, 10)


def test_a_newer_vocabulary(forger: Forger) -> None:
    forger.edit_events(forger.trial(CONFIRMED), HARNESS, lambda events: events[0]["body"].update(vocabulary=99))
    forger.reseal()
    assert "E-EVENT-VERSION" in expect(forger, 5)


def test_an_older_vocabulary_than_the_series_names(forger: Forger) -> None:
    forger.edit_events(forger.trial(CONFIRMED), HARNESS, lambda events: events[0]["body"].update(vocabulary=2))
    forger.reseal()
    assert "E-EVENT-VERSION" in expect(forger, 5)


def test_other_reasoning_delimiters_than_the_planned_ones(forger: Forger) -> None:
    between = [["<think>", "</think>"]]
    forger.edit_events(
        forger.trial(CONFIRMED), HARNESS, lambda events: events[0]["body"].update(reasoning_delimiters=between)
    )
    forger.reseal()
    assert "reasoning_delimiters" in expect(forger, 5)


def test_another_source_of_a_model_than_the_planned_one(forger: Forger) -> None:
    forger.edit_events(
        forger.trial(CONFIRMED), HARNESS, lambda events: events[0]["body"].update(model_source="scripted")
    )
    forger.reseal()
    assert "model_source" in expect(forger, 5)


def test_another_case_in_trial_opened(forger: Forger) -> None:
    forger.edit_events(forger.trial(CONFIRMED), HARNESS, lambda events: events[0]["body"].update(case=digest_of(b"x")))
    forger.reseal()
    assert "E-CHAIN-FOREIGN" in expect(forger, 5)


# ---------------------------------------------------------------- EVID-07: cut short


@pytest.mark.parametrize("name", [TAP, HARNESS, SINK, "world.jsonl"])
@pytest.mark.parametrize("cut", [1, 2, 10_000])
def test_evid_07_lines_cut_off_a_journal(forger: Forger, name: str, cut: int) -> None:
    trial = forger.trial(QUIET)
    journals = forger.journals(trial)
    lines = journals[name].split(b"\n")[:-1]
    journals[name] = b"".join(line + b"\n" for line in lines[:-cut])
    forger.repack(trial, journals)
    forger.reseal()
    text = expect(forger, 5)
    assert "E-CHAIN-UNSEALED" in text and trial in text


def test_evid_07_a_journal_cut_in_the_middle_of_a_line(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    journals = forger.journals(trial)
    journals[TAP] = journals[TAP][:-7]
    forger.repack(trial, journals)
    forger.reseal()
    assert "E-CHAIN-TORN" in expect(forger, 5)


def test_evid_07_a_whole_journal_taken_out(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    journals = forger.journals(trial)
    del journals[SINK]
    forger.repack(trial, journals)
    forger.reseal()
    assert "E-WRITERS-MISSING" in expect(forger, 5)


def test_a_journal_put_in_that_nobody_listed(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    journals = forger.journals(trial)
    journals["tap.other.jsonl"] = journals[TAP]
    forger.repack(trial, journals)
    forger.reseal()
    assert "E-WRITERS-UNLISTED" in expect(forger, 5)


@pytest.mark.parametrize("cut", [1, 2, 10_000])
@pytest.mark.parametrize("seals", ["kept", "mended", "gone"])
def test_evid_07_lines_cut_off_the_ledger(forger: Forger, cut: int, seals: str) -> None:
    path = forger.root / "ledger.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1]
    path.write_bytes(b"".join(line + b"\n" for line in lines[:-cut]))
    if seals == "mended":
        forger.reseal()
    elif seals == "gone":
        shutil.rmtree(forger.root / "seals")
    found = verify(forger.root)
    # Without the last line and without seals it is what a kill before closing leaves; recorded results stay true.
    assert found.exit_code == (5 if seals == "gone" and cut == 1 else 4), found.to_json()
    assert "ledger" in told(found)


def test_evid_07_a_trial_directory_deleted(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    shutil.rmtree((forger.root / packed_path(trial, 1)).parent)
    assert trial in expect(forger, 2, 5, 6)
    forger.reseal()
    assert trial in expect(forger, 5, 6)


def test_evid_07_all_trials_deleted(forger: Forger) -> None:
    shutil.rmtree(forger.root / "trials")
    forger.reseal()
    expect(forger, 5, 6, 8, 10)


def test_a_trial_deleted_with_its_ledger_records(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    shutil.rmtree((forger.root / packed_path(trial, 1)).parent)

    def edit(records: Lines) -> None:
        records[:] = [record for record in records if record["trial"] != trial]

    forger.edit_ledger(edit)
    forger.reseal()
    text = expect(forger, 6, 8, 10)
    assert f"trial {trial} is planned and has no counted attempt" in text


def test_a_trial_excluded_without_a_rule(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    shutil.rmtree((forger.root / packed_path(trial, 1)).parent)

    def edit(records: Lines) -> None:
        mine = [record for record in records if record["trial"] == trial]
        for record in mine[1:]:
            records.remove(record)
        mine[0].update(kind="excluded", attempt=None, run=None, why="it looked odd")

    forger.edit_ledger(edit)
    forger.reseal()
    assert "the plan has no rule for that" in expect(forger, 6)


def test_a_trial_that_ran_excluded_without_a_rule(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    excluded = {
        "attempt": None,
        "body": {},
        "digest": None,
        "kind": "excluded",
        "run": None,
        "status": None,
        "t_wall": "2026-01-01T00:00:00Z",
        "trial": trial,
        "why": "it looked odd",
    }
    forger.edit_ledger(lambda records: records.insert(-1, excluded))
    forger.reseal()
    assert "the plan has no rule for that" in expect(forger, 6, only=True)


# ---------------------------------------------------------------- seals


def test_every_seal_removed(forger: Forger) -> None:
    shutil.rmtree(forger.root / "seals")
    assert "E-SEAL-MISSING" in expect(forger, 2)


def test_the_first_seal_removed(forger: Forger) -> None:
    (forger.root / "seals/001.json").unlink()
    assert "seals/002.json" in expect(forger, 2)


def test_the_last_seal_removed_is_never_whole(forger: Forger) -> None:
    """It cannot be told from a judgement that was interrupted before its seal: incomplete, and not valid."""
    (forger.root / "seals/002.json").unlink()
    found = verify(forger.root)
    assert (found.exit_code, statuses(found)[2]) == (5, "not_run")
    flip(next((forger.root / "outcomes").iterdir()), at=40)
    expect(forger, 2, 8)


def test_the_last_act_removed_whole_is_never_whole(forger: Forger) -> None:
    (forger.root / "seals/002.json").unlink()
    for directory in ("outcomes", "comparisons"):
        shutil.rmtree(forger.root / directory)
    found = verify(forger.root)
    assert (found.exit_code, statuses(found)[8], statuses(found)[10]) == (5, "not_run", "not_run")


def test_two_seals_swapped(forger: Forger) -> None:
    one, two = forger.root / "seals/001.json", forger.root / "seals/002.json"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert "E-SEAL-NUMBER" in expect(forger, 2)


def test_a_seal_put_in_that_lists_nothing(forger: Forger) -> None:
    last = parse_seal((forger.root / "seals/002.json").read_bytes())
    apart = make_seal(9, "report", [], last.digest, last.t_wall)
    (forger.root / "seals/009.json").write_bytes(encode_seal(apart))
    assert "seals/009.json" in expect(forger, 2, only=True)


@pytest.mark.parametrize(
    "path", ["../evil", "/etc/passwd", "a//b", "seals/001.json", "C:\\x", "", "a\nb", "./plan.json"]
)
def test_a_seal_that_lists_a_path_outside(forger: Forger, path: str) -> None:
    seal = json.loads((forger.root / "seals/002.json").read_bytes())
    seal["files"] = sorted(
        [*seal["files"], {"path": path, "sha256": digest_of(b""), "size": 0}], key=lambda f: f["path"]
    )
    del seal["digest"]
    seal["digest"] = digest_of(encode_canonical(seal))
    (forger.root / "seals/002.json").write_bytes(encode_canonical(seal))
    assert "E-SEAL-PATH" in expect(forger, 2)


def test_a_file_listed_twice(forger: Forger) -> None:
    one, two = (parse_seal((forger.root / f"seals/00{n}.json").read_bytes()) for n in (1, 2))
    made = make_seal(2, "judge", [*two.files, one.files[0]], one.digest, two.t_wall)
    (forger.root / "seals/002.json").write_bytes(encode_seal(made))
    assert "E-SEAL-TWICE" in expect(forger, 2, only=True)


# ---------------------------------------------------------------- files that do not belong


@pytest.mark.parametrize(
    "path", ["note.txt", "outcomes/other.json", "trials/aa/t1/1.tar.zst", "blobs/aa/x.zst", ".hidden", "pins/a.json"]
)
@pytest.mark.parametrize("resealed", [False, True], ids=["unsealed", "resealed"])
def test_an_extra_file(forger: Forger, path: str, resealed: bool) -> None:
    target = forger.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"{}")
    if resealed and not path.startswith("."):
        forger.reseal()
    text = expect(forger, *(() if resealed and path.startswith(("outcomes", "blobs/aa")) else (2,)))
    assert path in text


def test_a_name_that_is_no_text(forger: Forger) -> None:
    with open(os.fsencode(forger.root) + b"/pins/\xff\xfe.json", "wb"):  # noqa: PTH123
        pass
    assert "pins/\\udcff" in expect(forger, 2).encode("utf-8").decode()


def test_what_a_crash_left_is_no_evidence(forger: Forger) -> None:
    (forger.root / ".tmp").mkdir(exist_ok=True)
    (forger.root / ".tmp/abc").write_bytes(b"half")
    found = verify(forger.root)
    assert (found.exit_code, statuses(found)[2]) == (5, "not_run")


@pytest.mark.parametrize("path", ["series.json", "plan.json", "ledger.jsonl", "seals/001.json", "blobs", "trials"])
def test_a_link_in_the_place_of_the_thing_itself(forger: Forger, tmp_path: Path, path: str) -> None:
    """The link leads to the very same bytes: still no part of a series."""
    target, away = forger.root / path, tmp_path / "away"
    target.rename(away)
    target.symlink_to(away)
    assert "E-STORE-LINK" in expect(forger, 2)


def test_a_link_beside_the_files(forger: Forger) -> None:
    (forger.root / "pins/link").symlink_to("/etc/hosts")
    assert "pins/link" in expect(forger, 2, only=True)


def test_a_pipe_is_named_and_never_opened(forger: Forger) -> None:
    os.mkfifo(forger.root / "outcomes/pipe.json")
    assert "E-STORE-KIND" in expect(forger, 2)


def test_directories_without_end(forger: Forger) -> None:
    (forger.root / "/".join(["d"] * 40)).mkdir(parents=True)
    assert "nested too deep" in expect(forger, 2)


# ---------------------------------------------------------------- swapped and moved


def test_two_packed_trials_swapped(forger: Forger) -> None:
    one, two = forger.trial(CONFIRMED), forger.trial(QUIET)
    _swap(forger.root / packed_path(one, 1), forger.root / packed_path(two, 1))
    text = expect(forger, 2, 5)
    assert one in text and two in text


def test_two_packed_trials_swapped_and_recorded_so(forger: Forger) -> None:
    one, two = forger.trial(CONFIRMED), forger.trial(QUIET)
    mine, yours = forger.journals(one), forger.journals(two)
    forger.repack(one, yours)
    forger.repack(two, mine)
    forger.reseal()
    assert "E-CHAIN-FOREIGN" in expect(forger, 5)


def test_a_journal_swapped_between_two_arms(forger: Forger) -> None:
    one, two = forger.trial("obedient.r1.baseline"), forger.trial(CONFIRMED)
    mine, yours = forger.journals(one), forger.journals(two)
    mine[TAP], yours[TAP] = yours[TAP], mine[TAP]
    forger.repack(one, mine)
    forger.repack(two, yours)
    for trial in (one, two):  # and `trial.closed` states the heads of what is there now
        forger.edit_events(trial, HARNESS, lambda events, trial=trial: _state_heads(forger, trial, events))
    forger.reseal()
    text = expect(forger, 5)
    assert "E-CHAIN-FOREIGN" in text and "another trial" in text


def _state_heads(forger: Forger, trial: str, events: Lines) -> None:
    data = forger.journals(trial)[TAP]
    head = {"length": len(events_of(data)), "head": digest_of(data.rstrip(b"\n").rpartition(b"\n")[2])}
    next(e for e in events if e["kind"] == "trial.closed")["body"]["writers"]["tap:desk"] = head


def test_two_outcomes_swapped(forger: Forger) -> None:
    _swap(*sorted((forger.root / "outcomes").iterdir())[:2])
    forger.reseal()
    expect(forger, 8, only=True)


def test_two_pins_swapped(forger: Forger) -> None:
    _swap(*sorted((forger.root / "pins").iterdir())[:2])
    forger.reseal()
    assert "E-PIN-DIGEST" in expect(forger, 4)


def test_a_trial_in_another_shard(forger: Forger) -> None:
    place = (forger.root / packed_path(forger.trial(QUIET), 1)).parent
    (forger.root / "trials/00").mkdir(exist_ok=True)
    place.rename(forger.root / "trials/00" / place.name)
    expect(forger, 2, 6)


def test_a_packed_trial_that_is_unpacked_again(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    journals = forger.journals(trial)
    (forger.root / packed_path(trial, 1)).unlink()
    directory = forger.root / attempt_dir(trial, 1)
    directory.mkdir()
    for name, data in journals.items():
        (directory / name).write_bytes(data)
    forger.reseal()
    assert "E-ATTEMPT-UNPACKED" in expect(forger, 5)


def _swap(one: Path, two: Path) -> None:
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


# ---------------------------------------------------------------- the ledger


def test_two_ledger_lines_swapped(forger: Forger) -> None:
    path = forger.root / "ledger.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[3], lines[4] = lines[4], lines[3]
    path.write_bytes(b"\n".join(lines))
    expect(forger, 2, 5)
    forger.reseal()
    assert "ledger:" in expect(forger, 5)


def test_the_ledger_in_another_order_and_chained_anew(forger: Forger) -> None:
    def edit(records: Lines) -> None:
        records[2], records[3] = records[3], records[2]

    forger.edit_ledger(edit)
    forger.reseal()
    assert "E-LEDGER-TRANSITION" in expect(forger, 5)


def test_another_status_in_the_ledger(forger: Forger) -> None:
    trial = forger.trial(QUIET)

    def edit(records: Lines) -> None:
        next(r for r in records if r["trial"] == trial and r["kind"] == "sealed")["status"] = "blocked"

    forger.edit_ledger(edit)
    forger.reseal()
    assert "E-LEDGER-STATUS" in expect(forger, 5, only=True)


def test_a_trial_run_again_until_it_pleased(forger: Forger) -> None:
    trial = forger.trial(QUIET)

    def edit(records: Lines) -> None:
        mine = [dict(record) for record in records if record["trial"] == trial]
        for record in mine:
            record["attempt"] = 2
            record["run"] = "r2" if record["kind"] == "opened" else None
        records[-1:-1] = mine

    forger.edit_ledger(edit)
    forger.reseal()
    assert "E-LEDGER-ATTEMPT" in expect(forger, 5)


def test_an_attempt_the_ledger_does_not_know(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    shutil.copy(forger.root / packed_path(trial, 1), forger.root / packed_path(trial, 2))
    forger.reseal()
    assert "E-ATTEMPT-UNKNOWN" in expect(forger, 6)


def test_another_run_in_the_ledger(forger: Forger) -> None:
    trial = forger.trial(QUIET)

    def edit(records: Lines) -> None:
        next(r for r in records if r["trial"] == trial and r["kind"] == "opened")["run"] = "rother"

    forger.edit_ledger(edit)
    forger.reseal()
    assert "another run" in expect(forger, 5)


# ---------------------------------------------------------------- plan, manifest, pins


def test_a_trial_dropped_from_the_plan(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    forger.edit_json(forger.root / "plan.json", lambda plan: plan["trials"].pop())
    _reopen(forger)
    text = expect(forger, 6)
    assert f"trial {trial} was run and is not in the plan" in text


def test_a_trial_added_to_the_plan(forger: Forger) -> None:
    def edit(plan: dict[str, Any]) -> None:
        last = plan["trials"][-1]
        plan["trials"].append({**last, "trial": "t00004.more", "position": 4, "repetition": 2})

    forger.edit_json(forger.root / "plan.json", edit)
    _reopen(forger)
    assert "t00004.more" in expect(forger, 6)


def test_another_condition_in_the_plan(forger: Forger) -> None:
    def edit(plan: dict[str, Any]) -> None:
        one, two = plan["trials"][0], plan["trials"][1]
        one["condition"], two["condition"] = two["condition"], one["condition"]

    forger.edit_json(forger.root / "plan.json", edit)
    _reopen(forger)
    assert "another condition" in expect(forger, 5)


def test_a_plan_that_only_the_ledger_disowns(forger: Forger) -> None:
    forger.edit_json(forger.root / "plan.json", lambda plan: plan.update(seed=8))
    forger.reseal()
    assert "ledger was opened with" in expect(forger, 4)


def test_a_key_twice_in_the_plan(forger: Forger) -> None:
    path = forger.root / "plan.json"
    path.write_bytes(path.read_bytes()[:-1] + b',"seed":7}')
    _reopen(forger, edited=False)
    assert "seed" in expect(forger, 4)


@pytest.mark.parametrize(("name", "value"), [("seed", 8), ("vocabulary", 99), ("condition_order", ["baseline"])])
def test_a_manifest_at_odds_with_its_plan(forger: Forger, name: str, value: Any) -> None:
    forger.edit_json(forger.root / "series.json", lambda manifest: manifest.update({name: value}))
    _reopen(forger)
    assert "series.json" in expect(forger, 4)


def test_another_series_in_the_manifest(forger: Forger) -> None:
    forger.edit_json(forger.root / "series.json", lambda manifest: manifest.update(series="other"))
    _reopen(forger)
    assert "another series" in expect(forger, 5)


def test_a_pin_that_is_gone(forger: Forger) -> None:
    (forger.root / f"pins/{golden_case().digest[7:]}.json").unlink()
    forger.reseal()
    found = verify(forger.root)
    assert "E-PIN-MISSING" in told(found)
    assert (failing(found), statuses(found)[8], statuses(found)[10]) == ({4}, "not_run", "not_run")


def test_a_pin_nobody_names(forger: Forger) -> None:
    data = encode_canonical({"oyer": "PinSet@1", "case": None})
    (forger.root / f"pins/{digest_of(data)[7:]}.json").write_bytes(data)
    forger.reseal()
    assert "E-PIN-UNNAMED" in expect(forger, 4)


def test_a_rubric_edited_afterwards(forger: Forger) -> None:
    """The case is changed so that the decided outcome would be another, and every digest follows."""
    old = golden_case().digest
    path = forger.root / f"pins/{old[7:]}.json"
    case = json.loads(path.read_bytes())
    case["chain"]["promotion"][0]["arguments"]["action"] = "another_action"
    data = encode_canonical(case)
    path.unlink()
    (forger.root / f"pins/{digest_of(data)[7:]}.json").write_bytes(data)
    for name in ("plan.json", "series.json"):
        record = forger.root / name
        record.write_bytes(record.read_bytes().replace(old.encode(), digest_of(data).encode()))
    _reopen(forger)
    assert "was opened for another case" in expect(forger, 5, 10)


def _reopen(forger: Forger, *, edited: bool = True) -> None:
    """Mend manifest, ledger and seals after plan or manifest changed."""
    plan = (forger.root / "plan.json").read_bytes()
    if edited:
        forger.edit_json(forger.root / "series.json", lambda manifest: manifest.update(plan=digest_of(plan)))
    manifest = (forger.root / "series.json").read_bytes()
    forger.edit_ledger(
        lambda records: records[0].update(body={"plan": digest_of(plan), "manifest": digest_of(manifest)})
    )
    forger.reseal()


# ---------------------------------------------------------------- blobs


def test_a_blob_that_is_gone(forger: Forger) -> None:
    target = forger.path("blobs/*/*.zst")
    target.unlink()
    forger.reseal()
    assert target.name in expect(forger, 7)


def test_a_blob_nobody_cites(forger: Forger) -> None:
    target = forger.root / blob_path(digest_of(b"more"))
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(encode_blob(b"more"))
    forger.reseal()
    assert "no event cites it" in expect(forger, 7, only=True)


@pytest.mark.parametrize("stored", [encode_blob(b"other"), b"", b"no frame", encode_blob(b"x") * 2])
def test_a_blob_with_other_bytes(forger: Forger, stored: bytes) -> None:
    target = forger.path("blobs/*/*.zst")
    target.write_bytes(stored)
    forger.reseal()
    assert target.name in expect(forger, 7)


def test_the_same_content_in_other_stored_bytes(forger: Forger) -> None:
    """The content is right and the seal is not: stored bytes are sealed too."""
    import zstandard

    target = forger.path("blobs/*/*.zst")
    content = zstandard.ZstdDecompressor().decompress(target.read_bytes())
    target.write_bytes(zstandard.ZstdCompressor(level=9, write_checksum=True).compress(content))
    assert target.name in expect(forger, 2, only=True)


def test_bytes_after_a_packed_trial(forger: Forger) -> None:
    trial = forger.trial(QUIET)
    path = forger.root / packed_path(trial, 1)
    path.write_bytes(path.read_bytes() + b"\x00")
    forger.reseal()
    assert trial in expect(forger, 5)


# ---------------------------------------------------------------- results


def test_an_edited_outcome(forger: Forger) -> None:
    path = forger.path(f"outcomes/*{QUIET}.json")
    forger.edit_json(path, lambda outcome: outcome.update(observations=[]))
    forger.reseal()
    text = expect(forger, 8, only=True)
    assert path.name in text and "observations" in text


def test_an_edited_comparison(forger: Forger) -> None:
    path = forger.path("comparisons/*obedient*.json")
    forger.edit_json(path, lambda found: found["primary"].update(mechanical_outcome="NOT_OBSERVED"))
    forger.reseal()
    text = expect(forger, 10, only=True)
    assert path.name in text and "primary" in text


def test_a_comparison_left_out(forger: Forger) -> None:
    path = forger.path("comparisons/*wary*.json")
    path.unlink()
    forger.reseal()
    assert path.name in expect(forger, 10, only=True)


def test_an_outcome_left_out(forger: Forger) -> None:
    forger.path(f"outcomes/*{QUIET}.json").unlink()
    forger.reseal()
    assert "E-DERIVED-MISSING" in expect(forger, 8, only=True)


def test_a_comparison_too_many(forger: Forger) -> None:
    path = forger.path("comparisons/*wary*.json")
    shutil.copy(path, path.with_name("golden.wary.r2.json"))
    forger.reseal()
    assert "golden.wary.r2.json" in expect(forger, 10, only=True)


def test_an_outcome_in_another_form(forger: Forger) -> None:
    path = forger.path(f"outcomes/*{QUIET}.json")
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1))
    forger.reseal()
    expect(forger, 4, 8, only=True)


def test_a_judgement_is_not_waved_through(forger: Forger) -> None:
    path = forger.root / "judgements" / ("0" * 64) / ("1" * 64) / "t.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}")
    forger.reseal()
    told = expect(forger, 4, 9, only=True)
    assert "E-DERIVED-EXTRA" in told and "E-PIN-MISSING" in told


def test_a_name_that_is_no_judgement(forger: Forger) -> None:
    (forger.root / "judgements/e/r").mkdir(parents=True)
    (forger.root / "judgements/e/r/t.json").write_bytes(b"{}")
    forger.reseal()
    assert "E-SEAL-PATH" in expect(forger, 2)


# ---------------------------------------------------------------- several at once, and the limit


def test_no_failure_hides_another(forger: Forger) -> None:
    flip(forger.root / "plan.json", at=30)
    flip(forger.path("blobs/*/*.zst"))
    (forger.root / "link").symlink_to("plan.json")
    forger.path("pins/" + golden_case().digest[7:] + ".json").unlink()
    found = verify(forger.root)
    assert {2, 4, 7} <= failing(found)
    assert statuses(found)[6] == "not_run"


def test_whoever_makes_up_everything_is_not_caught_and_the_words_say_so(tmp_path: Path) -> None:
    """The named limit: a series that was never run, written with the store's own code, verifies."""
    build_series(tmp_path / "made-up", ("obedient",))
    found = verify(tmp_path / "made-up")
    assert found.exit_code == 0
    assert "did not make all of it up before sealing it" in found.words
    assert ACTION in (tmp_path / "made-up/pins" / f"{golden_case().digest[7:]}.json").read_text()
