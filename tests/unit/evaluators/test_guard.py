"""Plug-ins that end the process, lie about their texts, print, wait or change what they are given."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from evidence_kit import case_digest
from plugin_kit import CASE, HEAD, facts_of, judged, rubric, told

from oyer.errors import UsageError
from oyer.evaluators import load_plugins
from oyer.evaluators.guard import guarded

BAD_TEXT = "class Bad(Exception):\n    def __str__(self): raise SystemExit(0)\n\n\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise SystemExit(0)", "it raised SystemExit: 0"),
        ("raise KeyboardInterrupt", "it raised KeyboardInterrupt"),
        ("raise type('Bad', (Exception,), {'__str__': lambda self: 1 / 0})()", "it raised Bad"),
        ("return oyer.Opinion('supported', 5)", "it raised TypeError"),
        ("return oyer.Opinion('unknown', (), type('Bad', (), {'__str__': lambda self: 1 / 0})())", "it raised ZeroDiv"),
        ("return oyer.Opinion([], ())", "it returned Opinion, which is no opinion"),
        ("return mine(evidence)", "it raised RecursionError"),
    ],
)
def test_whatever_it_raises_is_its_error(body: str, why: str, tmp_path: Path) -> None:
    found = judged(tmp_path, body)
    assert found.parts == ()
    assert (found.error or "").startswith(why)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys\nsys.exit(0)\n", "E-PLUGIN-IMPORT"),
        ("raise KeyboardInterrupt\n", "E-PLUGIN-IMPORT"),
        (BAD_TEXT + "raise Bad\n", "E-PLUGIN-IMPORT"),
        ("@oyer.evaluator(id=[])\ndef mine(e): ...\n", "E-PLUGIN-DECLARED"),
        ("@oyer.evaluator(id='mine', limits=('\\ud800',))\ndef mine(e): ...\n", "E-PLUGIN-DECLARED"),
    ],
)
def test_whatever_it_raises_while_it_loads_is_said(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + text)
    with pytest.raises(UsageError) as refused:
        load_plugins([tmp_path / "mine.py"])
    assert refused.value.code == code


def test_a_value_that_cannot_be_asked_is_no_evaluator(tmp_path: Path) -> None:
    odd = "class Odd:\n    def __getattr__(self, name): raise RuntimeError\n\n\nodd = Odd()\n"
    (tmp_path / "mine.py").write_text(f"{HEAD}{odd}@oyer.evaluator(id='mine')\ndef mine(e): ...\n")
    assert list(load_plugins([tmp_path / "mine.py"]).judges) == ["mine"]


def test_what_it_changes_nobody_else_sees(tmp_path: Path) -> None:
    spoil = """\
call = evidence.calls("desk.run_action")[0]
    call.arguments["action"] = "honest"
    evidence.effects("actions")[0].content["action"] = "honest"
    evidence.case.servers.clear()
    return oyer.supported(evidence.calls())"""
    (tmp_path / "mine.py").write_text(f"{HEAD}@oyer.evaluator(id='mine')\ndef mine(evidence):\n    {spoil}\n")
    judge = load_plugins([tmp_path / "mine.py"]).judges["mine"]
    facts = facts_of(told())
    _ = facts.wire, facts.watches
    before = repr([facts.wire, facts.watches, facts.case, facts.evidence.opened, list(facts.evidence.everything())])
    judge.judge(facts, rubric(), judge.evaluator, trial="t", case_digest=case_digest(CASE), stored="s")
    after = repr([facts.wire, facts.watches, facts.case, facts.evidence.opened, list(facts.evidence.everything())])
    assert after == before


def test_what_it_prints_is_not_the_commands_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = "import os; print('one', flush=True); os.write(1, b'two')\n    return oyer.supported(evidence.calls())"
    assert judged(tmp_path, body).error is None
    said = capfd.readouterr()
    assert said.out == ""
    assert "one" in said.err and "two" in said.err


@pytest.mark.parametrize("loop", ["while True: pass", "import time; time.sleep(60)"])
def test_its_time_is_bounded(loop: str, tmp_path: Path) -> None:
    body = f"@oyer.evaluator(id='mine')\ndef mine(evidence):\n    {loop}\n"
    (tmp_path / "mine.py").write_text(HEAD + body)
    judge = load_plugins([tmp_path / "mine.py"]).judges["mine"]  # loading it takes as long as it takes
    judge._patience_s = 0.05
    found = judge.judge(facts_of(told()), rubric(), judge.evaluator, trial="t", case_digest="", stored="s")
    assert found.parts[0].state == "unknown"  # no such case: it is not even asked
    found = judge.judge(
        facts_of(told()), rubric(), judge.evaluator, trial="t", case_digest=case_digest(CASE), stored="s"
    )
    assert (found.parts, found.error) == ((), "it took longer than 0.05 seconds")
    (tmp_path / "mine.py").write_text(HEAD + loop)
    with pytest.raises(UsageError, match="longer than"):
        load_plugins([tmp_path / "mine.py"], patience_s=0.05)


def test_the_operator_interrupts_even_what_catches_it() -> None:
    def swallow() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except BaseException:  # noqa: BLE001 - what a plug-in may do
            return 1
        return 0

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        guarded(swallow)
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_in_another_thread_it_is_held_too() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(guarded(lambda: 7)))
    thread.start()
    thread.join()
    assert found == [7]
