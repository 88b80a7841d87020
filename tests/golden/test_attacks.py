"""The attack catalogue: each attack is caught by the check that is declared for it, or declared beyond any check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.catalogue import CANNOT_EXIST, CATALOGUE, empty_cells
from attacks.ground import Grounds, good, grounds, try_attack
from attacks.kinds import JOURNALS, KINDS, MECHANISMS, Attack
from golden_memory import verify_files


@pytest.fixture(scope="module")
def made() -> Iterator[Grounds]:
    with grounds() as found:
        yield found


def test_no_cell_is_empty_and_no_name_stands_twice() -> None:
    assert empty_cells() == []
    names = [attack.name for attack in CATALOGUE]
    assert len(names) == len(set(names))
    assert set(JOURNALS) <= set(KINDS) and all(CANNOT_EXIST.values()) and all(MECHANISMS.values())


def test_every_ground_is_good_before_it_is_attacked(made: Grounds) -> None:
    judged = ("judged", "judged_foreign", "pressed", "sequence", "stopped")
    for name in ("plain", "foreign", "pair", "retried", "hardened", *judged):
        assert verify_files(good(made, signed=False, name=name).files).exit_code == 0, name


def test_the_grounds_are_the_same_bytes_each_time(made: Grounds) -> None:
    with grounds() as again:
        assert again[:10] == made[:10]
        assert good(again, signed=True).envelope == good(made, signed=True).envelope


@pytest.mark.parametrize("kind", KINDS)
def test_the_declared_check_catches_it(made: Grounds, tmp_path: Path, kind: str) -> None:
    for attack in _of(kind)[::3]:  # the whole table is slow
        tried = try_attack(attack, made, tmp_path, with_keys=_says_more_with_keys(attack))
        assert tried.as_declared, (attack.name, tried.unsigned, tried.signed)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_whole_table(made: Grounds, tmp_path: Path) -> None:
    for attack in CATALOGUE:
        tried = try_attack(attack, made, tmp_path)
        assert tried.as_declared, (attack.name, tried.unsigned, tried.signed)
        assert tried.signed is not None and tried.signed.exit_code == 4, attack.name


def _of(kind: str) -> list[Attack]:
    found = [attack for attack in CATALOGUE if attack.kind == kind]
    assert found
    return found


def _says_more_with_keys(attack: Attack) -> bool:
    """Whether the second column is more than "and the bundle is not the one that was signed"."""
    return attack.unsigned in {"open", "not caught"} or attack.signed == 2 or "signature" in attack.kind
