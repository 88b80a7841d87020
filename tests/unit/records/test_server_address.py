"""An address of a server: what it may be, told with its place before anything runs."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records import parse_cases

CASE = """\
oyer: Case@1
id: place
effect_class: {effect}
servers:
  desk: {server}
prompt: Work.
expected: [{{id: done, called: desk.go}}]
"""
SERVED = '{command: [serve, "{port}"], url: "http://127.0.0.1:{port}/mcp"}'


def problems(server: str, effect: str = "none") -> list[str]:
    try:
        parse_cases(CASE.format(server=server, effect=effect).encode(), name="case.yaml")
    except RecordError as error:
        return [f"{problem.code} {problem.message}" for problem in error.problems]
    return []


@pytest.mark.parametrize(
    "server",
    [
        '{url: "http://127.0.0.1:8000/mcp"}',
        '{url: "http://localhost/mcp?x=1"}',
        '{url: "http://[::1]:9000/mcp"}',
        SERVED,
        '{url: "http://127.0.0.1:8000/sse", transport: sse}',
        "{command: [serve], given_as: url}",
        "{command: [serve], given_as: sse}",
        '{command: [serve], url: "http://127.0.0.1:{port}/mcp", env: {PORT: "{port}"}}',
    ],
)
def test_these_are_addresses(server: str) -> None:
    assert problems(server) == []


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("{command: [serve], transport: sse}", "what has no address speaks over standard streams"),
        ("{}", "a server has a command, a url, or both"),
        ('{url: "ftp://127.0.0.1/x"}', "is no http or https address"),
        ('{url: "http://127.0.0.1:99999/x"}', "is no address"),
        ('{url: "http://me:secret@127.0.0.1/x"}', "names no user and no password"),
        ('{url: "http://127.0.0.1/x#y"}', "is never sent"),
        ('{url: "http://127.0.0.1:8000/x", env: {A: b}}', "no command that could be given an `env`"),
        ('{url: "http://127.0.0.1:{port}/x"}', "nothing is filled in where an address stands alone"),
        ('{command: [serve, "{port}"], url: "http://127.0.0.1:80/x"}', "its port is {port}"),
        ('{command: [serve], url: "http://127.0.0.1:{port}/x"}', "is told {port}"),
        ('{command: [serve, "{port}"]}', "{port} is no known placeholder"),
    ],
)
def test_these_are_not(server: str, told: str) -> None:
    found = problems(server)
    assert any(told in each for each in found), found


def test_another_machine_is_an_effect_outside() -> None:
    server = '{url: "https://example.org/mcp"}'
    assert problems(server) == [
        "E-CASE-SERVER example.org is another machine: the effect class says external_read at least"
    ]
    assert problems(server, "external_read") == []
