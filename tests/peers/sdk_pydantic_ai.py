"""An agent on Pydantic AI: one prompt, one MCP server, and its last words on standard output.

python sdk_pydantic_ai.py TOLD.json: `api` (`chat`, `responses` or `messages`), `model`, `base_url`, `key`, `prompt`,
and the server as `url` or as `command` with `env`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset, StdioTransport


def model_of(told: dict[str, Any]) -> Any:
    if told["api"] == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(told["model"], provider=AnthropicProvider(base_url=told["base_url"], api_key=told["key"]))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    kind = OpenAIChatModel if told["api"] == "chat" else OpenAIResponsesModel
    return kind(told["model"], provider=OpenAIProvider(base_url=told["base_url"], api_key=told["key"]))


async def main(told: dict[str, Any]) -> None:
    way: Any = told["url"]
    if way is None:
        command, *args = told["command"]
        way = StdioTransport(command, args, env={**os.environ, **told["env"]})
    agent = Agent(model_of(told), instructions="You are a clerk.", toolsets=[MCPToolset(way)])
    async with agent:
        done = await agent.run(told["prompt"])
    sys.stdout.write(str(done.output))


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
