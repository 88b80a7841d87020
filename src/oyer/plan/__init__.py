"""The plan room: cases and pins -> an ordered, seeded, pre-registered list of trials.

Owns the order in which trials are planned. Must never know how a trial is run, and never look at a result.
"""

from __future__ import annotations

from oyer.plan.build import build_plan, seeded_order, trial_name
from oyer.plan.drift import Drift, lock_drift, plan_drift
from oyer.plan.forms import outcome_form, rubrics_of

__all__ = [
    "Drift",
    "build_plan",
    "lock_drift",
    "outcome_form",
    "plan_drift",
    "rubrics_of",
    "seeded_order",
    "trial_name",
]
