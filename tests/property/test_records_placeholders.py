"""Laws of placeholders: escapes are undone, and the number of passes makes no difference."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from oyer.records import escape, expand, expand_tree, names_in

NAMES = ("world", "python", "var.a", "var.b-c", "random.r")
PIECES = st.sampled_from(
    ["{", "}", "{{", "}}", " ", "x", '"a": ', ".", "\n", *NAMES, *(f"{{{name}}}" for name in NAMES)]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
VALUES = st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS))


@given(TEXTS | st.text())
def test_an_escaped_text_is_a_text_without_placeholders(text: str) -> None:
    assert names_in(escape(text)) == ()
    assert expand(escape(text), {}.get) == text


@given(TEXTS, VALUES)
@example("{{var.a}{world}}", {"var.a": "{", "world": "}", "python": "", "var.b-c": "", "random.r": ""})
@example("{var.a}{world}{var.a}", {"var.a": "{}", "world": "x", "python": "", "var.b-c": "", "random.r": ""})
@example("{var.{var.a}}", {"var.a": "a", "world": "x", "python": "", "var.b-c": "", "random.r": ""})
def test_the_number_of_passes_makes_no_difference(text: str, values: dict[str, str]) -> None:
    names = dict.fromkeys(names_in(text), "?")
    resolve = {**names, **values}.get
    at_once = expand(text, resolve)
    for families in ({"var"}, {"random", "world"}, set()):
        early = expand_tree({"t": text}, resolve, only=families)["t"]
        assert expand(early, resolve) == at_once
        assert all(name.partition(".")[0] not in families for name in names_in(early))


@given(TEXTS)
def test_names_are_exactly_what_is_asked_for(text: str) -> None:
    asked: list[str] = []

    def resolve(name: str) -> str:
        asked.append(name)
        return ""

    expand(text, resolve)
    assert tuple(dict.fromkeys(asked)) == names_in(text)
