"""A tap that is killed between passing a frame on and recording it leaves a journal that claims nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import oyer
from oyer.evidence import check_attempt, check_journal

PROGRAM = """
import asyncio, os, signal, subprocess, sys
from pathlib import Path
import oyer.instruments.tap_settling as settling
from oyer.evidence import Chain, Envelope, Redactor
from oyer.host import boot_id, stamp
from oyer.instruments import Tap, TappedServer
from oyer.store import BlobStore, JournalWriter

settling._QUIET_S = 3600.0
root = Path(sys.argv[1])
LINE = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n'

async def main():
    redactor = Redactor({})
    chain = Chain("tap:ops", Envelope("s", "t", "r0", "baseline", 1, boot_id()))
    blobs = BlobStore(root, root, redactor)
    journal = JournalWriter(root / "tap.ops.jsonl", chain, blobs=blobs, clock=stamp, redactor=redactor)
    tap = Tap(TappedServer("ops", ("/bin/cat",), {}, root), root / "socket", journal)
    await tap.open()
    relay = [sys.executable, "-I", "-S", sys.argv[2], str(tap.socket_path)]
    client = await asyncio.create_subprocess_exec(*relay, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client.stdin.write(LINE)
    assert await client.stdout.readline() == LINE
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_a_tap_killed_before_it_recorded_what_crossed_leaves_an_unsealed_journal(tmp_path: Path) -> None:
    sources = Path(oyer.__file__).resolve().parents[1]
    relay = sources / "oyer" / "programs" / "relay.py"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(sources)}
    argv = [sys.executable, "-c", PROGRAM, str(tmp_path), str(relay)]
    ended = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    data = (tmp_path / "tap.ops.jsonl").read_bytes()
    check = check_journal(data)
    assert [event.kind for event in check.events] == ["connection.opened", "process.started"]
    assert not check.sealed
    assert "E-CHAIN-UNSEALED" in {defect.code for defect in check_attempt({"tap.ops.jsonl": data}).defects}
