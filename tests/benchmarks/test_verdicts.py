"""Intervals over seeds, and the rules that judge claims by them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.reproduction import verdicts
from benchmarks.reproduction.verdicts import Claim, Count, Some, Verdict, above, below, within

numbers = st.lists(st.floats(-10, 10), min_size=2, max_size=6)


@given(numbers)
def test_the_interval_over_seeds_is_students(values: list[float]) -> None:
    evidence = verdicts.over_seeds(values)
    assert evidence.low <= evidence.mean <= evidence.high
    if np.std(values) > 1e-6:
        error = stats.sem(values)
        ends = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (evidence.low, evidence.high) == pytest.approx(ends)


@given(numbers, numbers)
def test_the_interval_of_a_difference_is_welchs(first: list[float], second: list[float]) -> None:
    evidence = verdicts.difference(first, second)
    if min(np.std(first), np.std(second)) > 1e-3:
        ends = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
        assert (evidence.low, evidence.high) == pytest.approx((ends.low, ends.high))
    assert verdicts.difference(second, first).mean == pytest.approx(-evidence.mean)


def test_welchs_p_is_scipys_also_where_one_side_does_not_vary() -> None:
    """Accuracies of 1 with every seed are one: warnings are errors here."""
    first, second = [0.2, 0.4, 0.35], [0.5, 0.45]
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert verdicts.welch_p(first, second) == pytest.approx(expected)
    assert 0 < verdicts.welch_p([1.0, 1.0], second) < 1
    assert np.isnan(verdicts.welch_p([1.0, 1.0], [0.9, 0.9]))


def test_a_rule_reads_the_whole_interval() -> None:
    surely = verdicts.over_seeds([0.50, 0.51, 0.52])
    perhaps = verdicts.over_seeds([0.30, 0.51, 0.72])
    assert above("", surely, 0.4).verdict() == below("", surely, 0.6).verdict() == Verdict.HOLDS
    assert above("", surely, 0.6).verdict() == below("", surely, 0.4).verdict() == Verdict.FAILS
    assert above("", perhaps, 0.4).verdict() == below("", perhaps, 0.4).verdict() == Verdict.OPEN
    assert within("", surely, 0.6).verdict() == Verdict.HOLDS
    assert within("", surely, 0.4).verdict() == Verdict.FAILS
    assert within("", verdicts.over_seeds([-0.5, -0.51]), 0.1).verdict() == Verdict.FAILS
    assert within("", perhaps, 0.4).verdict() == Verdict.OPEN


@pytest.mark.parametrize("values", [[], [0.9]])
def test_nothing_is_claimed_of_fewer_than_two_seeds(values: list[float]) -> None:
    evidence = verdicts.over_seeds(values)
    for rule in (above, below, within):
        assert rule("", evidence, 0.5).verdict() == Verdict.OPEN


SURELY = verdicts.over_seeds([0.50, 0.51, 0.52])
PERHAPS = verdicts.over_seeds([0.30, 0.51, 0.72])
TESTS = {
    Verdict.HOLDS: above("", SURELY, 0.4),
    # Far beyond its bound, with however many others it is told.
    Verdict.FAILS: above("", SURELY, 10.0),
    Verdict.OPEN: above("", PERHAPS, 0.5),
}

SOME_HOLDS = TESTS[Verdict.HOLDS]


@given(st.lists(st.sampled_from(Verdict), min_size=1, max_size=40))
def test_a_claim_of_many_cells_needs_them_all(every: list[Verdict]) -> None:
    verdict = Claim("", "", tuple(TESTS[verdict] for verdict in every)).verdict
    assert (verdict == Verdict.FAILS) == (Verdict.FAILS in every)
    assert (verdict == Verdict.HOLDS) == (set(every) == {Verdict.HOLDS})


def test_of_many_cells_one_that_just_fails_leaves_the_claim_open() -> None:
    fails = above("", verdicts.over_seeds([-0.1, -0.2, -0.3]), 0.05)
    assert Claim("", "", (fails,)).verdict == Verdict.FAILS
    among = Claim("It is so.", "", (fails, *(TESTS[Verdict.HOLDS],) * 15))
    assert among.verdict == Verdict.OPEN
    # It is told all the same.
    assert among.contrary == 1
    table, folded = verdicts.claims_table([among]).split("<details>")
    assert "15 hold, 0 do not, 1 cannot be told, of which 1 would not hold alone" in table
    assert folded.count("alone it would not hold") == 1


def test_what_is_contrary_alone_is_so_whatever_kind_of_part_it_is() -> None:
    fails = above("", verdicts.over_seeds([-0.1, -0.2, -0.3]), 0.05)
    assert fails.contrary
    assert Some("", (fails, fails)).contrary
    assert Count("", 0, 3).contrary
    assert not any(part.contrary for part in (TESTS[Verdict.OPEN], TESTS[Verdict.HOLDS]))
    assert not any(part.contrary for part in (Some("", (fails, SOME_HOLDS)), Count("", 1, 3)))
    # Of a claim that has a verdict, nothing is left to tell.
    assert Claim("", "", (fails,)).contrary == 0


def test_claims_of_sixteen_cells_without_any_difference_seldom_fail() -> None:
    random = np.random.default_rng(0)
    failed = 0
    for _ in range(200):
        cells = (verdicts.difference(*random.normal(size=(2, 3))) for _ in range(16))
        failed += (
            Claim("", "", tuple(above("", cell, 0.0) for cell in cells)).verdict == Verdict.FAILS
        )
    assert failed <= 10


def test_one_of_several_has_to_hold_for_as_many() -> None:
    just = above("", verdicts.over_seeds([0.1, 0.2, 0.3]), -0.06)
    assert just.verdict() == Verdict.HOLDS
    assert Some("", (just,)).verdict() == Verdict.HOLDS
    assert Some("", (just, *(TESTS[Verdict.OPEN],) * 15)).verdict() == Verdict.OPEN
    assert Some("", (TESTS[Verdict.HOLDS], TESTS[Verdict.FAILS])).verdict() == Verdict.HOLDS
    assert Some("", (TESTS[Verdict.FAILS],) * 3).verdict() == Verdict.FAILS
    assert Some("", ()).told == "missing"


def test_of_several_the_one_is_shown_that_the_verdict_rests_on() -> None:
    """A greater mean that is less certain is not."""
    random = np.random.default_rng(3)
    for _ in range(50):
        values = random.normal(0.3, 0.2, size=(4, 4))
        some = Some("", tuple(above("cell", verdicts.over_seeds(each), 0.0) for each in values))
        low = float(some.told.split(", ")[2].split(" to ")[0])
        assert (low > 0) == (some.verdict() == Verdict.HOLDS)
    sure = above("sure", verdicts.over_seeds([0.10, 0.11, 0.12]), 0.0)
    greater = above("greater", verdicts.over_seeds([0.0, 0.5, 1.0]), 0.0)
    assert "sure: 0.110" in Some("", (greater, sure)).told


def test_what_was_counted_is_there_or_not() -> None:
    assert [Count("", n, 3).verdict() for n in (0, 1)] == [Verdict.FAILS, Verdict.HOLDS]
    assert Count("", 0, 0).verdict() == Verdict.OPEN


def test_a_claim_about_scores_is_judged_by_both_readings() -> None:
    by_reading = {"ours": TESTS[Verdict.HOLDS], "released": TESTS[Verdict.FAILS]}
    claim = verdicts.scored("It is so.", "", lambda reading: [by_reading[reading]])
    assert (claim.verdict, claim.verdict_as_released) == (Verdict.HOLDS, Verdict.FAILS)
    assert claim.differs
    assert "| *holds* |" in (table := verdicts.claims_table([claim]))
    assert "| *does not hold here* |" in table


def test_many_cells_are_counted_in_the_table_and_listed_below_it() -> None:
    tests = tuple(above(f"task {n}", SURELY, 0.4) for n in range(verdicts.MANY + 1))
    table, folded = verdicts.claims_table([Claim("It is so.", "", tests)]).split("<details>")
    assert f"of {len(tests)} (listed below), {len(tests)} hold, 0 do not, 0 cannot" in table
    assert all(test.label in folded and test.label not in table for test in tests)


@given(st.lists(st.tuples(st.floats(-2, 2), numbers), min_size=1, max_size=4))
def test_a_contrast_has_the_error_of_its_parts(groups: list[tuple[float, list[float]]]) -> None:
    evidence = verdicts.contrast(groups)
    error = np.sqrt(sum((weight * stats.sem(values)) ** 2 for weight, values in groups))
    assert evidence.error == pytest.approx(error, abs=1e-9)
    least, most = (f(len(values) - 1 for _, values in groups) for f in (min, max))
    if evidence.error > 1e-3:
        assert least * 0.999 <= evidence.freedom <= most * len(groups) * 1.001


def test_the_cells_of_a_data_set_share_a_variance() -> None:
    first, second = [0.1, 0.2, 0.3], [0.5, 0.52, 0.6, 0.54]
    several = verdicts.pooled([verdicts.over_seeds(first), verdicts.difference(second, first)])
    squares = sum(np.var(values) * len(values) for values in (first, second))
    assert [evidence.freedom for evidence in several] == [5, 5]
    assert several[0].error == pytest.approx(np.sqrt(squares / 5 / 3))
    both = stats.ttest_ind(second, first).confidence_interval(0.9)
    assert several[1].interval(0.9) == pytest.approx((both.low, both.high))


def test_a_claim_is_judged_on_each_data_set() -> None:
    holds = [above(f"dSprites({n})", SURELY, 0.4) for n in (0, 4)]
    perhaps = above("CBM, 3dshapes(5)", PERHAPS, 0.5)
    claim = Claim("It is so.", "", (*holds, perhaps))
    assert claim.by_data_set == {"dSprites": Verdict.HOLDS, "3dshapes": Verdict.OPEN}
    assert claim.verdict == Verdict.OPEN
    told = verdicts.told_verdict(claim.tests)
    assert "holds on 1 of 2 data sets" in told
    assert "fixed-effect mean 0.510" in told
    # What is not of a task has the variance it had.
    alone = Claim("", "", (above("", SURELY, 0.4), above("", PERHAPS, 0.4)))
    assert [test.number for test in alone.tests] == [test.number for test in alone.apart]


def test_the_fixed_effect_mean_leans_to_the_surer_data_set() -> None:
    sure, unsure = verdicts.over_seeds([1.0, 1.1, 0.9]), verdicts.over_seeds([3.0, 2.0, 4.0])
    mean = verdicts.fixed_effect([sure, unsure])
    assert mean.mean == pytest.approx((1.0 * 100 + 3.0) / 101)
    assert mean.error < sure.error
