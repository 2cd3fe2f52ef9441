"""A clip is the session's sound, without what is redacted, and only where it is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from labapp.base.clock import NS
from labapp.base.errors import LabappError, TargetExists
from labapp.coding.annotations.redacting import handed_out, redact
from labapp.coding.sound import write_clip
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.withdrawal import withdraw
from tests.helpers.recorded_sounds import RATE, Take, sounding_session


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
    (made,) = handed_out(session.parent)
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
        with pytest.raises(LabappError, match="did not agree that their voice is passed on"):
            write_clip(record, 3 * NS, 4 * NS, out)
    assert out.exists() == allowed
    assert len(handed_out(Path(record.source).parent)) == allowed


def test_nothing_of_a_session_that_was_withdrawn(session: Path, tmp_path: Path) -> None:
    withdraw(session, tmp_path / "private", delete=False)
    with pytest.raises(LabappError, match="withdrew"):
        write_clip(open_record(session), 3 * NS, 4 * NS, tmp_path / "clip.wav")


@pytest.mark.parametrize(
    ("t0_s", "t1_s", "told"),
    [(5, 5, "no stretch"), (6, 5, "no stretch"), (5, 50, "no stretch"), (25, 30, "No sound of")],
)
def test_times_without_sound(
    session: Path, tmp_path: Path, t0_s: int, t1_s: int, told: str
) -> None:
    out = tmp_path / "clip.wav"
    with pytest.raises(LabappError, match=told):
        write_clip(open_record(session), t0_s * NS, t1_s * NS, out)
    assert not out.exists()


def test_a_place_that_cannot_be_written(session: Path, tmp_path: Path) -> None:
    with pytest.raises(LabappError, match="cannot be written"):
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
        (["3", "x", "--out", "y.wav"], "is no time"),
        (["3", "4", "--out", str(out)], "exists already"),
    ):
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.returncode in (2, 3)
        assert told in done.stderr
