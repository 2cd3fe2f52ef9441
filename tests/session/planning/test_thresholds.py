"""The rules for epsilon and T, by example, and the figures of a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.calibration import Separation, Suggestion
from labapp.session.planning import figures, phrases
from labapp.session.planning.plan import lengths, quantile, waiting
from labapp.session.planning.power import completions
from labapp.session.planning.thresholds import (
    BEST,
    TRIES,
    UNDERSTANDS,
    Pairs,
    recommend_threshold,
    thresholds,
)
from tests.session.planning.people import MODELS, cohort, people, question, session, stage

FAR = np.linspace(0.0, 0.4, 100)

"""Alignments of pairs none of which is near."""


def test_what_is_tried_may_reach_the_target_once_in_ten() -> None:
    tried = np.array([0.3] * 8 + [0.62, 0.97])
    assert recommend_threshold(FAR, tried) == (0.65, "simulation")
    assert recommend_threshold(FAR, np.array([0.3] * 7 + [0.62, 0.62, 0.97])) == (
        0.65,
        "simulation",
    )
    assert recommend_threshold(FAR, np.array([0.3] * 8 + [0.97, 0.97])) == (0.95, "simulation"), (
        "the end"
    )


def test_a_pair_may_be_near_from_the_start_once_in_twenty() -> None:
    pairs = np.array([0.1] * 94 + [0.81] * 6)
    assert recommend_threshold(pairs, np.full(10, 0.2)) == (0.85, "chance")
    assert recommend_threshold(pairs, np.empty(0)) == (0.85, "chance")
    assert recommend_threshold(np.array([0.1] * 95 + [0.81] * 5), np.full(10, 0.2)) == (
        0.25,
        "simulation",
    )


def test_nearly_the_target_counts_as_the_target() -> None:
    """As in the task, where 0.001 less is enough."""
    assert recommend_threshold(FAR, np.array([0.6995] * 2 + [0.2] * 8))[0] == 0.75
    assert recommend_threshold(FAR, np.array([0.6985] * 2 + [0.2] * 8))[0] == 0.70


@pytest.mark.parametrize(
    ("gap", "target"),
    [
        ((0.70, 0.80), 0.75),
        ((0.76, 0.88), 0.80),
        ((0.72, 0.74), 0.73),
        ((0.75, 0.79), 0.77),
        ((0.7312, 0.7318), 0.732),
    ],
)
def test_people_have_the_last_word(gap: tuple[float, float], target: float) -> None:
    """A round number inside the gap, if there is one."""
    separation = Separation(sum(gap) / 2, *gap, 1.0)
    assert recommend_threshold(FAR, np.full(9, 0.99), separation) == (target, "calibration")


def some_pairs(model: str) -> Pairs:
    return Pairs(model, "sinelines", FAR, 0.9, 30.0)


def test_a_data_set_has_one_target_over_all_its_models() -> None:
    rows = [
        *(question(f"U{n}", MODELS[n % 2], **{BEST: 0.7 + n / 100}) for n in range(20)),
        *(question(f"R{n}", MODELS[0], **{BEST: 0.3}) for n in range(10)),
        *(question(f"R{n}", MODELS[1], **{BEST: 0.52}) for n in range(10)),
    ]
    strategies = {f"U{n}": "understanding" for n in range(20)} | {
        f"R{n}": "random" for n in range(10)
    }
    found = people({"trials": rows}, strategies, {"understanding": 1, "random": 1})
    whole, ae, gt = thresholds([some_pairs(one) for one in MODELS], found.questions)
    assert (whole.model, ae.model, gt.model) == (None, *MODELS)
    assert [one.target for one in (whole, ae, gt)] == [0.55, 0.40, 0.55]
    assert whole.epsilon == 0.45
    assert whole.share(UNDERSTANDS) == 1.0
    assert whole.share(TRIES) == 0.0
    assert whole.share(UNDERSTANDS, whole.present) == 0.0
    assert whole.separated is not None
    assert (whole.separated.low, whole.separated.high) == (0.52, 0.70)
    assert phrases.warning(whole) == ""
    assert "target alignment 55 %, epsilon 0.45 (from simulated participants" in phrases.threshold(
        whole
    )
    alone = thresholds([some_pairs(MODELS[0])], found.questions.iloc[:0])[0]
    assert (alone.source, alone.share(TRIES)) == ("chance", None)


def test_where_trying_is_enough_it_is_said() -> None:
    rows = [question(f"U{n}", MODELS[0], **{BEST: 1.0}) for n in range(10)]
    rows += [question(f"R{n}", MODELS[0], **{BEST: 1.0 if n < 5 else 0.2}) for n in range(10)]
    strategies = {row["participant"]: "random" if "R" in row["participant"] else "understanding"
                  for row in rows}  # fmt: skip
    found = people({"trials": rows}, strategies, {"understanding": 1, "random": 1})
    (whole, _) = thresholds([some_pairs(MODELS[0])], found.questions)
    assert whole.target == 0.95
    assert "even 95 % is reached" in phrases.warning(whole)


def test_a_weighted_quantile_is_the_plain_one_of_repeated_values() -> None:
    assert quantile([1, 2, 3, 4], [1, 1, 1, 1], 0.5) == 2.5
    assert quantile([3, 1, 2], [1, 1, 1], 0.5) == 2
    assert quantile([1, 2, 10], [1, 1, 2], 0.5) == 6
    assert quantile([1, 2, 10], [1, 1, 3], 0.5) == 10
    assert quantile([5], [0.3], 0.9) == 5
    assert quantile([1, 9, 2], [1, 0, 1], 0.9) == 2
    rng = np.random.default_rng(1)
    values, times = rng.normal(size=50), rng.integers(1, 5, 50)
    plain = np.quantile(np.repeat(values, times), 0.3, method="averaged_inverted_cdf")
    assert quantile(values, times, 0.3) == plain


def test_t_is_twice_the_median_of_what_the_mixture_solves() -> None:
    """Of ten each, understanding solves all in 8 s and trying half in 40 s: with equal shares two
    thirds of the solved questions took 8 s."""
    rows = [question(f"U{n}", MODELS[0], active_s=8.0) for n in range(10)]
    rows += [
        question(f"R{n}", MODELS[0], active_s=40.0, outcome="solved" if n < 5 else "skipped")
        for n in range(10)
    ]
    strategies = {f"U{n}": "understanding" for n in range(10)} | {
        f"R{n}": "random" for n in range(10)
    }
    even = people({"trials": rows}, strategies, {"understanding": 1, "random": 1})
    (found,) = waiting([some_pairs(MODELS[0])], even)
    assert (found.median_s, found.skip_after_s, found.solved) == (8.0, 15, 15)
    trying = people({"trials": rows}, strategies, {"understanding": 0.1, "random": 0.9})
    (found,) = waiting([some_pairs(MODELS[0])], trying)
    assert (found.median_s, found.skip_after_s) == (40.0, 80)
    asked = Suggestion("sinelines", (), (), None, 4, 21.0, 25.0, 40)
    (found,) = waiting([some_pairs(MODELS[0])], even, [asked])
    assert (found.skip_after_s, found.source) == (40, "calibration")
    assert "(the study has 30 s now)" in phrases.wait(found)
    free = replace(some_pairs(MODELS[0]), skip_after_s=None)
    (found,) = waiting([free], even)
    assert "(the study does not wait with it now)" in phrases.wait(found)
    nothing = people({"trials": [row | {"outcome": "skipped"} for row in rows]}, strategies,
                     {"understanding": 1, "random": 1})  # fmt: skip
    (found,) = waiting([some_pairs(MODELS[0])], nothing)
    assert (found.median_s, found.skip_after_s) == (None, None)
    assert "nothing was solved" in phrases.wait(found)


def test_length_and_completion_are_those_of_the_mixture_first() -> None:
    shares = {"understanding": 0.75, "random": 0.25}
    found = cohort({"understanding": (0.5, 0.9), "random": (0.1, 0.2)}, shares=shares)
    whole, *each = lengths(found)
    assert (whole.strategy, whole.n, [one.strategy for one in each]) == (None, 24, list(shares))
    assert (each[0].median_s, each[0].ninety_s) == (606.5, 611.0)
    by = {(one.strategy, one.model): one for one in completions(found)}
    for model in MODELS:
        mixed = 0.75 * by["understanding", model].mean + 0.25 * by["random", model].mean
        assert by[None, model].mean == pytest.approx(mixed)
    frame = pd.DataFrame(found.tables.stages)
    own = frame[(frame["model"] == MODELS[0]) & frame["participant"].str.endswith("random")]
    assert by["random", MODELS[0]].sd == pytest.approx(own["completion_rate"].std())


def test_unfinished_sessions_tell_no_length() -> None:
    rows = {
        "trials": [question("A", MODELS[0])],
        "stages": [stage("A", MODELS[0])],
        "participants": [session("A"), session("B", complete=False, duration_s=9999.0)],
    }
    found = people(rows, {"A": "random", "B": "random"}, {"random": 1.0})
    assert [(one.n, one.ninety_s) for one in lengths(found)] == [(1, 600.0), (1, 600.0)]


@pytest.mark.parametrize(
    ("panels", "lowest"), [(3, {0, 1, 2}), (4, set(range(4))), (7, {3, 4, 5, 6})]
)
def test_the_lowest_panel_of_each_column_says_what_the_axis_is_of(
    panels: int, lowest: set[int]
) -> None:
    figure, axes = figures._grid(panels, 2.0)
    figure.canvas.draw()
    said = {
        n
        for n, ax in enumerate(axes)
        if any(one.label1.get_visible() for one in ax.xaxis.majorTicks)
    }
    assert said == lowest
