"""Attacks on bundles, each with the check that must catch it; everything that can be re-hashed is re-hashed.

`FORMS` break the archive (check 1), `CONTENTS` change what is in it (2 and others), `SIGNATURES` are the ones that
only a signature catches (3): there every digest agrees, and the forger lacks nothing but the key.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attacks.forms import FORMS
from bundle_kit import (
    Members,
    archive_of,
    flipped,
    last_seal_path,
    members_of,
    mended,
    resigned,
    restated,
    signed_by,
    statement,
    verify_bytes,
    verify_file,
)
from golden_build import build_series
from golden_tamper import Forger, failing, told, verify

from oyer.evidence import (
    MANIFEST_NAME,
    PLAN_SIGNATURE,
    SERIES_PREFIX,
    SIGNATURE_NAME,
    Signed,
    digest_of,
    encode_canonical,
    encode_signed,
    make_plan_statement,
    parse_signed,
)
from oyer.host import SigningKey, make_key_pair, read_signing_key
from oyer.store import BundleReader, PublicKey, read_public_key, write_bundle
from oyer.verify import Keys, Verification, verify_bundle

PLAN_PATH = SERIES_PREFIX + PLAN_SIGNATURE


class Pair(NamedTuple):
    private: SigningKey
    public: PublicKey


class Stage(NamedTuple):
    """A signed bundle of a series whose plan was signed by somebody else, and the keys of all parties."""

    series: Path
    bundle: bytes
    members: Members
    operator: Pair
    registrar: Pair
    forger: Pair


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    place = tmp_path_factory.mktemp("stage")
    pairs = []
    for name in ("operator", "registrar", "forger"):
        made = make_key_pair(place / name)
        pairs.append(Pair(read_signing_key(made.private), read_public_key(made.public)))
    operator, registrar, forger = pairs

    def register(plan: bytes) -> bytes:
        return encode_signed(registrar.private.sign(make_plan_statement(plan, "2025-12-31T00:00:00Z")))

    build_series(place / "series", conditions=("baseline", "manipulated"), sign_plan=register)
    bundle = write_bundle(place / "series", place / "x.oyer", sign=operator.private.sign).path.read_bytes()
    return Stage(place / "series", bundle, members_of(bundle), operator, registrar, forger)


def check(stage: Stage, data: bytes, place: Path) -> Verification:
    """Verify as somebody who has the public keys of operator and registrar."""
    target = place / "tried.oyer"
    target.write_bytes(data)
    with BundleReader(target) as reader:
        return verify_bundle(reader, Keys(stage.operator.public, stage.registrar.public))


def test_the_good_one_passes_and_says_whose_keys(stage: Stage, tmp_path: Path) -> None:
    found = check(stage, stage.bundle, tmp_path)
    assert found.exit_code == 0, told(found)
    assert found.signatures == (stage.operator.public.keyid, stage.registrar.public.keyid, "2025-12-31T00:00:00Z")
    for text in (stage.operator.public.keyid, stage.registrar.public.keyid, "worth as much as the signer"):
        assert text in found.words


# ---------------------------------------------------------------- the archive itself: check 1


@pytest.mark.parametrize("name", FORMS)
def test_an_archive_that_is_not_safe(stage: Stage, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.parent.rglob("*"))
    data = FORMS[name](stage.members)
    for found in (verify_bytes(data, tmp_path), check(stage, data, tmp_path)):
        assert 1 in failing(found), told(found)
        assert found.exit_code == 4
        assert "Nothing is proven" in found.words
    (tmp_path / "tried.oyer").unlink()
    assert sorted(tmp_path.parent.rglob("*")) == before


@pytest.mark.parametrize("name", [name for name in FORMS if name not in {"no manifest"}])
def test_nothing_is_read_from_an_archive_that_is_not_safe(stage: Stage, tmp_path: Path, name: str) -> None:
    target = tmp_path / "x.oyer"
    target.write_bytes(FORMS[name](stage.members))
    with BundleReader(target) as reader:
        if reader.archive.intact:
            assert name in {"a derived index", "a file of no known part"}
            return
        assert list(reader.paths()) == [] and reader.read("plan.json") is None and reader.signature() is None


# ---------------------------------------------------------------- what is in it: check 2 and those behind it


def _replaced(path: str, new: Callable[[bytes], bytes]) -> Callable[[Members], Members]:
    return lambda members: {**members, path: new(members[path])}


def _first(members: Members, word: str) -> str:
    return next(path for path in sorted(members) if word in path)


def _swapped(members: Members) -> Members:
    one, other = sorted(path for path in members if "/outcomes/" in path)[:2]
    return {**members, one: members[other], other: members[one]}


def _without(word: str) -> Callable[[Members], Members]:
    return lambda members: {path: data for path, data in members.items() if path != _first(members, word)}


def _manifest(edit: Callable[[dict[str, Any]], object]) -> Callable[[Members], Members]:
    def changed(members: Members) -> Members:
        value = json.loads(members[MANIFEST_NAME])
        edit(value)
        return {**members, MANIFEST_NAME: encode_canonical(value)}

    return changed


def _bit(word: str) -> Callable[[Members], Members]:
    def changed(members: Members) -> Members:
        path = _first(members, word)
        data = bytearray(members[path])
        data[-2] ^= 1
        return {**members, path: bytes(data)}

    return changed


PARTS = ("/outcomes/", "/comparisons/", "/pins/", "/blobs/", "/trials/", "series/plan.json", "series/series.json")
PARTS += ("series/ledger.jsonl", "seals/001", "seals/002")

CONTENTS: dict[str, Callable[[Members], Members]] = {
    **{f"one bit of {word}": _bit(word) for word in PARTS},
    "two outcomes swapped": _swapped,
    "a trial left out": _without("/trials/"),
    "an outcome left out": _without("/outcomes/"),
    "a seal left out": _without("seals/002"),
    "a file more": lambda members: {**members, "series/outcomes/more.json": b"{}"},
    "the manifest of another version": _manifest(lambda value: value.update(oyer="Bundle@2")),
    "the manifest of an older version": _manifest(lambda value: value.update(oyer="Bundle@0")),
    "a manifest that lists one file less": _manifest(lambda value: value["files"].pop()),
    "a manifest that lists one file more": _manifest(
        lambda value: value["files"].append({"path": "series/x", "sha256": digest_of(b""), "size": 0})
    ),
    "a manifest that lists a path outside": _manifest(
        lambda value: value["files"].insert(0, {"path": "../x", "sha256": digest_of(b""), "size": 0})
    ),
    "a manifest that withholds the ledger": _manifest(
        lambda value: value["withheld"].append({"path": "series/ledger.jsonl", "sha256": digest_of(b""), "size": 0})
    ),
    "a manifest with a key twice": _replaced(
        MANIFEST_NAME, lambda data: data.replace(b'"oyer":', b'"oyer":"Bundle@1","oyer":')
    ),
    "a manifest with a space": _replaced(MANIFEST_NAME, lambda data: data.replace(b":", b": ", 1)),
    "a manifest that is none": _replaced(MANIFEST_NAME, lambda _: b"{}"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENTS)
def test_a_content_that_is_not_the_listed_one(stage: Stage, tmp_path: Path, name: str) -> None:
    """Without a key too: this is what the manifest is for."""
    found = verify_bytes(archive_of(CONTENTS[name](stage.members)), tmp_path)
    assert 2 in failing(found), told(found)
    assert found.exit_code == 4


SEALED = [name for name in CONTENTS if "manifest" not in name and "a seal left out" not in name]


@pytest.mark.parametrize("name", SEALED)
def test_the_same_with_a_manifest_that_agrees(stage: Stage, tmp_path: Path, name: str) -> None:
    """The forger writes the manifest anew: the seals still know better."""
    found = verify_bytes(archive_of(mended(CONTENTS[name](stage.members))), tmp_path)
    assert 2 in failing(found), told(found)


def test_an_unknown_version_is_refused_and_nothing_is_guessed(stage: Stage, tmp_path: Path) -> None:
    data = archive_of(CONTENTS["the manifest of another version"](stage.members))
    found = verify_bytes(data, tmp_path)
    assert failing(found) == {2}
    assert {check.status for check in found.checks[2:]} == {"not_run"}
    assert "this reader knows Bundle@1" in told(found) and "a newer one" in told(found)


# ---------------------------------------------------------------- only a signature: check 3


def _forged(stage: Stage, place: Path) -> Members:
    """A consistent forgery: an outcome's trial is edited, and everything above it is derived and sealed anew."""
    forger = Forger.copy(stage.series, place / "forged")
    (forger.root / PLAN_SIGNATURE).unlink()
    shutil.rmtree(forger.root / "outcomes")
    shutil.rmtree(forger.root / "comparisons")
    shutil.rmtree(forger.root)
    build_series(forger.root, conditions=("baseline", "manipulated"), subjects=("wary", "obedient"))
    (forger.root / PLAN_SIGNATURE).write_bytes(stage.members[PLAN_PATH])
    forger.reseal()
    return {
        f"{SERIES_PREFIX}{p.relative_to(forger.root)}": p.read_bytes() for p in forger.root.rglob("*") if p.is_file()
    }


