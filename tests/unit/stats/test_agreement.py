"""Agreement of raters: against statsmodels, published examples, and the cases in which one number would lie."""

from __future__ import annotations

import numpy as np
import pytest

from oyer.stats import agreement

YES_NO = ("yes", "no")


def rows(*counts: tuple[str, str, int]) -> list[tuple[str, str]]:
    return [(a, b) for a, b, n in counts for _ in range(n)]


def test_cohens_kappa_is_that_of_statsmodels() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    told = agreement(rows(("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)), order=YES_NO)
    assert told.cohen is not None
    assert told.cohen.value == pytest.approx(cohens_kappa(np.array([[20, 5], [10, 15]])).kappa)
    assert told.cohen.value == pytest.approx(0.4)
    assert told.raw == pytest.approx(0.7)
    assert told.confusion == {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    assert told.cohen.interval is not None and told.cohen.interval.low < 0.4 < told.cohen.interval.high


def test_fleiss_kappa_is_that_of_statsmodels() -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    table = [(0, 3), (3, 0), (1, 2), (2, 1), (3, 0), (0, 3), (2, 1), (3, 0)]
    units = [("yes",) * a + ("no",) * b for a, b in table]
    told = agreement(units, order=YES_NO)
    assert told.fleiss is not None and told.cohen is None
    assert told.fleiss.value == pytest.approx(fleiss_kappa(np.array(table)))


def test_krippendorffs_alpha_of_his_own_example() -> None:
    """Krippendorff, "Computing Krippendorff's alpha-reliability" (2011): four observers, nominal .743."""
    data = [
        (1, 1, None, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4), (4, 4, 4, 4),
        (1, 1, 2, 1), (2, 2, 2, 2), (None, 5, 5, 5), (None, None, 1, 1), (None, None, 3, None),
    ]  # fmt: skip
    assert agreement(data, order=(1, 2, 3, 4, 5)).alpha.value == pytest.approx(0.743, abs=5e-4)
    assert agreement(data, order=(1, 2, 3, 4, 5), level="ordinal").alpha.value == pytest.approx(0.815, abs=5e-4)
    assert agreement(data, order=(1, 2, 3, 4, 5)).missing == 7


def test_one_category_tells_nothing_and_is_never_one() -> None:
    told = agreement(rows(("no", "no", 30)), order=YES_NO)
    assert told.raw == 1.0
    assert told.cohen is not None
    assert (told.cohen.value, told.alpha.value) == (None, None)
    assert told.cohen.why_not == "only one category is in use"


def test_high_raw_agreement_with_no_skill() -> None:
    told = agreement(rows(("yes", "yes", 9), ("no", "yes", 1)), order=YES_NO)
    assert told.raw == pytest.approx(0.9)
    assert told.cohen is not None and told.cohen.value == pytest.approx(0.0)
    assert told.cohen.interval is None and "fewer than 20" in (told.cohen.why_not or "")


def test_nothing_rated_is_nothing_said() -> None:
    assert agreement([], order=YES_NO).alpha.value is None
    assert agreement([("yes", None)], order=YES_NO).raw is None


def test_what_is_no_rating_is_refused() -> None:
    with pytest.raises(ValueError, match="each a category"):
        agreement([("yes", "perhaps")], order=YES_NO)
    with pytest.raises(ValueError, match="one rating a rater"):
        agreement([("yes", "no"), ("yes",)], order=YES_NO)


def test_units_that_all_agree_show_no_interval() -> None:
    """Raters who agree on 99 of 100 units agree on all of twenty four times out of five; 1 to 1 would miss them."""
    found = agreement(rows(("yes", "yes", 12), ("no", "no", 12)), order=YES_NO).cohen
    assert found is not None
    assert (found.value, found.interval) == (1.0, None)
    assert "was not seen" in (found.why_not or "")
