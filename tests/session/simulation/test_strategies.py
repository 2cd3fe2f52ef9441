"""The strategies by example, on decoders in closed form; they see the screen and nothing else."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from labapp.models.representations.decoding import Decoder, compare, decode_one
from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from labapp.session.simulation.motor import OVERSHOOT, MotorModel
from labapp.session.simulation.person import Person
from labapp.session.simulation.strategies import STRATEGIES, in_practice
from labapp.session.simulation.view import Dial, Move, Strategy, View, dials_of, on_screen
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
        solving = strategy.solve(self.view)
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


def strategy_of(name: str, seed: int = 0) -> Strategy:
    rng = np.random.default_rng(seed)
    return STRATEGIES[name](MotorModel(Person(), rng), rng)


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
    assert set(View._fields) == {
        *("picture", "target", "alignment", "goal", "z", "dials", "seconds", "may_skip"),
    }
    assert {one.name for one in fields(Dial)} == {"low", "high", "step", "options"}
    space = LatentSpace((Discrete("digit", 10), Continuous("slant", -2.0, 3.0, 0.05)))
    assert dials_of(space) == (Dial(0.0, 9.0, 1.0, 10), Dial(-2.0, 3.0, 0.05))


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
    motor = MotorModel(Person(), np.random.default_rng(0))
    acts = motor.climb(screen.view, 0, 0.05)
    seen: list[float] = []
    move: Move | None = next(acts)
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


@pytest.mark.parametrize("way", ["drag", "climb"])
def test_what_is_foreseen_of_a_movement_is_seen_then(way: str) -> None:
    screen = Screen(CIRCLES, (0.203, 0.1), (0.9, 0.1), 2.0)
    motor = MotorModel(Person(), np.random.default_rng(3))
    view = screen.view
    acts = motor.drag(view, 0, 0.77) if way == "drag" else motor.climb(view, 0, 0.033)
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
