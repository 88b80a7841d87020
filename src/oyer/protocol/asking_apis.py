"""By the name of an API, how it is asked. Each is loaded only when it is asked for: most agents speak one."""

from __future__ import annotations

from typing import Final

from oyer.protocol.asking import Manner

__all__ = ["API_NAMES", "manner_of"]

API_NAMES: Final = ("chat", "responses", "messages", "gemini")
"""Every API, in the order of `MODEL_APIS`."""


def manner_of(name: str) -> Manner:
    """Return how an API of `API_NAMES` is asked. Raises: KeyError for another name."""
    match name:
        case "chat":
            from oyer.protocol.asking_chat import ASK_CHAT  # noqa: PLC0415 - loaded when asked for

            return ASK_CHAT
        case "responses":
            from oyer.protocol.asking_responses import ASK_RESPONSES  # noqa: PLC0415 - loaded when asked for

            return ASK_RESPONSES
        case "messages":
            from oyer.protocol.asking_messages import ASK_MESSAGES  # noqa: PLC0415 - loaded when asked for

            return ASK_MESSAGES
        case "gemini":
            from oyer.protocol.asking_gemini import ASK_GEMINI  # noqa: PLC0415 - loaded when asked for

            return ASK_GEMINI
    raise KeyError(name)
