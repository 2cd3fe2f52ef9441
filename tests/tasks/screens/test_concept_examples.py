"""The screen of examples: pictures of the set with the concepts' words, by keyboard, for a screen
reader, and where it is only looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from labapp.base.resources import assets
from labapp.models.stimuli import library
from labapp.models.stimuli.check import reference_pairs
from labapp.tasks.concept_repair.screen.repair import (
    LEAST_SIDE,
    ConceptExampleSheet,
    ExamplesScreen,
)
from labapp.ui.participant.window import ParticipantWindow
from tests.helpers import concepts
from tests.helpers.reach import out_of_reach
from tests.helpers.rooms import Room
from tests.ui.hearing import heard
from tests.ui.keys import focus, press

Open = Callable[..., tuple[Room, ParticipantWindow, ExamplesScreen]]
SIZES = ((900, 560), (911, 512), (960, 540), (1366, 768), (1920, 1080))
PRACTICE = {"text": "practice.md", "items": 1}


@pytest.fixture
def examples(
    open_room: Callable[..., Room],
    open_window: Callable[..., ParticipantWindow],
    qapp: QApplication,
    tmp_path: Path,
) -> Open:
    def open_one(stimuli: str, language: str = "en") -> object:
        made = library.load(assets() / "stimuli" / stimuli)
        drawn: dict[str, Any] = {}
        if not any(photo.item for photo in made.manifest.photos):  # a set of drawn changes
            changes = {"file": "changes.csv", "phase": "test"}
            drawn = {"instruction": "foresight", "foresee": "all", "changes": changes}
        study = concepts.write_study(
            tmp_path / "study", made, language=language, examples=True, practice=PRACTICE, **drawn
        )
        change = f"{made.manifest.photos[-1].id}:{made.manifest.concepts[0].id}:on"
        (tmp_path / "study" / "changes.csv").write_text(
            f"stimuli,phase,changes\n{made.id},test,{change}\n", "utf-8"
        )
        room = open_room(study)
        window = open_window(room, "practice-examples")
        qapp.processEvents()
        return room, window, window.screen_shown

    return open_one


def test_each_concept_is_shown_with_its_words_in_both_states(examples: Open) -> None:
    room, _, screen = examples("birds-cbm-logits", "de")
    part = room.runner.part
    first = screen.sheet.examples[0]
    assert first.name.text() == "Schopf"
    assert [label.text() for label in first.words] == ["kein Schopf", "Schopf"]
    told = [heard(picture).name for picture in first.pictures]
    assert told == ["Schopf: kein Schopf", "Schopf: Schopf"]
    assert len(screen.sheet.examples) == len(part.examples) == 6
    shown = [picture.image for picture in first.pictures]
    assert shown == [screen.session.images.image(ref) for ref in
                     (part.examples[0].off, part.examples[0].on)]  # fmt: skip
    assert "passen auf beide Bilder eines Paars gleich gut" in screen.text.text()
    assert screen.head().stage == "Übung"


def test_the_keyboard_leads_on_to_the_practice(examples: Open) -> None:
    room, window, _ = examples("dsprites-four-cbm")
    assert focus() is window.bottom.right
    press(Qt.Key.Key_Return)
    assert room.runner.part.id == "practice"


@pytest.mark.parametrize(
    ("stimuli", "language"),
    [("dsprites-four-cbm", "en"), ("shapes-graded-logits-8", "de"), ("birds-cbm-logits", "de")],
)
def test_everything_can_be_reached_at_every_size(
    examples: Open, qapp: QApplication, stimuli: str, language: str
) -> None:
    _, window, screen = examples(stimuli, language)
    for size in (*SIZES, *reversed(SIZES)):
        window.resize(*size)
        for _ in range(6):
            qapp.processEvents()
        assert out_of_reach(window) == [], size
        assert not window.body.horizontalScrollBar().maximum(), size
        sides = {
            picture.width() for example in screen.sheet.examples for picture in example.pictures
        }
        assert len(sides) == 1
        assert sides.pop() >= LEAST_SIDE
        if size[0] > 1200:
            assert not window.body.verticalScrollBar().maximum(), size


@pytest.mark.parametrize(
    "folder",
    sorted((assets() / "stimuli").glob("*/answers.npy")),
    ids=lambda path: path.parent.name,
)
def test_nothing_untrue_is_said_of_a_shipped_pair(examples: Open, folder: Path) -> None:
    """What the page says of each pair is compared with what is true of its two pictures."""
    made = library.load(folder.parent).manifest
    room, _, screen = examples(folder.parent.name)
    truth = {photo.photo: photo.concepts for photo in made.photos}
    for place, (planned, shown) in enumerate(
        zip(room.runner.part.examples, screen.sheet.examples, strict=True)
    ):
        both = zip(truth[planned.off], truth[planned.on], strict=True)
        differing = [other for other, (a, b) in enumerate(both) if a != b]
        assert place in differing
        others = [made.concepts[other].name for other in differing if other != place]
        assert shown.others.text() == (f"Also different: {', '.join(others)}" if others else "")
    told = screen.text.text()
    assert "fit both pictures of a pair equally" in told
    assert "may still differ" in told, "a set says nothing of shade, place and the like"


def test_what_else_differs_is_named_below_a_pair(
    open_room: Callable[..., Room],
    open_window: Callable[..., ParticipantWindow],
    qapp: QApplication,
    tmp_path: Path,
) -> None:
    made = library.load(assets() / "stimuli" / "dsprites-four-cbm")
    photos = [photo for photo in made.manifest.photos if photo.concepts[0] == photo.concepts[1]]
    fewer = made.manifest.model_copy(update={"photos": tuple(photos)})
    pairs = reference_pairs(fewer, 1)
    assert all(1 - pair.concept in pair.differing for pair in pairs[:2])
    study = concepts.write_study(tmp_path / "study", made, examples=True, practice=PRACTICE)
    room = open_room(study)
    window = open_window(room, "practice-examples")
    named = tuple(
        each.model_copy(update={"others": 1, "differing": ("Side",)})
        for each in room.runner.part.examples
    )
    sheet = ConceptExampleSheet(window.screen_shown.session, named)
    assert [each.others.text() for each in sheet.examples] == ["Also different: Side"] * 4
    for size in SIZES:
        sheet.resize(*size)
        sheet.show()
        qapp.processEvents()
        for each in sheet.examples:
            assert each.others.isVisible()
            assert each.others.geometry().bottom() <= each.height()
            assert not any(each.others.geometry().intersects(w.geometry()) for w in each.words)
