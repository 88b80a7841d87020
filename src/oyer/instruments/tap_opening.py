"""Whether a server let a connection open: what it answered to the greeting and to the question for its tools.

Owns what a refusal means for blame, and a client that gave up over something that was no message. A refused greeting is
nothing yet: a client of either era of the protocol may try the other one next. Must never be asked before the
connection is over, nor take a subject's own broken request for the server's refusal.
"""

from __future__ import annotations

from oyer.protocol import Message

__all__ = ["Opening"]

_SHOWN_BYTES = 200
_GREETINGS = frozenset({"initialize", "server/discover"})
_LISTING = "tools/list"
_BROKEN_REQUEST = frozenset({-32700, -32600})
_NO_SUCH_METHOD = -32601
_BAD_PARAMS = -32602
_MAY_BE_SUBJECTS = frozenset({_NO_SUCH_METHOD, _BAD_PARAMS})
"""What a server also answers to a greeting or a question that a client spoilt, or to one of another era."""


class Opening:
    """What one connection heard. `refusal` is None where it opened, or where nobody asked."""

    __slots__ = ("_banner", "_granted", "_refused", "_went_on")

    def __init__(self) -> None:
        self._granted: set[str] = set()
        self._refused: dict[str, tuple[bool, str]] = {}
        self._banner: bytes | None = None
        self._went_on = False

    def asked(self, method: str | None) -> None:
        """Take a message of the subject. Whoever says more than a greeting has not given up over what it read."""
        self._went_on = self._went_on or method not in _GREETINGS

    def read_noise(self, line: bytes) -> None:
        """Take a line of the server that is no message; only what came before it granted anything is a banner."""
        if self._banner is None and not self._granted and line.strip():
            self._banner = line

    @property
    def gave_up_over(self) -> str | None:
        """The line over which a client that left had reason to give up, None where it left for another one."""
        if self._banner is None or self._went_on:
            return None
        return repr(self._banner[:_SHOWN_BYTES].decode("utf-8", "replace").strip())

    def answered(self, method: str | None, answer: Message) -> None:
        """Take an answer of the server to a request of this method."""
        about = _LISTING if method == _LISTING else "greeting"
        if answer.error is None:
            self._granted.add(about)  # whoever serves anything has let the connection open
            return
        if about == "greeting" and method not in _GREETINGS:
            return
        error = answer.error if isinstance(answer.error, dict) else {}
        code = error.get("code")
        if code in _BROKEN_REQUEST or (about == _LISTING and code == _NO_SUCH_METHOD):
            return  # the subject's doing; or a server that has no tools, which is no failure
        doubtful = code in _MAY_BE_SUBJECTS or (about == _LISTING and "greeting" not in self._granted)
        earlier = self._refused.get(about)
        if earlier is None or (earlier[0] and not doubtful):
            self._refused[about] = doubtful, f"refused {method}: {error.get('message')}"

    @property
    def refusal(self) -> str | None:
        """What the server refused and never granted."""
        return self._standing[1] if self._standing is not None else None

    @property
    def suspicion(self) -> str | None:
        """What of the refusal may be the subject's doing, None where nothing is."""
        doubtful = self._standing is not None and self._standing[0]
        return "a server also answers so to a greeting or a question that its client spoilt" if doubtful else None

    @property
    def _standing(self) -> tuple[bool, str] | None:
        return next((told for about, told in self._refused.items() if about not in self._granted), None)
