"""The pinned records: what they are, how they are read, and how they become a digest.

Owns strict documents (YAML and JSON with places, every error at once), the record types, canonical bytes and digests,
directory digests, placeholders, and the JSON Schemas.

Must never touch a disk, a clock or a network: bytes come in, values and bytes go out.
"""

from __future__ import annotations

from oyer.records.canonical import canonical_bytes, digest, digest_bytes, parse_canonical, plain, raw_digest
from oyer.records.directory import Change, Entry, diff_entries, directory_digest
from oyer.records.document import Document, document_of, parse_documents
from oyer.records.model import (
    CaseId,
    Digest,
    Flaw,
    FrozenDict,
    Json,
    RawDigest,
    Record,
    RunId,
    SeriesId,
    TrialId,
    UtcTime,
    by_key,
    freeze_json,
    refuse,
)
from oyer.records.placeholders import PLACEHOLDER_FORMS, escape, expand, expand_tree, names_in, names_in_tree
from oyer.records.schema import json_schema, kind_of
from oyer.records.source_text import MAX_SAFE_INTEGER, Path, nearest, path_text
from oyer.records.validation import find_problems, problems_of, validate, validate_as

__all__ = [
    "MAX_SAFE_INTEGER",
    "PLACEHOLDER_FORMS",
    "CaseId",
    "Change",
    "Digest",
    "Document",
    "Entry",
    "Flaw",
    "FrozenDict",
    "Json",
    "Path",
    "RawDigest",
    "Record",
    "RunId",
    "SeriesId",
    "TrialId",
    "UtcTime",
    "by_key",
    "canonical_bytes",
    "diff_entries",
    "digest",
    "digest_bytes",
    "directory_digest",
    "document_of",
    "escape",
    "expand",
    "expand_tree",
    "find_problems",
    "freeze_json",
    "json_schema",
    "kind_of",
    "names_in",
    "names_in_tree",
    "nearest",
    "parse_canonical",
    "parse_documents",
    "path_text",
    "plain",
    "problems_of",
    "raw_digest",
    "refuse",
    "validate",
    "validate_as",
]
