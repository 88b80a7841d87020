"""The runner of measurements: it knows every script, refuses what it does not know, and reports failures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"


def run(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(folder / "run.py"), *names], capture_output=True, text=True, check=False)


def test_runs_each_in_order_and_ends_with_one_if_any_failed(tmp_path: Path) -> None:
    shutil.copy(BENCH / "run.py", tmp_path)
    (tmp_path / "a_bad.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "b_good.py").write_text("print('ratio 1.0')\n")
    both = run(tmp_path)
    assert both.returncode == 1
    assert both.stdout.index("--- a_bad") < both.stdout.index("--- b_good") < both.stdout.index("ratio 1.0")
    assert both.stdout.endswith("failed: a_bad\n")
    assert run(tmp_path, "b_good").returncode == 0


def test_refuses_a_name_it_does_not_know(tmp_path: Path) -> None:
    shutil.copy(BENCH / "run.py", tmp_path)
    (tmp_path / "speed.py").write_text("print('ratio 1.0')\n")
    result = run(tmp_path, "sped")
    assert (result.returncode, result.stdout) == (2, "no measurement sped; there are: speed\n")
