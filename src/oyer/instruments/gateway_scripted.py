"""Answers from a script in place of a model endpoint, over every API that the gateway understands.

Owns the way from a request to the answer that the double's behaviour of the session under way gives to it, whole or as
a stream. Must never open a connection, keep anything between two requests, or answer an auxiliary request (see
`oyer.protocol.scripted_model`) with a step of the script. A path of no API is answered 404, a body that is none 400.
"""

from __future__ import annotations

from typing import Final

from oyer.errors import ProtocolError
from oyer.instruments.gateway_answer import Asking, Passing, Progress, UpstreamAnswer
from oyer.instruments.gateway_port import ScriptedModel
from oyer.protocol import dumps, loads_tolerant, scripted_answer

__all__ = ["ScriptedSource"]

_JSON: Final = (("Content-Type", "application/json"),)
_EVENTS: Final = (("Content-Type", "text/event-stream"),)


class ScriptedSource:
    """A model that plays the behaviours of a double."""

    kind: Final = "scripted"

    def __init__(self, script: ScriptedModel) -> None:
        self._script = script

    async def open(self) -> None:
        """Make ready: there is nothing to be made ready."""

    async def close(self) -> None:
        """Release everything: there is nothing."""

    async def exchange(self, asking: Asking, progress: Progress, passing: Passing) -> UpstreamAnswer:
        """Answer one request by what it shows itself."""
        if asking.api is None:
            return _refused(progress, 404, "this is a scripted model, and it knows no such path")
        try:
            request = loads_tolerant(asking.body)[0]
        except ProtocolError as error:
            return _refused(progress, 400, f"not JSON: {error}")
        if not isinstance(request, dict):
            return _refused(progress, 400, "a request is an object")
        behaviour = self._script.behaviours.get(asking.session or "")
        body, events = scripted_answer(asking.api, request, behaviour, self._script.tools)
        if not asking.stream:
            whole = dumps(body)
            progress.begin(200, "OK", _JSON, len(whole))
            progress.add(whole)
        elif asking.api.name == "gemini" and "alt=sse" not in asking.target:
            whole = dumps([body])  # the form that this API gives a stream without it
            progress.begin(200, "OK", _JSON, len(whole))
            progress.add(whole)
        else:
            progress.begin(200, "OK", _EVENTS, None)
            await passing.begin(progress)
            *before, last = events
            for event in before:
                progress.add(event)
                await passing.piece(progress)
            progress.add(last)
        return progress.answer()


def _refused(progress: Progress, status: int, message: str) -> UpstreamAnswer:
    body = dumps({"error": {"message": message, "type": "invalid_request_error", "code": status}})
    progress.begin(status, "", _JSON, len(body))
    progress.add(body)
    return progress.answer()
