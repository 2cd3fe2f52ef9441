"""The rules of adaptive sequences: what they converge to, and that their arithmetic is that of
their papers."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, log

import numpy as np
import pytest

from labapp.base.report.page import say, speaking
from labapp.study.adaptive.counting import Criterion, Steps, UpDown, WeightedUpDown
from labapp.study.adaptive.posterior import (
    Belief,
    Psi,
    Quest,
    compute_expected_entropy,
    make_grid,
    probability,
)
from labapp.study.adaptive.rule import Levels, Progress, Rule
from tests.analysis.test_report_language import german_for_nobody

LEVELS = Levels(tuple(float(value) for value in np.geomspace(2, 80, 25)), "log")
THRESHOLD, SLOPE = log(14.0), 4.0


def run(
    rule: Rule, rng: np.random.Generator, *, lapse: float = 0.0, threshold: float = THRESHOLD
) -> Progress:
    """A track of an observer whose function is that of the rule, but for lapses."""
    observer = rule.model_copy(update={"lapse": lapse})
    start = LEVELS.nearest(log(rule.starts[0])) if rule.starts else 0
    progress = rule.begin(LEVELS, start)
    while not progress.over:
        x = LEVELS.x[progress.level]
        p = float(probability(observer, x, threshold, SLOPE, rule.share))
        progress = rule.after(LEVELS, progress, bool(rng.random() < p))
    return progress


def answered(rule: Rule, answers: str, start: int = 12) -> Progress:
    """After these answers: + right, - wrong, 0 left out."""
    progress = rule.begin(LEVELS, start)
    for sign in answers:
        progress = rule.after(LEVELS, progress, {"+": True, "-": False, "0": None}[sign])
    return progress


def up_down(**declared: object) -> UpDown:
    return UpDown.model_validate({"method": "up-down", "start": 40, "trials": 60, **declared})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            up_down(steps=[2, 1], reversals=6),
            (
                "up-down; 2 right answers in a row make it harder; a wrong answer makes it easier; "
                "step size in levels: 2 → 1, changing after each reversal; "
                "a track ends after 6 reversals or 60 trials"
            ),
        ),
        (
            up_down(down=1),
            (
                "up-down; each right answer makes it harder; a wrong answer makes it easier; "
                "step size in levels: 1; a track ends after 60 trials"
            ),
        ),
        (
            WeightedUpDown(method="weighted-up-down", start=40, trials=9),
            (
                "weighted-up-down; steps of a right answer to a harder level: 1; steps of a wrong "
                "answer to an easier level: 3; step size in levels: 1; a track ends after 9 trials"
            ),
        ),
        (
            Criterion(method="criterion", trials=30, right=8, of=10),
            (
                "criterion; the same level until 8 of the last 10 answers are right; "
                "a track ends after 30 trials"
            ),
        ),
        (
            Psi(method="psi", trials=30, se=0.1),
            (
                "psi; the level whose answer should say most about threshold and slope; "
                "a track ends at a standard error of 0.1 or after 30 trials"
            ),
        ),
    ],
)
def test_the_settings_of_a_rule_in_words_and_in_german(rule: Rule, words: str) -> None:
    assert "; ".join(rule.words) == words
    spoken = german_for_nobody()
    with speaking(spoken):
        german = [say(part) for part in rule.words[1:]]
    assert not spoken.missing
    assert not set(german) & set(rule.words)


def test_levitt_table_1_by_hand() -> None:
    """2-down-1-up: harder after two right answers in a row, easier after each wrong one; a change
    of direction is a reversal, and steps become smaller with each."""
    progress = answered(up_down(steps=[4, 2, 1]), "++++-++-")
    assert isinstance(progress, Steps)
    assert [level for level, _ in progress.answers] == [12, 12, 8, 8, 4, 6, 6, 5]
    assert progress.reversals == (4, 6, 5)
    assert progress.level == 6


def test_at_the_ends_there_is_no_further_level() -> None:
    progress = answered(up_down(down=1), "-----", start=22)
    assert isinstance(progress, Steps)
    assert progress.level == 24
    assert progress.stuck == 3
    assert progress.reversals == ()


def test_left_out_answers_are_trials_only() -> None:
    left_out, without = answered(up_down(), "+0+-0"), answered(up_down(), "++-")
    assert left_out.level == without.level
    assert len(left_out.answers) == 5
    assert answered(up_down(trials=3), "000").over == "trials"


@pytest.mark.parametrize(
    ("rule", "share"),
    [
        (up_down(down=1, trials=400), 0.5),
        (up_down(down=2, trials=400), 0.707),
        (up_down(down=3, trials=400), 0.794),
        (
            WeightedUpDown.model_validate(
                {"method": "weighted-up-down", "start": 40, "trials": 400, "up": 3, "down": 1}
            ),
            0.75,
        ),
    ],
    ids=["1-down", "2-down", "3-down", "weighted"],
)
def test_staircases_converge_to_their_share(rule: Rule, share: float) -> None:
    assert rule.share == pytest.approx(share, abs=0.001)
    rng = np.random.default_rng(1)
    rights = [right for _ in range(20) for _, right in run(rule, rng).counted[40:]]
    assert np.mean(rights) == pytest.approx(share, abs=0.015)


def test_a_track_ends_by_its_reversals_with_the_mean_of_their_midpoints() -> None:
    rule = up_down(down=1, reversals=6, discard=2, estimate="reversals")
    progress = answered(rule, "++-+-+-+")
    assert isinstance(progress, Steps)
    assert progress.over == "reversals"
    estimate = rule.find_threshold(LEVELS, progress)
    assert estimate is not None
    turns = [LEVELS.x[level] for level in progress.reversals[2:]]
    assert estimate.x == pytest.approx((turns[0] + turns[1] + turns[2] + turns[3]) / 4)


@pytest.mark.parametrize(("answers", "beyond"), [("-++-" * 10, 1), ("++++-+" * 10, -1)])
def test_a_track_that_stays_at_the_last_level_has_no_threshold_by_reversals(
    answers: str, beyond: int
) -> None:
    """Its midpoints lie below the level at which half of the answers are right."""
    rule = up_down(down=1 if beyond < 0 else 2, reversals=40, estimate="reversals", guess=0.0)
    progress = answered(rule, answers, 24 * (beyond > 0))
    assert isinstance(progress, Steps)
    assert len(progress.reversals) > 10
    estimate = rule.find_threshold(LEVELS, progress)
    fitted = rule.model_copy(update={"estimate": "fit"})
    assert estimate == fitted.find_threshold(LEVELS, progress)
    assert estimate is not None
    assert (estimate.x - LEVELS.x[-1 if beyond > 0 else 0]) * beyond > 0


@pytest.mark.parametrize("shape", ["logistic", "weibull"])
def test_the_posterior_is_that_of_brute_force(shape: str) -> None:
    """Bayes' rule, point by point, with the likelihood of all answers at once."""
    rule = Psi.model_validate({"method": "psi", "trials": 12, "guess": 0.5, "shape": shape})
    progress = answered(rule, "++-+-++-+++", start=0)
    assert isinstance(progress, Belief)
    grid = make_grid(rule, LEVELS, rule.share, 0.0)
    brute = np.zeros((len(grid.thresholds), len(grid.slopes)))
    for i, threshold in enumerate(grid.thresholds):
        for j, slope in enumerate(grid.slopes):
            brute[i, j] = 1.0
            for level, right in progress.counted:
                p = float(probability(rule, LEVELS.x[level], threshold, slope, rule.share))
                brute[i, j] *= p if right else 1 - p
    np.testing.assert_allclose(progress.p, brute / brute.sum(), rtol=1e-9)


