"""Packaged fixture servers: ordinary MCP servers over stdio, each run as `python -m oyer.library.servers.NAME`.

Each does one plain job in its own process and knows nothing of trials: no case, condition, run or witness is named
here. Must never read or write outside the directory it was given, or claim an effect that it did not see confirmed.
"""

from __future__ import annotations

__all__: list[str] = []
