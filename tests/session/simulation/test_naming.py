"""Names for dials: by rule, and in whole sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis import load as load_tables
from labapp.base.clock import NS
from labapp.models.representations.decoding import Decoder, decode_one
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Event
from labapp.record.journal.read import check_journal
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.simulation import driver
from labapp.session.simulation.learning import (
    EffectMemory,
    LearnerModel,
    LearningStrategy,
    meanings,
)
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
    FAST,
    HUMAN,
    KEY_S,
    NOTHING,
    STRIDE_S,
    Pace,
    ParticipantTraits,
    typing_s,
    vocabulary,
    words_of,
)
from labapp.session.simulation.simulation_job import simulate
from labapp.session.simulation.strategies import STRATEGIES
from labapp.session.simulation.view import ScreenDial, View, dials_of
from labapp.study.conditions import generator
from labapp.study.loading import load
from labapp.tasks.reconstruction import simulated
from labapp.tasks.reconstruction.machine import LABEL_LIMIT
from labapp.tasks.reconstruction.simulated import Reconstructor
from tests.helpers.formulas import formula_decoder, formula_decoders
from tests.helpers.nightly import examples
from tests.helpers.rooms import FormulaDecoder
from tests.session.sessions import surroundings
from tests.session.simulation.test_strategies import Screen

ENGLISH, GERMAN = words_of("en"), words_of("de")

IMAGE = np.zeros((8, 8), np.float32)

CURVE = np.zeros(64, np.float32)

SLIDER = ScreenDial(-1.0, 1.0, 0.01)

BUTTONS = ScreenDial(0.0, 4.0, 1.0, 5)

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
    dials: Sequence[ScreenDial] = (),
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
    learner.effects = EffectMemory(dials, n)  # which is told percepts in place of pictures
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
    strategy = STRATEGIES[name](MotorModel(ParticipantTraits(), rng), rng)
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
    strategy = STRATEGIES["understanding"](MotorModel(ParticipantTraits(), rng), rng)
    assert isinstance(strategy, LearningStrategy)
    picture = decode_one(decoder, (0.5, 0.1))
    view = View(picture, picture, 0.5, 0.9, (0.5, 0.1), dials_of(decoder.space))
    assert strategy.meanings(view) == {}
    next(strategy.solve(view))
    assert strategy.meanings(view) == {}


def test_only_who_learns_what_dials_do_can_name_them() -> None:
    rng = np.random.default_rng(0)
    made = {
        name: make(MotorModel(ParticipantTraits(), rng), rng) for name, make in STRATEGIES.items()
    }
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


def play(
    tmp_path: Path,
    name: str,
    strategy: str = "understanding",
    *,
    labels: str = "editable",
    stages: str = "trials: 3",
    models: str = "[sinelines/gt, sinelines/vae]",
    language: str = "en",
    around: dict[str, Any] | None = None,
    pace: Pace = HUMAN,
    **more: Any,
) -> list[Event]:
    """A session of a small study; `name` keeps its files apart."""
    folder = tmp_path / name
    folder.mkdir()
    study = folder / "named.yaml"
    study.write_text(
        f"{{id: named, title: Named, version: 1, unnamed_texts: shipped, "
        f"language: {language}, seed: 11, flow: [{{stages: "
        f"{{task: reconstruction, models: {models}, order: as_listed, labels: {labels}, "
        f"{stages}}}}}]}}"
    )
    path = simulate(
        load(study),
        "P01",
        surroundings(folder, **(around or {})),
        data=folder / "data",
        strategy=strategy,
        pace=pace,
        **more,
    )
    assert not check_journal(path)
    events = read_verified_events(path)
    assert is_finished(events)
    return events


def edits(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind == "label.edited"]


def told(events: list[Event]) -> list[tuple[object, ...]]:
    """What happened, without when, what names this machine, and the names of dials."""
    apart = ("segment.started", "environment.recorded", "session.planned", "label.edited")
    return [(e.source, e.kind, e.key, e.payload) for e in events if e.kind not in apart]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    return play(tmp_path_factory.mktemp("named"), "open", stages="trials: 2")


def test_dials_are_named_by_the_command_that_a_person_s_typing_sends(named: list[Event]) -> None:
    found = edits(named)
    assert len(found) >= 4
    assert {event.source for event in found} == {"simulated"}
    words = {word for some in ENGLISH.values() for word in some}
    assert {event.payload["text"] for event in found} <= words
    assert {event.part_id for event in found} == {"stage-1", "stage-2"}


def test_where_dials_cannot_be_named_nobody_thinks_of_names(
    tmp_path: Path, named: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(self: LearningStrategy, view: object) -> dict[int, str]:
        raise AssertionError("asked for names")

    monkeypatch.setattr(LearningStrategy, "meanings", never)
    closed = play(tmp_path, "closed", labels="fixed", stages="trials: 2")
    assert not edits(closed)
    assert told(closed) == told(named), "the same movements, in the same order, and all else"


@pytest.mark.parametrize("strategy", ["understanding", "partial"])
@pytest.mark.parametrize("pace", [HUMAN, FAST])
def test_naming_takes_its_time_and_changes_nothing_else(
    tmp_path: Path, strategy: str, pace: Pace
) -> None:
    """What is done is the same; when, later by what was typed until then."""
    stages = "trials: 2, after: [shipped:seq]"
    models = "[sinelines/gt]" if pace is HUMAN else "[sinelines/vae]"
    opened = play(tmp_path, "open", strategy, stages=stages, models=models, pace=pace)
    closed = play(
        tmp_path, "closed", strategy, stages=stages, models=models, pace=pace, labels="fixed"
    )
    assert edits(opened)
    assert told(opened) == told(closed)
    thinking = ParticipantTraits.drawn(11, "P01").thinking
    typed, shifts = 0.0, []
    for event in opened:
        if event.kind == "label.edited":
            typed += typing_s(event.payload["text"], thinking) * pace.stride_s / STRIDE_S
        else:
            shifts.append(typed)
    others = [event.t_ns for event in opened if event.kind != "label.edited"]
    late = [(a - b.t_ns) / NS for a, b in zip(others, closed, strict=True)]
    assert late == pytest.approx(shifts, abs=1e-6)
    assert shifts[-1] > 0


@pytest.mark.parametrize("strategy", ["ascent", "random", "knowing"])
def test_who_goes_by_the_number_names_nothing(tmp_path: Path, strategy: str) -> None:
    assert not edits(play(tmp_path, "open", strategy, stages="trials: 1"))


def test_who_does_not_try_names_nothing(tmp_path: Path) -> None:
    assert not edits(play(tmp_path, "open", stages="trials: 2, skip: always", careless=True))


def test_a_name_stays_until_it_is_known_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a change is typed, in the order of the dials; nothing is taken away again."""
    known = iter([{0: "slope"}, {0: "slope", 1: "height"}, {}, {1: "waves", 0: "slope"}])
    monkeypatch.setattr(LearningStrategy, "meanings", lambda self, view: next(known))
    events = play(tmp_path, "scripted", stages="trials: 4", models="[sinelines/gt]")
    own = vocabulary("en", generator(11, "P01", "simulated", "understanding", "labels"))
    assert [(e.trial, e.payload["dimension"], e.payload["text"]) for e in edits(events)] == [
        (1, 0, own["slope"]),
        (2, 1, own["height"]),
        (4, 1, own["waves"]),
    ]
    tables = load_tables(tmp_path / "scripted" / "data").labels
    assert tables.loc[tables["final"], "text"].tolist() == [own["slope"], own["waves"]]


