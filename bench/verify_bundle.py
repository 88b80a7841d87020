"""How fast a bundle is verified, and in how much memory: throughput against a floor, memory from small to large.

Processor time, so that a busy machine does not decide. The floor reads the same file once, takes its sha256, and parses
every line of its journals as JSON once. Three shapes: many trials as they are, two trials with many events, and large
blobs that do not compress.
``python bench/verify_bundle.py [MEGABYTES ...]``: sizes of the blobs, 10 and 100 by default (5000 shows that memory
stays flat).
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "golden")]

from golden_build import GoldenSeries  # noqa: E402

from oyer.evidence import unpack  # noqa: E402
from oyer.store import BundleReader, write_bundle  # noqa: E402
from oyer.verify import verify_bundle  # noqa: E402

BLOB_BYTES = 4 << 20
LIMIT_BYTES = 1 << 31


def build(place: Path, *, blob_bytes: int, events: int, repeat: int) -> Path:
    """Write a golden series with more in it, and its bundle."""
    golden = GoldenSeries(place / "series", conditions=("baseline", "manipulated"), repeat=repeat)
    for planned in golden.plan.trials:
        script = golden.claim(planned)
        script.open()
        script.session_a()
        script.session_b()
        share = len(golden.plan.trials)
        for _ in range(blob_bytes // BLOB_BYTES // share):
            script.record(
                "harness", "subject.output", {"stream": "stdout"}, payloads={"payload": os.urandom(BLOB_BYTES)}
            )
        for number in range(events // share):
            line = b"a line of output that says little, number %d\n" % number
            script.record("harness", "subject.output", {"stream": "stdout"}, payloads={"payload": line})
        script.shut()
        script.close()
    golden.finish()
    return write_bundle(place / "series", place / "x.oyer").path


def floor(path: Path) -> tuple[float, int]:
    """Return the seconds of the floor, and how many events there are."""
    began, events = time.process_time(), 0
    with BundleReader(path) as reader:
        state = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                state.update(piece)
        for attempt in reader.attempts():
            stored = reader.require(
                next(p for p in reader.paths() if p.endswith(f"{attempt.trial}/{attempt.attempt}.tar.zst"))
            )
            for data in unpack(stored, LIMIT_BYTES).values():
                for line in data.split(b"\n"):
                    if line:
                        json.loads(line)
                        events += 1
    return time.process_time() - began, events


def in_child(path: Path) -> tuple[float, int]:
    """Verify in a process of its own; return its seconds and its peak of memory in bytes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        began = time.process_time()
        with BundleReader(path) as reader:
            found = verify_bundle(reader)
        took = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        os.write(writing, json.dumps([found.exit_code, took, peak]).encode())
        os._exit(0)
    os.close(writing)
    code, took, peak = json.loads(os.read(reading, 1000))
    os.close(reading)
    os.waitpid(child, 0)
    if code != 0:
        raise SystemExit(f"the bundle does not verify: {code}")
    return took, peak


def measure(name: str, *, blob_bytes: int = 0, events: int = 0, repeat: int = 1) -> None:
    """Print one line: size, events, the ratio to the floor, throughput, memory."""
    with tempfile.TemporaryDirectory() as place:
        path = build(Path(place), blob_bytes=blob_bytes, events=events, repeat=repeat)
        size = path.stat().st_size
        least, count = floor(path)
        took, peak = in_child(path)
    print(
        f"{name:22} {size / 1e6:9.1f} MB {count:8} events   {least / took:5.2f} of the floor   "
        f"{size / took / 1e6:7.1f} MB/s {count / took:9.0f} events/s   peak {peak / 1e6:6.0f} MB",
        flush=True,
    )


def main(arguments: list[str]) -> int:
    """Measure every shape."""
    for repeat in (10, 100):
        measure(f"{4 * repeat} trials", repeat=repeat)
    for events in (2_000, 20_000):
        measure(f"{events} events", events=events)
    for megabytes in [int(argument) for argument in arguments] or [10, 100]:
        measure(f"blobs of {megabytes} MB", blob_bytes=megabytes << 20)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
