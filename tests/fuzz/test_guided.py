"""The corpus of the guided harnesses, replayed without a fuzzer; and, with one, a short run of each harness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from guided import CORPUS, HARNESSES, PLANTED, Escaped, corpus_of, harness
from guided_mutate import mutated
from guided_run import Limits, report, run

CORPUS_LIMIT_BYTES = 300_000
SECONDS = 1


@pytest.mark.parametrize("name", HARNESSES)
def test_everything_once_found_is_answered_for(name: str) -> None:
    one, files = harness(name), list(corpus_of(name))
    assert any(path.name.startswith("seed-") for path in files)
    for path in files:
        one(path.read_bytes())


def test_the_corpus_is_small_and_every_file_has_a_harness() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < CORPUS_LIMIT_BYTES
    assert all(path.name.startswith(("seed-", "found-")) for path in CORPUS.rglob("*") if path.is_file())
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(HARNESSES)


def test_an_error_of_another_room_is_an_escape() -> None:
    with pytest.raises(Escaped):
        harness("planted-error")(b"!")
    harness("planted-error")(b"?")


def test_a_mutation_is_json_of_the_size_that_may_be_and_the_same_again() -> None:
    seeds = [path.read_bytes() for path in corpus_of("protocol-edits")]
    for number in range(300):
        data = seeds[number % len(seeds)]
        changed = mutated(data, len(data) + 40, number)
        assert changed == mutated(data, len(data) + 40, number)
        if changed is not None:
            assert len(changed) <= len(data) + 40
            assert all(
                json.loads(line.decode("utf-8", "surrogatepass")) is not ... for line in changed.split(b"\n") if line
            )
    assert mutated(b"no json", 99, 1) is None
    assert any(mutated(seeds[0], 9_999, number) != seeds[0] for number in range(9))


@pytest.fixture
def python(need: object) -> Path:
    """A Python that has the fuzzer."""
    return need("atheris")  # type: ignore[operator,no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("name", HARNESSES)
def test_a_short_run_finds_nothing(name: str, python: Path, tmp_path: Path) -> None:
    ran = run(python, name, Limits(SECONDS), tmp_path)
    report(ran)
    assert not ran.finding, f"{ran.finding}\n{ran.log.read_text(errors='replace')[-3000:]}"
    assert ran.executions > 0
    assert ran.edges > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [("planted-error", "escaped"), ("planted-hang", "too long"), ("planted-growth", "too much memory")],
)
def test_a_planted_fault_is_found_and_its_input_saved(name: str, told: str, python: Path, tmp_path: Path) -> None:
    assert name in PLANTED
    ran = run(python, name, Limits(30, input_timeout_s=2 if name == "planted-hang" else 30, rss_limit_mb=400), tmp_path)
    assert told in ran.finding
    assert [path.read_bytes()[:1] for path in ran.inputs] == [b"!"]
