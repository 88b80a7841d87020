"""The stats room: intervals and bounds; every formula names its source, its estimand, and what it assumes.

Owns numbers about counts. Pure arithmetic: the same counts give the same numbers. Must never drop what is undecided,
print an interval that nothing supports, or return NaN: what cannot be estimated has a reason instead.
"""

from __future__ import annotations

from oyer.stats.proportions import CONFIDENCE, Interval, Rate, rate_of, wilson, wilson_worst_case, worst_case

__all__ = ["CONFIDENCE", "Interval", "Rate", "rate_of", "wilson", "wilson_worst_case", "worst_case"]
