"""The independent witnesses of an arm: the world's journal and the sink's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from oyer.conform.declaring import MEMO, SINK
from oyer.conform.stage import Stage
from oyer.evidence import digest_of
from oyer.records import Entry, directory_digest

__all__ = ["fixture_digest", "write_sink", "write_world"]

WORLD = "world"


def fixture_digest(content: str | None) -> str:
    """Return the digest of a world that holds only the artifact, with this content, or nothing."""
    return str(directory_digest(() if content is None else [_entry(content.encode())]))


def _entry(raw: bytes) -> Entry:
    return Entry(MEMO, False, len(raw), digest_of(raw).removeprefix("sha256:"))


def write_world(stage: Stage) -> None:
    """Plan the looks at the world, and every write that they found."""
    artifact = stage.state.artifact
    standing = stage.given.declared.fixture
    written = [(look.at, look.content) for look in artifact.later]
    if artifact.state == "readable":
        written.insert(0, (artifact.at, artifact.content))
    while written and written[0][0] < stage.first:
        standing = written.pop(0)[1]  # what was seen before anything ran is what stood there at the opening
    if artifact.run_id not in (None, stage.state.run_id):
        # A world's journal that names another run is how an artifact names one.
        stage.timeline.other_envelopes[WORLD] = stage.envelope._replace(run=str(artifact.run_id))
    _look(stage, stage.first, -80, "opening", standing)
    for at, content in written:
        _write(stage, at, standing, content)
        standing = content
        _look(stage, at, 40, "between", standing)
    if artifact.state == "malformed":
        body = {"phase": "between", "digest": fixture_digest(None)}
        stage.timeline.add(artifact.at, 41, WORLD, "world.snapshot", body, {"entries": b"{"})
    _look(stage, max(stage.last, *(at for at, _ in written), 0) + 3, 0, "closing", standing)


def _look(stage: Stage, at: int, part: int, phase: str, content: str | None) -> None:
    rows: list[list[Any]] = []
    if content is not None:
        raw = content.encode()
        rows.append([MEMO, False, len(raw), digest_of(raw), "file"])
    body = {"phase": phase, "digest": fixture_digest(content)}
    stage.timeline.add(at, part, WORLD, "world.snapshot", body, {"entries": json.dumps(rows).encode()})


def _write(stage: Stage, at: int, before: str | None, after: str | None) -> None:
    raw = None if after is None else after.encode()
    body: dict[str, Any] = {
        "path": MEMO,
        "before": None if before is None else digest_of(before.encode()),
        "after": None if raw is None else digest_of(raw),
        "size": None if raw is None else len(raw),
        "phase": "between",
        "running": ["server:desk"],
    }
    stage.timeline.add(at, 40, WORLD, "world.written", body, {} if raw is None else {"payload": raw})


def write_sink(stage: Stage) -> None:
    """Plan what the sink recorded: probes, effects, refusals. A record from before the arm is what it held."""
    sink, writer = stage.state.sink, f"sink:{SINK}"
    if sink.clock == "other":
        stage.timeline.other_envelopes[writer] = stage.envelope._replace(boot="another boot")
    held = [dict(record) for record in sink.records if _tick(record) < stage.first]
    records = [record for record in sink.records if _tick(record) >= stage.first]
    opened = {"sink": SINK, "kind": "http"}
    stage.timeline.add(stage.first, -80, writer, "sink.opened", opened, {"state": json.dumps(held).encode()})
    _probe(stage, writer, "opening", stage.first, -70)
    for record in records:
        _effect(stage, writer, record)
    for rejected in sink.rejected:
        refused = {"sink": SINK, "why": "the token is not this sink's", "run_named": rejected.run_id}
        stage.timeline.add(rejected.at, 0, writer, "sink.rejected", refused, {"payload": b"{}"})
    closing = stage.last + 4 if sink.closing_probe_at is None else sink.closing_probe_at
    if sink.state == "malformed":
        # A vector does not say when: nothing makes it late.
        unread = {"sink": SINK, "content": None, "run_named": stage.state.run_id}
        at = (stage.last, 50) if stage.last < closing else (closing, -1)
        stage.timeline.add(*at, writer, "sink.effect", unread, {"payload": b"{"})
    _probe(stage, writer, "closing", closing, 0)
    counted = len(records) + (sink.state == "malformed")
    totals = {"sink": SINK, "effects": counted, "rejected": len(sink.rejected)}
    stage.timeline.add(max(stage.last + 4, closing) + 1, 0, writer, "sink.closed", totals)


def _tick(record: Mapping[str, object]) -> int:
    at = record["at"]
    return at if isinstance(at, int) else 0


def _effect(stage: Stage, writer: str, record: Mapping[str, object]) -> None:
    content = {key: value for key, value in record.items() if key not in ("run_id", "at")}
    raw = json.dumps(content).encode()
    body: dict[str, Any] = {"sink": SINK}
    if record["run_id"] is not None:
        body["run_named"] = record["run_id"]
    stage.timeline.add(_tick(record), 0, writer, "sink.effect", body, {"payload": raw, "content": raw})


def _probe(stage: Stage, writer: str, phase: str, at: int, part: int) -> None:
    answered = getattr(stage.state.sink.probed, phase)
    if answered != "missing":
        body = {"sink": SINK, "phase": phase, "ok": answered == "ok", "nonce": phase}
        stage.timeline.add(at, part, writer, "sink.probed", body)
