"""The golden series, built once for all tests that tamper with copies of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_build import build_series
from golden_tamper import Forger


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole good series with two subjects. Read only: copy it before changing anything."""
    path = tmp_path_factory.mktemp("golden") / "series"
    build_series(path)
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden series without its hardened arms, which is quicker to copy and to verify. Read only too."""
    path = tmp_path_factory.mktemp("small") / "series"
    build_series(path, conditions=("baseline", "manipulated"))
    return path


@pytest.fixture
def forger(small: Path, tmp_path: Path) -> Forger:
    """A copy of the small golden series that may be forged."""
    return Forger.copy(small, tmp_path / "forged")
