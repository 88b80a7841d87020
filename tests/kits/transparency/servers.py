"""The servers that the suite asks: ours, which has all its fixtures, and one that nobody here wrote."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["everything_server", "fixture_server"]

PEERS = Path(__file__).resolve().parents[2] / "peers"
OPEN_S = 60


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _serving(argv: list[str], env: dict[str, str], port: int) -> Iterator[str]:
    with subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            until = time.monotonic() + OPEN_S
            while True:
                if server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{argv} did not open its port ({server.returncode})")
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.kill()


@contextmanager
def fixture_server() -> Iterator[str]:
    """Serve the suite's own fixtures."""
    port = _free_port()
    argv = [sys.executable, "-W", "ignore", str(PEERS / "conformance_server.py"), str(port)]
    with _serving(argv, dict(os.environ), port) as url:
        yield url


@contextmanager
def everything_server(node: Path, program: Path) -> Iterator[str]:
    """Serve npm's `server-everything`, which knows few of the fixtures and only the older era."""
    port = _free_port()
    env = {"PATH": os.environ["PATH"], "PORT": str(port)}
    with _serving([str(node), str(program), "streamableHttp"], env, port) as url:
        yield url
