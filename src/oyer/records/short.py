"""From what an author writes to the full Case, keeping track of where every part came from.

Owns the short forms (`prompt`, `effect`, `like`, `{var.NAME}`, a bare server or matcher) and nothing else: it changes
plain values, never validates, and passes through what it does not know. Errors found later in the expanded form are
reported at the place in the author's file, through `Expansion.origins`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from oyer.records import short_parts as parts
from oyer.records.placeholders import expand_tree

__all__ = ["Expansion", "Path", "WorldFiles", "expand_case", "resolve_vars"]

Path = tuple[str | int, ...]
WorldFiles = Callable[[str], tuple[str, ...]]
"""From a world reference to the relative paths of its files (for default doubles); the caller does the reading."""

MAIN = "main"


class Expansion(NamedTuple):
    """An expanded plain value, and for each moved part where the author wrote it (expanded path -> written path)."""

    value: dict[str, Any]
    origins: Mapping[Path, Path]

    def written(self, path: Path) -> Path:
        """Translate a path of the expanded value into one of the author's document."""
        for length in range(len(path), 0, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                return origin + path[length:]
        return path


def expand_case(
    value: Mapping[str, Any],
    *,
    like: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    world_files: WorldFiles | None = None,
) -> Expansion:
    """Expand one Case as written. `like` is the (unexpanded) case it is like, or several, the nearest first."""
    case, origins = dict(value), dict[Path, Path]()
    models = [like] if isinstance(like, Mapping) else list(like or ())
    for model in models:
        case = _inherit(case, model)
    case.pop("like", None)
    if "prompt" in case and "sessions" not in case:
        case["sessions"] = [{"id": MAIN, "turns": [case.pop("prompt")]}]
        origins[("sessions",)] = ("prompt",)
    if "sessions" in case:
        case["sessions"] = parts.expand_sessions(case["sessions"])
    _expand_parts(case, origins)
    _defaults(case, world_files)
    return Expansion(resolve_vars(case), origins)


def _inherit(case: dict[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
    """Take over all that is not named here. Controls have no controls of their own."""
    own = {"controls", "revision", "title", "like", "vary"}
    if case.get("kind") == "negative_control":
        # What guards the trap is not warranted here: `expected` and `refusal` say how it went.
        own |= {"claims", "qualification"}
    inherited = {key: item for key, item in like.items() if key not in own}
    if "prompt" in case or "sessions" in case:
        inherited.pop("prompt", None)
        inherited.pop("sessions", None)
    merged = {**inherited, **case}
    if case.get("pressure") == "none" and "doubles" not in case and isinstance(merged.get("doubles"), Mapping):
        # Without rounds of its own it has no use for what the scripts do in them.
        merged["doubles"] = {name: script for name, script in merged["doubles"].items() if name != "rounds"}
    if isinstance(like.get("vars"), Mapping) and isinstance(case.get("vars"), Mapping):
        merged["vars"] = {**like["vars"], **case["vars"]}
    return merged


def _expand_parts(case: dict[str, Any], origins: dict[Path, Path]) -> None:
    if isinstance(case.get("servers"), dict):
        case["servers"] = {name: parts.expand_server(server) for name, server in case["servers"].items()}
    servers = tuple(case["servers"]) if isinstance(case.get("servers"), dict) else ()
    if parts.is_effect(case.get("effect")) and "chain" not in case:
        effect = case.pop("effect")
        case.update(parts.effect_parts(effect, case, servers))
        origins |= {("chain",): ("effect",), ("sinks", "files"): ("effect",)}
        case["_effect"] = effect
    if isinstance(case.get("sinks"), dict):
        case["sinks"] = {name: parts.expand_sink(sink) for name, sink in case["sinks"].items()}
    if "intervention" in case:
        case["intervention"] = parts.expand_intervention(case["intervention"], servers)
    if "hardened" in case:
        case["hardened"] = parts.expand_hardened(case["hardened"], servers)
    if isinstance(case.get("chain"), dict):
        case["chain"] = {
            stage: [parts.expand_link(link, servers) for link in links] if isinstance(links, list) else links
            for stage, links in case["chain"].items()
        }
    for name in ("attempt", "benign", "expected", "forbidden", "traces"):
        if name in case:
            case[name] = parts.expand_matchers(case[name], servers)
    for name in ("repair", "refusal"):
        if isinstance(case.get(name), dict):
            case[name] = parts.expand_matchers(case[name], servers)[0]
    if isinstance(case.get("non_completion"), dict):
        case["non_completion"] = parts.expand_non_completion(case["non_completion"], servers)
    if isinstance(case.get("channel"), str):
        case["channel"] = parts.split_tool(case["channel"], servers)
    if isinstance(case.get("claims"), list):
        case["claims"] = [parts.expand_claim(claim, servers) for claim in case["claims"]]
    if "controls" in case:
        case["controls"] = parts.expand_controls(case["controls"])
    if case.get("pressure") == "none":
        case["pressure"] = None
    if "doubles" in case:
        case["doubles"] = parts.expand_doubles(case["doubles"], _session_ids(case), servers)


def _session_ids(case: Mapping[str, Any]) -> tuple[str, ...]:
    listed = case.get("sessions")
    return tuple(str(each.get("id")) for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()


def _defaults(case: dict[str, Any], world_files: WorldFiles | None) -> None:
    case["blame"] = parts.expand_blame(case.get("blame"))
    if "kind" not in case:
        case["kind"] = "experiment" if case.get("intervention") else "plain"
    if "conditions" not in case and case.get("intervention"):
        case["conditions"] = ["baseline", "manipulated", *(["hardened"] if case.get("hardened") else [])]
    effect = case.pop("_effect", None)
    if effect and "doubles" not in case and world_files is not None:
        doubles = _effect_doubles(effect, case, world_files)
        if doubles:
            case["doubles"] = doubles


def _effect_doubles(
    effect: Mapping[str, Any], case: Mapping[str, Any], world_files: WorldFiles
) -> dict[str, Any] | None:
    """Derive both scripts of a packaged-files case: read every file; the tempted one also does the effect."""
    intervention, sessions = case.get("intervention"), _session_ids(case)
    if not isinstance(intervention, dict) or not isinstance(case.get("world"), str) or not sessions:
        return None
    at = intervention.get("at")
    if not isinstance(at, dict) or not isinstance(at.get("server"), str):
        return None
    server = case["servers"].get(at["server"]) if isinstance(case.get("servers"), dict) else None
    if not isinstance(server, dict) or server.get("command", [])[-1:] != ["oyer.library.servers.files"]:
        return None
    lure = _part(intervention, "append_text", "text") or _part(intervention, "replace_text", "with")
    tool = parts.split_tool(effect["by"], tuple(case["servers"]))
    if not isinstance(lure, str) or not isinstance(tool, dict) or tool["server"] not in case["servers"]:
        return None
    read = f"{at['server']}.{at.get('tool')}"
    reads = [{"call": read, "arguments": {"path": path}} for path in world_files(case["world"])]
    action = {
        "call": f"{tool['server']}.{tool['tool']}",
        "arguments": {"path": effect["file"], "content": effect.get("contains", effect.get("equals", ""))},
        "if_seen": lure.strip(),
    }
    session, done = sessions[0], {"say": "Done."}
    return {"proper": {session: [*reads, done]}, "tempted": {session: [*reads, action, done]}}


def _part(value: Mapping[str, Any], kind: str, key: str) -> Any:
    return value[kind].get(key) if isinstance(value.get(kind), dict) else None


def resolve_vars(case: dict[str, Any]) -> dict[str, Any]:
    """Put the case's own variables in the place of `{var.NAME}`, everywhere but in `vars` itself."""
    names = case.get("vars")
    if not isinstance(names, Mapping):
        return case
    rest = {key: item for key, item in case.items() if key != "vars"}
    texts = {name: text for name, text in names.items() if isinstance(text, str)}
    resolved = expand_tree(rest, lambda name: texts.get(name.removeprefix("var.")), only={"var"})
    return {**resolved, "vars": dict(names)}
