"""Instrument files: the shipped ones, complete in both languages, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from labapp.base import resources
from labapp.base.errors import StudyError
from labapp.study import loading
from labapp.study.instruments import Choice, Choices, Instrument, Written
from labapp.study.plan import QuestionnairePart
from labapp.study.planner import realise
from tests.helpers.questionnaires import (
    ABOUT_A_MODEL,
    ALL,
    TLX_PAIRS,
    TLX_SUBSCALES,
    questionnaire_study,
)
from tests.helpers.rooms import decoder_of

WORDS = ("title", "instruction", "text", "name", "low", "high", "middle", "labels")


def shipped(name: str, language: str = "en") -> Instrument:
    path = resources.assets() / "instruments" / f"{name}.yaml"
    return Instrument.parse(path, path.read_bytes(), language)


def made(text: str, language: str = "en") -> Instrument:
    head = "id: own\nversion: 1\ntitle: T\nsource: S\n"
    return Instrument.parse(Path("own.yaml"), (head + text).encode(), language)


def test_the_list_of_shipped_instruments_is_whole() -> None:
    there = {path.stem for path in (resources.assets() / "instruments").glob("*.yaml")}
    assert there == {*ALL, *ABOUT_A_MODEL}


def test_what_its_items_declare_says_whether_an_instrument_asks_about_the_person() -> None:
    about = {name for name in (*ALL, *ABOUT_A_MODEL) if shipped(name).about_person}
    assert about == {"demographics", "demographics-studies", "hive-demographics"}
    age = "items:\n  - {id: age, kind: slider, text: Age, low: 18, high: 99, identifying: %s}\n"
    assert made(age % "yes").about_person
    assert not made(age % "no").about_person


def words_of(value: Any, key: str = "") -> list[Any]:
    """Everything in a file that a participant reads."""
    if isinstance(value, list):
        return [found for one in value for found in words_of(one, key)]
    if key in WORDS:
        return [value]
    if isinstance(value, dict):
        return [found for name, one in value.items() for found in words_of(one, name)]
    return []


@pytest.mark.parametrize("name", [*ALL, *ABOUT_A_MODEL])
def test_shipped_instruments_are_complete_in_english_and_german(name: str) -> None:
    path = resources.assets() / "instruments" / f"{name}.yaml"
    found = words_of(yaml.safe_load(path.read_text()))
    assert found
    for words in found:
        assert set(words) == {"en", "de"}, words
        assert all(isinstance(one, str) and one.strip() for one in words.values()), words
    english, german = shipped(name), shipped(name, "de")
    assert english.id == german.id == name
    assert [item.id for item in english.items] == [item.id for item in german.items]
    assert english.title != german.title


def test_the_wordings_are_the_published_ones() -> None:
    assert [item.text for item in shipped("nasa-tlx").items] == [
        "How mentally demanding was the task?",
        "How physically demanding was the task?",
        "How hurried or rushed was the pace of the task?",
        "How successful were you in accomplishing what you were asked to do?",
        "How hard did you have to work to accomplish your level of performance?",
        "How insecure, discouraged, irritated, stressed, and annoyed were you?",
    ]
    performance = shipped("nasa-tlx").item("performance")
    assert performance.ends() == ("Perfect", "Failure")
    assert [item.text for item in shipped("hive-understanding").items] == [
        "Q. How well do you think you understand the model's reasoning process?"
    ]
    assert list(shipped("hive-understanding").items[0].anchors().values()) == [
        "Very Poor",
        "Poor",
        "Fair",
        "Good",
        "Very Good",
    ]
    assert shipped("seq").items[0].text == "Overall, would you say this task was:"
    assert [item.text for item in shipped("understanding").items] == [
        "I had a systematic plan to reconstruct the images",
        "I spent most of my time randomly experimenting",
        "I understood what many of the dimensions meant",
    ]


def test_explanation_satisfaction_has_nine_items() -> None:
    """With "the model" for "the [software, algorithm, tool]" (Hoffman et al. 2023)."""
    satisfaction = shipped("explanation-satisfaction")
    assert [item.text for item in satisfaction.items] == [
        "From the explanation, I understand how the model works.",
        "This explanation of how the model works is satisfying.",
        "This explanation of how the model works has sufficient detail.",
        "This explanation seems complete.",
        "This explanation shows me how accurate the model is.",
        "This explanation shows me how reliable the model is.",
        "This explanation tells me how to use the model.",
        "This explanation is useful to my goals.",
        "This explanation helps me know when I should trust and not trust the model.",
    ]


@pytest.mark.parametrize(
    ("name", "answers", "score"),
    [
        ("umux", (7, 1, 7, 1), 100.0),
        ("umux", (1, 7, 1, 7), 0.0),
        ("umux", (6, 3, 5, 2), 75.0),  # ((6-1) + (7-3) + (5-1) + (7-2)) / 24
        ("umux-lite", (7, 7), 100.0),
        ("umux-lite", (6, 4), pytest.approx(100 * 8 / 12)),
    ],
)
def test_usability_scores_go_from_0_to_100(
    name: str, answers: tuple[int, ...], score: float
) -> None:
    sheet = shipped(name)
    assert isinstance(sheet.scores, dict)
    (declared,) = sheet.scores.values()
    given = dict(zip((item.id for item in sheet.items), answers, strict=True))
    assert declared.of(given) == pytest.approx(score)
    assert (declared.low, declared.high) == (0.0, pytest.approx(100.0))


def test_trust_has_the_eight_items_and_the_answers_of_its_scale() -> None:
    """With "this model" for "the [tool]" (Hoffman et al. 2018, 2023)."""
    trust = shipped("model-trust")
    assert [item.text for item in trust.items] == [
        "I am confident in this model. I feel that it works well.",
        "The outputs of this model are very predictable.",
        "This model is very reliable. I can count on it to be correct all the time.",
        "I feel safe that when I rely on this model I will get the right answers.",
        "This model is efficient in that it works very quickly.",
        "I am wary of this model.",
        "This model can perform the task better than a novice human user.",
        "I like using this model for decision making.",
    ]
    assert list(trust.items[0].anchors().values()) == [
        "I disagree strongly",
        "I disagree somewhat",
        "I'm neutral about it",
        "I agree somewhat",
        "I agree strongly",
    ]
    answers = dict.fromkeys((item.id for item in trust.items), 5)
    score = trust.scores["model_trust"].model_copy(update={"numbers": (1, 5)})
    assert score.of(answers | {"wary": 1}) == 5
    assert score.of(answers) == 4.5


def test_experience_with_machine_learning_is_counted_from_one_to_five_and_required() -> None:
    """Paper 003, appendix D: the only required question of the page."""
    file = shipped("hive-demographics")
    assert [item.id for item in file.items if item.required] == ["ml_experience"]
    experience = file.item("ml_experience")
    assert isinstance(experience, Choice)
    assert [option.id for option in experience.options] == [f"level_{n}" for n in range(1, 6)]
    assert experience.options[0].text == "I don't know anything about ML"
    assert experience.options[4].text == "I often use and study ML in my life"
    race = file.item("race")
    assert isinstance(race, Choices)
    assert len(race.options) == 6


@pytest.mark.parametrize("name", ABOUT_A_MODEL)
@pytest.mark.parametrize(
    ("accuracy", "low", "start"),
    [(76.1, 60, 76), (66.7, 50, 67), (79.9, 70, 80), (81.7, 70, 82), (76.5, 60, 77)],
)
def test_sliders_about_accuracy_begin_there(
    name: str, accuracy: float, low: int, start: int
) -> None:
    """The first four are published (paper 003, the pages of the studies)."""
    values = {"accuracy": str(accuracy), "method": "GradCAM"}
    asked = shipped(name).realise((), values)
    assert "over the GradCAM model?" in asked.instruction
    sliders = [item for item in asked.items if item.kind == "slider"]
    assert [item.id for item in sliders] == ["low_risk", "medium_risk", "high_risk"]
    for slider in sliders:
        assert (slider.low, slider.start, slider.high) == (low, start, 100)
        with pytest.raises(ValueError, match=f"{low} to 100"):
            slider.check({"value": low - 1, "touched": True})
    assert asked.untouched() == {
        slider.id: {"value": start, "touched": False} for slider in sliders
    }


def test_every_shipped_questionnaire_declares_what_is_scored() -> None:
    """No item of one with scores is left out of them, and none names a rule instead."""
    scored = [name for name in (*ALL, *ABOUT_A_MODEL) if shipped(name).scores is not None]
    assert len(scored) == 12
    for name in scored:
        file = shipped(name)
        assert file.scoring is None
        if isinstance(file.scores, dict):
            items = {item for score in file.scores.values() for item in score.needs}
            assert items == {item.id for item in file.items}


def test_an_item_once_a_stage() -> None:
    file = shipped("synthetic-end", "de")
    ids = file.item_ids(3)
    assert ids == ("frustrating", "stage_easy_1", "stage_easy_2", "stage_easy_3", "comments")
    asked = file.realise(ids)
    assert [item.id for item in asked.items] == list(ids)
    assert asked.items[2].text == "Abschnitt 2 war leicht"
    assert file.item("stage_easy_3").text == "Abschnitt 3 war leicht"
    for unknown in ("stage_easy_x", "frustrating_1", "stage"):
        with pytest.raises(KeyError):
            file.item(unknown)


def test_nothing_to_ask_is_refused() -> None:
    own = made("items:\n  - {id: a, kind: written, text: 'S {stage}', repeat: stages}\n")
    assert own.item_ids(1) == ("a_1",)
    with pytest.raises(StudyError, match="the study has no stages"):
        own.item_ids(0)


def test_statements_share_a_scale_and_options_are_named() -> None:
    own = made(
        'scale: {points: 4, low: "no", high: "yes"}\n'
        "options: [{id: a, text: A}, {id: b, text: B}]\n"
        "items:\n"
        "  - {id: one, kind: statement, text: One}\n"
        "  - {id: two, kind: statement, text: Two, points: 6}\n"
        "  - {id: three, kind: choice, options: [b, a, {id: c, text: C}]}\n"
        '  - {id: four, text: Four, points: 11, first: 0, low: "no", high: "yes"}\n'
    )
    one, two, three, four = own.items
    assert (one.last, two.last, four.last) == (4, 6, 10)
    assert [option.text for option in three.options] == ["B", "A", "C"]
    assert four.check(0) == 0
    with pytest.raises(ValueError, match="0 to 10"):
        four.check(11)


def choices(several: bool) -> Choice | Choices:
    kind = "choices" if several else "choice"
    options = (
        "{id: a, text: A}, {id: b, text: B}, {id: own, text: O, describe: true}, "
        "{id: none, text: N, alone: true}"
    )
    (item,) = made(f"items:\n  - {{id: c, kind: {kind}, text: C, options: [{options}]}}\n").items
    assert isinstance(item, Choice | Choices)
    return item


def test_an_answer_to_a_choice_is_stored_in_one_form() -> None:
    item = choices(several=True)
    assert item.check({"chosen": ["b", "a"]}) == {"chosen": ("a", "b")}
    assert item.check({"chosen": ["own"], "described": " so\n"}) == {
        "chosen": ("own",),
        "described": "so",
    }
    assert item.check({"chosen": ["a"], "described": "so"}) == {"chosen": ("a",)}
    assert not item.answered(item.check({"chosen": []}))
    wrong: list[Any] = [
        "a",
        ["a"],
        {"chosen": "a"},
        {"chosen": ["x"]},
        {"chosen": [1]},
        {"chosen": ["a", "none"]},
        {"chosen": ["own"], "described": 3},
        {"chosen": ["own"], "described": "x" * 201},
        {"chosen": ["a"], "more": 1},
        None,
    ]
    for value in wrong:
        with pytest.raises(ValueError):
            item.check(value)
    with pytest.raises(ValueError, match="together"):
        choices(several=False).check({"chosen": ["a", "b"]})


def test_a_written_answer_is_trimmed_and_bounded() -> None:
    (line,) = made("items:\n  - {id: t, kind: written, text: T, longest: 9}\n").items
    (area,) = made("items:\n  - {id: t, kind: written, text: T, lines: 3}\n").items
    assert isinstance(line, Written)
    assert line.check(" a\nb\x00 ") == "a b"
    assert area.check("a\nb\ud800 ") == "a\nb"
    assert not line.answered(line.check("  "))
    for value in ("ten letters", 3, None):
        with pytest.raises(ValueError, match="9 characters"):
            line.check(value)


TWO = (
    "items:\n  - {id: a, text: A, points: 3, low: x, high: y}\n"
    "  - {id: b, text: B, points: 5, low: x, high: y}\n  - {id: w, kind: written, text: W}\n"
)
SCORES_REFUSED = [
    ("scores: {t: {mean: [a, b]}}\n" + TWO, "a rating 'b' of 3 points from 1"),
    ("scores: {t: {mean: [c]}}\n" + TWO, "t needs a rating 'c'"),
    ("scores: {t: {sum: [w]}}\n" + TWO, "t needs a rating 'w'"),
    ("scores: {t: {mean: [a], sum: [a]}}\n" + TWO, "one of mean, sum, chosen, weighted or rule"),
    ("scores: {t: {meaning: none}}\n" + TWO, "one of mean, sum, chosen, weighted or rule"),
    ("scores: {t: {mean: [a], reverse: [b]}}\n" + TWO, "reverse contains 'b'"),
    ("scores: {t: {chosen: x, among: [a]}}\n" + TWO, "a choice 'a'"),
    ("scores: {t: {weighted: {u: v}}}\n" + TWO, "not a score above it"),
    ("scores: as-answered\nscoring: as-answered\n" + TWO, "only scores"),
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "items:\n  - {id: a, text: {en: A, de: B}, points: 3, low: x, high: y}",
            "there is: de, en",
        ),
        (
            "items:\n  - {id: a, text: {english: A}, points: 3, low: x, high: y}",
            "'english' is not a language",
        ),
        ("items:\n  - {id: a, kind: pulldown, text: A}", "'pulldown'"),
        ("items:\n  - {id: a, kind: statement, text: A}", "points: missing"),
        ("items:\n  - {id: a, text: A, points: 3, low: x}", "low and high"),
        ("items:\n  - {id: a, text: A, points: 3, labels: [x, y]}", "3 labels"),
        ("items:\n  - {id: a, text: A, points: 4, low: x, high: y, middle: z}", "odd number"),
        ("items:\n  - {id: a, text: A, points: 21, low: x, high: y, look: circles}", "at most 11"),
        ("items:\n  - {id: a, kind: choice, text: A, options: [b, c]}", "options"),
        ("scoring: best\nitems:\n  - {id: a, kind: written, text: A}", "one of seq"),
        *SCORES_REFUSED,
        ("scoring: sus\nitems:\n  - {id: sus_1, text: A, points: 7, low: x, high: y}", "5 points"),
        ("items:\n  - {id: a, kind: written, text: A, lines: 99}", "lines"),
        (
            (
                "items: [{id: a, kind: written, text: A, repeat: stages}, "
                "{id: a_1, kind: written, text: A}]"
            ),
            "'a_1' belongs to 'a'",
        ),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(StudyError) as caught:
        made(text + "\n", language="fr")
    assert said in str(caught.value)
    assert re.search(r"line \d", str(caught.value))


def planned(folder: Path, participant: str, name: str, language: str = "en") -> QuestionnairePart:
    loaded = loading.load(questionnaire_study(folder, [name], language, stages=2))
    plan = realise(loaded, participant, space_of=lambda model: decoder_of(model).space)
    part = plan.parts[-1]
    assert isinstance(part, QuestionnairePart)
    return part


def test_shuffled_items_are_seeded_by_participant_and_kept_in_the_plan(tmp_path: Path) -> None:
    first = planned(tmp_path, "P01", "nasa-tlx-weights")
    assert sorted(first.items) == sorted(TLX_PAIRS)
    assert list(first.items) != list(TLX_PAIRS)
    assert planned(tmp_path, "P01", "nasa-tlx-weights") == first
    assert planned(tmp_path, "P02", "nasa-tlx-weights").items != first.items
    assert isinstance(first.scoring, dict)
    assert list(first.scoring) == [f"weight_{name}" for name in TLX_SUBSCALES]


def test_a_plan_names_items_only_where_they_differ_from_the_file(tmp_path: Path) -> None:
    assert planned(tmp_path, "P01", "sus").items == ()
    end = planned(tmp_path, "P01", "synthetic-end")
    assert end.items == ("frustrating", "stage_easy_1", "stage_easy_2", "comments")
    assert end.per_stage == ("stage_easy",)
    assert "per_stage" not in planned(tmp_path / "sus", "P01", "sus").model_dump()
    assert planned(tmp_path / "de", "P01", "sus", "de").title == "Die Benutzung des Systems"
