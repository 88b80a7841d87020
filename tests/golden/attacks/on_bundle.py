"""Attacks on the bundle itself: its archive, its manifest, the envelope over it, and what is made up as a whole."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from typing import Any

from bundle_kit import Members, archive_of, flipped, mended, piece, resigned, restated, signed_by

from attacks.forms import FORMS
from attacks.ground import ARM, Ground, as_members
from attacks.kinds import Attack, Expected, Step
from attacks.rows import DEEP, archived, bit, emptied, half, linked, member_twice, reversed_keys, row, twice, written
from oyer.evidence import (
    MANIFEST_NAME,
    PLAN_SIGNATURE,
    SERIES_PREFIX,
    SIGNATURE_NAME,
    StoredFile,
    digest_of,
    encode_canonical,
    encode_manifest,
    encode_signed,
    make_manifest,
    member_header,
    parse_signed,
)

__all__ = ["ROWS"]

A, F, E = "archive", "manifest.json", "signature"

MECHANISM_OF_FORM = {
    "the same name twice": "duplicate",
    "names in another order": "reorder",
    "cut at the end": "cut",
    "cut in a member": "cut",
    "cut in a header": "cut",
    "cut to nothing": "cut",
    "zeros at the end, as tar pads": "form",
    "a second archive at the end": "add",
    "a zip at the end": "add",
    "bytes between members": "form",
    "written by another tool": "form",
    "a zip with a link": "downgrade",
    "a bomb": "size",
    "a file outside the series": "add",
    "a derived index": "add",
    "a hidden file": "add",
    "a file of no known part": "add",
    "no manifest": "remove",
}
"""The others lead elsewhere by their names, or are links and devices."""


def _form(name: str) -> Callable[[Ground, Members], bytes]:
    return lambda _, members: FORMS[name](members)


def _member(word: str, change: Callable[[bytes], bytes]) -> Callable[[Ground, Members], Members]:
    def applied(_ground: Ground, members: Members) -> Members:
        path = next(member for member in sorted(members) if word in member)
        return {**members, path: change(members[path])}

    return applied


def _header(word: str, change: Callable[[bytearray], object]) -> Callable[[Ground, Members], bytes]:
    """Change the header of a member and mend its checksum."""

    def applied(_ground: Ground, members: Members) -> bytes:
        path = next(member for member in sorted(members) if word in member)
        block = bytearray(member_header(path, len(members[path]))[-512:])
        change(block)
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\x00 " % sum(block)
        return archived(members, {path: piece(path, members[path], bytes(block))})

    return applied


def _put(at: int, data: bytes) -> Callable[[bytearray], object]:
    return lambda block: block.__setitem__(slice(at, at + len(data)), data)


def _old_tar(_ground: Ground, members: Members) -> bytes:
    """The form before POSIX: no magic, no prefix."""
    import io

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(members):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(members[path]), 0o600
            archive.addfile(member, io.BytesIO(members[path]))
    return out.getvalue()


def _without(word: str) -> Callable[[Ground, Members], Members]:
    """Take a member out, and its line out of the manifest."""

    def applied(_ground: Ground, members: Members) -> Members:
        path = next(member for member in sorted(members) if word in member)
        return _keep_envelope(members, mended({p: d for p, d in members.items() if p != path}))

    return applied


def _keep_envelope(before: Members, after: Members) -> Members:
    kept = {path: data for path, data in before.items() if path == SIGNATURE_NAME}
    return {**after, **kept}


def _more(_ground: Ground, members: Members) -> Members:
    return _keep_envelope(members, mended({**members, "series/outcomes/more.json": b"{}"}))


def _undeclared(_ground: Ground, members: Members) -> Members:
    return {**members, "series/outcomes/more.json": b"{}"}


def _exchanged(_ground: Ground, members: Members) -> Members:
    one, two = sorted(path for path in members if "/outcomes/" in path)[:2]
    return {**members, one: members[two], two: members[one]}


def _another_series(ground: Ground, members: Members) -> Members:
    """The members of another series of the same shape, under this manifest."""
    theirs = {SERIES_PREFIX + path: data for path, data in ground.all.foreign.items()}
    return {**theirs, **{p: members[p] for p in (MANIFEST_NAME, SIGNATURE_NAME) if p in members}}


def _manifest(edit: Callable[[dict[str, Any]], object]) -> Callable[[Ground, Members], Members]:
    return _member(MANIFEST_NAME, written(edit))


def _listed(path: str) -> Callable[[Ground, Members], Members]:
    entry = {"path": path, "sha256": digest_of(b""), "size": 0}
    return _manifest(lambda value: value["files"].insert(0, entry))


def _foreign_manifest(ground: Ground, members: Members) -> Members:
    return {**members, MANIFEST_NAME: as_members(ground.all.foreign)[MANIFEST_NAME]}


def _digests_swapped(value: dict[str, Any]) -> None:
    one, two = value["files"][0], value["files"][1]
    one["sha256"], two["sha256"] = two["sha256"], one["sha256"]


def _withheld(word: str) -> Callable[[Ground, Members], Members]:
    """What speaks against it is said to be withheld."""

    def applied(_ground: Ground, members: Members) -> Members:
        out = {path: data for path, data in members.items() if word in path and path.startswith(SERIES_PREFIX)}
        kept = {path: data for path, data in members.items() if path not in out}
        files = [_stored(path, data) for path, data in kept.items() if path.startswith(SERIES_PREFIX)]
        manifest = make_manifest(files, [_stored(path, data) for path, data in out.items()])
        return _keep_envelope(members, {**kept, MANIFEST_NAME: encode_manifest(manifest)})

    return applied


def _stored(path: str, data: bytes) -> StoredFile:
    return StoredFile(path=path, sha256=digest_of(data), size=len(data))


def _envelope(change: Callable[[Ground, bytes], bytes]) -> Callable[[Ground, Members], Members]:
    return lambda ground, members: {**members, SIGNATURE_NAME: change(ground, members[SIGNATURE_NAME])}


def _unsigned(_ground: Ground, members: Members) -> Members:
    return {path: data for path, data in members.items() if path != SIGNATURE_NAME}


def _all_unsigned(_ground: Ground, members: Members) -> Members:
    """No envelope is left, over the plan neither: the series is the one without."""
    return as_members(_ground.all.plain)


def _by_forger(ground: Ground, data: bytes) -> bytes:
    return encode_signed(ground.all.forger.private.sign(parse_signed(data).payload))


def _second(change: Callable[[Ground, bytes], bytes]) -> Callable[[Ground, bytes], bytes]:
    def applied(ground: Ground, data: bytes) -> bytes:
        value, more = json.loads(data), json.loads(change(ground, data))
        return encode_canonical({**value, "signatures": value["signatures"] + more["signatures"]})

    return applied


def _other_bundle(ground: Ground, _data: bytes) -> bytes:
    members = as_members(ground.all.foreign)
    return signed_by(ground.all.operator.private.sign, members, "another-series")[SIGNATURE_NAME]


def _made_up(ground: Ground, members: Members) -> Members:
    """Another run altogether, under the envelope of this one."""
    return _keep_envelope(members, as_members(ground.all.foreign))


def _made_up_unsigned(ground: Ground, _members: Members) -> Members:
    return as_members(ground.all.foreign)


def _made_up_and_signed(ground: Ground, _members: Members) -> Members:
    return signed_by(ground.all.forger.private.sign, as_members(ground.all.foreign), "another-series")


def _on_bundle(name: str, mechanism: str, unsigned: Expected, apply: Callable[..., Any], kind: str = A,
               step: Step = "members", signed: Expected | None = None) -> Attack:  # fmt: skip
    return row(name, mechanism, kind, unsigned, apply, step=step, signed=signed)


ROWS: tuple[Attack, ...] = (
    *(_on_bundle(name, MECHANISM_OF_FORM.get(name, "name"), 1, _form(name), step="archive") for name in FORMS),
    _on_bundle("a bit of a header", "flip", 1, lambda _, members: bit(archive_of(members), 110), step="archive"),
    _on_bundle("a member out, and out of the manifest", "remove", 2, _without("/outcomes/")),
    _on_bundle("a trial out, and out of the manifest", "remove", 2, _without("/trials/")),
    _on_bundle("a seal out, and out of the manifest", "remove", 2, _without("seals/001")),
    _on_bundle("a file more, and in the manifest", "add", 2, _more),
    _on_bundle("an undeclared file", "add", 2, _undeclared, signed=2),
    _on_bundle("a bundle replaced by {}", "empty", 1, lambda _, __: b"{}", step="archive"),
    _on_bundle("a member with a time", "backdate", 1, _header("plan.json", _put(136, b"15000000000\x00")),
               step="archive"),
    _on_bundle("another series under this manifest", "foreign", 2, _another_series),
    _on_bundle("two outcomes under exchanged names", "swap", 2, _exchanged, signed=2),
    _on_bundle("an archive in an older form", "downgrade", 1, _old_tar, step="archive"),
    _on_bundle("a member that belongs to root and may be run", "edit", 1,
               _header("plan.json", _put(100, b"0004755\x00")), step="archive"),
    _on_bundle("a size that is no octal number", "size", 1, _header("plan.json", _put(124, b"\x80" + bytes(11))),
               step="archive"),
    _on_bundle("a size beyond the end", "size", 1, _header("plan.json", _put(124, b"77777777777\x00")),
               step="archive"),
    _on_bundle("a bit of the manifest", "flip", 2, _member(MANIFEST_NAME, bit), F, signed=2),
    _on_bundle("the manifest cut in half", "cut", 2, _member(MANIFEST_NAME, half), F, signed=2),
    _on_bundle("the manifest taken out", "remove", 1, lambda _, members: archive_of(
        {path: data for path, data in members.items() if path != MANIFEST_NAME}), F, step="archive"),
    _on_bundle("a file less in the manifest", "remove", 2, _manifest(lambda value: value["files"].pop()), F),
    _on_bundle("a file more in the manifest", "add", 2, _listed("series/a"), F),
    _on_bundle("the manifest replaced by {}", "empty", 2, _member(MANIFEST_NAME, emptied), F, signed=2),
    _on_bundle("the files of the manifest in another order", "reorder", 2,
               _manifest(lambda value: value["files"].reverse()), F, signed=2),
    _on_bundle("a file twice in the manifest", "duplicate", 2,
               _manifest(lambda value: value["files"].insert(0, value["files"][0])), F, signed=2),
    _on_bundle("the manifest twice", "duplicate", 1, member_twice(MANIFEST_NAME), F, step="archive"),
    _on_bundle("a time in the manifest", "backdate", 2, _manifest(lambda value: value.update(made="2020-01-01")), F,
               signed=2),
    _on_bundle("the manifest of another bundle", "foreign", 2, _foreign_manifest, F),
    _on_bundle("two digests swapped in the manifest", "swap", 2, _manifest(_digests_swapped), F),
    _on_bundle("a manifest of an older version", "downgrade", 2, _manifest(lambda v: v.update(oyer="Bundle@0")), F,
               signed=2),
    _on_bundle("a manifest of a newer version", "downgrade", 2, _manifest(lambda v: v.update(oyer="Bundle@2")), F,
               signed=2),
    _on_bundle("another digest in the manifest", "edit", 2,
               _manifest(lambda value: value["files"][0].update(sha256=digest_of(b"x"))), F),
    _on_bundle("a key twice in the manifest of the bundle", "form", 2, _member(MANIFEST_NAME, twice("oyer")), F,
               signed=2),
    _on_bundle("a manifest that lists a path outside", "name", 2, _listed("../x"), F, signed=2),
    _on_bundle("a link in the place of the bundle's manifest", "name", 1, linked(MANIFEST_NAME), F, step="archive"),
    _on_bundle("a bundle's manifest nested without end", "size", 2, _member(MANIFEST_NAME, lambda _: DEEP), F,
               signed=2),
    _on_bundle("a manifest that withholds the ledger", "recreate", 2, _manifest(lambda value: value.update(
                   withheld=[f for f in value["files"] if f["path"].endswith("ledger.jsonl")])), F, signed=2),
    _on_bundle("a trial said to be withheld", "recreate", "open", _withheld(f".{ARM}/"), F),
    _on_bundle("a bit of the envelope", "flip", 3, _envelope(lambda _, data: bit(data)), E),
    _on_bundle("a bit of the signature itself", "flip", "open",
               _envelope(lambda _, data: resigned(data, signature=flipped(parse_signed(data).signature))), E),
    _on_bundle("the envelope cut in half", "cut", 3, _envelope(lambda _, data: half(data)), E),
    _on_bundle("the signature taken away", "remove", "open", _unsigned, E),
    _on_bundle("both signatures taken away", "remove", "not caught", _all_unsigned, E),
    _on_bundle("a signature beside the first", "add", 3, _envelope(_second(_by_forger)), E),
    _on_bundle("the envelope replaced by {}", "empty", 3, _envelope(lambda _, __: b"{}"), E),
    _on_bundle("keys of the envelope in another order", "reorder", 3, _envelope(lambda _, d: reversed_keys(d)), E),
    _on_bundle("the same signature twice", "duplicate", 3, _envelope(_second(lambda _, data: data)), E),
    _on_bundle("a time put into what was signed", "backdate", 3,
               _envelope(lambda _, data: restated(data, predicate={"signed": "2020-01-01T00:00:00Z"})), E),
    _on_bundle("the signature of another bundle", "foreign", 3, _envelope(_other_bundle), E),
    _on_bundle("the plan's envelope over the bundle", "swap", 3,
               lambda _, members: {**members, SIGNATURE_NAME: members[SERIES_PREFIX + PLAN_SIGNATURE]}, E),
    _on_bundle("a statement of an older kind", "downgrade", 3, _envelope(
        lambda _, data: restated(data, predicateType="https://oyer.invalid/predicate/bundle/v0")), E),
    _on_bundle("what was signed edited", "edit", 3, _envelope(lambda _, data: restated(data, subject=[])), E),
    _on_bundle("a key twice in the envelope", "form", 3, _envelope(lambda _, data: twice("payloadType")(data)), E),
    _on_bundle("a link in the place of the envelope", "name", 1, linked(SIGNATURE_NAME), E, step="archive"),
    _on_bundle("an envelope nested without end", "size", 3, _envelope(lambda _, __: DEEP), E),
    _on_bundle("key substituted", "key", "open", _envelope(_by_forger), E),
    _on_bundle("key substituted under the right id", "key", "open", _envelope(
        lambda ground, data: resigned(_by_forger(ground, data), keyid=ground.all.operator.public.keyid)), E),
    _on_bundle("everything made up anew under the old signature", "recreate", 3, _made_up, E),
    _on_bundle("everything made up anew, unsigned", "recreate", "not caught", _made_up_unsigned, E),
    _on_bundle("everything made up anew and signed by the forger", "recreate", "open", _made_up_and_signed, E),
)  # fmt: skip
