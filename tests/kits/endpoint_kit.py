"""A scripted model endpoint in a process of its own, for tests of model subjects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "peers"


@contextmanager
def endpoint(behaviours: Path) -> Iterator[str]:
    """Serve a file of behaviours; give its base URL."""
    with subprocess.Popen(
        [sys.executable, "-S", str(PEERS / "scripted_endpoint.py"), str(behaviours)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().decode().strip()
        process.stdin.close()
