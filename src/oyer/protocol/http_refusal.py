"""Whose doing an error status of an MCP server can be, where its answer holds no message.

Owns the reading of statuses, and the exit code with which a program of ours between transports says what it read. Must
never clear a subject on a guess: a status that a client can bring about by what it sends is not the server's alone.
Source: RFC 9110, 15.5; MCP transports, Streamable HTTP (404 for a session that is gone).
"""

from __future__ import annotations

from typing import Final

__all__ = ["UNDECIDED_EXIT", "is_servers_refusal"]

UNDECIDED_EXIT: Final = 77
"""What a program of ours exits with where a server refused what its client sent, in words that no client can hear."""

_OF_CREDENTIALS: Final = frozenset({401, 407})
_OF_ADDRESSES: Final = frozenset({403, 404, 405})
_GONE: Final = 404


def is_servers_refusal(status: int, *, greets: bool, in_session: bool) -> bool:
    """Say whether a status is the server's doing whatever its client sent.

    Credentials are never the subject's to give, an address that does not answer a greeting is not the one declared,
    and a session that is gone was the server's. What is left of 4xx answers what was sent, or how often.
    """
    if not 400 <= status < 500 or status in _OF_CREDENTIALS:
        return True
    return (greets and status in _OF_ADDRESSES) or (in_session and status == _GONE)
