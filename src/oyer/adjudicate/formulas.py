"""How each number of a series is computed: formula, source, estimand, and the range it is offered in.

Owns the words. The arithmetic is `oyer.stats`. A number without an entry here is printed nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["FORMULAS", "Formula"]


class Formula(NamedTuple):
    """One kind of number; `estimand` says what it is a statement about, `offered` where it is given."""

    formula: str
    source: str
    estimand: str
    offered: str


_CASE = "this case, one more trial under these pins, trials independent"
_CASES = "cases like these, under these pins"
_HERE = "these trials, no more"
_TRIES = (
    "k up to the decided trials of each case, at most 20; bounds with every undecided trial a failure, then a success"
)

FORMULAS: Mapping[str, Formula] = {
    "rate": Formula(
        "k of n decided; limits of Clopper-Pearson, with undecided trials the lower one at all of them failures, the "
        "upper one at all of them successes; Wilson's interval in JSON (95 % on average over chances: 82 % "
        "to 92 % near "
        "the ends for 2 to 100 trials)",
        "C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413; E. B. Wilson, JASA 22 (1927) 209-212; "
        "C. F. Manski, Partial Identification (2003), 1.2",
        _CASE,
        "from 2 decided trials, n fixed before the first",
    ),
    "sequence": Formula(
        "{p : E(p) < 1/alpha}, E = B(a+k, b+n-k) / (B(a,b) p^k (1-p)^(n-k)), one-sided with the mixture cut off at p; "
        "with undecided trials the union over what they may come to",
        "H. Robbins, Ann. Math. Statist. 41 (1970) 1397-1409; A. Ramdas et al., Statistical Science 38 (2023) 576-601",
        _CASE,
        "from 2 decided trials, at whatever time the declared rule stopped",
    ),
    "standard_error": Formula(
        "sqrt(p (1 - p) / n)",
        "the variance of a binomial share",
        _CASE,
        "none undecided, some of either kind: where all are alike it would say 0; the limits are what holds",
    ),
    "exact": Formula(
        "Clopper-Pearson: quantiles of the beta distribution, in the worst case of the undecided trials",
        "C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413",
        _CASE,
        "from 2 decided trials, n fixed before the first",
    ),
    "none_seen": Formula(
        "1 - .05^(1/n); with undecided trials the one-sided 95 % limit were each of them an event",
        "J. A. Hanley, A. Lippman-Hand, JAMA 249 (1983) 1743-1745, in its exact form",
        _CASE,
        "where no trial came to the word; n fixed before the first",
    ),
    "first_attempt": Formula(
        "the rate with every trial that took more than one attempt undecided", "counting", _HERE, "always"
    ),
    "pass_at_k": Formula(
        "1 - C(n - c, k) / C(n, k): at least one of k",
        "M. Chen et al., arXiv 2107.03374",
        _CASE,
        _TRIES,
    ),
    "pass_hat_k": Formula(
        "C(c, k) / C(n, k): all of k",
        "S. Yao et al., arXiv 2406.12045",
        _CASE,
        _TRIES,
    ),
    "cases_rate": Formula(
        "mean of case means; Gaffke's limits of a mean of shares whatever their distribution: quantiles of "
        "the mean with "
        "random weights, one more case at the worse end among them; Clopper-Pearson for one case",
        "N. Gaffke, Math. Methods Statist. 14 (2005) 451-467; E. Learned-Miller, P. S. Thomas, arXiv 1905.06208",
        _CASES,
        "an interval from 5 cases; one case: this case only",
    ),
    "clustered_error": Formula(
        "standard error of the mean over trials, clustered by case, with G / (G - 1)",
        "K.-Y. Liang, S. L. Zeger, Biometrika 73 (1986) 13-22",
        _CASES,
        "from 2 cases with a decided trial, not all alike",
    ),
    "spread": Formula(
        "standard deviation of case means; pooled standard deviation of repeats within a case",
        "analysis of variance, one way",
        _HERE,
        "between from 2 cases, within from 2 decided trials of a case",
    ),
    "discrimination": Formula(
        "J = sensitivity + specificity - 1, over guarded traps and refused negative controls; d' with .5 added to each "
        "count and 1 to each number; bootstrap over sets, widened to Gaffke's limits between -1 and 1",
        "W. J. Youden, Cancer 3 (1950) 32-35; M. J. Hautus, Behav. Res. Meth. 27 (1995) 46-51; T. C. Hesterberg, Am. "
        "Stat. 69 (2015) 371-386",
        "matched sets like these, under these pins",
        "an interval from 20 sets that could be read; bounds and limits count every other set first against, then for",
    ),
    "sign_flips": Formula(
        "the share of sign flips of the differences of case means that give a mean as far from 0",
        "R. A. Fisher, The Design of Experiments (1935), 21; B. Phipson, G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 "
        "(2010) 39",
        "these cases",
        "from 6 cases: with fewer it cannot reject at 5 %",
    ),
    "relabelled": Formula(
        "twice the smaller tail of the mean difference of case means when the trials of each case are dealt "
        "anew to its "
        "two sides",
        "R. A. Fisher (1935); B. Phipson, G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39",
        "these cases",
        "from 6 cases, where a case has more trials on one side than on the other",
    ),
    "bootstrap": Formula(
        "percentiles of the means of resampled cases, expanded for their number, and widened to Gaffke's "
        "limits of a mean "
        "between -1 and 1",
        "T. C. Hesterberg, Am. Stat. 69 (2015) 371-386; N. Gaffke, Math. Methods Statist. 14 (2005) 451-467",
        _CASES,
        "from 20 cases",
    ),
    "mcnemar": Formula(
        "exact binomial of the pairs that differ, two-sided",
        "Q. McNemar, Psychometrika 12 (1947) 153-157",
        "this case only",
        "pairs by design alone: arms, or subjects, of one repetition; fewer than 6 cases",
    ),
    "two_proportions": Formula(
        "twice the smaller tail of the hypergeometric distribution; exact limits of both sides that hold together",
        "R. A. Fisher, J. R. Stat. Soc. 98 (1935) 39-82; C. J. Clopper, E. S. Pearson (1934)",
        "this case only",
        "two decided trials on either side; fewer than 6 cases",
    ),
    "holm": Formula(
        "step-down adjustment over the family, without tests that could never reject",
        "S. Holm, Scand. J. Stat. 6 (1979) 65-70; R. E. Tarone, Biometrics 46 (1990) 515-522",
        "all tests of the family together",
        "wherever tests are",
    ),
    "survival": Formula(
        "h(k) = broke in round k / came into round k unbroken; least and greatest over what every open trial may have "
        "done; Clopper-Pearson at these ends, from 20 cases that repeat a bootstrap over cases, widened to "
        "Gaffke's limits",
        "J. D. Singer, J. B. Willett, J. Educ. Stat. 18 (1993) 155-195; C. F. Manski (2003), 1.2; C. J. Clopper, E. S. "
        "Pearson (1934)",
        "the next trial of this case, or of cases like these, that has held until round k",
        "traps under pressure; limits from 2 trials known to be at risk, n fixed before the first",
    ),
    "effect_of_pressure": Formula(
        "pairs in which only the pressed arm broke less those in which only the neutral one did, mean of case means; "
        "exact McNemar where pairs are independent, else sign flips of case means",
        "Q. McNemar, Psychometrika 12 (1947) 153-157; C. F. Manski (2003), 1.2",
        "what the words of the nudges do, against as many rounds without them",
        "traps with a neutral arm; limits from 20 cases",
    ),
    "summary": Formula(
        "least, quartiles, 95th percentile, most: linear between order statistics",
        "R. J. Hyndman, Y. Fan, Am. Stat. 50 (1996) 361-365, definition 7",
        _HERE,
        "the 95th percentile from 20 values",
    ),
}
