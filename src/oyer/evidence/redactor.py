"""Redaction: registered secrets never reach the bytes that are kept.

Owns the forms a secret may take (raw, JSON-escaped, percent-encoded, base64 at any alignment) and the mark that
stands for it. Must never keep, print or return a secret. Sink tokens are evidence, not secrets.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote, quote_plus

from oyer.errors import UsageError

__all__ = ["MIN_SECRET_BYTES", "RedactingStream", "Redactor"]

MIN_SECRET_BYTES = 4
_MIN_ENCODED_SECRET_BYTES = 8
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_OPENING, _CLOSING = "\u27e6", "\u27e7"
_DIGEST = re.compile(r"^sha256:[0-9a-f]{64}\Z")


class Redactor:
    """Replace every registered secret by its mark.

    Raises: UsageError `E-SECRET-NAME`, `E-SECRET-SHORT`, `E-SECRET-MARK` for what cannot be redacted safely.
    """

    __slots__ = ("_marks", "_pattern", "_shortest_form_bytes", "longest_form_bytes")

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        marks: dict[bytes, tuple[str, bytes]] = {}
        for name in sorted(secrets):
            value = secrets[name]
            mark = _mark_of(name, value)
            for form in _forms_of(value):
                marks.setdefault(form, (name, mark))
        for form in marks:
            if any(form in mark for _, mark in marks.values()):
                raise UsageError("E-SECRET-MARK", f"secret {marks[form][0]!r} occurs in the mark of a secret")
        self._marks = marks
        longest_first = sorted(marks, key=lambda form: (-len(form), form))
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first))) if marks else None
        self.longest_form_bytes = max(map(len, marks), default=0)
        self._shortest_form_bytes = min(map(len, marks), default=0)

    @property
    def active(self) -> bool:
        """Whether any secret is registered."""
        return self._pattern is not None

    def holds_secret(self, raw: bytes) -> bool:
        """Whether any form of any secret occurs in the bytes."""
        return len(raw) >= self._shortest_form_bytes and any(form in raw for form in self._marks)

    def apply(self, raw: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Return the bytes with every secret replaced, and the sorted names of the secrets found."""
        if self._pattern is None or not self.holds_secret(raw):
            return raw, ()
        found: set[str] = set()
        return self._pattern.sub(lambda match: self._replace(match, found), raw), tuple(sorted(found))

    def apply_value(self, value: Any) -> Any:
        """Return a JSON value with every string and key redacted; digests are left alone."""
        if isinstance(value, str):
            if _DIGEST.match(value):
                return value
            return self.apply(value.encode("utf-8", "surrogatepass"))[0].decode("utf-8", "surrogatepass")
        if isinstance(value, Mapping):
            return {self.apply_value(key): self.apply_value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.apply_value(inner) for inner in value]
        return value

    def matches(self, raw: bytes) -> Iterator[re.Match[bytes]]:
        """Yield the matches `apply` would replace, left to right."""
        return iter(()) if self._pattern is None else self._pattern.finditer(raw)

    def _replace(self, match: re.Match[bytes], found: set[str]) -> bytes:
        name, mark = self._marks[match.group()]
        found.add(name)
        return mark


class RedactingStream:
    """Redact text that arrives in chunks: a tail is held back, so that a secret split over chunks is caught.

    The concatenated output equals `Redactor.apply` of the concatenated input.
    """

    __slots__ = ("_buffer", "_found", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._buffer = b""
        self._found: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The sorted names of the secrets replaced so far."""
        return tuple(sorted(self._found))

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk and return what is now certain."""
        self._buffer += chunk
        # A form that starts before this point lies wholly in the buffer, whatever comes next.
        return self._emit(len(self._buffer) - max(self._redactor.longest_form_bytes - 1, 0))

    def finish(self) -> bytes:
        """Return the rest."""
        return self._emit(len(self._buffer))

    def _emit(self, certain: int) -> bytes:
        if certain <= 0:
            return b""
        pieces: list[bytes] = []
        at = 0
        for match in self._redactor.matches(self._buffer):
            if match.start() >= certain:
                break
            pieces += (self._buffer[at : match.start()], self._redactor._replace(match, self._found))
            at = match.end()
        end = max(certain, at)
        pieces.append(self._buffer[at:end])
        self._buffer = self._buffer[end:]
        return b"".join(pieces)


def _mark_of(name: str, value: bytes) -> bytes:
    if _NAME.match(name) is None:
        raise UsageError("E-SECRET-NAME", f"not a name for a secret: {name!r}")
    if len(value) < MIN_SECRET_BYTES:
        raise UsageError("E-SECRET-SHORT", f"secret {name!r} is shorter than {MIN_SECRET_BYTES} bytes")
    if any(bracket.encode() in value for bracket in (_OPENING, _CLOSING)):
        raise UsageError("E-SECRET-MARK", f"secret {name!r} holds a bracket of the mark")
    return f"{_OPENING}secret:{name}:{sha256(value).hexdigest()[:8]}{_CLOSING}".encode()


def _forms_of(value: bytes) -> set[bytes]:
    forms = {value}
    if len(value) < _MIN_ENCODED_SECRET_BYTES:
        return forms
    forms |= set(_json_forms(value)) | set(_percent_forms(value)) | set(_base64_forms(value))
    return {form for form in forms if len(form) >= _MIN_ENCODED_SECRET_BYTES}


def _json_forms(value: bytes) -> Iterator[bytes]:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        # a tool result often carries JSON inside a JSON string: escaped twice
        for escaped in (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]):
            yield escaped.encode()
            yield escaped.replace("/", "\\/").encode()
    yield re.sub(r"[^A-Za-z0-9]", lambda match: f"\\u{ord(match.group()):04x}", text).encode("utf-8", "surrogatepass")


def _percent_forms(value: bytes) -> Iterator[bytes]:
    for encoded in (quote(value, safe=""), quote(value, safe="/"), quote_plus(value), quote(value, safe="!*'()-._~:@")):
        yield encoded.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), encoded).encode()


def _base64_forms(value: bytes) -> Iterator[bytes]:
    for offset in range(3):
        # Only the characters that no neighbouring byte can change: the same wherever the value stands.
        encoded = base64.b64encode(b"\x00" * offset + value).rstrip(b"=")
        start = (0, 2, 3)[offset]
        bits = 8 * (offset + len(value))
        stable = encoded[start : bits // 6]
        yield stable
        yield stable.replace(b"+", b"-").replace(b"/", b"_")
