"""The command line: the door for people and scripts.

Owns `main`, the commands behind it (a module each, loaded only when asked for), how pages reach a terminal, and the
exit codes. Must never hold trial law: what a command knows, it was told by the rooms below.
"""

from __future__ import annotations

from oyer.cli.door import main

__all__ = ["main"]
