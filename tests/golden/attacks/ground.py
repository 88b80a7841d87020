"""The good bundles that attacks start from, built in a moment by the store's own code, and how one is tried.

Owns the keys (made from fixed seeds: nothing here is secret) and the grounds: a series, the same with a signed plan and
a signed bundle, and others of the same or another shape that parts are taken from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bundle_kit import Members, archive_of, mended, signed_by, verify_file
from golden_build import GoldenSeries, build_series
from golden_judged import build_judged
from golden_memory import MemoryReader, files_of
from golden_pressed import build_pressed
from golden_sequence import build_sequence
from golden_stopped import build_stopped
from golden_tamper import Forger, events_of, failing

from attacks.kinds import Attack, Expected
from oyer.adjudicate import derive_series, derived_files
from oyer.evidence import (
    PLAN_SIGNATURE,
    SERIES_PREFIX,
    SIGNATURE_NAME,
    digest_of,
    encode_signed,
    make_plan_statement,
    packed_path,
)
from oyer.host import SigningKey
from oyer.records import Condition
from oyer.store import PublicKey
from oyer.verify import Verification, read_series

__all__ = ["ARM", "Ground", "Grounds", "MemoryForger", "Seen", "Tried", "grounds", "try_attack"]

ARM = "manipulated"
"""The arm that is attacked where one has to be chosen."""
DERIVED = ("outcomes/", "comparisons/", "judgements/", "sets/")
TWO_ARMS: tuple[Condition, ...] = ("baseline", "manipulated")
SIGNED_AT = "2025-12-31T00:00:00Z"


class Pair(NamedTuple):
    """Both halves of a key."""

    private: SigningKey
    public: PublicKey


class Ground(NamedTuple):
    """A good series in memory. `envelope` is the one over its bundle, None where it is not signed."""

    files: Mapping[str, bytes]
    name: str
    envelope: bytes | None
    all: Grounds


class Grounds(NamedTuple):
    """Everything an attacker may have in hand, and the keys of all parties."""

    plain: Mapping[str, bytes]
    signed: Mapping[str, bytes]
    foreign: Mapping[str, bytes]
    pair: Mapping[str, bytes]
    retried: Mapping[str, bytes]
    hardened: Mapping[str, bytes]
    judged: Mapping[str, bytes]
    judged_foreign: Mapping[str, bytes]
    pressed: Mapping[str, bytes]
    sequence: Mapping[str, bytes]
    stopped: Mapping[str, bytes]
    operator: Pair
    registrar: Pair
    forger: Pair


class MemoryForger(Forger):
    """A forger of a series that is in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def read(self, path: str) -> bytes:
        return self.files[path]

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def paths(self) -> list[str]:
        return sorted(self.files)

    def find(self, pattern: str, at: int = 0) -> str:
        """Return the path that a pattern names, or the one at a place among several."""
        return [path for path in self.paths() if fnmatchcase(path, pattern)][at]

    def reopen(self, *, edited: bool = True) -> None:
        """Mend manifest and ledger after plan or manifest changed."""
        plan = self.files.get("plan.json", b"")
        if edited:
            self.edit_json("series.json", lambda manifest: manifest.update(plan=digest_of(plan)))
        body = {"plan": digest_of(plan), "manifest": digest_of(self.files.get("series.json", b""))}
        self.edit_ledger(lambda records: records[0]["body"].update(body))

    def derive(self) -> None:
        """Derive everything that follows from evidence anew, as whoever wants to leave no trace does."""
        for path in [path for path in self.files if path.startswith(DERIVED)]:
            del self.files[path]
        self.files.update(derived_files(derive_series(read_series(MemoryReader(self.files)).given)))

    def state_head(self, trial: str, name: str) -> None:
        """Make `trial.closed` state the head of a journal that is there now."""
        data = self.journals(trial)[name]
        head = {"length": len(events_of(data)), "head": digest_of(data.rstrip(b"\n").rpartition(b"\n")[2])}
        writer = name.removesuffix(".jsonl").replace(".", ":", 1)

        def edit(events: list[dict[str, Any]]) -> None:
            next(e for e in events if e["kind"] == "trial.closed")["body"]["writers"][writer] = head

        self.edit_events(trial, "harness.jsonl", edit)

    def put_packed(self, trial: str, stored: bytes) -> None:
        """Put other stored bytes in the place of a packed trial, and mend the ledger."""
        self.files[packed_path(trial, 1)] = stored

        def mend(records: list[dict[str, Any]]) -> None:
            for record in records:
                if record["trial"] == trial and record["kind"] == "sealed":
                    record["digest"] = digest_of(stored)

        self.edit_ledger(mend)


class Seen(NamedTuple):
    """What verifying showed: the exit code and the numbers of the checks that failed."""

    exit_code: int
    failed: tuple[int, ...]

    def shows(self, expected: Expected) -> bool:
        """Whether it is what was declared."""
        if expected == "not caught":
            return self.exit_code == 0
        if expected == "open":
            return self.exit_code == 5
        return self.exit_code == 4 and expected in self.failed

    def told(self, expected: Expected) -> str:
        """Say it in a word: the declared check first, then the others."""
        if not self.failed:
            return {0: "not caught", 5: "open"}.get(self.exit_code, f"exit {self.exit_code}")
        others = " ".join(str(number) for number in self.failed if number != expected)
        return f"{expected if expected in self.failed else '-'}" + (f" (and {others})" if others else "")


