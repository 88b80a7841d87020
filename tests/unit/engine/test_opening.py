"""What is fixed before the first trial."""

from __future__ import annotations

from pathlib import Path

from oyer.engine import RunRequest, SubjectSpec
from oyer.engine.opening import secrets_of


def test_every_key_is_a_secret_also_where_two_have_one_name() -> None:
    specs = (
        SubjectSpec("scripted:idle"),
        SubjectSpec("model", key="first"),
        SubjectSpec("model-b", key="second"),
        SubjectSpec("model-c", key="first", key_name="OTHER"),
    )
    assert secrets_of(RunRequest((), specs, Path("out"))) == {"MODEL_KEY": b"first", "MODEL_KEY-2": b"second"}
