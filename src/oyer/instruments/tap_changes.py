"""Carrying out a declared change of an answer, with everything on record before the changed bytes leave.

Owns the order: original recorded (by the caller), edit applied, `mcp.intervened`, policy applied, `mcp.policy`. The
caller waits for the disk once, after all of them and before a changed byte leaves: they are lines of one journal.
An edit that cannot be applied leaves the original as it is, and says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oyer.instruments.tap_record import ConnectionRecord
from oyer.instruments.tap_rules import DeclaredEdit, DeclaredLabel, DeclaredStrip, RequestPlan, TapRules
from oyer.protocol import Applied, NotApplied, apply_edit

__all__ = ["AnswerChanger"]


class AnswerChanger:
    """Changes the answers of one connection as declared."""

    __slots__ = ("_record", "_rules")

    def __init__(self, record: ConnectionRecord, rules: TapRules) -> None:
        self._record = record
        self._rules = rules

    def change(self, original: bytes, ref: str, plans: Mapping[str, RequestPlan], *, is_single: bool) -> bytes:
        """Return the bytes to deliver for an answer recorded as `ref`.

        `plans` are the requests it may answer, by the reference of their event. An answer that two requests could
        own, or that stands in a batch, is not changed.
        """
        delivered = original
        edit = self._rules.edit
        edited = {request: plan.edit_occurrence for request, plan in plans.items() if plan.edit_occurrence is not None}
        if edit is not None and edited:
            request, occurrence = next(iter(edited.items()))
            alone = is_single and len(plans) == 1
            outcome = apply_edit(edit.edit, original) if alone else _unclear(is_single)
            self._record_edit(edit, outcome, original, ref, request if alone else None, occurrence)
            delivered = outcome.modified if isinstance(outcome, Applied) else original
        treatment = self._rules.treatment
        if treatment is not None and is_single and all(plan.treat for plan in plans.values()):
            delivered = self._treat(treatment, original, delivered, ref)
        return delivered

    def _record_edit(
        self,
        edit: DeclaredEdit,
        outcome: Applied | NotApplied,
        original: bytes,
        ref: str,
        request: str | None,
        occurrence: int,
    ) -> None:
        body: dict[str, Any] = {
            "intervention": edit.id,
            "occurrence": occurrence,
            "of": ref,
            "original": self._record.digest(original),
            "applied": isinstance(outcome, Applied),
        }
        if request is not None:
            body["request"] = request
        payloads: dict[str, bytes] = {}
        if isinstance(outcome, Applied):
            body["proof"] = {
                "kind": edit.edit.kind,
                "spans": [
                    [one.start, one.end, self._record.digest(one.replacement), len(one.replacement)]
                    for one in outcome.spans
                ],
            }
            payloads["modified"] = outcome.modified
        else:
            body["why"] = f"{outcome.why_code}: {outcome.why}"
        because = (ref,) if request is None else (ref, request)
        self._record.event("mcp.intervened", body, payloads=payloads, because=because)

    def _treat(self, treatment: DeclaredLabel | DeclaredStrip, original: bytes, modified: bytes, ref: str) -> bytes:
        outcome = treatment.apply(modified)
        if isinstance(outcome, NotApplied):
            return modified  # no text to put a label on, none of the fields; whether it had to be is for the scorer
        body = {
            "policy": treatment.id,
            "did": treatment.did,
            "of": ref,
            "original": self._record.digest(original),
            "modified": self._record.digest(modified) if modified != original else None,
        }
        self._record.event("mcp.policy", body, payloads={"delivered": outcome.modified}, because=(ref,))
        return outcome.modified


def _unclear(is_single: bool) -> NotApplied:
    if not is_single:
        return NotApplied("batch", "the answer stands in a batch")
    return NotApplied("ambiguous", "more than one request could own this answer")
