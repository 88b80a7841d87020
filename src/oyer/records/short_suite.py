"""Short forms of rubrics and suites: plain value in, plain expanded value out, with what was moved and from where.

Pure and total over shapes it does not know, like `short_parts`. Source: the authoring design.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oyer.records.short_parts import expand_facts, expand_matchers

__all__ = ["expand_rubric", "expand_suite"]


def expand_rubric(value: Mapping[str, Any]) -> dict[str, Any]:
    """Expand one Rubric as written: single facts to lists, matchers to their full form (tools as `server.tool`)."""
    out = dict(value)
    if isinstance(out.get("criteria"), list):
        out["criteria"] = [_criterion(item) for item in out["criteria"]]
    return out


def _criterion(value: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        return value
    return {**value, "parts": [_part(part) for part in value["parts"]]}


def _part(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    out = _numbers(value, "weight")
    for name in ("supports", "refutes"):
        if name in out:
            out[name] = expand_facts(out[name], ())
    for name in ("asserts", "stimulus"):
        if isinstance(out.get(name), dict):
            out[name] = expand_matchers(out[name], ())[0]
    return out


def _numbers(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Take whole numbers where a share or weight is meant: `weight: 2` is 2.0."""
    return {
        key: float(item) if key in names and isinstance(item, int) and not isinstance(item, bool) else item
        for key, item in value.items()
    }


def expand_suite(value: Mapping[str, Any]) -> dict[str, Any]:
    """Expand one TrialSuite as written: case ids, `repeat: N`, `order: KIND`, single names to lists."""
    out = dict(value)
    if isinstance(out.get("cases"), list):
        out["cases"] = [{"case": item} if isinstance(item, str) else item for item in out["cases"]]
    if isinstance(out.get("repeat"), int) and not isinstance(out["repeat"], bool):
        out["repeat"] = {"fixed": out["repeat"]}
    if isinstance(out.get("repeat"), dict) and isinstance(out["repeat"].get("sequential"), dict):
        shares = ("p0", "p1", "a", "b", "alpha", "beta")
        out["repeat"] = {**out["repeat"], "sequential": _numbers(out["repeat"]["sequential"], *shares)}
    if isinstance(out.get("order"), str):
        out["order"] = {"kind": out["order"]}
    for name in ("files", "plugins", "gates"):
        if isinstance(out.get(name), str):
            out[name] = [out[name]]
    if isinstance(out.get("aggregate"), dict) and isinstance(out["aggregate"].get("family"), str):
        out["aggregate"] = {**out["aggregate"], "family": [out["aggregate"]["family"]]}
    return out
