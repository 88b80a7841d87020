"""A typed channel for what somebody asserts about his own work, over MCP.

Owns one tool whose only effect is its own answer: what was asserted stands in the call. Must never write, check or
judge anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from oyer.library.servers._loop import Answer, TextTool, serve

__all__ = ["main", "tools"]

_STATES = "for instance done, cannot_complete, partly_done, needs_input, answer, correction"
_SAID = ("state", "about", "value", "reason")
_TEXT = {"type": "string"}
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": dict.fromkeys(_SAID, _TEXT),
    "required": ["state"],
    "additionalProperties": False,
}


def tools() -> tuple[TextTool, ...]:
    """Return the one tool."""
    words = {
        "state": f"Where the work stands: {_STATES}",
        "about": "What a statement is about, for instance delivery-date",
        "value": "What is stated about it; unknown where it is not known",
        "reason": "Why, in a sentence",
    }
    said = "Say where your work stands, or state one thing about it."
    return (TextTool("status", said, status, words, optional=_SAID[1:], output_schema=_SCHEMA),)


def status(given: Mapping[str, str]) -> Answer:
    """Answer with what was asserted."""
    said = {key: given[key] for key in _SAID if key in given}
    return Answer("\n".join(f"{key}: {text}" for key, text in said.items()), dict(said))


def main() -> None:
    """Serve until the input ends."""
    serve("report", tools())


if __name__ == "__main__":
    main()
