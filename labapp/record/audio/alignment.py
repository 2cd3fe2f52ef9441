"""From frames of a WAV file to session time, and back.

The sound card's crystal is not the computer's, and every single reading of it is noisy. So the true
sample rate and the offset of a segment are fitted over all its anchors, robustly: two seconds after
every start or gap are left out (PulseAudio's ADC times are hundreds of milliseconds off at first),
the loss is Huber's, and a fit that cannot be trusted (under 60 s of anchors, or further than
500 ppm from the nominal rate) is replaced by the nominal rate with a median offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import RecordError
from labapp.record.events import Event

SETTLE_S = 2.0
MIN_SPAN_S = 60.0
MAX_PPM = 500.0
HUBER_S = 0.001
MOST_ROUNDS = 500
SETTLED_S = 1e-13
"""A line that moves by less from one round to the next is the one that was looked for."""

Anchor = tuple[int, float, int]
"""Frame index, ADC time in s on the stream's clock, session time of that frame in ns."""


@dataclass(frozen=True, slots=True)
class ClockFit:
    """How the frames of one segment lie on the session's clock.

    Attributes
    ----------
    nominal_rate, rate : frames per second of session time, as stated and as fitted.
    offset_ns : session time of frame 0.
    residual_ms : median absolute distance of the anchors used from the line.
    n_anchors : number of anchors used.
    used_nominal : whether the nominal rate was used in place of a fitted one.
    reason : why it was used, else empty.
    """

    nominal_rate: int
    rate: float
    offset_ns: int
    residual_ms: float
    n_anchors: int
    used_nominal: bool
    reason: str = ""

    def frame_to_ns(self, frame: float) -> int:
        """Session time at which a frame was captured, in ns."""
        return self.offset_ns + round(frame * 1e9 / self.rate)


def fit_clock(anchors: Sequence[Anchor], nominal_rate: int, breaks: Iterable[int] = ()) -> ClockFit:
    """Fit one segment. Raises RecordError: there is not a single anchor, so that the sound has no
    place in time.

    anchors: in order of their frames; nominal_rate: in Hz; breaks: frames at which the stream went
    on after a gap; the start need not be named.
    """
    if not anchors:
        raise RecordError(
            "The sound has no time marks, so it cannot be placed on the session's clock.",
            safe="The sound file itself is complete.",
            todo="Use it without alignment.",
        )
    frames = np.array([anchor[0] for anchor in anchors], dtype=np.float64)
    origin_ns = int(anchors[0][2])
    seconds = np.array([int(anchor[2]) - origin_ns for anchor in anchors], dtype=np.float64) / 1e9
    settled = _find_settled(frames, nominal_rate, breaks)
    reason = ""
    if settled.any():
        frames, seconds = frames[settled], seconds[settled]
    else:
        reason = f"no anchor later than {SETTLE_S:g} s after a start or gap"
    span_s = float(frames[-1] - frames[0]) / nominal_rate
    if not reason and span_s < MIN_SPAN_S:
        reason = f"anchors span {span_s:.1f} s, under {MIN_SPAN_S:g} s"
    if not reason:
        rate, at_zero = _line(frames, seconds, nominal_rate)
        ppm = (rate / nominal_rate - 1.0) * 1e6
        if abs(ppm) <= MAX_PPM:
            return _fit(frames, seconds, nominal_rate, rate, at_zero, origin_ns, reason)
        reason = f"the fitted rate {rate:.1f} Hz is {ppm:+.0f} ppm from the nominal one"
    at_zero = float(np.median(seconds - frames / nominal_rate))
    return _fit(frames, seconds, nominal_rate, float(nominal_rate), at_zero, origin_ns, reason)


def fit_segment(events: Iterable[Event], file: str) -> ClockFit:
    """Fit one sound file from its events (audio.started, audio.block, audio.gap), in order. Raises
    RecordError: the file was never started, or has no anchor."""
    rate = 0
    anchors: list[Anchor] = []
    breaks: list[int] = []
    for event in events:
        payload = event.payload
        if payload.get("file") != file:
            continue
        if event.kind == "audio.started":
            rate = int(payload["nominal_rate"])
        elif event.kind == "audio.block":
            triples = payload["anchors"]
            anchors.extend((int(frame), float(adc_s), int(t_ns)) for frame, adc_s, t_ns in triples)
        elif event.kind == "audio.gap":
            breaks.append(int(payload["at_frame"]) + int(payload["frames"]))
    if not rate:
        raise RecordError(f"The journal has no entry for the start of {file}.")
    return fit_clock(anchors, rate, breaks)


def _find_settled(
    frames: NDArray[np.float64], nominal_rate: int, breaks: Iterable[int]
) -> NDArray[np.bool_]:
    settled = np.ones(frames.size, dtype=np.bool_)
    for start in (0, *breaks):
        settled &= (frames < start) | (frames >= start + SETTLE_S * nominal_rate)
    return settled


def _line(
    frames: NDArray[np.float64], seconds: NDArray[np.float64], nominal_rate: int
) -> tuple[float, float]:
    """Rate in Hz and time of frame 0 in s, by a line with Huber's loss."""
    x = frames / nominal_rate
    centre = float(x.mean())
    # What is left after the nominal line: small numbers, so that nothing is lost to rounding.
    level, slope = huber_line(x - centre, seconds - x)
    return nominal_rate / (1.0 + slope), level - slope * centre


def huber_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Level and slope that make Huber's loss least, by least squares with weights that are found
    again until nothing changes, so that opening a session does not wait for scipy's optimisers."""
    level, slope = float(np.median(y)), 0.0
    for _ in range(MOST_ROUNDS):
        distance = np.abs(level + slope * x - y)
        weights = HUBER_S / np.maximum(distance, HUBER_S)
        weighted = weights * x
        total, first, second = float(weights.sum()), float(weighted.sum()), float(weighted @ x)
        level_y, slope_y = float(weights @ y), float(weighted @ y)
        determinant = total * second - first * first
        before = level, slope
        level = (second * level_y - first * slope_y) / determinant
        slope = (total * slope_y - first * level_y) / determinant
        if abs(level - before[0]) < SETTLED_S and abs(slope - before[1]) * x[-1] < SETTLED_S:
            break
    return level, slope


def _fit(
    frames: NDArray[np.float64],
    seconds: NDArray[np.float64],
    nominal_rate: int,
    rate: float,
    at_zero: float,
    origin_ns: int,
    reason: str,
) -> ClockFit:
    residual = np.abs(seconds - (at_zero + frames / rate))
    return ClockFit(
        nominal_rate=nominal_rate,
        rate=rate,
        offset_ns=origin_ns + round(at_zero * 1e9),
        residual_ms=float(np.median(residual)) * 1e3,
        n_anchors=int(frames.size),
        used_nominal=bool(reason),
        reason=reason,
    )
