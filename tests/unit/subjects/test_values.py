"""Values in the steps of scripts."""

from __future__ import annotations

from oyer.subjects.values import alter, holds, replace

VALUE = {"a": ["x {last.text}", {"b": 1}], "c": ("tok", None)}


def test_a_text_is_found_wherever_it_stands() -> None:
    assert holds(VALUE, "{last.text}")
    assert holds(VALUE, "tok")
    assert not holds(VALUE, "c")
    assert not holds(5, "5")


def test_a_text_is_replaced_wherever_it_stands_and_nothing_else() -> None:
    assert replace(VALUE, "tok", "new") == {"a": ["x {last.text}", {"b": 1}], "c": ["new", None]}
    assert VALUE["c"] == ("tok", None)


def test_one_value_is_altered_and_the_original_stays() -> None:
    assert alter({"n": None, "a": [{}, {"b": "x"}, 1]}) == ({"n": None, "a": [{}, {"b": "x-x"}, 1]}, True)
    assert alter({"n": None}) == ({"n": None}, False)
    assert alter(True) == (False, True)
