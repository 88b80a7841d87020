"""A transcript for a person: who said what to whom, with the declared change as a small diff.

Owns how messages look. The plumbing of a protocol (greetings, listings, notifications) takes one line; what was said,
asked, answered and changed is shown. With `raw`, every byte of every message is shown as well, neutralised.

Must never show a changed message without its original.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from oyer.errors import ProtocolError
from oyer.protocol import loads
from oyer.report.page import Line, Look, Page, Segment, Style, fold, hard_fold, line, say, text_fold
from oyer.report.safe import neutralise, printable_lines
from oyer.report.transcript import Message

__all__ = ["content_text", "render_transcript"]

_PLUMBING = ("initialize", "ping", "notifications/", "tools/list", "resources/list", "prompts/list", "logging/")
_WHO = {
    "fault": "fault",
    "model.fault": "model",
    "model.request": "model",
    "model.response": "model",
    "subject.output": "output",
    "turn.received": "said",
    "turn.sent": "turn",
}
_WIRE = ("mcp.", "model.", "sink.")
"""Kinds whose bytes are more than the text shown of them."""
_CONTEXT = 1
_MOST_COMPARED = 1000
"""Lines that are compared one by one."""
_INDENT = "      "


def render_transcript(messages: Sequence[Message], look: Look, *, raw: bool = False) -> Page:
    """Lay out messages, session by session."""
    page: list[Line] = []
    session: str | None = None
    plumbing = _plumbing_refs(messages)
    for message in messages:
        if message.session != session and message.session is not None:
            session = message.session
            page += ((), line(say(f"session {session}", "strong")))
        page += _one(message, look, brief=message.ref in plumbing, raw=raw)
    return tuple(page)


def _plumbing_refs(messages: Sequence[Message]) -> frozenset[str]:
    """Messages that only keep a connection going, and the answers to them."""
    open_: set[tuple[object, ...]] = set()
    found: set[str] = set()
    for message in messages:
        key = (message.server, message.connection, type(message.id), message.id)
        if message.kind == "mcp.sent" and message.method and message.method.startswith(_PLUMBING):
            found.add(message.ref)
            open_.add(key)
        elif message.kind == "mcp.received" and not message.changed:
            if message.method is not None and message.method.startswith(_PLUMBING):
                found.add(message.ref)
            elif message.method is None and message.id is not None and key in open_:
                found.add(message.ref)
                open_.discard(key)
    return frozenset(found)


def _one(message: Message, look: Look, *, brief: bool, raw: bool) -> Page:
    page = _head(message, look, brief)
    for act in message.acts:
        told = f"{act.did} by {act.name}" + ("" if act.applied else f", not applied: {act.why or 'no reason given'}")
        page += fold([say(told, "warn"), say(f" {act.ref}", "dim")], look, indent=_INDENT)
    if not brief:
        page += _difference(message, look) if message.changed else _body(message, look)
    if message.original is not None and message.delivered is None and message.kind.startswith("mcp."):
        page += (line(_INDENT, say("no bytes of it are proven to have been delivered", "warn")),)
    if raw and message.kind.startswith(_WIRE):
        page += _raw(message, look)
    return page


def _head(message: Message, look: Look, brief: bool) -> Page:
    arrow = _arrow(message, look)
    who = _WHO.get(message.kind, message.server or message.kind)
    what = " ".join(part for part in (message.method, message.tool) if part)
    if message.kind in ("mcp.received", "mcp.refused") and message.method is None:
        what = "answer"
    style: Style = "dim" if brief else "strong"
    parts = [say(f"{arrow} {who}", style)]
    parts += [say(f" {what}", "dim" if brief else "plain")] if what else []
    if message.note:
        parts.append(say(f" ({message.note})", "warn" if message.kind in ("fault", "sink.rejected") else "dim"))
    parts.append(say(f" {message.ref}", "dim"))
    return fold(parts, look, indent=f"{message.at_ns / 1e9:8.3f} s  ", hanging=_INDENT)


def _arrow(message: Message, look: Look) -> str:
    if message.direction == "to_harness":
        return "*" if not look.unicode else "◆"
    if message.direction == "to_subject":
        return "<-" if not look.unicode else "←"
    return "->" if not look.unicode else "→"


def _body(message: Message, look: Look) -> Page:
    raw = message.delivered if message.delivered is not None else message.original
    if raw is None:
        return () if message.without_bytes else (line(_INDENT, say("its bytes are not retained", "bad")),)
    if not raw:
        return (line(_INDENT, say("(nothing)", "dim")),)
    return tuple(_text_lines(content_text(message.kind, raw), look))


def _text_lines(text: str, look: Look, *, mark: str = "", style: Style = "plain") -> Iterator[tuple[Segment, ...]]:
    room = look.width - len(_INDENT) - len(mark)
    for one in printable_lines(text):
        for index, piece in enumerate(text_fold(one, room)):
            yield line(_INDENT, Segment((mark if index == 0 else " " * len(mark)) + piece, style))


def _difference(message: Message, look: Look) -> Page:
    """Show what was changed in a message: the lines around it, the original and what arrived."""
    before = content_text(message.kind, message.original or b"")
    after = content_text(message.kind, message.delivered or b"")
    if before == after:
        before, after = _whole_text(message.original or b""), _whole_text(message.delivered or b"")
    if before == after:
        before, after = _decoded(message.original or b""), _decoded(message.delivered or b"")
    one, other = before.split("\n"), after.split("\n")
    page: list[Line] = []
    for group in _groups(one, other):
        if page:
            page.append(line(_INDENT, say("...", "dim")))
        for tag, a, b, c, d in group:
            if tag == "equal":
                page += [row for text in one[a:b] for row in _text_lines(text, look, mark="  ", style="dim")]
                continue
            page += [row for text in one[a:b] for row in _text_lines(text, look, mark="- ", style="removed")]
            page += [row for text in other[c:d] for row in _text_lines(text, look, mark="+ ", style="added")]
    return tuple(page)


def _groups(one: list[str], other: list[str]) -> Iterable[list[tuple[str, int, int, int, int]]]:
    """Group what differs as difflib does; where that would take too long, as one change from its first line on.

    Comparing takes the product of the lengths at worst, and a server chooses both: what both share at the ends is left
    out first.
    """
    shortest = min(len(one), len(other))
    head = next((n for n in range(shortest) if one[n] != other[n]), shortest)
    tail = next((n for n in range(shortest - head) if one[-1 - n] != other[-1 - n]), shortest - head)
    start = max(0, head - _CONTEXT)
    keep = max(0, tail - _CONTEXT)
    if max(len(one), len(other)) - start - keep <= _MOST_COMPARED:
        left, right = one[start : len(one) - keep], other[start : len(other) - keep]
        found = difflib.SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(_CONTEXT)
        return [[(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group] for group in found]
    ends = len(one) - tail, len(other) - tail
    return [
        [
            ("equal", start, head, start, head),
            ("replace", head, ends[0], head, ends[1]),
            ("equal", ends[0], len(one) - keep, ends[1], len(other) - keep),
        ]
    ]


def _raw(message: Message, look: Look) -> Page:
    parts = [("original", message.original)]
    if message.changed or message.original is None:
        parts.append(("delivered", message.delivered))
    page: Page = ()
    for name, raw in parts:
        if raw is not None:
            page += (line(_INDENT, say(f"{name}, {len(raw)} bytes", "dim")),)
            page += tuple(_byte_lines(neutralise(_decoded(raw)), look))
    return page


def _byte_lines(text: str, look: Look) -> Iterator[tuple[Segment, ...]]:
    """Bytes are broken where the line is full and nowhere else: every break is this page's, no space is lost in one."""
    for one in printable_lines(text):
        for index, piece in enumerate(hard_fold(one, look.width - len(_INDENT) - 2)):
            yield line(_INDENT, Segment(("| " if index == 0 else "  ") + piece, "dim"))


