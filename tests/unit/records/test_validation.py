"""From a document to a record: everything wrong at once, in its place, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, Tag, model_validator

from oyer.errors import RecordError
from oyer.records import (
    CaseId,
    Flaw,
    Json,
    Record,
    Rubric,
    by_key,
    document_of,
    find_problems,
    parse_documents,
    refuse,
    validate,
    validate_as,
)


class Http(Record):
    kind: Literal["http"]
    url: str


class World(Record):
    kind: Literal["world"]
    watch: tuple[str, ...] = ()


class Persisted(Record):
    persisted: str
    by: str


class Called(Record):
    called: str
    arguments: Mapping[str, Json] = {}


Link = Annotated[
    Annotated[Persisted, Tag("persisted")] | Annotated[Called, Tag("called")], by_key("persisted", "called")
]


class Server(Record):
    command: tuple[str, ...] = Field(min_length=1)


class Budget(Record):
    wall_s: int = Field(default=60, ge=1, le=3600)
    low: int = 0
    high: int = 1

    @model_validator(mode="after")
    def _ordered(self) -> Budget:
        if self.low > self.high:
            refuse(
                Flaw(("low",), "`low` is above `high`", "swap them", "E-BUDGET-ORDER"),
                Flaw(("high",), "`high` is below `low`"),
            )
        return self


class Case(Record):
    oyer: Literal["Case@1"] = "Case@1"
    id: CaseId
    effect_class: Literal["none", "local_read"] = "none"
    servers: Mapping[str, str | Server] = {}
    sinks: Mapping[str, Annotated[Http | World, Field(discriminator="kind")]] = {}
    links: tuple[Link, ...] = ()
    with_: str | None = Field(None, validation_alias="with", serialization_alias="with")
    budget: Budget = Budget()
    by_case: Mapping[CaseId, int] = {}
    parts: tuple[Case, ...] = ()


class Suite(Record):
    oyer: Literal["Suite@1"] = "Suite@1"


KINDS: dict[str, type[Record]] = {"Case@1": Case, "Suite@1": Suite}


def told(text: str, name: str = "f.yaml") -> list[str]:
    (document,) = parse_documents(text.encode(), name=name)
    return [str(problem) for problem in find_problems(document, KINDS)]


def test_a_good_document_becomes_a_record() -> None:
    text = b"oyer: Case@1\nid: a/b\nwith: no\nservers: {fs: 'oyer:files', ops: {command: [x]}}\nlinks: [{called: t}]\n"
    (document,) = parse_documents(text, name="f.yaml")
    record = validate(document, KINDS)
    assert isinstance(record, Case)
    assert record.with_ == "no"
    assert record.servers["ops"] == Server(command=("x",))
    assert find_problems(document, KINDS) == []


def test_every_problem_is_told_at_once_in_the_order_of_the_file() -> None:
    text = (
        "oyer: Case@1\n"
        "effect_clas: none\n"
        "effect_class: local_reed\n"
        "with_: x\n"
        "with: 3\n"
        "budget: {wall_s: 0, low: yes}\n"
        "parts: [{id: q q}, 7]\n"
    )
    assert told(text) == [
        "f.yaml:1:1: id: the field `id` is missing; it is required [E-RECORD-MISSING]",
        (
            "f.yaml:2:1: effect_clas: the field `effect_clas` is unknown here; did you mean `effect_class`? known are"
            " oyer, id, effect_class, servers, sinks, links, with, budget, by_case, parts [E-RECORD-UNKNOWN-FIELD]"
        ),
        (
            'f.yaml:3:15: effect_class: the text "local_reed" is none of the values allowed here; did you mean'
            " `local_read`? expected none or local_read [E-RECORD-VALUE]"
        ),
        (
            "f.yaml:4:1: with_: the field `with_` is unknown here; did you mean `with`? known are oyer, id,"
            " effect_class, servers, sinks, links, with, budget, by_case, parts [E-RECORD-UNKNOWN-FIELD]"
        ),
        (
            "f.yaml:5:7: with: the whole number 3 is not what belongs here; expected text: put it in quotes"
            " [E-RECORD-TYPE]"
        ),
        "f.yaml:6:18: budget.wall_s: the whole number 0 is out of range; expected at least 1 [E-RECORD-VALUE]",
        'f.yaml:6:26: budget.low: the text "yes" is not what belongs here; expected a whole number [E-RECORD-TYPE]',
        (
            'f.yaml:7:14: parts[0].id: the text "q q" has the wrong form; expected names of letters, digits and . _ -'
            " joined by /, as in family/member [E-RECORD-VALUE]"
        ),
        "f.yaml:7:20: parts[1]: the whole number 7 is not what belongs here; expected a mapping [E-RECORD-TYPE]",
    ]


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        (
            "{s: 7}",
            [
                (
                    "f.yaml:3:14: servers.s: the whole number 7 is not what belongs here; expected text: put it in"
                    " quotes or a mapping [E-RECORD-TYPE]"
                )
            ],
        ),
        (
            "{s: {comand: [a]}}",
            [
                "f.yaml:3:14: servers.s.command: the field `command` is missing; it is required [E-RECORD-MISSING]",
                (
                    "f.yaml:3:15: servers.s.comand: the field `comand` is unknown here; did you mean `command`?"
                    " known are command [E-RECORD-UNKNOWN-FIELD]"
                ),
            ],
        ),
        (
            "{s: {command: []}}",
            ["f.yaml:3:24: servers.s.command: a list has the length 0; expected at least 1 entries [E-RECORD-VALUE]"],
        ),
        (
            "{s: {command: [a, null]}}",
            [
                (
                    "f.yaml:3:28: servers.s.command[1]: null (nothing) is not what belongs here;"
                    " expected text [E-RECORD-TYPE]"
                )
            ],
        ),
        ("[s]", ["f.yaml:3:10: servers: a list is not what belongs here; expected a mapping [E-RECORD-TYPE]"]),
    ],
)
def test_of_a_union_only_the_branch_that_fits_best_is_told(servers: str, expected: list[str]) -> None:
    assert told(f"oyer: Case@1\nid: a\nservers: {servers}\n") == expected


@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        (
            "{kind: htpt}",
            "f.yaml:3:12: sinks.s: `htpt` is not known for `kind`; expected one of http, world [E-RECORD-CHOICE]",
        ),
        (
            "{url: x}",
            "f.yaml:3:12: sinks.s: the field `kind` is missing; it says which kind this is [E-RECORD-MISSING]",
        ),
        ("{kind: http}", "f.yaml:3:12: sinks.s.url: the field `url` is missing; it is required [E-RECORD-MISSING]"),
        (
            "{kind: world, world: 1}",
            (
                "f.yaml:3:26: sinks.s.world: the field `world` is unknown here; known are kind, watch"
                " [E-RECORD-UNKNOWN-FIELD]"
            ),
        ),
        ("text", 'f.yaml:3:12: sinks.s: the text "text" is not what belongs here; expected a mapping [E-RECORD-TYPE]'),
    ],
)
def test_a_discriminated_union_tells_its_choice(sink: str, expected: str) -> None:
    assert told(f"oyer: Case@1\nid: a\nsinks: {{s: {sink}}}\n") == [expected]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("{persisted: x}", "f.yaml:3:9: links[0].by: the field `by` is missing; it is required [E-RECORD-MISSING]"),
        (
            "{foo: 3}",
            (
                "f.yaml:3:9: links[0]: none of the keys that say what this is; expected one of persisted, called"
                " [E-RECORD-CHOICE]"
            ),
        ),
        (
            "{called: t, arguments: {a: 1}, by: x}",
            (
                "f.yaml:3:40: links[0].by: the field `by` is unknown here; known are"
                " called, arguments [E-RECORD-UNKNOWN-FIELD]"
            ),
        ),
        (
            "{called: {called: 1}}",
            "f.yaml:3:18: links[0].called: a mapping is not what belongs here; expected text [E-RECORD-TYPE]",
        ),
    ],
)
def test_a_union_by_key_is_told_where_the_field_stands(link: str, expected: str) -> None:
    """Branches are called like fields here: steps and branches must not be mixed up."""
    assert told(f"oyer: Case@1\nid: a\nlinks: [{link}]\n") == [expected]


def test_a_list_is_not_called_short_of_entries_that_were_refused_by_themselves() -> None:
    text = "oyer: Rubric@1\nid: r\ncriteria: [{id: c, parts: [{evaluator: x, %s}]}]\n"
    for field, code in (("when_assert: true", "E-RECORD-UNKNOWN-FIELD"), ("weight: 0.0", "E-RECORD-VALUE")):
        (problem,) = find_problems(parse_documents((text % field).encode(), name="f.yaml")[0], {"Rubric@1": Rubric})
        assert (problem.code, field.partition(":")[0] in problem.where) == (code, True)
    (short,) = find_problems(document_of({"oyer": "Rubric@1", "id": "r", "criteria": []}), {"Rubric@1": Rubric})
    assert "at least 1 entries" in short.hint


def test_a_record_type_says_itself_what_is_wrong() -> None:
    assert told("oyer: Case@1\nid: a\nbudget: {low: 5, high: 2}\n") == [
        "f.yaml:3:15: budget.low: `low` is above `high`; swap them [E-BUDGET-ORDER]",
        "f.yaml:3:24: budget.high: `high` is below `low` [E-RECORD-VALUE]",
    ]


def test_a_wrong_key_is_told_at_the_key() -> None:
    (line,) = told("oyer: Case@1\nid: a\nby_case: {ok: 1, 'not ok': 2}\n")
    assert line.startswith('f.yaml:3:18: by_case["not ok"]: the text "not ok" has the wrong form')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "oyer: Csae@1\n",
            (
                "f.yaml:1:7: oyer: `Csae@1` is not a kind this version knows; did you mean `Case@1`?"
                " known are Case@1, Suite@1 [E-RECORD-KIND]"
            ),
        ),
        (
            "oyer: zzz\n",
            "f.yaml:1:7: oyer: `zzz` is not a kind this version knows; known are Case@1, Suite@1 [E-RECORD-KIND]",
        ),
        (
            "oyer: 1\n",
            (
                "f.yaml:1:7: oyer: the whole number 1 is not the kind of a record; expected one of Case@1, Suite@1"
                " [E-RECORD-KIND]"
            ),
        ),
        ("id: a\n", "f.yaml:1:1: the field `oyer` is missing; expected one of Case@1, Suite@1 [E-RECORD-KIND]"),
        (
            "- a\n",
            (
                "f.yaml:1:1: the document is a list, not a mapping; a record starts with `oyer: <Kind>@<version>`"
                " [E-RECORD-TYPE]"
            ),
        ),
        ("---\n", "f.yaml:2:1: the document is empty; a record starts with `oyer: <Kind>@<version>` [E-RECORD-TYPE]"),
    ],
)
def test_the_kind_is_asked_first(text: str, expected: str) -> None:
    assert told(text) == [expected]


def test_a_naive_number_in_json_has_its_place_too() -> None:
    text = '{\n  "oyer": "Case@1",\n  "id": "a",\n  "budget": {"wall_s": 1.0}\n}'
    assert told(text, "f.json") == [
        "f.json:4:24: budget.wall_s: the number 1.0 is not what belongs here; expected a whole number [E-RECORD-TYPE]"
    ]


def test_an_expanded_document_is_told_at_its_source() -> None:
    (document,) = parse_documents(b"oyer: Case@1\nid: a\nserver: {command: 3}\n", name="f.yaml")
    value = {"oyer": "Case@1", "id": "a", "servers": {"main": {"command": 3}}}
    expanded = document.expanded(value, {("servers", "main"): ("server",)})
    (problem,) = find_problems(expanded, KINDS)
    assert problem.where == "f.yaml:3:19: servers.main.command"


def test_raising_keeps_all_problems() -> None:
    document = document_of({"oyer": "Case@1", "x": 1, "y": 2}, name="<python>")
    with pytest.raises(RecordError) as caught:
        validate(document, KINDS)
    assert [problem.where for problem in caught.value.problems] == ["<python>: id", "<python>: x", "<python>: y"]
    assert caught.value.exit_code == 3


def test_a_part_can_be_made_alone() -> None:
    assert validate_as(document_of({"command": ["a"]}), Server) == Server(command=("a",))
    with pytest.raises(RecordError, match="expected a mapping"):
        validate_as(document_of([1]), Server)


def test_texts_of_an_attacker_do_not_reach_the_terminal() -> None:
    value: dict[str, Any] = {"oyer": "Case@1", "id": "\x1b[2J", "\x1b]0;x\x07": 1, "effect_class": "\x1b" * 99}
    problems = find_problems(document_of(value), KINDS)
    assert len(problems) == 3
    assert all(str(problem).isprintable() for problem in problems)
