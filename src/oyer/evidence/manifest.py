"""The manifest of a bundle: exactly these files, with exactly these stored bytes, and what was left out.

Owns `Bundle@1` and the rule which files may be withheld. Must never list itself or the signature over it, and never
guess at a version it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal

import msgspec

from oyer.errors import EvidenceError
from oyer.evidence.archive import MANIFEST_NAME, SERIES_PREFIX, is_member_path
from oyer.evidence.canonical import encode_canonical, explain_form
from oyer.evidence.seals import StoredFile

__all__ = ["BUNDLE_VERSION", "Manifest", "can_withhold", "encode_manifest", "make_manifest", "parse_manifest"]

BUNDLE_VERSION: Final = "Bundle@1"

_KEPT = frozenset({"series.json", "plan.json", "plan.dsse.json", "ledger.jsonl"})


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every member but the manifest and its signature, in order of path; and the files that were withheld.

    Paths are those of members (`series/plan.json`). `withheld` keeps size and digest of the stored bytes left out.
    """

    files: tuple[StoredFile, ...]
    oyer: Literal["Bundle@1"]
    withheld: tuple[StoredFile, ...]


class _AnyVersion(msgspec.Struct):
    oyer: str


_DECODER = msgspec.json.Decoder(Manifest)
_VERSION = msgspec.json.Decoder(_AnyVersion)


def can_withhold(path: str) -> bool:
    """Whether a file of a series (`pins/....json`) may be left out. What ties the rest together may not."""
    return path not in _KEPT and not path.startswith("seals/")


def make_manifest(files: Iterable[StoredFile], withheld: Iterable[StoredFile] = ()) -> Manifest:
    """Build a manifest over files in any order. Raises: EvidenceError `E-MANIFEST-*`."""
    ordered, left_out = (tuple(sorted(some, key=lambda file: file.path)) for some in (files, withheld))
    return parse_manifest(encode_manifest(Manifest(files=ordered, oyer=BUNDLE_VERSION, withheld=left_out)))


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the canonical bytes of a manifest."""
    return encode_canonical(manifest)


def parse_manifest(data: bytes) -> Manifest:
    """Parse a manifest and prove its form, its version and the paths it lists.

    Raises: EvidenceError `E-MANIFEST-FORM`, `E-MANIFEST-VERSION`, `E-MANIFEST-CANONICAL`, `E-MANIFEST-PATH`,
    `E-MANIFEST-TWICE`.
    """
    try:
        version = _VERSION.decode(data).oyer
        if version != BUNDLE_VERSION:
            raise EvidenceError(
                "E-MANIFEST-VERSION",
                f"the bundle is of version {version[:40]!r}; this reader knows {BUNDLE_VERSION}",
                where=MANIFEST_NAME,
                hint="read it with the version of Oyer that wrote it, or a newer one",
            )
        manifest = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError("E-MANIFEST-FORM", f"not the manifest of a bundle: {error}", where=MANIFEST_NAME) from error
    if encode_manifest(manifest) != data:
        raise EvidenceError("E-MANIFEST-CANONICAL", explain_form(data), where=MANIFEST_NAME)
    _require_paths(manifest.files)
    _require_paths(manifest.withheld)
    twice = {file.path for file in manifest.files} & {file.path for file in manifest.withheld}
    if twice:
        raise EvidenceError("E-MANIFEST-TWICE", "the file is listed and withheld at once", where=min(twice))
    for file in manifest.withheld:
        if not can_withhold(file.path.removeprefix(SERIES_PREFIX)):
            raise EvidenceError("E-MANIFEST-PATH", "the file cannot be withheld", where=file.path)
    return manifest


def _require_paths(files: Sequence[StoredFile]) -> None:
    for file in files:
        if not (file.path.startswith(SERIES_PREFIX) and is_member_path(file.path)):
            raise EvidenceError("E-MANIFEST-PATH", f"a manifest cannot list {file.path!r}", where=MANIFEST_NAME)
    for first, second in pairwise(files):
        if first.path >= second.path:
            raise EvidenceError("E-MANIFEST-TWICE", "files stand twice or out of order", where=second.path)
