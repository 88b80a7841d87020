"""The two commands of the README on a fresh machine: environments that start anew, grow, and need no network twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BACKEND = """
import pathlib, zipfile
def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as wheel:
        wheel.writestr("tiny.py", "")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
        wheel.writestr("tiny-1.0.dist-info/entry_points.txt", "[console_scripts]\\noyer = tiny:main\\n")
    return name
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that needs no package at all, in a directory with a space, with this project's door."""
    place = tmp_path / "a fresh clone"
    (place / "tools").mkdir(parents=True)
    (place / "requirements").mkdir()
    shutil.copy(ROOT / "tools" / "dev.py", place / "tools")
    (place / "requirements" / "run.txt").write_text("# nothing\n")
    (place / "requirements" / "dev.txt").write_text("# nothing, for developers\n")
    (place / "backend.py").write_text(BACKEND)
    (place / "pyproject.toml").write_text(
        '[project]\nname = "tiny"\nversion = "1.0"\n'
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    return place


def make(place: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Bring the environment up to date without any network, and return what was said."""
    code = f"import sys; sys.path.insert(0, 'tools'); import dev; dev.ensure({kind!r})"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    result = subprocess.run(
        ["python3", "-c", code], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result


def stamp(place: Path) -> dict[str, str]:
    return json.loads((place / ".venv" / "oyer-stamp.json").read_text())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_environment_is_made_kept_grown_and_made_anew(project: Path) -> None:
    assert "making .venv with" in make(project, "run").stderr
    assert (project / ".venv" / "bin" / "oyer").exists()
    assert stamp(project)["kind"] == "run"
    assert make(project, "run").stderr == ""

    grown = make(project, "dev").stderr
    assert "making .venv" not in grown
    assert "installing requirements/dev.txt" in grown
    assert make(project, "run").stderr == make(project, "dev").stderr == ""

    (project / "pyproject.toml").write_text((project / "pyproject.toml").read_text() + "# changed\n")
    assert make(project, "dev").stderr.split("\n")[0] == "oyer: installing oyer itself"

    (project / ".venv" / "oyer-stamp.json").unlink()
    assert "removing .venv: unfinished" in make(project, "dev").stderr

    (project / "requirements" / "dev.txt").write_text("# other\n")
    assert "removing .venv" in make(project, "dev").stderr

    moved = project.rename(project.parent / "moved elsewhere")
    assert "removing .venv" in make(moved, "dev").stderr
    assert stamp(moved)["place"] == str(moved / ".venv")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.needs("make", "git")
def test_make_demo_on_a_fresh_clone_and_then_without_network(tmp_path: Path) -> None:
    place = tmp_path / "a fresh clone"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if not name.startswith("tests/") and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    first = subprocess.run(["make", "demo"], cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stdout + first.stderr
    assert stamp(place)["kind"] == "run"
    environment.update(PIP_NO_INDEX="1", PIP_INDEX_URL="http://127.0.0.1:9/")
    second = subprocess.run(["make", "demo"], cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "oyer: installing" not in second.stderr
    _verify_alone(place, tmp_path / "series", environment)


def _verify_alone(place: Path, series: Path, environment: dict[str, str]) -> None:
    """Verify a bundle with that environment, which has no extra, in a network namespace of its own."""
    oyer, python = str(place / ".venv" / "bin" / "oyer"), str(place / ".venv" / "bin" / "python")
    # The extra `sign` brings this library, and nothing else does.
    assert subprocess.run([python, "-c", "import cryptography"], capture_output=True, check=False).returncode == 1
    ran = [oyer, "run", "cascade-memo", "--subject", "scripted:obedient", "--out", str(series)]
    subprocess.run(ran, env=environment, check=True, capture_output=True)
    bundle = str(series.with_suffix(".oyer"))
    subprocess.run([oyer, "bundle", str(series), "-o", bundle], env=environment, check=True, capture_output=True)
    probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip(f"no network namespace of one's own here: {probe.stderr.decode(errors='replace').strip()}")
    alone = ["unshare", "-rn", oyer, "verify", bundle]
    done = subprocess.run(alone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
