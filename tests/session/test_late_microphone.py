"""A microphone that comes late is taken when somebody says so; the journal says from when."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis.deviations import fold_deviations, fold_totals
from labapp.base.clock import NS, Clock, FakeClock
from labapp.base.errors import AudioError
from labapp.record.audio import devices
from labapp.record.audio.devices import Device, MicrophoneFinder
from labapp.record.audio.recorder import Recorder, next_take
from labapp.record.events import payload_of
from labapp.record.events.commands import DeclineConsent
from labapp.record.journal.opening import open_record
from labapp.session.folder import SessionFolder
from labapp.session.opening import EmitBody, MakeRecorder, OpenSession
from labapp.session.resuming import read_verified_events
from tests.helpers.waiting import wait_for
from tests.record.audio.fakes import DEVICE, Plug, Watcher
from tests.session.sessions import opened, resume_session, spin
from tests.session.test_resume import drop

GONE = "No microphone was found."


class Desk:
    """A session without sound, and a microphone that may be plugged in."""

    def __init__(self, tmp_path: Path, **changes: Any) -> None:
        self.plug = Plug()
        self.clock = FakeClock()
        self.session = opened(
            tmp_path, clock=self.clock, make_late=self.late, no_sound=GONE, **changes
        )
        self.session.begin()

    def late(self, device: Device) -> MakeRecorder:
        def make(folder: SessionFolder, segment: int, emit: EmitBody, clock: Clock) -> Recorder:
            return Recorder(
                folder.path,
                segment,
                device,
                emit=emit,
                from_perf_ns=clock.from_perf_ns,
                watcher=Watcher(),
                open_input=self.plug.open,
                min_free_bytes=0,
                take=next_take(folder.path, segment),
            )

        return make

    def record(self) -> None:
        self.session.record_with(DEVICE)
        assert not self.session.wants_microphone, "one is being opened"
        spin(self.session, lambda: self.session._late is None)


def test_it_records_from_then_on_and_everything_says_from_when(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert not desk.session.wants_microphone, "nobody has agreed yet"
    desk.session.give_consent("Ada")
    assert desk.session.wants_microphone
    desk.clock.advance(30)
    desk.record()
    assert desk.session.recording
    assert not desk.session.wants_microphone
    desk.clock.advance(20)
    desk.session.close("over")
    path = desk.session.folder.path
    events = [(event, payload_of(event)) for event in read_verified_events(path)]
    [started] = [event for event, _ in events if event.kind == "audio.started"]
    assert started.t_ns >= 30 * NS
    [none] = [d for d in fold_deviations(events) if d.kind == "no_sound"]
    assert none.duration_s == pytest.approx(started.t_ns / NS, abs=1)
    assert fold_totals(events).no_sound_because == ""
    outline = open_record(path).outline
    assert outline.silent_because is None
    assert [sound.file for sound in outline.audio] == ["audio/segment-01.wav"]


def test_a_session_in_which_a_microphone_came_late_goes_on_with_sound(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.give_consent("Ada")
    desk.record()
    assert desk.session.runner.recorder is not None
    desk.session.runner.recorder.stop()
    path = drop(desk.session)
    made: list[Any] = []

    def again(*around: Any) -> Any:
        made.append(around)
        return desk.late(DEVICE)(*around)

    session = resume_session(tmp_path, path, make_recorder=again)
    session.begin()
    assert made
    assert session.recording
    session.close("over")


def test_one_that_does_not_open_is_an_alarm_and_the_next_one_ends_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.give_consent("Ada")
    desk.plug.plugged = False
    desk.record()
    assert not desk.session.recording
    assert desk.session.wants_microphone
    desk.plug.plugged = True
    desk.record()
    assert desk.session.recording
    desk.session.close("over")
    kinds = [event.kind for event in read_verified_events(desk.session.folder.path)]
    assert kinds.count("alarm.raised") == kinds.count("alarm.cleared") == 1


def test_another_microphone_takes_the_place_of_one_that_is_gone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.session.give_consent("Ada")
    desk.record()
    recorder = desk.session.runner.recorder
    assert recorder is not None
    wait_for(lambda: recorder.level().state == "heard")
    desk.plug.pull()
    wait_for(lambda: desk.session.wants_microphone)
    desk.plug.plugged = True
    desk.record()
    assert desk.session.runner.recorder is not recorder
    desk.session.close("over")
    files = [
        event.payload["file"]
        for event in read_verified_events(desk.session.folder.path)
        if event.kind == "audio.started"
    ]
    assert files == ["audio/segment-01.wav", "audio/segment-01-2.wav"]


@pytest.mark.parametrize("answer", ["declined", "no audio", "nobody wants sound"])
def test_nobody_is_recorded_who_did_not_agree_or_where_sound_is_off(
    tmp_path: Path, answer: str
) -> None:
    desk = Desk(tmp_path)
    session: OpenSession = desk.session
    if answer == "declined":
        session.runner.send(DeclineConsent())
    elif answer == "no audio":
        session.give_consent("Ada")
        session.runner.state = replace(session.runner.state, agreed={"audio": False})
    else:
        session.give_consent("Ada")
        session._make_late = None
    assert not session.wants_microphone
    session.record_with(DEVICE)
    assert session.runner.recorder is None
    assert not session.recording
    session.close("over")


def listing(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[int]:
    """A sound server with these sources; returns how often devices were listed."""
    listed: list[int] = []
    found = [
        devices.SoundSource(number, name, name, 48000, 1, monitor=name.endswith(".monitor"))
        for number, name in enumerate(names)
    ]
    monkeypatch.setattr(devices, "list_sources", lambda: found)

    def devices_now(**_: Any) -> list[Device]:
        listed.append(1)
        there = [source for source in found if not source.monitor]
        return [Device(0, "default", "ALSA", 1, 48000, True, s.name, s.name) for s in there]

    monkeypatch.setattr(devices, "list_devices", devices_now)
    monkeypatch.setattr(devices, "LOOK_S", 0.01)
    return listed


def test_a_finder_finds_what_is_there_and_not_what_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = listing(monkeypatch, "speaker.monitor", "mic")
    gone = Device(0, "default", "ALSA", 1, 48000, True, "mic", "mic")
    finder, other = MicrophoneFinder(), MicrophoneFinder(other_than=gone)
    wait_for(lambda: finder.found and len(listed) >= 2)
    time.sleep(0.1)
    assert finder.found.source == "mic"
    assert other.found is None, "its recorder looks for it itself"
    assert len(listed) == 2, "devices are listed again only when something came or went"
    finder.close()
    other.close()


def test_what_a_loudspeaker_plays_is_no_microphone(monkeypatch: pytest.MonkeyPatch) -> None:
    listing(monkeypatch, "speaker.monitor")
    assert devices.microphones() == []
    finder = MicrophoneFinder()
    time.sleep(0.1)
    assert finder.found is None
    finder.close()


def test_a_finder_outlives_a_sound_system_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    listing(monkeypatch, "mic")

    def fails(**_: Any) -> list[Device]:
        raise AudioError("No sound system.")

    monkeypatch.setattr(devices, "list_devices", fails)
    finder = MicrophoneFinder()
    time.sleep(0.1)
    assert finder.found is None
    assert finder._thread.is_alive()
    finder.close()
