"""What one arm of a vector says: calls with their answers, effects, the artifact, the model exchanges.

Owns the reading of the vector format (the header of the conformance file). Judges nothing and imports nothing of Oyer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Given = dict[str, Any]


@dataclass(eq=False)
class Answer:
    """One answer as the intermediary saw it."""

    at: float
    ok: bool
    by_policy: bool
    changed: bool
    original: str | None
    after: str | None
    delivered: str | None
    structured: Any
    structured_original: Any
    policy: dict[str, Any]
    made_an_error: bool

    @property
    def before_policy(self) -> str | None:
        """What would have crossed without the policy's own words."""
        return self.delivered if self.delivered is None or not self.policy else self.after

    def server_bytes(self) -> tuple[Any, ...] | None:
        """What the server sent; None when its bytes were not preserved."""
        ok = self.ok or self.made_an_error
        return None if self.original is None else (ok, self.original, dumped(self.structured_original))

    def what_crossed(self) -> tuple[Any, ...]:
        """What the subject got."""
        return (self.ok, self.delivered, dumped(self.structured), self.by_policy)


@dataclass(eq=False)
class Call:
    """One call: a second transmission of it is not another call."""

    at: float
    session: int
    tool: str
    args: Any
    key: tuple[Any, ...]
    explicit: bool
    policy: dict[str, Any]
    transmissions: list[float] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    cancelled: list[float] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether the declared policy kept it from the server."""
        return self.policy.get("did") == "refused" or self.policy.get("answer") == "refused"

    @property
    def answer(self) -> Answer | None:
        """The first answer."""
        return self.answers[0] if self.answers else None

    @property
    def delivered(self) -> Answer | None:
        """The first answer that crossed to the subject."""
        return next((a for a in self.answers if a.delivered is not None), None)

    @property
    def failed(self) -> bool:
        """Whether the original answer says that it failed."""
        return self.answer is not None and not (self.answer.ok or self.answer.made_an_error)


@dataclass(eq=False)
class Effect:
    """One record of the sink."""

    at: float
    run: str
    content: dict[str, Any]


class Arm:
    """One arm, read once."""

    def __init__(self, state: Given, given: Given) -> None:
        self.state = state = with_defaults(state)
        self.change_is_error = "error" in given["declared"].get("change", {})
        self.run: str = state["run_id"]
        self.pins: dict[str, Any] = state["pins"]
        self.model: list[dict[str, Any]] | None = state.get("model")
        self.artifact: dict[str, Any] = state["artifact"]
        if self.artifact.get("run_id", self.run) != self.run:  # another run's world: nothing in it is this run's
            self.artifact = {"state": "absent"}
        self.sink: dict[str, Any] = state["sink"]
        self.calls: list[Call] = []
        self.orphans: list[Answer] = []
        self.id_reused_while_open = False
        self.sessions = list(dict.fromkeys(e["session"] for e in state["events"]))
        for event in state["events"]:
            session = self.sessions.index(event["session"])
            {"call": self._call, "result": self._result, "cancel": self._cancel}[event["kind"]](event, session)
        times = [e["at"] for e in state["events"]] + [x["request_at"] for x in self.model or []]
        self.opened_at: float = min(times, default=1)
        records = self.sink.get("records", [])
        # What a sink held when it opened is state, and no effect.
        self.held = [r for r in records if r["at"] < self.opened_at]
        self.effects = [
            Effect(r["at"], r["run_id"], {k: v for k, v in r.items() if k not in ("at", "run_id")})
            for r in records
            if r["at"] >= self.opened_at
        ]

    @property
    def own_effects(self) -> list[Effect]:
        """The effects that name this arm's run: another run's are not this run's."""
        return [e for e in self.effects if e.run == self.run]

    @property
    def watched(self) -> bool:
        """Whether the sink was proven watching at both ends."""
        probes = self.sink.get("probes", {})
        default = self.sink["state"] != "malformed"
        if self.sink.get("journal") == "missing":
            return False
        answered = self.sink.get("watched", default) is True and all(v == "ok" for v in probes.values())
        return answered and (self.other_clock or self.closing_probe_at > self.ended_at)

    @property
    def closing_probe_at(self) -> float:
        if self.sink.get("probes", {}).get("closing") == "missing":
            return float("inf")
        return float(self.sink.get("closing_probe_at", "inf"))

    @property
    def ended_at(self) -> float:
        """When the subject had done its last."""
        times = [e["at"] for e in self.state["events"]] + [x["response_at"] for x in self.model or []]
        return float(max([*times, self.state.get("end", {}).get("at", 0)], default=0))

    def asked(self) -> list[tuple[dict[str, Any], str, Any]]:
        """What each exchange asked for: a name stands for the arguments of the next call of that tool."""
        found: list[tuple[dict[str, Any], str, Any]] = []
        taken: set[int] = set()
        for exchange in self.model or []:
            for asked in exchange["asks"]:
                if isinstance(asked, dict):
                    found.append((exchange, asked["tool"], asked["args"]))
                    continue
                calls = [c for c in self.to(asked) if c.at >= exchange["response_at"] and id(c) not in taken]
                taken.update(id(c) for c in calls[:1])
                found.append((exchange, asked, calls[0].args if calls else {}))
        return found

    @property
    def completed(self) -> bool:
        return bool(self.state.get("status", "completed") == "completed")

    def looks(self) -> list[tuple[float, str | None]]:
        """What each look at the artifact found, in order, where something was found to have been written."""
        first: list[tuple[float, str | None]] = []
        if self.artifact["state"] == "readable":
            first = [(self.artifact["at"], self.artifact["content"])]
        return first + [(look["at"], look["content"]) for look in self.artifact.get("later", ())]

    def found_after(self, at: float) -> str | None:
        """What the first look after a moment found: what was found last still stands when everything is down."""
        looks = self.looks()
        later = [content for when, content in looks if when >= at]
        return later[0] if later else looks[-1][1] if looks else None

    @property
    def cut(self) -> bool:
        """Whether something else than the subject ended its last turn."""
        return bool(self.state.get("end", {}).get("by", "subject") != "subject")

    @property
    def other_clock(self) -> bool:
        """Whether the sink's clock cannot be set beside the others."""
        return bool(self.sink.get("clock") == "other")

    def to(self, tool: str | None) -> list[Call]:
        return [call for call in self.calls if call.tool == tool]

    def _key(self, event: Given) -> tuple[Any, ...]:
        connection = event.get("connection", ("of session", event["session"]))
        return (connection, event["id"]) if "id" in event else (connection, "own", len(self.calls))

    def _call(self, event: Given, session: int) -> None:
        key = self._key(event)
        if event.get("transmission", 1) > 1:
            # An id is in use until its call is answered; the same again after that is another request.
            same = next((c for c in self.calls if c.key == key and not c.answers), None)
            if same is not None:
                same.transmissions.append(event["at"])
                return
        call = Call(event["at"], session, event["tool"], event["args"], key, "id" in event, event.get("policy", {}))
        call.transmissions.append(event["at"])
        self.id_reused_while_open |= any(c.key == key and not c.answers for c in self.calls)
        self.calls.append(call)

    def _result(self, event: Given, session: int) -> None:
        original = event.get("original") if event["modified"] else event.get("original", event["delivered"])
        answer = Answer(
            event["at"],
            event["ok"],
            event.get("answered_by") == "policy",
            event["modified"],
            original,
            event.get("after_intervention") or event["delivered"],
            event["delivered"],
            event.get("structured"),
            event.get("structured_original", None if event["modified"] else event.get("structured")),
            event.get("policy", {}),
            # An answer that failed did so at the server, unless the declared change is what makes it one.
            event["modified"] and self.change_is_error,
        )
        if "id" in event:
            key = self._key(event)
            found = [c for c in self.calls if c.key == key and c.tool == event["tool"]]
            found = [c for c in found if not c.answers] or found[-1:]
        else:
            found = [c for c in self.to(event["tool"]) if c.session == session and not c.answers]
        if found:
            found[0].answers.append(answer)
        else:
            self.orphans.append(answer)

    def _cancel(self, event: Given, session: int) -> None:
        key = self._key(event)
        for call in self.calls:
            if call.key == key:
                call.cancelled.append(event["at"])


