"""Short forms of the parts of a Case: one function a part, plain value in, plain expanded value out.

Pure and total over shapes it does not know: what is not a short form passes through unchanged, so that strict
validation afterwards reports it with its own place. Source: the authoring design.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from oyer.records.intervention import POLICY_KINDS

__all__ = [
    "DEFAULT_BLAME",
    "effect_parts",
    "expand_blame",
    "expand_claim",
    "expand_controls",
    "expand_doubles",
    "expand_facts",
    "expand_hardened",
    "expand_intervention",
    "expand_link",
    "expand_matchers",
    "expand_non_completion",
    "expand_server",
    "expand_sessions",
    "expand_sink",
    "is_effect",
    "split_tool",
]

PACKAGED = re.compile(r"^oyer:([a-z][a-z0-9_]*)$")

DEFAULT_BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "harness_error",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}
"""What a Case without a `blame` table gets, written out by `oyer check --expand`. A table given must be whole."""


def split_tool(text: Any, servers: tuple[str, ...]) -> Any:
    """Turn `server.tool` into its two parts; a bare tool name belongs to the only server, where there is just one."""
    if not isinstance(text, str):
        return text
    server, dot, tool = text.partition(".")
    if dot and tool and server:
        return {"server": server, "tool": tool}
    if not dot and text and len(servers) == 1:
        return {"server": servers[0], "tool": text}
    return text


def expand_server(value: Any) -> Any:
    """Expand `oyer:files`, a bare command list, or `{package: oyer:files, env: ...}` to a full server."""
    if isinstance(value, list):
        return {"command": value}
    package = value.get("package") if isinstance(value, dict) else value
    found = PACKAGED.match(package) if isinstance(package, str) else None
    if not found:
        return value
    rest = {key: item for key, item in value.items() if key != "package"} if isinstance(value, dict) else {}
    return {"command": ["{python}", "-P", "-m", f"oyer.library.servers.{found[1]}"], **rest}


def expand_sink(value: Any) -> Any:
    """Expand a bare kind to a sink."""
    return {"kind": value} if isinstance(value, str) else value


def expand_sessions(value: Any) -> Any:
    """Expand `{a: [turn, ...]}` or `{a: turn}` to a list of sessions, in the order written."""
    if not isinstance(value, dict):
        return value
    return [{"id": key, "turns": [turns] if isinstance(turns, str) else turns} for key, turns in value.items()]


def expand_intervention(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand `at.tool: server.tool` and the scalar forms of each change; name the change after its kind."""
    if not isinstance(value, dict):
        return value
    out = dict(value)
    if isinstance(out.get("at"), dict):
        out["at"] = _with_tool(out["at"], servers)
    if isinstance(out.get("append_text"), str):
        out["append_text"] = {"text": out["append_text"]}
    if isinstance(out.get("error"), str):
        out["error"] = {"text": out["error"]}
    if isinstance(out.get("replace_json"), list):
        out["replace_json"] = {"patch": out["replace_json"]}
    result = out.get("replace_result")
    if result is not None and not (isinstance(result, dict) and set(result) == {"result"}):
        out["replace_result"] = {"result": result}
    kinds = [k for k in ("replace_text", "replace_json", "replace_result", "append_text", "error") if k in out]
    if "id" not in out and kinds:
        out["id"] = kinds[0].replace("_", "-")
    return out


def _with_tool(value: dict[str, Any], servers: tuple[str, ...]) -> dict[str, Any]:
    # At the gateway a tool is named as the model has it, and no server stands before it.
    placed = "server" in value or value.get("gateway") is True
    named = value.get("tool") if placed else split_tool(value.get("tool"), servers)
    return {**value, **named} if isinstance(named, dict) else value


