"""The session's sound: clips, waveforms and times."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.base.errors import LabappError, TargetExists, UsageError
from labapp.coding.annotations.model import time_ns, time_text
from labapp.coding.annotations.redacting import read_handed_out, redact
from labapp.coding.sound import SessionSound, write_clip
from labapp.record.audio import recorded_sound
from labapp.record.audio.capture import HEADER_BYTES, wav_header
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.withdrawal import withdraw
from tests.helpers.journals import golden_session
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.recorded_sounds import RATE, Take, name_of, sounding_session


def noise(seconds: float, seed: int = 0, rate: int = RATE) -> NDArray[np.int16]:
    """Every sample different from its neighbours, and none zero."""
    rng = np.random.default_rng(seed)
    return np.where((s := rng.integers(-9000, 9000, round(seconds * rate))) == 0, 1, s).astype("i2")


def sound_of(folder: Path) -> SessionSound:
    return SessionSound(open_record(folder))


def ns(seconds: float) -> int:
    return round(seconds * NS)


def test_a_sample_is_read_at_its_time(tmp_path: Path) -> None:
    take = Take(noise(10), start_s=2.5)
    sound = sound_of(sounding_session(tmp_path, take, end_s=20))
    assert sound.rate == RATE
    assert (sound.begin_ns, sound.end_ns) == (0, ns(20))
    assert [(s.t0_ns, s.t1_ns, s.file) for s in sound.spans] == [(ns(2.5), ns(12.5), name_of(1))]
    assert sound.gaps == ((0, ns(2.5), "not_recorded"), (ns(12.5), ns(20), "not_recorded"))
    assert sound.problems == ()
    assert np.array_equal(sound.read(ns(2.5), 10 * RATE), take.samples)
    read = sound.read(ns(1.5), 3 * RATE)
    assert not read[:RATE].any()
    assert np.array_equal(read[RATE:], take.samples[: 2 * RATE])
    assert not sound.read(ns(-5), RATE).any()
    assert not sound.read(ns(500), RATE).any()
    assert sound.read(ns(12), 0).size == 0
    sound.close()
    assert not sound.read(ns(5), RATE).any()


@settings(max_examples=examples(15))
@given(st.floats(-200, 200), st.integers(0, 90 * RATE), st.integers(1, 3000))
def test_a_clock_that_runs_differently(
    tmp_path_factory: pytest.TempPathFactory, ppm: float, frame: int, frames: int
) -> None:
    """Every sample that is read was captured within half a sample of its session time."""
    ramp = np.arange(90 * RATE, dtype=np.int64)
    take = Take((ramp % 30_000).astype(np.int16), start_s=1.25, ppm=ppm)
    sound = sound_of(sounding_session(tmp_path_factory.mktemp("s"), take, end_s=100))
    at_ns = ns(take.heard_s(frame))
    read = sound.read(at_ns, frames).astype(np.int64)
    there = np.arange(frames) * 1e9 / sound.rate + at_ns
    exact = (there / 1e9 - take.start_s) * take.true_rate
    inside = (exact > 0) & (exact < take.samples.size - 1)
    off = (read - exact + 15_000) % 30_000 - 15_000
    assert np.abs(off[inside]).max(initial=0.0) <= 0.51
    assert sound.fit(name_of(1)).rate == pytest.approx(take.true_rate, rel=2e-6)


def test_long_sound_does_not_drift(tmp_path: Path) -> None:
    """90 minutes (by day 15) at 100 ppm, a click every half minute: each within a frame of its
    time."""
    rate, ppm, minutes = 1000, 100.0, 90 if EVERYTHING else 15
    take = Take(np.zeros(minutes * 60 * rate, np.int16), start_s=0.5, rate=rate, ppm=ppm)
    clicks = np.arange(5 * rate, take.samples.size, 30 * rate)
    for beside in (-1, 0, 1):
        take.samples[clicks + beside] = 20_000
    sound = sound_of(sounding_session(tmp_path, take, end_s=60 * minutes + 100))
    heard = np.flatnonzero(sound.read(0, round(sound.end_ns * rate / NS)))
    # Two or three samples of each are left: one in 10,000 is left out.
    times_s = np.array([np.mean(c) for c in np.split(heard, _breaks(heard))]) / rate
    expected_s = np.array([take.heard_s(int(click)) for click in clicks])
    assert times_s.size == clicks.size
    assert np.abs(times_s - expected_s).max() < 1 / rate


def _breaks(places: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(np.diff(places) > 10) + 1


def test_several_files_and_their_gaps(tmp_path: Path) -> None:
    first = Take(noise(8, 1), start_s=1, gaps=((2 * RATE, RATE),))
    first.samples[2 * RATE : 3 * RATE] = 0
    again = Take(noise(5, 2, 16_000), start_s=12, rate=16_000)
    sound = sound_of(sounding_session(tmp_path, first, again, end_s=20))
    assert sound.rate == 16_000
    assert [span.file for span in sound.spans] == [name_of(1), name_of(2)]
    assert sound.gaps == (
        (0, ns(1), "not_recorded"),
        (ns(3), ns(4), "overflow"),
        (ns(9), ns(12), "not_recorded"),
        (ns(17), ns(20), "not_recorded"),
    )
    assert np.array_equal(sound.read(ns(12), 5 * 16_000), again.samples)
    # Of the slower file every second sample is its own.
    assert np.array_equal(sound.read(ns(1), 2 * 16_000)[::2], first.samples[: 2 * RATE])
    assert not sound.read(ns(3), 15_999).any()


def test_files_that_overlap_are_heard_once(tmp_path: Path) -> None:
    one, two = Take(noise(5, 1), start_s=1), Take(noise(5, 2), start_s=4)
    sound = sound_of(sounding_session(tmp_path, one, two, end_s=10))
    assert [(s.t0_ns, s.t1_ns) for s in sound.spans] == [(ns(1), ns(4)), (ns(4), ns(9))]
    expected = np.concatenate((one.samples[: 3 * RATE], two.samples))
    assert np.array_equal(sound.read(ns(1), 8 * RATE), expected)


@pytest.mark.parametrize(
    ("damage", "cause", "words"),
    [
        ("missing", "missing", "is missing"),
        ("folder", "unreadable", "cannot be read: "),
        ("text", "unreadable", "it is not a WAV file"),
        ("stereo", "unreadable", "it has 2 channels of 16 bits"),
        ("half", "cut_off", "ends 5.0 s too early"),
        ("headless", "", ""),
        ("longer", "", "continues for 2.0 s after its recorded end"),
        ("resampled", "other_file", "its rate is 16000 Hz, not 8000 Hz"),
        ("empty", "cut_off", "ends 10.0 s too early"),
        ("odd", "cut_off", "ends 0.0 s too early"),
        ("rate only", "", ""),
    ],
)
def test_a_file_that_is_not_as_it_was(tmp_path: Path, damage: str, cause: str, words: str) -> None:
    take, other = Take(noise(10, 1), start_s=1), Take(noise(4, 2), start_s=12)
    folder = sounding_session(tmp_path, take, other, end_s=20)
    path = folder / name_of(1)
    content = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "folder":
            path.unlink()
            path.mkdir()
        case "text":
            path.write_text("no sound at all " * 100)
        case "stereo":
            path.write_bytes(content[:22] + b"\2" + content[23:])
        case "half":
            path.write_bytes(content[: HEADER_BYTES + 5 * RATE * 2])
        case "headless":
            path.write_bytes(bytes(HEADER_BYTES) + content[HEADER_BYTES:])
        case "longer":
            path.write_bytes(content + noise(2, 3).tobytes())
        case "resampled":
            path.write_bytes(wav_header(16_000, 320_000) + noise(10, 5, 16_000).tobytes())
        case "empty":
            path.write_bytes(b"")
        case "odd":
            path.write_bytes(content[:-1])
        case "rate only":
            path.write_bytes(wav_header(16_000, 160_000) + content[HEADER_BYTES:])
    sound = sound_of(folder)
    causes = {gap[2] for gap in sound.gaps} - {"not_recorded"}
    # A frame that is missing is less than what is listed as a gap.
    assert causes == ({cause} if cause and damage != "odd" else set())
    assert words in (sound.problems[0] if sound.problems else "")
    assert bool(words) == bool(sound.problems)
    assert np.array_equal(sound.read(ns(12), 4 * RATE), other.samples)
    heard = sound.read(ns(1), 11 * RATE)
    whole = {"half": 5 * RATE, "odd": 10 * RATE - 1, "longer": 10 * RATE}
    whole |= {"headless": 10 * RATE, "rate only": 10 * RATE}
    assert np.array_equal(heard[: whole.get(damage, 0)], take.samples[: whole.get(damage, 0)])
    assert not heard[whole.get(damage, 0) :].any()


def test_a_killed_run_is_heard_to_the_last_frame_of_its_file(tmp_path: Path) -> None:
    take = Take(noise(10, 1), start_s=1, stopped=False)
    folder = sounding_session(tmp_path, take, end_s=11)
    more = noise(2, 3)
    with (folder / name_of(1)).open("ab") as file:
        file.write(more.tobytes())
    sound = sound_of(folder)
    assert (sound.problems, sound.end_ns) == ((), ns(13))
    assert np.array_equal(sound.read(ns(11), 2 * RATE), more)


def test_what_is_silenced_is_zeros_and_nothing_else(tmp_path: Path) -> None:
    take = Take(noise(10), start_s=1)
    record = open_record(sounding_session(tmp_path, take, end_s=20))
    sound = SessionSound(record, silenced=[(ns(3), ns(4)), (ns(6.00001), ns(6.00002))])
    heard = sound.read(ns(1), 10 * RATE)
    assert not heard[2 * RATE : 3 * RATE].any()
    zeros = np.flatnonzero(heard == 0)
    assert set(zeros) == {*range(2 * RATE, 3 * RATE), 5 * RATE}


def test_the_same_sound_from_bundles(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    whole = sound_of(folder)
    bundle = export([folder], tmp_path / "bundle", private=tmp_path / "private")
    archive = tmp_path / "bundle.zip"
    export([folder], archive, zip=True, private=tmp_path / "private")
    for place in (bundle, archive):
        sound = sound_of(place)
        assert (sound.spans, sound.gaps, sound.problems) == (whole.spans, whole.gaps, ())
        assert np.array_equal(sound.read(0, 124_000), whole.read(0, 124_000))
        sound.close()
    assert len(whole.spans) == 2
    assert [gap[2] for gap in whole.gaps].count("overflow") == 1


def test_a_bundle_without_sound(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    bundle = tmp_path / "bundle"
    export([folder], bundle, deidentify=True, private=tmp_path / "private")
    sound = sound_of(bundle)
    assert sound.spans == ()
    assert {gap[2] for gap in sound.gaps} == {"not_recorded", "missing", "overflow"} - {"overflow"}
    assert all("is missing" in problem for problem in sound.problems)
    assert not sound.read(0, 1000).any()


def test_a_session_without_sound(tmp_path: Path) -> None:
    sound = sound_of(sounding_session(tmp_path, end_s=30))
    assert (sound.spans, sound.problems) == ((), ())
    assert sound.gaps == ((0, ns(30), "not_recorded"),)
    assert sound.read(0, 100).size == 100


def test_a_moved_folder_while_it_is_open(tmp_path: Path) -> None:
    take = Take(noise(3), start_s=1)
    folder = sounding_session(tmp_path, take, end_s=5)
    sound = sound_of(folder)
    shutil.rmtree(folder)
    assert np.array_equal(sound.read(ns(1), 3 * RATE), take.samples)


@pytest.mark.parametrize("damage", ["", "cut", "other", "no list", "wrong"])
def test_its_place_in_time_is_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    take = Take(noise(90), start_s=1.5, ppm=40, gaps=((RATE, 100),))
    folder = sounding_session(tmp_path, take, Take(noise(3, 1), start_s=95), end_s=100)
    first = sound_of(folder)
    (path,) = (tmp_path / "cache" / "sounds").iterdir()
    match damage:
        case "":
            monkeypatch.setattr(recorded_sound, "fit_clock", None)
        case "cut":
            path.write_bytes(path.read_bytes()[:-1])
        case "other":
            recorded_sound.put(path, b'{"format": 0, "files": []}')
        case "no list":
            recorded_sound.put(path, b"[]")
        case "wrong":
            recorded_sound.put(path, b'{"format": 1, "files": [{"name": 5}]}')
    again = sound_of(folder)
    assert (again.spans, again.gaps, again.rate) == (first.spans, first.gaps, first.rate)
    assert again.fit(name_of(1)) == first.fit(name_of(1))
    assert np.array_equal(again.read(ns(50), 999), first.read(ns(50), 999))
    if damage:
        third = sound_of(folder)
        assert third.spans == first.spans


def take(seconds: float = 20.0) -> Take:
    samples = np.random.default_rng(7).integers(1, 9000, round(seconds * RATE)).astype(np.int16)
    return Take(samples, start_s=2.0, gaps=((10 * RATE, RATE),))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return sounding_session(tmp_path / "data", take(), end_s=40)


def test_a_clip_is_what_was_recorded(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "clip.wav"
    clip = write_clip(open_record(session), 3 * NS, round(5.5 * NS), out)
    samples, rate = soundfile.read(out, dtype="int16")
    assert (rate, samples.size) == (RATE, round(2.5 * RATE))
    assert np.array_equal(samples, take().samples[RATE : round(3.5 * RATE)])
    assert clip.lines() == [f"clip: {out} (2.5 s)"]
    (made,) = read_handed_out(session.parent)
    assert (made.kind, made.file, made.sessions) == ("clip", str(out), (session.name,))


def test_a_clip_longer_than_what_is_written_at_once_is_in_order(tmp_path: Path) -> None:
    """Written 30 s at a time, and each at its own place."""
    samples = np.random.default_rng(7).integers(1, 9000, 70 * RATE).astype(np.int16)
    session = sounding_session(tmp_path / "data", Take(samples, start_s=0.0), end_s=75)
    write_clip(open_record(session), 2 * NS, 67 * NS, tmp_path / "clip.wav")
    written, _ = soundfile.read(tmp_path / "clip.wav", dtype="int16")
    assert np.array_equal(written, samples[2 * RATE : 67 * RATE])


def test_silence_in_it_is_told(session: Path, tmp_path: Path) -> None:
    clip = write_clip(open_record(session), NS, 30 * NS, tmp_path / "clip.wav")
    assert clip.lines()[1:] == [
        "Silent from 0:01.0 to 0:02.0: no sound there (not recorded).",
        "Silent from 0:12.0 to 0:13.0: no sound there (overflow).",
        "Silent from 0:22.0 to 0:30.0: no sound there (not recorded).",
    ]
    assert soundfile.info(tmp_path / "clip.wav").frames == 29 * RATE


def test_what_is_redacted_is_silent(session: Path, tmp_path: Path) -> None:
    redact(session, 4 * NS, 5 * NS, "anna")
    out = tmp_path / "clip.wav"
    clip = write_clip(open_record(session), 3 * NS, 6 * NS, out)
    samples, _ = soundfile.read(out, dtype="int16")
    assert not samples[RATE : 2 * RATE].any()
    beside = round(0.002 * RATE)
    whole = take().samples[RATE : 4 * RATE]
    assert np.array_equal(samples[: RATE - beside], whole[: RATE - beside])
    assert np.array_equal(samples[2 * RATE + beside :], whole[2 * RATE + beside :])
    assert clip.lines()[1] == "1 redaction is silent in it."


def test_a_file_that_is_there_stays_as_it_is(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.wav"
    out.write_text("mine")
    with pytest.raises(TargetExists, match="exists already"):
        write_clip(open_record(session), 3 * NS, 4 * NS, out)
    assert out.read_text() == "mine"


@pytest.mark.parametrize("allowed", [False, True])
def test_consent_decides(tmp_path: Path, allowed: bool) -> None:
    uses = {"audio": True, "share_audio": allowed}
    record = open_record(sounding_session(tmp_path / "data", take(), end_s=40, uses=uses))
    out = tmp_path / "clip.wav"
    if allowed:
        write_clip(record, 3 * NS, 4 * NS, out)
    else:
        with pytest.raises(LabappError, match="did not agree to share their voice"):
            write_clip(record, 3 * NS, 4 * NS, out)
    assert out.exists() == allowed
    assert len(read_handed_out(Path(record.source).parent)) == allowed


def test_nothing_of_a_session_that_was_withdrawn(session: Path, tmp_path: Path) -> None:
    withdraw(session, tmp_path / "private", delete=False)
    with pytest.raises(LabappError, match="withdrew"):
        write_clip(open_record(session), 3 * NS, 4 * NS, tmp_path / "clip.wav")


@pytest.mark.parametrize(
    ("t0_s", "t1_s", "told"),
    [
        (5, 5, "not within"),
        (6, 5, "not within"),
        (5, 50, "not within"),
        (25, 30, "has no sound"),
    ],
)
def test_times_without_sound(
    session: Path, tmp_path: Path, t0_s: int, t1_s: int, told: str
) -> None:
    out = tmp_path / "clip.wav"
    with pytest.raises(LabappError, match=told):
        write_clip(open_record(session), t0_s * NS, t1_s * NS, out)
    assert not out.exists()


def test_a_place_that_cannot_be_written(session: Path, tmp_path: Path) -> None:
    with pytest.raises(LabappError, match="could not be written"):
        write_clip(open_record(session), 3 * NS, 4 * NS, tmp_path / "no" / "clip.wav")


def test_by_command_from_a_bundle(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle", private=tmp_path / "private")
    out = tmp_path / "clip.wav"
    command = [sys.executable, "-m", "labapp", "replay", str(bundle), "--clip"]
    done = subprocess.run(
        [*command, "3", "0:00:04.5", "--out", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"clip: {out} (1.5 s)")
    assert soundfile.info(out).frames == round(1.5 * RATE)
    for options, told in (
        (["3", "4"], "--clip needs a file"),
        (["3", "x", "--out", "y.wav"], "is not a time"),
        (["3", "4", "--out", str(out)], "exists already"),
    ):
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.returncode in (2, 3)
        assert told in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12:34.5", 754.5), ("754.5", 754.5), ("1:02:03", 3723), ("0:00", 0), ("90:00", 5400)],
)
def test_a_time_is_read(text: str, seconds: float) -> None:
    assert time_ns(text) == seconds * NS


@pytest.mark.parametrize("text", ["", "12:", "12:60", "1:60:00", "-3", "1e3", "five", "1:2:3:4"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="not a time"):
        time_ns(text)


@given(st.integers(0, 20_000 * NS))
def test_a_time_comes_back_to_the_digits_that_are_written(t_ns: int) -> None:
    assert time_ns(time_text(t_ns, 9)) == t_ns
    assert 0 <= t_ns - time_ns(time_text(t_ns, 1)) < NS // 10
