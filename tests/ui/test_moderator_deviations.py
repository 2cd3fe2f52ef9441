"""The log of what went otherwise than planned: as it happens, and as it is written down."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.analysis.deviations import MEANINGS, Deviation, fold_deviations
from labapp.base.clock import NS
from labapp.record.events import Event, Source, payload_of
from labapp.record.events.commands import EndSession, Pause, Resume
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised, CloseRequested, WindowFocus
from labapp.record.events.voice import AudioDeviceBack, AudioDeviceLost, AudioGap, AudioStarted
from labapp.ui.moderator.notes_panel import DEVIATIONS, LINE_ROLE, TimedList
from labapp.ui.moderator.state.console import WORDS, DeviationLog
from tests.helpers.rooms import skip_to
from tests.ui.desk import Desk

LEFT = Qt.MouseButton.LeftButton


def lines(found: TimedList) -> list[tuple[str, str]]:
    """Time and words, oldest first, after that the room has no microphone."""
    shown = [found.item(place).data(LINE_ROLE) for place in range(found.count())]
    first, *rest = [(line.time, line.text) for line in reversed(shown)]
    assert first[1].startswith("Without sound: the study records no sound")
    return rest


def test_what_happens_is_listed_with_its_time_and_length(desk: Desk) -> None:
    emit, send = desk.runner.emit, desk.runner.send
    events: list[Event] = []
    desk.runner.journal.subscribe(events.append)
    emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.wait(10)
    send(Pause("break"), Source.MODERATOR)
    desk.wait(130)
    notes = desk.console.notes
    assert lines(notes.deviations) == [("0:10", "Paused: Break")]
    send(Resume("moderator"), Source.MODERATOR)
    desk.wait(5)
    emit(AudioGap("f", 0, 24_000, "overflow"))
    emit(AudioDeviceLost("Jabra", "unplugged"))
    desk.wait(7)
    emit(AudioDeviceBack("Jabra"))
    emit(AlarmRaised("disk_low", "12 MB free"))
    emit(WindowFocus(focused=False))
    desk.wait(3)
    emit(WindowFocus(focused=True))
    emit(AlarmCleared("disk_low"))
    emit(CloseRequested("escape"))
    skip_to(desk.room, "practice")
    send(EndSession("feels unwell", "keep"), Source.MODERATOR)
    desk.wait(1)
    assert lines(notes.deviations) == [
        ("0:10", "Paused: Break, 2:10"),
        ("0:15", "Sound lost: the computer was too slow, 0.5 s"),
        ("0:15", "Microphone gone: Jabra: unplugged, 0:07"),
        ("0:22", "Disk almost full: 12 MB free, 0:03"),
        ("0:22", "Participant’s window without keyboard, 0:03"),
        ("0:25", "Participant wanted to stop: pressed Escape, 0:00"),
        ("0:25", "Part skipped: Tutorial"),
        ("0:25", "Part skipped: Before practice"),
        ("0:25", "Withdrew: the data are kept: feels unwell"),
    ]
    assert notes.tabs[DEVIATIONS].text() == "Deviations 10"
    stored = fold_deviations((event, payload_of(event)) for event in events)
    for shown, one in zip(desk.console.state.deviations.deviations[1:], stored, strict=True):
        assert (shown.kind, shown.detail, shown.session_s, shown.duration_s) == (
            one.kind, one.detail, one.session_s, one.duration_s,
        )  # fmt: skip


def test_the_times_without_keyboard_are_one_line(desk: Desk) -> None:
    for _ in range(3):  # as each note takes it for a moment
        desk.runner.emit(WindowFocus(focused=False))
        desk.wait(2)
        desk.runner.emit(WindowFocus(focused=True))
        desk.wait(3)
    notes = desk.console.notes
    shown = "Participant’s window without keyboard: 3 times, 0:06 in all"
    assert lines(notes.deviations)[-1] == ("0:10", shown)
    assert sum("keyboard" in text for _, text in lines(notes.deviations)) == 1
    kinds = [deviation.kind for deviation in desk.console.state.deviations.deviations]
    assert kinds.count("focus_lost") == 3


def test_a_withdrawal_without_another_reason_is_said_once() -> None:
    told = Deviation("withdrawn", 0, "delete: the participant withdrew")
    assert DeviationLog().words_of(told) == "Withdrew: the data are deleted"


def test_a_deviation_is_written_down_with_the_moment_its_typing_began(
    desk: Desk, qtbot: QtBot
) -> None:
    notes = desk.console.notes
    qtbot.mouseClick(notes.tabs[DEVIATIONS], LEFT)
    assert notes.deviation.isVisible()
    desk.clock.advance(10)
    # Begun from anywhere: what is in front gets it.
    qtbot.keyClick(desk.console, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert notes.deviation.hasFocus()
    qtbot.keyClick(notes.deviation, Qt.Key.Key_D)
    desk.clock.advance(5)
    qtbot.keyClicks(notes.deviation, "oor opened")
    qtbot.keyClick(notes.deviation, Qt.Key.Key_Return)
    noted = {"text": "door opened", "typing_began_ns": 10 * NS}
    assert desk.room.last("deviation.noted") == noted
    assert desk.room.count("note.added") == 0
    desk.wait(1)
    assert lines(notes.deviations) == [("0:10", "door opened")]
    mark = desk.console.state.timeline.marks[-1]
    assert (mark.kind, mark.at_ns, mark.text) == ("deviation", 10 * NS, "Deviation: door opened")


def test_every_deviation_that_is_known_has_words() -> None:
    # An alarm has its own; the others are found when a session is over.
    found_later = {"unfinished", "attempt_interrupted", "session_order"}
    assert set(MEANINGS) - set(WORDS) <= {"alarm", *found_later}
    assert set(WORDS) <= set(MEANINGS)
