"""What a record says of a model's endpoint beside its address: the API by which it is asked."""

from __future__ import annotations

from typing import Literal

__all__ = ["ModelApiName"]

ModelApiName = Literal["chat", "responses", "messages", "gemini"]
"""How an endpoint is asked: Chat Completions, OpenAI Responses, Anthropic Messages, Gemini generateContent."""
