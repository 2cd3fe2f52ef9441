"""Where a video lies by its sound: other microphones, noise, lost sound, drift, and nonsense."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from labapp.coding.videos.session import FeatureBuilder, Features, SoundMatch, WrongClock, align
from tests.helpers.made_videos import SPOKEN_RATE, heard_by, speech_like

WORLD = speech_like(400.0, seed=5)
"""What was said, whoever recorded it."""


def features(samples: NDArray[np.int16], piece: int = 30_000) -> Features:
    builder = FeatureBuilder()
    for first in range(0, samples.size, piece):
        builder.add(first, samples[first : first + piece])
    return builder.finish()


def other_microphone(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """A small room, other tone, and an automatic gain."""
    response = np.array([1.0, -0.5, 0.0, 0.3] + [0.0] * 80 + [0.35] + [0.0] * 200 + [0.2])
    heard = np.convolve(samples / 32768.0, response)[: samples.size]
    gain = 0.3 + 0.25 * np.sin(np.arange(samples.size) / SPOKEN_RATE / 7)
    return (np.clip(heard * gain, -1, 1) * 32767).astype(np.int16)


SESSION = features(heard_by(WORLD, 0.0, 380.0, noise=0.01, seed=2))


@pytest.mark.parametrize(
    ("begin_s", "seconds", "ppm", "noise"),
    [
        (12.3456, 360.0, 40.0, 0.01),
        (-15.0, 400.0, -120.0, 0.02),
        (200.0, 40.0, 0.0, 0.01),
        (30.0, 300.0, 40.0, 0.08),
    ],
)
def test_offset_and_drift_are_found(
    begin_s: float, seconds: float, ppm: float, noise: float
) -> None:
    heard = other_microphone(heard_by(WORLD, begin_s, seconds, ppm, noise=noise, seed=3))
    match = align(features(heard), SESSION)
    assert isinstance(match, SoundMatch)
    for video_s in (0.0, seconds / 2, seconds):
        true = begin_s + video_s * (1 + ppm * 1e-6)
        place = match.offset_s + video_s * (1 + match.drift_ppm * 1e-6)
        assert place == pytest.approx(true, abs=0.02)
    assert match.residual_ms < 10
    assert match.confidence > 0.8


@pytest.mark.parametrize(("tail", "noise"), [(0.045, 0.003), (0.09, 0.003), (0.045, 0.1)])
def test_an_echoing_room_does_not_move_it(tail: float, noise: float) -> None:
    random = np.random.default_rng(5)
    times = np.arange(4000) / SPOKEN_RATE
    response = tail * random.standard_normal(4000) * np.exp(-times / 0.12)
    response[0] += 1.0
    heard = fftconvolve(heard_by(WORLD, 30.0, 200.0, 40.0) / 32768.0, response)[: 200 * SPOKEN_RATE]
    heard = 0.5 * heard / np.abs(heard).max() + random.standard_normal(heard.size) * noise
    match = align(features((np.clip(heard, -1, 1) * 32767).astype(np.int16)), SESSION)
    assert isinstance(match, SoundMatch)
    for video_s in (0.0, 200.0):
        true = 30.0 + video_s * (1 + 40e-6)
        place = match.offset_s + video_s * (1 + match.drift_ppm * 1e-6)
        assert place == pytest.approx(true, abs=0.02)


def test_lost_sound_and_pauses_do_no_harm() -> None:
    recorded = heard_by(WORLD, 0.0, 380.0, noise=0.01, seed=2)
    for begins, ends in ((60, 100), (180, 230), (300, 303)):
        recorded[begins * SPOKEN_RATE : ends * SPOKEN_RATE] = 0
    heard = heard_by(WORLD, 20.0, 340.0, 40.0, noise=0.01, seed=3)
    heard[100 * SPOKEN_RATE : 110 * SPOKEN_RATE] = 0
    match = align(features(heard), features(recorded))
    assert isinstance(match, SoundMatch)
    assert match.offset_s == pytest.approx(20.0, abs=0.005)
    assert match.drift_ppm == pytest.approx(40.0, abs=5)


def test_a_video_of_something_else_is_not_placed() -> None:
    other = heard_by(speech_like(300.0, seed=77), 0.0, 290.0, noise=0.01)
    assert align(features(other), SESSION) is None


@pytest.mark.parametrize("seconds", [0.0, 5.0, 120.0])
def test_noise_and_silence_are_not_placed(seconds: float) -> None:
    count = round(seconds * SPOKEN_RATE)
    hiss = (np.random.default_rng(1).standard_normal(count) * 3000).astype(np.int16)
    assert align(features(hiss), SESSION) is None
    assert align(features(np.zeros(count, np.int16)), SESSION) is None


@pytest.mark.parametrize("seconds", [20.0, 40.0, 60.0, 110.0, 300.0])
@pytest.mark.parametrize("ppm", [3000.0, -3000.0])
def test_a_clock_that_is_far_off_is_told_whether_or_not_the_video_is_placed(
    seconds: float, ppm: float
) -> None:
    heard = other_microphone(heard_by(WORLD, 30.0, seconds, ppm, noise=0.01, seed=3))
    match = align(features(heard), SESSION)
    wrong = match.unapplied if isinstance(match, SoundMatch) else match
    assert isinstance(wrong, WrongClock)
    assert wrong.drift_ppm == pytest.approx(ppm, rel=0.25)
    assert wrong.offset_s == pytest.approx(30.0, abs=0.03)


@pytest.mark.parametrize("seconds", [20.0, 60.0, 110.0])
def test_a_clock_that_goes_right_is_not_warned_of(seconds: float) -> None:
    heard = other_microphone(heard_by(WORLD, 30.0, seconds, 50.0, noise=0.02, seed=3))
    match = align(features(heard), SESSION)
    assert isinstance(match, SoundMatch)
    assert match.unapplied is None


def test_a_clock_that_jumps_is_told_by_the_residual() -> None:
    first = heard_by(WORLD, 20.0, 150.0, noise=0.01, seed=3)
    then = heard_by(WORLD, 170.08, 100.0, noise=0.01, seed=4)
    match = align(features(np.concatenate((first, then))), SESSION)
    assert not isinstance(match, SoundMatch) or match.residual_max_ms > 30


def test_pieces_of_any_size_give_the_same_features() -> None:
    samples = heard_by(WORLD, 0.0, 60.0)
    whole, pieces = features(samples, samples.size), features(samples, 777)
    assert np.array_equal(whole.present, pieces.present)
    assert np.allclose(whole.values, pieces.values, atol=1e-4)