class Tried(NamedTuple):
    """An attack with what verifying it showed, without a key and with the right ones (None: not asked for)."""

    attack: Attack
    unsigned: Seen
    signed: Seen | None

    @property
    def as_declared(self) -> bool:
        """Whether both columns are what was declared."""
        with_keys = self.signed is None or self.signed.shows(self.attack.signed)
        return self.unsigned.shows(self.attack.unsigned) and with_keys


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Build everything attacks start from."""
    with TemporaryDirectory() as made:
        yield _build(Path(made))


def _build(place: Path) -> Grounds:
    operator, registrar, forger = (_pair(number) for number in (1, 2, 3))

    def register(plan: bytes) -> bytes:
        return encode_signed(registrar.private.sign(make_plan_statement(plan, SIGNED_AT)))

    build_series(place / "plain", ("obedient",), TWO_ARMS, gateway=True)
    build_series(place / "signed", ("obedient",), TWO_ARMS, sign_plan=register, gateway=True)
    build_series(place / "foreign", ("obedient",), TWO_ARMS, name="another-series", gateway=True)
    build_series(place / "pair", ("obedient", "wary"), TWO_ARMS)
    build_series(place / "hardened", ("obedient",))
    golden = GoldenSeries(place / "retried", ("obedient",), TWO_ARMS)
    for planned in golden.plan.trials:
        if planned.condition == ARM:
            golden.run(planned, 1, "harness_error")
        golden.run(planned, 2 if planned.condition == ARM else 1)
    golden.finish()
    build_judged(place / "judged")
    build_judged(place / "judged_foreign", name="another-series", breaks_in=1)
    build_pressed(place / "pressed")
    build_sequence(place / "sequence")
    build_stopped(place / "stopped")
    judged = ("judged", "judged_foreign", "pressed", "sequence", "stopped")
    names = ("plain", "signed", "foreign", "pair", "retried", "hardened", *judged)
    return Grounds(*(files_of(place / name) for name in names), operator, registrar, forger)


def _pair(number: int) -> Pair:
    """Return the pair of a seed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from securesystemslib.signer import CryptoSigner, SSlibKey

    private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    raw = private.public_key().public_bytes_raw()
    signer = CryptoSigner(private, SSlibKey("-", "ed25519", "ed25519", {"public": raw.hex()}))
    return Pair(SigningKey(signer), PublicKey(raw, f"seed-{number}.pub"))


def as_members(files: Mapping[str, bytes]) -> Members:
    """Return the members of a bundle of a series, with a manifest that agrees."""
    return mended({SERIES_PREFIX + path: data for path, data in files.items()})


def good(all_of: Grounds, *, signed: bool, name: str = "plain") -> Ground:
    """Return a ground to attack. Signed is the bundle, and the plan where there is a signed one."""
    if not signed:
        return Ground(getattr(all_of, name), name, None, all_of)
    files = all_of.signed if name == "plain" else getattr(all_of, name)
    envelope = signed_by(all_of.operator.private.sign, as_members(files))[SIGNATURE_NAME]
    return Ground(files, name, envelope, all_of)


def attacked(attack: Attack, ground: Ground, *, operator_signs: bool = False) -> bytes:
    """Return the bytes of the bundle after an attack; everything that needs no key is mended."""
    files: Mapping[str, bytes] = ground.files
    if attack.step in {"series", "unsealed"}:
        forger = MemoryForger(files)
        attack.apply(ground, forger)
        if attack.step == "series":
            forger.reseal()
        files = forger.files
    members = as_members(files)
    if operator_signs:
        members = signed_by(ground.all.operator.private.sign, members)
    elif ground.envelope is not None:
        members = {**members, SIGNATURE_NAME: ground.envelope}
    if attack.step == "members":
        members = attack.apply(ground, members)
    return bytes(attack.apply(ground, members)) if attack.step == "archive" else archive_of(members)


def try_attack(attack: Attack, all_of: Grounds, place: Path, *, with_keys: bool = True) -> Tried:
    """Verify an attack with nobody asking for a signature, and then with the keys of operator and registrar."""
    bare = good(all_of, signed=attack.kind == "signature", name=attack.ground)
    if attack.kind == "plan signature":
        bare = bare._replace(files=all_of.signed)
    unsigned = _seen(_verify(attacked(attack, bare), place))
    return Tried(attack, unsigned, _tried_with_keys(attack, all_of, place) if with_keys else None)


def _tried_with_keys(attack: Attack, all_of: Grounds, place: Path) -> Seen:
    signed = good(all_of, signed=True, name=attack.ground)
    # Whoever attacks the plan's signature may be the operator, who signs the bundle again.
    operator_signs = attack.kind == "plan signature" and attack.step != "archive"
    data = attacked(attack, signed, operator_signs=operator_signs)
    registrar = all_of.registrar.public if PLAN_SIGNATURE in signed.files else None
    return _seen(_verify(data, place, all_of.operator.public, registrar))


def _verify(data: bytes, place: Path, key: PublicKey | None = None, plan: PublicKey | None = None) -> Verification:
    target = place / "tried.oyer"
    target.write_bytes(data)
    return verify_file(target, key, plan)


def _seen(found: Verification) -> Seen:
    return Seen(found.exit_code, tuple(sorted(failing(found))))
