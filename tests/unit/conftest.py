"""A journal in memory for tests of whatever records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from journal_kit import SeenJournal


@pytest.fixture
def open_journal() -> Callable[[str], SeenJournal]:
    """Make a journal in memory for one writer."""
    return SeenJournal
