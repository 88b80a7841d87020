"""What exposure comes to in one arm, and the state while its links are walked.

Owns the two shapes only; `exposure` fills them, link by link.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.persistence import Persisted
from oyer.adjudicate.reasons import reason
from oyer.observe import Delivery
from oyer.records import LinkResult, Reason

__all__ = ["Exposure", "Tracing"]


class Exposure(NamedTuple):
    """How far exposure got. `complete_ns` is the moment its last link was met, None while it is incomplete: with a
    gateway the first request to the model that held it, without one its delivery.

    `removed_ns` is the moment an answer was delivered from which the declared policy had taken the lure, where it did
    and nothing speaks against it. `shown_in` are the exchanges with the model that hold the last link's lure. `values`
    is what each link matched.
    """

    links: tuple[LinkResult, ...]
    reasons: tuple[Reason, ...]
    complete: bool
    complete_ns: int | None
    removed_ns: int | None
    session: str | None
    served: bool
    shown_in: frozenset[int]
    mixed: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def ended_ns(self) -> int | None:
        """The moment from which it counts what the subject does: exposure was complete, or the lure was taken out."""
        return self.complete_ns if self.complete_ns is not None else self.removed_ns


class Tracing:
    """The state while walking the exposure links of one arm."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.links: list[LinkResult] = []
        self.reasons: list[Reason] = []
        self.at_ns: int | None = None
        self.session: str | None = None
        self.persisted: dict[str, Persisted] = {}
        self.written: dict[str, Persisted | None] = {}
        self.values: dict[str, Any] = {}
        self.whole = True
        self.shown: frozenset[int] = frozenset()
        self.met_ns: int | None = None
        self.removed: tuple[str, int | None] | None = None

    def broken(self, code: str, about: str, detail: str, evidence: tuple[str, ...] = ()) -> None:
        """Note a reason against the exposure, which is then not whole."""
        self.reasons.append(reason(code, detail, about=about, arm=self.arm.condition, evidence=evidence))
        self.whole = False

    def link(self, id_: str, layer: Any, stage: Any, state: Any, evidence: tuple[str, ...] = ()) -> None:
        """Note the state of a link."""
        self.links.append(LinkResult(id=id_, layer=layer, stage=stage, state=state, evidence=evidence))

    def remove(self, id_: str, layer: Any, stage: Any, answer: Delivery, session: str | None, refs: list[str]) -> None:
        """The policy took a link's content out: nothing after it can be reached, and that is no fault of the evidence.

        What speaks against it is one: a model that was sent the lure all the same.
        """
        self.link(id_, layer, stage, "removed_by_policy", (*refs, *((answer.delivered_ref or answer.ref),)))
        self.removed, self.session, self.whole = (id_, answer.t_delivered_ns), session, False

    def reached(self, state: str) -> str:
        """After a link that did not match, no later one is reached."""
        return state if self.whole else "not_reached"
