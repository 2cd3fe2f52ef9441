"""Further tests have the values of published examples, of scipy and of R's BayesFactor."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from labapp.analysis.declared import read_declaration
from labapp.analysis.design import anova
from labapp.analysis.design.analyses import analyse
from labapp.analysis.design.further import (
    ALIGNED,
    BAYES,
    FURTHER,
    NO_COVARIATES,
    ONE_BETWEEN,
    PERMUTED,
    TAILS,
    TESTS,
    YUEN,
    bayes_factor,
    further_tests,
)
from labapp.analysis.design.layout import Factor, Layout, wide
from labapp.analysis.inference import Direction
from labapp.analysis.statistic import Statistic
from tests.analysis.design import frames, studies

MEDIUM = 2**-0.5
DRY_MATTER = (
    3.3, 4.3, 4.5, 5.8, 4, 4.1, 6.5, 7.3, 1.9, 3.8, 4.4, 5.1, 5, 7.9, 10.7, 13.5, 5.9, 8.5, 10.3,
    13.9, 6.9, 7, 10.9, 15.2, 6.5, 10.7, 12.2, 15.7, 8.2, 8.9, 13.4, 14.9, 5.2, 8.6, 11.1, 15.6,
    6.8, 9, 10.3, 12.5, 6.4, 6, 10.7, 12.5, 4, 3.8, 9.4, 10.2,
)  # fmt: skip
"""Higgins, Blair and Tashtoush (1990), table 5: 12 trays, three of each moisture."""
BAYES_FACTORS: tuple[tuple[float, float, float, Direction, float], ...] = (
    (2.03, 79, 80, "two-sided", 0.8611851),
    (2.5, 19, 20, "greater", 5.325941),
    (-3.0, 25, 15 * 12 / 27, "greater", 0.1154968),
    (12.0, 29, 30, "two-sided", 8749104715),
    (0.0, 18, 5, "less", 0.3973626),
    (-1.629, 52, 53, "greater", 0.06070302),
    (4.159, 57, 58, "two-sided", 203.4334381),
    (-4.103, 18, 19, "greater", 0.06322544701),
    (-1.559, 35, 36, "two-sided", 0.5390455566),
    (-4.02, 14, 15, "greater", 0.07531910051),
    (0.588, 5, 6, "greater", 0.5951225451),
    (0.792, 9, 10, "less", 0.1937104829),
    (-3.733, 55, 56, "greater", 0.03339133635),
    (-4.789, 34, 35, "less", 1409.335685),
    (-0.825, 28, 29, "greater", 0.11708023),
    (-1.641, 25, 26, "less", 1.260196533),
    (0.95, 7, 8, "two-sided", 0.4823426147),
    (3.706, 30, 31, "greater", 75.73238972),
    (-0.008, 22, 23, "less", 0.2199884771),
    (1.94, 13, 14, "two-sided", 1.163592587),
)
"""t, its df, n, direction, and what BayesFactor 0.9.12 has (`ttest.tstat`, rscale √2 / 2)."""


def made(
    frame: pd.DataFrame, layout: Layout, name: str, direction: Direction = "two-sided"
) -> list[Statistic]:
    model = anova.variance(wide(frame, layout).complete)
    assert isinstance(model, anova.Variance)
    comparisons = [
        anova.Comparison(each.name, each.weights, direction) for each in anova.pairs(layout.factors)
    ]
    return list(further_tests([name], model, comparisons, MEDIUM))  # type: ignore[list-item]


def trays() -> tuple[pd.DataFrame, Layout]:
    rows = [
        {"participant": f"t{at // 4:02}", "moisture": f"m{at // 12}", "fertilizer": f"f{at % 4}",
         "value": value}
        for at, value in enumerate(DRY_MATTER)
    ]  # fmt: skip
    moisture = Factor("moisture", tuple(f"m{at}" for at in range(4)))
    fertilizer = Factor("fertilizer", tuple(f"f{at}" for at in range(4)), within=True)
    return pd.DataFrame(rows), Layout((moisture, fertilizer))


def test_aligned_ranks_have_the_values_of_the_authors_own_program() -> None:
    rows = made(*trays(), "aligned_ranks")
    own = {row.factors: (row.statistic, row.df, row.df_2) for row in rows}
    assert own == {
        "moisture": pytest.approx((23.8326, 3, 8), abs=1e-4),
        "fertilizer": pytest.approx((122.4017, 3, 24), abs=1e-4),
        "moisture × fertilizer": pytest.approx((5.1180, 9, 24), abs=1e-4),
    }


@pytest.mark.parametrize(("t", "df", "n", "direction", "expected"), BAYES_FACTORS)
def test_bayes_factors_have_the_values_of_r(
    t: float, df: float, n: float, direction: Direction, expected: float
) -> None:
    assert bayes_factor(t, df, n, MEDIUM, direction) == pytest.approx(expected, rel=1e-6)


def test_one_sided_bayes_factors_are_twice_the_two_sided_one_together() -> None:
    both = bayes_factor(1.7, 20, 21, 0.5)
    sides = [bayes_factor(1.7, 20, 21, 0.5, side) for side in ("greater", "less")]  # type: ignore[arg-type]
    assert sum(sides) / 2 == pytest.approx(both, rel=1e-9)


def test_a_contrast_of_trimmed_means_between_people_is_yuens_test_of_scipy() -> None:
    frame = frames.frame("g", 23, 5)
    layout = frames.layout("g")
    for row in made(frame, layout, "trimmed_means"):
        first, other = row.contrast.split(" − ")
        samples = [frame.loc[frame["g"] == level, "value"] for level in (first, other)]
        expected = stats.ttest_ind(*samples, trim=0.2, equal_var=False)
        assert (row.statistic, row.df, row.p) == pytest.approx(
            (expected.statistic, expected.df, expected.pvalue), rel=1e-9
        )


def test_a_contrast_of_trimmed_means_within_people_is_yuens_dependent_one() -> None:
    frame, layout = trays()
    row = made(frame, Layout(layout.within), "trimmed_means")[0]
    x, y = (
        frame.loc[frame["fertilizer"] == level, "value"].to_numpy(float) for level in ("f0", "f1")
    )
    n, cut = len(x), int(0.2 * len(x))
    left = n - 2 * cut

    def winsorized(values: np.ndarray) -> np.ndarray:
        return np.asarray(stats.mstats.winsorize(values, (0.2, 0.2)))

    a, b = winsorized(x), winsorized(y)
    q = [(n - 1) * np.cov(p, r)[0, 1] for p, r in ((a, a), (b, b), (a, b))]
    error = np.sqrt((q[0] + q[1] - 2 * q[2]) / (left * (left - 1)))
    t = (stats.trim_mean(x, 0.2) - stats.trim_mean(y, 0.2)) / error
    assert (row.statistic, row.df) == pytest.approx((t, left - 1), rel=1e-9)


@pytest.mark.parametrize(("unit", "shift"), [(1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)])
def test_sums_of_sixths_that_are_equal_are_ties_of_a_permutation(unit: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, more = rng.integers(3, 6), rng.integers(3, 6)
        sixths = rng.integers(0, 7, size=(n + more, 3))
        values, sums = (unit * (sixths / 6 + shift)).mean(axis=1), sixths.sum(axis=1)
        people = {
            "participant": [f"p{at}" for at in range(n + more)],
            "g": ["a"] * n + ["b"] * more,
        }
        layout = Layout((Factor("g", ("a", "b")),))
        (row,) = made(pd.DataFrame({**people, "value": values}), layout, "permutation")
        every = np.array([sums[list(own)].sum() for own in combinations(range(n + more), n)])
        tails = (every >= sums[:n].sum()).mean(), (every <= sums[:n].sum()).mean()
        assert row.p == pytest.approx(min(1.0, 2 * min(tails)))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("name", list(TESTS))
def test_tests_do_not_depend_on_the_unit(name: str, unit: float) -> None:
    for design in ("ab", "g"):
        frame, layout = frames.frame(design, 12, 3), frames.layout(design)
        plain, scaled = (
            [row.p or row.statistic for row in made(each, layout, name)]
            for each in (frame, frame.assign(value=frame["value"] * unit))
        )
        assert scaled == pytest.approx(plain, rel=1e-6)


def test_permutations_of_few_people_are_all_made() -> None:
    frame, layout = trays()
    between, *_, within = made(frame, layout, "permutation")
    assert between.why == f"all 20 permutations; {TAILS}"
    assert between.p == pytest.approx(0.1)
    assert within.why == f"all 4,096 permutations; {TAILS}"
    assert within.p == pytest.approx(2 / 4096)


@pytest.mark.parametrize("direction", ["two-sided", "greater", "less"])
def test_permutations_of_differences_have_the_p_of_all_signs(direction: Direction) -> None:
    frame = frames.frame("a", 8, 3)
    layout = frames.layout("a")
    rows = made(frame, layout, "permutation", direction)
    values = wide(frame, layout).complete.values
    n = len(values)
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    for row, (first, other) in zip(rows, ((0, 1), (0, 2), (1, 2)), strict=True):
        means = (signs * (values[:, first] - values[:, other])).mean(axis=1)
        own, slack = means[0], 1e-12
        tails = {
            "greater": float((means >= own - slack).mean()),
            "less": float((means <= own + slack).mean()),
        }
        expected = (
            min(1.0, 2 * min(tails.values())) if direction == "two-sided" else tails[direction]
        )
        assert row.p == pytest.approx(expected, abs=1e-12)


def test_drawn_permutations_are_the_same_every_time() -> None:
    frame, layout = frames.frame("g", 40, 2), frames.layout("g")
    first, again = (made(frame, layout, "permutation") for _ in range(2))
    assert first == again
    assert "drawn at random" in first[0].why


@pytest.mark.parametrize("name", ["trimmed_means", "permutation", "aligned_ranks"])
def test_a_covariate_leaves_tests_out_that_have_none(name: str) -> None:
    frame = frames.frame("g", 20, 1)
    people = pd.factorize(frame["participant"])[0]
    rows = made(frame.assign(x=people % 7 + 0.5), frames.layout("g", ("x",)), name)
    assert {(row.statistic, row.why) for row in rows} == {(None, NO_COVARIATES)}


def test_several_factors_between_people_leave_permutations_out() -> None:
    rows = made(frames.frame("gh", 24, 1), frames.layout("gh"), "permutation")
    assert {row.why for row in rows} == {ONE_BETWEEN}


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("name", list(TESTS))
def test_people_who_do_not_vary_have_no_value(name: str, value: float) -> None:
    frame, layout = trays()
    rows = made(frame.assign(value=value), layout, name)
    assert rows
    assert all(row.statistic is None and row.why for row in rows)


def test_a_study_has_the_tests_that_it_chose_and_no_others() -> None:
    plan = {"outcomes": {"primary": ["completion_rate"]}}
    design = {"between": {"hint": ["with", "without"]}, "within": ["model"]}
    for chosen, titles in ((list(TESTS), {BAYES, YUEN, PERMUTED, ALIGNED}), ([], set())):
        declared = {"design": design, "analysis": {**plan, "further_tests": chosen}}
        counted = studies.study(declared, n=14).included()
        results = analyse(counted, read_declaration(counted, "own"))
        rows = results.analyses[0].select(FURTHER)
        assert {row.test for row in rows} == titles
        assert all(row.p_corrected is None for row in rows)
