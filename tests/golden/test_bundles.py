"""Good bundles: same bytes twice, nothing else than the series, read by other tools, verified as the directory is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bundle_kit import archive_of, members_of, mended, verify_bytes, verify_file
from golden_memory import files_of
from golden_tamper import Forger, statuses, told, verify

from oyer.errors import EvidenceError, UsageError
from oyer.evidence import MANIFEST_NAME, SERIES_PREFIX, SIGNATURE_NAME, digest_of
from oyer.host import make_key_pair, read_signing_key
from oyer.store import BundleReader, PublicKey, SeriesReader, read_public_key, write_bundle

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bundle(small: Path, tmp_path: Path) -> Path:
    return write_bundle(small, tmp_path / "one.oyer").path


@pytest.fixture
def key(tmp_path: Path) -> tuple[Path, PublicKey]:
    pair = make_key_pair(tmp_path / "operator")
    return pair.private, read_public_key(pair.public)


def test_the_same_series_gives_the_same_bytes(small: Path, bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    again = write_bundle(copy, tmp_path / "two.oyer")
    assert again.path.read_bytes() == bundle.read_bytes()
    assert again.sha256 == digest_of(bundle.read_bytes()) and again.size == bundle.stat().st_size


def test_signing_gives_the_same_bytes_too(small: Path, tmp_path: Path, key: tuple[Path, PublicKey]) -> None:
    sign = read_signing_key(key[0]).sign
    one, two = (write_bundle(small, tmp_path / name, sign=sign) for name in ("a.oyer", "b.oyer"))
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.keyid == key[1].keyid


def test_it_holds_the_series_and_nothing_else(small: Path, bundle: Path) -> None:
    (small / "index.sqlite").write_bytes(b"derived")
    try:
        again = write_bundle(small, bundle.with_name("again.oyer")).path
    finally:
        (small / "index.sqlite").unlink()
    found = members_of(again.read_bytes())
    manifest = json.loads(found.pop(MANIFEST_NAME))
    assert {path.removeprefix(SERIES_PREFIX): data for path, data in found.items()} == files_of(small)
    assert [file["path"] for file in manifest["files"]] == sorted(found)
    assert manifest["oyer"] == "Bundle@1" and manifest["withheld"] == []


def test_other_tools_unpack_it_and_the_series_inside_verifies(bundle: Path, tmp_path: Path) -> None:
    place = tmp_path / "unpacked"
    place.mkdir()
    subprocess.run(["tar", "-xf", str(bundle), "-C", str(place)], check=True)
    assert verify(place / "series").exit_code == 0


def test_a_bundle_verifies_as_its_series_does(small: Path, bundle: Path) -> None:
    found, directory = verify_file(bundle), verify(small)
    assert found.exit_code == 0, told(found)
    assert statuses(found) == {**statuses(directory), 1: "ok"}
    assert (found.head, found.series) == (directory.head, directory.series)


def test_the_two_readers_agree_on_everything(small: Path, bundle: Path) -> None:
    with SeriesReader(small) as one, BundleReader(bundle) as other:
        assert [found.path for found in one.listing()] == [found.path for found in other.listing()]
        assert list(one.files()) == list(other.files())
        assert list(one.attempts()) == list(other.attempts())
        assert (one.pins(), one.seals(), one.manifest()) == (other.pins(), other.seals(), other.manifest())
        for path in one.paths():
            assert one.read(path) == other.read(path) == b"".join(other.pieces(path) or ())
        for attempt in one.attempts():
            assert one.journals(*attempt[:2]) == other.journals(*attempt[:2])
        assert other.read("nothing") is None and other.pieces("nothing") is None and other.file("nothing") is None


def test_what_is_there_already_stays(small: Path, bundle: Path) -> None:
    before = bundle.read_bytes()
    with pytest.raises(UsageError, match="something is there"):
        write_bundle(small, bundle)
    assert bundle.read_bytes() == before
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]


def test_a_series_that_was_not_closed_is_not_bundled(small: Path, tmp_path: Path) -> None:
    forger = Forger.copy(small, tmp_path / "open")
    forger.edit_ledger(lambda records: records.pop())
    with pytest.raises(UsageError, match="not closed"):
        write_bundle(forger.root, tmp_path / "x.oyer")
    assert not (tmp_path / "x.oyer").exists()


def test_a_series_that_its_seals_disown_is_neither_bundled_nor_signed(small: Path, tmp_path: Path) -> None:
    forger = Forger.copy(small, tmp_path / "changed")
    path = forger.path("outcomes/*wary*manipulated*")
    path.write_bytes(path.read_bytes().replace(b"completed", b"Completed"))
    with pytest.raises(EvidenceError, match="not the one seal 2 lists"):
        write_bundle(forger.root, tmp_path / "x.oyer", sign=lambda _: pytest.fail("signed"))
    assert not (tmp_path / "x.oyer").exists()


def test_a_link_is_not_bundled(small: Path, tmp_path: Path) -> None:
    forger = Forger.copy(small, tmp_path / "linked")
    (forger.root / "outcomes/link.json").symlink_to("/etc/hosts")
    with pytest.raises(EvidenceError, match="link"):
        write_bundle(forger.root, tmp_path / "x.oyer")


# ---------------------------------------------------------------- withheld


@pytest.mark.parametrize(
    ("pattern", "open_checks"),
    [
        ("blobs/*", {2, 7, 8, 10}),
        ("trials/*obedient*manipulated*", {2, 5, 8, 10}),
        ("trials/*", {2, 5, 7, 8, 10}),
        ("pins/*", {2, 4, 8, 10}),
        ("outcomes/*", {2, 4, 8}),
        ("comparisons/*", {2, 4, 10}),
    ],
)
def test_what_is_withheld_is_named_and_never_a_success(
    small: Path, tmp_path: Path, pattern: str, open_checks: set[int]
) -> None:
    written = write_bundle(small, tmp_path / "x.oyer", withhold=[pattern])
    found = verify_file(written.path)
    assert found.exit_code == 5, told(found)
    assert {check.number for check in found.checks if check.status == "not_run"} == open_checks
    assert not [check for check in found.checks if check.status == "failed"]
    assert written.withheld
    for path in written.withheld:
        assert path in told(found)
        assert SERIES_PREFIX + path not in members_of(written.path.read_bytes())


def test_withholding_hides_no_change_elsewhere(small: Path, tmp_path: Path) -> None:
    """One trial is withheld and another's outcome is changed: the change is found all the same."""
    written = write_bundle(small, tmp_path / "x.oyer", withhold=["trials/*wary*manipulated*"])
    members = members_of(written.path.read_bytes())
    withheld = {SERIES_PREFIX + path: (small / path).read_bytes() for path in written.withheld}
    path = next(path for path in members if "outcomes/" in path and "obedient" in path and "manipulated" in path)
    members[path] = members[path].replace(b'"completed"', b'"blocked"')
    found = verify_bytes(archive_of(mended(members, withheld)), tmp_path)
    assert {check.number for check in found.checks if check.status == "failed"} == {2, 8}


