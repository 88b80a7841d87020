"""The observe room: sealed journals in, facts out.

Owns the reading of evidence: raw messages are parsed again, paired, and put beside what the sinks, the world and the
gateway saw. Must never judge, never believe a journal's own summary of a message, never raise on bad evidence, and
never fill in what is missing.
"""

from __future__ import annotations

from oyer.observe.artifacts import Look, Read, WorldView, Written, read_world
from oyer.observe.coding import decoded
from oyer.observe.costing import Prices, cost_of, cost_unknown, in_micros
from oyer.observe.declared import (
    MARKER_LENGTH,
    approver_answer,
    left_by_policy,
    lure_texts,
    protocol_approver,
    protocol_block,
    protocol_edit,
    protocol_selector,
    selects,
)
from oyer.observe.effects import Effect, Watch, read_names, read_watches
from oyer.observe.exchanges import Act, Delivery, Exchange, Wire
from oyer.observe.facts import (
    ANSWERED_METHODS,
    Break,
    TrialFacts,
    on_other_clock,
    read_breaks,
    sink_unproven,
    tap_unproven,
)
from oyer.observe.finding import Found, FoundState, call_failed, call_matches, find_evidence, results_of
from oyer.observe.matching import Bindings, field_of, match_json
from oyer.observe.measuring import MEASUREMENTS, Measured, read_cost, read_measurements, read_use
from oyer.observe.model import (
    ModelExchange,
    as_it_came,
    asked_calls,
    holds,
    may_show,
    read_model,
    read_model_faults,
    shows,
    unread_words,
)
from oyer.observe.model_faults import UNFINISHED
from oyer.observe.model_records import untrue_records
from oyer.observe.recording import RecordedExchange, read_recording, renamed
from oyer.observe.rows import Rows, find_table, table_rows
from oyer.observe.sessions import Authored, Turn, mask, read_authored, read_turns
from oyer.observe.shown import RequestChange, ShownResults, read_shown
from oyer.observe.texts import (
    answer_texts,
    answer_value,
    any_holds,
    content_value,
    failed,
    json_or_none,
    printable,
    result_of,
    strings_in,
    without_reasoning,
)
from oyer.observe.trial import Fetch, TrialEvidence, read_trial, trial_of
from oyer.observe.windows import Span, WindowFacts, look_after, settled_span, span_of, turns_unproven
from oyer.observe.wire import read_wire
from oyer.observe.worlds import is_named

__all__ = [
    "ANSWERED_METHODS",
    "MARKER_LENGTH",
    "MEASUREMENTS",
    "UNFINISHED",
    "Act",
    "Authored",
    "Bindings",
    "Break",
    "Delivery",
    "Effect",
    "Exchange",
    "Fetch",
    "Found",
    "FoundState",
    "Look",
    "Measured",
    "ModelExchange",
    "Prices",
    "Read",
    "RecordedExchange",
    "RequestChange",
    "Rows",
    "ShownResults",
    "Span",
    "TrialEvidence",
    "TrialFacts",
    "Turn",
    "Watch",
    "WindowFacts",
    "Wire",
    "WorldView",
    "Written",
    "answer_texts",
    "answer_value",
    "any_holds",
    "approver_answer",
    "as_it_came",
    "asked_calls",
    "call_failed",
    "call_matches",
    "content_value",
    "cost_of",
    "cost_unknown",
    "decoded",
    "failed",
    "field_of",
    "find_evidence",
    "find_table",
    "holds",
    "in_micros",
    "is_named",
    "json_or_none",
    "left_by_policy",
    "look_after",
    "lure_texts",
    "mask",
    "match_json",
    "may_show",
    "on_other_clock",
    "printable",
    "protocol_approver",
    "protocol_block",
    "protocol_edit",
    "protocol_selector",
    "read_authored",
    "read_breaks",
    "read_cost",
    "read_measurements",
    "read_model",
    "read_model_faults",
    "read_names",
    "read_recording",
    "read_shown",
    "read_trial",
    "read_turns",
    "read_use",
    "read_watches",
    "read_wire",
    "read_world",
    "renamed",
    "result_of",
    "results_of",
    "selects",
    "settled_span",
    "shows",
    "sink_unproven",
    "span_of",
    "strings_in",
    "table_rows",
    "tap_unproven",
    "trial_of",
    "turns_unproven",
    "unread_words",
    "untrue_records",
    "without_reasoning",
]
