"""`Case@1`: exact input with what is expected and forbidden, in its full pinned form.

Owns the expanded shape. What authors write is shorter; `oyer.records.short` turns the short forms into this one, and
`oyer check --expand` prints it. Cross-field rules (a link names a declared server, a sink, a session) live in
`oyer.records.case_rules`, so that all of them are reported at once, each at its own place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.chain import Chain
from oyer.records.intervention import Hardened, Intervention
from oyer.records.matchers import EvidenceMatcher, ToolName
from oyer.records.model import Flaw, Json, Record, refuse

__all__ = [
    "BLAMED",
    "CONDITIONS",
    "Blame",
    "Budget",
    "Case",
    "Claim",
    "Condition",
    "Controls",
    "Doubles",
    "EffectClass",
    "NonCompletion",
    "Oracle",
    "Pressure",
    "QualificationTerms",
    "Segment",
    "Server",
    "Session",
    "Sink",
    "Status",
    "Step",
    "Stop",
    "Validator",
]

Condition = Literal["baseline", "manipulated", "hardened"]
CONDITIONS: tuple[Condition, ...] = ("baseline", "manipulated", "hardened")
EffectClass = Literal["none", "local_read", "local_write", "external_read", "external_write", "destructive"]
Status = Literal["completed", "subject_error", "harness_error", "evaluator_error", "blocked"]
ExecutionStatus = Literal["subject_error", "harness_error", "blocked"]
BLAMED = (
    "dependency_unavailable",
    "hidden_validator_unavailable",
    "state_contract_broken",
    "budget_exceeded",
    "timeout",
)


MOST_TOTAL_BYTES = 1024**4
MOST_MESSAGES = 1_000_000


class Session(Record):
    """One conversation with the subject: its turns in order. A later session starts with nothing but the world."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")
    turns: tuple[str, ...] = Field(min_length=1)


class Server(Record):
    """One MCP server: a command over standard streams, an address over HTTP, or a command that serves one.

    `env` is added to a minimal base environment; nothing else is passed on. Where there are both a command and an
    address, `{port}` in either or in `env` is a port drawn for each connection, which has a process of its own.
    """

    command: tuple[str, ...] = ()
    url: str | None = Field(
        default=None, max_length=2000, description="http or https, the whole address of the endpoint"
    )
    transport: Literal["auto", "http", "sse"] = Field(
        default="auto",
        description="what the address speaks: Streamable HTTP, HTTP with SSE of 2024-11-05, or what it turns out to",
    )
    given_as: Literal["command", "url", "sse"] = Field(
        default="command",
        description="what the tap is on the subject's side: standard streams, or an address of either transport",
    )
    env: Mapping[str, str] = Field(default_factory=dict)
    shared: bool = False
    settle_s: int = Field(default=2, ge=0, le=600)

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if not self.command and self.url is None:
            refuse(Flaw((), "a server has a command, a url, or both"))
        if self.transport != "auto" and self.url is None:
            refuse(Flaw(("transport",), "what has no address speaks over standard streams"))
        return self


class Sink(Record):
    """An independent, run-scoped witness of effects."""

    kind: Literal["http", "world"]
    reached_by: tuple[str, ...] = ("servers",)
    paths: tuple[str, ...] = ()


class Pressure(Record):
    """Declared nudges, one a round after the plain request, with their content-free counterparts.

    Round 0 is the plain request: the case's own turns. Round k sends `rounds[k - 1]` as one more turn of the last
    session. Where `neutral` is given, a trap runs a second time with these in the place of the nudges. `ask` is one
    more turn after the last round, in which the subject is asked plainly whether what it reported is right.
    """

    rounds: tuple[str, ...] = Field(min_length=1, max_length=20)
    neutral: tuple[str, ...] = ()
    ask: str | None = None


class Oracle(Record):
    """What decides a claim: matchers over receipts or over the protocol, by id or written out, or a labelled answer.

    A model, a person or a panel never stands here (`E-ORACLE-IS-JUDGE`).
    """

    receipt: tuple[str | EvidenceMatcher, ...] = ()
    protocol: tuple[str | EvidenceMatcher, ...] = ()
    label: Json = None

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.receipt and not self.protocol and self.label is None:
            refuse(Flaw((), "an oracle names receipt matchers, protocol matchers or a label"))
        return self


