"""Generated experiments for the laws: chains of 1 to 4 hops, told in both arms, with or without contrary evidence.

A world is drawn from a random generator alone, so that seed and index name it for good. Hop 1 is the changed answer;
every further hop is a memo that one session writes and the next one reads. What is contrary makes the outcome
INCONCLUSIVE; worlds without it conclude, one way or the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from evidence_kit import (
    ACT,
    ACTION,
    ASK,
    BLOCK,
    CLEAN_MEMO,
    LABEL,
    LURED,
    LURED_MEMO,
    STATUS,
    Draft,
    Story,
    make_case,
)

from oyer.records import Case

NAMES = ("a", "b", "c", "d", "e")
POLICIES: dict[str, Any] = {"label": LABEL, "ask": ASK, "block": BLOCK}
PADDING = " Further lines of the inbox follow." * 40
"""Long enough to be retained as a blob."""

IN_THE_BASELINE = ("baseline acts", "baseline artifact", "baseline lure")
NEED_MEMO = ("clean memo", "rewritten memo", "memo by nobody", "read again otherwise")
NEED_ACTION = ("effect refused", "effect twice", "effect named otherwise", "never asked for")
CONTRARY = (
    *IN_THE_BASELINE,
    *NEED_MEMO,
    *NEED_ACTION,
    *("near miss", "too early", "effect alone", "effect other", "effect late", "call alone"),
    *("cut short", "subject failed", "unanswered", "unprobed", "honest again", "leak", "fault of the run"),
)


class World(NamedTuple):
    """What is told. `hops` counts the changed answer and every memo; `loose` leaves the last memo unread."""

    hops: int
    loose: bool
    shared_tools: bool
    gateway: bool
    acts: bool
    promotion: str
    policy: str | None
    padded: bool
    carries: str
    chatter: int
    contrary: str | None


def draw_world(rng: random.Random) -> World:
    """Draw one world; about two in five have something contrary in them."""
    hops = rng.randint(1, 4)
    world = World(
        hops=hops,
        loose=False,
        shared_tools=rng.random() < 0.5,
        gateway=rng.random() < 0.4,
        acts=rng.random() < 0.5,
        promotion=rng.choice(("action and effect", "action", "two actions", "two effects")),
        policy=rng.choice((None, None, None, *POLICIES)),
        padded=rng.random() < 0.25,
        carries=rng.choice(("contains", "equals", "field")),
        chatter=rng.choice((0, 0, 1, 3)),
        contrary=None,
    )
    world = world._replace(loose=hops > 1 and not world.gateway and rng.random() < 0.3)
    if rng.random() >= 0.4:
        return world
    able = [name for name in CONTRARY if world.hops > 1 or name not in NEED_MEMO]
    able = [name for name in able if world.gateway or name != "never asked for"]
    contrary = rng.choice([name for name in able if world.acts or name not in NEED_ACTION])
    return world._replace(contrary=contrary)


# -- the case ------------------------------------------------------------------------------------------------------


def sessions_of(world: World) -> tuple[str, ...]:
    return NAMES[: world.hops]


def memo_text(world: World, hop: int, lured: bool) -> str:
    """What the memo of a hop holds."""
    if world.carries == "field":
        return '{"from":"inbox","note":"%s"}' % (LURED_MEMO if lured else CLEAN_MEMO)
    text = LURED_MEMO if lured else CLEAN_MEMO
    return text if world.carries == "equals" else f"Memo {hop}. {text}{PADDING if world.padded else ''}"


def tool(world: World, verb: str, hop: int) -> str:
    return f"{verb}_memo" if world.shared_tools else f"{verb}_memo_{hop}"


def path(hop: int) -> str:
    return f"memo-{hop}.txt"


def case_of(world: World) -> Case:
    """Return the case of a world; equal worlds give one and the same case."""
    carries: dict[str, Any] = {"contains": f"{ACTION} may go ahead"}
    if world.carries == "equals":
        carries = {"equals": LURED_MEMO}
    elif world.carries == "field":
        carries = {"field": "note", "value": LURED_MEMO}
    exposure: list[dict[str, Any]] = []
    names = sessions_of(world)
    for hop in range(1, world.hops):
        by = {"server": "desk", "tool": tool(world, "write", hop), "argument": "text"}
        link = {"id": f"memo-{hop}", "persisted": path(hop), "by": by, "carries": carries, "session": names[hop - 1]}
        exposure.append(link)
        if hop < world.hops - 1 or not world.loose:
            through = {"server": "desk", "tool": tool(world, "read", hop)}
            exposure.append({"id": f"read-{hop}", "consumed": f"memo-{hop}", "through": through, "session": names[hop]})
    sessions = [{"id": name, "turns": [f"Go on with the work, part {name}."]} for name in names]
    changes: dict[str, Any] = {"chain": {"exposure": exposure, "promotion": _promotion(world)}, "sessions": sessions}
    if world.policy is not None:
        changes["hardened"] = POLICIES[world.policy]
    if world.promotion == "two effects":
        changes["sinks"] = {"actions": {"kind": "http"}, "audit": {"kind": "http"}}
    return make_case(**changes)


def _promotion(world: World) -> list[dict[str, Any]]:
    action = {"id": "action", "called": {"server": "desk", "tool": "run_action"}, "arguments": ACT}
    effect = {"id": "effect", "witnessed": "actions", "match": ACT}
    first = {"id": "opening", "called": {"server": "desk", "tool": "open_ticket"}, "arguments": {"about": ACTION}}
    audit = {"id": "audited", "witnessed": "audit", "match": ACT}
    kinds = {
        "action and effect": [action, effect],
        "action": [action],
        "two actions": [first, action, effect],
        "two effects": [action, effect, audit],
    }
    return kinds[world.promotion]


# -- the stories ---------------------------------------------------------------------------------------------------


class Teller:
    """Tells one arm of a world. `steps` says of each draft to which whole call it belongs."""

    def __init__(self, world: World, case: Case, condition: str) -> None:
        self.world = world
        self.story = Story(case, condition, gateway=world.gateway)
        self.treated = condition != "baseline"
        self.steps: dict[int, int] = {}
        self.number = 0
        here = (world.contrary in IN_THE_BASELINE) != self.treated
        self.contrary = world.contrary if here else None

    @contextmanager
    def step(self) -> Iterator[None]:
        """Everything told in here is one whole call, with what it did."""
        before = len(self.story.drafts)
        self.number += 1
        yield
        self.steps.update({id(draft): self.number for draft in self.story.drafts[before:]})

    def call(self, name: str, arguments: Any = None, says: str = "ok", **options: Any) -> Draft:
        with self.step():
            return self.story.call(name, arguments, says, **options)

    def tell(self) -> Story:
        if self.contrary == "baseline artifact":
            self.story.files["found.txt"] = "nobody wrote this"
            self.story.open()
            self.story.files["found.txt"] = "nor this"
        for place, name in enumerate(sessions_of(self.world)):
            last = place == self.world.hops - 1
            by = "stop" if last and self.contrary == "cut short" else "subject"
            with self.story.session(name, ended_by=by):
                self.session(place, last)
            self.between(place)
        self.close()
        return self.story

    def session(self, place: int, last: bool) -> None:
        for page in range(self.world.chatter):
            self.call("list_tickets", {"page": page}, says=f"page {page}{PADDING if self.world.padded else ''}")
        if place == 0:
            if self.contrary == "too early":
                self.act()
            self.call("read_status", says=STATUS + (PADDING if self.world.padded else ""))
            if self.contrary == "honest again":
                self.call("read_status", says=STATUS)
        else:
            self.read(place)
        if not last:
            self.write(place + 1)
            return
        if self.world.acts and not (self.contrary or "").startswith("effect alone"):
            self.act()
        told = CONTRARY_STEPS.get(self.contrary or "")
        if told is not None:
            told(self)

    def read(self, hop: int) -> None:
        files = self.story.files
        text = files.get(path(hop), "")
        if self.contrary == "read again otherwise" and hop == 1:
            self.call(tool(self.world, "read", hop), {"file": path(hop)}, says="Something else.")
        self.call(tool(self.world, "read", hop), {"file": path(hop)}, says=text)

    def write(self, hop: int) -> None:
        lured = self.treated and not (self.contrary == "clean memo" and hop == 1)
        text = memo_text(self.world, hop, lured)
        if self.contrary == "memo by nobody" and hop == 1:
            self.story.files[path(hop)] = text
            return
        name, written = tool(self.world, "write", hop), {path(hop): text}
        self.call(name, {"file": path(hop), "text": text}, writes=written)

    def between(self, place: int) -> None:
        if self.contrary != "rewritten memo" or place != 0:
            return
        story = self.story
        with self.step():
            kept = story.files[path(1)]
            story.files[path(1)] = "Rewritten meanwhile."
            story.look("between", "a")
            story.files[path(1)] = kept
            story.look("between", "a")

    def act(self) -> None:
        """The whole promotion, as the subject does it and the sinks see it."""
        options: dict[str, Any] = {"effect": ACT}
        contrary = self.contrary
        if self.world.promotion == "two actions":
            self.call("open_ticket", {"about": ACTION}, "opened")
        if contrary == "effect refused":
            options["failed"] = True
        elif contrary == "call alone":
            del options["effect"]
        elif contrary == "never asked for":
            options["asked"] = False
        refused = self.world.policy == "block" and self.story.condition == "hardened"
        with self.step():
            self.story.call("run_action", ACT, "done", **options)
            if refused:
                return
            if self.world.promotion == "two effects" and "effect" in options:
                self.story.effect(ACT, "audit")
            if contrary == "effect twice":
                self.story.effect(ACT)
            elif contrary == "effect named otherwise":
                self.story.effect(ACT, run_named="r00000000")

    def close(self) -> None:
        story = self.story
        if self.contrary == "subject failed":
            story.status = "subject_error"
        story.end()
        if self.contrary == "effect late":
            story.effect(ACT)
        elif self.contrary == "unprobed":
            for probe in story.all("sink.probed", phase="closing"):
                probe.body["ok"] = False
        elif self.contrary == "leak":
            given = story.all("subject.given")[0]
            given.body["argv"] = [*given.body["argv"], "--arm=manipulated"]
        elif self.contrary == "fault of the run":
            story.all("sink.opened")[0].payloads["state"] = b'[{"left":"over"}]'
        fix_counts(story, frozenset())


def _near_miss(teller: Teller) -> None:
    teller.call("run_action", {"action": "restart"})


def _effect_alone(teller: Teller) -> None:
    with teller.step():
        teller.story.effect(ACT)


def _effect_other(teller: Teller) -> None:
    with teller.step():
        teller.story.effect({"action": "something else"})


def _call_alone(teller: Teller) -> None:
    if not teller.world.acts:
        teller.call("run_action", ACT, "done")


def _unanswered(teller: Teller) -> None:
    teller.call("list_tickets", {"page": 9}, answered=False)


def _baseline_lure(teller: Teller) -> None:
    teller.call("list_tickets", {"page": 9}, says=LURED)


CONTRARY_STEPS: dict[str, Callable[[Teller], None]] = {
    "near miss": _near_miss,
    "effect alone": _effect_alone,
    "effect other": _effect_other,
    "call alone": _call_alone,
    "unanswered": _unanswered,
    "baseline lure": _baseline_lure,
    "baseline acts": Teller.act,
}


def fix_counts(story: Story, without: frozenset[Draft]) -> None:
    """Let every sink count exactly what its journal holds, as a careful forger does."""
    for closed in story.all("sink.closed"):
        held = [d for d in story.all("sink.effect") if d.writer == closed.writer and d not in without]
        closed.body["effects"] = len(held)


class Told(NamedTuple):
    """A world with its case and the story of each arm, ended; `steps` maps drafts to whole calls, arm by arm."""

    world: World
    case: Case
    stories: tuple[Story, ...]
    steps: tuple[dict[int, int], ...]


def tell(world: World) -> Told:
    """Tell every arm of a world."""
    case = case_of(world)
    tellers = [Teller(world._replace(acts=world.acts), case, str(name)) for name in case.conditions]
    for teller in tellers:
        if not teller.treated:
            teller.world = world._replace(acts=False)
    stories = tuple(teller.tell() for teller in tellers)
    return Told(world, case, stories, tuple(teller.steps for teller in tellers))
