"""Pixels are ranked by their scores, shown from the greatest on, and the rest is filled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from labapp.models.stimuli import masked_pictures
from labapp.models.stimuli.manifest import Fill, Sign
from labapp.models.stimuli.masked_pictures import MaskedRef

SCORES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    elements=st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]),
)
SIGNS = st.sampled_from(sorted(masked_pictures.SIGNS.values()))


def shown(scores: NDArray[np.floating], percent: float, sign: Sign = "signed") -> NDArray[np.bool_]:
    return masked_pictures.first(masked_pictures.ranking(scores, sign), percent, scores.shape)


def test_the_published_sizes() -> None:
    assert masked_pictures.sizes() == (5, 6, 8, 11, 15, 19, 26, 34, 45, 60)
    assert masked_pictures.sizes(10, 100, 2) == (10, 100)
    assert masked_pictures.sizes(20, 20, 1) == (20,)
    for odd in ((1, 3, 4), (0.5, 60, 10)):
        with pytest.raises(ValueError, match="not distinct whole percents"):
            masked_pictures.sizes(*odd)


def test_listed_percentages() -> None:
    assert masked_pictures.ascending([4, 12.5, 100]) == (4, 12.5, 100)
    for odd in ((), (0, 5), (5, 101), (5, 5), (20, 10), (5, 12.34567)):
        with pytest.raises(ValueError, match=r"are needed|must ascend|more digits"):
            masked_pictures.ascending(odd)


def test_pixels_are_shown_from_the_greatest_score_on() -> None:
    scores = np.array([[0.1, -0.9], [0.5, 0.2]])
    assert masked_pictures.ranking(scores).tolist() == [2, 3, 0, 1]
    assert masked_pictures.ranking(scores, "absolute").tolist() == [1, 2, 3, 0]
    assert shown(scores, 50).tolist() == [[False, False], [True, True]]
    assert shown(scores, 25, "absolute").tolist() == [[False, True], [False, False]]


@given(SCORES, SIGNS)
def test_a_ranking_is_an_order_of_all_pixels(scores: np.ndarray, sign: Sign) -> None:
    ranked = masked_pictures.ranking(scores, sign)
    assert sorted(ranked.tolist()) == list(range(scores.size))
    values = scores.reshape(-1)[ranked]
    falling = np.abs(values) if sign == "absolute" else values
    assert (np.diff(falling) <= 0).all()
    assert masked_pictures.ranking(scores.copy(), sign).tolist() == ranked.tolist()


@given(SCORES, SIGNS, st.floats(0.1, 100), st.floats(0.1, 100))
def test_more_shows_what_less_shows(
    scores: np.ndarray, sign: Sign, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    small, large = (shown(scores, percent, sign) for percent in (less, more))
    assert (large | ~small).all()
    assert int(small.sum()) == masked_pictures.pixels(less, scores.size) >= 1
    assert shown(scores, 100, sign).all()


def test_ties_are_broken_alike_and_not_by_place() -> None:
    """Else a flat map would show a picture from its upper left corner on."""
    flat = np.zeros((20, 20))
    pixels = shown(flat, 25)
    assert (pixels == shown(flat + 3, 25)).all()
    assert 10 < pixels[:10].sum() < 90


@given(
    grid=st.integers(1, 6),
    times=st.integers(1, 4),
    colour=st.booleans(),
    seed=st.integers(0, 1000),
    fill=st.sampled_from(sorted(masked_pictures.FILLS.values())),
)
def test_what_is_masked_is_filled_and_the_rest_is_as_it_was(
    grid: int, times: int, colour: bool, seed: int, fill: Fill
) -> None:
    random = np.random.default_rng(seed)
    side = grid * times
    picture = random.integers(0, 256, (side, side, 3) if colour else (side, side), np.uint8)
    before = picture.copy()
    mask = random.random((grid, grid)) < 0.5
    level = masked_pictures.level(fill, (0.25, 0.5, 0.75) if colour else (0.25,))
    made = masked_pictures.masked(picture, mask, level)
    assert (picture == before).all()
    assert (made.shape, made.dtype) == (picture.shape, np.uint8)
    for y, x in np.ndindex(side, side):
        expected = picture[y, x] if mask[y // times, x // times] else level
        assert (made[y, x] == expected).all()


def test_the_levels_of_masked_pixels() -> None:
    said = {
        fill: masked_pictures.level(fill, (0.2,)).tolist()
        for fill in masked_pictures.FILLS.values()
    }
    assert said == {"mean": [51], "black": [0], "grey": [128], "white": [255]}
    assert masked_pictures.level("mean", (0, 0.5, 1)).tolist() == [0, 128, 255]
    with pytest.raises(ValueError, match="does not say its mean level"):
        masked_pictures.level("mean", None)


def test_what_does_not_fit_is_refused() -> None:
    picture = np.zeros((9, 8), np.uint8)
    with pytest.raises(ValueError, match="8 x 9 pixels has no whole blocks for 4 x 4 scores"):
        masked_pictures.masked(picture, np.ones((4, 4), bool), np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="a grey picture has one level"):
        masked_pictures.masked(picture, np.ones((9, 8), bool), np.zeros(3, np.uint8))


def test_a_masked_picture_has_a_name_that_says_it_all() -> None:
    ref = MaskedRef("faces", "anger-001", "lrp", "mean", "signed", 5.0)
    assert str(ref) == "masked:faces:anger-001:lrp:mean:signed:5"
    assert MaskedRef.of(str(ref)) == ref
    assert MaskedRef.of(str(MaskedRef("f", "a", "l", "white", "absolute", 12.5))).percent == 12.5
    assert masked_pictures.is_masked(str(ref))
    assert not masked_pictures.is_masked("anger-001.png")


@pytest.mark.parametrize(
    "odd",
    [
        "anger-001.png",
        "masked:faces:anger-001:lrp:mean:signed",
        "masked:faces:anger-001:lrp:mean:signed:5:6",
        "masked:faces:anger-001:lrp:pink:signed:5",
        "masked:faces:anger-001:lrp:mean:both:5",
        "masked:faces:anger-001:lrp:mean:signed:five",
        "masked:faces:anger-001:lrp:mean:signed:0",
        "masked:faces:anger-001:lrp:mean:signed:nan",
        "masked:faces:anger-001:lrp:mean:signed:inf",
    ],
)
def test_what_names_no_masked_picture_is_refused(odd: str) -> None:
    with pytest.raises(ValueError):
        MaskedRef.of(odd)
