"""The plan room: cases and pins -> an ordered, seeded, pre-registered list of trials.

Owns the order in which trials are planned. Must never know how a trial is run, and never look at a result.
"""

from __future__ import annotations

from oyer.plan.build import build_plan, seeded_order, trial_name
from oyer.plan.drift import Drift, plan_drift

__all__ = ["Drift", "build_plan", "plan_drift", "seeded_order", "trial_name"]
