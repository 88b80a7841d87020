"""Results as plain JSON values, with stable field names: what every `--json` prints about a series.

Owns the names, which are documented in `docs/reference/cli.md` and change only with a note in the changelog.
Records are exported whole, under the names of their own schema. Bytes are text where they are UTF-8, else base64,
always with digest and size, so that a reader can check what it got.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from oyer.adjudicate import LedgerCount
from oyer.errors import Problem
from oyer.evidence import digest_of
from oyer.records import Comparison, Outcome, plain
from oyer.report.strip import read_strip
from oyer.report.transcript import Message

__all__ = ["bytes_value", "comparison_value", "ledger_value", "message_value", "outcome_value", "problem_value"]


def problem_value(problem: Problem) -> dict[str, Any]:
    """Return one problem: code, message, where, hint."""
    return problem._asdict()


def bytes_value(raw: bytes | None) -> dict[str, Any] | None:
    """Return bytes as `{sha256, size, text | base64}`."""
    if raw is None:
        return None
    told: dict[str, Any] = {"sha256": digest_of(raw), "size": len(raw)}
    try:
        return {**told, "text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {**told, "base64": base64.b64encode(raw).decode("ascii")}


def message_value(message: Message) -> dict[str, Any]:
    """Return one message with its original and delivered bytes."""
    return {
        "ref": message.ref,
        "kind": message.kind,
        "at_ns": message.at_ns,
        "session": message.session,
        "direction": message.direction,
        "server": message.server,
        "connection": message.connection,
        "method": message.method,
        "tool": message.tool,
        "id": message.id,
        "changed": message.changed,
        "acts": [act._asdict() for act in message.acts],
        "note": message.note,
        "original": bytes_value(message.original),
        "delivered": bytes_value(message.delivered),
        "delivered_ref": message.delivered_ref,
    }


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """Return an `Outcome@1` under its own field names."""
    return plain(outcome)


def comparison_value(
    comparison: Comparison, outcomes: Mapping[str, Outcome], declared: str | None = None
) -> dict[str, Any]:
    """Return a `Comparison@1` under its own field names, with the strip that is drawn of it."""
    strip = [
        {
            "arm": row.arm,
            "remark": row.remark,
            "cells": [{"layer": c.layer, "state": c.state, "links": list(c.links)} for c in row.cells],
        }
        for row in read_strip(comparison, outcomes, declared)
    ]
    return {**plain(comparison), "strip": strip}


def ledger_value(count: LedgerCount) -> dict[str, Any]:
    """Return the conserved counts."""
    return {
        "planned": count.planned,
        "trials": dict(count.trials),
        "comparisons": dict(count.comparisons),
        "exposed": count.exposed,
        "unexposed": count.unexposed,
        "spontaneous": count.spontaneous,
        "acted": count.acted,
        "baselines": count.baselines,
        "missing": list(count.missing),
        "not_run": dict(count.not_run),
        "judged": count.judged,
        "evaluator_error": count.evaluator_error,
        "unjudged": list(count.unjudged),
        "excluded": dict(count.excluded),
    }