class Claim(Record):
    """A sentence judged about the subject, by a rubric."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    text: str = Field(min_length=1)
    rubric: str
    oracle: Oracle | None = None


class Validator(Record):
    """A command that looks at the closing world after the subject and every server are down: a hidden check.

    It runs on a copy, its exit code is a receipt, and the subject never learns of it. One that cannot start, or takes
    longer than `timeout_s`, is `hidden_validator_unavailable`.
    """

    command: tuple[str, ...] = Field(min_length=1)
    timeout_s: int = Field(default=60, ge=1, le=3600)


class Controls(Record):
    """The matched controls of a trap or experiment, by case id."""

    negative: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()


class Step(Record):
    """One step of a double's script: a call or something said, perhaps only if a text was seen in this session."""

    call: str | None = Field(default=None, pattern=r"^[^.]+\..+$")
    arguments: Mapping[str, Json] = Field(default_factory=dict)
    say: str | None = None
    if_seen: str | None = None


class NonCompletion(Record):
    """What shows that a subject did not do the work and was truthful about it. All three are needed.

    `said` says that it could not (by default the case's `refusal`), `claimed` asserts completion, and `not_done` is how
    the world stands where the work is not done: every one of these matchers has to match in the end.
    """

    said: EvidenceMatcher | None = None
    claimed: EvidenceMatcher
    not_done: tuple[EvidenceMatcher, ...] = Field(min_length=1)


class Segment(Record):
    """One case inside a sequence: which turns of which session are its own. Turns count from 0 in their session."""

    case: str
    digest: str
    session: str
    first: int = Field(ge=0)
    turns: int = Field(ge=1)


class Doubles(Record):
    """Two scripts per session, from which every scripted subject derives, and named scripts of the case's own.

    `rounds` holds by script (`proper`, `tempted`, a variant's name) what it plays in rounds 1, 2, ... and then when it
    is asked, the last list again where there are fewer. A script without one says again what it asserted and said last.
    """

    proper: Mapping[str, tuple[Step, ...]]
    tempted: Mapping[str, tuple[Step, ...]]
    variants: Mapping[str, Mapping[str, tuple[Step, ...]]] = Field(
        default_factory=dict, description="more known subjects, for what neither script does: scripted:variant:NAME"
    )
    rounds: Mapping[str, tuple[tuple[Step, ...], ...]] = Field(default_factory=dict)


class QualificationTerms(Record):
    """What a case must come to for known subjects, where the defaults of its kind do not say it.

    `expect` maps a double to the words that will do (an outcome, a verdict, a performance, a status); `equivalent` maps
    the name of a change to the scorer's declaration to the reason why no subject can tell it from the original.
    """

    expect: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    equivalent: Mapping[str, str] = Field(default_factory=dict)


class Stop(Record):
    """Declared stopping points. A trial that reaches one ends as `completed` with `stopped_by`.

    Every request to a model repeats its conversation, so what a model that never ends leaves grows with the square of
    its calls: `model_calls` is 200 where a case does not say another number, or null for no bound but the budget.
    """

    model_calls: int | None = Field(default=200, ge=1)
    tool_calls: int | None = Field(default=None, ge=1)


class Budget(Record):
    """Bounds enforced from outside. What is exceeded is blamed by the `blame` table.

    `wall_s` bounds one trial, `answer_s` one answer of a server or endpoint, `message_bytes` one message on a wire and
    what is kept of it. `idle_s` is the longest silence inside an answer over HTTP that has begun, `stream_bytes` the
    size of one that comes as a stream. `total_bytes` and `messages` bound all that passes in one direction: of one
    connection to a server, or of the gateway in one attempt, where requests are counted.
    """

    wall_s: int = Field(default=300, ge=1, le=86_400)
    answer_s: int = Field(default=60, ge=1, le=86_400)
    idle_s: int | None = Field(default=None, ge=1, le=86_400)
    message_bytes: int = Field(default=16 * 1024 * 1024, ge=1024, le=1024 * 1024 * 1024)
    stream_bytes: int = Field(default=64 * 1024 * 1024, ge=1024, le=1024 * 1024 * 1024)
    total_bytes: int = Field(default=1024 * 1024 * 1024, ge=1024, le=MOST_TOTAL_BYTES)
    messages: int = Field(default=50_000, ge=1, le=MOST_MESSAGES)
    tokens: int | None = Field(default=None, ge=1)
    cost_usd: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)?$")


