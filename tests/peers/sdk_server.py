"""A server on the reference implementation, both eras of the protocol at one address, with a wide range of features.

python sdk_server.py PORT

Names are those that the protocol's conformance suite asks for.
"""

from __future__ import annotations

import asyncio
import base64
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
server = MCPServer("wide")


class Answer(BaseModel):
    username: str
    email: str


@server.tool()
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


@server.tool()
def test_audio_content() -> AudioContent:
    return AudioContent(type="audio", data=PIXEL, mime_type="audio/wav")


@server.tool()
def test_embedded_resource() -> EmbeddedResource:
    text = TextResourceContents(uri="test://embedded-resource", mime_type="text/plain", text="embedded")
    return EmbeddedResource(type="resource", resource=text)


@server.tool()
def test_error_handling() -> str:
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(text)
        await asyncio.sleep(0.05)
    return "logged"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {answer.content}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, Answer)
    return f"User response: {answer.action}"


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002 - the name is the template's
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@server.prompt()
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:  # noqa: N803 - the suite's name
    blob = BlobResourceContents(uri=resourceUri, mime_type="image/png", blob=PIXEL)
    return [PromptMessage(role="user", content=EmbeddedResource(type="resource", resource=blob))]


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
