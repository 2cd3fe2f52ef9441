"""Times of sound: alignment, repair, and where somebody speaks."""

from __future__ import annotations

import hashlib
import shutil
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.base.errors import RecordError
from labapp.record.audio.alignment import HUBER_S, Anchor, fit_clock, fit_segment, huber_line
from labapp.record.audio.capture import HEADER_BYTES, Packet, PacketQueue, WavWriter, wav_header
from labapp.record.audio.recorded_sound import repair_wav, tail
from labapp.record.audio.speech import join_stretches, stretches, utterances
from labapp.record.audio.track import PacketTimeline, PlacedPacket
from labapp.record.events import Event
from labapp.record.events.voice import AudioBlock
from tests.helpers.nightly import examples
from tests.helpers.wavs import read_wav_info
from tests.record.audio.spoken import RATE, in_noise, spoken
from tests.sound import require

TIMELINE_RATE = 48000

BLOCK = 2400

BLOCK_S = BLOCK / TIMELINE_RATE


def packet(at_s: float, *, overflow: bool = False, dropped: int = 0) -> Packet:
    return Packet(round(at_s * 1e9), at_s, at_s, overflow, dropped, bytes(2 * BLOCK))


def run(packets: Iterable[Packet]) -> list[PlacedPacket]:
    timeline = PacketTimeline(TIMELINE_RATE)
    placed = [ready for item in packets for ready in timeline.take(item)]
    return placed + timeline.flush()


def lost(placed: Sequence[PlacedPacket]) -> list[tuple[int, int, str]]:
    """(index of the packet it lies before, frames, cause) of every gap."""
    return [(i, p.lost, p.cause) for i, p in enumerate(placed) if p.cause]


@settings(max_examples=examples(40))
@given(
    jitter=st.lists(st.floats(0, 0.03), min_size=150, max_size=150),
    stalls=st.lists(
        st.tuples(st.integers(2, 4), st.floats(0.05, 0.95)), max_size=3, unique_by=lambda s: s[0]
    ),
    ppm=st.floats(-500, 500),
)
def test_jitter_stalls_and_drift_never_look_like_lost_sound(
    jitter: list[float], stalls: list[tuple[int, float]], ppm: float
) -> None:
    arrivals = [(i + 1) * BLOCK_S * (1 + ppm / 1e6) + late for i, late in enumerate(jitter)]
    for place, length in stalls:
        index = 30 * place
        # Nothing is delivered for a while, then the backlog comes at once.
        until = arrivals[index] + length
        arrivals[index:] = [max(at, until) for at in arrivals[index:]]
    arrivals = [max(arrivals[: i + 1]) for i in range(len(arrivals))]
    placed = run(packet(at) for at in arrivals)
    assert len(placed) == len(arrivals)
    assert lost(placed) == []


@settings(max_examples=examples(40))
@given(
    at=st.integers(65, 100),
    seconds=st.floats(0.1, 3.0),
    flag=st.booleans(),
    jitter=st.lists(st.floats(0, 0.004), min_size=150, max_size=150),
)
def test_lost_sound_is_found_where_it_is_missing(
    at: int, seconds: float, flag: bool, jitter: list[float]
) -> None:
    packets = [
        packet((i + 1) * BLOCK_S + late + (seconds if i >= at else 0.0), overflow=flag and i == at)
        for i, late in enumerate(jitter)
    ]
    placed = run(packets)
    [(index, frames, cause)] = lost(placed)
    assert index == at
    assert cause == ("overflow" if flag else "stalled")
    assert frames / TIMELINE_RATE == pytest.approx(seconds, abs=0.005)
    assert [p.packet for p in placed] == packets


def test_an_overflow_without_missing_time_is_told_but_not_filled() -> None:
    placed = run(packet((i + 1) * BLOCK_S, overflow=i == 80) for i in range(120))
    assert lost(placed) == [(80, 0, "overflow")]


def test_what_found_the_queue_full_is_known_to_the_frame() -> None:
    packets = [packet((i + 1) * BLOCK_S) for i in range(60)]
    packets += [
        packet((i + 11) * BLOCK_S, dropped=10 * BLOCK if i == 60 else 0) for i in range(60, 120)
    ]
    assert lost(run(packets)) == [(60, 10 * BLOCK, "queue")]


