"""The recording with a real sound server, PortAudio, and a voice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from labapp.base.clock import SessionClock
from labapp.base.errors import NoMicrophone
from labapp.record.audio.check import MicrophoneProbe, loopback, record_test
from labapp.record.audio.devices import choose, list_devices
from labapp.record.audio.recorded_sound import RecordedSound, check_blocks, repair_wav
from labapp.record.audio.recorder import Recorder
from labapp.record.audio.speech import utterances
from labapp.record.events.voice import (
    AudioBlock,
    AudioDeviceBack,
    AudioDeviceLost,
    AudioGap,
    AudioStarted,
    AudioState,
    AudioStopped,
)
from labapp.record.journal.layout import FolderTree
from tests.helpers.waiting import wait_for
from tests.helpers.wavs import read_wav_info
from tests.record.audio.fakes import Told
from tests.sound import VirtualMicrophone, say

pytestmark = pytest.mark.sound


class Recording(Told):
    """A recorder on the virtual microphone."""

    def __init__(self, folder: Path) -> None:
        self.clock = SessionClock()
        super().__init__()
        self.recorder = Recorder(
            folder,
            1,
            choose(),
            emit=self.events.append,
            from_perf_ns=self.clock.from_perf_ns,
            min_free_bytes=0,
        )
        self.recorder.start()
        self.until(lambda: self.recorder.level().frames > 0)

    def stop(self) -> NDArray[np.int16]:
        self.recorder.stop()
        samples, rate = soundfile.read(self.recorder.path, dtype="int16")
        assert rate == 48000
        assert self.of(AudioStopped)[0].frames == samples.size
        assert check_blocks(self.recorder.path, self.of(AudioBlock)) == (samples.size, ())
        return np.asarray(samples, dtype=np.int16)


def envelope(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """RMS of every 10 ms."""
    step = rate // 100
    blocks = samples[: samples.size - samples.size % step].reshape(-1, step)
    return np.asarray(np.sqrt((blocks**2).mean(axis=1)))


def best_correlation(played: NDArray[np.float64], heard: NDArray[np.float64]) -> float:
    """Highest correlation of the played envelope with any stretch of the heard one."""
    stretches = np.lib.stride_tricks.sliding_window_view(heard, played.size)
    with np.errstate(invalid="ignore"):
        return float(np.nanmax([np.corrcoef(played, s)[0, 1] for s in stretches if s.any()]))


def test_speech_is_recognisable_in_the_file(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    speech = say("The first dial turns the circle into a square.", tmp_path / "speech.wav")
    recording = Recording(tmp_path)
    microphone.play(speech)
    time.sleep(0.5)
    assert recording.recorder.level().envelope
    samples = recording.stop()
    spoken, rate = soundfile.read(speech)
    heard = envelope(samples / 32768.0, 48000)
    assert best_correlation(envelope(spoken, rate), heard) > 0.95
    # Another sentence does not fit as well, so the figure above means something.
    other, rate = soundfile.read(say("Nineteen purple elephants.", tmp_path / "other.wav"))
    assert best_correlation(envelope(other, rate), heard) < 0.9
    assert "heard" in [state.state for state in recording.of(AudioState)]
    assert recording.of(AudioGap) == []


def test_a_sound_server_that_ends_is_a_lost_device_and_recording_goes_on_after(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recording = Recording(tmp_path)
    time.sleep(0.5)
    microphone.stop()
    recording.until(lambda: recording.of(AudioDeviceLost))
    assert recording.recorder.level().state == "lost"
    before = recording.clock.now_ns()
    microphone.start()
    recording.until(lambda: recording.of(AudioDeviceBack))
    lasted = (recording.clock.now_ns() - before) / 1e9
    recording.stop()
    [gap] = recording.of(AudioGap)
    assert gap.cause == "device_lost"
    assert gap.frames / 48000 > lasted - 1.0


def test_what_was_said_is_found_again_at_its_time(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    """Before and after the sound server was away, in one sound on the session's clock."""
    speech = say("The first dial turns the circle into a square.", tmp_path / "speech.wav")
    seconds = soundfile.info(speech).duration
    recording = Recording(tmp_path)
    time.sleep(2.5)
    said = []
    for _ in range(2):
        begins = recording.clock.now_ns()
        microphone.play(speech)
        said.append((begins, recording.clock.now_ns()))
        time.sleep(0.5)
        if len(said) == 1:
            microphone.stop()
            recording.until(lambda: recording.of(AudioDeviceLost))
            microphone.start()
            recording.until(lambda: recording.of(AudioDeviceBack))
            time.sleep(1.0)
    samples = recording.stop()
    names = FolderTree(tmp_path)
    sound = RecordedSound(names.open, recording.events, recording.clock.now_ns())
    assert sound.problems == ()
    assert "device_lost" in {cause for _, _, cause in sound.gaps}
    (span,) = sound.spans
    assert np.array_equal(sound.read(span.t0_ns, samples.size)[:-1], samples[:-1])
    fit = sound.fit(span.file)
    heard = utterances(sound.samples(span.file), sound.rate)
    assert len(heard) == len(said)
    for (t0_s, t1_s), (began, ended) in zip(heard, said, strict=True):
        first, last = (fit.frame_to_ns(at * sound.rate) for at in (t0_s, t1_s))
        assert began <= first < last <= ended + 300_000_000
        assert (last - first) / 1e9 == pytest.approx(seconds, abs=0.4)
    sound.close()


