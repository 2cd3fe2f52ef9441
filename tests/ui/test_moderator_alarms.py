"""Alarms, deviations and LSL on the console: each by its real cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.analysis.deviations import MEANINGS, Deviation, fold_deviations
from labapp.base.clock import NS, Clock, FakeClock
from labapp.base.errors import LslError
from labapp.models.representations.decoding import Array
from labapp.record.audio import track
from labapp.record.audio.capture import Packet
from labapp.record.audio.devices import in_words
from labapp.record.audio.recorder import Recorder
from labapp.record.events import Event, Source, payload_of
from labapp.record.events.commands import EndSession, GiveConsent, Pause, Resume
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    CloseRequested,
    LslOff,
    LslOpened,
    WindowFocus,
)
from labapp.record.events.voice import AudioDeviceBack, AudioDeviceLost, AudioGap, AudioStarted
from labapp.session.folder import SessionFolder
from labapp.session.opening import EmitBody
from labapp.tasks.reconstruction.events import MoveDial
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import ChecklistRow
from labapp.ui.moderator.console import DISK_EVERY_TICKS, SECOND_TICKS, ConsoleWindow
from labapp.ui.moderator.notes_panel import DEVIATIONS, LINE_ROLE, TimedList
from labapp.ui.moderator.state import alarms
from labapp.ui.moderator.state.console import ENOUGH, WORDS, DeviationLog
from labapp.ui.moderator.wording import detail_of
from tests.helpers.rooms import FormulaDecoder, Room, decoder_of, skip_to
from tests.record.audio.fakes import DEVICE, RATE, Plug, Tone, Watcher
from tests.ui.desk import Desk, closed_forms

OpenRoom = Callable[..., Room]

PATIENCE_MS = 60_000


class Voice(Tone):
    """A tone, or what else `sounds` names: quiet, zeros, clipping. lost: frames to drop, once."""

    sounds = "tone"
    lost = 0

    def take(self) -> list[Packet]:
        packets = [packet._replace(data=self._data(packet.data)) for packet in super().take()]
        if packets and self.lost:
            packets[0] = packets[0]._replace(dropped=self.lost, overflow=True)
            self.lost = 0
        return packets

    def _data(self, tone: bytes) -> bytes:
        n = len(tone) // 2
        match self.sounds:
            case "zeros":
                return bytes(len(tone))
            case "quiet":
                return np.resize(np.array([1, -1, 2, 0], "<i2"), n).tobytes()
            case "clipping":
                return np.resize(np.repeat(np.array([32767, -32768], "<i2"), 8), n).tobytes()
        return tone


class Sounding:
    """A console whose session records from a `Voice`."""

    def __init__(self, open_room: OpenRoom, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.plug = Plug(Voice)
        self.room = open_room(make_recorder=self._recorder, decoders=closed_forms())
        self.runner = self.room.runner
        self.console = ConsoleWindow(self.room.bridge, self.room.loaded, "P01", self._level)
        self.console.show()
        self.room.session.begin()
        self.runner.send(GiveConsent())
        skip_to(self.room, "practice")
        self.until(lambda: self.console.voice.headline.text() == "Voice heard")

    def _recorder(
        self, folder: SessionFolder, segment: int, emit: EmitBody, clock: Clock
    ) -> Recorder:
        self.recorder = Recorder(
            folder.path,
            segment,
            DEVICE,
            emit=emit,
            from_perf_ns=clock.from_perf_ns,
            watcher=Watcher(),
            open_input=self.plug.open,
            silent_after_s=0.5,
            min_free_bytes=0,
        )
        return self.recorder

    def _level(self) -> Any:
        return self.recorder.level() if self.room.session.recording else None

    @property
    def voice(self) -> Voice:
        made = self.plug.streams[-1]
        assert isinstance(made, Voice)
        return made

    def alarms(self) -> list[str]:
        self.console.refresh()
        return [c.text.text() for c in self.console.alarms.chips if not c.isHidden()]

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def shows(self, *words: str) -> None:
        """Wait for alarms that begin with these words, and no others."""

        def shown() -> bool:
            found = self.alarms()
            pairs = zip(found, words, strict=False)
            return len(found) == len(words) and all(a.startswith(b) for a, b in pairs)

        self.until(shown)


@pytest.fixture
def sounding(open_room: OpenRoom, qtbot: QtBot) -> Sounding:
    return Sounding(open_room, qtbot)


@pytest.mark.parametrize(
    ("sounds", "words", "headline"),
    [
        ("quiet", "Nobody is speaking", "Silent for"),
        ("zeros", "No signal at all between words: a noise gate is on", "No signal"),
        ("clipping", "Too loud: the sound is being cut off", "Too loud"),
    ],
)
def test_what_the_microphone_hears(
    sounding: Sounding, sounds: str, words: str, headline: str
) -> None:
    sounding.voice.sounds = sounds
    sounding.console._talks_from_ns = -(10**12)  # they have been thinking aloud for long
    sounding.shows(words)
    sounding.until(lambda: sounding.console.voice.headline.text().startswith(headline))
    sounding.voice.sounds = "tone"
    sounding.shows()


def test_lost_frames(sounding: Sounding) -> None:
    sounding.voice.lost = RATE // 2
    sounding.shows("Sound was lost: ")
    lost = sounding.console.voice.facts["lost"]
    sounding.until(lambda: lost.full() == "! 0.5 s")
    assert not sounding.console.alarms.well.isVisible()
    # What is lost stays lost: it is over when it was seen.
    chip = sounding.console.alarms.chips[0]
    sounding.qtbot.mouseClick(chip.button, Qt.MouseButton.LeftButton)
    sounding.shows()
    assert lost.full() == "! 0.5 s"


def test_the_device_is_gone_and_comes_back(sounding: Sounding) -> None:
    sounding.plug.pull()
    sounding.shows("The microphone was unplugged: ")
    assert sounding.console.header.recording.text() == "! no microphone"
    assert sounding.console.voice.headline.text() == "Microphone unplugged"
    sounding.plug.plugged = True
    sounding.shows()
    sounding.until(lambda: sounding.console.header.recording.text() == "● recording")


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorder looks at the disk several times a second."""
    monkeypatch.setattr(track, "DISK_CHECK_S", 0.1)


