"""What `labapp models bench` prints: how long decodes take, and what share of a frame that is."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from labapp.representations.decoders import Decoder
from labapp.representations.forward import Forward
from labapp.representations.warmup import random_states, warm_up

FRAME_BUDGET_MS = 16.7
"""A frame at 60 Hz: the dial's event, the decode and the painting share it."""

BATCHES = (24, 35)
"""Sheets are decoded at once: 24 exemplars (4 x 6), a traversal of 5 dials (5 x 7)."""

REPEATS = 20


def bench(decoder: Decoder, n: int = 1_000) -> dict[str, Any]:
    """Single decodes and the batches of the sheets, timed here and now.

    Returns
    -------
    model, device, threads; n single decodes: median_ms, p95_ms, p99_ms; frame_budget_ms and
    budget_share, the part of it that the median takes; batch_24_ms and batch_35_ms, medians;
    arithmetic, in words.
    """
    times = warm_up(decoder, n)
    forward = decoder.forward
    return {
        "model": decoder.id,
        **times.to_json(),
        "frame_budget_ms": FRAME_BUDGET_MS,
        "budget_share": round(times.median_ms / FRAME_BUDGET_MS, 4),
        **{f"batch_{size}_ms": batch_ms(decoder, size) for size in BATCHES},
        "arithmetic": forward.how if isinstance(forward, Forward) else "closed form",
    }


def batch_ms(decoder: Decoder, size: int) -> float:
    """Median time of decoding `size` states at once, milliseconds."""
    z = random_states(decoder.space, size)
    decoder.decode(z)
    times = np.empty(REPEATS)
    for index in range(REPEATS):
        began = time.perf_counter_ns()
        decoder.decode(z)
        times[index] = (time.perf_counter_ns() - began) / 1e6
    return round(float(np.median(times)), 4)
