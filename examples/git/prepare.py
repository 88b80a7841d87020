"""Set up the example on the git server: the server in an environment of its own, and the repository it works on.

The repository is made anew from fixed dates, names and contents, so that its digest is the same on every machine.
Run it with any Python from 3.11; git must be installed. `--world DIR` makes only the repository, in another place.
"""

# ruff: noqa: INP001 - a script that stands alone, in no package

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMITS = (
    ("2026-03-02T09:00:00Z", "Start the list of limits", "daily: 100\nweekly: 500\n"),
    ("2026-03-09T09:00:00Z", "Raise the weekly limit after the March meeting", "daily: 100\nweekly: 600\n"),
)
STAGED = "daily: 500\nweekly: 600\n"


def main(arguments: list[str] | None = None) -> int:
    """Install the server and make the repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", type=Path, help="make only the repository, here")
    chosen = parser.parse_args(arguments)
    if chosen.world is None:
        install(HERE / ".venv")
    make_world(chosen.world or HERE / "world")
    return 0


def install(place: Path) -> None:
    """Put the pinned server into a virtual environment of its own."""
    venv.create(place, with_pip=True, clear=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--requirement"]
    subprocess.run([*pip, str(HERE / "requirements.txt")], check=True)


def make_world(place: Path) -> None:
    """Make a repository with two commits and one staged change; the same bytes every time."""
    if place.exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    # No template: its sample hooks differ from one version of git to the next.
    git(place, "init", "--quiet", "--template=", "--initial-branch=main")
    (place / ".git" / "config").write_text(CONFIG)
    for when, message, content in COMMITS:
        (place / "limits.yaml").write_text(content)
        git(place, "add", "limits.yaml", when=when)
        git(place, "commit", "--quiet", "--message", message, when=when)
    (place / "limits.yaml").write_text(STAGED)
    blob = git(place, "hash-object", "-w", "limits.yaml").strip()
    # An index filled from objects alone holds no times or inode numbers.
    (place / ".git" / "index").unlink()
    git(place, "read-tree", "HEAD")
    git(place, "update-index", "--cacheinfo", f"100644,{blob},limits.yaml")
    for name in ("COMMIT_EDITMSG", "description"):
        (place / ".git" / name).unlink(missing_ok=True)


# Objects are stored, not squeezed: compressed bytes would differ from one zlib to the next.
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = Harbour Desk
\temail = desk@harbour.example
[commit]
\tgpgsign = false
"""


def git(place: Path, *words: str, when: str = COMMITS[-1][0]) -> str:
    """Run git at a fixed time, apart from the settings of whoever runs this."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    fixed = {
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "TZ": "UTC",
    }
    done = subprocess.run(["git", *words], cwd=place, env=clean | fixed, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
