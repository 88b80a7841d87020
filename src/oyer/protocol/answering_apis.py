"""By the name of an API, how a scripted model answers over it."""

from __future__ import annotations

from typing import Final

from oyer.protocol.answering_chat import ANSWER_CHAT
from oyer.protocol.answering_gemini import ANSWER_GEMINI
from oyer.protocol.answering_messages import ANSWER_MESSAGES
from oyer.protocol.answering_responses import ANSWER_RESPONSES

__all__ = ["VOICES"]

VOICES: Final = {voice.api.name: voice for voice in (ANSWER_CHAT, ANSWER_RESPONSES, ANSWER_MESSAGES, ANSWER_GEMINI)}
"""`chat`, `responses`, `messages`, `gemini`."""
