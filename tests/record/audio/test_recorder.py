from __future__ import annotations

import time
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from labapp.base.clock import SessionClock
from labapp.base.errors import AudioError, JournalFull
from labapp.record.audio import track
from labapp.record.audio.capture import Packet
from labapp.record.audio.recorded_sound import check_blocks
from labapp.record.audio.recorder import Recorder
from labapp.record.audio.track import VoiceActivity
from labapp.record.events import Payload
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised, ProgramStalled
from labapp.record.events.voice import (
    AudioBlock,
    AudioDeviceBack,
    AudioDeviceLost,
    AudioGap,
    AudioStarted,
    AudioState,
    AudioStopped,
)
from tests.record.audio.disk import Disk
from tests.record.audio.fakes import DEVICE, RATE, Plug, Told, Tone, Watcher


@pytest.fixture(autouse=True)
def sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is lost is looked for more often than once a second."""
    monkeypatch.setattr("labapp.record.audio.recorder.RETRY_S", 0.3)


class Session(Told):
    """A recorder on a plug, with every event it emitted."""

    def __init__(self, folder: Path, plug: Plug | None = None, **options: Any) -> None:
        self.plug = plug or Plug()
        self.watcher = Watcher()
        self.clock = SessionClock()
        super().__init__()
        self.recorder = Recorder(
            folder,
            1,
            DEVICE,
            emit=options.pop("emit", self.events.append),
            from_perf_ns=self.clock.from_perf_ns,
            watcher=self.watcher,
            open_input=self.plug.open,
            **{"min_free_bytes": 0, **options},
        )

    def record(self, seconds: float) -> None:
        """Wait until that much more sound was taken in."""
        target = self.recorder.level().frames + seconds * RATE
        self.until(lambda: self.recorder.level().frames >= target)

    def stop(self) -> NDArray[np.int16]:
        """Stop; returns the file's samples, checked against the events."""
        self.recorder.stop()
        assert self.watcher.closed.is_set()
        with wave.open(str(self.recorder.path)) as file:
            assert file.getframerate() == RATE
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        stopped = self.of(AudioStopped)
        assert len(stopped) == 1
        assert stopped[0] is self.events[-1]
        assert stopped[0].frames == samples.size
        blocks = self.of(AudioBlock)
        assert [b.first_frame for b in blocks] == [0, *(b.frames for b in blocks)][: len(blocks)]
        assert check_blocks(self.recorder.path, blocks) == (samples.size, ())
        return samples


def recording(seconds: float, folder: Path, plug: Plug | None = None, **options: Any) -> Session:
    """One that has recorded so much."""
    session = Session(folder, plug, **options)
    session.recorder.start()
    session.record(seconds)
    return session


