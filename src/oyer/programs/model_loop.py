"""The reference tool loop as a state machine: a conversation, what to do next, what came back.

Owns the conversation of one session and its rules. Must never do I/O, retry, or abort on what a model says: an
unknown tool, arguments that are no JSON object or an empty answer are noted, answered to the model where there is
something to answer, and the loop goes on until the model answers without a tool call or a declared stop is reached.
Only an endpoint that gave no well-formed answer ends a turn otherwise (`Failed`).

The caller asks `next()` what to do and reports with `answered`, `unreachable` or `used`::

    Ask(body)                      send this request, then `answered(status, body, complete)` or `unreachable(why)`
    Use(server, tool, arguments)   call this tool, then `used(text)`
    Done(text, stopped_by)         the turn has ended

It speaks the API that it is given (`oyer.protocol.asking`), streamed where the parameters say `stream: true`.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from oyer.protocol import CallResult, Defect, JsonValue, Manner, Said, ToolCall, dumps, hear

__all__ = ["Ask", "Done", "Failed", "ModelLoop", "Use"]

_SHOWN: Final = 200
_WRONG: Final = {
    "not_json": "not JSON",
    "not_an_object": "no JSON object",
    "duplicate_key": "ambiguous: a key occurs twice",
    "not_utf8": "not UTF-8",
}

Json = dict[str, JsonValue]


class Ask(NamedTuple):
    """Send this request body to the endpoint."""

    body: bytes


class Use(NamedTuple):
    """Call this tool of this server."""

    server: str
    tool: str
    arguments: Json


class Done(NamedTuple):
    """The model answered, or the declared stop named here was reached (`model_calls`, `tool_calls`)."""

    text: str
    stopped_by: str | None = None


class Failed(NamedTuple):
    """The endpoint gave no well-formed answer: a dependency of the subject is not available."""

    message: str


class ModelLoop:
    """One session's conversation. The counts of calls are of the current turn.

    `notes` collects what is worth recording; the caller takes and clears it.
    """

    def __init__(
        self,
        manner: Manner,
        *,
        model: str,
        parameters: Json,
        functions: dict[str, tuple[str, str]],
        tools: list[Json],
        system: str | None = None,
    ) -> None:
        self.notes: list[Json] = []
        self.model_calls = 0
        self.tool_calls = 0
        self._manner = manner
        self._model = model
        self._parameters = parameters
        self._streams = parameters.get("stream") is True
        self._tools = tools
        self._system = system
        self._items: list[Json] = []
        self._results: list[CallResult] = []
        self._functions = functions
        self._max_model_calls: int | None = None
        self._max_tool_calls: int | None = None
        self._waiting: deque[tuple[ToolCall, Use | str]] = deque()
        self._text = ""
        self._over: Done | Failed | None = None
        self._invented = 0

    def begin_turn(self, text: str, *, model_calls: int | None = None, tool_calls: int | None = None) -> None:
        """Add what the user says. The turn stops after so many calls; None: no such stop."""
        self.model_calls = self.tool_calls = 0
        self._max_model_calls, self._max_tool_calls = model_calls, tool_calls
        # Calls that a stop left unanswered must not stay open: an endpoint refuses such a conversation.
        while self._waiting:
            call, planned = self._waiting.popleft()
            self._answer(call, planned if isinstance(planned, str) else "Not carried out.")
        self._show_results()
        self._items.append(self._manner.user(text))
        self._text, self._over = "", None

    def next(self) -> Ask | Use | Done | Failed:
        """Say what to do now; the same again until it is reported."""
        if self._over is not None:
            return self._over
        while self._waiting:
            call, planned = self._waiting[0]
            if isinstance(planned, Use):
                if self._max_tool_calls is not None and self.tool_calls >= self._max_tool_calls:
                    return self._stop("tool_calls")
                return planned
            self._waiting.popleft()
            self._answer(call, planned)
        self._show_results()
        if self._max_model_calls is not None and self.model_calls >= self._max_model_calls:
            return self._stop("model_calls")
        body = self._manner.request(self._model, self._system, self._items, self._tools, self._parameters)
        return Ask(dumps(body))

    def answered(self, status: int, body: bytes, complete: bool = True) -> None:
        """Take the endpoint's answer; `complete` is False where it broke off."""
        self.model_calls += 1
        if not complete:
            self._fail("the answer broke off")
        elif not 200 <= status < 300:
            self._fail(f"the endpoint answered {status}: {_shown(body)}")
        else:
            response = hear(self._manner, body, stream=self._streams, invent=self._invent)
            if isinstance(response, Defect):
                self._fail(f"{response.why}: {_shown(body)}")
            else:
                self._follow(response)

    def unreachable(self, why: str) -> None:
        """Take the news that no answer came."""
        self.model_calls += 1
        self._fail(why)

    def used(self, text: str) -> None:
        """Take the text of the tool's answer."""
        call, _ = self._waiting.popleft()
        self.tool_calls += 1
        self._answer(call, text)

    def _stop(self, limit: str) -> Done:
        self._over = Done(self._text, limit)
        return self._over

    def _fail(self, why: str) -> None:
        self._over = Failed(f"model endpoint: {why}")

    def _follow(self, response: Said) -> None:
        if not response.ended_itself:
            self._note("finish_reason", response.finish, "the model did not end its answer by itself")
        self._text = response.text or self._text
        self._items += response.echo
        if response.calls:
            self._waiting.extend((call, self._plan(call)) for call in response.calls)
        else:
            self._over = Done(response.text)

    def _invent(self) -> str:
        """Return an id for a call to which the model gave none."""
        self._invented += 1
        return f"call_{self._invented}"

    def _plan(self, call: ToolCall) -> Use | str:
        """Return the call to make, or what to tell the model about one that cannot be made."""
        if not call.name:
            return self._note("odd_tool_call", call.arguments_raw, "this call names no tool")
        if call.name not in self._functions:
            return self._note("unknown_tool", call.name, f"there is no tool {call.name[:_SHOWN]!r}")
        # Many endpoints write nothing at all for a tool without arguments.
        arguments = call.arguments if call.arguments_raw.strip() else {}
        if arguments is None:
            wrong = _WRONG.get(call.defect or "", "not usable")
            return self._note("bad_arguments", call.arguments_raw, f"the arguments of {call.name} are {wrong}")
        return Use(*self._functions[call.name], arguments)

    def _note(self, kind: str, what: JsonValue, why: str) -> str:
        self.notes.append({kind: _shown(dumps(what)), "why": why})
        return f"Error: {why}."

    def _answer(self, call: ToolCall, text: str) -> None:
        self._results.append(CallResult(call.id or "", call.name, text))

    def _show_results(self) -> None:
        """Put the results of one answer into the conversation, together: some APIs want them in one message."""
        self._items += self._manner.results(self._results)
        self._results.clear()


def _shown(body: bytes) -> str:
    more = f" [... {len(body) - _SHOWN} bytes cut ...]" if len(body) > _SHOWN else ""
    return repr(body[:_SHOWN].decode("utf-8", "replace")) + more
