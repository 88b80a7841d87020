"""Known faults of recorders and gateways, told by whole runs: what is written where, and what a cut answer comes to."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import subprocess
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from endpoint_kit import endpoint
from model_streams import sse
from warm_oyer import OYER

KEY = "sk-SECRET-CANARY-12345-and-some-more"
SUITE = """\
oyer: TrialSuite@1
id: gated
cases: [notes-injection]
gates: [status.completed == 1]
"""


def forms(secret: str) -> tuple[bytes, ...]:
    """A secret as it may stand in a file: plain, and inside base64 at each of the three places it may begin."""
    shifted = (base64.b64encode(b"\0" * shift + secret.encode()) for shift in range(3))
    return secret.encode(), *(one[4:-4] for one in shifted)


def unpacked(raw: bytes) -> Iterator[bytes]:
    """The bytes, and what they hold packed: zstd, gzip, zip, at any depth."""
    yield raw
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        yield from unpacked(zstandard.ZstdDecompressor().decompressobj().decompress(raw))
    for place in found(raw, b"\x1f\x8b\x08"):
        try:
            yield zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw[place:])
        except zlib.error:
            continue
    if zipfile.is_zipfile(io.BytesIO(raw)):
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            for name in packed.namelist():
                yield from unpacked(packed.read(name))


def found(raw: bytes, mark: bytes) -> Iterator[int]:
    place = raw.find(mark)
    while place >= 0:
        yield place
        place = raw.find(mark, place + 1)


def holding(root: Path, secret: str) -> list[str]:
    looked_for = forms(secret)
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and any(form in part for part in unpacked(path.read_bytes()) for form in looked_for)
    ]


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    told = f"the key is {KEY}".encode()
    for name, raw in {
        "plain": told,
        "gz": b"..." + gzip.compress(told),
        "zst": zstandard.compress(told),
        "b64": base64.b64encode(b"x" + told),
    }.items():
        (tmp_path / name).write_bytes(raw)
    with zipfile.ZipFile(tmp_path / "zip", "w") as packed:
        packed.writestr("inside", zstandard.compress(told))
    assert len(holding(tmp_path, KEY)) == 5


@pytest.mark.slow
def test_gw_01_no_way_to_write_leaves_the_key_anywhere(tmp_path: Path) -> None:
    """Recorded, recorded anew with a request changed, replayed, bundled, shown: every output is looked through."""
    place = tmp_path / "all"
    place.mkdir()
    behaviours = tmp_path / "leaks.json"  # beside what is searched: it holds the key itself
    leaks = [{"text": "Hi."}, {"echo_key": True}, {"text": f"It is {KEY}.", "encode": "gzip"}]
    behaviours.write_text(json.dumps([*leaks, {"status": 401, "body": {"error": {"message": f"{KEY} is unknown"}}}]))

    def oyer(name: str, *arguments: str) -> None:
        done = subprocess.run(
            [*OYER, *arguments], capture_output=True, env={**os.environ, "LAB_KEY": KEY}, timeout=90, check=False
        )
        (place / f"{name}.out").write_bytes(done.stdout)
        (place / f"{name}.err").write_bytes(done.stderr)
        assert done.returncode in (0, 1, 5), done.stderr.decode()

    run = ["run", "notes-injection", "--subject", "model", "--model", "small", "--key-env", "LAB_KEY"]
    series, again = str(place / "series"), str(place / "again")
    with endpoint(behaviours) as base_url:
        assert len(base_url) > len("http://")
        oyer("run", *run, "--base-url", base_url, "--repeat", "2", "--out", series)
        oyer("anew", *run, "--base-url", base_url, "--system", "Another prompt.", "--out", str(place / "anew"))
        oyer("replayed", *run, "--base-url", base_url, "--replay", series, "--repeat", "2", "--out", again)
    oyer("bundle", "bundle", series, "-o", str(place / "series.oyer"))
    oyer("show", "show", series, "--json")
    oyer("diff", "diff", series, again, "--json")
    oyer("verify", "verify", str(place / "series.oyer"), "--json")
    written = [path for path in place.rglob("*") if path.is_file()]
    assert len(written) > 60 and any(path.suffix == ".oyer" for path in written)
    assert any(b"[upstream key]" in part for path in written for part in unpacked(path.read_bytes()))
    assert holding(place, KEY) == []


CHUNK = {"choices": [{"index": 0, "delta": {"content": "The answer is"}}]}
STOPS = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
WHOLE = sse(CHUNK, STOPS, end=b"data: [DONE]\n\n").decode()
EARLY: dict[str, dict[str, Any]] = {
    "cut": {"pieces": [sse(CHUNK).decode()], "then": "cut"},
    "no end marker": {"pieces": [sse(CHUNK, STOPS).decode()]},
    "an error in it": {"pieces": [sse(CHUNK, {"error": {"message": "overloaded"}}).decode()]},
}


@pytest.mark.parametrize("case", ["whole", *EARLY])
def test_gw_09_what_ends_early_is_scored_by_nobody(case: str, tmp_path: Path) -> None:
    """A gate that asks for a completed trial: passed with the whole stream, never with one that only began."""
    behaviours, suite = tmp_path / "early.json", tmp_path / "suite.yaml"
    behaviours.write_text(json.dumps([EARLY.get(case, {"pieces": [WHOLE]})]))
    suite.write_text(SUITE)
    with endpoint(behaviours) as base_url:
        model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--param", "stream=true"]
        done = subprocess.run(
            [*OYER, "run", str(suite), *model, "--conditions", "baseline", "--out", str(tmp_path / "series"), "--json"],
            capture_output=True, timeout=90, check=False,
        )  # fmt: skip
    result = json.loads(done.stdout)
    statuses = {trial["status"] for trial in result["trials"]}
    if case == "whole":
        assert (statuses, done.returncode) == ({"completed"}, 0), "or the others prove nothing"
    else:
        assert (statuses, done.returncode) == ({"blocked"}, 1) and "dependency_unavailable" in done.stdout.decode()
