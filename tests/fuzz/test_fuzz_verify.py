"""Whatever lies in a series directory, verifying it ends in a Verification; a changed series is never valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from golden_build import build_series
from golden_memory import files_of, verify_files
from golden_tamper import chained, events_of
from hypothesis import given
from hypothesis import strategies as st

from oyer.errors import EvidenceError
from oyer.evidence import digest_of, pack, unpack

Files = dict[str, bytes]
VALUES = st.sampled_from(
    [None, True, -1, 0, 2**53, 2**63, "", "a", "sha256:" + "0" * 64, [], {}, ["a"], {"a": 1}, "\n", "{"]
)
LIMIT_BYTES = 1 << 24


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Files:
    path = tmp_path_factory.mktemp("fuzz") / "series"
    build_series(path, ("obedient",), ("baseline", "manipulated"))
    return files_of(path)


def _change(draw: st.DrawFn, files: Files) -> None:
    """Do one thing to one file."""
    path = draw(st.sampled_from(sorted(files)))
    data = files[path]
    at = draw(st.integers(0, len(data)))
    kind = draw(st.sampled_from(["flip", "cut", "delete", "copy", "insert", "swap", "empty", "double"]))
    if kind == "flip" and data:
        at %= len(data)
        files[path] = data[:at] + bytes([data[at] ^ draw(st.integers(1, 255))]) + data[at + 1 :]
    elif kind == "cut":
        files[path] = data[:at]
    elif kind == "insert":
        files[path] = data[:at] + draw(st.binary(max_size=40)) + data[at:]
    elif kind == "delete":
        del files[path]
    elif kind == "copy":
        files[
            draw(st.sampled_from(["x", "seals/003.json", "trials/00/t/1.tar.zst", "outcomes/x.json", path + "x"]))
        ] = data
    elif kind == "swap":
        other = draw(st.sampled_from(sorted(files)))
        files[path], files[other] = files[other], data
    else:
        files[path] = b"" if kind == "empty" else data * 2


@given(st.data())
def test_files_changed_at_random(whole: Files, data: st.DataObject) -> None:
    files = dict(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        if files:
            data.draw(st.composite(lambda draw: _change(draw, files))())
    found = verify_files(files)
    assert (found.exit_code == 0) == (files == whole)
    json.dumps(found.to_json())


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in _places(item, (*path, key)))]


def _put(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    value[path[0]] = _put(value[path[0]], path[1:], new)
    return value


def _mutate(data: st.DataObject, value: Any) -> Any:
    """Put another value in the place of a random part of a JSON value."""
    place = data.draw(st.sampled_from(_places(value)))
    return _put(value, place, data.draw(VALUES))


@given(st.data())
def test_events_that_say_anything(whole: Files, data: st.DataObject) -> None:
    """A journal with other bodies and a good chain: the scorer gets to see it and has an answer."""
    files = dict(whole)
    path = data.draw(st.sampled_from(sorted(p for p in files if p.startswith("trials/"))))
    journals = unpack(files[path], LIMIT_BYTES)
    name = data.draw(st.sampled_from(sorted(journals)))
    events = events_of(journals[name])
    event = data.draw(st.sampled_from(events))
    event["body"] = _mutate(data, event["body"])
    if data.draw(st.booleans()):
        events.remove(event)
    try:
        journals[name] = chained(events)
    except EvidenceError:  # a body that has no canonical form cannot stand in a line
        return
    files[path] = pack(journals)
    assert verify_files(files).exit_code in ({0, 4} if files == whole else {4})


@given(st.data())
def test_messages_that_say_anything(whole: Files, data: st.DataObject) -> None:
    """Payloads with other JSON in them, their digests mended: what crossed the wire is anyone's to choose."""
    files = dict(whole)
    path = data.draw(st.sampled_from(sorted(p for p in files if p.startswith("trials/"))))
    journals = unpack(files[path], LIMIT_BYTES)
    name = data.draw(st.sampled_from([n for n in sorted(journals) if n.startswith(("tap", "sink", "world"))]))
    events = events_of(journals[name])
    payloads = [p for e in events for p in e["body"].values() if isinstance(p, dict) and "text" in p]
    payload = data.draw(st.sampled_from(payloads))
    text = (
        json.dumps(_mutate(data, json.loads(payload["text"]))) if payload["text"][:1] in "{[" else data.draw(st.text())
    )
    payload.update(text=text, size=len(text.encode()), sha256=digest_of(text.encode()))
    journals[name] = chained(events)
    files[path] = pack(journals)
    verify_files(files)


@given(st.data())
def test_records_that_say_anything(whole: Files, data: st.DataObject) -> None:
    """Plan, manifest and pins with other values in them, their digests mended as far as a name goes."""
    files = dict(whole)
    path = data.draw(st.sampled_from([p for p in files if p.startswith("pins/") or p in ("plan.json", "series.json")]))
    value = json.loads(files[path])
    value = _mutate(data, value)
    if isinstance(value, dict) and data.draw(st.booleans()):
        value.pop(data.draw(st.sampled_from(sorted(value))), None) if value else None
    _put_record(files, path, _canonical(value))
    assert verify_files(files).exit_code in ({0, 4} if files == whole else {4})


def _canonical(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def _put_record(files: Files, path: str, changed: bytes) -> None:
    if not path.startswith("pins/"):
        files[path] = changed
        return
    old, new = "sha256:" + path[5:69], digest_of(changed)
    del files[path]
    files[f"pins/{new[7:]}.json"] = changed
    for name in ("plan.json", "series.json"):
        files[name] = files[name].replace(old.encode(), new.encode())
    for name in [name for name in files if name.startswith("pins/")]:
        if old.encode() in files[name]:
            _put_record(files, name, files[name].replace(old.encode(), new.encode()))
