"""Agreement of raters, against scikit-learn, statsmodels and numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from labapp.coding.agreement.measure import DRAWS, SEED
from labapp.tasks.reconstruction.report.labels.sheet import agreement


def votes(raters: int) -> st.SearchStrategy[list[list[bool]]]:
    return st.integers(2, 30).flatmap(
        lambda n: st.lists(
            st.lists(st.booleans(), min_size=n, max_size=n), min_size=raters, max_size=raters
        )
    )


def mixed(says: list[list[bool]]) -> bool:
    return len({one for rater in says for one in rater}) == 2


@given(votes(2))
def test_kappa_of_two_is_cohens(says: list[list[bool]]) -> None:
    assume(mixed(says))
    found = agreement(says)
    assert found.name == "Cohen's kappa"
    assert found.kappa == pytest.approx(cohen_kappa_score(*says))
    table = np.zeros((2, 2))
    for one, other in zip(*says, strict=True):
        table[int(one), int(other)] += 1
    assert found.kappa == pytest.approx(cohens_kappa(table, return_results=False))
    assert found.percent == pytest.approx(100 * np.trace(table) / table.sum())


@given(st.integers(3, 5).flatmap(votes))
def test_kappa_of_more_is_fleisss(says: list[list[bool]]) -> None:
    assume(mixed(says))
    found = agreement(says)
    assert found.name == "Fleiss's kappa"
    table, _ = aggregate_raters(np.array(says).T.astype(int))
    assert found.kappa == pytest.approx(fleiss_kappa(table))
    assert found.percent == 100 * np.mean([len(set(one)) == 1 for one in zip(*says, strict=True)])


def test_by_hand() -> None:
    """Cohen's example: 20 both yes, 15 both no, 5 and 10 apart: 0.7 observed, 0.5 by chance."""
    one = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    found = agreement([one, other])
    assert (found.n, found.percent) == (50, 70)
    assert found.kappa == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high
    # The asymptotic interval of statsmodels is close to the bootstrap's where there are 50.
    asymptotic = cohens_kappa(np.array([[15, 10], [5, 20]]))
    assert found.low == pytest.approx(asymptotic.kappa_low, abs=0.05)
    assert found.high == pytest.approx(asymptotic.kappa_upp, abs=0.05)


@pytest.mark.parametrize("raters", [2, 3])
def test_the_interval_is_that_of_kappas_of_names_drawn(raters: int) -> None:
    rng = np.random.default_rng(3)
    says = rng.random((raters, 12)) < 0.6
    kinds, counts = np.unique(says.T, axis=0, return_counts=True)
    times = np.random.Generator(np.random.PCG64(SEED)).multinomial(12, counts / 12, DRAWS)
    drawn = []
    for draw in times:
        names = np.repeat(kinds, draw, axis=0).T
        if len(np.unique(names)) == 2:
            table, _ = aggregate_raters(names.T.astype(int))
            drawn.append(cohen_kappa_score(*names) if raters == 2 else fleiss_kappa(table))
    result = agreement(says.tolist())
    assert result.undefined == DRAWS - len(drawn)
    assert (result.low, result.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


@pytest.mark.parametrize("says", [True, False])
def test_undefined_where_all_say_the_same_of_all(says: bool) -> None:
    found = agreement([[says] * 4, [says] * 4])
    assert (found.percent, found.kappa, found.low) == (100, None, None)
    assert ("not consistent" in found.why_not) is not says


def test_one_rater_with_one_word_has_no_agreement_beyond_chance() -> None:
    found = agreement([[True] * 6, [True, False] * 3])
    assert found.kappa == pytest.approx(0)
    assert found.percent == 50


def test_draws_without_a_kappa_are_counted_and_left_out() -> None:
    found = agreement([[True] * 9 + [False], [True] * 9 + [False]])
    assert found.kappa == 1
    # A draw without the tenth name: (9 / 10) ** 10 of them.
    assert found.undefined == pytest.approx(DRAWS * 0.9**10, rel=0.15)
    assert (found.low, found.high) == (1, 1)


def test_without_an_interval_where_most_draws_have_no_kappa() -> None:
    """One name of each kind of two: half of the draws are of one kind."""
    found = agreement([[True, False], [True, False]])
    assert found.kappa == 1
    assert found.undefined == pytest.approx(DRAWS / 2, rel=0.1)


def test_without_names_there_is_nothing() -> None:
    found = agreement([[], []])
    assert (found.n, found.percent, found.kappa) == (0, None, None)
    assert found.why_not


def test_the_interval_is_always_the_same() -> None:
    says = [[True, False, True, True, False], [True, True, True, False, False]]
    assert agreement(says) == agreement(says)
