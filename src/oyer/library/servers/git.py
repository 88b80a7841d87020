"""One bare git repository over MCP: look at branches, commit to the shared branch, merge into it, or move it.

Owns six tools over the repository GIT_HOME (`shared.git` by default) and its branch GIT_BRANCH (`main`). Everything is
real git, with a fixed author and time, so that the same calls make the same commits in every trial.

Must never run a hook, read a configuration outside the repository, or decide what may be done to the branch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from oyer.library.servers._loop import Answer, TextTool, serve

__all__ = ["Repository", "main", "repository_from", "tools"]

TIMEOUT_S = 20
LOG_ENTRIES = 30

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,99}\Z")
_WHEN = "2026-01-05T09:00:00+0000"
_WHO = {"NAME": "Desk", "EMAIL": "desk@harbour.example"}


class GitError(Exception):
    """What git refused; the message is meant for the caller of the tool."""


class Repository(NamedTuple):
    """Where the repository is, and its shared branch."""

    home: str
    branch: str


def repository_from(environment: Mapping[str, str]) -> Repository:
    """Name the repository of an environment."""
    return Repository(environment.get("GIT_HOME", "shared.git"), environment.get("GIT_BRANCH", "main"))


def tools(repository: Repository) -> tuple[TextTool, ...]:
    """Return the tools of one repository."""
    shared = repository.branch
    branch = {"branch": f"A branch, for instance {shared}"}
    where = {**branch, "path": "Path of a file in the repository"}
    commit = {"path": where["path"], "content": "The whole new content", "message": "The commit message"}
    back = {"commit": f"The commit or branch that {shared} is to point at"}
    return (
        TextTool("branches", "List the branches.", lambda _: branches(repository)),
        TextTool("log", "List the latest commits of a branch.", lambda given: log(repository, given["branch"]), branch),
        TextTool("show", "Show a file of a branch.", lambda given: show(repository, **given), where),
        TextTool("commit", f"Commit a file to {shared}.", lambda given: commit_file(repository, **given), commit),
        TextTool("merge", f"Merge a branch into {shared}.", lambda given: merge(repository, given["branch"]), branch),
        TextTool("reset", f"Point {shared} at another commit.", lambda given: reset(repository, given["commit"]), back),
    )


def branches(repository: Repository) -> Answer:
    """List every branch with the subject of its last commit."""
    found = _git(repository, "for-each-ref", "--format=%(refname:short) %(subject)", "refs/heads")
    return Answer(found.strip() or "There is no branch.")


def log(repository: Repository, branch: str) -> Answer:
    """List the latest commits of a branch, the newest first."""
    return Answer(_git(repository, "log", "--format=%h %s", f"-{LOG_ENTRIES}", _commit(repository, branch)).strip())


def show(repository: Repository, branch: str, path: str) -> Answer:
    """Answer with a file as it stands on a branch."""
    return Answer(_git(repository, "cat-file", "blob", f"{_commit(repository, branch)}:{_path(path)}"))


def commit_file(repository: Repository, path: str, content: str, message: str) -> Answer:
    """Put one file into a new commit on the shared branch."""
    parent = _commit(repository, repository.branch)
    blob = _git(repository, "hash-object", "-w", "--stdin", given=content).strip()
    index = f"{repository.home}/index.{os.getpid()}"
    try:
        _git(repository, "read-tree", parent, index=index)
        _git(repository, "update-index", "--add", "--cacheinfo", f"100644,{blob},{_path(path)}", index=index)
        tree = _git(repository, "write-tree", index=index).strip()
    finally:
        if os.path.exists(index):
            os.unlink(index)
    return _move(repository, tree, (parent,), message, f"Committed {path} to {repository.branch}")


def merge(repository: Repository, branch: str) -> Answer:
    """Merge a branch; what conflicts is listed and nothing is changed."""
    ours, theirs = _commit(repository, repository.branch), _commit(repository, branch)
    code, told = _run(repository, "merge-tree", "--write-tree", "--name-only", "--no-messages", ours, theirs)
    tree, *conflicts = told.split("\n")
    if code == 1:
        files = ", ".join(name for name in conflicts if name)
        return Answer(f"Not merged: {branch} and {repository.branch} conflict in {files}.", is_error=True)
    if code != 0:
        raise GitError(told.strip() or "git could not merge")
    message = f"Merge {branch}"
    return _move(repository, tree.strip(), (ours, theirs), message, f"Merged {branch} into {repository.branch}")


def reset(repository: Repository, commit: str) -> Answer:
    """Point the shared branch at another commit, whatever was on it."""
    target = _commit(repository, commit)
    _git(repository, "update-ref", f"refs/heads/{repository.branch}", target)
    return Answer(f"{repository.branch} is now at {target[:10]}.")


def _move(repository: Repository, tree: str, parents: tuple[str, ...], message: str, told: str) -> Answer:
    named = [word for parent in parents for word in ("-p", parent)]
    commit = _git(repository, "commit-tree", tree, *named, given=message).strip()
    _git(repository, "update-ref", f"refs/heads/{repository.branch}", commit, parents[0])
    return Answer(f"{told}: {commit[:10]}.")


def _commit(repository: Repository, name: str) -> str:
    if not _NAME.match(name) or ".." in name:
        raise GitError(f"{name!r} is no branch or commit")
    code, told = _run(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if code != 0:
        raise GitError(f"there is no branch or commit {name}")
    return told.strip()


def _path(path: str) -> str:
    if not _NAME.match(path) or ".." in path.split("/"):
        raise GitError(f"{path!r} is no path in the repository")
    return path


def _git(repository: Repository, *words: str, given: str = "", index: str | None = None) -> str:
    code, told = _run(repository, *words, given=given, index=index)
    if code != 0:
        raise GitError(told.strip().split("\n")[0] or f"git {words[0]} failed")
    return told


def _run(repository: Repository, *words: str, given: str = "", index: str | None = None) -> tuple[int, str]:
    """Run git and return its exit code and what it said. Raises: GitError where it cannot be run."""
    # Loaded at the first call only: it costs more than all the rest of the start.
    import subprocess

    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C",
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()},
        **{f"GIT_{role}_DATE": _WHEN for role in ("AUTHOR", "COMMITTER")},
        **({} if index is None else {"GIT_INDEX_FILE": os.path.abspath(index)}),
    }
    settings = ("-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", "-c", "core.logAllRefUpdates=false")
    argv = ["git", *settings, f"--git-dir={repository.home}", *words]
    try:
        done = subprocess.run(argv, input=given.encode(), capture_output=True, env=environment, timeout=TIMEOUT_S)
    except FileNotFoundError:
        raise GitError("git is not installed here") from None
    except subprocess.TimeoutExpired:
        raise GitError("git took too long") from None
    except UnicodeEncodeError:
        raise GitError("the text holds a lone surrogate, which no file can") from None
    said = done.stdout if done.stdout or done.returncode == 0 else done.stderr
    return done.returncode, said.decode("utf-8", "replace")


def main() -> None:
    """Serve one repository until the input ends."""
    serve("git", tools(repository_from(os.environ)), refusal=GitError)


if __name__ == "__main__":
    main()
