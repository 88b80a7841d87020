"""Four model APIs for the scripted endpoint, written from their references and from nothing of ours.

A request of each is read as one of Chat Completions, and an answer of Chat Completions is written as one of each, whole
or as a stream. Strict where an API is: a call without its result, or a result without its call, is refused there, and
`as_chat` raises on it, so that no answer comes.
"""

from __future__ import annotations

import json
import re
from typing import Any

GEMINI = re.compile(r".*/v1beta/models/([^/:]+):(generateContent|streamGenerateContent)")


def api_of_path(path: str) -> str:
    plain = path.partition("?")[0]
    for end, api in (("/responses", "responses"), ("/messages", "messages")):
        if plain.endswith(end):
            return api
    return "gemini" if GEMINI.match(plain) else "chat"


def as_chat(api: str, path: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return a request as one of Chat Completions: its model, messages, tools and whether it asks for a stream."""
    if api == "chat" or not request:
        return request
    reader = {"responses": from_responses, "messages": from_messages, "gemini": from_gemini}[api]
    messages, tools = reader(request)
    require_paired(messages)
    named = GEMINI.match(path.partition("?")[0])
    model = named[1] if named else request["model"]
    stream = named[2] == "streamGenerateContent" if named else request.get("stream") is True
    return {"model": model, "messages": messages, "tools": tools, "stream": stream}


def require_paired(messages: list[Any]) -> None:
    """Raise unless the results of every answer's calls follow it at once, each call exactly once."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        if waiting and not message.get("tool_calls"):
            raise ValueError(f"calls without a result: {waiting}")
        waiting += [call["id"] for call in message.get("tool_calls", [])]
    if waiting:
        raise ValueError(f"calls without a result: {waiting}")


def from_responses(request: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    messages: list[Any] = []
    for item in request["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            assert isinstance(item["arguments"], str)
            messages.append(assistant(None, [(item["call_id"], item["name"], item["arguments"])]))
        elif kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        elif kind == "message":
            text = "".join(part["text"] for part in item["content"])
            messages.append({"role": item["role"], "content": text})
    return messages, [function(tool["name"], tool["parameters"]) for tool in request.get("tools", [])]


def from_messages(request: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    assert request["max_tokens"] > 0
    messages: list[Any] = []
    for message in request["messages"]:
        calls, texts = [], []
        for block in message["content"]:
            if block["type"] == "tool_result":
                text = "".join(part["text"] for part in block["content"])
                messages.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": text})
            elif block["type"] == "tool_use":
                calls.append((block["id"], block["name"], json.dumps(block["input"])))
            elif block["type"] == "text":
                assert block["text"]
                texts.append(block["text"])
        if calls or (texts and message["role"] == "assistant"):
            messages.append(assistant("".join(texts), calls))
        elif texts:
            messages.append({"role": message["role"], "content": "".join(texts)})
    return messages, [function(tool["name"], tool["input_schema"]) for tool in request.get("tools", [])]


def from_gemini(request: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    messages: list[Any] = []
    for content in request["contents"]:
        calls, texts = [], []
        for part in content["parts"]:
            if "functionResponse" in part:
                told = part["functionResponse"]
                messages.append({"role": "tool", "tool_call_id": told["id"], "content": told["response"]["output"]})
            elif "functionCall" in part:
                call = part["functionCall"]
                calls.append((call["id"], call["name"], json.dumps(call["args"])))
            else:
                texts.append(part["text"])
        if content["role"] == "model":
            messages.append(assistant("".join(texts), calls))
        elif texts:
            messages.append({"role": "user", "content": "".join(texts)})
    tools = [tool for each in request.get("tools", []) for tool in each["functionDeclarations"]]
    return messages, [function(tool["name"], tool["parametersJsonSchema"]) for tool in tools]


def assistant(text: str | None, calls: list[tuple[str, str, str]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": one[0], "type": "function", "function": {"name": one[1], "arguments": one[2]}} for one in calls
        ]
    return message


def function(name: str, schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def answered_over(api: str, body: dict[str, Any]) -> dict[str, Any]:
    """Write an answer of Chat Completions as one of another API."""
    if api == "chat":
        return body
    choice = body["choices"][0]
    message, usage = choice["message"], body.get("usage")
    text, calls = message.get("content") or "", message.get("tool_calls", [])
    writer = {"responses": to_responses, "messages": to_messages, "gemini": to_gemini}[api]
    return writer(body.get("id", "x"), body.get("model"), text, calls, usage)


def to_responses(name: str, model: Any, text: str, calls: list[Any], usage: Any) -> dict[str, Any]:
    output: list[Any] = []
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
    for call in calls:
        made = call["function"]
        output.append({"type": "function_call", "call_id": call["id"], "status": "completed", **made})
    answer = {"id": name, "object": "response", "status": "completed", "model": model, "output": output}
    if usage is not None:
        asked, said, both = (usage[key] for key in ("prompt_tokens", "completion_tokens", "total_tokens"))
        answer["usage"] = {"input_tokens": asked, "output_tokens": said, "total_tokens": both}
    return answer


def to_messages(name: str, model: Any, text: str, calls: list[Any], usage: Any) -> dict[str, Any]:
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    for call in calls:
        made = call["function"]
        content.append(
            {"type": "tool_use", "id": call["id"], "name": made["name"], "input": json.loads(made["arguments"])}
        )
    answer: dict[str, Any] = {"id": name, "type": "message", "role": "assistant", "model": model, "content": content}
    answer["stop_reason"] = "tool_use" if calls else "end_turn"
    if usage is not None:
        answer["usage"] = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    return answer


def to_gemini(name: str, model: Any, text: str, calls: list[Any], usage: Any) -> dict[str, Any]:
    parts: list[Any] = [{"text": text}] if text or not calls else []
    for call in calls:
        made = call["function"]
        # No id: the API may leave it out, and a client has to make one up.
        parts.append({"functionCall": {"name": made["name"], "args": json.loads(made["arguments"])}})
    content = {"role": "model", "parts": parts}
    answer: dict[str, Any] = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    if model is not None:
        answer["modelVersion"] = model
    if usage is not None:
        asked, said, both = (usage[key] for key in ("prompt_tokens", "completion_tokens", "total_tokens"))
        answer["usageMetadata"] = {"promptTokenCount": asked, "candidatesTokenCount": said, "totalTokenCount": both}
    return answer


def streamed_over(api: str, body: dict[str, Any]) -> list[str]:
    """Write an answer as the events of a stream of its API."""
    return {
        "chat": chat_stream,
        "responses": responses_stream,
        "messages": messages_stream,
        "gemini": gemini_stream,
    }[api](body)


def responses_stream(body: dict[str, Any]) -> list[str]:
    events: list[Any] = [{"type": "response.created", "response": {**body, "status": "in_progress", "output": []}}]
    for index, item in enumerate(body["output"]):
        begun = {**item, "arguments": ""} if item["type"] == "function_call" else {**item, "content": []}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if item["type"] == "function_call":
            delta = {"type": "response.function_call_arguments.delta", "delta": item["arguments"]}
        else:
            delta = {"type": "response.output_text.delta", "delta": item["content"][0]["text"]}
        events.append({**delta, "output_index": index})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": body})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def messages_stream(body: dict[str, Any]) -> list[str]:
    usage = body.get("usage", {})
    begun = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1} if usage else {}}
    events: list[Any] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(body["content"]):
        call = block["type"] == "tool_use"
        empty = {**block, "input": {}} if call else {"type": "text", "text": ""}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        told = json.dumps(block["input"]) if call else block["text"]
        for piece in (told[:5], told[5:]):
            delta = (
                {"type": "input_json_delta", "partial_json": piece} if call else {"type": "text_delta", "text": piece}
            )
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}, "usage": usage})
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def gemini_stream(body: dict[str, Any]) -> list[str]:
    head = {key: value for key, value in body.items() if key == "modelVersion"}
    chunks: list[Any] = []
    for part in body["candidates"][0]["content"]["parts"]:
        pieces = [part] if "text" not in part else [{"text": part["text"][:3]}, {"text": part["text"][3:]}]
        chunks += [{"candidates": [{"content": {"role": "model", "parts": [piece]}}], **head} for piece in pieces]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    if "usageMetadata" in body:
        chunks[-1]["usageMetadata"] = body["usageMetadata"]
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]


def chat_stream(body: dict[str, Any]) -> list[str]:
    """Head, text letter by letter, calls in two fragments, usage."""
    head = {"id": body.get("id"), "object": "chat.completion.chunk", "model": body.get("model")}
    choice = body["choices"][0]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": letter} for letter in message.get("content") or ""]
    for index, call in enumerate(message.get("tool_calls", [])):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": call["function"]["arguments"]}}]})
    chunks: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append({**head, "choices": [], "usage": body.get("usage")})
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]