def _bundle_signature(change: Callable[[Stage, bytes], bytes]) -> Callable[[Stage, Path], Members]:
    return lambda stage, _: {**stage.members, SIGNATURE_NAME: change(stage, stage.members[SIGNATURE_NAME])}


def _plan_signature(change: Callable[[Stage, bytes], bytes | None]) -> Callable[[Stage, Path], Members]:
    """Change the envelope over the plan, seal the series again, and sign the bundle again: the operator did it."""

    def changed(stage: Stage, place: Path) -> Members:
        forger = Forger.copy(stage.series, place / "resealed")
        target = forger.root / PLAN_SIGNATURE
        new = change(stage, target.read_bytes())
        target.unlink() if new is None else target.write_bytes(new)
        forger.reseal()
        files = {
            f"{SERIES_PREFIX}{p.relative_to(forger.root)}": p.read_bytes()
            for p in forger.root.rglob("*")
            if p.is_file()
        }
        return signed_by(stage.operator.private.sign, files)

    return changed


def _other_bundle(stage: Stage, place: Path) -> Members:
    build_series(place / "other", ("wary",), ("baseline", "manipulated"))
    other = write_bundle(place / "other", place / "other.oyer", sign=stage.operator.private.sign).path.read_bytes()
    return {**stage.members, SIGNATURE_NAME: members_of(other)[SIGNATURE_NAME]}


