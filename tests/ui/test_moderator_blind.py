"""A blind moderator: no widget of the console names a model, whatever the session comes to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QListWidget, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Next, Pause, Resume
from labapp.record.events.lifecycle import AlarmRaised, DecoderWarmed
from labapp.tasks.reconstruction.events import MoveDial
from labapp.ui.moderator.console import DISK_EVERY_TICKS, ConsoleWindow, PlanList
from labapp.ui.moderator.state.alarms import Watch
from labapp.ui.moderator.timeline_view import TimelineView
from tests.helpers.rooms import Room, skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.ui.desk import HEARD, closed_forms

OpenRoom = Callable[..., Room]
LEFT = Qt.MouseButton.LeftButton


def texts(window: QWidget) -> Iterator[str]:
    """Everything a person (or a screen reader) can read in a window."""
    for widget in (window, *window.findChildren(QWidget)):
        for name in ("text", "full", "windowTitle", "toolTip", "statusTip", "whatsThis",
                     "accessibleName", "accessibleDescription", "placeholderText"):  # fmt: skip
            said = getattr(widget, name, None)
            if callable(said) and isinstance(text := said(), str):
                yield text
        if isinstance(widget, QListWidget):
            for place in range(widget.count()):
                for role in range(0x0100 + 2):
                    yield str(widget.item(place).data(role))
        if isinstance(widget, PlanList):
            yield from (f"{view.row} {view.progress}" for view in widget.views)
        if isinstance(widget, TimelineView):
            yield from (part.label for part in widget._timeline.parts)
            yield from (mark.text for mark in widget._timeline.marks)
            yield from (widget.describe(x, 190) for x in range(0, widget.width(), 4))
    yield from (child.objectName() for child in window.findChildren(QObject))


def names_of(models: set[str]) -> re.Pattern[str]:
    """A model's id as a word of its own."""
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(models)))})(?!\w)", re.IGNORECASE)


def found(window: ConsoleWindow, names: re.Pattern[str]) -> list[str]:
    for _ in range(DISK_EVERY_TICKS):
        window.refresh()
    return [text for text in texts(window) if names.search(text)]


@pytest.mark.parametrize("blind", [True, False])
def test_a_session_with_everything_in_it_names_no_model(
    open_room: OpenRoom, qtbot: QtBot, blind: bool
) -> None:
    clock = FakeClock()
    room = open_room(clock=clock, decoders=closed_forms())
    models = {part.model for part in room.runner.machine.parts if hasattr(part, "model")}
    names = names_of(models)
    assert len(models) > 3
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: HEARD, blind=blind)
    console.resize(1366, 768)
    console.show()
    room.session.begin()
    seen: list[str] = []
    for model in models:
        room.runner.emit(DecoderWarmed(model, "cpu", 1, 50, 30.0, 45.0))
    seen += found(console, names)
    for stage in ("practice", "stage-1", "stage-2", "stage-3"):
        skip_to(room, stage)
        clock.advance(30)
        room.runner.send(MoveDial(0, 0.5, "mouse"))
        seen += found(console, names)
        room.runner.send(Pause("break"), Source.MODERATOR)
        seen += found(console, names)
        room.runner.send(Resume("moderator"), Source.MODERATOR)
        solve(room)
        room.runner.send(Next())
        console.header._ask_skip()
        seen += found(console, names)
        console.header._back()
    for payload in Watch(sound=True).check(None, 45.0):
        room.runner.emit(payload)
    for model in models:  # as an error of a decoder would be told
        folder = model.replace("/", "\\")
        detail = f"{model} failed: models\\{folder}\\weights.safetensors is broken."
        room.runner.emit(AlarmRaised("decoding_failed", detail))
        console.refresh()
        sentences = [alarm.sentence for alarm in console.state.alarms.visible()]
        seen += [x for x in sentences if names.search(x.replace("\\", "/"))]
    seen += found(console, names)
    room.runner.send(EndSession("enough"), Source.MODERATOR)
    seen += found(console, names)
    assert bool(seen) is not blind, seen


def test_pictures_and_their_dials_name_no_model(
    open_room: OpenRoom, tmp_path: Path, qtbot: QtBot
) -> None:
    model = "mnist8k/ss10"
    clock = FakeClock()
    study = write_study(tmp_path, model)
    # The file is named after its model; a lab that blinds its moderators does not.
    study.write_text(study.read_text("utf-8").replace("id: mnist8k-ss10", "id: digits"), "utf-8")
    decoders = {model: ring_decoder(model, 10, discrete=10)}
    room = open_room(study, clock=clock, decoders=decoders)
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: HEARD, blind=True)
    console.show()
    room.session.begin()
    skip_to(room, "stage-1")
    assert found(console, names_of({model})) == []


def test_the_moderator_is_unblinded_by_an_event_and_only_then(
    open_room: OpenRoom, qtbot: QtBot
) -> None:
    clock = FakeClock()
    room = open_room(clock=clock, decoders=closed_forms(), blind=True)
    models = {part.model for part in room.runner.machine.parts if hasattr(part, "model")}
    names = names_of(models)
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: HEARD, blind=True)
    console.show()
    room.session.begin()
    skip_to(room, "stage-1")
    assert found(console, names) == []
    header = console.header
    qtbot.mouseClick(header.blind, LEFT)
    qtbot.mouseClick(header.questions.no, LEFT)
    assert found(console, names) == [], "asked once, in place"
    qtbot.mouseClick(header.blind, LEFT)
    qtbot.mouseClick(header.questions.yes, LEFT)
    assert room.last("blinding.set") == {"blind": False}
    assert found(console, names) != []
    assert header.blind.isHidden()
