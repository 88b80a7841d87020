"""What an address of a server may be.

Pure: a server in, what is wrong with it out. An address of another machine is an effect outside of this one, whatever
is asked there; and an address is evidence, so a secret stands in it by its name only: `{secret.NAME}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from oyer.records.case import Server

__all__ = ["PORT", "address_flaws"]

PORT = "{port}"
"""A port that is drawn for each connection, where a command serves an address."""

_SECRET = re.compile(r"\{secret\.[A-Za-z0-9_.-]+\}")
_HERE = ("127.0.0.1", "::1", "localhost")


def address_flaws(server: Server, *, is_external: bool) -> Iterator[str]:
    """Say what is wrong with a server's address. `is_external`: the case may reach other machines."""
    if server.url is None:
        return
    url = _SECRET.sub("x", server.url)
    try:
        parts = urlsplit(url.replace(PORT, "1"))
        host, port = parts.hostname, parts.port
    except ValueError as error:
        yield f"{server.url!r} is no address: {error}"
        return
    if parts.scheme not in ("http", "https") or not host or port == 0 or not server.url.isascii() or " " in server.url:
        yield f"{server.url!r} is no http or https address"
    if parts.username is not None or parts.password is not None:
        yield "an address names no user and no password: it stands in every record"
    if parts.fragment:
        yield "the part of an address after # is never sent"
    if not server.command:
        if server.env:
            yield "there is no command that could be given an `env`"
        if "{" in url:
            yield "nothing is filled in where an address stands alone, but a secret"
    elif PORT not in url or "{" in url.replace(PORT, ""):
        yield f"where a command serves an address, its port is {PORT}, and nothing else is filled in, but a secret"
    elif host not in _HERE or not any(PORT in text for text in (*server.command, *server.env.values())):
        yield f"a command serves an address of this machine, and is told {PORT} in its words or its `env`"
    if host and host not in _HERE and not is_external:
        yield f"{host} is another machine: the effect class says external_read at least"
