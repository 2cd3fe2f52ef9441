from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import RecordError
from labapp.record.audio.alignment import HUBER_S, Anchor, fit_clock, fit_segment, huber_line
from labapp.record.events import Event
from tests.helpers.nightly import examples

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
