"""The drawn voice of earlier runs lies at the times of the sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from labapp.base.clock import NS
from labapp.record.audio.pyramid import envelope
from labapp.record.events import Event

RATE = 8000


def event(seq: int, kind: str, **payload: object) -> Event:
    return Event(seq, 1, seq, "", "system", kind, 1, None, None, None, payload)


def test_a_loud_second_is_found_where_it_was(tmp_path: Path) -> None:
    samples = np.zeros(4 * RATE, dtype=np.int16)
    samples[2 * RATE : 3 * RATE] = 16384
    soundfile.write(tmp_path / "a.wav", samples, RATE, subtype="PCM_16")
    anchors = [
        [frame, frame / RATE, 10 * NS + frame * NS // RATE] for frame in range(0, 32000, 800)
    ]
    events = [
        event(1, "audio.started", file="a.wav", nominal_rate=RATE),
        event(2, "audio.block", file="a.wav", anchors=anchors),
        event(3, "audio.started", file="missing.wav", nominal_rate=RATE),
    ]
    peaks = envelope(tmp_path, events)
    assert len(peaks) == 80
    loud = [t_ns / NS for t_ns, peak in peaks if peak > 0.4]
    assert abs(loud[0] - 12.0) < 0.06
    assert abs(loud[-1] - 12.95) < 0.06
    assert max(peak for _, peak in peaks) == 0.5


@pytest.mark.parametrize("content", [b"", b"RIFF", b"no sound at all" * 9, "stereo", "cut off"])
def test_what_is_no_sound_of_ours_is_left_out(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "a.wav"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        samples = np.full((RATE, 2) if content == "stereo" else RATE, 16384, np.int16)
        soundfile.write(path, samples, RATE, subtype="PCM_16")
    if content == "cut off":
        path.write_bytes(path.read_bytes()[: 44 + RATE + 1])
    anchors = [[frame, frame / RATE, frame * NS // RATE] for frame in range(0, RATE, 800)]
    events = [
        event(1, "audio.started", file="a.wav", nominal_rate=RATE),
        event(2, "audio.block", file="a.wav", anchors=anchors),
    ]
    assert len(envelope(tmp_path, events)) == (10 if content == "cut off" else 0)
