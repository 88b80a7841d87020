"""`oyer` as a user has it: a program of its own, on an interpreter that finds these sources without help.

Packaged servers and subjects are started with a minimal environment, so PYTHONPATH would not reach them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from warm_oyer import WarmOyer

ROOT = Path(__file__).resolve().parents[2]
Oyer = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def oyer_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an interpreter whose path is these sources and the packages of the one that runs the tests."""
    place = tmp_path_factory.mktemp("oyer-venv")
    venv.create(place, with_pip=False, symlinks=True)
    site = next((place / "lib").glob("python*/site-packages"))
    packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "oyer-tests.pth").write_text("\n".join([str(ROOT / "src"), *packages]) + "\n")
    program = place / "bin" / "oyer"
    program.write_text(f"#!{place}/bin/python\nimport sys\nfrom oyer.cli import main\nsys.exit(main())\n")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def oyer_environment() -> dict[str, str]:
    """The environment of a user at a plain terminal."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "COLUMNS": "100"}


@pytest.fixture(scope="session")
def oyer(oyer_program: Path, oyer_environment: dict[str, str]) -> Iterator[Oyer]:
    """Run one command line to its end, in a process that need not import everything anew."""
    with WarmOyer(str(oyer_program.parent / "python")) as host:
        program = host.write_program(oyer_program.parent / "warm-oyer")

        def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
            given = {"capture_output": True, "text": True, "timeout": 100, "env": oyer_environment, "check": False}
            return subprocess.run([str(program), *map(str, arguments)], **{**given, **options})

        yield run
