"""A small good series, changed in memory as the input says, verified to an end.

An input is a list of changes, each ``[mode, file, place (2 bytes), taken, count, bytes...]``: at that place of that
file, `taken` bytes make way for `count` given ones. The last bit of a mode says that everything which refers to the change is
mended (chains, packed digests, ledger, seals), so that the inner checks and the scorer see it.

An input that begins with ``@`` is text instead: pairs of lines, the place ``@file line`` and the line that stands there
from now on. Digests of what a payload holds are mended too: what crossed the wire is anyone's to choose.
"""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from golden_build import build_series
from golden_memory import files_of, verify_files
from golden_tamper import chained, events_of
from guided import total

from oyer.errors import EvidenceError
from oyer.evidence import (
    StoredFile,
    digest_of,
    encode_canonical,
    encode_seal,
    is_sealable,
    make_seal,
    pack,
    parse_seal,
    seal_path,
    unpack,
)
from oyer.verify import Verification

LIMIT_BYTES = 1 << 24
MOST_CHANGES = 6
Files = dict[str, bytes]


class Change(NamedTuple):
    """One replacement in one file."""

    mends: bool
    file: int
    place: int
    taken: int
    given: bytes


@functools.cache
def good() -> Files:
    """The smallest series that reaches a scored trial, with its packed journals unfolded: `<packed>/<journal>`."""
    with tempfile.TemporaryDirectory() as place:
        build_series(Path(place) / "series", ("wary",), ("manipulated",))
        files = files_of(Path(place) / "series")
    for path in [path for path in files if path.startswith("trials/")]:
        journals = unpack(files.pop(path), LIMIT_BYTES)
        files |= {f"{path}/{name}": data for name, data in journals.items()}
    return files


def changes(data: bytes) -> Iterator[Change]:
    """Read the changes of an input; a cut one is no change."""
    for _ in range(MOST_CHANGES):
        if len(data) < 6:
            return
        mode, file, high, low, taken, count = data[:6]
        yield Change(mode & 1 == 1, file, high << 8 | low, taken, data[6 : 6 + count])
        data = data[6 + count :]


def series(data: bytes) -> None:
    """Change the series and verify it: an answer of all checks, and a changed series is never valid."""
    files, mends = dict(good()), data[:1] == b"@"
    if mends:
        _put_lines(files, data)
    for change in () if mends else changes(data):
        path = sorted(files)[change.file % len(files)]
        at = change.place % (len(files[path]) + 1)
        files[path] = files[path][:at] + change.given + files[path][at + change.taken :]
        mends |= change.mends
    found = total(lambda: _verified(_mended(files) if mends else _packed(files)))
    assert len(found.checks) == 11
    json.dumps(found.to_json())
    if not mends:
        assert (found.exit_code == 0) == (files == good())


def _put_lines(files: Files, data: bytes) -> None:
    """Put the lines of an input in their places; a place that is none is passed over."""
    lines = data.split(b"\n")
    for place, line in list(zip(lines[::2], lines[1::2], strict=False))[:MOST_CHANGES]:
        told = re.fullmatch(rb"@(\d{1,3}) (\d{1,3})", place)
        if told is None:
            continue
        path = sorted(files)[int(told[1]) % len(files)]
        kept = files[path].split(b"\n")
        kept[int(told[2]) % len(kept)] = _with_digests(line)
        files[path] = b"\n".join(kept)


def _with_digests(line: bytes) -> bytes:
    def mend(value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("text"), str) and "sha256" in value:
            raw = value["text"].encode("utf-8", "surrogatepass")
            return {**value, "size": len(raw), "sha256": digest_of(raw)}
        if isinstance(value, dict):
            return {key: mend(item) for key, item in value.items()}
        return [mend(item) for item in value] if isinstance(value, list) else value

    try:
        return encode_canonical(mend(json.loads(line)))
    except (ValueError, RecursionError, TypeError, EvidenceError):
        return line


def _verified(files: Files) -> Verification:
    return verify_files(files)


def _packed(files: Files) -> Files:
    """Put unfolded journals back into their packed attempts."""
    whole = {path: data for path, data in files.items() if not path.startswith("trials/")}
    attempts: dict[str, Files] = {}
    for path, data in files.items():
        if path.startswith("trials/"):
            packed, _, name = path.rpartition("/")
            attempts.setdefault(packed, {})[name] = data
    return whole | {path: pack(journals) for path, journals in attempts.items()}


def _mended(files: Files) -> Files:
    """Make chains, heads, ledger and seals agree with what is there, as far as it can still be read."""
    files = dict(files)
    journals = [path for path in files if path.startswith("trials/")]
    for path in journals:
        files[path] = _chained(files[path])
    for path in [path for path in journals if path.endswith("/harness.jsonl")]:
        files[path] = _with_heads(files, path)
    whole = _packed(files)
    whole["ledger.jsonl"] = _with_packs(whole)
    return _resealed(whole)


def _chained(data: bytes) -> bytes:
    try:
        return chained(events_of(data))
    except (ValueError, KeyError, TypeError, RecursionError, EvidenceError):
        return data  # no longer a journal: nothing to mend


def _with_heads(files: Files, path: str) -> bytes:
    folder = path.removesuffix("harness.jsonl")
    try:
        events = events_of(files[path])
        for name in [name for name in files if name.startswith(folder) and name != path]:
            writer = name.removeprefix(folder).removesuffix(".jsonl").replace(".", ":", 1)
            lines = files[name].rstrip(b"\n").split(b"\n")
            for event in events:
                if event["kind"] == "trial.closed":
                    event["body"]["writers"][writer] = {"length": len(lines), "head": digest_of(lines[-1])}
        return chained(events)
    except (ValueError, KeyError, TypeError, RecursionError, EvidenceError):
        return files[path]


def _with_packs(files: Files) -> bytes:
    packs = [digest_of(data) for path, data in sorted(files.items()) if path.startswith("trials/")]
    try:
        records = events_of(files["ledger.jsonl"])
        for record in records:
            if record["kind"] == "sealed":
                record["digest"] = packs[0]
        return chained(records)
    except (ValueError, KeyError, TypeError, RecursionError, EvidenceError, IndexError):
        return files["ledger.jsonl"]


def _resealed(files: Files) -> Files:
    try:
        before = [parse_seal(files[path]) for path in sorted(files) if path.startswith("seals/")]
    except EvidenceError:
        return files
    where = {file.path: seal.number for seal in before for file in seal.files}
    prev = None
    for seal in before:
        stored = [
            StoredFile(path=path, sha256=digest_of(data), size=len(data))
            for path, data in sorted(files.items())
            if is_sealable(path) and where.get(path, 1) == seal.number
        ]
        made = make_seal(seal.number, seal.act, stored, prev, seal.t_wall)
        files[seal_path(seal.number)] = encode_seal(made)
        prev = made.digest
    return files