def content_text(kind: str, raw: bytes) -> str:
    """Return the readable content of a message: a call's arguments, an answer's texts, a model's words; else all."""
    text = _decoded(raw)
    if not kind.startswith(("mcp.", "model.")) or kind == "mcp.noise":
        return text
    try:
        value = loads(raw)
    except ProtocolError:
        return text
    if not isinstance(value, dict):
        return text
    found = _model_texts(value) if kind.startswith("model.") else _message_texts(value)
    return "\n".join(found) if found else text


def _message_texts(value: Mapping[str, Any]) -> list[str]:
    params, result, error = value.get("params"), value.get("result"), value.get("error")
    if isinstance(params, dict):
        arguments = params.get("arguments", params)
        return list(_outline(arguments)) if arguments else ["(no arguments)"]
    if isinstance(error, dict):
        return [f"error {error.get('code')}: {error.get('message')}"]
    if not isinstance(result, dict):
        return []
    blocks = [block for block in result.get("content") or () if isinstance(block, dict)]
    texts = [block["text"] if isinstance(block.get("text"), str) else _compact(block) for block in blocks]
    if "structuredContent" in result:
        structured = list(_outline(result["structuredContent"]))
        texts += ["structured:", *(f"  {one}" for one in structured)]
    return (["the tool says that it failed"] if result.get("isError") is True else []) + texts


def _outline(value: object) -> Iterator[str]:
    """One line per member, and the lines of a longer text below its name, so that a change in it is a small one."""
    if not isinstance(value, dict) or not value:
        yield value if isinstance(value, str) else _compact(value)
        return
    for name, item in value.items():
        if isinstance(item, str) and "\n" in item:
            yield f"{name}:"
            yield from (f"  {one}" for one in item.split("\n"))
        else:
            yield f"{name}: {item if isinstance(item, str) else _compact(item)}"


def _model_texts(value: Mapping[str, Any]) -> list[str]:
    """The last message of a request, or the messages of an answer."""
    sent = value.get("messages")
    if isinstance(sent, list) and sent:
        return [f"({len(sent)} messages; the last one:)", *_chat_texts(sent[-1])]
    texts: list[str] = []
    for choice in value.get("choices") or ():
        texts += _chat_texts(choice.get("message")) if isinstance(choice, dict) else []
    return texts or ([_compact(value["error"])] if "error" in value else [])


def _chat_texts(message: object) -> list[str]:
    if not isinstance(message, dict):
        return []
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [_compact(content)] if content else []
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            texts.append(f"asks for {function.get('name')} {function.get('arguments')}")
    return [f"{message.get('role', '?')}: {texts[0]}", *texts[1:]] if texts else []


def _whole_text(raw: bytes) -> str:
    """A JSON value with one member, or one line of a text, in a line: a change deep inside it is a small one then."""
    try:
        return "\n".join(_laid_out(loads(raw)))
    except (ProtocolError, RecursionError):
        return _decoded(raw)


def _laid_out(value: object) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        named = value.items() if isinstance(value, dict) else (("-", item) for item in value)
        for name, item in named:
            first, *rest = _laid_out(item)
            plain = not isinstance(item, dict | list) and not rest
            yield from [f"{name}: {first}"] if plain else [f"{name}:", f"  {first}", *(f"  {one}" for one in rest)]
    elif isinstance(value, str):
        yield from value.split("\n")
    else:
        yield _compact(value)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
