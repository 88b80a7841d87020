"""Oyer puts AI agents on trial and refuses to say more than the retained evidence shows.

This front stays light: importing it pulls no network, MCP or numeric library.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