@pytest.mark.usefixtures("often")
def test_the_disk_of_the_sound_is_almost_full(sounding: Sounding) -> None:
    sounding.recorder._track._min_free_bytes = 10**18
    sounding.shows("Disk almost full: Only ")
    sounding.recorder._track._min_free_bytes = 0
    sounding.shows()


def test_the_disk_is_almost_full_without_sound(
    open_room: OpenRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    desk = Desk(open_room(clock=clock, decoders=closed_forms()), clock)
    desk.room.session.begin()
    monkeypatch.setattr(alarms, "LOW_DISK_BYTES", 10**18)
    for _ in range(DISK_EVERY_TICKS):
        desk.console.refresh()
    assert [alarm.split(":")[0] for alarm in desk.alarms()] == ["Disk almost full"]
    monkeypatch.setattr(alarms, "LOW_DISK_BYTES", 0)
    for _ in range(DISK_EVERY_TICKS):
        desk.console.refresh()
    assert desk.alarms() == []


class Slow(FormulaDecoder):
    """Takes its time by the session's clock."""

    clock: FakeClock
    takes_s = 0.0

    def decode(self, z: Array) -> Array:
        self.clock.advance(self.takes_s)
        return super().decode(z)


def test_the_decoder_is_slow(open_room: OpenRoom) -> None:
    clock = FakeClock()
    gt = decoder_of("sinelines/gt")
    slow = {name: Slow(name, gt.space, gt.latents, gt.decode) for name in closed_forms()}
    slow["sinelines/gt"] = Slow(gt.id, gt.space, gt.latents, gt.decode)
    for decoder in slow.values():
        decoder.clock = clock
    desk = Desk(open_room(clock=clock, decoders=slow), clock)
    desk.room.session.begin()
    skip_to(desk.room, "stage-1")

    def turn(takes_s: float, times: int) -> None:
        for decoder in slow.values():
            decoder.takes_s = takes_s
        for step in range(times):
            clock.advance(0.1)
            desk.runner.send(MoveDial(0, (step % 20) / 100, "mouse"))
        for _ in range(DISK_EVERY_TICKS):
            desk.console.refresh()

    turn(0.002, ENOUGH + 10)
    assert desk.alarms() == []
    turn(0.040, 10)
    (alarm,) = desk.alarms()
    assert alarm.startswith(
        "The pictures lag behind the sliders: one in a hundred takes 40 ms or more. Close other"
    )
    assert desk.console.voice.facts["slowest"].full() == "! 40.0 ms"
    turn(0.002, 600)
    assert desk.alarms() == []


@pytest.mark.usefixtures("often")
def test_no_two_alarms_say_the_same(sounding: Sounding) -> None:
    """Together they are a line each, each cause by its own name."""
    sounding.voice.lost = RATE // 4
    sounding.voice.sounds = "clipping"
    sounding.recorder._track._min_free_bytes = 10**18
    sounding.until(lambda: len(sounding.alarms()) == 3)
    assert {alarm.split(":")[0] for alarm in sounding.alarms()} == {
        "Sound was lost", "Too loud", "Disk almost full",
    }  # fmt: skip
    sounding.plug.pull()
    sounding.until(lambda: sounding.alarms()[0].startswith("The microphone was unplugged"))
    assert len(sounding.alarms()) == 4


def test_every_alarm_says_what_to_do() -> None:
    """In a line of its own words, or in those that its detail always has."""
    known = alarms.RAISED.keys() | alarms.SOUND | {"device", "gap", "close", "screen"}
    assert known - alarms.ADVICE.keys() == {
        *("audio_clipping", "close", "consent_not_stored", "network_drive", "quota_full")
    }, "the words of these say it"
    assert alarms.ADVICE.keys() <= known


def event_of(raised: AlarmRaised | AlarmCleared, seq: int = 1) -> Event:
    return Event(
        seq, 1, 0, "2026-01-01T00:00:00Z", "program", raised.kind, raised.version, None, None, None,
        raised.as_dict(),
    )  # fmt: skip


@pytest.mark.parametrize("code", alarms.RAISED)
def test_every_alarm_has_a_sentence_and_a_deviation(code: str) -> None:
    """Also one whose detail says it all."""
    event = event_of(AlarmRaised(code, "This is so."))
    standing, log = alarms.Alarms(), DeviationLog()
    assert standing.apply(event)
    (alarm,) = standing.visible()
    assert "This is so." in alarm.sentence
    assert not alarm.sentence.startswith(":")
    assert log.apply(event)
    assert "This is so." in log.lines()[-1][1]


@pytest.mark.parametrize("code", [*alarms.RAISED, "of_a_package"])
def test_alarms_of_a_code_about_two_things_are_two_and_each_has_its_end(code: str) -> None:
    """Such as those of two quotas."""
    standing, log = alarms.Alarms(), DeviationLog()

    def tell(seq: int, payload: AlarmRaised | AlarmCleared) -> set[str]:
        event = event_of(payload, seq)
        standing.apply(event)
        log.apply(event)
        return {alarm.detail for alarm in standing.visible()}

    for seq, about in enumerate(("experts", "young"), start=1):
        assert about in "".join(tell(seq, AlarmRaised(code, f"It is {about}.", about=about)))
    again = AlarmRaised(code, "It is still experts.", about="experts")
    assert tell(3, again) == {"It is still experts.", "It is young."}
    assert tell(4, AlarmCleared(code)) == {"It is still experts.", "It is young."}
    assert tell(5, AlarmCleared(code, "young")) == {"It is still experts."}


def test_no_end_of_an_alarm_is_lost(sounding: Sounding) -> None:
    """At 1366×768 and 150 % the window is 911 wide: each sentence is there in full, and nothing
    lies over anything."""
    console = sounding.console
    console.resize(911, 512)
    for code in ("program_error", "microphone_failed", "lsl_failed", "journal_stalled"):
        sounding.runner.emit(AlarmRaised(code, "it is " + "long and " * 20 + "ends here"))
    sounding.until(lambda: len(sounding.alarms()) == 4)
    bottom = 0
    for chip in console.alarms.chips:
        assert "ends here" in chip.text.text()
        needed = chip.text.heightForWidth(chip.text.width())
        assert chip.text.height() >= needed, chip.text.text()
        assert chip.y() >= bottom
        bottom = chip.y() + chip.height()
    assert bottom <= console.alarms.height()


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Error opening RawInputStream: Device unavailable [PaErrorCode -9985]", "another program"),
        (
            "Error starting: Host error [PaErrorCode -9999]: 'No such device' [ALSA error -19]",
            "the sound system cannot use it",
        ),
        ("Invalid sample rate [PaErrorCode -9997]", "it does not offer the format that is needed"),
        ("Something that came later [PaErrorCode -12345]", "the sound system reports an error"),
    ],
)
def test_codes_of_portaudio_are_said_in_plain_words(said: str, plain: str) -> None:
    whole = f"The microphone 'x' could not be opened: {said}."
    for text in (in_words(said), detail_of({"detail": whole})):
        assert plain in text
        assert "PaErrorCode" not in text
        assert "Error " not in text
    assert in_words("The disk is full.") == "The disk is full"


