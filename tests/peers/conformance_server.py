"""The fixtures that the protocol's conformance suite asks a server for, in both eras at one address.

python conformance_server.py PORT

Names, texts and shapes are the suite's; the transport is that of the reference implementation. It passes every scenario
of both revisions, so that a scenario which fails behind something fails because of it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Annotated, Any

from conformance_rounds import NeverAsked, offer_rounds
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.server.mcpserver.tools import Tool
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import (
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    JSONRPCMessage,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

STEP_S = 0.05
RECONNECT_MS = 100
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\x02\0\0\0\0\0"
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def json_schema_2020_12_tool(name: str = "") -> str:
    """Has a schema with words that a careless listing drops."""
    return f"Hello, {name}"


as_written = Tool.from_function(json_schema_2020_12_tool).model_copy(update={"parameters": SCHEMA_2020_12})
server = MCPServer("conformance-fixtures", version="1", tools=[as_written], log_level="CRITICAL")


class Events(EventStore):
    """Every event of every stream, so that a client may come back for what it missed."""

    def __init__(self) -> None:
        self._kept: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._kept.append((stream_id, message))
        return str(len(self._kept))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        seen = int(last_event_id) if last_event_id.isdigit() else 0
        if not 0 < seen <= len(self._kept):
            return None
        stream = self._kept[seen - 1][0]
        for number, (of, message) in enumerate(self._kept[seen:], seen + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


# ------------------------------------------------------------------------------------------- what tools return


def image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")


def resource(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


@server.tool()
def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> ImageContent:
    """Returns an image."""
    return image()


@server.tool()
def test_audio_content() -> AudioContent:
    """Returns a sound."""
    return AudioContent(type="audio", data=base64.b64encode(WAV).decode(), mime_type="audio/wav")


@server.tool()
def test_embedded_resource() -> EmbeddedResource:
    """Returns a resource."""
    return resource("test://embedded-resource", "This is an embedded resource content.")


@server.tool(structured_output=False)
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Returns one of each."""
    data = resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [TextContent(type="text", text="Multiple content types test:"), image(), data]


@server.tool()
def test_error_handling() -> str:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool()
def test_mirrored_argument(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Has an argument that a header repeats."""
    return f"Region: {region}"


# --------------------------------------------------------------------------------------------- while a tool runs


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three times."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(text)
        await asyncio.sleep(STEP_S)
    return "Logged three times"


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Logs once."""
    await ctx.info("Tool execution started")
    return "Logged once"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports its progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(STEP_S)
    return "Reported three times"


@server.tool()
async def test_reconnection(ctx: Context) -> str:
    """Closes its stream before it answers, so that its caller has to come back for the answer."""
    await ctx.info("Before the stream was closed")
    await ctx.close_sse_stream()
    await asyncio.sleep(2 * RECONNECT_MS / 1000)
    await ctx.info("After the stream was closed")
    return "Reconnection test completed"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Adds a tool, or removes it again."""
    names = [tool.name for tool in await server.list_tools()]
    if NeverAsked.tool.__name__ in names:
        server.remove_tool(NeverAsked.tool.__name__)
    else:
        server.add_tool(NeverAsked.tool)
    await ctx.notify_tools_changed()
    return "The list of tools has changed"


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Adds a prompt, or removes it again."""
    names = [prompt.name for prompt in await server.list_prompts()]
    if NeverAsked.prompt.name in names:
        server.remove_prompt(NeverAsked.prompt.name)
    else:
        server.add_prompt(NeverAsked.prompt)
    await ctx.notify_prompts_changed()
    return "The list of prompts has changed"


# ----------------------------------------------------------------------------- what a tool asks its client meanwhile


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {answer.content}"


class Reply(BaseModel):
    """What the user of `test_elicitation` is asked for."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    """A default of every primitive type."""

    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True, description="Verification status")


def titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


FIRST_TITLES = {"value1": "First Option", "value2": "Second Option", "value3": "Third Option"}
OPTIONS = ["option1", "option2", "option3"]
LEGACY: dict[str, Any] = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}


class Enums(BaseModel):
    """Every form of an enumeration."""

    untitledSingle: str = Field(json_schema_extra={"enum": OPTIONS})  # noqa: N815 - the suite's names
    titledSingle: str = Field(json_schema_extra={"oneOf": titled(**FIRST_TITLES)})  # noqa: N815
    legacyEnum: str = Field(json_schema_extra=LEGACY)  # noqa: N815
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": OPTIONS}})  # noqa: N815
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": titled(**FIRST_TITLES)}})  # noqa: N815


async def ask(ctx: Context, message: str, form: type[BaseModel]) -> str:
    answer = await ctx.elicit(message, form)
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"action={answer.action}, content={content}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user."""
    return f"User response: {await ask(ctx, message, Reply)}"


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks the user, with defaults."""
    return f"Elicitation completed: {await ask(ctx, 'Please provide user information', Defaults)}"


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks the user to choose."""
    return f"Elicitation completed: {await ask(ctx, 'Please choose', Enums)}"


# ------------------------------------------------------------------------------------------ resources and prompts


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text to subscribe to."""
    return "Watched resource content"


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002 - the name is the template's
    """Something about each id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt()
def test_simple_prompt() -> str:
    """Takes nothing."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Takes two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def said(*contents: TextContent | ImageContent | EmbeddedResource) -> list[Message]:
    return [UserMessage(content) for content in contents]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
    """Shows a resource."""
    text = TextContent(type="text", text="Please process the embedded resource above.")
    return said(resource(resourceUri, "Embedded resource content for testing."), text)


@server.prompt()
def test_prompt_with_image() -> list[Message]:
    """Shows an image."""
    return said(image(), TextContent(type="text", text="Please analyze the image above."))


@server.completion()
async def complete(_ref: object, argument: Any, _context: object) -> Completion:
    """Suggest what begins like the argument."""
    found = [word for word in ("paris", "park", "party", "rome") if word.startswith(argument.value)]
    return Completion(values=found, total=len(found), has_more=False)


# ----------------------------------------------------------------- what the reference has no decorator for


async def accept(_ctx: object, _params: object) -> EmptyResult:
    """Say that it is done."""
    return EmptyResult()


if __name__ == "__main__":
    low = server._lowlevel_server  # the only way to it
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
    offer_rounds(server)
    server.run(
        "streamable-http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        event_store=Events(),
        retry_interval=RECONNECT_MS,
    )
