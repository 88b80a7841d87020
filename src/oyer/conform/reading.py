"""From the bytes of a vector file to its vectors, with everything that is wrong told at once and in its place.

Owns the top of the file (one document, a list) and the order of the checks: syntax, likeness, fields, coherence. Must
never read a vector half: a file with one problem gives no vectors.
"""

from __future__ import annotations

from oyer.conform.coherence import vector_flaws
from oyer.conform.likeness import patched
from oyer.conform.vectors import Vector, VectorFile
from oyer.errors import Problem, RecordError
from oyer.records import Document, parse_documents, validate_as

__all__ = ["parse_vectors"]


def parse_vectors(data: bytes, *, name: str) -> tuple[Vector, ...]:
    """Read a vector file (YAML, or JSON by its name or first character).

    Raises: RecordError with every problem found, as `file:line:column: field.path` (`E-YAML-*`, `E-JSON-*`,
    `E-RECORD-*`, `E-VECTOR-*`).
    """
    documents = parse_documents(data, name=name)
    values = documents[0].value
    if len(documents) != 1:
        raise RecordError.of([documents[1].problem("E-VECTOR-FILE", (), "a vector file is one document")])
    if not isinstance(values, list) or not values:
        told = "a vector file is a list of vectors, one at least"
        raise RecordError.of([documents[0].problem("E-VECTOR-FILE", (), told)])
    document, problems = patched(documents[0], values)
    try:
        vectors = validate_as(document, VectorFile).vectors
    except RecordError as error:
        raise RecordError.of([*error.problems, *problems]) from None
    problems += _problems(document, vectors)
    if problems:
        raise RecordError.of(problems)
    return vectors


def _problems(document: Document, vectors: tuple[Vector, ...]) -> list[Problem]:
    found: list[Problem] = []
    seen: set[str] = set()
    for index, vector in enumerate(vectors):
        if vector.id in seen:
            told = f"another vector has the id {vector.id!r}"
            found.append(document.problem("E-VECTOR-TWICE", ("vectors", index, "id"), told))
        seen.add(vector.id)
        for flaw in vector_flaws(vector):
            path = ("vectors", index, *flaw.path)
            found.append(document.problem(flaw.code, path, flaw.message, flaw.hint))
    return found