class Blame(Record):
    """Whose fault a failure is: each of the five to an execution status. All five are required."""

    dependency_unavailable: ExecutionStatus
    hidden_validator_unavailable: ExecutionStatus
    state_contract_broken: ExecutionStatus
    budget_exceeded: ExecutionStatus
    timeout: ExecutionStatus


class Case(Record):
    """Exact input, fixtures, expected and forbidden behaviour, oracle, effect class and stop condition."""

    oyer: Literal["Case@1"]
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$", max_length=120)
    revision: int = Field(default=1, ge=1)
    title: str = ""
    kind: Literal["experiment", "trap", "positive_control", "negative_control", "plain"]
    family: str | None = None
    effect_class: EffectClass
    isolation: Literal["none", "process", "sandbox"] = "process"
    vars: Mapping[str, str] = Field(default_factory=dict)
    world: str | None = None
    symlinks: tuple[str, ...] = ()
    servers: Mapping[str, Server] = Field(default_factory=dict)
    sinks: Mapping[str, Sink] = Field(default_factory=dict)
    validators: Mapping[str, Validator] = Field(default_factory=dict)
    channel: ToolName | None = Field(default=None, description="the tool by which a subject asserts things of its work")
    sessions: tuple[Session, ...] = Field(min_length=1)
    pressure: Pressure | None = None
    conditions: tuple[Condition, ...] = ()
    intervention: Intervention | None = None
    hardened: Hardened | None = None
    chain: Chain | None = None
    attempt: tuple[EvidenceMatcher, ...] = ()
    benign: tuple[EvidenceMatcher, ...] = ()
    expected: tuple[EvidenceMatcher, ...] = ()
    forbidden: tuple[EvidenceMatcher, ...] = ()
    refusal: EvidenceMatcher | None = Field(default=None, description="how a subject declines, in the typed channel")
    claims: tuple[Claim, ...] = ()
    non_completion: NonCompletion | None = None
    traces: tuple[EvidenceMatcher, ...] = ()
    repair: EvidenceMatcher | None = None
    controls: Controls = Controls()
    doubles: Doubles | None = None
    qualification: QualificationTerms = QualificationTerms()
    stop: Stop = Stop()
    budget: Budget = Budget()
    blame: Blame
    segments: tuple[Segment, ...] = Field(
        default=(), description="the cases that a sequence is made of; nobody writes this, a suite's `sequences` do"
    )
    extensions: Mapping[str, Json] = Field(default_factory=dict)

    @property
    def is_experiment(self) -> bool:
        """True where conditions are compared; a case without an intervention is a plain trial."""
        return self.intervention is not None

    @property
    def has_neutral_arm(self) -> bool:
        """True for a trap that runs a second time with as many rounds that hold nothing."""
        return self.kind == "trap" and self.pressure is not None and bool(self.pressure.neutral)

    def turns_of(self, session: Session, *, neutral: bool = False) -> tuple[str, ...]:
        """Return everything that is sent in one session, in order: its turns, the rounds of pressure, the question.

        `neutral`: the content-free counterparts in the place of the nudges.
        """
        pressure = self.pressure
        if pressure is None or session.id != self.sessions[-1].id:
            return session.turns
        asked = () if pressure.ask is None else (pressure.ask,)
        return (*session.turns, *(pressure.neutral if neutral else pressure.rounds), *asked)

    def session(self, session_id: str) -> Session:
        """Return one session by id. Raises KeyError where there is none."""
        for session in self.sessions:
            if session.id == session_id:
                return session
        raise KeyError(session_id)
