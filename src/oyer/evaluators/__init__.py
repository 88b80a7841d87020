"""The evaluators room: judges of one's own, each in one file of Python, loaded only where somebody names it.

Owns what a plug-in is given (read-only evidence), what it may answer, and what becomes of one that fails: an error of
its own, never a verdict. Must never change evidence, and never let a plug-in say what it cites nothing for.
"""

from __future__ import annotations

from oyer.evaluators.declare import Declared, Opinion, conflict, evaluator, refuted, supported, unknown
from oyer.evaluators.evidence import Call, Evidence, Exit, File, SinkEffect, Table
from oyer.evaluators.load import Plugins, load_plugins, load_revisions
from oyer.evaluators.plugin import PluginJudge
from oyer.evaluators.promise import declared_ids

__all__ = [
    "Call",
    "Declared",
    "Evidence",
    "Exit",
    "File",
    "Opinion",
    "PluginJudge",
    "Plugins",
    "SinkEffect",
    "Table",
    "conflict",
    "declared_ids",
    "evaluator",
    "load_plugins",
    "load_revisions",
    "refuted",
    "supported",
    "unknown",
]