def test_psi_minimises_the_entropy_that_it_expects_by_brute_force() -> None:
    rule = Psi.model_validate({"method": "psi", "trials": 20, "guess": 0.5})
    progress = answered(rule, "++-+", start=0)
    assert isinstance(progress, Belief)
    grid = rule.grid(LEVELS)
    expected = []
    for right in grid.right:
        total = 0.0
        for outcome in (right, 1 - right):
            weight = float((outcome * progress.p).sum())
            posterior = outcome * progress.p / weight
            total -= weight * float((posterior * np.log(posterior)).sum())
        expected.append(total)
    np.testing.assert_allclose(compute_expected_entropy(grid, progress.p), expected, rtol=1e-9)
    assert progress.level == int(np.argmin(expected))


def test_of_equally_good_levels_the_easiest_is_chosen() -> None:
    levels = Levels((1.0, 2.0, 3.0), "linear")
    assert levels.nearest(1.5) == 1
    rule = Psi.model_validate({"method": "psi", "trials": 5, "scale": "linear", "guess": 0.0})
    rule = rule.model_copy(update={"lapse": 0.0})
    belief = rule.begin(levels, 0)
    entropies = compute_expected_entropy(rule.grid(levels), belief.p)
    assert entropies[0] == pytest.approx(entropies[2])  # symmetric
    assert belief.level == int(np.argmin(np.round(entropies, 9)))


