"""The report room: results in, pages of text and plain JSON values out.

Owns what a person reads of a series (answer, strip, reasons, ledger, transcript) and the one place where untrusted
text is made safe to print. Pure: values in, lines of styled segments out. Must never print, compute a number that
`adjudicate` did not, or say more than a record says.
"""

from __future__ import annotations

from oyer.report.answer import CONTRASTS, render_answer, render_not_pinned, render_not_shown
from oyer.report.course import budget_words, course_value, render_course, rule_words
from oyer.report.dialogue import content_text, render_transcript
from oyer.report.difference import answer_of, difference_value, render_difference
from oyer.report.gates import gate_value, render_gates
from oyer.report.interchange import (
    bytes_value,
    comparison_value,
    ledger_value,
    message_value,
    outcome_value,
    problem_value,
)
from oyer.report.later import later_value, render_later
from oyer.report.ledger import render_ledger
from oyer.report.lock_words import LockDifference, lock_differences
from oyer.report.page import Line, Look, Page, Segment, Style, counted, cut, entry, fold, line, page_text, say, width_of
from oyer.report.pin_words import FixedSide, pin_words
from oyer.report.pressure import pressure_value, render_pressed, render_pressure
from oyer.report.qualification import render_qualification
from oyer.report.rates import render_tallies, tally_value
from oyer.report.safe import neutralise, printable_lines
from oyer.report.segments import render_segments, render_sequence, render_sequences, sequence_value
from oyer.report.sets import distribution_value, distributions, render_sets
from oyer.report.statistics import render_statistics, statistics_value
from oyer.report.strip import Cell, CellState, Row, read_strip, render_legend, render_strip
from oyer.report.summary import Judged, declared_request, render_series, render_trial
from oyer.report.table import SHORT_READINGS, render_table, table_value
from oyer.report.transcript import Act, Message, read_transcript

__all__ = [
    "CONTRASTS",
    "SHORT_READINGS",
    "Act",
    "Cell",
    "CellState",
    "FixedSide",
    "Judged",
    "Line",
    "LockDifference",
    "Look",
    "Message",
    "Page",
    "Row",
    "Segment",
    "Style",
    "answer_of",
    "budget_words",
    "bytes_value",
    "comparison_value",
    "content_text",
    "counted",
    "course_value",
    "cut",
    "declared_request",
    "difference_value",
    "distribution_value",
    "distributions",
    "entry",
    "fold",
    "gate_value",
    "later_value",
    "ledger_value",
    "line",
    "lock_differences",
    "message_value",
    "neutralise",
    "outcome_value",
    "page_text",
    "pin_words",
    "pressure_value",
    "printable_lines",
    "problem_value",
    "read_strip",
    "read_transcript",
    "render_answer",
    "render_course",
    "render_difference",
    "render_gates",
    "render_later",
    "render_ledger",
    "render_legend",
    "render_not_pinned",
    "render_not_shown",
    "render_pressed",
    "render_pressure",
    "render_qualification",
    "render_segments",
    "render_sequence",
    "render_sequences",
    "render_series",
    "render_sets",
    "render_statistics",
    "render_strip",
    "render_table",
    "render_tallies",
    "render_transcript",
    "render_trial",
    "rule_words",
    "say",
    "sequence_value",
    "statistics_value",
    "table_value",
    "tally_value",
    "width_of",
]
