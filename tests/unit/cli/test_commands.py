"""Help is there at once, and says what there is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from oyer.cli.commands import COMMANDS, LazyGroup, oyer_group

HEAVY = {"pydantic", "asyncio", "msgspec", "aiohttp", "rich", "yaml", "re2", "zstandard", "httpx2"}


def loaded_by(*arguments: str) -> set[str]:
    """Run the door in a fresh interpreter and return the top-level modules it left behind."""
    program = (
        "import sys\nfrom oyer.cli import main\ncode = main(sys.argv[1:])\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help"), ("verify", "--help")])
def test_help_loads_no_room_and_no_heavy_library(arguments: tuple[str, ...]) -> None:
    loaded = loaded_by(*arguments)
    assert "click" in loaded
    assert not loaded & HEAVY


def test_every_command_is_what_the_table_says() -> None:
    assert isinstance(oyer_group, LazyGroup)
    for name, entry in COMMANDS.items():
        command = oyer_group.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.name == name
        assert command.short_help == entry.about
        assert any("--json" in option.opts for option in command.params), f"{name} has no --json"


def test_an_unknown_command_is_none() -> None:
    assert oyer_group.get_command(None, "frobnicate") is None  # type: ignore[arg-type]