def test_a_stream_that_starts_late_and_off_beat_has_no_gap() -> None:
    early = [packet(5.0 + 0.001 * i) for i in range(8)]
    late = [packet(5.6 + (i + 1) * BLOCK_S) for i in range(100)]
    assert lost(run(early + late)) == []


def test_expected_time_of_the_next_frame() -> None:
    timeline = PacketTimeline(TIMELINE_RATE)
    assert timeline.expected_ns() is None
    for i in range(100):
        timeline.take(packet(7.0 + (i + 1) * BLOCK_S + (0.02 if i % 3 else 0.0)))
    assert timeline.expected_ns() == pytest.approx(12.0e9, abs=1e6)


def test_the_queue_is_bounded_and_counts_what_it_refuses() -> None:
    queue = PacketQueue(max_frames=100, frame_bytes=2)
    for i in range(5):
        queue.put(i, 0.0, 0.0, False, bytes(60))
    assert [p.dropped for p in queue.take()] == [0, 0, 0]
    queue.put(9, 0.0, 0.0, False, bytes(60))
    assert [p.dropped for p in queue.take()] == [60]
    assert queue.take() == []


def test_a_frame_is_never_younger_than_its_block() -> None:
    wrong = Packet(0, adc_s=10.0, now_s=10.006, overflow=False, dropped=0, data=b"")
    right = Packet(0, adc_s=10.0, now_s=10.090, overflow=False, dropped=0, data=b"")
    assert wrong.age_s(0.05) == 0.05
    assert right.age_s(0.05) == pytest.approx(0.09)


def test_a_stall_after_a_stall_is_waited_out() -> None:
    arrivals = [(i + 1) * BLOCK_S for i in range(150)]
    for index in (70, 71):
        until = arrivals[index] + 0.5
        arrivals[index:] = [max(at, until) for at in arrivals[index:]]
    assert lost(run(packet(at) for at in arrivals)) == []


NOMINAL = 48000

START = 5_000_000_000_000