def with_defaults(state: Given) -> Given:
    """An arm with what the format's header leaves out filled in."""
    filled: Given = {"trace": "complete", "events": [], "artifact": {}, "sink": {}, **state}
    filled["pins"] = {"model": "m-1", "reported_model": "m-1", "prompt_sha": "p-1", **state.get("pins", {})}
    filled["artifact"] = {"state": "absent", "at": 0, "content": "", **filled["artifact"]}
    filled["artifact"]["run_id"] = filled["artifact"].get("run_id") or state["run_id"]
    filled["sink"] = {"state": "absent", **filled["sink"]}
    ordered = sorted(filled["events"], key=lambda event: event["at"])
    filled["events"] = [{"ok": True, "modified": False, "args": {}, **event} for event in ordered]
    if state.get("model") is not None:
        exchange = {"shows_marker": False, "asks": [], "finish": "stop"}
        filled["model"] = [{**exchange, **x} for x in state["model"]]
    else:
        filled.pop("model", None)
    return filled


def dumped(value: Any) -> str:
    """JSON with one spelling per value (1, 1.0 and true stay apart)."""
    return json.dumps(value, sort_keys=True)


def leaves(value: Any) -> list[str]:
    """The texts inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in leaves(item)]
    if isinstance(value, list):
        return [text for item in value for text in leaves(item)]
    return []


def as_json(text: str) -> Any:
    """The JSON value that a text is, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def json_field(text: str | None, name: str) -> tuple[bool, Any]:
    """Whether a text is a JSON object with that field, and the field's value."""
    try:
        value = json.loads(text) if text is not None else None
    except ValueError:
        return False, None
    return (True, value[name]) if isinstance(value, dict) and name in value else (False, None)
