from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from labapp.record.audio.track import VoiceActivity, dbfs, hear

RATE = 48000
STEP = RATE // 20


def noise(dbfs_: float, seconds: float, seed: int = 1) -> NDArray[np.int16]:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 32768 * 10 ** (dbfs_ / 20), round(seconds * RATE))
    return np.clip(values.round(), -32768, 32767).astype(np.int16)


def feed(
    hearing: VoiceActivity, samples: NDArray[np.int16], silent_after_s: float = 5.0
) -> tuple[VoiceActivity, list[tuple[str, float]]]:
    """The state after these samples, and each change with its time in s."""
    changes = []
    for at in range(0, samples.size, STEP):
        before = hearing
        hearing = hear(
            hearing, samples[at : at + STEP], before.now_ns, RATE, silent_after_s=silent_after_s
        )
        if hearing.state != before.state:
            assert hearing.state is not None
            changes.append((hearing.state, hearing.since_ns / 1e9))
    return hearing, changes


def states(*parts: NDArray[np.int16]) -> list[str]:
    return [state for state, _ in feed(VoiceActivity(), np.concatenate(parts))[1]]


def test_voice_then_silence_then_voice() -> None:
    room, voice = noise(-65, 8), noise(-25, 2)
    hearing, changes = feed(VoiceActivity(), np.concatenate([noise(-65, 1), voice, room, voice]))
    assert [state for state, _ in changes] == ["heard", "silent", "heard"]
    assert changes[0][1] == pytest.approx(1.0)
    # The silence began when the voice ended, not when it was long enough to tell.
    assert changes[1][1] == pytest.approx(3.0, abs=0.1)
    assert hearing.silent_for_s == 0.0


def test_silence_is_counted_from_the_start_if_nobody_ever_spoke() -> None:
    hearing, changes = feed(VoiceActivity(), noise(-70, 6))
    assert changes == [("silent", 0.0)]
    assert hearing.silent_for_s == pytest.approx(6.0)


def test_pauses_between_words_are_no_silence() -> None:
    assert states(*[noise(-25, 0.5), noise(-65, 1.5)] * 8) == ["heard"]


def test_exact_zeros_are_told_apart_from_a_quiet_room() -> None:
    zeros = np.zeros(3 * RATE, np.int16)
    hearing, changes = feed(VoiceActivity(), np.concatenate([noise(-25, 1), zeros]))
    assert [state for state, _ in changes] == ["heard", "zeros"]
    assert changes[1][1] == pytest.approx(1.0)
    assert hearing.peak_dbfs == -100.0
    faint = np.zeros(12 * RATE, np.int16)
    faint[::STEP] = 1
    assert states(faint) == ["silent"]


def test_a_short_dropout_of_zeros_changes_nothing() -> None:
    assert states(noise(-25, 1), np.zeros(RATE // 2, np.int16), noise(-25, 1)) == ["heard"]


def test_clipping_holds_a_while_and_goes() -> None:
    loud = np.clip(noise(-25, 1).astype(np.int32) * 40, -32768, 32767).astype(np.int16)
    assert states(noise(-25, 1), loud, noise(-25, 4)) == ["heard", "clipping", "heard"]


def test_one_full_scale_sample_is_a_click_and_no_clipping() -> None:
    sound = noise(-25, 2)
    sound[RATE] = -32768
    assert states(sound) == ["heard"]


def test_a_steady_hum_becomes_the_room_in_time() -> None:
    hum = (3000 * np.sin(np.arange(60 * RATE) * 2 * np.pi * 100 / RATE)).astype(np.int16)
    assert states(hum) == ["heard", "silent"]


def test_levels_and_envelope() -> None:
    sine = (16384 * np.sin(np.arange(10 * RATE) * 2 * np.pi * 1000 / RATE)).astype(np.int16)
    hearing, _ = feed(VoiceActivity(), sine)
    assert hearing.peak_dbfs == pytest.approx(-6.02, abs=0.01)
    assert hearing.rms_dbfs == pytest.approx(-9.03, abs=0.02)
    assert len(hearing.envelope) == 100
    assert hearing.envelope[-1] == pytest.approx(0.5, abs=1e-3)
    assert dbfs(0.0) == dbfs(1e-9) == -100.0
    assert hear(hearing, np.zeros(0, np.int16), 0, RATE) is hearing
