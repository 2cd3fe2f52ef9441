"""The console on a real session: what it shows, what it sends, and when it draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS, FakeClock
from labapp.record.audio.recorder import Level
from labapp.record.events import Event, Source
from labapp.record.events.commands import EndSession, GiveConsent, Next, Pause, Resume
from labapp.record.events.lifecycle import AlarmRaised, CloseRequested, ScreenChanged
from labapp.record.events.voice import AudioDeviceLost, AudioStarted, AudioState
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.beside import Curve
from labapp.tasks.reconstruction.events import MoveDial
from labapp.ui import theme
from labapp.ui.moderator import bits, voice_panel
from labapp.ui.moderator.console import LEFT_WIDTH, SECOND_TICKS, ConsoleWindow, PlanList
from labapp.ui.moderator.notes_panel import NotesPanel
from labapp.ui.moderator.state.console import ConsoleState, PlanRow, PlanView, Sound
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.rooms import Room, skip_to, solve
from tests.helpers.studies import write_study
from tests.ui.desk import HEARD, SILENT, Desk, closed_forms
from tests.ui.quiet import restless_widgets


def test_the_plan_is_ticked_off_across_a_whole_session(desk: Desk) -> None:
    runner = desk.runner
    assert desk.plan()[0] == ("Consent", "current", "reading")
    assert {state for _, state, _ in desk.plan()[1:]} == {"todo"}
    desk.wait(60)
    runner.send(GiveConsent())
    assert desk.plan()[0] == ("Consent", "done", "")
    assert desk.plan()[1] == ("Tutorial", "current", "page 1 / 2")
    assert desk.console.plan.list.views[0].working_ns == 60 * NS
    skip_to(desk.room, "stage-1")
    assert desk.plan()[2][1] == "skipped"
    for question in range(1, 6):
        assert desk.plan()[3] == ("Stage 1", "current", f"{question} / 5")
        solve(desk.room)
        desk.wait(5)
        runner.send(Next())
    assert desk.plan()[3] == ("Stage 1", "current", "SEQ")
    runner.send(Answer(desk.room.loaded.instruments["seq"].items[0].id, 5))
    desk.wait(3)
    runner.send(Next())
    assert desk.plan()[4][1] == "current"
    assert desk.plan()[3][1] == "skipped"  # its introduction was
    skip_to(desk.room, "debrief")
    runner.send(Next())
    assert runner.finished
    desk.wait(1)
    ends = desk.console.header.recording.text()
    assert ends == "■ complete, does not count: a stage was skipped", "the practice was"
    assert desk.plan()[6][1] == "done"


def test_a_note_carries_the_moment_of_its_first_key(desk: Desk, qtbot: QtBot) -> None:
    field = desk.console.notes.input
    desk.clock.advance(10)
    qtbot.keyClicks(field, "x")
    desk.clock.advance(5)
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    desk.clock.advance(5)
    qtbot.keyClicks(field, "ah")
    desk.clock.advance(7)
    qtbot.keyClicks(field, "a, rotation")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.room.last("note.added") == {"text": "aha, rotation", "typing_began_ns": 20 * NS}
    assert field.text() == ""
    desk.console.refresh()
    assert [(n.text, n.working_ns) for n in desk.console.state.notes] == [
        ("aha, rotation", 20 * NS)
    ]
    assert desk.console.notes.list.count() == 1


def test_a_pasted_note_and_an_empty_one(desk: Desk, qtbot: QtBot) -> None:
    field = desk.console.notes.input
    desk.clock.advance(3)
    field.insert("from the clipboard")
    desk.clock.advance(3)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.room.last("note.added")["typing_began_ns"] == 3 * NS
    qtbot.keyClicks(field, "   ")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.room.count("note.added") == 1


def test_a_note_is_begun_on_purpose_and_has_the_moment_of_its_first_key(
    desk: Desk, qtbot: QtBot
) -> None:
    field = desk.console.notes.input
    qtbot.keyClicks(desk.console.header.pause, "h1")  # what is typed elsewhere is nobody's
    assert field.text() == ""
    assert desk.room.count("flag.added") == 0
    qtbot.keyClick(desk.console, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert field.hasFocus()
    desk.clock.advance(4)
    qtbot.keyClicks(field, "h")
    desk.clock.advance(4)
    qtbot.keyClicks(field, "m")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.room.last("note.added") == {"text": "hm", "typing_began_ns": 4 * NS}


def test_an_input_method_begins_a_note_with_its_first_stroke_and_no_sooner(
    desk: Desk, qtbot: QtBot
) -> None:
    field = desk.console.notes.input

    def compose(preedit: str, commit: str = "") -> None:
        event = QInputMethodEvent(preedit, [])
        event.setCommitString(commit)
        QApplication.sendEvent(field, event)
        desk.clock.advance(5)

    compose("")  # as when the field gets the keyboard
    compose("n")  # 5 s, and given up
    compose("")
    compose("n")  # 15 s
    compose("", "ñ")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.room.last("note.added") == {"text": "ñ", "typing_began_ns": 15 * NS}


def test_ctrl_and_digit_is_a_flag_in_every_window(desk: Desk, qtbot: QtBot) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    field = desk.console.notes.input
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_4, control)
    assert desk.room.last("flag.added") == {"number": 4, "meaning": "technical"}
    assert field.text() == ""
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    qtbot.keyClick(other, Qt.Key.Key_1, control)
    qtbot.keyClick(other, Qt.Key.Key_2)
    other.close()
    assert desk.room.last("flag.added") == {"number": 1, "meaning": "insight"}
    assert desk.room.count("flag.added") == 2


def test_the_flag_buttons_say_the_studys_meanings(desk: Desk, qtbot: QtBot) -> None:
    buttons = desk.console.notes.buttons
    assert [b.text() for b in buttons.values()] == [
        "1  insight", "2  prompt", "3  confusion", "4  technical",
    ]  # fmt: skip
    qtbot.mouseClick(buttons[2], Qt.MouseButton.LeftButton)
    assert desk.room.last("flag.added") == {"number": 2, "meaning": "prompt"}


def test_silence_asks_for_a_prompt_and_f8_records_it(desk: Desk, qtbot: QtBot) -> None:
    voice = desk.console.voice
    desk.room.runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.level = SILENT
    desk.wait(1)
    assert (voice.headline.text(), voice.detail.text()) == (
        "Silent",
        "Nobody needs to speak at the moment.",
    )
    assert voice.prompt.isHidden()  # the consent form is read, not thought aloud about
    skip_to(desk.room, "practice")
    desk.level = HEARD
    desk.wait(1)
    assert (voice.headline.text(), voice.prompt.isHidden()) == ("Voice heard", True)
    desk.level = SILENT
    desk.wait(1)
    assert (voice.headline.text(), voice.prompt.isHidden()) == ("Silent for 1 s", True)
    desk.level = replace(SILENT)
    desk.wait(20)
    assert voice.headline.text() == "Silent for 18 s"
    assert voice.prompt.text() == "Say: “Please keep talking”\nThen press F8"
    assert voice.prompt.isVisible()
    qtbot.keyClick(desk.console.notes.input, Qt.Key.Key_F8)
    assert desk.room.last("prompt.given") == {"text": "Please keep talking"}
    desk.runner.send(Pause("x"), Source.MODERATOR)
    desk.wait(1)
    assert voice.prompt.isHidden()


def test_each_prompt_has_a_key_and_is_recorded_with_its_text(
    open_room: Callable[..., Room], qtbot: QtBot, tmp_path: Path
) -> None:
    prompts = ["Keep talking", "What are you thinking?", "And now?", "Why?", "How?"]
    study = write_study(tmp_path, "sinelines/gt")
    recording = f"recording:\n  prompts: {json.dumps(prompts)}\nflow:"
    study.write_text(study.read_text("utf-8").replace("flow:", recording), "utf-8")
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock, decoders=closed_forms()), clock)
    console = desk.console
    desk.room.session.begin()
    console.refresh()
    box = console.voice.prompts
    assert box.last.text() == "none yet"
    alt = Qt.KeyboardModifier.AltModifier
    field = console.notes.input
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_F8)
    qtbot.keyClick(field, Qt.Key.Key_2, alt)
    qtbot.keyClick(field, Qt.Key.Key_5, alt)
    qtbot.mouseClick(box.buttons[2], Qt.MouseButton.LeftButton)
    given = [payload["text"] for kind, payload in desk.room.events if kind == "prompt.given"]
    assert given == [prompts[place] for place in (0, 1, 4, 2)]
    assert field.text() == ""
    clock.advance(42)
    for _ in range(20):  # a second of ticks
        console.refresh()
    assert box.last.text() == "last 0:42 ago"
    assert [note.text for note in console.state.notes] == given
    assert [mark.text for mark in console.state.timeline.marks] == [
        f"Prompt given: {text}" for text in given
    ]
    assert console.voice.prompt.text().startswith("Say: “Keep talking”")


ON = Sound("Jabra", "ALSA", 48_000)


@pytest.mark.parametrize(
    ("level", "sound", "headline", "prompt"),
    [
        (HEARD, ON, "Voice heard", False),
        (replace(HEARD, silent_for_s=6.0), ON, "Silent for 6 s", False),
        (SILENT, ON, "Silent for 18 s", True),
        (replace(HEARD, state="zeros"), ON, "No signal", False),
        (replace(HEARD, state="clipping"), ON, "Too loud", False),
        (replace(HEARD, state="lost"), ON, "Microphone unplugged", False),
        (HEARD, replace(ON, lost=True), "Microphone unplugged", False),
        (replace(HEARD, problem="disk full"), ON, "Sound is not being saved", False),
        (None, Sound(off="chosen"), "No sound", False),
        (None, ON, "Not recording", False),
    ],
)
def test_states_of_the_voice_are_told_apart(
    level: Level | None, sound: Sound, headline: str, prompt: bool
) -> None:
    said = voice_panel.hearing_of(level, sound, 15.0, expected_s=60.0)
    assert (said.headline, said.prompt) == (headline, prompt)


def test_a_label_has_the_role_and_the_tone_that_its_colour_needs(qtbot: QtBot) -> None:
    made = bits.label("Too loud", "clip", tone="alarm")
    qtbot.addWidget(made)
    assert (made.property("role"), made.property("tone")) == ("clip", "alarm")
    plain = bits.label("Voice heard")
    qtbot.addWidget(plain)
    assert (plain.property("role"), plain.property("tone")) == (None, None)


@pytest.mark.parametrize(
    ("expected_s", "headline", "prompt"),
    [
        (None, "Silent", False),
        (2.0, "Silent for 2 s", False),
        (14.9, "Silent for 15 s", False),
        (15.0, "Silent for 15 s", True),
    ],
)
def test_silence_counts_from_when_speech_is_expected(
    expected_s: float | None, headline: str, prompt: bool
) -> None:
    said = voice_panel.hearing_of(SILENT, ON, 15.0, expected_s=expected_s)
    assert (said.headline, said.prompt) == (headline, prompt)


def test_sound_that_is_over_is_not_said_to_come() -> None:
    assert voice_panel.hearing_of(None, ON, 15.0, expected_s=None).detail == ""
    assert "after consent" in voice_panel.hearing_of(None, Sound(), 15.0, expected_s=None).detail


def test_the_facts_are_marked_when_they_are_wrong(desk: Desk) -> None:
    voice = desk.console.voice
    voice.show_facts(replace(HEARD, lost_frames=480), ON, 3.0, 10**6, 20.0)
    said = {name: label.full() for name, label in voice.facts.items() if label.full()}
    assert said == {
        "microphone": "Jabra · 48 kHz",
        "lost": "! 0.01 s",
        "saved": "! 3.0 s ago",
        "disk": "! 1.0 MB free",
        "slowest": "! 20.0 ms",
    }
    voice.show_facts(HEARD, ON, 0.1, 212 * 10**9, 1.4)
    assert {label.full()[:1] for label in voice.facts.values()} & {"!"} == set()


def test_alarms_come_stand_and_are_dismissed(desk: Desk, qtbot: QtBot) -> None:
    assert desk.alarms() == []
    assert not desk.console.alarms.well.isHidden()
    desk.runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.runner.emit(CloseRequested("escape"))
    desk.runner.emit(AudioDeviceLost("Jabra", "unplugged"))
    desk.runner.emit(ScreenChanged("removed", "DP-1", 1))
    desk.runner.emit(AudioState("zeros", 0))
    desk.runner.emit(AlarmRaised("decoder_slow", "one in a hundred takes 40 ms or more"))
    assert [a.split(":")[0] for a in desk.alarms()] == [
        "There is no signal at all from the microphone", "Screen DP-1 was unplugged",
        "The microphone was unplugged",
        "The participant wants to stop",
    ]  # fmt: skip
    assert desk.console.alarms.more.text() == "and 1 more"
    qtbot.mouseClick(desk.console.alarms.more, Qt.MouseButton.LeftButton)
    assert desk.alarms()[-1].startswith("The pictures lag behind the sliders: one in a hundred")
    assert desk.console.alarms.more.isHidden()
    qtbot.mouseClick(desk.console.alarms.chips[0].button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(desk.console.alarms.chips[0].button, Qt.MouseButton.LeftButton)
    stop = "The participant wants to stop: pressed Escape. Ask them, then click Pause or End"
    assert stop in desk.alarms(), "a double click dismisses one"
    assert len(desk.alarms()) == 4
    assert desk.console.header.recording.text() == "! no microphone"


def test_silence_is_an_alarm_only_where_one_thinks_aloud(desk: Desk) -> None:
    desk.runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.runner.emit(AudioState("silent", 0))
    assert desk.alarms() == []
    skip_to(desk.room, "practice")
    silent = "Nobody is speaking. Ask the participant to keep talking, and record the prompt."
    assert desk.alarms() == [], "the silence of the texts before it does not count"
    desk.wait(14.9)
    assert desk.alarms() == []
    desk.wait(0.2)
    assert desk.alarms() == [silent]
    desk.runner.send(Pause("moderator"), Source.MODERATOR)
    assert desk.alarms() == []
    assert desk.console.header.recording.text() == "‖ paused, 0:00, still recording sound"
    desk.runner.send(Resume("moderator"), Source.MODERATOR)
    assert desk.alarms() == [], "nor does that of a pause"
    desk.wait(15.1)
    assert desk.alarms() == [silent]
    desk.runner.send(EndSession("enough"), Source.MODERATOR)
    assert desk.alarms() == []


def test_a_part_that_the_end_cut_off_keeps_its_length(desk: Desk) -> None:
    desk.runner.send(GiveConsent())
    skip_to(desk.room, "stage-1-intro")
    desk.wait(7)
    desk.runner.send(Next())
    desk.wait(30)
    length = desk.console.plan.list.views[3].working_ns
    desk.runner.send(EndSession("enough"), Source.MODERATOR)
    desk.wait(50)
    assert desk.console.plan.list.views[3].working_ns == length == 37 * NS


def test_the_moderators_shortcut_works_in_both_windows(desk: Desk, qtbot: QtBot) -> None:
    room = desk.room
    participant = ParticipantWindow(
        room.bridge, room.loaded, strings_of(room.loaded), "improved", room.session.give_consent
    )
    participant.open_on()
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    for window, signal in (
        (desk.console, desk.console.toggle_requested),
        (participant, participant.moderator_requested),
    ):
        window.raise_()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        with qtbot.waitSignal(signal):
            qtbot.keyClick(window, Qt.Key.Key_M, keys)
    qtbot.keyClick(participant, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert room.last("flag.added") == {"number": 2, "meaning": "prompt"}
    participant.close_for_good()
    participant.deleteLater()


def test_a_stalled_journal_is_an_alarm(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.runner, "stalled", True)
    desk.wait(1)
    assert desk.console.header.recording.text() == "! waiting for the disk"


def played(desk: Desk) -> None:
    """A stretch of session with everything in it."""
    runner = desk.runner
    desk.wait(30)
    runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    skip_to(desk.room, "stage-1")
    desk.wait(5)
    solve(desk.room)
    desk.wait(5)
    desk.console.set_flag(1)
    runner.send(Next())
    desk.console.notes.input.committed.emit("a note", desk.clock.now_ns() - NS)
    runner.send(Pause("tea"), Source.MODERATOR)
    desk.wait(120)
    runner.send(Resume("tea"), Source.MODERATOR)
    trial = runner.state.part_state.trial
    for step in range(1, 40):
        desk.wait(0.1)
        runner.send(MoveDial(0, trial.z[0] + step / 100, "mouse"))
    desk.console.give_prompt()
    runner.emit(AudioState("silent", desk.clock.now_ns() - NS))
    runner.emit(ScreenChanged("removed", "DP-1", 1))
    desk.wait(2)


def contents(state: ConsoleState) -> tuple[object, ...]:
    line = state.timeline
    return (
        state.notes, state.fold(Curve).points, line.parts, line.trials, line.marks, line.hearing,
        state.sound, state.warmed, state.alarms.visible(), state.latency.p99_ms(),
        state.work.closed, state.last_seq,
    )  # fmt: skip


def test_the_console_is_rebuilt_from_past_events(open_room: Callable[..., Room]) -> None:
    clock = FakeClock()
    room = open_room(clock=clock, decoders=closed_forms())
    past: list[Event] = []
    room.runner.journal.subscribe(past.append)
    desk = Desk(room, clock)
    room.session.begin()
    played(desk)
    live = desk.console
    rebuilt = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: desk.level, past=past)
    assert contents(rebuilt.state) == contents(live.state)
    assert len(live.state.notes) == 3
    assert [b.outcome for b in live.state.timeline.trials][-2:] == ["solved", None]
    assert rebuilt.notes.list.count() == live.notes.list.count() == 3
    assert rebuilt.plan.list.views == live.plan.list.views
    assert rebuilt.header.elapsed.text() == live.header.elapsed.text()


def test_events_from_other_threads_arrive_in_order(desk: Desk) -> None:
    def emit(number: int) -> None:
        for index in range(50):
            desk.runner.emit(ScreenChanged("removed", f"{number}-{index}", 1))

    threads = [Thread(target=emit, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desk.console.refresh()
    assert len(desk.console.state.alarms.standing) == 200


def test_a_blind_console_names_no_representation(open_room: Callable[..., Room]) -> None:
    clock = FakeClock()
    room = open_room(clock=clock, decoders=closed_forms())
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None, blind=True)
    room.session.begin()
    console.refresh()
    assert {view.row.detail for view in console.plan.list.views} == {""}


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
def test_everything_fits(desk: Desk, size: tuple[int, int]) -> None:
    skip_to(desk.room, "stage-1")
    desk.console.resize(*size)
    desk.console.refresh()
    hint = desk.console.minimumSizeHint()
    assert hint.width() <= size[0]
    assert hint.height() <= size[1]


def test_a_flag_whose_name_is_too_long_ends_in_an_ellipsis(qtbot: QtBot) -> None:
    long = "prompted the participant"
    panel = NotesPanel(theme.DARK, {1: "insight", 2: long, 3: "other"}, lambda: 0)
    qtbot.addWidget(panel)
    panel.setStyleSheet(bits.stylesheet(theme.DARK))
    panel.setFixedWidth(LEFT_WIDTH)
    panel.show()
    panel.grab()
    assert panel.buttons[1].shown_text() == "1  insight"
    assert panel.buttons[2].shown_text().endswith("…")
    assert long in panel.buttons[2].toolTip()


def test_a_long_id_in_the_plan_is_cut_in_its_middle_and_read_whole_in_the_tool_tip(
    qtbot: QtBot,
) -> None:
    rows = PlanList(theme.DARK)
    qtbot.addWidget(rows)
    detail = "a-data-set-of-faces/the-long-name-of-a-model"
    rows.show_views([PlanView(PlanRow("Stage 1", detail, (0,)), "todo", "", None)])
    assert rows.tip(10) == f"Stage 1\n{detail}"
    assert rows.tip(-1) == rows.tip(40) == ""


def test_a_plan_row_gives_up_its_time_before_its_title(qtbot: QtBot) -> None:
    rows = PlanList(theme.DARK)
    qtbot.addWidget(rows)
    view = PlanView(PlanRow("Before stage 1", "gt", (0,)), "skipped", "übersprungen", 26 * NS)
    assert rows._has_room(view, 400)
    assert not rows._has_room(view, 240)


def test_nothing_is_asked_for_any_more_when_the_session_is_over(desk: Desk) -> None:
    emit, alarms = desk.runner.emit, desk.console.state.alarms
    emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    emit(AudioDeviceLost("Jabra", "unplugged"))
    emit(AudioState("silent", 0))
    emit(ScreenChanged("removed", "HDMI-1", 1))
    desk.console.refresh()
    assert len(alarms.visible()) == 3
    desk.runner.send(EndSession("tired"), Source.MODERATOR)
    desk.console.refresh()
    assert [alarm.text for alarm in alarms.visible()] == ["Screen HDMI-1 was unplugged"]
    assert not desk.console.state.sound.lost


def test_a_refresh_without_news_repaints_nothing_of_the_mirror(desk: Desk) -> None:
    skip_to(desk.room, "stage-1")
    desk.console.refresh()
    QApplication.processEvents()
    picture = desk.console.mirror.shown.picture
    assert picture is not None
    while not desk.console.mirror.shown.rests:
        desk.console.refresh()
    drawn: list[int] = []
    draw = picture.draw
    picture.draw = lambda *room: drawn.append(1) or draw(*room)  # type: ignore[method-assign]
    while desk.console._ticks % SECOND_TICKS == 0:
        desk.console.refresh()
    drawn.clear()
    desk.console.refresh()
    assert drawn == []
    desk.runner.send(MoveDial(0, 0.1, "mouse"))
    desk.console.refresh()
    assert drawn == [1]


@pytest.mark.parametrize("width", [900, 1366, 1920])
def test_nothing_is_laid_out_while_nothing_happens(desk: Desk, width: int) -> None:
    desk.console.resize(width, 768)
    header, runner = desk.console.header, desk.runner
    assert not restless_widgets()
    header.press_pause()
    assert not restless_widgets()
    header.press_pause()
    assert not restless_widgets()
    header.press_pause()
    header.ask_end()
    assert not restless_widgets()
    runner.send(Resume("moderator"), Source.MODERATOR)
    skip_to(desk.room, "stage-1")
    desk.wait(1)
    assert not restless_widgets()
    runner.send(EndSession("test"), Source.MODERATOR)
    desk.wait(1)
    assert not restless_widgets()


class _Probe(QWidget):
    """A widget that writes down when it is painted."""

    def __init__(self, order: list[str]) -> None:
        super().__init__()
        self.order = order

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.order.append("painted")


def test_while_a_hand_moves_the_console_draws_right_behind_the_picture(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    order: list[str] = []
    probe = _Probe(order)
    qtbot.addWidget(probe)
    probe.show()
    QApplication.processEvents()
    console, bridge = desk.console, desk.room.bridge
    console._timer.stop()
    monkeypatch.setattr(console, "refresh", lambda **_: order.append("console"))
    bridge.changed.connect(probe.update)
    bridge.changed.emit()
    console._tick()
    console._later.stop()  # however slow this machine is, only the next picture makes it draw
    QApplication.processEvents()
    assert "console" not in order
    order.clear()
    bridge.changed.emit()
    qtbot.waitUntil(lambda: "console" in order)
    assert order == ["painted", "console"]
    bridge.changed.emit()
    console._tick()
    qtbot.waitUntil(lambda: order.count("console") == 2)  # the hand has stopped
