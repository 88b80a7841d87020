"""An agent on the OpenAI Agents SDK: one prompt, one MCP server, and its last words on standard output.

python sdk_openai_agents.py TOLD.json: `api` (`chat` or `responses`), `model`, `base_url`, `key`, `prompt`, and the
server as `url` or as `command` with `env`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from agents import Agent, Runner, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI


async def main(told: dict[str, Any]) -> None:
    set_tracing_disabled(True)
    set_default_openai_client(AsyncOpenAI(base_url=told["base_url"], api_key=told["key"]))
    set_default_openai_api("chat_completions" if told["api"] == "chat" else "responses")
    given: Any = {"url": told["url"]}
    kind: Any = MCPServerStreamableHttp
    if told["url"] is None:
        command, *args = told["command"]
        given, kind = {"command": command, "args": args, "env": {**os.environ, **told["env"]}}, MCPServerStdio
    async with kind(params=given, name="ops", client_session_timeout_seconds=60) as server:
        agent = Agent(name="clerk", instructions="You are a clerk.", model=told["model"], mcp_servers=[server])
        done = await Runner.run(agent, told["prompt"])
    sys.stdout.write(str(done.final_output))


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
