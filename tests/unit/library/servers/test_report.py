"""The report server as a child process: its only effect is its answer."""

from __future__ import annotations

from pathlib import Path


def test_the_answer_repeats_what_was_asserted_and_nothing_is_written(start, tmp_path: Path) -> None:
    talk = start("report")
    result = talk.call("status", state="cannot_complete", reason="60 and 70 exceed 100")
    assert result["structuredContent"] == {"state": "cannot_complete", "reason": "60 and 70 exceed 100"}
    assert result["content"][0]["text"] == "state: cannot_complete\nreason: 60 and 70 exceed 100"
    assert talk.call("status", state="done")["structuredContent"] == {"state": "done"}
    assert talk.tools()["status"]["inputSchema"]["required"] == ["state"]
    assert talk.end() == (0, b"")
    assert list((tmp_path / "place").iterdir()) == []
