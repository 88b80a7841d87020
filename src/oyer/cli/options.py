"""Options that many commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

import click

__all__ = ["json_option"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value, for programs.")
