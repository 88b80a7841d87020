"""Locks of suites: where one stands, reading one, writing one, and refusing to run what moved away from it.

Owns the file. Looking at worlds and servers is the engine's, comparing is `oyer.plan`'s, words are `oyer.report`'s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from oyer.cli.naming import packaged_file, shown_name
from oyer.cli.scopes import PlacedSuite
from oyer.cli.selection import judged_by
from oyer.cli.streams import holds_hidden
from oyer.engine import CaseSource, lock_suite
from oyer.errors import Problem, RecordError, UsageError
from oyer.plan import lock_drift
from oyer.records import SuiteLock, parse_documents, plain, validate

if TYPE_CHECKING:
    from oyer.cli.selection import Selection

__all__ = ["lock_now", "lock_path", "read_lock", "require_locked", "write_lock"]

_LARGEST_BYTES = 1 << 28


def lock_path(suite: PlacedSuite) -> Path:
    """Return where the lock of a suite stands: beside its file; of a packaged one, in the working directory."""
    if packaged_file(suite.suite.id, "TrialSuite@1") == suite.path:
        return Path(f"{suite.suite.id.replace('/', '-')}.lock.json")
    return suite.path.with_name(f"{suite.path.stem}.lock.json")


def lock_now(suite: PlacedSuite, secrets: Mapping[str, str] = MappingProxyType({})) -> SuiteLock:
    """Look at everything the suite is made of: start its servers once, hash its files. Raises: OyerError."""
    sources = [CaseSource(placed.loaded, placed.base, placed.world) for placed in suite.cases]
    rubrics, evaluators = judged_by(suite.cases, suite.scope)
    base = suite.path.parent
    plugins = {text: f"sha256:{sha256((base / text).read_bytes()).hexdigest()}" for text in suite.suite.plugins}
    return lock_suite(suite.suite, sources, rubrics, evaluators, plugins, secrets)


def read_lock(path: Path) -> SuiteLock:
    """Read a lock. Raises: UsageError E-PATH, RecordError with everything that is wrong."""
    try:
        with path.open("rb") as source:
            data = source.read(_LARGEST_BYTES)
    except OSError as error:
        hint = "make one: oyer pin SUITE"
        raise UsageError("E-PATH", f"cannot be read: {error.strerror or error}", where=str(path), hint=hint) from error
    documents = parse_documents(data, name=str(path))
    kinds = [one.value.get("oyer") if isinstance(one.value, dict) else None for one in documents]
    if kinds != ["SuiteLock@1"]:
        named = ", ".join(sorted({kind for kind in kinds if isinstance(kind, str)}))
        told = f"this is no lock of a suite{f': it holds {named}' if named else ''}"
        hint = "a lock is what `oyer pin SUITE` or `oyer pin SUITE -o FILE` writes"
        raise RecordError("E-RECORD-KIND", told, where=str(path), hint=hint)
    record = validate(documents[0], {"SuiteLock@1": SuiteLock})
    assert isinstance(record, SuiteLock)
    return record


def write_lock(lock: SuiteLock, path: Path) -> None:
    """Write a lock, sorted and indented, in the place of an older one.

    Raises: UsageError; `E-STORE-SECRET` where a secret stands in what was declared.
    """
    text = json.dumps(plain(lock), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    if holds_hidden(text):
        hint = "write {secret.NAME} where it stands"
        raise UsageError("E-STORE-SECRET", "the lock would hold a registered secret", where=str(path), hint=hint)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError("E-PATH", f"cannot be written: {error.strerror or error}", where=str(path)) from error


def _require_file(path: Path) -> None:
    """Refuse what stands in a lock's place and is no file: without a lock, nothing stands there. Raises: UsageError."""
    if os.path.lexists(path) and not path.is_file():
        told = "a link that leads to no file" if path.is_symlink() else "no file"
        hint = "remove it and lock the suite anew: oyer pin SUITE"
        raise UsageError(
            "E-LOCK-KIND", f"{told} stands where the lock of the suite belongs", where=str(path), hint=hint
        )


def require_locked(selection: Selection) -> str | None:
    """Refuse a suite that moved away from its lock. Returns a sentence where it has none to move from.

    Raises: RecordError E-PIN-DRIFT with every field, old and new.
    """
    suite = selection.suite
    if suite is None:
        return None
    path = lock_path(suite)
    _require_file(path)
    if not path.is_file():
        return f"This suite is not locked: nothing says whether it moved since it was written (oyer pin, {path.name})."
    drifts = lock_drift(
        read_lock(path), lock_now(suite, selection.secrets), [placed.loaded.case.id for placed in suite.cases]
    )
    if drifts:
        name = shown_name(suite)
        hint = (
            f"in words: oyer pin {name} -o now.json; oyer pin --diff {path} now.json. If it is meant: oyer pin {name}"
        )
        raise RecordError.of(
            Problem("E-PIN-DRIFT", f"{drift.planned} when it was pinned, {drift.now} now", drift.field, hint)
            for drift in drifts
        )
    return None
