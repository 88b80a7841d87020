"""Verifying takes no more memory for a large bundle than for a small one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from golden_build import GoldenSeries

from oyer.store import write_bundle

ROOT = Path(__file__).resolve().parents[2]
BLOB_BYTES = 4 << 20
VERIFYING = """
import json, pathlib, resource, sys
from oyer.store import BundleReader
from oyer.verify import verify_bundle
with BundleReader(pathlib.Path(sys.argv[1])) as reader:
    code = verify_bundle(reader).exit_code
print(json.dumps([code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def peak(place: Path, blobs: int) -> int:
    """Return the peak of memory, in bytes, of verifying a bundle with so many large blobs."""
    golden = GoldenSeries(place / "series", ("wary",), ("baseline",))
    (planned,) = golden.plan.trials
    script = golden.claim(planned)
    script.play()
    for _ in range(blobs):
        body = {"stream": "stdout"}
        script.record("harness", "subject.output", body, payloads={"payload": os.urandom(BLOB_BYTES)})
    script.close()
    golden.finish()
    path = write_bundle(place / "series", place / "x.oyer").path
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", VERIFYING, str(path)], env=environment, capture_output=True, check=True
    )
    code, found = json.loads(done.stdout)
    assert code == 0
    return int(found)


@pytest.mark.parametrize("many", [16, pytest.param(256, marks=pytest.mark.heavy)])
def test_memory_does_not_grow_with_the_bundle(tmp_path: Path, many: int) -> None:
    """From 8 MB to 64 MB, or to a gigabyte: no more than a few blobs are ever held."""
    (tmp_path / "few").mkdir()
    (tmp_path / "many").mkdir()
    few = peak(tmp_path / "few", 2)
    assert peak(tmp_path / "many", many) < few + 4 * BLOB_BYTES