def test_a_withheld_file_is_still_the_one_that_the_seals_list(small: Path, tmp_path: Path) -> None:
    """A forger withholds what he changed: its stated digest must be the sealed one."""
    members = members_of(write_bundle(small, tmp_path / "x.oyer").path.read_bytes())
    path = next(path for path in members if "/blobs/" in path)
    del members[path]
    found = verify_bytes(archive_of(mended(members, {path: b"another content"})), tmp_path)
    assert statuses(found)[2] == "failed"
    assert "E-SEAL-CHANGED" in told(found)


@pytest.mark.parametrize("pattern", ["*", "plan.json", "seals/*", "ledger.jsonl", "s*"])
def test_what_ties_the_rest_together_is_not_withheld(small: Path, tmp_path: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="ties the rest together"):
        write_bundle(small, tmp_path / "x.oyer", withhold=[pattern])


def test_a_pattern_that_matches_nothing_is_refused(small: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        write_bundle(small, tmp_path / "x.oyer", withhold=["blob/*"])


# ---------------------------------------------------------------- signed


def test_a_signed_bundle(small: Path, tmp_path: Path, key: tuple[Path, PublicKey]) -> None:
    path = write_bundle(small, tmp_path / "x.oyer", sign=read_signing_key(key[0]).sign).path
    found = verify_file(path, key[1])
    assert (found.exit_code, statuses(found)[3]) == (0, "ok"), told(found)
    assert found.signatures.bundle == key[1].keyid
    assert f"key {key[1].keyid} signed this bundle" in found.words
    # Without the key nothing is known of the signature; what it was asked of and is not there is a failure.
    assert (verify_file(path).exit_code, statuses(verify_file(path))[3]) == (5, "not_run")
    unsigned = write_bundle(small, tmp_path / "y.oyer").path
    assert (verify_file(unsigned).exit_code, statuses(verify_file(unsigned, key[1]))[3]) == (0, "failed")


def test_the_signing_library_agrees_about_the_envelope(
    small: Path, tmp_path: Path, key: tuple[Path, PublicKey]
) -> None:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    path = write_bundle(small, tmp_path / "x.oyer", sign=read_signing_key(key[0]).sign).path
    envelope = Envelope.from_dict(json.loads(members_of(path.read_bytes())[SIGNATURE_NAME]))
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    public = load_pem_public_key((tmp_path / "operator.pub").read_bytes())
    theirs = SSlibKey.from_crypto(public, keyid=key[1].keyid)  # type: ignore[arg-type]
    assert set(envelope.verify([theirs], 1)) == {key[1].keyid}
    statement = json.loads(envelope.payload)
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    names = [subject["name"] for subject in statement["subject"]]
    assert names == sorted(names) and {"manifest.json", "series/plan.json"} < set(names)
    assert len(names) == 2 + len(list((small / "pins").iterdir()))


# ---------------------------------------------------------------- no network, no extras


def test_verify_needs_no_network(bundle: Path) -> None:
    command = ["unshare", "-rn", sys.executable, "-c", "import sys; from oyer.cli import main; sys.exit(main())"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    try:
        probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, timeout=20)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine: a network namespace cannot be made")
    if probe.returncode:
        pytest.skip(f"no network namespace of one's own here: {probe.stderr.decode(errors='replace').strip()}")
    alone = subprocess.run([*command[:2], "cat", "/proc/net/route"], capture_output=True, check=True, timeout=20)
    assert len(alone.stdout.splitlines()) <= 1
    done = subprocess.run([*command, "verify", str(bundle)], capture_output=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stdout.decode()


BLOCKING = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
from oyer.cli import main
sys.exit(main())
"""


def without(*libraries: str) -> list[str]:
    return [sys.executable, "-c", BLOCKING.replace("{blocked!r}", repr(set(libraries)))]


def test_without_the_extra_a_signature_is_still_checked(
    small: Path, tmp_path: Path, key: tuple[Path, PublicKey]
) -> None:
    path = write_bundle(small, tmp_path / "x.oyer", sign=read_signing_key(key[0]).sign).path
    arguments = ["verify", str(path), "--key", str(tmp_path / "operator.pub"), "--json"]
    for missing, code, status in ((("cryptography",), 0, "ok"), (("securesystemslib",), 5, "not_run")):
        done = subprocess.run([*without(*missing), *arguments], capture_output=True, timeout=100)
        check = json.loads(done.stdout)["checks"][2]
        assert (done.returncode, check["status"]) == (code, status), done.stderr.decode()
    assert "pip install securesystemslib" in check["findings"][0]["hint"]


def test_without_any_signing_library_an_unsigned_bundle_verifies(bundle: Path) -> None:
    done = subprocess.run([*without("cryptography", "securesystemslib"), "verify", str(bundle)], timeout=100)
    assert done.returncode == 0


def test_without_the_extra_nothing_is_signed(tmp_path: Path) -> None:
    arguments = [*without("cryptography"), "keygen", "-o", str(tmp_path / "k")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "pip install 'securesystemslib[crypto]'" in done.stderr
    assert not list(tmp_path.iterdir())
