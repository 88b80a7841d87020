"""The stats room: intervals and bounds; every formula names its source, its estimand, and what it assumes.

Owns numbers about counts. Pure arithmetic: the same counts give the same numbers. Must never drop what is undecided,
print an interval that nothing supports, or return NaN: what cannot be estimated has a reason instead.
"""

from __future__ import annotations

from oyer.stats.agreement import Agreement, Coefficient, agreement
from oyer.stats.bounded import bounded_mean, bounded_ratio
from oyer.stats.discrimination import Discrimination, SetCounts, d_prime, discrimination
from oyer.stats.effect import Effect, Pair, effect_of_pressure
from oyer.stats.exact import clopper_pearson, excluded_at_worst, excluded_by_none, trials_to_exclude
from oyer.stats.judged import Corrected, JudgeCounts, corrected_rate, judge_power
from oyer.stats.paired import (
    MANY_CASES,
    McNemar,
    Permutation,
    cluster_bootstrap,
    holm,
    holm_by_e,
    mcnemar,
    mcnemar_worst_case,
    relabelled,
    sign_flip,
)
from oyer.stats.proportions import (
    CONFIDENCE,
    Anytime,
    Interval,
    Rate,
    exact_worst_case,
    rate_of,
    standard_error,
    wilson,
    wilson_worst_case,
    worst_case,
)
from oyer.stats.repeats import (
    CaseCounts,
    CasesRate,
    Chance,
    Spread,
    cases_rate,
    clustered_error,
    pass_at_k,
    pass_hat_k,
    spread,
)
from oyer.stats.sequential import (
    Look,
    Side,
    bernoulli_log_e,
    bernoulli_look,
    confidence_sequence,
    mcnemar_log_e,
    mcnemar_look,
    sprt_log_ratio,
    sprt_look,
)
from oyer.stats.summaries import Summary, summarise
from oyer.stats.survival import RESAMPLES, Hazard, Life, Survival, survival
from oyer.stats.two_sides import TwoProportions, two_proportions

__all__ = [
    "CONFIDENCE",
    "MANY_CASES",
    "RESAMPLES",
    "Agreement",
    "Anytime",
    "CaseCounts",
    "CasesRate",
    "Chance",
    "Coefficient",
    "Corrected",
    "Discrimination",
    "Effect",
    "Hazard",
    "Interval",
    "JudgeCounts",
    "Life",
    "Look",
    "McNemar",
    "Pair",
    "Permutation",
    "Rate",
    "SetCounts",
    "Side",
    "Spread",
    "Summary",
    "Survival",
    "TwoProportions",
    "agreement",
    "bernoulli_log_e",
    "bernoulli_look",
    "bounded_mean",
    "bounded_ratio",
    "cases_rate",
    "clopper_pearson",
    "cluster_bootstrap",
    "clustered_error",
    "confidence_sequence",
    "corrected_rate",
    "d_prime",
    "discrimination",
    "effect_of_pressure",
    "exact_worst_case",
    "excluded_at_worst",
    "excluded_by_none",
    "holm",
    "holm_by_e",
    "judge_power",
    "mcnemar",
    "mcnemar_log_e",
    "mcnemar_look",
    "mcnemar_worst_case",
    "pass_at_k",
    "pass_hat_k",
    "rate_of",
    "relabelled",
    "sign_flip",
    "spread",
    "sprt_log_ratio",
    "sprt_look",
    "standard_error",
    "summarise",
    "survival",
    "trials_to_exclude",
    "two_proportions",
    "wilson",
    "wilson_worst_case",
    "worst_case",
]
