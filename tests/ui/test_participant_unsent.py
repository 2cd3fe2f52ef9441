"""What the hand did a moment before the screen is taken away is stored, and with the right part."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.record.events import Source
from labapp.record.events.commands import Command, EndSession, Pause, Resume, SkipStage
from labapp.session.resuming import read_verified_events
from tests.helpers.questionnaires import questionnaire_study
from tests.helpers.rooms import Room, skip_to
from tests.helpers.skips import skip_stage

STAGES = """id: renamed
title: Two stages whose dials can be renamed
version: 1
unnamed_texts: shipped
flow:
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 2
      labels: editable
      time_limit_min: 0.02
"""


@pytest.fixture
def commented(open_room, open_window, tmp_path, qapp):
    """A room and its window on the first of two questionnaires with the same field to write in."""
    room = open_room(study=questionnaire_study(tmp_path / "study", ["comments", "comments"]))
    window = open_window(room)
    qapp.processEvents()
    return room, window


@pytest.fixture
def by() -> str:
    """What ends the stage, where a test says nothing else."""
    return "moderator"


@pytest.fixture
def renamed(open_room, open_window, tmp_path, qapp, by: str):
    """A room and its window on the first of two stages, while a name is being written. No limit of
    time is near where another one than the limit ends the stage."""
    study = tmp_path / "study.yaml"
    study.write_text(STAGES if by == "time limit" else STAGES.replace("0.02", "2"))
    room = open_room(study=study)
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    window.screen_shown.dials.rows[1].name.edit()
    QTest.keyClicks(focus(), "phase")
    return room, window


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def stored(room: Room, *kinds: str) -> list[tuple[str, str | None]]:
    """Kinds and stages of these events, in order."""
    room.session.close("test over")
    rows = read_verified_events(Path(room.session.folder.path))
    return [(row.kind, row.part_id) for row in rows if row.kind in kinds]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (Pause("a knock at the door"), "session.paused"),
        (SkipStage(), "skip.requested"),
        (EndSession("taken ill"), "session.ended"),
    ],
)
def test_what_is_being_written_is_stored_before_the_screen_goes(
    commented, qapp, command: Command, kind: str
) -> None:
    room, window = commented
    QTest.keyClicks(focus(), "wait")
    assert room.count("response.changed") == 0
    room.runner.send(command, Source.MODERATOR)
    qapp.processEvents()
    QTest.qWait(50)
    assert room.last("response.changed")["value"] == "wait"
    window.close_for_good()
    rows = stored(room, "response.changed", kind)
    assert [row[0] for row in rows] == ["response.changed", kind]
    assert rows[0][1] == room.runner.machine.parts[0].id


def test_a_text_goes_on_after_a_pause(commented, qapp) -> None:
    room, window = commented
    QTest.keyClicks(focus(), "wait")
    room.runner.send(Pause("a test"), Source.MODERATOR)
    qapp.processEvents()
    room.runner.send(Resume("a test"), Source.MODERATOR)
    qapp.processEvents()
    field = window.screen_shown.items[0].field
    field.edit.setFocus()
    QTest.keyClicks(field.edit, "!")
    window.screen_shown.right()
    assert room.last("questionnaire.submitted")["answers"] == {"comments": "wait!"}
    assert room.count("response.changed") == 2


def test_a_window_that_is_taken_down_gives_what_was_written(commented) -> None:
    room, window = commented
    QTest.keyClicks(focus(), "so far")
    window.close_for_good()
    assert room.last("response.changed")["value"] == "so far"
    room.runner.send(Pause("nobody is asked now"), Source.MODERATOR)
    assert room.count("session.paused") == 1


def test_a_field_that_goes_writes_nothing_into_the_next_part(commented, qapp) -> None:
    room, window = commented
    old = window.screen_shown
    skip_stage(room.runner, Source.MODERATOR)
    QTest.keyClicks(old.items[0].field.edit, "too late")
    old.items[0].field.keep()
    qapp.processEvents()
    assert room.count("response.changed") == 0
    assert room.runner.state.part_state.answers == {}


def test_a_described_option_is_stored_too(open_room, open_window, tmp_path, qapp) -> None:
    room = open_room(study=questionnaire_study(tmp_path / "study", ["demographics"]))
    window = open_window(room)
    view = next(view for view in window.screen_shown.items if getattr(view, "field", None))
    own = next(i for i, option in enumerate(view.choice.options) if option.describe)
    QTest.mouseClick(view.group.options[own], Qt.MouseButton.LeftButton)
    qapp.processEvents()
    assert focus() is view.field.edit
    QTest.keyClicks(focus(), "mine")
    skip_stage(room.runner, Source.MODERATOR)
    chosen = view.choice.options[own].id
    assert room.last("response.changed")["value"] == {"chosen": (chosen,), "described": "mine"}


@pytest.mark.parametrize("by", ["moderator", "time limit"])
def test_a_name_that_is_being_written_stays_with_its_stage(renamed, qapp, qtbot, by: str) -> None:
    room, _ = renamed
    if by == "moderator":
        skip_stage(room.runner, Source.MODERATOR)
    else:
        qtbot.waitUntil(lambda: room.runner.part.id == "stage-2-intro")
    qapp.processEvents()
    assert room.runner.part.id == "stage-2-intro"
    assert room.last("label.edited") == {"dimension": 1, "text": "phase"}
    skip_to(room, "stage-2")
    qapp.processEvents()
    assert not any(room.runner.state.part_state.labels)
    rows = stored(room, "label.edited", "part.ended")
    at = rows.index(("label.edited", "stage-1"))
    assert rows[at + 1] == ("part.ended", "stage-1")
    assert [kind for kind, _ in rows].count("label.edited") == 1


def test_a_name_is_kept_once_over_a_pause(renamed, qapp) -> None:
    room, window = renamed
    room.runner.send(Pause("a knock at the door"), Source.MODERATOR)
    qapp.processEvents()
    room.runner.send(Resume("it was nothing"), Source.MODERATOR)
    qapp.processEvents()
    assert window.screen_shown.dials.rows[1].name.text == "phase"
    assert room.count("label.edited") == 1
