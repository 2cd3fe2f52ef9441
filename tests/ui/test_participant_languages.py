"""The participant's window in other languages: complete, checked, and it fits."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget

import labapp.ui
from labapp.base.errors import StudyError
from labapp.record.events.commands import HandIn, Next, Pause, Resume
from labapp.study.loading import LoadedStudy, load
from labapp.study.plan import PagesPart
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.reconstruction.plan import TutorialPart
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.tasks.single_dimension.events import Choose, Rate
from labapp.tasks.single_dimension.plan import ExamplePart
from labapp.tasks.single_dimension.screen import SingleDimensionScreen
from labapp.ui.strings import Strings, strings_of
from tests.helpers.languages import MARKED, mark, translated, write_marked
from tests.helpers.packages import ring_model
from tests.helpers.questionnaires import ALL
from tests.helpers.rooms import skip_to
from tests.helpers.sample import EVERYTHING, sample
from tests.helpers.single import write_single_study
from tests.helpers.studies import ring_decoder, write_study
from tests.ui.said import said_in

DIGITS = "mnist8k/ss5"

ASKED = sample(ALL, ALL[:3])

WHOLE = f"""\
id: whole
title: {mark("A study for tests")}
version: 1
flow:
  - consent: texts/{{language}}/consent.md
  - tutorial: reconstruction
  - practice: circles
  - stages: {{task: reconstruction, models: [{DIGITS}], trials: 1, skip: after}}
  - stages: {{task: single-dimension, visualisation: exemplars, models: [{DIGITS}]}}
  - stages: {{task: single-dimension, visualisation: traversals, models: [sinelines/gt]}}
  - text: texts/{{language}}/tutorial-traversals.md
  - stages: {{task: reconstruction, models: [sinelines/gt], trials: 1, after: [{", ".join(ASKED)}]}}
  - debrief: texts/{{language}}/debrief.md