LEFT = Qt.MouseButton.LeftButton


def lines(found: TimedList) -> list[tuple[str, str]]:
    """Time and words, oldest first, after that the room has no microphone."""
    shown = [found.item(place).data(LINE_ROLE) for place in range(found.count())]
    first, *rest = [(line.time, line.text) for line in reversed(shown)]
    assert first[1].startswith("Without sound: the study does not record sound")
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
        ("0:15", "Microphone unplugged: Jabra: unplugged, 0:07"),
        ("0:22", "Disk almost full: 12 MB free, 0:03"),
        ("0:22", "Participant’s window lost the keyboard, 0:03"),
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
    shown = "Participant’s window lost the keyboard: 3 times, 0:06 in all"
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


class Streams:
    received = False

    def close(self) -> None:
        """Nothing is open."""


def test_what_is_sent_to_other_devices_is_told_and_only_then(desk: Desk) -> None:
    fact = desk.console.voice.facts["lsl"]
    desk.console.refresh()
    assert fact.isHidden()
    streams = desk.runner.streams = Streams()
    desk.runner.emit(LslOpened("6a", ("labapp-events",), "1.18"))
    desk.console.refresh()
    assert not fact.isHidden()
    assert fact.full() == "! no receiver"
    streams.received = True
    for _ in range(SECOND_TICKS):
        desk.console.refresh()
    assert fact.full() == "received"
    desk.runner.emit(AlarmRaised("lsl_failed", "Events are no longer sent over LSL: gone"))
    desk.console.refresh()
    assert fact.full() == "! Events are no longer sent over LSL: gone"
    assert "LSL failed" in desk.alarms()[-1]
    desk.runner.emit(LslOff("The package pylsl is not installed"))
    desk.console.refresh()
    assert fact.full() == "! The package pylsl is not installed"


def test_events_that_are_sent_are_told_to_be_open_to_the_network() -> None:
    def none() -> None:
        return None

    def missing() -> LslError:
        return LslError("pylsl is not installed.", todo="Install it.")

    assert checklist.lsl_row("off", missing) == ChecklistRow("lsl", "ok", "", required=False)
    row = checklist.lsl_row("required", none)
    assert (row.state, "unencrypted" in row.text) == ("ok", True)
    row = checklist.lsl_row("required", missing)
    assert (row.state, row.blocks, row.text) == (
        "missing",
        True,
        "pylsl is not installed. Install it.",
    )
    assert checklist.readiness([row]).why == "To start, you still need LSL."
    row = checklist.lsl_row("optional", missing)
    assert (row.state, row.blocks) == ("warn", False)