def test_a_recording_from_start_to_stop(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert session.recorder.level().state == "starting"
    session.recorder.start()
    session.record(2.3)
    level = session.recorder.level()
    assert level.state == "heard"
    assert level.peak_dbfs == pytest.approx(-11.2, abs=0.2)
    assert level.envelope
    session.until(lambda: len(session.of(AudioBlock)) >= 2)
    session.record(0.1)
    samples = session.stop()
    assert session.events[0] == AudioStarted(
        "audio/segment-01.wav", "Test Mic", "Test", RATE, 1, "PCM_16"
    )
    expected = 9000 * np.sin(2 * np.pi * 400 / RATE * np.arange(samples.size))
    assert np.abs(samples - expected).max() <= 1
    assert [s.state for s in session.of(AudioState)] == ["heard"]
    assert session.of(AudioGap) == []
    assert len(session.of(AudioBlock)) >= 3
    assert session.recorder.level().state == "stopped"
    session.recorder.stop()


def test_anchors_say_when_frames_were_captured(tmp_path: Path) -> None:
    session = recording(1.5, tmp_path)
    samples = session.stop()
    anchors = [anchor for block in session.of(AudioBlock) for anchor in block.anchors]
    assert len(anchors) == pytest.approx(samples.size / RATE / track.ANCHOR_S, abs=3)
    first_ns = anchors[0][2]
    for frame, adc_s, t_ns in anchors:
        assert t_ns - first_ns == pytest.approx(frame / RATE * 1e9, abs=1e5)
        assert session.clock.from_perf_ns(round(adc_s * 1e9)) == pytest.approx(t_ns, abs=1e5)


class LateTone(Tone):
    """Every other packet is handed over 30 ms late, as on a busy machine."""

    def take(self) -> list[Packet]:
        packets = super().take()
        late = [packet._replace(perf_ns=packet.perf_ns + 30_000_000) for packet in packets]
        return [
            (packet, after)[round(packet.now_s * 20) % 2]
            for packet, after in zip(packets, late, strict=True)
        ]


def test_anchors_are_those_of_packets_that_were_handed_over_soonest(tmp_path: Path) -> None:
    session = recording(1.5, tmp_path, Plug(LateTone))
    session.stop()
    anchors = [anchor for block in session.of(AudioBlock) for anchor in block.anchors]
    assert len(anchors) >= 8
    for frame, _, t_ns in anchors[1:]:
        assert t_ns - anchors[1][2] == pytest.approx((frame - anchors[1][0]) / RATE * 1e9, abs=1e5)


def test_a_lost_device_is_told_filled_and_found_again(tmp_path: Path) -> None:
    session = recording(0.5, tmp_path)
    session.plug.pull()
    session.until(lambda: session.of(AudioDeviceLost))
    assert session.recorder.level().state == "lost"
    assert "Microphone lost" in session.recorder.level().problem
    time.sleep(0.5)
    session.plug.plugged = True
    session.until(lambda: session.of(AudioDeviceBack))
    session.record(0.5)
    assert session.recorder.level().state == "heard"
    samples = session.stop()
    [gap] = session.of(AudioGap)
    assert gap.cause == "device_lost"
    assert len(session.of(AudioDeviceLost)) == len(session.of(AudioDeviceBack)) == 1
    silence = samples[gap.at_frame : gap.at_frame + gap.frames]
    assert not silence.any()
    assert samples[gap.at_frame - 100 : gap.at_frame].any()
    assert samples[gap.at_frame + gap.frames :].any()
    # Time is kept: the second stream's first frame stands where its clock says.
    first, second = session.plug.streams
    between = second._start - first._start
    assert (gap.at_frame + gap.frames) / RATE == pytest.approx(between, abs=0.005)
    assert session.of(AudioStopped)[0].lost_frames == gap.frames


def test_a_device_that_stays_lost_until_the_end(tmp_path: Path) -> None:
    session = recording(0.5, tmp_path)
    session.plug.pull()
    session.until(lambda: session.of(AudioDeviceLost))
    time.sleep(0.5)
    samples = session.stop()
    [gap] = session.of(AudioGap)
    assert gap.at_frame + gap.frames == samples.size
    assert gap.frames / RATE > 0.4


def test_a_stalled_stream_is_a_lost_device(tmp_path: Path) -> None:
    session = recording(0.3, tmp_path)
    session.plug.streams[-1].mute = True
    session.until(lambda: session.of(AudioDeviceBack))
    session.stop()
    [lost] = session.of(AudioDeviceLost)
    assert "no sound arrived" in lost.detail
    assert session.plug.streams[0].closed


@pytest.mark.parametrize("after_s", [0.0, 0.25])
def test_a_recorder_that_stands_still_is_replaced_and_told(tmp_path: Path, after_s: float) -> None:
    """Also where its last sign of life came after its last sound."""
    session = recording(0.3, tmp_path)
    stream = session.plug.streams[-1]
    stream.mute, stream.beat_ns = True, time.perf_counter_ns() + round(after_s * 1e9)
    since_ns = session.clock.from_perf_ns(stream.beat_ns)
    session.until(lambda: session.of(AudioDeviceBack))
    session.stop()
    [lost] = session.of(AudioDeviceLost)
    assert "froze" in lost.detail
    [still] = session.of(ProgramStalled)
    assert (still.who, still.from_ns, still.left_out) == ("recorder", since_ns, False)
    assert still.duration_ns > (1 - after_s) * 1e9
    assert session.plug.streams[0].closed


def test_a_microphone_that_gives_nothing_is_no_standstill(tmp_path: Path) -> None:
    session = recording(0.3, tmp_path)
    stream = session.plug.streams[-1]
    stream.mute, stream.beat_ns = True, time.perf_counter_ns() + 10**12  # it goes on living
    session.until(lambda: session.of(AudioDeviceBack))
    session.stop()
    assert not session.of(ProgramStalled)


def test_a_moved_stream_is_a_lost_device(tmp_path: Path) -> None:
    session = recording(0.3, tmp_path)
    session.watcher.there = False
    session.watcher.reason = "mic is gone; moved to monitor"
    session.until(lambda: session.of(AudioDeviceLost))
    time.sleep(0.5)
    assert len(session.plug.streams) == 1
    session.watcher.there = True
    session.until(lambda: session.of(AudioDeviceBack))
    assert session.watcher.following == 2
    session.stop()
    assert session.of(AudioDeviceLost)[0].detail == "mic is gone; moved to monitor"


def test_a_device_that_comes_back_with_another_rate_has_a_file_of_its_own(tmp_path: Path) -> None:
    session = recording(0.5, tmp_path)
    session.plug.make = lambda: Tone(rate=2 * RATE)
    session.plug.streams[-1].finished = True
    session.until(lambda: session.of(AudioDeviceBack))
    before = session.recorder.level().frames / session.recorder.level().rate
    session.until(lambda: session.recorder.level().frames / (2 * RATE) > before + 0.5)
    session.recorder.stop()
    first, second = session.of(AudioStarted)
    assert (first.file, first.nominal_rate) == ("audio/segment-01.wav", RATE)
    assert (second.file, second.nominal_rate) == ("audio/segment-01-2.wav", 2 * RATE)
    stops = session.of(AudioStopped)
    for started, stopped in zip((first, second), stops, strict=True):
        assert stopped.file == started.file
        with wave.open(str(tmp_path / started.file)) as file:
            assert (file.getframerate(), file.getnframes()) == (
                started.nominal_rate,
                stopped.frames,
            )
        blocks = [block for block in session.of(AudioBlock) if block.file == started.file]
        assert check_blocks(tmp_path / started.file, blocks) == (stopped.frames, ())
    # The first file reaches with silence to where the second begins, which has anchors of its own.
    [gap] = session.of(AudioGap)
    assert (gap.file, gap.cause) == (first.file, "device_lost")
    assert gap.at_frame + gap.frames == stops[0].frames
    anchor = next(block.anchors[0] for block in session.of(AudioBlock) if block.file == second.file)
    ends = session.clock.from_perf_ns(round(session.plug.streams[0]._start * 1e9))
    assert anchor[2] / 1e9 == pytest.approx(ends / 1e9 + stops[0].frames / RATE, abs=0.3)
    kinds = [type(event) for event in session.events]
    assert kinds.count(AudioDeviceLost) == kinds.count(AudioDeviceBack) == 1
    level = session.recorder.level()
    assert level.frames / level.rate == pytest.approx(
        stops[0].frames / RATE + stops[1].frames / (2 * RATE), abs=0.01
    )
    assert session.recorder.again().name == "audio/segment-01-3.wav"


def test_a_new_file_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    session = recording(0.3, tmp_path)
    taken = tmp_path / "audio/segment-01-2.wav"
    taken.write_bytes(b"somebody else's")
    session.plug.make = lambda: Tone(rate=2 * RATE)
    session.plug.streams[-1].finished = True
    session.until(lambda: len(session.plug.streams) >= 3)
    assert "exists" in session.recorder.level().problem
    assert session.of(AudioDeviceBack) == []
    session.plug.make = Tone
    session.until(lambda: session.of(AudioDeviceBack))
    session.stop()
    assert taken.read_bytes() == b"somebody else's"
    # Time is kept, however often it was tried: one gap reaches to the stream that fits again.
    [gap] = session.of(AudioGap)
    between = session.plug.streams[-1]._start - session.plug.streams[0]._start
    assert (gap.at_frame + gap.frames) / RATE == pytest.approx(between, abs=0.005)


def test_a_full_disk_is_an_alarm_and_loses_nothing(tmp_path: Path, disk: Disk) -> None:
    session = recording(0.3, tmp_path)
    disk.room = 0
    session.until(lambda: session.of(AlarmRaised))
    assert "space" in session.recorder.level().problem
    session.record(1.0)
    disk.room = None
    session.until(lambda: session.of(AlarmCleared))
    assert session.recorder.level().problem == ""
    samples = session.stop()
    assert [a.code for a in session.of(AlarmRaised)] == ["sound_write_failed"]
    expected = 9000 * np.sin(2 * np.pi * 400 / RATE * np.arange(samples.size))
    assert np.abs(samples - expected).max() <= 1
    assert session.of(AudioGap) == []


def test_a_disk_that_stays_full_keeps_what_fitted(tmp_path: Path, disk: Disk) -> None:
    session = recording(0.3, tmp_path)
    disk.room = 1001
    session.until(lambda: session.of(AlarmRaised))
    samples = session.stop()
    [stopped] = session.of(AudioStopped)
    assert stopped.frames == samples.size
    assert stopped.lost_frames > 0


def test_little_free_space_is_an_alarm(tmp_path: Path) -> None:
    session = Session(tmp_path, min_free_bytes=1 << 60)
    session.recorder.start()
    session.until(lambda: session.of(AlarmRaised))
    session.record(0.2)
    session.stop()
    assert [a.code for a in session.of(AlarmRaised)] == ["sound_disk_low"]


def test_a_journal_that_refuses_events_gets_them_later_in_order(tmp_path: Path) -> None:
    taken: list[Payload] = []
    refusing = True

    def emit(payload: Payload) -> None:
        if refusing and not isinstance(payload, AudioStarted):
            raise JournalFull("The journal is full.")
        taken.append(payload)

    session = Session(tmp_path, emit=emit)
    session.events = taken
    session.recorder.start()
    session.record(2.2)
    assert len(taken) == 1
    refusing = False
    session.until(lambda: len(taken) >= 3)
    session.stop()
    assert session.of(AudioBlock)[0].first_frame == 0


def test_stereo_becomes_the_mean_of_both(tmp_path: Path) -> None:
    session = recording(0.3, tmp_path, Plug(lambda: Tone(channels=2)))
    samples = session.stop()
    expected = 9000 * np.sin(2 * np.pi * 400 / RATE * np.arange(samples.size))
    assert np.abs(samples - expected).max() <= 1


def test_an_existing_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "audio" / "segment-01.wav"
    path.parent.mkdir()
    path.write_bytes(b"precious")
    session = Session(tmp_path)
    with pytest.raises(AudioError, match="never overwritten"):
        session.recorder.start()
    assert path.read_bytes() == b"precious"
    assert session.plug.streams[0].closed
    assert session.events == []
    session.recorder.stop()


def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audio").write_text("a file in its place")
    session = Session(tmp_path)
    with pytest.raises(AudioError, match="cannot be created"):
        session.recorder.start()


def test_no_microphone_leaves_no_file(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.plug.plugged = False
    with pytest.raises(AudioError):
        session.recorder.start()
    assert list(tmp_path.iterdir()) == []


def test_a_lost_queue_is_a_gap_to_the_frame(tmp_path: Path) -> None:
    events: list[Payload] = []
    sound = track.Track(
        tmp_path / "a.wav",
        "audio/a.wav",
        RATE,
        out=track.Outbox(events.append),
        from_perf_ns=lambda ns: ns,
        min_free_bytes=0,
        silent_after_s=15.0,
    )
    tone = Tone()
    time.sleep(0.35)
    packets = tone.take()
    packets[3] = packets[3]._replace(dropped=777)
    sound.take(packets)
    sound.end_stream()
    sound.close()
    block = RATE // 20
    assert [e for e in events if isinstance(e, AudioGap)] == [
        AudioGap("audio/a.wav", 3 * block, 777, "queue")
    ]
    assert sound.frames == len(packets) * block + 777
    assert sound.hearing != VoiceActivity()


def test_the_next_recording_of_a_run_has_a_file_of_its_own(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.plug.plugged = False
    with pytest.raises(AudioError):
        session.recorder.start()
    session.recorder = session.recorder.again()
    assert session.recorder.name == "audio/segment-01.wav", "nothing was recorded so far"
    session.plug.plugged = True
    session.recorder.start()
    session.record(0.2)
    second = session.recorder.again()
    session.recorder.stop()
    first = (tmp_path / "audio" / "segment-01.wav").read_bytes()
    second.start()
    third = second.again()
    second.stop()
    assert [payload.file for payload in session.of(AudioStarted)] == [
        "audio/segment-01.wav",
        "audio/segment-01-2.wav",
    ]
    assert third.name == "audio/segment-01-3.wav"
    assert (tmp_path / "audio" / "segment-01.wav").read_bytes() == first


def test_a_listener_hears_every_stream_until_the_recorder_stops(tmp_path: Path) -> None:
    session = Session(tmp_path)
    heard: list[tuple[int, int, Packet]] = []
    packet = Packet(1, 0.0, 0.05, False, 0, b"\1\0" * 400)
    session.recorder.overhear = lambda *what: heard.append(what)
    session.recorder.start()
    session.plug.streams[-1].overhear(packet)
    assert heard == [(RATE, 1, packet)]
    session.plug.pull()
    session.until(lambda: session.of(AudioDeviceLost))
    session.plug.plugged = True
    session.until(lambda: len(session.plug.streams) == 2)
    session.until(lambda: session.plug.streams[-1].overhear is not None)
    session.plug.streams[-1].overhear(packet)
    assert len(heard) == 2
    assert session.recorder.again().overhear is session.recorder.overhear
    session.recorder.stop()
    session.plug.streams[-1].overhear(packet)
    assert len(heard) == 2


def test_a_listener_that_fails_is_let_go_and_the_recording_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(tmp_path)

    def fail(rate: int, channels: int, packet: Packet) -> None:
        raise RuntimeError("a listener")

    session.recorder.overhear = fail
    session.recorder.start()
    session.plug.streams[-1].overhear(Packet(1, 0.0, 0.05, False, 0, b"\1\0"))
    assert session.recorder.overhear is None
    assert "a listener" in capsys.readouterr().err
    session.record(0.2)
    session.stop()
