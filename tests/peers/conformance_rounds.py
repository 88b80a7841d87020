"""The fixtures for requests in rounds (2026-07-28): a tool asks, and is called again with the answers.

Part of `conformance_server.py`.
"""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

FIELDS = {"name": "string", "ok": "boolean", "color": "string", "context": "string"}


def question(message: str, field: str) -> ElicitRequest:
    """Ask the user for one field."""
    schema = {"type": "object", "properties": {field: {"type": FIELDS[field]}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str, tokens: int) -> CreateMessageRequest:
    """Ask the model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=tokens))


def missing(ctx: Context, state: str | None = None, **asked: InputRequest) -> InputRequiredResult | None:
    """Return what to ask for, unless all of it has been answered."""
    if asked.keys() <= (ctx.input_responses or {}).keys():
        return None
    return InputRequiredResult(input_requests=asked, request_state=state)


def field_of(ctx: Context, key: str, field: str) -> object:
    """Return what the user gave."""
    answer = (ctx.input_responses or {}).get(key)
    return answer.content.get(field) if isinstance(answer, ElicitResult) and answer.content else None


async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Asks the user for a name."""
    return (
        missing(ctx, user_name=question("What is your name?", "name"))
        or f"Hello, {field_of(ctx, 'user_name', 'name')}!"
    )


async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Asks the client's model for a capital."""
    asked = missing(ctx, capital_question=sample("What is the capital of France?", 100))
    return asked or f"The model said: {(ctx.input_responses or {})['capital_question']}"


async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Asks the client for its roots."""
    return (
        missing(ctx, client_roots=ListRootsRequest()) or f"The roots are: {(ctx.input_responses or {})['client_roots']}"
    )


async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Asks the user to confirm, and wants its state back."""
    asked = missing(ctx, "confirming", confirm=question("Please confirm", "ok"))
    return asked or ("state-ok" if ctx.request_state == "confirming" else "state-lost")


async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    """Asks the user to confirm, with a state that nobody may change."""
    return missing(ctx, "sealed", confirm=question("Please confirm", "ok")) or f"The state is {ctx.request_state}"


async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Asks for three things at once."""
    asked = missing(
        ctx,
        "three",
        user_name=question("What is your name?", "name"),
        greeting=sample("Generate a greeting", 50),
        client_roots=ListRootsRequest(),
    )
    return asked or f"All three were answered, for {ctx.request_state}"


async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Asks for one thing after another."""
    if ctx.request_state is None:
        return InputRequiredResult(
            input_requests={"step1": question("Step 1: What is your name?", "name")}, request_state="step 1"
        )
    if ctx.request_state == "step 1":
        name = field_of(ctx, "step1", "name")
        asked = {"step2": question("Step 2: What is your favorite color?", "color")}
        return InputRequiredResult(input_requests=asked, request_state=f"step 2 of {name}")
    return f"{ctx.request_state} likes {field_of(ctx, 'step2', 'color')}"


async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Asks for as much as the client says that it can give."""
    can = ctx.client_capabilities
    asked: dict[str, InputRequest] = {}
    if can and can.elicitation:
        asked["user_name"] = question("What is your name?", "name")
    if can and can.sampling:
        asked["greeting"] = sample("Generate a greeting", 50)
    if can and can.roots:
        asked["client_roots"] = ListRootsRequest()
    return missing(ctx, **asked) or "There is nothing more to ask for"


async def test_streaming_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Reports progress, then asks the user."""
    await ctx.report_progress(1, 2, "about to ask")
    return missing(ctx, user_name=question("What is your name?", "name")) or "Asked and answered"


async def test_missing_capability(ctx: Context) -> str:
    """Refuses whoever has no model."""
    can = ctx.client_capabilities
    if can is None or can.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs the client's model", data)
    return "The client has a model"


def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    """Asks the user what it is about."""
    asked = missing(ctx, user_context=question("What context should the prompt use?", "context"))
    return asked or f"In the context of {field_of(ctx, 'user_context', 'context')}"


def test_changing_list() -> str:
    """Comes and goes."""
    return "I am here"


class NeverAsked:
    """What is added to a list and removed again."""

    tool = staticmethod(test_changing_list)
    prompt = Prompt.from_function(test_changing_list, name="test_changing_prompt")


TOOLS = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_streaming_elicitation,
    test_missing_capability,
)


def offer_rounds(server: MCPServer) -> None:
    """Add them to a server."""
    for tool in TOOLS:
        server.add_tool(tool, structured_output=False)
    server.add_prompt(Prompt.from_function(test_input_required_result_prompt))
