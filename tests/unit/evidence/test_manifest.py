"""A manifest has one form, one version, and lists what may be listed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import (
    StoredFile,
    can_withhold,
    digest_of,
    encode_canonical,
    encode_manifest,
    make_manifest,
    parse_manifest,
)


def file(path: str) -> StoredFile:
    return StoredFile(path=path, sha256=digest_of(path.encode()), size=len(path))


GOOD = make_manifest([file("series/plan.json"), file("series/pins/a.json")], [file("series/blobs/x.zst")])


def changed(**more: Any) -> bytes:
    return encode_canonical({**json.loads(encode_manifest(GOOD)), **more})


def test_it_reads_back_in_order() -> None:
    assert parse_manifest(encode_manifest(GOOD)) == GOOD
    assert [entry.path for entry in GOOD.files] == ["series/pins/a.json", "series/plan.json"]


@pytest.mark.parametrize("version", ["Bundle@2", "Bundle@0", "Bundle", "Case@1", ""])
def test_a_version_it_does_not_know_is_refused_and_not_guessed(version: str) -> None:
    """Whatever else a newer form may hold: the version is what is told."""
    for data in (changed(oyer=version), changed(oyer=version, more=1), encode_canonical({"oyer": version})):
        with pytest.raises(EvidenceError, match="E-MANIFEST-VERSION") as caught:
            parse_manifest(data)
        assert "Bundle@1" in str(caught.value) and caught.value.hint


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "FORM"),
        (b"[]", "FORM"),
        (b'{"oyer":1}', "FORM"),
        (b"\xff", "FORM"),
        (b"[" * 100_000, "FORM"),
        (changed(more=1), "FORM"),
        (changed(files=None), "FORM"),
        (changed(files=[{"path": "series/plan.json", "sha256": "0" * 64, "size": 1}]), "FORM"),
        (changed(files=[{"path": "series/plan.json", "sha256": digest_of(b""), "size": -1}]), "FORM"),
        (encode_manifest(GOOD) + b"\n", "CANONICAL"),
        (encode_manifest(GOOD).replace(b'"oyer":', b'"oyer":"Bundle@1","oyer":'), "CANONICAL"),
        (encode_manifest(GOOD).replace(b'"oyer":', b'"oyer": '), "CANONICAL"),
    ],
)
def test_what_is_no_manifest_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(EvidenceError, match=f"E-MANIFEST-{code}"):
        parse_manifest(data)


@pytest.mark.parametrize(
    "path",
    ["manifest.json", "signature.dsse.json", "plan.json", "series/../x", "/etc/passwd", "series/", "series/a\\b"],
)
def test_a_path_that_is_no_stored_file_is_not_listed(path: str) -> None:
    for files, withheld in (([file(path)], []), ([], [file(path)])):
        with pytest.raises(EvidenceError, match="E-MANIFEST-PATH"):
            make_manifest(files, withheld)


def test_a_path_twice_or_listed_and_withheld_is_refused() -> None:
    for files, withheld in (
        ([file("series/a"), file("series/a")], []),
        ([], [file("series/a"), file("series/a")]),
        ([file("series/a")], [file("series/a")]),
    ):
        with pytest.raises(EvidenceError, match="E-MANIFEST-TWICE"):
            make_manifest(files, withheld)


@pytest.mark.parametrize("path", ["series.json", "plan.json", "plan.dsse.json", "ledger.jsonl", "seals/001.json"])
def test_what_ties_the_rest_together_is_never_withheld(path: str) -> None:
    assert not can_withhold(path)
    with pytest.raises(EvidenceError, match="E-MANIFEST-PATH"):
        make_manifest([], [file(f"series/{path}")])
