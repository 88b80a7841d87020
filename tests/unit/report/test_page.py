"""Pages are laid out by display width, and lose nothing on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oyer.report import Look, cut, entry, fold, line, neutralise, page_text, say, width_of
from oyer.report.page import text_fold

words = st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=30), max_size=30)


@given(words, st.integers(20, 100))
def test_folding_keeps_every_letter_and_the_width(texts: list[str], width: int) -> None:
    page = fold([say(" ".join(texts))], Look(width), indent="  ", hanging="    ")
    assert page_text(page).replace(" ", "").replace("\n", "") == say("".join(texts)).text
    assert all(sum(width_of(part.text) for part in one) <= width for one in page)


def test_folding_breaks_between_words_and_indents() -> None:
    page = fold([say("one two three four")], Look(14), indent="- ", hanging="  ")
    assert page_text(page) == "- one two\n  three four\n"


def test_a_word_of_several_styles_is_not_torn() -> None:
    page = fold([say("see "), say("(", "dim"), say("this", "strong"), say(")", "dim")], Look(60))
    assert page_text(page) == "see (this)\n"
    assert [part.style for part in page[0]] == ["plain", "dim", "strong", "dim"]


@given(words, st.integers(10, 60))
def test_text_is_broken_without_loss(texts: list[str], width: int) -> None:
    text = neutralise("  ".join(texts))
    pieces = list(text_fold(text, width))
    assert "".join(pieces) == text
    assert all(width_of(piece) <= width for piece in pieces)


def test_wide_letters_take_two_columns() -> None:
    assert width_of("東京") == 4
    assert cut("東京", 6) == "東京  "
    assert cut("東京東京", 6) == "東京~ "
    assert width_of(cut("東京東京", 6)) == 6


def test_a_long_name_keeps_its_ends_and_a_gap() -> None:
    plain, other = "told-plainly/positive_control", "told-plainly/negative_control"
    assert entry("short", 8) == "short   "
    assert entry("exactly8", 8) == "ex~tly8 "
    for width in (8, 14, 22, 28):
        for name in (plain, other):
            told = entry(name, width)
            assert width_of(told) == width
            assert told.endswith(" ")
            assert told.rstrip().endswith("control"[-(width // 3) :])
    assert entry(plain, 28) != entry(other, 28)
    assert width_of(entry("東京東京東京", 8)) == 8
    assert entry("東京東京東京", 8).endswith(" ")


def test_text_is_neutralised_when_it_is_said() -> None:
    assert line("a\x1bb", say("\u202e"))[0].text == r"a\x1bb"


def test_a_line_as_long_as_a_message_may_be_is_broken_in_one_pass() -> None:
    text = "x" * 8_000_000 + " \u00e9" * 1000
    pieces = list(text_fold(text, 90))
    assert "".join(pieces) == text
    assert len(pieces) > 80_000
