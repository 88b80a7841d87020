"""What the gateway's record says: which model answer asked for a call, and what its request held."""

from __future__ import annotations

from typing import Any

from pair import Pair
from reading import Arm, Call, dumped


def order_of_action(pair: Pair, arm: Arm, call: Call, exposed_at: float) -> str | None:
    """What is wrong with the order of an action: the model's answer that asks for it decides where there is one."""
    if call.at < exposed_at:
        return "ORDER_VIOLATED"
    if arm.model is None or pair.marker is None:
        return None
    asking = asking_exchange(arm, call)
    if asking is None:
        asking = asked_otherwise(arm, call)
    if asking is None:
        return "ORDER_UNKNOWN"
    return None if shows(asking) else "ORDER_VIOLATED"


def asking_exchange(arm: Arm, call: Call) -> dict[str, Any] | None:
    """The model response that asks for a call: the latest one of its session before it that asks for exactly that."""
    asked = [x for x, args in asked_for(arm, call) if dumped(args) == dumped(call.args)]
    return max(asked, key=lambda x: x["response_at"]) if asked else None


def asked_for(arm: Arm, call: Call) -> list[tuple[dict[str, Any], Any]]:
    """Every whole response of the session before a call that asks for its tool, with the arguments asked for."""
    place, found = arm.sessions[call.session], []
    for exchange, tool, args in arm.asked():
        before = exchange["session"] == place and exchange["response_at"] <= call.at
        if before and tool == call.tool and exchange.get("complete", True):
            found.append((exchange, args))
    return found


def asked_otherwise(arm: Arm, call: Call) -> dict[str, Any] | None:
    """Two witnesses of one call that disagree: what was asked for is no call of the tool on the wire."""
    called = {dumped(other.args) for other in arm.to(call.tool)}
    asked = asked_for(arm, call)
    if any(dumped(args) == dumped(call.args) for _, args in asked):
        return None
    return next((exchange for exchange, args in reversed(asked) if dumped(args) not in called), None)


def shows(exchange: dict[str, Any]) -> bool:
    """Whether the request held the marker, echoed reasoning apart."""
    return bool(exchange["shows_marker"]) and exchange.get("shows_in", "content") != "reasoning"
