"""`oyer keygen`: a pair of keys, the private one for its owner alone."""

from __future__ import annotations

from pathlib import Path

import click

from oyer.cli.commands import COMMANDS
from oyer.cli.options import json_option

__all__ = ["command"]


@click.command("keygen", short_help=COMMANDS["keygen"].about)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("oyer"),
    show_default=True,
    metavar="DIR/NAME",
    help="NAME.key gets the private key (mode 0600), NAME.pub the public one.",
)
@json_option
def command(out: Path, as_json: bool) -> int:
    """Make a pair of ed25519 keys.

    The private key signs (`oyer bundle --key`, `oyer plan --sign`) and stays with you. The public key goes to whoever
    verifies, by another way than the bundle: a key that comes with what it signs proves nothing.
    """  # fmt: skip
    from oyer.cli.terminal import print_json, print_text
    from oyer.host import make_key_pair

    pair = make_key_pair(out)
    if as_json:
        told = {"private": str(pair.private), "public": str(pair.public), "keyid": pair.keyid}
        print_json({**told, "exit_code": 0})
    else:
        for name, value in (("private key", pair.private), ("public key", pair.public), ("key id", pair.keyid)):
            print_text(f"{name:<12} {value}")
    return 0
