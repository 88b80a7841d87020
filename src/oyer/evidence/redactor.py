"""Redaction: registered secrets never reach the bytes that are kept.

Owns the forms a secret may take (raw, JSON-escaped, percent-encoded, base64 at any alignment; in a packed body; over
the events of a stream; cut off at the edge of what is kept) and the mark that stands for it. Must never keep, print
or return a secret. Sink tokens are evidence, not secrets.
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
from oyer.evidence.hidden_forms import Piece, streamed_texts, unpacked

__all__ = ["MIN_SECRET_BYTES", "RedactingStream", "Redactor"]

MIN_SECRET_BYTES = 4
_MIN_ENCODED_SECRET_BYTES = 8
_TELLING_BYTES = 8
"""So much of a secret at the edge of a cut text, and half of it at least, is taken for the rest of one."""
_MOST_NESTED = 4
"""How often a text may be escaped, JSON in JSON."""
_CUT_NOTE = re.compile(rb"(['\"]?\s?\[\.\.\. [0-9]+ bytes cut \.\.\.\]\s?)")
"""What stands where a part of an output was not kept, behind the quote that closes what was."""
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_OPENING, _CLOSING = "\u27e6", "\u27e7"
_DIGEST = re.compile(r"^sha256:[0-9a-f]{64}\Z")


class Redactor:
    """Replace every registered secret by its mark.

    Raises: UsageError `E-SECRET-NAME`, `E-SECRET-SHORT`, `E-SECRET-MARK` for what cannot be redacted safely.
    """

    __slots__ = ("_ends", "_marks", "_parts", "_pattern", "_shortest_form_bytes", "_starts", "longest_form_bytes")

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
        cut = [form for form in longest_first if len(form) >= 2 * _TELLING_BYTES]
        self._starts = _by_part(cut, slice(_TELLING_BYTES))
        self._ends = _by_part(cut, slice(-_TELLING_BYTES, None))
        parts = sorted({*self._starts, *self._ends})
        self._parts = re.compile(b"|".join(map(re.escape, parts))) if parts else None

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

    def keep(self, raw: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Return what may be kept of the bytes, and the sorted names of the secrets that were found.

        Beyond `apply`: a packed body that holds a secret is replaced whole, the pieces of a secret that is spread over
        the events of a stream are taken out of each, and half of a secret or more at an edge, where the bytes were cut
        off, counts as one.
        """
        if self._pattern is None:
            return raw, ()
        plain = unpacked(raw)
        if plain is not None:
            _, names = self.keep(plain)
            return (b" ".join(self._mark_of_name(name) for name in names), names) if names else (raw, ())
        found: set[str] = set()
        kept, names = self.apply(raw)
        found.update(names)
        kept = self._without_edges(kept, found)
        if b"data:" in kept or kept.lstrip()[:1] == b"[":
            kept = self._without_spread(kept, found)
        return kept, tuple(sorted(found))

    def apply_value(self, value: Any) -> Any:
        """Return a JSON value with every string and key redacted, at its edges too; digests are left alone."""
        if isinstance(value, str):
            if self._pattern is None or _DIGEST.match(value):
                return value
            raw = value.encode("utf-8", "surrogatepass")
            return self._without_edges(self.apply(raw)[0], set()).decode("utf-8", "surrogatepass")
        if isinstance(value, Mapping):
            return {self.apply_value(key): self.apply_value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.apply_value(inner) for inner in value]
        return value

    def matches(self, raw: bytes) -> Iterator[re.Match[bytes]]:
        """Yield the matches `apply` would replace, left to right."""
        return iter(()) if self._pattern is None else self._pattern.finditer(raw)

    def _mark_of_name(self, name: str) -> bytes:
        return next(mark for named, mark in self._marks.values() if named == name)

    def _without_edges(self, raw: bytes, found: set[str]) -> bytes:
        """Replace what a cut has left of a secret: at the end, at the beginning, and where a note says so."""
        if b" bytes cut ...]" not in raw:
            return self._without_ends(raw, found)
        parts = _CUT_NOTE.split(raw)
        return b"".join(self._without_ends(part, found) if at % 2 == 0 else part for at, part in enumerate(parts))

    def _without_ends(self, raw: bytes, found: set[str]) -> bytes:
        edge = self.longest_form_bytes
        # Nearly every text shows no part of a secret near its ends, and a look at it costs little.
        if self._parts is None or not (
            self._parts.search(raw, max(0, len(raw) - edge)) or self._parts.search(raw[:edge])
        ):
            return raw
        for at in range(max(0, len(raw) - self.longest_form_bytes), len(raw) - _TELLING_BYTES + 1):
            for form in self._starts.get(raw[at : at + _TELLING_BYTES], ()):
                if 2 * (len(raw) - at) >= len(form) and form.startswith(raw[at:]):
                    found.add(self._marks[form][0])
                    return self._without_ends(raw[:at] + self._marks[form][1], found)
        for end in range(min(len(raw), self.longest_form_bytes), _TELLING_BYTES - 1, -1):
            for form in self._ends.get(raw[end - _TELLING_BYTES : end], ()):
                if 2 * end >= len(form) and form.endswith(raw[:end]):
                    found.add(self._marks[form][0])
                    return self._marks[form][1] + raw[end:]
        return raw

    def _without_spread(self, raw: bytes, found: set[str]) -> bytes:
        """Replace what stands in several events of a stream, and is a secret to whoever puts their texts together."""
        changed: list[tuple[Piece, bytes]] = []
        for pieces in streamed_texts(raw):
            joined = b"".join(piece.said for piece in pieces)
            if self.holds_secret(joined):
                changed += zip(pieces, self._respelt(pieces, joined, found), strict=True)
        for piece, said in sorted(changed, reverse=True):
            if said != piece.said:
                spelt = json.dumps(said.decode("utf-8", "replace")).encode()
                raw = raw[: piece.start] + spelt + raw[piece.end :]
        return raw

    def _respelt(self, pieces: list[Piece], joined: bytes, found: set[str]) -> Iterator[bytes]:
        """Yield each piece without its part of any secret; the mark stands where the secret began."""
        spans = [(match.start(), match.end(), self._replace(match, found)) for match in self.matches(joined)]
        at = 0
        for piece in pieces:
            end = at + len(piece.said)
            left, done = b"", at
            for start, stop, mark in spans:
                if stop <= at or start >= end:
                    continue
                left += joined[done : max(start, at)] + (mark if start >= at else b"")
                done = min(stop, end)
            yield left + joined[done:end]
            at = end

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


def _by_part(forms: list[bytes], part: slice) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for form in forms:
        found.setdefault(form[part], []).append(form)
    return found


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
    forms |= set(_escaped_forms(value)) | set(_percent_forms(value)) | set(_base64_forms(value))
    return {form for form in forms if len(form) >= _MIN_ENCODED_SECRET_BYTES}


def _escaped_forms(value: bytes) -> Iterator[bytes]:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return
    for ascii_only in (True, False):
        escaped = text
        # a tool result often carries JSON inside a JSON string, and an agent passes it on inside another
        for _ in range(_MOST_NESTED):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield escaped.encode()
            yield escaped.replace("/", "\\/").encode()
    # as Python shows a text in an error message
    shown = text.replace("\\", "\\\\")
    yield from (shown.encode(), shown.replace("'", "\\'").encode())
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
