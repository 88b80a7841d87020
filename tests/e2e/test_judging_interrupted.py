"""`oyer judge` that is killed or fails on the way: nothing of it counts, and it works again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from judged_kit import CASE, PLUGIN, oyer

pytestmark = pytest.mark.e2e

LATER = PLUGIN + "\n# a later revision\n"


class Killed(BaseException):
    """What a kill is inside one process."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("judged")
    (root / "world").mkdir()
    (root / "world" / "old.txt").write_text("as it was")
    (root / "case.yaml").write_text(CASE)
    (root / "mine.py").write_text(PLUGIN)
    (root / "later.py").write_text(LATER)
    subjects = ["--subject", "scripted:oracle", "--subject", "scripted:idle"]
    ran = oyer("run", root / "case.yaml", *subjects, "--plugin", root / "mine.py", "--out", root / "series")
    assert ran.code == 0, ran.error
    return root


@pytest.fixture
def killed(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A series whose later judging ended after its files were written and before its seal was in force."""
    mine = tmp_path / "series"
    shutil.copytree(whole / "series", mine)

    def kill(point: str) -> None:
        raise Killed(point)

    with monkeypatch.context() as patched:
        patched.setattr("oyer.engine.rejudging.reach", kill)
        with pytest.raises(Killed):
            oyer("judge", mine, "--plugin", whole / "later.py")
    yield mine


def failed(path: Path, *words: str | Path) -> list[int]:
    return [check["number"] for check in oyer("verify", path, *words).value["checks"] if check["status"] == "failed"]


def added(whole: Path, mine: Path) -> list[Path]:
    before = {path.relative_to(whole / "series") for path in (whole / "series").rglob("*")}
    here = (path for path in mine.rglob("*") if path.is_file() and ".tmp" not in path.parts)
    return [path for path in here if path.relative_to(mine) not in before]


@pytest.mark.parametrize("kept", ["all", "the pin", "a judgement", "nothing"])
def test_what_it_left_is_unfinished_and_judging_again_works(kept: str, killed: Path, whole: Path) -> None:
    left = added(whole, killed)
    assert len(left) == 3  # two judgements and the pin of who made them
    for path in left:
        mark = {"all": True, "the pin": "pins" in path.parts, "a judgement": path == left[-1]}.get(kept, False)
        if not mark:
            path.unlink()
    found = oyer("verify", killed)
    assert (found.code, failed(killed)) == (5, [])
    assert "E-STORE-TEMP" in str(found.value)
    assert oyer("show", killed).value["judged_later"] == [], "what never counted is not shown"
    assert oyer("bundle", killed, "-o", killed.parent / "x.oyer").code == 0
    bundled = oyer("verify", killed.parent / "x.oyer", "--plugin", whole / "mine.py")
    assert bundled.code == 0, bundled.error  # as if nobody had begun
    again = oyer("judge", killed, "--plugin", whole / "later.py")
    assert (again.code, len(again.value["made"])) == (0, 2), again.error
    assert len(oyer("show", killed).value["judged_later"]) == 2
    assert oyer("verify", killed, "--plugin", whole / "mine.py", "--plugin", whole / "later.py").code == 0


def test_an_announcement_excuses_nothing_but_the_act_it_announces(killed: Path, whole: Path) -> None:
    (killed / "judgements" / "stray.json").write_text("{}")
    assert 2 in failed(killed)
    (killed / "judgements" / "stray.json").unlink()
    (killed / ".tmp" / "act.json").write_text("{}")
    assert 2 in failed(killed)
    assert oyer("judge", killed, "--plugin", whole / "later.py").code == 4


def test_an_abort_on_the_second_trial_writes_nothing(whole: Path, tmp_path: Path) -> None:
    mine = tmp_path / "series"
    shutil.copytree(whole / "series", mine)
    (tmp_path / "half.py").write_text(
        PLUGIN.replace("    before", "    asked.append(1)\n    if len(asked) == 2: raise SystemExit(0)\n    before", 1)
        + "\n\nasked = []\n"
    )
    said = oyer("judge", mine, "--plugin", tmp_path / "half.py")
    assert (said.code, len(said.value["made"]), len(said.value["errors"])) == (5, 2, 1)
    assert failed(mine) == []


def test_a_run_that_ended_before_it_was_judged_is_not_judged_later(whole: Path, tmp_path: Path) -> None:
    mine = tmp_path / "series"
    shutil.copytree(whole / "series", mine)
    (mine / "seals" / "002.json").unlink()
    for name in ("outcomes", "judgements"):
        shutil.rmtree(mine / name)
    said = oyer("judge", mine, "--plugin", whole / "later.py")
    assert (said.code, "before it was judged" in said.error) == (4, True)
