"""The waveform shows every sample, at its time, and the cache never shows another's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.base import resources
from labapp.base.clock import NS
from labapp.coding.sound import Peaks, SessionSound
from labapp.record.audio import pyramid
from labapp.record.audio.pyramid import BASE, pyramid_of
from labapp.record.audio.recorded_sound import WavSamples
from labapp.record.journal.opening import open_record
from tests.helpers.nightly import examples
from tests.helpers.recorded_sounds import RATE, Take, name_of, sounding_session


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "peaks"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files with a pause between them, long enough for three levels."""
    takes = (Take(noise(700, 1), start_s=5), Take(noise(300, 2), start_s=800))
    return sounding_session(tmp_path_factory.mktemp("data"), *takes, end_s=1200)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files with a pause between them."""
    takes = (Take(noise(60, 1), start_s=5), Take(noise(40, 2), start_s=80))
    return sounding_session(tmp_path_factory.mktemp("short"), *takes, end_s=120)


def noise(seconds: float, seed: int) -> NDArray[np.int16]:
    rng = np.random.default_rng(seed)
    loudness = np.repeat(rng.uniform(10, 9000, round(seconds * 10)), RATE // 10)
    return (rng.uniform(-1, 1, loudness.size) * loudness).astype(np.int16)


def peaks_of(folder: Path, **silenced: object) -> tuple[SessionSound, Peaks]:
    sound = SessionSound(open_record(folder), **silenced)  # type: ignore[arg-type]
    return sound, Peaks(sound)


@settings(max_examples=examples(30))
@given(st.floats(-50, 1300), st.floats(0.001, 1500), st.integers(1, 1500))
def test_no_sample_is_left_out_and_none_comes_from_elsewhere(
    folder: Path, begin_s: float, length_s: float, columns: int
) -> None:
    sound, peaks = peaks_of(folder)
    t0_ns, t1_ns = round(begin_s * NS), round((begin_s + length_s) * NS)
    low, high = peaks.between(t0_ns, t1_ns, columns)
    assert low.shape == high.shape == (columns,)
    # As exact as a quarter of a column, or 256 frames.
    beside = max(length_s / columns / 4, BASE / RATE) * 1.01 + 2 / RATE
    wide = length_s / columns
    for column in {0, columns // 3, columns // 2, columns - 1}:
        left_ns = t0_ns + round((column * wide - beside) * NS)
        outer = sound.read(left_ns, round((wide + 2 * beside) * RATE) + 2)
        inner = outer[int(beside * RATE) + 2 : int((beside + wide) * RATE) - 2]
        assert low[column] <= inner.min(initial=0 if inner.size == 0 else 32767) or not inner.any()
        assert high[column] >= inner.max(initial=-32768) or not inner.any()
        assert outer.min() <= low[column] <= high[column] <= outer.max()


def test_nothing_is_drawn_where_nothing_was_recorded(folder: Path) -> None:
    _, peaks = peaks_of(folder)
    low, high = peaks.between(-100 * NS, 1300 * NS, 1400)
    quiet = np.ones(1400, bool)
    quiet[105:805] = quiet[900:1200] = False
    assert not low[quiet].any()
    assert not high[quiet].any()
    assert (high[~quiet] > low[~quiet]).all()
    assert peaks.between(0, 0, 5)[0].tolist() == [0] * 5
    assert peaks.between(0, NS, 0)[0].size == 0


def test_the_second_time_it_comes_from_the_cache(
    short: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = peaks_of(short)[1].between(0, 120 * NS, 800)
    assert len(list(cache.glob("*.peaks"))) == len(list(cache.glob("*.sha256"))) == 2
    monkeypatch.setattr(pyramid, "_build_pyramid", None)
    second = peaks_of(short)[1].between(0, 120 * NS, 800)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "other", "index", "folder"])
def test_a_damaged_cache_is_made_again(short: Path, cache: Path, damage: str) -> None:
    whole = peaks_of(short)[1].between(0, 120 * NS, 800)
    first, second = sorted(cache.glob("*.peaks"))
    content = first.read_bytes()
    match damage:
        case "cut":
            first.write_bytes(content[:-100])
        case "bit":
            first.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
        case "empty":
            first.write_bytes(b"")
        case "other":
            first.write_bytes(second.read_bytes())
        case "index":
            for path in cache.glob("*.sha256"):
                path.write_text("../" * 21 + "a")
        case "folder":
            first.unlink()
            first.mkdir()
    again = peaks_of(short)[1].between(0, 120 * NS, 800)
    assert np.array_equal(whole, again)
    if damage != "folder":
        assert first.read_bytes() == content


def test_a_file_that_changed_is_gone_through_again(tmp_path: Path) -> None:
    folder = sounding_session(tmp_path, Take(noise(30, 1)), end_s=40)
    before = peaks_of(folder)[1].between(0, 40 * NS, 400)
    path = folder / name_of(1)
    stat = path.stat()
    path.write_bytes(path.read_bytes()[:44] + noise(30, 9).tobytes())
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert not np.array_equal(before, peaks_of(folder)[1].between(0, 40 * NS, 400))


def test_a_cache_that_cannot_be_written(short: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("in its place")
    assert peaks_of(short)[1].between(0, 120 * NS, 8)[1].any()


@pytest.mark.parametrize("columns", [10, 333, 20_000])
def test_what_is_silenced_is_not_drawn(tmp_path: Path, columns: int) -> None:
    samples = np.full(60 * RATE, 100, np.int16)
    samples[20 * RATE : 22 * RATE] = 9000
    folder = sounding_session(tmp_path, Take(samples, start_s=0), end_s=60)
    assert peaks_of(folder)[1].between(0, 60 * NS, columns)[1].max() == 9000
    _, peaks = peaks_of(folder, silenced=[(20 * NS, 22 * NS)])
    _, high = peaks.between(0, 60 * NS, columns)
    assert high.max() == 100
    assert (high[: columns // 4] == 100).all()


def test_levels(tmp_path: Path) -> None:
    folder = sounding_session(tmp_path, Take(noise(300, 1)), end_s=301)
    samples = WavSamples(open_record(folder).tree.open(name_of(1)))
    levels = pyramid_of(samples).levels
    assert [level[0].size for level in levels] == [9375, 2344, 586]
    raw = samples[0 : samples.size].reshape(-1, BASE)
    assert np.array_equal(levels[0][0], raw.min(axis=1))
    assert np.array_equal(levels[0][1], raw.max(axis=1))
    assert resources.cache_root() == tmp_path / "cache"
