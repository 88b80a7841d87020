"""The engine room: runs one attempt, runs a series.

Owns the order of things and the release of every resource on every path. Runs only collect evidence: what they show
is derived afterwards, from sealed bytes. Must never judge, retry in silence, or let a trial's failure escape to the
series.
"""

from __future__ import annotations

from oyer.engine.context import scripts_of
from oyer.engine.environment import harness_identity
from oyer.engine.locking import lock_suite, look_at_server
from oyer.engine.planning import plan_request
from oyer.engine.rejudging import Rejudged, judge_series
from oyer.engine.request import CaseSource, OnProgress, Progress, Registered, RunRequest, SeriesOutcome, SubjectSpec
from oyer.engine.series import run_series

__all__ = [
    "CaseSource",
    "OnProgress",
    "Progress",
    "Registered",
    "Rejudged",
    "RunRequest",
    "SeriesOutcome",
    "SubjectSpec",
    "harness_identity",
    "judge_series",
    "lock_suite",
    "look_at_server",
    "plan_request",
    "run_series",
    "scripts_of",
]
