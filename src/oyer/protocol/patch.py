"""RFC 6902 patches as splices: an operation changes only the bytes it names, moved and copied literals keep their form.

Must never re-serialise a document, or apply half a patch: all operations hold or the patch is refused.
Source: RFC 6902, RFC 6901.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import dumps, loads, parse_pointer, same_json
from oyer.protocol.spans import Node, scan
from oyer.protocol.splices import Splice, compose, splice

__all__ = ["patch_splices"]


def patch_splices(document: bytes, operations: object) -> tuple[Splice, ...]:
    """Return the splices that apply a patch to a JSON text.

    Raises: ProtocolError (`E-EDIT-BAD-PATCH`, `E-EDIT-NO-SUCH-PATH`, `E-EDIT-TEST-FAILED`, `E-JSON-DUPLICATE-KEY`, or
    what `scan` raises).
    """
    if not isinstance(operations, Sequence) or isinstance(operations, str | bytes):
        raise _bad("a patch is a list of operations")
    splices: tuple[Splice, ...] = ()
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise _bad("an operation is an object")
        for step in _steps(document, operation):
            splices = compose(splices, step)
            document = splice(document, [step])
    return splices


def _bad(why: str) -> ProtocolError:
    return ProtocolError("E-EDIT-BAD-PATCH", why, side="endpoint")


def _absent(pointer: str) -> ProtocolError:
    return ProtocolError("E-EDIT-NO-SUCH-PATH", f"there is nothing at {pointer!r}", side="endpoint")


def _steps(document: bytes, operation: Mapping[str, object]) -> list[Splice]:
    name, path = operation.get("op"), _pointer(operation, "path")
    root = scan(document)
    if name in ("add", "replace", "test"):
        if "value" not in operation:
            raise _bad(f"{name!r} needs a value")
        value = dumps(operation["value"])
        if name == "add":
            return [_add(root, path, value)]
        span = _existing(root, path).span
        if name == "replace":
            return [Splice(span.start, span.end, value)]
        if not same_json(loads(document[span.start : span.end]), operation["value"]):
            raise ProtocolError("E-EDIT-TEST-FAILED", f"another value stands at {path!r}", side="endpoint")
        return []
    if name == "remove":
        return [_remove(root, path)]
    if name not in ("move", "copy"):
        raise _bad(f"{name!r} is no operation")
    source = _pointer(operation, "from")
    moved = _existing(root, source)
    value = document[moved.start : moved.end]
    if name == "copy":
        return [_add(root, path, value)]
    if path == source:
        return []
    if path.startswith(source + "/"):
        raise _bad("a value cannot move into itself")
    taken = _remove(root, source)
    return [taken, _add(scan(splice(document, [taken])), path, value)]


def _pointer(operation: Mapping[str, object], key: str) -> str:
    pointer = operation.get(key)
    if not isinstance(pointer, str):
        raise _bad(f"{key!r} is no pointer")
    return pointer


def _existing(root: Node, pointer: str) -> Node:
    node = root.at(parse_pointer(pointer))
    if node is None:
        raise _absent(pointer)
    return node


def _parent(root: Node, pointer: str) -> tuple[Node, str]:
    tokens = parse_pointer(pointer)
    parent = root.at(tokens[:-1])
    if parent is None or parent.kind not in ("object", "array"):
        raise _absent(pointer)
    return parent, tokens[-1]


def _add(root: Node, pointer: str, value: bytes) -> Splice:
    if pointer == "":
        return Splice(root.start, root.end, value)
    parent, token = _parent(root, pointer)
    last = parent.children[-1] if parent.children else None
    if parent.kind == "object":
        existing = parent.member(token)
        if existing is not None:
            return Splice(existing.start, existing.end, value)
        value = dumps(token) + b":" + value
    elif token not in ("-", str(len(parent.children))):
        at = root.at(parse_pointer(pointer))
        if at is None:
            raise _absent(pointer)
        return Splice(at.start, at.start, value + b",")
    if last is None:
        return Splice(parent.start + 1, parent.start + 1, value)
    return Splice(last.end, last.end, b"," + value)


def _remove(root: Node, pointer: str) -> Splice:
    if pointer == "":
        raise _bad("the whole document cannot be removed")
    parent, _ = _parent(root, pointer)
    index = parent.children.index(_existing(root, pointer))
    starts = [key[1] for key in parent.keys] if parent.kind == "object" else [child.start for child in parent.children]
    if index + 1 < len(starts):
        return Splice(starts[index], starts[index + 1], b"")
    start = parent.children[index - 1].end if index else starts[0]
    return Splice(start, parent.children[index].end, b"")
