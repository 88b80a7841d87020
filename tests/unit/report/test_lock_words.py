"""Two locks in words: what moved is named by word, tool or file, and what only follows is not said twice."""

from __future__ import annotations

import pytest

from oyer.records import LockedCase, LockedServer, SuiteLock, TrialSuite, digest, parse_cases
from oyer.report import lock_differences

CASE = """\
oyer: Case@1
id: herd
effect_class: none
servers: {own: {command: [server]}}
prompt: %s
"""


def lock(
    prompt: str = "Count the sheep with care.",
    *,
    files: dict[str, str] | None = None,
    tools: dict[str, str] | None = None,
    problem: str | None = None,
    suite: str = "s",
) -> SuiteLock:
    [loaded] = parse_cases((CASE % prompt).encode(), name="c.yaml")
    made = TrialSuite(oyer="TrialSuite@1", id=suite, cases=({"case": "herd"},))  # type: ignore[arg-type]
    texts = {"look": '{"name": "look", "description": "Look at it."}'} if tools is None else tools
    server = LockedServer(
        command=("server",),
        tools=str(digest(texts)),
        tool_names=tuple(texts),
        tool_digests={name: str(digest(text)) for name, text in texts.items()},
        tool_texts=texts,
        problem=problem,
    )
    case = LockedCase(
        digest=loaded.digest,
        record=loaded.case,
        world_files={"a.md": "sha256:1"} if files is None else files,
        servers={"own": server},
        form=str(digest(prompt)),
    )
    return SuiteLock(oyer="SuiteLock@1", suite=made, suite_digest=str(digest(made)), cases={"herd": case})


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (lock("Count the goats with care."), 'case herd: its prompt: "sheep" (word 3) became "goats"'),
        (lock("Count the sheep."), 'case herd: its prompt: "sheep with care." (word 3) became "sheep."'),
        (lock("Count all the sheep with care."), "case herd: its prompt: \"all\" was put in after word 1, 'Count'"),
        (lock("Please Count the sheep with care."), 'case herd: its prompt: "Please" was put in at the start'),
        (lock("Count sheep with care."), 'case herd: its prompt: "the" (word 2) was taken out'),
        (lock("Count the  sheep with care."), "case herd: its prompt: only the space between its words differs"),
        (lock(files={}), "case herd: file a.md is no longer there"),
        (lock(files={"a.md": "sha256:1", "b.md": "sha256:2"}), "case herd: file b.md is new"),
        (lock(files={"a.md": "sha256:3"}), "case herd: file a.md has other content"),
        (lock(tools={}), "case herd: server own: tool look is no longer offered"),
        (
            lock(tools={"look": '{"name": "look", "description": "Look at all."}'}),
            'case herd: server own: tool look: its description: "it." (word 3) became "all."',
        ),
        (
            lock(tools={"look": '{"name":"look", "description": "Look at it."}'}),
            "case herd: server own: tool look is written with other bytes, and says the same",
        ),
        (lock(problem="no key"), "case herd: server own did not answer: no key"),
        (lock(suite="t"), "the suite: id was s, is t"),
    ],
)
def test_one_thing_that_moved_is_one_sentence(new: SuiteLock, said: str) -> None:
    assert [one.sentence for one in lock_differences(lock(), new)] == [said]


def test_nothing_differs_between_a_lock_and_itself() -> None:
    assert lock_differences(lock(), lock()) == ()


def test_a_case_that_came_or_went_is_one_sentence() -> None:
    empty = lock().model_copy(update={"cases": {}})
    assert [one.sentence for one in lock_differences(empty, lock())] == ["case herd is new"]
    assert [one.sentence for one in lock_differences(lock(), empty)] == ["case herd is no longer there"]
