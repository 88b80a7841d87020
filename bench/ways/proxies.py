"""Proxies nobody here wrote, each in an environment of its own under `build/bench`, made from its lock.

They are no dependency of anything. Where one is missing its row is left out, and the table says so.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "bench"
NAMES = ("fastmcp", "mcp-proxy")
FASTMCP = """
import json, sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
target, door = json.loads(sys.argv[1]), json.loads(sys.argv[2])
upstream = target if isinstance(target, str) else StdioTransport(target[0], target[1:])
proxy = create_proxy(upstream, name="bench")
quiet = {"show_banner": False, "log_level": "ERROR"}
proxy.run(transport="stdio", **quiet) if door is None else proxy.run(
    transport="http", host="127.0.0.1", port=door, path="/mcp", uvicorn_config={"access_log": False}, **quiet)
"""


def python_of(name: str) -> Path | None:
    """Return the interpreter of one's environment, None where it is not installed."""
    python = PLACE / name / "bin" / "python"
    return python if python.exists() else None


def missing(name: str) -> str:
    """Say that one is not there, and how it would be."""
    return f"not measured: {name} is not installed (python bench/tap.py --install)"


def install() -> None:
    """Make every environment that is not there, exactly as its lock has it."""
    for name in NAMES:
        if python_of(name) is not None:
            continue
        venv.create(PLACE / name, with_pip=True)
        lock = ROOT / "requirements" / f"{name}.txt"
        options = ["-q", "--disable-pip-version-check", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
        argv = [PLACE / name / "bin" / "python", "-m", "pip", "install", *options, "-r", lock]
        if subprocess.call(list(map(str, argv))):
            sys.exit(f"{name} could not be installed from {lock}")
