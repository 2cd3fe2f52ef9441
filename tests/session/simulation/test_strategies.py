"""The strategies by example, and what simulated participants notice and learn."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from labapp.models.datasets import circles, sinelines
from labapp.models.representations.decoding import Decoder, compare, decode_one
from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from labapp.session.simulation.learning import EffectMemory
from labapp.session.simulation.motor import OVERSHOOT, MotorModel, Solving
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
from labapp.session.simulation.person import Experience, ParticipantTraits
from labapp.session.simulation.strategies import STRATEGIES, in_practice
from labapp.session.simulation.view import (
    Array,
    DialMove,
    ScreenDial,
    Strategy,
    View,
    dials_of,
    on_screen,
)
from labapp.tasks.questionnaire.simulated import LEANINGS, leaning
from labapp.tasks.reconstruction.simulated import Reconstructing
from labapp.tasks.single_dimension.machine import Examples
from labapp.tasks.single_dimension.simulated import ChoiceMatch, match
from tests.helpers.formulas import formula_decoder
from tests.helpers.studies import ring_decoder

CIRCLES = formula_decoder("circles/gt")

Z = tuple[float, ...]


class Screen:
    """A question on the screen, and what was done with it."""

    def __init__(self, decoder: Decoder, start: Z, target: Z, goal: float) -> None:
        self.decoder, self.z, self.goal = decoder, start, goal
        self.target = decode_one(decoder, target)
        self.moves: list[tuple[int, float]] = []
        self.alignments: list[float] = []

    @property
    def view(self) -> View:
        own = decode_one(self.decoder, self.z)
        distance = "mnist" if self.decoder.id.startswith("mnist") else "dsprites"
        alignment = round(compare(distance, own, self.target).alignment, 3)
        dials = dials_of(self.decoder.space)
        return View(own, self.target, alignment, self.goal, self.z, dials)

    @property
    def switches(self) -> int:
        """How often another dial was taken."""
        dials = [dial for dial, _ in self.moves]
        return sum(a != b for a, b in zip([None, *dials], dials, strict=False))

    def play(self, strategy: Strategy, most: int = 600) -> bool:
        """Whether the goal was reached within so many moves."""
        solving = one_by_one(strategy.solve(self.view))
        try:
            move = next(solving)
            for _ in range(most):
                turned = list(self.z)
                turned[move.dial] = self.decoder.space.dimensions[move.dial].snap(move.value)
                self.z = tuple(turned)
                view = self.view
                self.moves.append((move.dial, self.z[move.dial]))
                self.alignments.append(view.alignment)
                if view.alignment >= self.goal - 0.001:
                    return True
                move = solving.send(view)
        except StopIteration:
            pass
        return False


def one_by_one(acts: Solving) -> Solving:
    """Every place of every movement as a movement of its own."""
    move = next(acts)
    while True:
        view = yield DialMove(move.dial, move.value, then=move.then)
        for value in move.onward:
            if move.watch is not None:
                move.watch((view.z,), view.picture[None])
            view = yield DialMove(move.dial, value, then=move.then)
        try:
            move = acts.send(view)
        except StopIteration as end:
            return end.value


def strategy_of(name: str, seed: int = 0) -> Strategy:
    rng = np.random.default_rng(seed)
    return STRATEGIES[name](MotorModel(ParticipantTraits(), rng), rng)


def questions(seed: int, n: int = 8) -> list[tuple[Z, Z]]:
    draws = np.random.default_rng(seed).uniform(0.05, 0.95, (n, 2, 2))
    return [(CIRCLES.space.snap(a), CIRCLES.space.snap(b)) for a, b in draws.tolist()]


def played(name: str, seed: int, goal: float, most: int = 600) -> list[tuple[bool, int]]:
    """A stage: solved, and dials taken, question by question."""
    strategy = strategy_of(name, seed)
    out = []
    for start, target in questions(seed):
        screen = Screen(CIRCLES, start, target, goal)
        out.append((screen.play(strategy, most), screen.switches))
    return out


def test_a_view_holds_what_is_on_the_screen_and_no_more() -> None:
    assert set(View.__struct_fields__) == {
        *("picture", "target", "alignment", "goal", "z", "dials", "seconds", "may_skip"),
    }
    assert {one.name for one in fields(ScreenDial)} == {"low", "high", "step", "options"}
    space = LatentSpace((Discrete("digit", 10), Continuous("slant", -2.0, 3.0, 0.05)))
    assert dials_of(space) == (ScreenDial(0.0, 9.0, 1.0, 10), ScreenDial(-2.0, 3.0, 0.05))


def test_pictures_are_seen_as_they_are_painted() -> None:
    picture = np.array([[0.2, 0.8], [0.5, 0.0]], np.float32)
    assert on_screen(picture, "image") is picture
    assert on_screen(picture, "binary_image").tolist() == [[0, 1], [1, 0]]
    series = np.array([-20.0, -10.0, 0.0, 10.0, 30.0], np.float32)
    assert on_screen(series, "series").tolist() == [0, 0, 0.5, 1, 1]


def test_understanding_solves_simple_dials_in_about_one_pass() -> None:
    stages = [played("understanding", seed, 0.95) for seed in range(4)]
    assert all(solved for stage in stages for solved, _ in stage)
    later = [taken for stage in stages for _, taken in stage[1:]]
    assert np.median(later) <= 2, "each of the two dials once"


def test_random_seldom_meets_an_exact_target_in_the_time_of_understanding() -> None:
    aware = [played("understanding", seed, 0.98, 60) for seed in range(4)]
    lost = [played("random", seed, 0.98, 60) for seed in range(4)]
    solved = [np.mean([one for stage in some for one, _ in stage]) for some in (aware, lost)]
    assert solved[0] > 0.85
    assert solved[1] < 0.5


@pytest.mark.parametrize("name", ["partial", "ascent"])
def test_the_others_take_more_turns_but_get_there(name: str) -> None:
    stages = [played(name, seed, 0.95) for seed in range(4)]
    assert np.mean([solved for stage in stages for solved, _ in stage]) > 0.8
    taken = np.mean([taken for stage in stages for _, taken in stage])
    aware = [taken for seed in range(4) for _, taken in played("understanding", seed, 0.95)]
    assert taken > np.mean(aware)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_same_seed_does_the_same_and_another_does_not(name: str) -> None:
    def moves(seed: int) -> list[tuple[int, float]]:
        screen = Screen(CIRCLES, (0.1, 0.9), (0.8, 0.2), 0.98)
        screen.play(strategy_of(name, seed), 80)
        return screen.moves

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def test_climbing_goes_past_the_top_and_comes_back() -> None:
    screen = Screen(CIRCLES, (0.2, 0.1), (0.6, 0.1), 2.0)
    motor = MotorModel(ParticipantTraits(), np.random.default_rng(0))
    acts = one_by_one(motor.climb(screen.view, 0, 0.05))
    seen: list[float] = []
    move: DialMove | None = next(acts)
    while move is not None:
        screen.z = (CIRCLES.space.dimensions[0].snap(move.value), screen.z[1])
        seen.append(screen.z[0])
        try:
            move = acts.send(screen.view)
        except StopIteration:
            move = None
    assert max(seen) == pytest.approx(0.6 + 0.05 * OVERSHOOT), "a reaction time too late"
    assert seen[-1] == pytest.approx(0.6)
    assert screen.view.alignment == pytest.approx(1.0)
    assert motor.planned == 0.5, "by the number"


def test_what_is_foreseen_of_a_movement_is_seen_then() -> None:
    screen = Screen(CIRCLES, (0.203, 0.1), (0.9, 0.1), 2.0)
    motor = MotorModel(ParticipantTraits(), np.random.default_rng(3))
    view = screen.view
    acts = motor.climb(view, 0, 0.033)
    move = next(acts)
    foreseen: list[Z] = []
    for _ in range(9):
        screen.z = (CIRCLES.space.dimensions[0].snap(move.value), screen.z[1])
        if foreseen:
            assert screen.z == foreseen[0]
        foreseen = list(move.then())
        move = acts.send(screen.view)


def test_ascent_ends_where_no_dial_alone_brings_more() -> None:
    decoder = ring_decoder("dsprites/ring", 3)
    screen = Screen(decoder, (-2.0, 2.0, 0.0), (1.0, -1.0, 2.0), 2.0)
    assert not screen.play(strategy_of("ascent"), 2000), "2.0 cannot be reached: it gave up"
    assert len(screen.moves) < 2000
    here = screen.view.alignment
    assert here >= max(screen.alignments) - 0.001
    for dial in range(3):
        for way in (-0.15, 0.15):
            screen.z = tuple(v + way * (k == dial) for k, v in enumerate(screen.z))
            assert screen.view.alignment <= here + 0.02
            screen.z = tuple(v - way * (k == dial) for k, v in enumerate(screen.z))


class OneMove:
    """Turns a dial once, and does not know what else to try."""

    def understands(self, view: View) -> float:
        return 0.0

    def solve(self, view: View) -> Solving:
        yield DialMove(1, 0.5)


def test_who_does_not_know_what_else_to_try_turns_any_dial_and_begins_again() -> None:
    person = Reconstructing("ascent", ParticipantTraits(), (1, "P01"), {})
    person._strategy = OneMove()  # type: ignore[assignment]
    screen = Screen(CIRCLES, (0.2, 0.1), (0.6, 0.1), 2.0)
    moves = [person._next(screen.view) for _ in range(40)]
    assert moves[0] == DialMove(1, 0.5)
    assert moves[1] is None
    assert moves[2] is not None
    assert DialMove(1, 0.5) in moves[2:], "after that movement"


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_radio_buttons_are_pressed_one_by_one(name: str) -> None:
    decoder = ring_decoder("mnist8k/ring", 2, 6)
    screen = Screen(decoder, (0.0, -2.0, 1.0), (4.0, 1.5, -1.0), 0.75)
    screen.play(strategy_of(name), 300)
    pressed = [value for dial, value in screen.moves if dial == 0]
    assert pressed
    assert set(pressed) <= {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}


def test_what_was_learnt_is_used_in_the_next_question() -> None:
    first, later = [], []
    for seed in range(6):
        taken = [taken for _, taken in played("understanding", seed, 0.97)]
        first.append(taken[0])
        later += taken[3:]
    assert np.mean(later) < np.mean(first)


def test_who_turns_dials_at_random_goes_by_the_number_in_the_practice() -> None:
    assert [in_practice(name) for name in sorted(STRATEGIES)] == [
        *("ascent", "partial", "ascent", "understanding")
    ]


def test_sense_of_understanding_is_earned() -> None:
    strategy = strategy_of("understanding", 1)
    screen = Screen(CIRCLES, (0.1, 0.9), (0.8, 0.2), 0.99)
    assert strategy.understands(screen.view) == 0
    for start, target in questions(3, 5):
        screen = Screen(CIRCLES, start, target, 0.97)
        screen.play(strategy)
    assert strategy.understands(screen.view) > 0.3


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


DIALS = (ScreenDial(0.0, 1.0, 0.01), ScreenDial(-2.0, 2.0, 0.01), ScreenDial(0.0, 2.0, 1.0, 3))


def test_what_each_dial_does_is_learnt_from_what_was_seen() -> None:
    rng = np.random.default_rng(1)
    effects = EffectMemory(DIALS, 2)
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
    effects = EffectMemory(DIALS, 3)
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
    found: list[ChoiceMatch] = []
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
