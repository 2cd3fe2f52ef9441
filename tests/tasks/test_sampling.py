"""Drawing a question's pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.representations.space import sinelines
from labapp.tasks.reconstruction.machine import draw_pair
from labapp.tasks.reconstruction.planner import CIRCLES_PAIRS
from tests.helpers.play import SPACE, stage_part

SAMPLE = np.random.default_rng(3).uniform(-1.5, 2.5, (300, 3)).astype(np.float32)


@given(
    st.sampled_from(["held_out", "shuffled_pass", "uniform"]),
    st.integers(0, 2**63 - 1),
    st.sampled_from(["P01", "P02"]),
    st.integers(1, 40),
)
def test_a_pair_depends_on_its_question_alone_and_lies_on_the_dials(
    sampling: str, seed: int, participant: str, trial: int
) -> None:
    part = stage_part(sampling=sampling)
    pair = draw_pair(part, SPACE, SAMPLE, seed, participant, trial)
    assert pair == draw_pair(part, SPACE, SAMPLE.copy(), seed, participant, trial)
    for z in pair:
        assert z == SPACE.snap(z)
    others = [
        draw_pair(part, SPACE, SAMPLE, seed, participant, trial + 1),
        draw_pair(part, SPACE, SAMPLE, seed ^ 1, participant, trial),
        draw_pair(part, SPACE, SAMPLE, seed, participant + "x", trial),
        draw_pair(
            stage_part("stage-9", sampling=sampling), SPACE, SAMPLE, seed, participant, trial
        ),
    ]
    assert any(pair != other for other in others)


def test_a_shuffled_pass_uses_each_of_250_rows_once() -> None:
    rows = np.column_stack([np.zeros(300), np.arange(300) / 150 - 1, np.zeros(300)])
    part = stage_part(sampling="shuffled_pass", trials=125)
    pairs = [draw_pair(part, SPACE, rows.astype(np.float32), 5, "P01", n + 1) for n in range(125)]
    seen = [z[1] for pair in pairs for z in pair]
    expected = [SPACE.dimensions[1].snap(float(np.float32(v))) for v in rows[:250, 1]]
    assert sorted(seen) == sorted(expected)
    assert seen != sorted(seen)
    assert draw_pair(part, SPACE, rows.astype(np.float32), 5, "P01", 126) == pairs[0]


def test_practice_pairs_are_the_published_ones() -> None:
    pairs = (((2.0, 0.0, 0.0), (1.0, 0.6, 0.3)),)
    part = stage_part(sampling="fixed", pairs=pairs, trials=1)
    assert draw_pair(part, SPACE, None, 1, "P01", 1) == pairs[0]
    assert CIRCLES_PAIRS[0] == ((0.0, 0.0), (0.6, 0.3))


def test_the_prior_of_sinelines_has_its_moments() -> None:
    rng = np.random.default_rng(0)
    z = np.array([sinelines(rng) for _ in range(20_000)])
    assert z.mean(axis=0) == pytest.approx([0, 0, 1, 1, np.pi], abs=0.05)
    assert z.std(axis=0) == pytest.approx(
        [1 / np.sqrt(3), 1, 1, 1, 2 * np.pi / np.sqrt(12)], abs=0.05
    )
    assert np.abs(z[:, 0]).max() <= 1
    assert z[:, 2:].min() >= 0


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="no held-out sample"):
        draw_pair(stage_part(sampling="held_out"), SPACE, None, 1, "P01", 1)
    with pytest.raises(ValueError, match="no prior"):
        draw_pair(stage_part(sampling="prior"), SPACE, None, 1, "P01", 1)
