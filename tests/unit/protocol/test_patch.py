"""RFC 6902 by splices, against the examples of its appendix A and our own corner cases."""

from __future__ import annotations

import json

import pytest

from oyer.errors import ProtocolError
from oyer.protocol.patch import patch_splices
from oyer.protocol.splices import splice


def patched(document: str, *operations: dict[str, object]) -> str:
    raw = document.encode()
    return splice(raw, patch_splices(raw, list(operations))).decode()


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [
        ('{"foo":"bar"}', {"op": "add", "path": "/baz", "value": "qux"}, '{"foo":"bar","baz":"qux"}'),
        ("{ }", {"op": "add", "path": "/a", "value": 1}, '{"a":1 }'),
        ('{"foo":["bar","baz"]}', {"op": "add", "path": "/foo/1", "value": "qux"}, '{"foo":["bar","qux","baz"]}'),
        ("[1]", {"op": "add", "path": "/-", "value": [2]}, "[1,[2]]"),
        ("[1]", {"op": "add", "path": "/1", "value": 2}, "[1,2]"),
        ("[]", {"op": "add", "path": "/0", "value": 2}, "[2]"),
        ('{"a":1}', {"op": "add", "path": "/a", "value": 2}, '{"a":2}'),
        ('{"a":1}', {"op": "add", "path": "", "value": 2}, "2"),
        ('{"baz":"qux" , "foo":"bar"}', {"op": "remove", "path": "/baz"}, '{"foo":"bar"}'),
        ('{"baz":"qux" , "foo":"bar"}', {"op": "remove", "path": "/foo"}, '{"baz":"qux"}'),
        ('{ "foo" : 1 }', {"op": "remove", "path": "/foo"}, "{  }"),
        ("[1,2,3]", {"op": "remove", "path": "/1"}, "[1,3]"),
        ("[1,2,3]", {"op": "remove", "path": "/2"}, "[1,2]"),
        ('{"a":1.0,"b":2}', {"op": "replace", "path": "/b", "value": 3}, '{"a":1.0,"b":3}'),
        ('{"a":{"x":1e2},"b":{}}', {"op": "move", "from": "/a/x", "path": "/b/y"}, '{"a":{},"b":{"y":1e2}}'),
        ("[1,2,3,4]", {"op": "move", "from": "/1", "path": "/3"}, "[1,3,4,2]"),
        ('{"a":1}', {"op": "move", "from": "/a", "path": "/a"}, '{"a":1}'),
        ('{"a":1.50}', {"op": "copy", "from": "/a", "path": "/b"}, '{"a":1.50,"b":1.50}'),
        ('{"a/b":{"~":1}}', {"op": "replace", "path": "/a~1b/~0", "value": None}, '{"a/b":{"~":null}}'),
        ('{"a":1.0}', {"op": "test", "path": "/a", "value": 1}, '{"a":1.0}'),
    ],
)
def test_each_operation(document: str, operation: dict[str, object], expected: str) -> None:
    assert patched(document, operation) == expected


def test_operations_build_on_each_other() -> None:
    document = '{"a":[1,2,3],"b":"x","c":1234567890123456789}'
    got = patched(
        document,
        {"op": "remove", "path": "/a/0"},
        {"op": "add", "path": "/a/0", "value": {"k": 1}},
        {"op": "replace", "path": "/a/0/k", "value": "deep"},
        {"op": "move", "from": "/b", "path": "/a/-"},
        {"op": "test", "path": "/a", "value": [{"k": "deep"}, 2, 3, "x"]},
        {"op": "remove", "path": "/a/1"},
    )
    assert json.loads(got) == {"a": [{"k": "deep"}, 3, "x"], "c": 1234567890123456789}


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ({"op": "remove", "path": "/z"}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "replace", "path": "/z", "value": 1}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "add", "path": "/z/y", "value": 1}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "add", "path": "/a/7", "value": 1}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "add", "path": "/a/01", "value": 1}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "remove", "path": "/a/-"}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "remove", "path": "/s/0"}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "copy", "from": "/z", "path": "/y"}, "E-EDIT-NO-SUCH-PATH"),
        ({"op": "test", "path": "/s", "value": "y"}, "E-EDIT-TEST-FAILED"),
        ({"op": "replace", "path": "/s"}, "E-EDIT-BAD-PATCH"),
        ({"op": "move", "from": "/a", "path": "/a/0"}, "E-EDIT-BAD-PATCH"),
        ({"op": "swap", "path": "/s"}, "E-EDIT-BAD-PATCH"),
        ({"op": "remove"}, "E-EDIT-BAD-PATCH"),
        ({"op": "remove", "path": ""}, "E-EDIT-BAD-PATCH"),
        ({"op": "remove", "path": "a"}, "E-JSON-POINTER"),
        ({"op": "remove", "path": "/d/k"}, "E-JSON-DUPLICATE-KEY"),
        (7, "E-EDIT-BAD-PATCH"),
    ],
)
def test_a_patch_that_does_not_hold_is_refused(operation: object, code: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        patch_splices(b'{"a":[1],"s":"x","d":{"k":1,"k":2}}', [operation])
    assert caught.value.code == code


def test_a_patch_is_a_list() -> None:
    for patch in ("add", {"op": "add"}, None):
        with pytest.raises(ProtocolError):
            patch_splices(b"{}", patch)