"""


def test_every_word_comes_from_the_texts(open_room, open_window, qapp, tmp_path):
    write_marked(tmp_path)
    study = tmp_path / "whole.yaml"
    study.write_text(WHOLE)
    room = open_room(translated(study, MARKED), decoders={DIGITS: ring_model(DIGITS, 5, 10)})
    window = open_window(room)
    seen = set()

    def look() -> None:
        qapp.processEvents()
        said = said_in(window)
        assert not {text for text in said if "⟦" not in text}, room.runner.part
        seen.update(said)

    look()
    window.screen_shown.right()
    window.screen_shown.left()
    look()
    window.close()
    look()
    window.leave.stay.click()
    for part in room.runner.machine.parts[1:]:
        skip_to(room, part.id)
        look()
        if part.id == "stage-1":
            room.runner.send(Pause("test"))
            look()
            room.runner.send(Resume("test"))
        if not isinstance(part, PagesPart | TutorialPart | ExamplePart):
            window.screen_shown.right()  # says what is missing
            look()
    room.runner.send(Next())
    assert room.runner.finished
    look()
    assert len(seen) > (150 if EVERYTHING else 75)


def labels(window: QWidget) -> str:
    return "\n".join(label.text() for label in window.findChildren(QLabel))


def test_german_numbers_have_a_comma(open_room, open_window, qapp, tmp_path):
    model = "dsprites/ae"
    study = write_study(tmp_path, model, skip="after", skip_after_s=7.5, target_alignment=0.975)
    room = open_room(translated(study, "de"), decoders={model: ring_decoder(model, 5)})
    window = open_window(room)
    qapp.processEvents()
    assert "97,5 %" in window.screen_shown.text.toPlainText()
    skip_to(room, "stage-1")
    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    assert "Nachdem Sie 7,5 Sekunden lang" in labels(window)
    assert re.fullmatch(r"\d+,\d %", screen.bar.percent)
    assert screen.bar.accessibleDescription() == f"{screen.bar.percent}, Ziel 97,5 %"


def test_english_numbers_have_a_point(open_room):
    words = strings_of(open_room().loaded)
    assert words.number("97.5") == "97.5"


def test_only_the_points_of_numbers_are_commas_in_german():
    words = Strings({"decimal_mark": ","})
    assert words.number("81.5") == "81,5"
    assert words.number("$0.10. Rot zählt am meisten. Blau nicht.") == (
        "$0,10. Rot zählt am meisten. Blau nicht."
    )


def test_german_quotes_are_german(open_room, open_window, qapp, tmp_path):
    study = write_study(tmp_path, "sinelines/gt")
    room = open_room(translated(study, "de"))
    window = open_window(room)
    skip_to(room, "stage-1-seq")
    assert isinstance(window.screen_shown, QuestionnaireScreen)
    note = window.screen_shown.foot().note
    assert note == "Noch zu beantworten: „Insgesamt war diese Aufgabe“"


@pytest.mark.parametrize("visualisation", ["traversals", "exemplars"])
def test_a_long_question_leaves_room_for_the_picture(
    open_room, open_window, qapp, tmp_path: Path, visualisation
):
    study = translated(write_single_study(tmp_path, [DIGITS], visualisation), "de")
    room = open_room(study, decoders={DIGITS: ring_model(DIGITS, 5, 10)})
    window = open_window(room)
    window.showNormal()
    window.resize(1366, 768)
    skip_to(room, "stage-1")
    for _ in range(4):
        qapp.processEvents()
        screen = window.screen_shown
        assert isinstance(screen, SingleDimensionScreen)
        assert screen.title.height() > 1.5 * screen.title.fontMetrics().height(), "two lines"
        column = (screen.title, screen.picture, screen.answers, *screen.ratings.values())
        for above, below in pairwise(column):
            assert above.geometry().bottom() < below.geometry().top()
        room.runner.send(Choose(0, "mouse"))
        for item in ("confidence", "understanding"):
            room.runner.send(Rate(item, 3, "mouse"))
        room.runner.send(HandIn())
        room.runner.send(Next())


NAME = "texts/en/participant.yaml"

COMPOSED = (
    "task_text",
    "consent_use_",
    *(f"judging_{what}_" for what in ("hot", "cold", "scale_text", "things", "rows")),
    "practice_feedback",
)

"""Beginnings of keys that are made of parts: by a screen, or by the planner for the texts."""


@pytest.fixture
def loaded() -> LoadedStudy:
    return load("quickstart")


def changed(loaded: LoadedStudy, old: str, new: str) -> LoadedStudy:
    content = loaded.files[NAME].decode()
    assert old in content
    return replace(loaded, files={**loaded.files, NAME: content.replace(old, new).encode()})


def test_words_with_values(loaded):
    words = strings_of(loaded)
    assert words("question_of", number=2, of=5) == "Question 2 of 5"
    assert words("target", number=2) == "Target"


def test_an_unknown_key_is_named():
    with pytest.raises(StudyError, match="'nonsense'"):
        Strings({})("nonsense")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("dial_help:", "dial_hepl:", "lacks the words for dial_help"),
        ("page_of:", "extra: more\npage_of:", "extra: has words that no screen uses"),
        ("{number} of {of}", "{numbr} of {of}", "{numbr}"),
        ("back: Back", "back: 3", "back: contains 3"),
        ("back: Back", "back: 'Back }'", "back: Single '}'"),
    ],
)
def test_a_wrong_translation_is_refused(loaded, old, new, says):
    with pytest.raises(StudyError, match=re.escape(says)):
        strings_of(changed(loaded, old, new))


def test_every_word_that_screens_ask_for_exists_and_is_used(loaded):
    words = strings_of(loaded)
    root = Path(labapp.ui.__file__).parent
    sources = [root / "strings.py", root / "consent_pdf.py"]
    sources += [*(root / "participant").glob("*.py"), *(root / "widgets").glob("*.py")]
    sources += (root.parent / "tasks").rglob("*.py")
    code = "\n".join(path.read_text() for path in sources)
    asked = set(re.findall(r"""words\(\s*["'](\w+)["']""", code))
    assert len(asked) > 30
    for key in asked:
        words(key)
    known = set(re.findall(r"^(\w+):", loaded.files[NAME].decode(), re.MULTILINE))
    named = set(re.findall(r"""["'](\w+)["']""", code))
    unused = {key for key in known - named if not key.startswith(COMPOSED)}
    assert not unused


def older(loaded: LoadedStudy, language: str = "en") -> LoadedStudy:
    """As a session's copy made by an older labapp: a word is missing, one is no longer used, one
    names a value that is no longer given, and one is the study's own."""
    content = changed(loaded, "back: Back", "gone: Gone\nback: Go back")
    content = changed(content, "finish: Finish\n", "")
    content = changed(content, 'page_of: "Page {number} of {of}"', 'page_of: "Page {index}"')
    name = NAME.replace("/en/", f"/{language}/")
    files = {**loaded.files, name: content.files[NAME]}
    study = loaded.study.model_copy(update={"language": language})
    return replace(loaded, study=study, files=files)


def test_a_session_begun_earlier_gets_the_words_that_screens_have_gained(loaded):
    with pytest.raises(StudyError, match="lacks the words for finish"):
        strings_of(older(loaded))
    words = strings_of(older(loaded), begun=True)
    assert words("finish") == "Finish"
    assert words("page_of", number=1, of=2) == "Page 1 of 2"
    assert words("back") == "Go back", "the study's own words stay"
    with pytest.raises(StudyError, match="no words in 'gone'"):
        words("gone")
    assert strings_of(older(loaded, "de"), begun=True)("finish") == "Fertig"


def test_words_of_a_language_that_is_not_shipped_are_not_made_up(loaded):
    with pytest.raises(StudyError, match="lacks the words for finish, page_of") as said:
        strings_of(older(loaded, "fr"), begun=True)
    assert "version of labapp with which it was begun" in said.value.todo
