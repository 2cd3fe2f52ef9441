"""What is noticed of pictures, what is learnt of dials, and how pictures are matched."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets import circles, sinelines
from labapp.session.simulation.learning import Effects
from labapp.session.simulation.percept import (
    COLOUR_KINDS,
    FORM,
    IMAGE_KINDS,
    PLACE,
    PLACE_SD,
    SIZE,
    SIZE_SD,
    TINT,
    Eye,
    kinds_of,
    properties,
)
from labapp.session.simulation.person import Experience
from labapp.session.simulation.view import Array, Dial
from labapp.tasks.questionnaire.simulated import LEANINGS, leaning
from labapp.tasks.single_dimension.machine import Examples
from labapp.tasks.single_dimension.simulated import Match, match


def disc(x: float, y: float, radius: float, side: int = 64) -> Array:
    across, down = np.meshgrid(np.arange(side), np.arange(side))
    near = np.hypot(across - x * side, down - y * side) <= radius * side
    return near.astype(np.float32)


def changed(before: Array, after: Array) -> dict[int, float]:
    """The largest change of each kind of property, in just noticeable differences."""
    change = np.abs(properties(after) - properties(before))
    kinds = kinds_of(before)
    return {int(kind): float(change[kinds == kind].max()) for kind in set(kinds.tolist())}


def test_a_thing_that_moves_changes_its_place_alone() -> None:
    found = changed(disc(0.4, 0.5, 0.15), disc(0.6, 0.5, 0.15))
    assert found[PLACE] == pytest.approx(0.2 / PLACE_SD, rel=0.05)
    assert max(found[SIZE], found[TINT]) < 1
    assert found[FORM] < 4, "the edges of cells fall between other pixels"


def test_a_thing_that_grows_changes_its_size_and_how_much_is_bright() -> None:
    found = changed(disc(0.5, 0.5, 0.12), disc(0.5, 0.5, 0.24))
    assert found[SIZE] == pytest.approx(np.log(2) / SIZE_SD, rel=0.1)
    assert found[PLACE] < 1
    assert found[FORM] < 4


def test_a_bright_thing_on_grey_is_seen_like_a_grey_one_on_bright() -> None:
    z = np.array([[0.5, 0.2], [0.5, 0.8]], np.float32)
    light, dark = circles.pictures(z)
    found = changed(light, dark)
    assert found[TINT] > 10
    assert max(found[PLACE], found[SIZE]) < 1


def test_nothing_is_there_in_an_empty_picture() -> None:
    empty = np.zeros((28, 28), np.float32)
    assert np.isfinite(properties(empty)).all()
    assert properties(empty).shape == kinds_of(empty).shape == (44,)
    assert np.isfinite(properties(np.zeros(64, np.float32))).all()


def test_a_wave_has_a_height_a_slope_and_waves() -> None:
    base = [0.0, 0.0, 2.0, 2.0, 0.0]
    flat, tilted, high = sinelines.series(
        np.array([base, [0.5, *base[1:]], [0.0, 3.0, *base[2:]]], np.float32)
    )
    seen = [properties((one + 10) / 20) for one in (flat, tilted, high)]
    assert seen[1][1] - seen[0][1] == pytest.approx(0.5 * 6.3 / 20 / PLACE_SD, rel=0.05)
    assert seen[2][0] - seen[0][0] == pytest.approx(3 / 20 / PLACE_SD, rel=0.01)
    assert np.abs(seen[2][1:] - seen[0][1:]).max() < 0.01
    assert len(seen[0]) == len(kinds_of(flat))


def test_looking_longer_sees_better() -> None:
    picture = disc(0.5, 0.5, 0.2)
    once = [Eye(np.random.default_rng(k), 1.0).look(picture) for k in range(200)]
    often = [Eye(np.random.default_rng(k), 1.0).look(picture, 4) for k in range(200)]
    assert np.std(once, axis=0).mean() == pytest.approx(1, abs=0.05)
    assert np.std(often, axis=0).mean() == pytest.approx(0.5, abs=0.05)


DIALS = (Dial(0.0, 1.0, 0.01), Dial(-2.0, 2.0, 0.01), Dial(0.0, 2.0, 1.0, 3))


def test_what_each_dial_does_is_learnt_from_what_was_seen() -> None:
    rng = np.random.default_rng(1)
    effects = Effects(DIALS, 2)
    of_button = np.array([[0.0, 5.0], [3.0, 0.0], [-4.0, 2.0]])

    def picture(z: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([10 * z[0], 3 * z[1] ** 2]) + of_button[int(z[2])]

    assert not any(effects.tried(dial) for dial in range(3))
    for _ in range(300):
        z = (rng.uniform(), rng.uniform(-2, 2), float(rng.integers(3)))
        effects.see(z, picture(z) + rng.normal(0, 0.2, 2))
    assert all(effects.tried(dial) for dial in range(3))
    moved = effects.effect(0, np.array([0.2, 0.7]))
    assert moved[1] - moved[0] == pytest.approx([5, 0], abs=0.4)
    bent = effects.effect(1, np.array([-1.5, 0.0, 1.5]))
    assert bent[0] - bent[1] == pytest.approx([0, 6.75], abs=1)
    assert bent[2] - bent[1] == pytest.approx([0, 6.75], abs=1)
    pressed = effects.effect(2, np.array([0.0, 1.0, 2.0]))
    assert pressed - pressed[0] == pytest.approx(of_button - of_button[0], abs=0.4)


def test_a_dial_is_reliable_that_does_what_is_expected() -> None:
    effects = Effects(DIALS, 3)
    change = np.array([4.0, 0.0, -6.0])
    assert effects.reliable(0) == 0, "nothing was expected of it yet"
    effects.judge(0, change, change, 0.1)
    effects.judge(1, change, -change, 0.1)
    effects.judge(2, change, change * 0.5, 0.1)
    assert effects.reliable(0) == pytest.approx(1, abs=0.01)
    assert effects.reliable(1) == 0
    assert effects.reliable(2) == 0
    for _ in range(5):
        effects.judge(1, change, change, 0.1)
    assert effects.reliable(1) > 0.5, "old mistakes are forgiven"


@pytest.mark.parametrize("visualisation", ["exemplars", "traversals"])
@pytest.mark.parametrize("weighs", [True, False])
def test_a_picture_is_matched_with_those_like_it(visualisation: str, weighs: bool) -> None:
    rng = np.random.default_rng(2)
    radii = {0: 0.06, 1: 0.15, 2: 0.24}

    def any_disc(radius: float) -> Array:
        return disc(*rng.uniform(0.35, 0.65, 2), radius)

    if visualisation == "exemplars":
        rows = np.array([[any_disc(radii[k]) for _ in range(8)] for k in range(3)])
    else:
        steps = np.linspace(0.06, 0.24, 7)
        rows = np.array([[any_disc(radius) for radius in steps] for _ in range(5)])
    found: list[Match] = []
    for choice in radii:
        shown = Examples(rows, any_disc(radii[choice]))
        eye = Eye(rng, 1.0)
        one = match(eye, shown, visualisation, "image", None, 3, weighs=weighs)  # type: ignore[arg-type]
        found.append(one)
    assert [one.choice for one in found] == [0, 1, 2]
    assert all(0 <= one.sure <= 1 and 0.8 < one.sense <= 1 for one in found)


def test_pictures_that_do_not_differ_are_matched_by_luck() -> None:
    rng = np.random.default_rng(3)
    rows = np.array([[disc(*rng.uniform(0.3, 0.7, 2), 0.15) for _ in range(8)] for _ in range(3)])
    asked = [disc(*rng.uniform(0.3, 0.7, 2), 0.15) for _ in range(60)]
    found = [
        match(Eye(rng, 1.0), Examples(rows, one), "exemplars", "image", None, 3, weighs=True)
        for one in asked
    ]
    assert {one.choice for one in found} == {0, 1, 2}
    assert np.mean([one.sense for one in found]) < 0.5


def test_answers_follow_what_was_lived_through() -> None:
    rng = np.random.default_rng(4)
    good = Experience(5, 0, [15.0] * 5, 0.9, 0.9, 0.1)
    bad = Experience(0, 5, [120.0] * 5, 0.1, 0.2, 0.8)

    def mean(item: str, lived: Experience) -> float:
        said = [leaning(item, lived, rng) for _ in range(200)]
        return float(np.mean([one for one in said if one is not None]))

    for item in ("seq", "performance", "effort", "frustration", "random_experimenting"):
        assert mean(item, good) < mean(item, bad), item
    for item in ("stage_easy", "understood_dimensions", "systematic_plan"):
        assert mean(item, good) > mean(item, bad), item
    assert all(0 <= mean(item, lived) <= 1 for item in LEANINGS for lived in (good, bad))
    assert leaning("age", good, rng) is None
    assert leaning("seq", None, rng) is None
    both = Experience.of_all([good, bad])
    assert both is not None
    assert both.success == 0.5
    assert Experience.of_all([]) is None


def coloured_disc(colour: tuple[float, float, float]) -> np.ndarray:
    """A disc of this colour on black, float32 (64, 64, 3)."""
    rows, columns = np.indices((64, 64)) - 31.5
    inside = (rows**2 + columns**2 < 400)[..., None]
    return np.where(inside, np.float32(colour), np.float32(0)).astype(np.float32)


def test_colours_of_one_lightness_are_told_apart() -> None:
    red, green = coloured_disc((0.6, 0.0, 0.0)), coloured_disc((0.0, 0.6 * 0.299 / 0.587, 0.0))
    seen = properties(red), properties(green)
    same = len(IMAGE_KINDS)
    assert len(seen[0]) == len(COLOUR_KINDS) == len(kinds_of(red))
    assert np.allclose(seen[0][:same], seen[1][:same], atol=1e-3)
    assert np.abs(seen[0] - seen[1]).max() > 5


def test_a_grey_picture_in_three_channels_is_seen_as_the_grey_one() -> None:
    rows, columns = np.indices((64, 64))
    grey = (np.exp(-((rows - 20) ** 2 + (columns - 40) ** 2) / 80)).astype(np.float32)
    coloured = np.repeat(grey[..., None], 3, axis=2)
    same = len(IMAGE_KINDS)
    assert np.allclose(properties(coloured)[:same], properties(grey), atol=1e-3)
    assert np.allclose(properties(coloured)[same:], 0, atol=1e-4)
