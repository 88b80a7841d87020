"""Where a server of a case is started: what a subject writes into the world never becomes a part of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from oyer.engine.place import place_server, place_tapped
from oyer.records import Server

VALUES = {"python": sys.executable, "world": "/w"}
HERE = "http://127.0.0.1:8000/x"


@pytest.mark.parametrize(
    ("command", "placed"),
    [
        (("{python}", "-m", "json.tool"), (sys.executable, "-P", "-m", "json.tool")),
        (("{python}", "-P", "-m", "json.tool"), (sys.executable, "-P", "-m", "json.tool")),
        (("{python}", "server.py", "-m"), (sys.executable, "server.py", "-m")),
        (("python3", "-m", "json.tool"), ("python3", "-m", "json.tool")),
    ],
)
def test_only_a_module_of_our_python_is_kept_from_the_world(
    command: tuple[str, ...], placed: tuple[str, ...], tmp_path: Path
) -> None:
    assert place_server(Server(command=command), VALUES, tmp_path, message_bytes=1024)[0] == placed


def test_a_module_in_the_world_does_not_take_the_place_of_the_servers_own(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("")
    (tmp_path / "json" / "tool.py").write_text("print('the subject was here')")
    argv = place_server(Server(command=("{python}", "-m", "json.tool")), VALUES, tmp_path, message_bytes=1024)[0]
    done = subprocess.run(argv, cwd=tmp_path, input="{}", capture_output=True, text=True, check=True)
    assert done.stdout == "{}\n"


def test_a_server_with_an_address_is_reached_by_a_bridge(tmp_path: Path) -> None:
    url = "http://127.0.0.1:{port}/mcp"
    server = Server(command=("{python}", "-m", "x", "{port}"), url=url, env={"PORT": "{port}", "W": "{world}"})
    argv, env = place_server(server, VALUES, tmp_path, message_bytes=1024)
    assert argv[argv.index("1024") :] == ("1024", "auto", url, VALUES["python"], "-P", "-m", "x", "{port}")
    assert env == {"PORT": "{port}", "W": VALUES["world"]}
    assert place_server(Server(url=url), VALUES, tmp_path, message_bytes=9)[0][-3:] == ("9", "auto", url)


WAYS = [
    (Server(command=("x",)), ("x",), None),
    (Server(command=("x",), given_as="url"), ("http_door", "9", "{door}", "x"), "http://127.0.0.1:{door}/mcp"),
    (Server(command=("x",), given_as="sse"), ("http_door", "9", "{door}", "x"), "http://127.0.0.1:{door}/sse"),
    (Server(url=HERE, given_as="url"), (), HERE),
    (Server(url=HERE, transport="sse"), ("http_bridge", "9", "sse", HERE), None),
    (Server(url=HERE, transport="sse", given_as="sse"), (), HERE),
    (
        Server(url=HERE, command=("x", "{port}"), transport="sse", given_as="url"),
        ("http_door", "9", "{door}", "http_bridge", "9", "sse", HERE, "x", "{port}"),
        "http://127.0.0.1:{door}/mcp",
    ),
    (
        Server(url=HERE, given_as="sse"),  # what it speaks shows only when it is asked
        ("http_door", "9", "{door}", "http_bridge", "9", "auto", HERE),
        "http://127.0.0.1:{door}/sse",
    ),
]


@pytest.mark.parametrize(("server", "command", "url"), WAYS)
def test_what_speaks_both_transports_stands_on_the_servers_side_of_the_tap(
    server: Server, command: tuple[str, ...], url: str | None, tmp_path: Path
) -> None:
    placed = place_tapped(server, VALUES, tmp_path, message_bytes=9)
    words = [word.removeprefix("oyer.programs.") for word in placed.command if word not in (sys.executable, "-P", "-m")]
    assert (tuple(words), placed.url) == (command, url)
