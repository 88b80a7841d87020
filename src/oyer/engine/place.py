"""Filling in a Case's placeholders for one run, and the table of run tokens that makes the arms comparable.

Whatever differs between runs (directories, tokens, addresses, drawn values) is written into the masks of
`trial.opened`: with every token replaced by its placeholder, what the arms were given must be equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from oyer.errors import HarnessError
from oyer.host import RunDir
from oyer.records import Case, Server, drawn_names, expand, fill_case, names_in

__all__ = [
    "ENDINGS",
    "Placement",
    "Tapped",
    "bridge_to",
    "place_command",
    "place_served",
    "place_server",
    "place_tapped",
    "place_url",
    "run_values",
    "secrets_in",
]

DRAWN_LENGTH = 12
_PYTHON = "{python}"
_BRIDGE = (sys.executable, "-P", "-m", "oyer.programs.http_bridge")
_DOOR = (sys.executable, "-P", "-m", "oyer.programs.http_door")
_DOOR_PORT = "{door}"
ENDINGS: Final = {"url": "mcp", "sse": "sse"}
"""The last part of an address for a subject, by what it is given as: some clients tell the transport by it."""


@dataclass(slots=True)
class Placement:
    """The values of one run's placeholders, by name, and the masks of all its tokens."""

    values: dict[str, str] = field(default_factory=dict)
    masks: dict[str, str] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        case: Case,
        run: str,
        rundir: RunDir,
        members: Iterable[Case] = (),
        secrets: Mapping[str, str] = MappingProxyType({}),
    ) -> Placement:
        """Place a run: its directories, its secrets and its drawn values. Sinks and relays are added as they open.

        What the cases of a sequence want drawn under one name is one value for all of them. A secret has no mask: it is
        the same in every run, and no record holds it.
        """
        placement = cls()
        placement.values.update({f"secret.{name}": value for name, value in secrets.items()})
        placement.values["python"] = sys.executable
        placement.values["world"] = str(rundir.world)
        placement.masks[str(rundir.root)] = "{run.dir}"
        placement.masks[run] = "{run}"
        names = sorted({name for one in (case, *members) for name in drawn_names(one)})
        for name, value in run_values(names, run).items():
            placement.values[f"random.{name}"] = value
            placement.drawn[name] = value
            placement.masks[value] = f"{{random.{name}}}"
        return placement

    def fill(self, case: Case, earlier: str | None) -> Case:
        """Return the case as this run plays it. `earlier`: its doubles play with the values of that run instead.

        What another run drew gets masks too: it differs between runs like everything that is drawn.
        """
        if earlier is None or not self.drawn:
            return fill_case(case, self.drawn)
        others = run_values(tuple(self.drawn), earlier)
        self.masks.update({value: f"{{earlier.{name}}}" for name, value in others.items()})
        return fill_case(case, self.drawn, scripts=others)

    def add(self, name: str, value: str) -> None:
        """Add a token of this run under its placeholder's name."""
        self.values[name] = value
        self.masks[value] = f"{{{name}}}"


def run_values(names: Sequence[str], run: str) -> dict[str, str]:
    """Draw a value for each name: from the run id, which is itself unguessable, and different in every run."""
    return {name: sha256(f"{run}:{name}".encode()).hexdigest()[:DRAWN_LENGTH] for name in names}


def place_server(
    server: Server, values: Mapping[str, str], base: Path, *, message_bytes: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a server's command and environment for one run.

    A server that has an address is reached by a bridge of ours, which is then the command: it speaks HTTP on the
    far side, and for whoever starts it, it is a server over standard streams like any other.
    A word of the command that names a file beside the case file is made absolute, for the server runs in the world;
    links are kept as they are, since a virtual environment's Python is one and says by its place where it belongs.
    Raises: HarnessError where a placeholder has no value in this run.
    """
    if server.url is None:
        env = {name: _filled(text, values) for name, text in server.env.items()}
        return place_command(server.command, values, base), env
    command, env = place_served(server, values, base)
    return (*bridge_to(place_url(server.url, values), message_bytes, server.transport), *command), env


class Tapped(NamedTuple):
    """What the tap of one server has on the server's side; `url` is None over standard streams."""

    command: tuple[str, ...]
    env: dict[str, str]
    url: str | None = None
    port_mark: str = "{port}"
    ends_with_input: bool = False
    is_bridged: bool = False


def place_tapped(server: Server, values: Mapping[str, str], base: Path, *, message_bytes: int) -> Tapped:
    """Return the server as its tap meets it: on the transport on which the subject meets the tap.

    Where the server speaks another one, a process of ours on its side of the tap speaks both.
    Raises: HarnessError where a placeholder has no value in this run.
    """
    if server.given_as == "url" and server.url is not None and server.transport != "sse":
        return Tapped(*place_served(server, values, base), place_url(server.url, values))
    if server.given_as == "sse" and server.url is not None and server.transport == "sse":
        return Tapped(*place_served(server, values, base), place_url(server.url, values))
    command, env = place_server(server, values, base, message_bytes=message_bytes)
    if server.given_as == "command":
        return Tapped(command, env, is_bridged=server.url is not None)
    ending = ENDINGS[server.given_as]
    door = (*_DOOR, str(message_bytes), _DOOR_PORT, *command)
    return Tapped(
        door, env, f"http://127.0.0.1:{_DOOR_PORT}/{ending}", _DOOR_PORT, ends_with_input=True, is_bridged=True
    )


def place_served(server: Server, values: Mapping[str, str], base: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return command and environment of what serves an address: `{port}` stays, for whoever starts it draws one."""
    later = {**values, "port": "{port}"}
    command = place_command(server.command, later, base) if server.command else ()
    return command, {name: _filled(text, later) for name, text in server.env.items()}


def place_url(url: str, values: Mapping[str, str]) -> str:
    """Return an address for one run; `{port}` stays. Raises: as `place_server`."""
    return _filled(url, {**values, "port": "{port}"})


def secrets_in(case: Case) -> tuple[str, ...]:
    """Return the names of the secrets that a case's servers and hidden checks are given, in order, each once."""
    texts = [text for one in case.validators.values() for text in one.command]
    for server in case.servers.values():
        texts += [*server.command, *server.env.values(), *(() if server.url is None else (server.url,))]
    named = (name for text in texts for name in names_in(text) if name.startswith("secret."))
    return tuple(dict.fromkeys(name.removeprefix("secret.") for name in named))


def bridge_to(url: str, message_bytes: int, transport: str) -> tuple[str, ...]:
    """Return the command of the bridge that speaks HTTP with an address, and is a server over standard streams."""
    return (*_BRIDGE, str(message_bytes), transport, url)


def place_command(command: Sequence[str], values: Mapping[str, str], base: Path) -> tuple[str, ...]:
    """Return a command for one run, under the same rules. Raises: as `place_server`."""
    words = [_filled(word, values) for word in command]
    if command[0] == _PYTHON and tuple(command[1:2]) == ("-m",):
        words.insert(1, "-P")  # it runs in the world, where what a subject writes must not become a module of it
    return tuple(_beside(word, base, first=index == 0) for index, word in enumerate(words))


def _filled(text: str, values: Mapping[str, str]) -> str:
    missing = [name for name in names_in(text) if name not in values]
    if missing:
        raise HarnessError("E-PLACEHOLDER-OPEN", f"{{{missing[0]}}} has no value in this run", where=text)
    return expand(text, values.get)


def _beside(word: str, base: Path, *, first: bool) -> str:
    if word.startswith(("/", "-")) or (first and "/" not in word):
        return word
    found = base / word
    return str(found.absolute()) if "/" in word and found.exists() else word
