"""What the microphone hears: a pure fold over blocks of sound.

Its states are

* heard: somebody speaks, or spoke a short while ago;
* silent: nobody has spoken for a given time;
* zeros: every sample is exactly 0, because the permission is missing, the device is muted or the
  source is dead; a microphone with a noise gate does so between words, too;
* clipping: samples are at full scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

State = Literal["heard", "silent", "zeros", "clipping"]

FLOOR_DBFS = -100.0
ZEROS_AFTER_S = 1.0
CLIP_HOLD_S = 2.0
CLIP_AT = 32_700
CLIP_RUN = 3
OPEN_ABOVE_FLOOR_DB = 10.0
CLOSE_ABOVE_FLOOR_DB = 6.0
OPEN_AT_LEAST_DBFS = -55.0
CLOSE_AT_LEAST_DBFS = -60.0
FLOOR_RISE_DB_PER_S = 1.0
START_FLOOR_DBFS = -65.0
ENVELOPE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class VoiceActivity:
    """The state of the fold; times are session times in ns, levels in dBFS.

    envelope: peaks of the last 100 blocks, 0 to 1, newest last.
    """

    state: State | None = None
    since_ns: int = 0
    started_ns: int | None = None
    now_ns: int = 0
    peak_dbfs: float = FLOOR_DBFS
    rms_dbfs: float = FLOOR_DBFS
    noise_dbfs: float = START_FLOOR_DBFS
    gate_open: bool = False
    voice_ns: int | None = None
    zeros_since_ns: int | None = None
    clipped_ns: int | None = None
    envelope: tuple[float, ...] = ()

    @property
    def silent_for_s(self) -> float:
        """Time since a voice was last heard, or since the start if none ever was."""
        last = self.voice_ns if self.voice_ns is not None else self.started_ns
        return 0.0 if last is None else max(0, self.now_ns - last) / 1e9


def dbfs(amplitude: float) -> float:
    """Level of an amplitude between 0 and 1, never below -100 dBFS."""
    return max(FLOOR_DBFS, 20.0 * math.log10(amplitude)) if amplitude > 0.0 else FLOOR_DBFS


def hear(
    before: VoiceActivity,
    samples: NDArray[np.int16],
    start_ns: int,
    rate: int,
    *,
    silent_after_s: float = 15.0,
) -> VoiceActivity:
    """Take in one block of mono sound, about 50 ms of it.

    Parameters
    ----------
    samples : (n,) int16.
    start_ns : session time of the first, in ns.
    rate : samples a second.
    silent_after_s : time without a voice after which the state is silent.
    """
    if samples.size == 0:
        return before
    duration_s = samples.size / rate
    end_ns = start_ns + round(duration_s * 1e9)
    values = samples.astype(np.float32)
    peak = float(np.abs(values).max())
    rms_dbfs = dbfs(math.sqrt(float(np.dot(values, values)) / samples.size) / 32768.0)

    zeros_since = None
    if peak == 0.0:
        zeros_since = start_ns if before.zeros_since_ns is None else before.zeros_since_ns
    noise = before.noise_dbfs
    if peak > 0.0:
        # Down at once, up slowly: pauses between words show the room, speech must not raise it.
        noise = min(rms_dbfs, noise + FLOOR_RISE_DB_PER_S * duration_s)
        noise = max(noise, FLOOR_DBFS)
    above, at_least = (
        (CLOSE_ABOVE_FLOOR_DB, CLOSE_AT_LEAST_DBFS)
        if before.gate_open
        else (OPEN_ABOVE_FLOOR_DB, OPEN_AT_LEAST_DBFS)
    )
    gate_open = rms_dbfs >= max(noise + above, at_least)
    hearing = replace(
        before,
        started_ns=start_ns if before.started_ns is None else before.started_ns,
        now_ns=end_ns,
        peak_dbfs=dbfs(peak / 32768.0),
        rms_dbfs=rms_dbfs,
        noise_dbfs=noise,
        gate_open=gate_open,
        voice_ns=end_ns if gate_open else before.voice_ns,
        zeros_since_ns=zeros_since,
        clipped_ns=end_ns if _clips(samples, peak) else before.clipped_ns,
        envelope=(*before.envelope, peak / 32768.0)[-ENVELOPE_LENGTH:],
    )
    return _judge(hearing, start_ns, silent_after_s)


def _clips(samples: NDArray[np.int16], peak: float) -> bool:
    """Whether several samples in a row stand at full scale: one alone may be a click."""
    if peak < CLIP_AT:
        return False
    high = np.abs(samples.astype(np.int32)) >= CLIP_AT
    runs = np.convolve(high, np.ones(CLIP_RUN), mode="valid") if high.size >= CLIP_RUN else high
    return bool((runs >= CLIP_RUN).any())


def _judge(hearing: VoiceActivity, start_ns: int, silent_after_s: float) -> VoiceActivity:
    now = hearing.now_ns
    state, since = hearing.state, start_ns
    zeros = hearing.zeros_since_ns
    if zeros is not None and now - zeros >= ZEROS_AFTER_S * 1e9:
        state, since = "zeros", zeros
    elif hearing.clipped_ns is not None and now - hearing.clipped_ns < CLIP_HOLD_S * 1e9:
        state = "clipping"
    elif hearing.silent_for_s >= silent_after_s:
        last = hearing.voice_ns if hearing.voice_ns is not None else hearing.started_ns
        state, since = "silent", start_ns if last is None else last
    elif hearing.voice_ns is not None and zeros is None:
        state = "heard"
    if state == hearing.state:
        return hearing
    return replace(hearing, state=state, since_ns=since)
