"""Which model API a path is of, and what all of them share. Must never guess: what is in no list is not understood."""

from __future__ import annotations

from typing import Final

from oyer.protocol.chat import CHAT
from oyer.protocol.model_api import ModelApi
from oyer.protocol.model_changes import ResultCounter, ShownResult, change_results, names_tool
from oyer.protocol.model_gemini import GEMINI, GEMINI_PATH
from oyer.protocol.model_messages import MESSAGES
from oyer.protocol.model_responses import RESPONSES

__all__ = ["MODEL_APIS", "ResultCounter", "ShownResult", "api_of", "change_results", "names_tool"]

MODEL_APIS: Final = {api.name: api for api in (CHAT, RESPONSES, MESSAGES, GEMINI)}

_PATHS: Final = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": MESSAGES}


def api_of(path: str) -> ModelApi | None:
    """Return the API of a request's path as recorded (`/v1/messages?beta=true`), None where it is of none."""
    plain = path.partition("?")[0]
    return _PATHS.get(plain) or (GEMINI if GEMINI_PATH.match(plain) else None)