def test_names_come_last_in_a_question(named: list[Event]) -> None:
    """So that nothing that is done with the dials can depend on them."""
    for event in edits(named):
        later = [e for e in named if e.key == event.key and e.seq > event.seq]
        assert {e.kind for e in later} <= {
            "label.edited",
            "skip.requested",
            "skip.confirmed",
            "trial.ended",
        }


def test_names_are_in_the_study_s_language(tmp_path: Path) -> None:
    german = play(tmp_path, "german", language="de", stages="trials: 2")
    texts = {event.payload["text"] for event in edits(german)}
    assert texts
    assert texts <= {word for some in GERMAN.values() for word in some}


def test_names_come_from_what_is_seen_and_not_from_the_model(tmp_path: Path) -> None:
    """The same pictures by the id of another model, and with other names of its dials."""
    own = play(tmp_path, "own", stages="trials: 2", models="[sinelines/vae]")
    made = formula_decoders()["sinelines/vae"]
    assert isinstance(made, FormulaDecoder)
    rows = [{**row, "name": f"thickness {at}"} for at, row in enumerate(made.space.to_json())]
    space = LatentSpace.from_json(rows)
    other = FormulaDecoder("sinelines/ae", space, made.latents, made.formula)
    around = {"decoders": {**formula_decoders(), "sinelines/ae": other}}
    disguised = play(
        tmp_path, "disguised", stages="trials: 2", models="[sinelines/ae]", around=around
    )
    assert edits(own)
    assert [e.payload for e in edits(disguised)] == [e.payload for e in edits(own)]


def test_what_is_still_being_typed_when_the_stage_is_over_names_no_other_dial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "typing_s", lambda text, thinking: 3600.0)
    monkeypatch.setattr(driver, "STILL_S", 7200.0)  # nobody is given up who only types slowly
    events = play(tmp_path, "slow", stages="trials: 3, time_limit_min: 10")
    assert not edits(events)
    ended = [e.payload["outcome"] for e in events if e.kind == "part.ended"]
    assert ended.count("time_expired") == 2


def test_what_was_decided_when_the_stage_ended_is_not_done_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reconstructor, "_takes", lambda actor, before: 400.0)
    monkeypatch.setattr(driver, "STILL_S", 7200.0)
    events = play(tmp_path, "slow", stages="trials: 3, time_limit_min: 10")
    shown_ns = {e.key: e.t_ns for e in events if e.kind == "trial.started"}
    moved = [e for e in events if e.kind == "dial.moved"]
    assert {e.part_id for e in moved} == {e[0] for e in shown_ns}
    for event in moved:  # a moment is between 0.8 and 1.25 of what it takes
        assert event.t_ns - shown_ns[event.key] >= 0.8 * 400 * NS


def test_the_tables_hold_the_names(tmp_path: Path) -> None:
    events = play(tmp_path, "open", stages="trials: 2")
    tables = load_tables(tmp_path / "open" / "data")
    rows = tables.labels
    assert rows["text"].tolist() == [event.payload["text"] for event in edits(events)]
    assert tables.dials["labels_editable"].all()
