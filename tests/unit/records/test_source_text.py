"""Paths, suggestions and safe texts."""

from __future__ import annotations

from oyer.records.source_text import nearest, path_text, shown


def test_paths_are_written_as_people_read_them() -> None:
    assert path_text(()) == ""
    assert path_text(("sessions", "a", 0, "text")) == "sessions.a[0].text"
    assert path_text((0, "a-b", 1)) == "[0].a-b[1]"
    assert path_text(("my key", 'q"\\', "\u00e9", "\x1b", "")) == '["my key"]["q\\"\\\\"]["\u00e9"]["\\x1b"][""]'


def test_only_close_names_are_suggested() -> None:
    assert nearest("effect_clas", ["effect_class", "id"]) == "effect_class"
    assert nearest("zzz", ["effect_class", "id"]) == ""


def test_shown_is_printable_and_bounded() -> None:
    assert shown("caf\u00e9") == "caf\u00e9"
    assert shown("a\x1b\n\ud800b") == "a\\x1b\\n\\ud800b"
    assert shown("x" * 100, limit=10) == "xxxxxxx..."