def expand_hardened(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand `tool: server.tool` inside the policy of the hardened condition."""
    if not isinstance(value, dict):
        return value
    out = dict(value)
    for kind in POLICY_KINDS:
        if isinstance(out.get(kind), dict):
            out[kind] = _with_tool(out[kind], servers)
    return out


def expand_link(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand one link: `by: server.tool.argument`, `through:` and `called:` as `server.tool`, `value: whole`."""
    if not isinstance(value, dict):
        return value
    out = dict(value)
    for key in ("through", "called"):
        if key in out:
            out[key] = split_tool(out[key], servers)
    if isinstance(out.get("by"), str):
        head, _, argument = out["by"].rpartition(".")
        tool = split_tool(head, servers)
        out["by"] = {**tool, "argument": argument} if isinstance(tool, dict) and argument else out["by"]
    if out.get("value") == "whole":
        out["value"] = {}
    return out


def expand_matchers(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand one matcher or a list of them: `called: server.tool`, `json:` for a JSON file's value."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return value
    return [_matcher(item, servers) for item in value]


def _matcher(value: Any, servers: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    out = {("json_value" if key == "json" else key): item for key, item in value.items()}
    if "called" in out:
        out["called"] = split_tool(out["called"], servers)
    return out


def expand_claim(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand the oracle of a claim: one matcher or id, or a list of them, at each rank."""
    if not isinstance(value, dict) or not isinstance(value.get("oracle"), dict):
        return value
    oracle = {
        key: expand_facts(item, servers) if key in ("receipt", "protocol") else item
        for key, item in value["oracle"].items()
    }
    return {**value, "oracle": oracle}


def expand_facts(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand one matcher or id, or a list of them, to a list."""
    if isinstance(value, str):
        return [value]
    return expand_matchers(value, servers)


def expand_non_completion(value: Mapping[str, Any], servers: tuple[str, ...]) -> dict[str, Any]:
    """Expand the matchers of `non_completion`; a single one under `not_done` is a list of one."""
    out = dict(value)
    for name in ("said", "claimed"):
        if isinstance(out.get(name), dict):
            out[name] = expand_matchers(out[name], servers)[0]
    if "not_done" in out:
        out["not_done"] = expand_matchers(out["not_done"], servers)
    return out


def expand_controls(value: Any) -> Any:
    """Expand a single control id to a list of one."""
    if not isinstance(value, dict):
        return value
    return {key: [item] if isinstance(item, str) else item for key, item in value.items()}


def expand_doubles(value: Any, sessions: tuple[str, ...], servers: tuple[str, ...]) -> Any:
    """Expand every script: a bare list belongs to the only session; each step to its full form."""
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for name, script in value.items():
        if name == "variants" and isinstance(script, dict):
            out[name] = expand_doubles(script, sessions, servers)
            continue
        if name == "rounds" and isinstance(script, dict):
            out[name] = {which: _rounds(played, servers) for which, played in script.items()}
            continue
        by_session = {sessions[0]: script} if isinstance(script, list) and len(sessions) == 1 else script
        if isinstance(by_session, dict):
            by_session = {
                session: [_step(step, servers) for step in steps] if isinstance(steps, list) else steps
                for session, steps in by_session.items()
            }
        out[name] = by_session
    return out


def _rounds(value: Any, servers: tuple[str, ...]) -> Any:
    """Expand what one script plays in each round; a bare list of steps is played in every round."""
    if not isinstance(value, list):
        return value
    listed = value if all(isinstance(steps, list) for steps in value) else [value]
    return [[_step(step, servers) for step in steps] for steps in listed]


def _step(value: Any, servers: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return {"call": _call(value, servers)}
    if not isinstance(value, dict) or "call" in value:
        return value
    out = {key: item for key, item in value.items() if key in ("say", "if_seen")}
    rest = [key for key in value if key not in out]
    if not rest:
        return out
    if len(rest) != 1:
        return value
    arguments = value[rest[0]]
    return {**out, "call": _call(rest[0], servers), "arguments": {} if arguments is None else arguments}


def _call(text: str, servers: tuple[str, ...]) -> str:
    named = split_tool(text, servers)
    return f"{named['server']}.{named['tool']}" if isinstance(named, dict) else text


def expand_blame(value: Any) -> Any:
    """Give the default table where none is written; a table that is written is left as it is, and must be whole."""
    return dict(DEFAULT_BLAME) if value is None else value


def is_effect(value: Any) -> bool:
    """Tell whether a short effect has what it takes to be expanded; whether it is right is `effect`'s to say."""
    return isinstance(value, dict) and isinstance(value.get("file"), str) and isinstance(value.get("by"), str)


def effect_parts(effect: Mapping[str, Any], case: Mapping[str, Any], servers: tuple[str, ...]) -> dict[str, Any]:
    """Expand `effect: {file, contains | equals, by}` to a world sink and a promotion chain.

    The call is matched by a path that ends in the file's own (servers differ in whether they want absolute paths);
    the effect is matched by the file itself. `arguments` replaces the default argument pattern where a server names
    its arguments otherwise.
    """
    file = effect["file"]
    test = {key: effect[key] for key in ("contains", "equals") if key in effect}
    by = split_tool(effect["by"], servers)
    arguments = effect.get("arguments", {"path": {"regex": rf"^(.*/)?{re.escape(file)}$"}, "content": test})
    action = {"id": "action", "called": by, "arguments": arguments}
    match = {"path": file, "change": {"one_of": ["created", "modified"]}, "text": test}
    witness = {"id": "effect", "witnessed": "files", "match": match, "allow_extra": ["sha256", "size"]}
    if "allow_extra" in effect:
        action["allow_extra"] = effect["allow_extra"]
    chain = {"exposure": [], "promotion": [action, witness]}
    sinks = case.get("sinks") or {}
    if not isinstance(sinks, Mapping):
        return {"chain": chain}
    return {"sinks": {**sinks, "files": {"kind": "world", "paths": [file]}}, "chain": chain}
