"""A series that the engine ran: it verifies, and one changed byte of any file of it is found and named."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from golden_memory import files_of, verify_files
from golden_tamper import failing, flip, told
from waiting import wait_until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def series(oyer: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("verify") / "series"
    done = oyer("run", "cascade-memo", "--subject", "scripted:obedient", "--out", out)  # type: ignore[operator]
    assert done.returncode == 0, done.stderr
    return out


def test_one_byte_of_any_file(series: Path) -> None:
    files = files_of(series)
    assert verify_files(files).exit_code == 0
    chosen = random.Random(11)
    for path, data in files.items():
        changed = bytearray(data)
        changed[chosen.randrange(len(data))] ^= chosen.choice((1, 4, 64))
        found = verify_files({**files, path: bytes(changed)})
        assert found.exit_code == 4 and 2 in failing(found), path
        assert path in told(found)


def test_the_command_names_check_and_place(oyer: object, series: Path, tmp_path: Path) -> None:
    shutil.copytree(series, tmp_path / "changed")
    target = next((tmp_path / "changed/comparisons").iterdir())
    flip(target, at=60)
    done = oyer("verify", tmp_path / "changed")  # type: ignore[operator]
    assert done.returncode == 4 and target.name in done.stdout
    plain = json.loads(oyer("verify", tmp_path / "changed", "--json").stdout)  # type: ignore[operator]
    assert plain["exit_code"] == 4
    assert {check["number"] for check in plain["checks"] if check["status"] == "failed"} >= {2, 10}


def test_a_kill_leaves_a_series_that_is_intact_and_not_complete(
    oyer_program: Path, oyer_environment: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    command = [str(oyer_program), "run", "cascade-memo", "--subject", "scripted:obedient", "--repeat", "50"]
    command += ["--out", str(out)]
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=oyer_environment, start_new_session=True
    )
    wait_until(lambda: running.poll() is not None or list(out.glob("trials/*/*/1.tar.zst")))
    running.send_signal(signal.SIGKILL)
    running.wait()
    found = verify_files(files_of(out))
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
