"""The guided harnesses by name, and what each may let escape.

A harness is a function ``one(data: bytes)``. Whatever leaves it is a finding. An OyerError of the class that a parser
documents ends inside: `named` says which class that is, `total` says that there is none.

Light on purpose: a harness's module is imported when it is asked for, so that a process loads only what it fuzzes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from oyer.errors import OyerError

CORPUS = Path(__file__).parent / "corpus"
Harness = Callable[[bytes], None]
T = TypeVar("T")

HARNESSES = {
    "records-documents": ("guided_records", "documents"),
    "records-cases": ("guided_records", "cases"),
    "evidence-journal": ("guided_evidence", "journal"),
    "evidence-ledger": ("guided_evidence", "ledger"),
    "evidence-seals": ("guided_evidence", "seals"),
    "evidence-packing": ("guided_evidence", "packing"),
    "evidence-archive": ("guided_evidence", "archive"),
    "evidence-signed": ("guided_evidence", "signed"),
    "protocol-frames": ("guided_protocol", "frames"),
    "protocol-spans": ("guided_protocol", "spans"),
    "protocol-edits": ("guided_protocol", "edits"),
    "protocol-chat": ("guided_protocol", "chat"),
    "protocol-ends": ("guided_protocol", "ends"),
    "subject-lines": ("guided_protocol", "subject_lines"),
    "verify-series": ("guided_verify", "series"),
    "verify-bundle": ("guided_bundle", "bundle"),
    "conform-vectors": ("guided_conform", "vectors"),
}
"""Harnesses by name: module and function."""

PLANTED = {
    "planted-error": ("guided_planted", "wrong_error"),
    "planted-hang": ("guided_planted", "hang"),
    "planted-growth": ("guided_planted", "growth"),
}
"""Harnesses with a fault each, for the tests of the machinery."""


class Escaped(Exception):
    """An OyerError left a function that documents another one, or none."""


def harness(name: str) -> Harness:
    """Return a harness by its name. Raises: KeyError."""
    module, function = (HARNESSES | PLANTED)[name]
    found: Harness = getattr(importlib.import_module(module), function)
    return found


def corpus_of(name: str) -> Iterator[Path]:
    """Yield the corpus files of a harness, in order of name."""
    yield from sorted(path for path in (CORPUS / name).iterdir() if path.is_file())


def named(kind: type[OyerError], call: Callable[[], T]) -> T | None:
    """Return what a call gives; None where it raises the one error that it documents, whole and printable."""
    try:
        return call()
    except kind as error:
        for problem in error.problems:
            assert problem.code.startswith("E-"), problem
            assert problem.message, problem
        return None
    except OyerError as error:
        raise Escaped(f"{type(error).__name__} where only {kind.__name__} is documented") from error


def total(call: Callable[[], T]) -> T:
    """Return what a call gives that documents no error at all."""
    try:
        return call()
    except OyerError as error:
        raise Escaped(f"{type(error).__name__} where none is documented") from error
