"""An MCP server on the reference implementation, on the transport that is asked for.

python sdk_talker.py stdio|sse|streamable-http PORT
"""

from __future__ import annotations

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import SamplingMessage, TextContent

server = MCPServer("talker")


@server.tool()
def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


@server.tool()
async def steps(context: Context) -> str:
    """Tell of progress."""
    for step in range(3):
        await context.report_progress(step, 3)
    return "done"


@server.tool()
async def ask(context: Context) -> str:
    """Ask the client's model."""
    question = [SamplingMessage(role="user", content=TextContent(type="text", text="who?"))]
    told = await context.session.create_message(messages=question, max_tokens=9)
    return str(getattr(told.content, "text", ""))


transport, port = sys.argv[1], int(sys.argv[2])
if transport == "stdio":
    server.run("stdio")
else:
    server.run(transport, host="127.0.0.1", port=port)