def anchors(
    rate: float,
    seconds: float,
    *,
    seed: int = 0,
    jitter_ms: float = 0.3,
    outliers: float = 0.0,
    unsettled_s: float = 1.5,
) -> list[Anchor]:
    """Ten anchors a second of a card that runs at `rate`, off by 0.4 s while unsettled."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(int(seconds * 10)):
        frame = round(i * NOMINAL / 10)
        at_s = frame / rate + rng.normal(0, jitter_ms / 1e3)
        if frame / NOMINAL < unsettled_s:
            at_s -= 0.4
        if rng.random() < outliers:
            at_s += rng.uniform(0.01, 0.3)
        made.append((frame, at_s, START + round(at_s * 1e9)))
    return made


@settings(max_examples=examples(30))
@given(ppm=st.floats(-400, 400), outliers=st.floats(0, 0.1), seed=st.integers(0, 1000))
def test_the_true_rate_is_found(ppm: float, outliers: float, seed: int) -> None:
    rate = NOMINAL * (1 + ppm / 1e6)
    fit = fit_clock(anchors(rate, 120, outliers=outliers, seed=seed), NOMINAL)
    assert not fit.used_nominal
    assert fit.reason == ""
    assert fit.rate == pytest.approx(rate, rel=5e-6)
    for frame in (0, 60 * NOMINAL, 120 * NOMINAL):
        assert fit.frame_to_ns(frame) == pytest.approx(START + frame / rate * 1e9, abs=0.5e6)
    assert fit.residual_ms < 1.0


def test_the_beginning_is_left_out() -> None:
    fit = fit_clock(anchors(NOMINAL, 90, jitter_ms=0), NOMINAL)
    assert fit.rate == pytest.approx(NOMINAL, rel=1e-9)
    assert fit.offset_ns == pytest.approx(START, abs=10)
    assert fit.n_anchors == 900 - 20


def test_a_short_recording_keeps_the_nominal_rate_with_a_fitted_offset() -> None:
    # A plain line through 9 s with an unsettled start says 47,393 Hz; this must not happen.
    fit = fit_clock(anchors(47_998, 9), NOMINAL)
    assert fit.used_nominal
    assert "under 60 s" in fit.reason
    assert fit.rate == NOMINAL
    assert fit.frame_to_ns(5 * NOMINAL) == pytest.approx(START + 5e9, abs=0.5e6)


def test_a_rate_beyond_500_ppm_is_not_believed() -> None:
    fit = fit_clock(anchors(NOMINAL * 1.001, 120), NOMINAL)
    assert fit.used_nominal
    assert "+1000 ppm" in fit.reason
    assert fit.rate == NOMINAL


def test_anchors_after_a_gap_are_left_out_until_they_settle() -> None:
    good = anchors(NOMINAL, 100, jitter_ms=0)
    gap_ends = 50 * NOMINAL
    bad = [
        (f, a, t - 300_000_000 if gap_ends <= f < gap_ends + 2 * NOMINAL else t) for f, a, t in good
    ]
    fit = fit_clock(bad, NOMINAL, breaks=[gap_ends])
    assert fit.residual_ms < 1e-3
    assert fit.n_anchors == 1000 - 40
    assert fit_clock(bad, NOMINAL).residual_ms < 1.0


def test_anchors_of_a_moment_only_are_used_all_the_same() -> None:
    fit = fit_clock(anchors(NOMINAL, 1, unsettled_s=0, jitter_ms=0), NOMINAL)
    assert fit.used_nominal
    assert "later than" in fit.reason
    assert fit.offset_ns == START


def test_no_anchor_is_an_error() -> None:
    with pytest.raises(RecordError, match="time marks"):
        fit_clock([], NOMINAL)


@given(frame=st.integers(0, 10**9), ppm=st.floats(-400, 400))
def test_there_and_back(frame: int, ppm: float) -> None:
    fit = fit_clock(anchors(NOMINAL, 10), NOMINAL)
    assert round((fit.frame_to_ns(frame) - fit.offset_ns) * fit.rate / 1e9) == frame


def test_a_segment_is_fitted_from_its_events() -> None:
    made = anchors(NOMINAL * 1.0001, 100, jitter_ms=0)
    name = "audio/segment-01.wav"

    def event(kind: str, **payload: object) -> Event:
        return Event(1, 1, 0, "", "system", kind, 1, None, None, None, payload)

    events = [
        event("audio.started", file=name, nominal_rate=NOMINAL),
        event("audio.block", file="audio/segment-02.wav", anchors=[[0, 0.0, 7]]),
        event("dial.moved", dimension=1),
        event("audio.block", file=name, anchors=[list(a) for a in made[:500]]),
        event("audio.gap", file=name, at_frame=40 * NOMINAL, frames=10 * NOMINAL),
        event("audio.block", file=name, anchors=[list(a) for a in made[500:]]),
    ]
    fit = fit_segment(events, name)
    assert fit.rate == pytest.approx(NOMINAL * 1.0001, rel=1e-7)
    assert fit.n_anchors == 1000 - 40
    with pytest.raises(RecordError, match="segment-03"):
        fit_segment(events, "audio/segment-03.wav")


@settings(max_examples=examples(20))
@given(ppm=st.floats(-400, 400), outliers=st.floats(0, 0.3), seed=st.integers(0, 1000))
def test_the_line_is_the_one_of_scipys_least_squares(
    ppm: float, outliers: float, seed: int
) -> None:
    from scipy.optimize import least_squares

    made = anchors(NOMINAL * (1 + ppm / 1e6), 90, outliers=outliers, seed=seed, unsettled_s=0)
    x = np.array([frame for frame, _, _ in made]) / NOMINAL
    x -= x.mean()
    y = np.array([(at_ns - START) / 1e9 for _, _, at_ns in made]) - x
    columns = np.column_stack((np.ones_like(x), x))
    fit = least_squares(
        lambda p: columns @ p - y,
        np.array([np.median(y), 0.0]),
        jac=lambda p: columns,
        loss="huber",
        f_scale=HUBER_S,
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    level, slope = huber_line(x, y)
    assert level == pytest.approx(fit.x[0], abs=1e-9)
    assert slope * 90 == pytest.approx(fit.x[1] * 90, abs=1e-9)


REPAIR_RATE = 16000

NAME = "audio/segment-01.wav"


def recording(path: Path, blocks: int = 3, beyond: bytes = b"") -> list[AudioBlock]:
    """A file of so many blocks of 1000 frames that was cut off with `beyond` after the last."""
    wav = WavWriter(path, REPAIR_RATE)
    made = []
    for number in range(blocks):
        wav.append(bytes([number + 1, 0]) * 1000)
        wav.flush()
        synced = wav.sync()
        assert synced is not None
        made.append(AudioBlock(NAME, synced.first_frame, synced.frames, synced.sha256, ()))
    wav.close()
    with path.open("ab") as file:
        file.write(beyond)
    return made


def test_what_came_after_the_last_sync_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, beyond=b"\5\0" * 300 + b"\5")
    assert not read_wav_info(path).whole
    report = repair_wav(path, REPAIR_RATE, blocks)
    assert report.whole
    assert report.changed
    assert (report.frames, report.acknowledged, report.beyond) == (3300, 3000, 300)
    info = read_wav_info(path)
    assert info.whole
    assert (info.rate, info.channels, info.bits, info.frames) == (REPAIR_RATE, 1, 16, 3300)


@settings(max_examples=examples(40))
@given(size=st.integers(0, HEADER_BYTES + 6011))
def test_any_cut_is_repaired_once_and_for_all(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.wav"
    path.unlink(missing_ok=True)
    blocks = recording(path)
    whole = path.read_bytes()
    path.write_bytes((whole + bytes(11))[:size])
    report = repair_wav(path, REPAIR_RATE, blocks)
    kept = path.read_bytes()
    assert kept[:HEADER_BYTES] == wav_header(REPAIR_RATE, len(kept) - HEADER_BYTES)
    sound = whole[HEADER_BYTES : HEADER_BYTES + 2 * report.frames]
    assert kept[HEADER_BYTES : HEADER_BYTES + len(sound)] == sound
    assert report.frames == max(0, size - HEADER_BYTES) // 2
    assert report.missing == max(0, 3000 - report.frames)
    assert len(report.damaged) == 3 - min(3, report.frames // 1000)
    again = repair_wav(path, REPAIR_RATE, blocks)
    assert not again.changed
    assert path.read_bytes() == kept


def test_a_flipped_byte_is_found_in_its_block(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path)
    data = bytearray(path.read_bytes())
    data[HEADER_BYTES + 2 * 1500] ^= 1
    path.write_bytes(data)
    report = repair_wav(path, REPAIR_RATE, blocks)
    assert report.damaged == (1000,)
    assert not report.changed
    assert not report.whole


@pytest.mark.parametrize("content", [b"", b"RIFF", wav_header(REPAIR_RATE, 0), bytes(44)])
def test_a_file_without_sound(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    report = repair_wav(path, REPAIR_RATE)
    assert (report.frames, report.missing, report.damaged) == (0, 0, ())
    assert path.read_bytes() == wav_header(REPAIR_RATE, 0)


def test_another_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"OggS" + bytes(100))
    with pytest.raises(RecordError, match="not a sound file"):
        repair_wav(path, REPAIR_RATE)
    assert path.read_bytes() == b"OggS" + bytes(100)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be repaired"):
        repair_wav(tmp_path / "a.wav", REPAIR_RATE, [AudioBlock(NAME, 0, 5, "?", ())])


def test_a_block_of_an_earlier_version_is_checked_by_its_crc32(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    new = recording(path)
    data = path.read_bytes()[HEADER_BYTES:]
    blocks = [
        replace(b, sha256="", crc32=zlib.crc32(data[2 * b.first_frame : 2 * b.frames]))
        for b in new[:2]
    ]
    assert repair_wav(path, REPAIR_RATE, [*blocks, new[2]]).whole
    wrong = replace(blocks[1], crc32=5)
    assert repair_wav(path, REPAIR_RATE, [blocks[0], wrong, new[2]]).damaged == (1000,)


def test_a_block_without_any_hash_covers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, blocks=1)
    assert repair_wav(path, REPAIR_RATE, [replace(blocks[0], sha256="")]).damaged == (0,)


def test_the_sound_behind_the_last_block_gets_a_block_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, beyond=b"\5\0" * 300 + b"\5")
    block = tail(path, NAME, 3000)
    assert block is not None
    assert (block.first_frame, block.frames) == (3000, 3300)
    assert block.sha256 == hashlib.sha256(b"\5\0" * 300).hexdigest()
    report = repair_wav(path, REPAIR_RATE, [*blocks, block])
    assert (report.whole, report.beyond) == (True, 0)
    assert tail(path, NAME, 3300) is None
    assert tail(tmp_path / "none.wav", NAME, 0) is None


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> list[NDArray[np.int16]]:
    require("" if shutil.which("espeak-ng") else "espeak-ng")
    return spoken(tmp_path_factory.mktemp("spoken"))


@pytest.mark.sound
@pytest.mark.parametrize("seed", range(5))
def test_ten_utterances_in_noise(sentences: list[NDArray[np.int16]], seed: int) -> None:
    samples, truth = in_noise(sentences, 20.0, seed)
    heard = utterances(samples, RATE)
    assert len(heard) == 10
    errors = 1e3 * np.abs(np.array(heard) - np.array(truth))
    onset_ms, offset_ms = np.median(errors, axis=0)
    assert onset_ms <= 40.0
    assert offset_ms <= 80.0


@pytest.mark.sound
def test_a_voice_between_zeros(sentences: list[NDArray[np.int16]]) -> None:
    """As a microphone with a noise gate records it."""
    zeros = np.zeros(2 * RATE, np.int16)
    samples = np.concatenate([part for spoken in sentences for part in (zeros, spoken)])
    assert len(utterances(samples, RATE)) == 10


@pytest.mark.sound
def test_lost_sound_is_no_speech(sentences: list[NDArray[np.int16]]) -> None:
    samples, truth = in_noise(sentences, 20.0, 0)
    lost = slice(round((truth[3][0] + 0.4) * RATE), round((truth[3][0] + 0.9) * RATE))
    samples[lost] = 0
    for begins, ends in stretches(samples, RATE):
        inside = samples[round(begins * RATE) : round(ends * RATE)]
        assert (ends <= lost.start / RATE + 0.011) or (begins >= lost.stop / RATE - 0.011)
        assert inside.any()


@pytest.mark.parametrize("size", [0, 1, 100, 441, RATE])
def test_zeros_and_shreds_of_sound(size: int) -> None:
    assert stretches(np.zeros(size, np.int16), RATE) == []
    assert all(ends * RATE <= size + 1 for _, ends in stretches(np.ones(size, np.int16), RATE))


def test_noise_alone_is_no_speech() -> None:
    noise = np.random.default_rng(3).normal(0.0, 300.0, 60 * RATE).astype(np.int16)
    assert stretches(noise, RATE) == []


def test_a_few_words_in_a_long_silence() -> None:
    """They are less than the loudest hundredth of the recording."""
    noise = np.random.default_rng(3).normal(0.0, 30.0, 300 * RATE)
    at = slice(200 * RATE, 201 * RATE)
    noise[at] += 3000 * np.sin(np.arange(RATE) * 2 * np.pi * 150 / RATE)
    ((begins, ends),) = utterances(noise.astype(np.int16), RATE)
    assert (begins, ends) == pytest.approx((200.0, 201.0), abs=0.03)


spans = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), max_size=20)


@given(spans, st.floats(0.01, 3.0))
def test_joined_stretches_hold_all_and_lie_apart(
    lengths: list[tuple[int, int]], pause_s: float
) -> None:
    heard, at = [], 0.0
    for pause, length in lengths:
        heard.append((at + pause / 100, at + (pause + length) / 100))
        at = heard[-1][1]
    together = join_stretches(heard, pause_s)
    assert all(b[0] - a[1] >= pause_s for a, b in pairwise(together))
    assert all(any(a <= t0 and t1 <= b for a, b in together) for t0, t1 in heard)
    assert {t for pair in together for t in pair} <= {t for pair in heard for t in pair}
