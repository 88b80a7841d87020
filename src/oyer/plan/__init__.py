"""The plan room: cases and pins -> an ordered, seeded, pre-registered list of trials.

Owns the order in which trials are planned. Must never know how a trial is run, and never look at a result.
"""

from __future__ import annotations

from oyer.plan.build import Rule, build_plan, trial_name
from oyer.plan.drift import Drift, lock_drift, plan_drift
from oyer.plan.forms import outcome_form, rubrics_of
from oyer.plan.orders import Square, seeded_order, squares_of, williams

__all__ = [
    "Drift",
    "Rule",
    "Square",
    "build_plan",
    "lock_drift",
    "outcome_form",
    "plan_drift",
    "rubrics_of",
    "seeded_order",
    "squares_of",
    "trial_name",
    "williams",
]
