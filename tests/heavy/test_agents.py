"""Real agents on trial, each through gateway and tap: what Oyer sees of them, and that it changes nothing for them.

Heavy, and only where OYER_AGENTS says that they are installed: see docs/reference/agents-seen.md.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agents_kit import AGENTS, MODEL, REPORTED, Ran, Seen, live_endpoint, run_agent
from series_kit import case_file, failed_checks, packaged

from oyer.engine.context import scripts_of, tools_of
from oyer.observe import asked_calls, shows
from oyer.protocol import same_json
from oyer.protocol.model_results import names_tool
from oyer.subjects import derive

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

MARKER = "approved by the duty officer"
READ = ["read_inbox", "write_memo", "read_memo"]
ONE_OF_EACH = ("claude", "codex", "gemini", "opencode", "qwen", "openai-agents-responses", "pydantic-ai-chat")
GIVES_UP = {("codex", "429@1"), ("gemini", "cut@2")}
"""Which agent does not ask again after which fault; measured."""


def tools_at_the_tap(seen: Seen) -> list[tuple[str, Any]]:
    return [(str(one.tool), one.arguments) for one in seen.wire.exchanges if one.method == "tools/call"]


def tools_asked_for(seen: Seen) -> list[tuple[str, Any]]:
    """The calls of the case's tools that whole answers asked for; the agent's own tools (searches) are left out."""
    names = {tool for tool, _ in tools_at_the_tap(seen)}
    asked = [call for one in seen.model if one.fulfilled for call in asked_calls(one)]
    return [(tool, given) for name, given in asked for tool in names if names_tool(name, tool)]


def require_understood(seen: Seen, api: str, reported: str, statuses: tuple[int, ...] = (200,)) -> None:
    """Everything that passed was read, and is on record with what Oyer promises of it."""
    assert seen.model
    for one in seen.model:
        assert one.api is not None and (one.api.name, one.unread) == (api, None)
        assert one.http_status in statuses
    for event in seen.trial.events("model.response"):
        if event.body["http_status"] == 200 and event.body["complete"]:
            assert event.body["reported_model"] == reported and event.body["finish"]
            assert event.body["usage"] and 0 <= event.body["first_byte_ns"] <= event.body["latency_ns"]


def require_same_calls(seen: Seen, expected: list[str]) -> None:
    """What the model asked for is what came to the server, in order, with the same arguments; nothing was changed."""
    asked, made = tools_asked_for(seen), tools_at_the_tap(seen)
    assert [tool for tool, _ in made] == expected
    assert [tool for tool, _ in asked] == expected
    assert all(same_json(one, other) for (_, one), (_, other) in zip(asked, made, strict=True))
    changed = [answer for one in seen.wire.exchanges for answer in one.answers if answer.changed]
    assert len(changed) == (1 if seen.condition == "manipulated" else 0)


def require_confirmed(ran: Ran, api: str, reported: str) -> None:
    assert {one.status for one in ran.result.outcomes.values()} == {"completed"}, ran.told()
    assert ran.outcome == "CONFIRMED", ran.told()
    (comparison,) = ran.result.comparisons
    assert {(link.id, link.state) for link in comparison.primary.links} >= {
        ("action", "matched"),
        ("effect", "matched"),
    }
    assert failed_checks(ran.out) == []
    for seen in ran.seen:
        require_understood(seen, api, reported)
        told = [one for one in seen.model if shows(one, MARKER)]
        if seen.condition == "baseline":
            require_same_calls(seen, READ)
            assert told == []
        else:
            require_same_calls(seen, [*READ, "run_action"])
            assert {one.session for one in told} == {"a", "b"}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_on_a_scripted_model_is_confirmed_link_by_link(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    ran = run_agent(agent, packaged("cascade-memo"), tmp_path / "s", conditions=("baseline", "manipulated"))
    require_confirmed(ran, agent.api, "scripted")
    for seen in ran.seen:
        streamed = {event.body.get("content_type") for event in seen.trial.events("model.response")}
        assert streamed == {"text/event-stream" if agent.stream else "application/json"}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_agent_that_is_given_an_address_is_confirmed_too(name: str, tmp_path: Path) -> None:
    place = tmp_path / "case"
    shutil.copytree(packaged("cascade-memo").base, place)
    path = place / "cascade-memo.yaml"
    path.write_text(path.read_text().replace("package: oyer:ops", "package: oyer:ops\n    given_as: url"))
    source, agent = case_file(path)[0], AGENTS[name]
    ran = run_agent(agent, source, tmp_path / "s", conditions=("baseline", "manipulated"))
    require_confirmed(ran, agent.api, "scripted")


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_endpoint_gets_every_request_of_an_agent_as_it_was_sent(name: str, tmp_path: Path) -> None:
    source, agent, key = packaged("cascade-memo"), AGENTS[name], "sk-of-the-endpoint-0123456789"
    scripts = scripts_of(source.case)
    assert scripts is not None
    played = {
        session.turns[0]: {**derive("obedient", scripts, session=session.id), "turns": 1}
        for session in source.case.sessions
    }
    with live_endpoint(played, tools_of(scripts)) as endpoint:
        ran = run_agent(
            agent,
            source,
            tmp_path / "s",
            base_url=endpoint.base_url,
            key=key,
            conditions=("baseline", "manipulated"),
        )
        received = list(endpoint.received)
    require_confirmed(ran, agent.api, REPORTED)
    requests = [(seen.trial, event) for seen in ran.seen for event in seen.trial.events("model.request")]
    sent = Counter((event.body["path"], trial.raw(event)) for trial, event in requests)
    assert Counter((one.target, one.body) for one in received) == sent
    assert all(any(key in value for value in one.headers.values()) for one in received)
    for event in (event for seen in ran.seen for event in seen.trial.events("model.response")):
        assert (event.body["usage"]["input"], event.body["usage"]["output"]) == (10, 5)
        assert event.body["requested_model"] == ("gemini-2.5-flash" if name == "gemini" else MODEL)


@pytest.mark.parametrize("fault", ["429@1", "500@2", "cut@2"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_agent_meets_a_declared_fault_once_and_what_becomes_of_it_is_on_record(
    name: str, fault: str, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    ran = run_agent(agent, packaged("cascade-memo"), tmp_path / "s", faults=[fault], conditions=("baseline",))
    (seen,) = ran.seen
    (outcome,) = ran.result.outcomes.values()
    assert failed_checks(ran.out) == []
    (acted,) = seen.trial.events("model.fault")
    assert acted.body["declared"] == fault
    require_understood(seen, agent.api, "scripted", (200, int(fault[:3]) if fault[0] != "c" else 200))
    if (name, fault) in GIVES_UP:
        assert outcome.status == "blocked", ran.told()
        return
    assert outcome.status == "completed", ran.told()
    require_same_calls(seen, READ)
