"""The pinned fields as one arm's evidence shows them. What it does not show is None: not pinned, and said so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from oyer.protocol import listing_digest
from oyer.records import PinSet, digest

if TYPE_CHECKING:
    from oyer.adjudicate.arm import Arm

__all__ = ["observed_pins", "reported_models"]


def observed_pins(arm: Arm) -> PinSet:
    """Derive the PinSet of one arm from its sealed evidence."""
    opened = arm.evidence.opened or {}
    turns = [(item.place, item.masked) for item in arm.authored if item.is_turn]
    ended = arm.completed
    look = arm.world.opening
    parameters = sorted(
        {e.parameters.decode("utf-8", "backslashreplace") for e in arm.model if e.parameters is not None}
    )
    return PinSet(
        case=opened.get("case"),
        world=look.digest if look else None,
        prompts=digest([list(turn) for turn in turns]) if turns and ended else None,
        subject=opened.get("subject"),
        parameters=digest(parameters) if parameters else None,
        models=_models(arm),
        listings=_listings(arm),
        harness=None,
        dependencies=None,
        python=None,
    )


def reported_models(arm: Arm) -> Mapping[str, Mapping[str, str | None]]:
    """Return the models that whole answers report, by the name asked for, each with its first answer's reference."""
    reports: dict[str, dict[str, str | None]] = {}
    for exchange in arm.model:
        refused = not 200 <= (exchange.http_status or 0) < 300  # an error's body is no model's
        if exchange.complete and exchange.answer is not None and exchange.requested_model is not None and not refused:
            told = reports.setdefault(exchange.requested_model, {})
            told.setdefault(exchange.reported_model or "(none reported)", exchange.response_ref)
    return dict(sorted(reports.items()))


def _models(arm: Arm) -> Mapping[str, str]:
    """Reported model per requested name. Several reports for one name are one drifted value, spelled out."""
    return {name: " + ".join(sorted(seen)) for name, seen in reported_models(arm).items()}


def _listings(arm: Arm) -> Mapping[str, str]:
    """Digest of the tool listing per server, where the subject listed the tools and got whole answers."""
    found: dict[str, str] = {}
    for server in sorted(arm.case.servers):
        listings: dict[tuple[int, str | None], list[list[bytes]]] = {}
        for exchange in arm.wire.exchanges:
            if exchange.server != server or exchange.method != "tools/list" or exchange.answer is None:
                continue
            pages = listings.setdefault((exchange.connection, exchange.session), [])
            follows = isinstance(exchange.arguments, dict) and exchange.arguments.get("cursor") is not None
            if follows and pages:
                pages[-1].append(exchange.answer.own)
            else:
                pages.append([exchange.answer.own])
        digests = {listing_digest(pages) for own in listings.values() for pages in own}
        if digests:
            found[server] = " + ".join(sorted(digests))
    return found
