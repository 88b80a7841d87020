"""Loads the kit that tests of instruments share, and gives each test a fresh rig."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from journal_kit import SeenJournal

from oyer.host import become_subreaper, open_run_dir

_PATH = Path(__file__).parents[1] / "instrument_kit.py"
if "instrument_kit" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("instrument_kit", _PATH)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["instrument_kit"] = _module
    _spec.loader.exec_module(_module)

from instrument_kit import Rig, peer  # noqa: E402


@pytest.fixture
def rig() -> Iterator[Callable[[str], Rig]]:
    """Return a maker of rigs: `rig("banner")` is a tap in front of a peer with that manner."""
    become_subreaper()
    with open_run_dir() as run_dir:
        yield lambda manner: Rig(run_dir, peer(manner))


@pytest.fixture
def open_journal() -> Callable[[str], SeenJournal]:
    """Make a journal in memory for one writer."""
    return SeenJournal
