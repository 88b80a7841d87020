"""Real agents on trial: coding agents from npm and agents on SDKs from PyPI, each driven through a whole series.

Where they are installed says OYER_AGENTS (one directory for each agent, as docs/reference/agents-seen.md installs
them). Each session is one process of the agent with a home of its own; it is given the gateway by its own base-URL
setting and the tap by its own MCP configuration, and nothing else. Settings: the agents' own documentation, and what
was measured of the versions named here.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from series_kit import OwnSubjects, Trial, trials_of

from oyer.adjudicate import SeriesResult
from oyer.engine import CaseSource, RunRequest, SubjectSpec
from oyer.engine.attempt import run_attempt
from oyer.engine.context import AttemptPlan
from oyer.engine.opening import open_series
from oyer.engine.series import derive_into
from oyer.engine.sinks import Sinks, late_texts
from oyer.engine.stopping import Stop
from oyer.host import Patience, become_subreaper, spawn, terminate_tree
from oyer.observe import ModelExchange, TrialEvidence, Wire, read_model, read_wire
from oyer.protocol import MODEL_APIS, api_of, loads_tolerant, scripted_answer
from oyer.protocol.answering_apis import VOICES
from oyer.records import Condition
from oyer.store import JournalWriter
from oyer.subjects import Given, ModelSettings, Subject, SubjectIdentity, TurnEnd

PEERS = Path(__file__).parents[1] / "peers"
MODEL = "fake-model"
REPORTED = "fake-model-2026-11-30"


class Started(NamedTuple):
    """How one agent is started: its command, what it adds to its environment, and the files of its home."""

    argv: list[str]
    env: dict[str, str]
    files: dict[str, Any]


class Agent(NamedTuple):
    """One agent: what it speaks, what is installed of it (`place` below OYER_AGENTS), and how it is started.

    `start(program, home, given, prompt)` says how.
    """

    name: str
    api: str
    stream: bool
    place: str
    start: Callable[[Path, Path, Given, str], Started]


def root_of(given: Given) -> str:
    """The address of the model without its version, as most settings want it."""
    return door_of(given)[0].removesuffix("/v1")


def door_of(given: Given) -> tuple[str, str]:
    assert given.model is not None
    return given.model.base_url, given.model.key


def server_of(given: Given, kind: str = "http", key: str = "url", **more: Any) -> dict[str, Any]:
    """The one server of the case as most agents want it: a command, or an address."""
    ((_, server),) = given.servers.items()
    if server.url is not None:
        return {"type": kind, key: server.url, **more} if kind else {key: server.url, **more}
    return {"command": server.command[0], "args": list(server.command[1:]), "env": dict(server.env), **more}


def claude(program: Path, home: Path, given: Given, prompt: str, *more: str, **env: str) -> Started:
    config = home / "mcp.json"
    argv = [
        str(program), "-p", prompt, "--model", MODEL, "--strict-mcp-config", "--mcp-config", str(config),
        "--allowedTools", "mcp__ops__*", "--output-format", "json", *more,
    ]  # fmt: skip
    said = {
        "ANTHROPIC_BASE_URL": root_of(given),
        "ANTHROPIC_API_KEY": door_of(given)[1],
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "MCP_CONNECTION_NONBLOCKING": "0",
        "API_TIMEOUT_MS": "60000",
        **env,
    }
    return Started(argv, said, {"mcp.json": {"mcpServers": {"ops": server_of(given)}}})


def claude_listed(program: Path, home: Path, given: Given, prompt: str) -> Started:
    plain = ("--bare", "--system-prompt", "You are a clerk.", "--tools", "")
    started = claude(program, home, given, prompt, *plain, ENABLE_TOOL_SEARCH="false")
    started.files["mcp.json"]["mcpServers"]["ops"]["alwaysLoad"] = True
    return started


CODEX = """\
model = "{model}"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
web_search = "disabled"
include_environment_context = false
include_permissions_instructions = false
include_apps_instructions = false
model_context_window = 200000
[analytics]
enabled = false
[history]
persistence = "none"
[skills]
bundled = {{ enabled = false }}
[features]
plugins = false
apps = false
shell_tool = false
unified_exec = false
goals = false
multi_agent = false
image_generation = false
tool_suggest = false
[model_providers.fake]
name = "fake"
base_url = "{url}"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 2
stream_max_retries = 2
supports_websockets = false
[mcp_servers.ops]
{server}
required = true
startup_timeout_sec = 60
tool_timeout_sec = 60
default_tools_approval_mode = "approve"
"""


def codex(program: Path, home: Path, given: Given, prompt: str) -> Started:
    ((_, server),) = given.servers.items()
    told = (
        f"url = {json.dumps(server.url)}"
        if server.url is not None
        else f"command = {json.dumps(server.command[0])}\nargs = {json.dumps(list(server.command[1:]))}"
    )
    config = CODEX.format(model=MODEL, url=door_of(given)[0], server=told)
    argv = [str(program), "exec", "--skip-git-repo-check", "--json", prompt]
    return Started(argv, {"FAKE_KEY": door_of(given)[1]}, {".codex/config.toml": config})


QUIET: dict[str, Any] = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def gemini(program: Path, home: Path, given: Given, prompt: str) -> Started:
    settings = {
        **QUIET,
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "mcpServers": {"ops": server_of(given, "", "httpUrl", trust=True)},
    }
    argv = [str(program), "-m", "gemini-2.5-flash", "-o", "json", "-p", prompt]
    env = {
        "GEMINI_API_KEY": door_of(given)[1],
        "GOOGLE_GEMINI_BASE_URL": root_of(given),
        "TERM": "xterm-256color",
    }
    return Started(argv, env, {".gemini/settings.json": settings})


def opencode(package: str) -> Callable[[Path, Path, Given, str], Started]:
    def start(program: Path, home: Path, given: Given, prompt: str) -> Started:
        ((_, server),) = given.servers.items()
        mcp = (
            {"type": "remote", "url": server.url, "enabled": True, "oauth": False}
            if server.url is not None
            else {"type": "local", "command": list(server.command), "environment": dict(server.env), "enabled": True}
        )
        models = {MODEL: {"tool_call": True, "limit": {"context": 100000, "output": 8000}}}
        options = {"baseURL": door_of(given)[0], "apiKey": door_of(given)[1]}
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": f"fake/{MODEL}",
            "small_model": f"fake/{MODEL}",
            "enabled_providers": ["fake"],
            "provider": {"fake": {"npm": package, "name": "fake", "options": options, "models": models}},
            "mcp": {"ops": mcp},
            "permission": {"*": "allow"},
        }
        argv = [str(program), "run", "--pure", "--format", "json", prompt]
        switches = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
        env = {
            "OPENCODE_CONFIG": str(home / "opencode.json"),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in switches},
        }
        return Started(argv, env, {"opencode.json": config})

    return start


def qwen(program: Path, home: Path, given: Given, prompt: str) -> Started:
    settings = {
        **QUIET,
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "mcpServers": {"ops": server_of(given, "", "httpUrl", trust=True)},
    }
    env = {"OPENAI_API_KEY": door_of(given)[1], "OPENAI_BASE_URL": door_of(given)[0], "OPENAI_MODEL": MODEL}
    argv = [str(program), "-o", "text", "-p", prompt]
    return Started(argv, env, {".qwen/settings.json": settings})


def qwen_listed(program: Path, home: Path, given: Given, prompt: str) -> Started:
    started = qwen(program, home, given, prompt)
    return started._replace(argv=[*started.argv[:1], "--exclude-tools", "tool_search", *started.argv[1:]])


def sdk(script: str, api: str) -> Callable[[Path, Path, Given, str], Started]:
    def start(program: Path, home: Path, given: Given, prompt: str) -> Started:
        ((_, server),) = given.servers.items()
        told = {
            "api": api,
            "model": MODEL,
            "base_url": root_of(given) if api == "messages" else door_of(given)[0],
            "key": door_of(given)[1],
            "url": server.url,
            "command": list(server.command),
            "env": dict(server.env),
            "prompt": prompt,
        }
        return Started([str(program), str(PEERS / script), str(home / "told.json")], {}, {"told.json": told})

    return start


_NPM = "node_modules/.bin"
AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude", "messages", True, f"claude/{_NPM}/claude", claude),
        Agent("claude-listed", "messages", True, f"claude/{_NPM}/claude", claude_listed),
        Agent("codex", "responses", True, f"codex/{_NPM}/codex", codex),
        Agent("gemini", "gemini", True, f"gemini/{_NPM}/gemini", gemini),
        Agent("opencode", "chat", True, f"opencode/{_NPM}/opencode", opencode("@ai-sdk/openai-compatible")),
        Agent("opencode-messages", "messages", True, f"opencode/{_NPM}/opencode", opencode("@ai-sdk/anthropic")),
        Agent("opencode-responses", "responses", True, f"opencode/{_NPM}/opencode", opencode("@ai-sdk/openai")),
        Agent("qwen", "chat", True, f"qwen/{_NPM}/qwen", qwen),
        Agent("qwen-listed", "chat", True, f"qwen/{_NPM}/qwen", qwen_listed),
        *(
            Agent(f"openai-agents-{api}", api, False, "sdk/bin/python", sdk("sdk_openai_agents.py", api))
            for api in ("chat", "responses")
        ),
        *(
            Agent(f"pydantic-ai-{api}", api, False, "sdk/bin/python", sdk("sdk_pydantic_ai.py", api))
            for api in ("chat", "responses", "messages")
        ),
    )
}


def program_of(agent: Agent) -> Path:
    """Return where an agent stands, or skip the running test."""
    given = os.environ.get("OYER_AGENTS")
    if not given:
        pytest.skip("OYER_AGENTS does not say where the agents are installed")
    path = Path(given) / agent.place
    if not path.exists():
        pytest.skip(f"{agent.name} is not at {path}")
    return path.absolute()


class AgentSubject:
    """An agent as a subject: each turn is one process of it, which must be the only one of its session."""

    def __init__(self, recorder: JournalWriter, identity: SubjectIdentity, agent: Agent, program: Path) -> None:
        self._recorder, self._identity, self._agent, self._program = recorder, identity, agent, program
        self._session: str | None = None
        self._given = Given({}, "")

    @property
    def identity(self) -> SubjectIdentity:
        return self._identity

    async def open_session(self, session: str, given: Given) -> None:
        self._session, self._given = session, given
        body = {"argv": [self._agent.name], "env": dict(given.env), "cwd": given.cwd, "files": {}}
        self._record("subject.given", body, {"configuration": b"{}"})

    async def turn(self, text: str, *, timeout_s: float) -> TurnEnd:
        given, session = self._given, self._session
        home = Path(given.env["HOME"]) / str(session)
        started = self._agent.start(self._program, home, given, text)
        for name, content in started.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        env = {**given.env, **started.env, "HOME": str(home)}
        sent = self._record("turn.sent", {"number": 0}, {"payload": text.encode()})
        child = spawn(started.argv, env=env, cwd=Path(given.cwd), stdin=False)
        told = {"role": "subject", "pid": child.pid, "argv": [self._agent.name], "env_names": sorted(env)}
        self._record("process.started", told)
        reading = asyncio.ensure_future(asyncio.to_thread(_all_of, child.take_stdout()))
        ended = await child.wait_at_most(timeout_s)
        tree = await terminate_tree(child, patience=Patience(settle_s=0.2, term_s=1.0))
        said = await reading
        stderr = await child.finish_stderr(1.0)
        child.release()
        exit_ = tree.exit
        body = {"role": "subject", "pid": child.pid, "code": exit_.code if exit_ else None,
                "signal": exit_.signal if exit_ else None, "survivors": []}  # fmt: skip
        self._record("process.exited", body, {"stderr": stderr})
        by: Any = "budget" if ended is None else "subject"
        self._record("turn.received", {"number": 0, "ended_by": by, "calls": 0}, {"payload": said}, (sent,))
        return TurnEnd(said.decode("utf-8", "replace"), by)

    async def close_session(self) -> None:
        self._session = None

    def _record(
        self, kind: str, body: Mapping[str, Any], payloads: Mapping[str, bytes] | None = None, because: Any = ()
    ) -> str:
        return self._recorder.record(kind, body, payloads=payloads or {}, session=self._session, because=because)


def _all_of(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


class Seen(NamedTuple):
    """One trial of an agent: its evidence, what passed between it and the model, and between it and the server."""

    condition: str
    trial: Trial
    model: tuple[ModelExchange, ...]
    wire: Wire


class Ran(NamedTuple):
    """One series of an agent."""

    out: Path
    result: SeriesResult
    seen: tuple[Seen, ...]

    @property
    def outcome(self) -> str:
        """The one mechanical outcome of its one comparison."""
        (comparison,) = self.result.comparisons
        return comparison.primary.mechanical_outcome

    def told(self) -> str:
        """What people need when it was not what they expected."""
        lines = [f"{one.case} {one.condition}: {one.status} {one.error}" for one in self.result.outcomes.values()]
        for comparison in self.result.comparisons:
            lines += [f"{each!r}" for each in comparison.primary.reasons]
        for one in self.seen:
            lines += [f"{one.condition} exchange {e.exchange} {e.path} {e.http_status} {e.unread}" for e in one.model]
            lines += [str(fault) for fault in one.trial.faults()]
            for event in one.trial.events("process.exited"):
                lines.append(f"exit {event.body['code']}: {one.trial.raw(event, 'stderr')[-2000:].decode()}")
            for event in one.trial.events("turn.received"):
                lines.append(f"said: {one.trial.raw(event)[-2000:].decode()}")
        return "\n".join(lines)


def run_agent(
    agent: Agent,
    source: CaseSource,
    out: Path,
    *,
    base_url: str = "scripted:obedient",
    key: str | None = None,
    faults: Sequence[str] = (),
    conditions: tuple[Condition, ...] | None = None,
) -> Ran:
    """Run a case with an agent as its subject, through the engine as every other subject is."""
    program = program_of(agent)
    become_subreaper()
    parameters = {"max_tokens": 1024} if agent.api == "messages" else {}
    settings = ModelSettings(MODEL, base_url, parameters, api=agent.api, faults=tuple(faults))  # type: ignore[arg-type]
    request = RunRequest((source,), (SubjectSpec("model", settings, key),), out, conditions)
    result = asyncio.run(_run(request, agent, program))
    return Ran(out, result, tuple(_seen(out)))


async def _run(request: RunRequest, agent: Agent, program: Path) -> SeriesResult:
    stop, sinks = Stop(), Sinks({})
    opening = await open_series(request)

    def make(plan: AttemptPlan, journal: JournalWriter) -> Subject:
        return AgentSubject(journal, plan.identity, agent, program)

    with opening.store as store:
        context = OwnSubjects(opening.series, store, sinks, stop, make=make)
        (source,) = request.cases
        try:
            for planned in opening.plan.trials:
                store.ledger("claimed", trial=planned.trial, attempt=1)
                place = planned.subject, planned.case
                identity, pinned = opening.identities[place], opening.pinned[place]
                await run_attempt(context, AttemptPlan(planned, 1, source, request.subjects[0], identity, pinned))
        finally:
            late = await sinks.stop()
        store.ledger("closed", body={"interrupted": False, "late": late_texts(late)})
        store.seal("run")
        return derive_into(store)


def _seen(out: Path) -> Iterator[Seen]:
    for trial in trials_of(out).values():
        evidence = TrialEvidence(trial.check, trial.contents.get, ())
        assert evidence.envelope is not None
        yield Seen(evidence.envelope.condition, trial, read_model(evidence), read_wire(evidence))


# ------------------------------------------------------------------- an endpoint that really is elsewhere


class Received(NamedTuple):
    """One request as the endpoint got it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class LiveEndpoint(ThreadingHTTPServer):
    """A model that plays a double for whoever asks it over HTTP; it reports a dated name, and counts.

    Streams go out in pieces that are cut anywhere. `behaviours` are found by the first turn of their session.
    """

    daemon_threads = True

    def __init__(self, behaviours: Mapping[str, Mapping[str, Any]], tools: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.behaviours, self.tools = behaviours, tools
        self.received: list[Received] = []
        self.guard = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, one: Received) -> tuple[list[bytes], str]:
        with self.guard:
            self.received.append(one)
        api = api_of(one.target)
        if api is None:
            raise LookupError(one.target)
        request = loads_tolerant(one.body)[0]
        assert isinstance(request, dict)
        behaviour = next((each for text, each in self.behaviours.items() if text.encode() in one.body), None)
        body: Any = scripted_answer(api, request, behaviour, self.tools)[0]
        body["modelVersion" if api.name == "gemini" else "model"] = REPORTED
        counts = body[MODEL_APIS[api.name].usage_of]
        for field in MODEL_APIS[api.name].usage_fields:
            if field.member in counts:
                counts[field.member] = 15 if field.name == "total" else 10 if field.name == "input" else 5
        if api.streams(one.target, request):
            whole = b"".join(VOICES[api.name].stream(body)).replace(b'"scripted"', f'"{REPORTED}"'.encode())
            return [whole[at : at + 37] for at in range(0, len(whole), 37)], "text/event-stream; charset=utf-8"
        return [json.dumps(body, indent=1).encode()], "application/json"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LiveEndpoint

    def log_message(self, *_said: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            pieces, kind = self.server.answer(Received("POST", self.path, dict(self.headers.items()), body))
        except LookupError:
            pieces, kind = [b"{}"], "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


@contextmanager
def live_endpoint(behaviours: Mapping[str, Mapping[str, Any]], tools: tuple[str, ...]) -> Iterator[LiveEndpoint]:
    """Serve a double as a model."""
    with LiveEndpoint(behaviours, tools) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
