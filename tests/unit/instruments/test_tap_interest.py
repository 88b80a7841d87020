"""No frame that a declared change could be about is ever taken for one that it cannot."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from oyer.instruments import DeclaredBlock, DeclaredEdit, TapRules
from oyer.instruments.tap_interest import Interest
from oyer.protocol import BlockRule, Correlator, Edit, JsonValue, OccurrenceCounter, Request, Selector, parse_message

EDIT = Edit("replace_text", {"find": "a", "with": "b"})
IDS = st.integers(-3, 3) | st.sampled_from(["1", "a", "\u00e9"]) | st.just(None)


def edits(tool: str | None, method: str = "tools/call") -> TapRules:
    return TapRules(edit=DeclaredEdit("x", Selector("s", method=method, tool=tool), EDIT))


def escaped(text: str) -> str:
    return "".join(f"\\u{unit:04x}" for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"))


@given(tool=st.text(min_size=1), method=st.sampled_from(["tools/call", "prompts/get"]), how=st.integers(0, 3), id_=IDS)
def test_a_request_that_matches_is_always_found(tool: str, method: str, how: int, id_: JsonValue) -> None:
    name = f'"{escaped(tool)}"' if how == 1 else json.dumps(tool, ensure_ascii=how != 2)
    said = f'"{escaped(method)}"' if how == 3 else json.dumps(method)
    text = f'{{"jsonrpc":"2.0","id":{json.dumps(id_)},"method":{said},"params":{{"name":{name}}}}}'
    raw = text.encode("utf-8", "surrogatepass")
    (seen,) = Correlator().sent(raw, "r")
    if isinstance(seen, Request) and OccurrenceCounter(Selector("s", method=method, tool=tool)).take(seen, "s", ""):
        assert Interest([edits(tool, method)], calls=False).in_sent(raw)
        assert Interest([edits(None, method)], calls=False).in_sent(raw)


def test_what_concerns_nobody_goes_on() -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    assert not Interest([TapRules()], calls=False).in_sent(b"anything \\ at all")
    assert not Interest([edits("read")], calls=True).in_sent(ping)
    assert Interest([edits(None, "ping")], calls=False).in_sent(ping)
    block = TapRules(block=DeclaredBlock("b", "s", BlockRule("pay")))
    assert Interest([TapRules(), block], calls=False).in_sent(b'{"method":"tools/call","params":{"name":"pay"}}\n')
    assert Interest([TapRules()], calls=True).in_sent(b'{"method":"tools/call"}\n')


@given(asked=IDS, answered=IDS, spaces=st.sampled_from(["", " ", "\t"]))
def test_an_answer_to_what_was_found_is_always_found(asked: JsonValue, answered: JsonValue, spaces: str) -> None:
    interest = Interest([edits("read")], calls=False)
    answer = f'{{"id":{spaces}{json.dumps(answered)},"result":{{}}}}'.encode()
    assert not interest.in_received(answer)
    interest.expect(asked)
    message = parse_message(answer)
    assert interest.in_received(answer) or message.id != asked  # type: ignore[union-attr]
    for odd in (b"[" + answer + b"]", b"no json", b"\xff", b'{"id":1.0,"result":{}}', b'{"id":true,"result":{}}'):
        assert interest.in_received(odd)
    assert interest.in_received(b'{"method":"notifications/progress"}') == (asked is None)