def _fully_forged(stage: Stage, place: Path) -> Members:
    files = _forged(stage, place)
    return {**mended(files), SIGNATURE_NAME: stage.members[SIGNATURE_NAME]}


def _plan_changed_after(stage: Stage, place: Path) -> Members:
    """The operator changes the plan after it was registered, runs that, and keeps the envelope."""
    return signed_by(stage.operator.private.sign, _forged(stage, place))


SIGNATURES: dict[str, Callable[[Stage, Path], Members]] = {
    "signature taken away": lambda stage, _: mended(stage.members),
    "signed by another key": lambda stage, _: signed_by(stage.forger.private.sign, stage.members),
    "signed by another key under the right id": _bundle_signature(
        lambda stage, data: resigned(
            encode_signed(stage.forger.private.sign(parse_signed(data).payload)), keyid=stage.operator.public.keyid
        )
    ),
    "signature with one bit changed": _bundle_signature(
        lambda _, data: resigned(data, signature=flipped(parse_signed(data).signature))
    ),
    "payload of the envelope changed": _bundle_signature(
        lambda _, data: restated(data, predicate={})
    ),
    "payload of the envelope in another form": _bundle_signature(
        lambda _, data: resigned(data, payload=parse_signed(data).payload + b"\n")
    ),
    "signature of another bundle": _other_bundle,
    "the plan's signature over the bundle": _bundle_signature(lambda stage, _: stage.members[PLAN_PATH]),
    "a second signature beside the first": _bundle_signature(
        lambda _, data: encode_canonical({**json.loads(data), "signatures": json.loads(data)["signatures"] * 2})
    ),
    "an envelope that is none": _bundle_signature(lambda _, __: b"{}"),
    "an empty envelope": _bundle_signature(lambda _, __: b""),
    "everything made up anew under an old signature": _fully_forged,
    "plan changed after it was signed": _plan_changed_after,
    "the plan's signature taken away": _plan_signature(lambda _, __: None),
    "the plan signed by the forger": _plan_signature(
        lambda stage, data: encode_signed(stage.forger.private.sign(parse_signed(data).payload))
    ),
    "the plan signed by the operator": _plan_signature(
        lambda stage, data: encode_signed(stage.operator.private.sign(parse_signed(data).payload))
    ),
    "the plan's signature under another id": _plan_signature(
        lambda stage, data: resigned(
            encode_signed(stage.forger.private.sign(parse_signed(data).payload)), keyid=stage.registrar.public.keyid
        )
    ),
    "the plan's statement dated earlier": _plan_signature(
        lambda _, data: restated(data, predicate={"signed": "2025-01-01T00:00:00Z"})
    ),
    "a plan that its signer signed after the run": _plan_signature(
        lambda stage, data: encode_signed(
            stage.registrar.private.sign(
                statement(predicate={"signed": "2026-01-02T00:00:00Z"})(parse_signed(data).payload)
            )
        )
    ),
    "a signature over another plan": _plan_signature(
        lambda stage, _: encode_signed(stage.registrar.private.sign(make_plan_statement(b"{}", "2025-12-31T00:00:00Z")))
    ),
    "the bundle's kind of statement over the plan": _plan_signature(
        lambda stage, data: encode_signed(
            stage.registrar.private.sign(
                statement(predicateType="https://oyer.invalid/predicate/bundle/v1")(parse_signed(data).payload)
            )
        )
    ),
    "a plan envelope that is none": _plan_signature(lambda _, __: b"[]"),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_what_only_a_signature_catches(stage: Stage, tmp_path: Path, name: str) -> None:
    found = check(stage, archive_of(SIGNATURES[name](stage, tmp_path)), tmp_path)
    assert failing(found) == {3}, told(found)
    assert found.exit_code == 4


@pytest.mark.parametrize("name", ["signature taken away", "everything made up anew under an old signature",
                                  "the plan's signature taken away"])  # fmt: skip
def test_without_a_key_it_is_said_that_nothing_is_proven_about_who(stage: Stage, tmp_path: Path, name: str) -> None:
    """What nobody asks for is not missed: the words say that who made it is unknown."""
    members = {p: d for p, d in SIGNATURES[name](stage, tmp_path).items() if p not in {SIGNATURE_NAME, PLAN_PATH}}
    found = verify_bytes(archive_of(mended(members)), tmp_path)
    assert "who ran it" in found.words
    assert 3 not in failing(found)


def test_the_operators_key_does_not_vouch_for_the_registrars_signature(stage: Stage, tmp_path: Path) -> None:
    """With the operator's key alone the plan's signature is open, never ok: another key made it."""
    target = tmp_path / "x.oyer"
    target.write_bytes(stage.bundle)
    found = verify_file(target, stage.operator.public)
    assert found.exit_code == 5 and found.check(3).status == "not_run"
    assert "--plan-key" in told(found)
    assert found.signatures.bundle == stage.operator.public.keyid and found.signatures.plan is None


def test_a_directory_is_asked_for_the_signature_over_its_plan(stage: Stage, tmp_path: Path) -> None:
    from oyer.store import SeriesReader
    from oyer.verify import verify_series

    for keys, code, status in (
        (Keys(), 5, "not_run"),
        (Keys(stage.registrar.public), 0, "ok"),
        (Keys(plan=stage.registrar.public), 0, "ok"),
        (Keys(stage.operator.public), 4, "failed"),
        (Keys(stage.operator.public, stage.registrar.public), 0, "ok"),
    ):
        with SeriesReader(stage.series) as reader:
            found = verify_series(reader, keys)
        assert (found.exit_code, found.check(3).status) == (code, status), keys
    assert verify(stage.series).exit_code == 5


def test_the_last_seal_is_part_of_what_is_signed(stage: Stage, tmp_path: Path) -> None:
    """A signature over the same manifest but another last seal is another statement."""
    payload = parse_signed(stage.members[SIGNATURE_NAME]).payload
    said = json.loads(payload)
    assert said["predicate"]["head"] == json.loads(stage.members[last_seal_path()])["digest"]
    said["predicate"]["head"] = digest_of(b"")
    wrong: Signed = stage.operator.private.sign(encode_canonical(said))
    found = check(stage, archive_of({**stage.members, SIGNATURE_NAME: encode_signed(wrong)}), tmp_path)
    assert failing(found) == {3} and "head" in told(found)


def attacks() -> Iterator[str]:
    """Every named attack of this page."""
    yield from (*FORMS, *CONTENTS, *SIGNATURES)


def test_no_name_stands_for_two_attacks() -> None:
    names = list(attacks())
    assert len(names) == len(set(names))
