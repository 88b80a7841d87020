"""The observe room: sealed journals in, facts out.

Owns the reading of evidence: raw messages are parsed again, paired, and put beside what the sinks, the world and the
gateway saw. Must never judge, never believe a journal's own summary of a message, never raise on bad evidence, and
never fill in what is missing.
"""

from __future__ import annotations

from oyer.observe.artifacts import Look, WorldView, Written, read_world
from oyer.observe.declared import labelled, lure_texts, protocol_block, protocol_edit, protocol_selector, selects
from oyer.observe.effects import Effect, Watch, read_watches
from oyer.observe.matching import Bindings, field_of, match_json
from oyer.observe.model import ModelExchange, asked_tools, read_model, shows
from oyer.observe.sessions import Authored, Turn, mask, read_authored, read_turns
from oyer.observe.texts import answer_texts, answer_value, content_value, failed, result_of
from oyer.observe.trial import Fetch, TrialEvidence, read_trial
from oyer.observe.wire import Act, Delivery, Exchange, Wire, read_wire

__all__ = [
    "Act",
    "Authored",
    "Bindings",
    "Delivery",
    "Effect",
    "Exchange",
    "Fetch",
    "Look",
    "ModelExchange",
    "TrialEvidence",
    "Turn",
    "Watch",
    "Wire",
    "WorldView",
    "Written",
    "answer_texts",
    "answer_value",
    "asked_tools",
    "content_value",
    "failed",
    "field_of",
    "labelled",
    "lure_texts",
    "mask",
    "match_json",
    "protocol_block",
    "protocol_edit",
    "protocol_selector",
    "read_authored",
    "read_model",
    "read_trial",
    "read_turns",
    "read_watches",
    "read_wire",
    "read_world",
    "result_of",
    "selects",
    "shows",
]
