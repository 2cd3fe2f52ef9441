"""What simulated participants call the dials: what they saw them change, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.models.representations.decoding import Decoder, decode_one
from labapp.session.simulation.learning import Effects, LearnerModel, LearningStrategy, meanings
from labapp.session.simulation.motor import MotorModel
from labapp.session.simulation.percept import (
    ACROSS,
    CURVE_KINDS,
    DOWN,
    EXTENT,
    GROUND,
    HEIGHT,
    IMAGE_KINDS,
    INK,
    LIGHT,
    SIZE_SD,
    SLANT,
    SLOPE,
    STRETCH,
    WAVES_CLOSENESS,
    WAVES_HEIGHT,
    Eye,
)
from labapp.session.simulation.person import (
    ENGLISH,
    GERMAN,
    KEY_S,
    NOTHING,
    Person,
    typing_s,
    vocabulary,
    words_of,
)
from labapp.session.simulation.strategies import STRATEGIES
from labapp.session.simulation.view import Dial, View, dials_of
from labapp.tasks.reconstruction.machine import LABEL_LIMIT
from tests.helpers.formulas import formula_decoder
from tests.helpers.nightly import examples
from tests.session.simulation.test_strategies import Screen

IMAGE = np.zeros((8, 8), np.float32)
CURVE = np.zeros(64, np.float32)
SLIDER = Dial(-1.0, 1.0, 0.01)
BUTTONS = Dial(0.0, 4.0, 1.0, 5)
CELLS = tuple(range(SLANT + 1, len(IMAGE_KINDS)))
COURSE = tuple(range(WAVES_CLOSENESS + 1, len(CURVE_KINDS)))

OF_IMAGES = {
    "across": (ACROSS,),
    "down": (DOWN,),
    "place": (ACROSS, DOWN),
    "brightness": (GROUND, LIGHT),
    "stretch": (STRETCH,),
    "slant": (SLANT,),
    "turn": (STRETCH, SLANT),
    "form": CELLS,
}
OF_CURVES = {
    "height": (HEIGHT,),
    "slope": (SLOPE,),
    "waves_height": (WAVES_HEIGHT,),
    "waves_closeness": (WAVES_CLOSENESS,),
    "form": COURSE,
    "waves": (WAVES_HEIGHT, WAVES_CLOSENESS),
}

Changes = Sequence[Mapping[int, float]]
"""By dial: how much it changes each property from one end to the other."""


def known(
    changes: Changes,
    *,
    picture: np.ndarray = IMAGE,
    dials: Sequence[Dial] = (),
    foretold: Sequence[bool] = (),
    seed: int = 0,
    looks: int = 150,
) -> dict[int, str]:
    """What dials are called by somebody who has seen them do that; the picture has enough ink to
    begin with. foretold: whether what each did was as expected, by default always."""
    dials = tuple(dials) or (SLIDER,) * len(changes)
    z = tuple(dial.low for dial in dials)
    view = View(picture, picture, 0.0, 0.9, z, dials)
    rng = np.random.default_rng(seed)
    learner = LearnerModel(Eye(rng), view)
    n = len(learner.kinds)
    learner.effects = Effects(dials, n)  # which is told percepts in place of pictures
    ends = np.zeros((len(changes), n))
    for dial, change in enumerate(changes):
        ends[dial, list(change)] = list(change.values())
    for _ in range(looks):
        at = rng.uniform(0.0, 1.0, len(dials))
        at = np.where([d.options > 0 for d in dials], np.rint(at * 4) / 4, at)
        values = [d.low + d.width * a for d, a in zip(dials, at, strict=True)]
        percept = at @ ends + rng.normal(0.0, 1.0, n)
        if picture.ndim == 2:
            percept[INK] += 10.0
        learner.effects.see(values, percept)
    for dial, as_expected in enumerate(foretold or [True] * len(changes)):
        happened = ends[dial] / 2 + rng.normal(0.0, 0.5, n)
        learner.effects.judge(dial, ends[dial] / 2 * as_expected, happened, 0.5)
    before = rng.bit_generator.state
    named = meanings(learner, view)
    assert rng.bit_generator.state == before, "nothing is looked at, nothing drawn"
    return named


@pytest.mark.parametrize("meaning", OF_IMAGES)
def test_a_dial_is_called_after_what_it_changes_in_an_image(meaning: str) -> None:
    assert known([dict.fromkeys(OF_IMAGES[meaning], 20.0)]) == {0: meaning}


@pytest.mark.parametrize("meaning", OF_CURVES)
def test_a_dial_is_called_after_what_it_changes_in_a_curve(meaning: str) -> None:
    changes = [dict.fromkeys(OF_CURVES[meaning], 20.0)]
    assert known(changes, picture=CURVE) == {0: meaning}


def test_more_ink_within_the_same_extent_is_thicker_and_else_it_is_larger() -> None:
    thicker: Changes = [{INK: 10.0}]  # twice the ink
    larger: Changes = [{EXTENT: np.log(4) / 2 / SIZE_SD, INK: 30.0}]  # with four times the area
    assert known(thicker) == {0: "thickness"}
    assert known(larger) == {0: "size"}
    assert known([{EXTENT: 20.0}]) == {}, "larger and thinner"
    brighter: Changes = [{GROUND: -20.0, LIGHT: 20.0, INK: 10.0}]
    assert known(brighter) == {0: "brightness"}


def test_buttons_with_other_forms_are_a_choice() -> None:
    forms: Changes = [{STRETCH: 12.0, SLANT: 4.0, **dict.fromkeys(CELLS, 4.0)}]
    assert known(forms, dials=[BUTTONS]) == {0: "choice"}
    fuller: Changes = [{INK: 20.0, STRETCH: 8.0, **dict.fromkeys(CELLS, 3.0)}]
    assert known(fuller, dials=[BUTTONS]) == {0: "choice"}
    assert known(fuller) == {0: "thickness"}, "of a slider"
    assert known([{ACROSS: 20.0}], dials=[BUTTONS]) == {0: "across"}
    curves: Changes = [dict.fromkeys(COURSE, 20.0)]
    assert known(curves, dials=[BUTTONS], picture=CURVE) == {0: "choice"}


def test_a_dial_that_does_nothing_is_called_so_and_one_that_was_never_turned_is_not() -> None:
    assert known([{}, {SLANT: 20.0}]) == {0: NOTHING, 1: "slant"}
    assert known([{}, {SLANT: 20.0}], looks=1) == {}


def test_who_does_not_understand_a_dial_does_not_name_it() -> None:
    slants: Changes = [{SLANT: 20.0}, {SLANT: 20.0}]
    assert known(slants, foretold=[True, False]) == {0: "slant"}
    everything: Changes = [{ACROSS: 15.0, EXTENT: 15.0, GROUND: 15.0, LIGHT: 15.0, SLANT: 15.0}]
    assert known(everything) == {}


@settings(max_examples=examples(40))
@given(
    st.lists(st.sampled_from(sorted(OF_IMAGES)), min_size=1, max_size=4, unique=True),
    st.floats(14.0, 60.0),
    st.integers(0, 9999),
    st.data(),
)
def test_each_dial_is_named_by_itself_in_whatever_order(
    planned: list[str], amount: float, seed: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(planned))
    changes = [dict.fromkeys(OF_IMAGES[meaning], amount) for meaning in order]
    named = known(changes, seed=seed, looks=300)
    assert named == dict(enumerate(order))


@settings(max_examples=examples(40))
@given(
    st.dictionaries(st.integers(0, len(IMAGE_KINDS) - 1), st.floats(-40.0, 40.0), max_size=12),
    st.booleans(),
    st.integers(0, 9999),
)
def test_whatever_a_dial_does_its_name_is_one_that_can_be_typed(
    change: dict[int, float], foretold: bool, seed: int
) -> None:
    named = known([change], foretold=[foretold], seed=seed)
    assert set(named.values()) <= set(ENGLISH)
    if not foretold:
        assert set(named.values()) <= {NOTHING}


def learnt(name: str, decoder: Decoder, seed: int, questions: int = 4) -> dict[int, str]:
    """What somebody calls the dials of a decoder after a few questions."""
    rng = np.random.default_rng(seed)
    strategy = STRATEGIES[name](MotorModel(Person(), rng), rng)
    assert isinstance(strategy, LearningStrategy)
    dials = dials_of(decoder.space)
    draws = np.random.default_rng([seed, 1])

    def drawn() -> tuple[float, ...]:
        return decoder.space.snap([float(draws.uniform(d.low, d.high)) for d in dials])

    for _ in range(questions):
        screen = Screen(decoder, drawn(), drawn(), 0.97)
        screen.play(strategy, 250)
    return strategy.meanings(screen.view)


@pytest.mark.parametrize("name", ["understanding", "partial"])
def test_dials_of_circles_are_called_size_and_brightness(name: str) -> None:
    found = [learnt(name, formula_decoder("circles/gt"), seed) for seed in range(6)]
    assert all(one.get(0, "size") == "size" for one in found)
    assert all(one.get(1, "brightness") == "brightness" for one in found)
    assert sum(len(one) for one in found) >= (9 if name == "understanding" else 6)


def test_before_anything_was_turned_no_dial_has_a_meaning() -> None:
    decoder = formula_decoder("circles/gt")
    rng = np.random.default_rng(0)
    strategy = STRATEGIES["understanding"](MotorModel(Person(), rng), rng)
    assert isinstance(strategy, LearningStrategy)
    picture = decode_one(decoder, (0.5, 0.1))
    view = View(picture, picture, 0.5, 0.9, (0.5, 0.1), dials_of(decoder.space))
    assert strategy.meanings(view) == {}
    next(strategy.solve(view))
    assert strategy.meanings(view) == {}


def test_only_who_learns_what_dials_do_can_name_them() -> None:
    rng = np.random.default_rng(0)
    made = {name: make(MotorModel(Person(), rng), rng) for name, make in STRATEGIES.items()}
    assert {name for name, one in made.items() if isinstance(one, LearningStrategy)} == {
        *("understanding", "partial")
    }


def test_both_languages_have_a_word_for_everything() -> None:
    meant = {*OF_IMAGES, *OF_CURVES, "size", "thickness", "choice", NOTHING}
    assert set(ENGLISH) == set(GERMAN) == meant
    assert [words_of(code) for code in ("de", "de-AT", "en", "fr", "den")] == [
        *(GERMAN, GERMAN, ENGLISH, ENGLISH, ENGLISH)
    ]


@pytest.mark.parametrize("words", [ENGLISH, GERMAN])
@pytest.mark.parametrize("kinds", [OF_IMAGES, OF_CURVES])
def test_a_word_means_one_thing_on_one_screen(
    words: Mapping[str, Sequence[str]], kinds: Mapping[str, object]
) -> None:
    of_images = {"size", "thickness"} if kinds is OF_IMAGES else set()
    meant = {*kinds, "choice", NOTHING} | of_images
    used = [word.casefold() for meaning in meant for word in words[meaning]]
    assert len(used) == len(set(used))
    assert all(0 < len(word) <= LABEL_LIMIT and word == " ".join(word.split()) for word in used)


def test_everybody_has_words_of_their_own() -> None:
    people = [vocabulary("en", np.random.default_rng(seed)) for seed in range(30)]
    assert people[0] == vocabulary("en", np.random.default_rng(0))
    for meaning, words in ENGLISH.items():
        assert {one[meaning] for one in people} == set(words)


@given(st.text(min_size=1, max_size=LABEL_LIMIT), st.floats(0.3, 3.0))
def test_typing_takes_a_person_s_time(text: str, thinking: float) -> None:
    taken = typing_s(text, thinking)
    assert 2 < taken < 30
    assert typing_s(text + "x", thinking) == pytest.approx(taken + KEY_S)
    assert typing_s(text, thinking * 2) > taken
