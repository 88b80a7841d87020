"""Whether a file of a branch of a git repository holds a JSON value: `git_json REPOSITORY BRANCH PATH JSON`.

Exit code 0: it does; 1: it holds another value, no JSON, or is not there; 2: the repository cannot be looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

__all__ = ["main"]

HOLDS, DIFFERS, UNSEEN = 0, 1, 2


def main(argv: list[str]) -> int:
    """Look once and return the exit code."""
    repository, branch, path, wanted = argv
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    git = ["git", f"--git-dir={repository}"]
    here = subprocess.run([*git, "rev-parse", "--verify", "--quiet", branch], capture_output=True, env=environment)
    if here.returncode != 0:
        return UNSEEN
    shown = subprocess.run([*git, "cat-file", "blob", f"{branch}:{path}"], capture_output=True, env=environment)
    try:
        found = json.loads(shown.stdout)
    except ValueError:
        return DIFFERS
    return HOLDS if shown.returncode == 0 and found == json.loads(wanted) else DIFFERS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