def test_quest_places_trials_at_the_most_probable_threshold() -> None:
    rule = Quest.model_validate(
        {"method": "quest", "start": 20, "trials": 30, "guess": 0.5, "sd": 0.8}
    )
    start = LEVELS.nearest(log(20))
    progress = rule.begin(LEVELS, start)
    assert progress.level == start
    progress = rule.after(LEVELS, progress, False)
    grid = rule.grid(LEVELS)
    prior = np.exp(-(((grid.thresholds - LEVELS.x[start]) / 0.8) ** 2) / 2)
    p = probability(rule, LEVELS.x[start], grid.thresholds, rule.slope, rule.share)
    assert progress.level == LEVELS.nearest(float(grid.thresholds[np.argmax(prior * (1 - p))]))


def test_the_weibull_function_is_that_of_watson_and_pelli() -> None:
    rule = Quest.model_validate(
        {"method": "quest", "start": 20, "trials": 5, "guess": 0.5, "lapse": 0.01, "slope": 3.5}
    )
    share = 0.5 + 0.49 * (1 - exp(-1))
    intensity = np.array([5.0, 14.0, 30.0])
    expected = 0.5 + 0.49 * (1 - np.exp(-((intensity / 14.0) ** 3.5)))
    got = probability(rule, np.log(intensity), log(14.0), 3.5, share)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: up_down(trials=80, guess=0.5, steps=[4, 2, 1]),
        lambda: Quest.model_validate(
            {"method": "quest", "start": 20, "trials": 60, "guess": 0.5, "shape": "logistic"}
        ),
        lambda: Psi.model_validate({"method": "psi", "trials": 80, "guess": 0.5}),
    ],
    ids=["up-down", "quest", "psi"],
)
def test_thresholds_are_found_with_their_error(make: Callable[[], Rule]) -> None:
    """Bias and coverage, of observers with lapses; of 10,000 in benchmarks/adaptive.py."""
    rule = make()
    rng = np.random.default_rng(2)
    found = [rule.find_threshold(LEVELS, run(rule, rng, lapse=0.03)) for _ in range(80)]
    estimates = [estimate for estimate in found if estimate is not None]
    assert len(estimates) == 80
    away = [estimate.x - THRESHOLD for estimate in estimates]
    assert abs(float(np.mean(away))) < 0.12
    covered = sum(
        estimate.low is not None
        and estimate.high is not None
        and estimate.low <= THRESHOLD <= estimate.high
        for estimate in estimates
    )
    # Fewer than so many of 80 would be improbable (p < 0.001) if 95 % were covered.
    least = next(k for k in range(81) if _at_most(k, 80, 0.95) > 0.001)
    assert covered >= least


def _at_most(k: int, n: int, p: float) -> float:
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize(
    ("declared", "answers", "over"),
    [
        ({"right": 3}, "++-+++", "criterion"),
        ({"right": 3, "of": 4}, "+-++", "criterion"),
        ({"right": 3, "of": 4}, "+-+-+-+", ""),
        ({"right": 3}, "++0+", "criterion"),
        ({"right": 3, "trials": 5}, "++-++", "trials"),
    ],
)
def test_learning_to_criterion(declared: dict[str, int], answers: str, over: str) -> None:
    rule = Criterion.model_validate({"method": "criterion", "start": 40, "trials": 30, **declared})
    progress = answered(rule, answers)
    assert progress.over == over
    assert progress.level == 12
    assert rule.find_threshold(LEVELS, progress) is None
    assert rule.share is None
