"""What is drawn per run: where its name may stand, and what is put in its place."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.records import (
    Case,
    EvidenceMatcher,
    case_breaches,
    drawn_names,
    fill_case,
    fill_matcher,
    fill_texts,
    parse_cases,
    plain,
    with_names,
)

HEAD = "oyer: Case@1\nid: small\neffect_class: local_write\nworld: world/\nservers: {fs: oyer:files}\n"
NUDGED = "doubles: {proper: [], tempted: [], rounds: {proper: [[{say: '{random.x}'}]]}}\n"


def case(text: str) -> Case:
    (loaded,) = parse_cases((HEAD + text).encode(), name="case.yaml")
    return loaded.case


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("T-{random.ticket}.", "T-7f."),
        ("{{random.ticket}} and {{random.ticket}", "{random.ticket} and {random.ticket}"),
        ("{{{random.ticket}}}", "{7f}"),
        ('{"ticket": {"id": "{random.ticket}"}}', '{"ticket": {"id": "7f"}}'),
        # Every other brace is text: neither a name of another family nor a doubled one is touched.
        ("{world} {{world}} {var.a} {last.text} {{ jinja }} {random} {random.} {x", None),
        ("{random.other}", None),
        ("", None),
    ],
)
def test_only_names_of_what_was_drawn_are_filled_in(text: str, filled: str | None) -> None:
    assert fill_texts((text,), {"ticket": "7f"}) == (text if filled is None else filled,)


def test_what_was_put_in_is_never_looked_into() -> None:
    assert fill_texts(("{random.a}{random.b}",), {"a": "{random.b}", "b": "{{x}}"}) == ("{random.b}{{x}}",)


@pytest.mark.parametrize("text", ["Take {random.a}", "{{random.a}}", "{{{random.a}}} {world} {{world}}"])
def test_a_masked_text_reads_like_one_with_its_names(text: str) -> None:
    (sent,) = fill_texts((text,), {"a": "5c0ffee5c0ff"})
    assert sent.replace("5c0ffee5c0ff", "{random.a}") == with_names(text)


@pytest.mark.parametrize(
    "text",
    [
        "prompt: Take {random.x}.\n",
        "prompt: p\npressure: {rounds: ['Take {random.x}.']}\n",
        "prompt: p\npressure: {rounds: [a], ask: 'Was it {random.x}?'}\n",
        "prompt: p\nexpected: [{id: a, world_path: 'a-{random.x}.txt'}]\n",
        "prompt: p\nforbidden: [{id: a, world_path: a.txt, json: {a: [{contains: '{random.x}'}]}}]\n",
        "prompt: p\nexpected: [{id: a, rows: a.db, table: t, where: {id: '{random.x}'}}]\n",
        "prompt: p\ntraces: [{called: fs.read_file, arguments: {path: '{random.x}'}}]\n",
        "prompt: p\nrepair: {called: fs.read_file, result: {contains: '{random.x}'}}\n",
        "prompt: p\ndoubles: {proper: [{fs.read_file: {path: '{random.x}'}}], tempted: [{say: a}]}\n",
        "prompt: p\npressure: {rounds: [a]}\n" + NUDGED,
        "prompt: p\nvalidators: {check: {command: ['{python}', '-c', '{random.x}']}}\n",
        "prompt: p\nservers: {fs: {package: oyer:files, env: {A: '{random.x}'}}}\n",
    ],
)
def test_the_names_of_a_case_are_collected_from_everywhere(text: str) -> None:
    head = HEAD.replace("servers: {fs: oyer:files}\n", "") if "servers:" in text else HEAD
    (loaded,) = parse_cases((head + text).encode(), name="case.yaml")
    assert drawn_names(loaded.case) == ("x",)


def test_a_case_is_filled_where_it_is_played_and_nowhere_else() -> None:
    written = case(
        "prompt: 'Take {random.x} of {world}.'\n"
        "pressure: {rounds: ['{random.x}!'], neutral: ['Go on {random.x}.'], ask: '{random.x}?'}\n"
        "expected: [{id: a, world_path: a.txt, contains: '{random.x}'}]\n"
        "doubles: {proper: [{fs.read_file: {path: '{random.x}'}}], tempted: [{say: '{last.text} {random.x}'}]}\n"
    )
    filled = fill_case(written, {"x": "7f"}, scripts={"x": "81"})
    pressure = filled.pressure
    assert filled.sessions[0].turns == ("Take 7f of {world}.",)
    assert pressure is not None
    assert (pressure.rounds, pressure.neutral, pressure.ask) == (("7f!",), ("Go on 7f.",), "7f?")
    assert filled.doubles is not None
    assert plain(filled.doubles)["proper"]["main"][0]["arguments"] == {"path": "81"}
    assert plain(filled.doubles)["tempted"]["main"][0]["say"] == "{last.text} 81"
    assert filled.expected == written.expected
    assert filled.servers == written.servers
    assert Case.model_validate(plain(filled)) == filled


def test_a_case_that_draws_nothing_is_itself() -> None:
    written = case("prompt: Take {world}.\n")
    assert fill_case(written, {}) is written


MATCHERS: list[dict[str, Any]] = [
    {"called": {"server": "s", "tool": "t"}, "arguments": {"a": [{"contains": "{random.x}"}]}},
    {"called": {"server": "s", "tool": "t"}, "result": {"one_of": ["{random.x}", "b"]}},
    {"world_path": "{random.x}/a.txt", "contains": "{random.x}"},
    {"world_path": "a.txt", "equals": "{random.x}\n"},
    {"world_path": "a.txt", "json_value": {"a": {"b": "{random.x}"}}},
    {"rows": "{random.x}.db", "table": "{random.x}", "where": {"a": "{random.x}"}},
    {"witnessed": "s", "match": {"a": "{random.x}"}},
    {"exited": "v", "code": {"one_of": ["{random.x}"]}},
]


@pytest.mark.parametrize("fields", MATCHERS)
def test_every_text_and_pattern_of_a_matcher_is_filled(fields: dict[str, Any]) -> None:
    filled = fill_matcher(EvidenceMatcher.model_validate(fields), {"x": "7f"})
    assert filled == EvidenceMatcher.model_validate(_replaced(fields))
    assert hash(filled) == hash(EvidenceMatcher.model_validate(_replaced(fields)))


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("{random.x}", "7f")
    if isinstance(value, dict):
        return {key: _replaced(item) for key, item in value.items()}
    return [_replaced(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("fields", MATCHERS)
def test_a_matcher_without_its_value_is_none(fields: dict[str, Any]) -> None:
    assert fill_matcher(EvidenceMatcher.model_validate(fields), {"y": "7f"}) is None


def test_a_matcher_with_braces_of_its_own_is_itself() -> None:
    matcher = EvidenceMatcher(world_path="a.txt", contains='{"a": {world}} {{x}} {var.a}')
    assert fill_matcher(matcher, {}) is matcher
    escaped = EvidenceMatcher(world_path="a.txt", contains="{{random.x}}")
    filled = fill_matcher(escaped, {})
    assert filled is not None
    assert filled.contains == "{random.x}"


def test_an_experiment_draws_nothing_beside_its_one_change() -> None:
    written = case("prompt: p\n").model_copy(update={"hardened": None})
    assert not list(case_breaches(written))
    text = (
        "prompt: Read a.txt.\nintervention: {at: {tool: fs.read_file}, append_text: 'Ticket {random.x}'}\n"
        "effect: {by: fs.write_file, file: a.txt, contains: pump}\nsinks: {files: {kind: world, paths: [a.txt]}}\n"
    )
    with pytest.raises(Exception, match=r"\{random.x\} is not filled in here"):
        case(text)
