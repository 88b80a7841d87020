"""A key is read only from where nobody else can read it, and no error repeats it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oyer.errors import UsageError
from oyer.host import hide_secrets, read_secret, read_secret_env, read_secret_file


def key_file(place: Path, text: str, mode: int = 0o600) -> Path:
    path = place / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_reads_a_private_file_without_its_line_end(tmp_path: Path) -> None:
    assert read_secret_file(key_file(tmp_path, "sk-abc\n")) == "sk-abc"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_refuses_a_file_that_others_can_reach(tmp_path: Path, mode: int) -> None:
    with pytest.raises(UsageError, match="chmod 600") as caught:
        read_secret_file(key_file(tmp_path, "sk-abc", mode))
    assert "sk-abc" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n", "two\nlines", "nul\0", "x" * 20_000])
def test_refuses_what_is_no_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        read_secret_file(key_file(tmp_path, text))


def test_refuses_links_directories_and_nothing(tmp_path: Path) -> None:
    target = key_file(tmp_path, "sk-abc")
    (tmp_path / "link").symlink_to(target)
    for path in (tmp_path / "link", tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError):
            read_secret_file(path)


def test_environment_and_precedence(tmp_path: Path) -> None:
    assert read_secret_env("KEY", {"KEY": " value "}) == "value"
    with pytest.raises(UsageError, match="export KEY"):
        read_secret_env("KEY", {})
    path = key_file(tmp_path, "from-file")
    assert read_secret(env="KEY", file=path, environ={"KEY": "from-env"}) == "from-file"
    assert read_secret(env="KEY", file=None, environ={"KEY": "from-env"}) == "from-env"
    with pytest.raises(UsageError, match="no key"):
        read_secret(env=None, file=None, environ={})


PEEK = """
import ctypes, os, sys
from oyer.host import hide_secrets
libc = ctypes.CDLL(None)
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
    libc.prctl(4, 1, 0, 0, 0)  # as a process is that was started by this user

def peek():
    child = os.fork()
    if child == 0:
        libc.prctl(4, 1, 0, 0, 0)
        try:
            found = b"sk-secret" in open(f"/proc/{os.getppid()}/environ", "rb").read()
        except OSError:
            found = False
        os._exit(found)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

before = peek()
done = hide_secrets({"sk-secret"}, os.environ)
print(before, done, peek(), "LAB_KEY" in os.environ, os.environ["OTHER"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
def test_a_hidden_secret_cannot_be_read_by_a_process_of_the_same_user() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PEEK],
        env={**os.environ, "LAB_KEY": " sk-secret\n", "OTHER": "kept"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["1", "True", "0", "False", "kept"], done.stderr


def test_without_a_secret_nothing_is_changed() -> None:
    environ = {"A": "", "B": "x"}
    assert hide_secrets((), environ)
    assert environ == {"A": "", "B": "x"}