def test_an_unplugged_source_is_noticed_although_the_stream_goes_on(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recording = Recording(tmp_path)
    time.sleep(1.2)
    microphone.unload_source()
    recording.until(lambda: recording.of(AudioDeviceLost))
    assert "mic is gone" in recording.of(AudioDeviceLost)[0].detail
    microphone.load_source()
    recording.until(lambda: recording.of(AudioDeviceBack))
    recording.stop()
    assert [gap.cause for gap in recording.of(AudioGap)] == ["device_lost"]


def test_a_microphone_that_comes_back_at_another_rate_is_recorded_at_that(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    recording = Recording(tmp_path)
    time.sleep(1.2)
    microphone.unload_source()
    recording.until(lambda: recording.of(AudioDeviceLost))
    microphone.load_source(rate=44100)
    try:
        recording.until(lambda: recording.of(AudioDeviceBack))
        microphone.play(say("The second microphone hears this.", tmp_path / "said.wav"))
        time.sleep(1.2)
        recording.recorder.stop()
    finally:
        microphone.unload_source()
        microphone.load_source()
    first, second = recording.of(AudioStarted)
    assert (first.nominal_rate, second.nominal_rate) == (48000, 44100)
    samples, rate = soundfile.read(tmp_path / second.file, dtype="int16")
    assert rate == 44100
    assert samples.any()
    for started, stopped in zip((first, second), recording.of(AudioStopped), strict=True):
        blocks = [b for b in recording.of(AudioBlock) if b.file == started.file]
        assert check_blocks(tmp_path / started.file, blocks) == (stopped.frames, ())


def test_a_muted_source_gives_zeros_and_a_faint_one_is_silent(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    hiss = tmp_path / "hiss.wav"
    soundfile.write(hiss, np.random.default_rng(1).normal(0, 1e-3, 4 * 48000), 48000)
    with closing(MicrophoneProbe(choose(), silent_after_s=1.0)) as probe:
        wait_for(lambda: probe.level().state == "zeros", about=probe.level)
        player = subprocess.Popen(["paplay", "--device=speaker", str(hiss)])
        try:
            wait_for(lambda: probe.level().state == "silent", about=probe.level)
            assert -70 < probe.level().rms_dbfs < -50
        finally:
            player.terminate()
            player.wait(20)


def test_the_probe_notices_that_the_microphone_goes(microphone: VirtualMicrophone) -> None:
    with closing(MicrophoneProbe(choose())) as probe:
        microphone.stop()
        wait_for(lambda: probe.level().state == "lost", about=probe.level)
        assert "no sound" in probe.level().problem


def test_the_doctor_hears_what_it_plays(microphone: VirtualMicrophone) -> None:
    for _ in range(5):  # on a busy machine the tone breaks off: it is softer then, never louder
        check = loopback(choose())
        assert check.heard
        assert check.tone_dbfs < -19.0
        assert check.before_dbfs == -100.0
        if check.tone_dbfs > -21.0:
            break
    assert check.tone_dbfs == pytest.approx(-20.0, abs=1.0)


def test_a_short_test_recording(microphone: VirtualMicrophone) -> None:
    result = record_test(choose(), 0.5)
    assert (result.frames, result.samples.size) == (24000, 24000)
    assert result.zeros
    assert result.peak_dbfs == -100.0


def test_devices_are_listed_anew(microphone: VirtualMicrophone) -> None:
    [pulse] = [d for d in list_devices() if d.name == "pulse"]
    assert (pulse.host_api, pulse.source, pulse.default_rate) == ("ALSA", "mic", 48000)
    microphone.stop()
    assert [d for d in list_devices() if d.source] == []
    with pytest.raises(NoMicrophone):
        choose("pulse")
    microphone.start()
    assert choose("pulse").source == "mic"


def test_a_killed_recording_keeps_all_but_the_last_second(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    child = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("recording_child.py")), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    )
    assert child.stdout is not None
    blocks: list[AudioBlock] = []
    captured = 0
    try:
        for line in child.stdout:
            told = json.loads(line)
            if told["kind"] == "audio.block":
                blocks.append(AudioBlock(**told["payload"]))
            elif told["kind"] == "level":
                captured = told["payload"]["frames"]
            # Somewhere between two syncs, as far from the last one as chance has it.
            if len(blocks) >= 2 and captured > blocks[-1].frames + 20_000:
                break
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(10)
        child.stdout.close()
    path = tmp_path / "audio" / "segment-01.wav"
    report = repair_wav(path, 48000, blocks)
    assert report.whole
    assert report.acknowledged == blocks[-1].frames
    assert report.frames > captured - 48000
    assert report.beyond > 0
    assert read_wav_info(path).whole
    assert soundfile.info(path).frames == report.frames
    assert not repair_wav(path, 48000, blocks).changed
