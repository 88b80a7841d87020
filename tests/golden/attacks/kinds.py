"""What an attack is, and the two axes of the table: mechanisms and kinds of file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

__all__ = ["JOURNALS", "KINDS", "MECHANISMS", "Attack", "Expected", "Step"]

JOURNALS = {
    "journal: harness": "harness.jsonl",
    "journal: tap": "tap.desk.jsonl",
    "journal: sink": "sink.actions.jsonl",
    "journal: world": "world.jsonl",
    "journal: gateway": "gateway.jsonl",
}
KINDS = (
    "series.json",
    "plan",
    "plan signature",
    "pins",
    "ledger",
    "seals",
    *JOURNALS,
    "packed trial",
    "blobs",
    "outcomes",
    "comparisons",
    "judgements",
    "sets",
    "archive",
    "manifest.json",
    "signature",
)
MECHANISMS = {
    "flip": "one bit is changed in place",
    "cut": "the end is cut off",
    "remove": "the thing is taken out, with what refers to it where that can be",
    "add": "something is put in that was not there",
    "empty": "it is replaced by {}",
    "reorder": "the same things in another order",
    "duplicate": "the same thing twice",
    "backdate": "a time is set earlier",
    "foreign": "the same part of another series of the same shape is put in its place",
    "swap": "two parts of the same bundle change places",
    "downgrade": "an older or unknown form is claimed",
    "edit": "what it says is changed, and everything re-hashed",
    "form": "the same meaning in a second form: a key twice, bytes after the end",
    "name": "a name that leads elsewhere: links, .., absolute, two cases",
    "size": "made to exhaust or to overflow: bombs, deep nesting, huge numbers",
    "key": "another key signs",
    "recreate": "changed, and everything derived, sealed and bundled anew: nothing is left that disagrees",
}

Step = Literal["series", "unsealed", "members", "archive"]
Expected = int | Literal["open", "not caught"]
"""The check that fails; `open`: none does, and one cannot be done (exit code 5); `not caught`: all is well (0)."""


class Attack(NamedTuple):
    """One attack. `unsigned` is what verifying shows without any key, `signed` what it shows with the right keys.

    A `series` attack changes files of a series, and seals and manifest follow; an `unsealed` one leaves the seals as
    they are or makes its own; a `members` attack changes what is in the archive; an `archive` attack gives bytes.
    `apply` takes the ground, and then what it changes. `ground` names the series that it starts from.
    """

    name: str
    mechanism: str
    kind: str
    step: Step
    apply: Callable[..., Any]
    unsigned: Expected
    signed: Expected
    ground: str = "plain"
