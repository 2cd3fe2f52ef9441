"""The participant's voice at another computer: soon, and with as little left out as possible.

A network brings sound late and in bursts, so some of it always waits to be played: as much as the
network was late lately. What is spoken is so heard about as long after it was said, whatever the
network does. After a longer delay the player catches up: pauses are left out first, then single
periods of the voice, which shortens speech by less than a hundredth of a second at a time. Only
what would be heard much too late is left out whole. The recording at the session's computer is not
touched.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.base.errors import AudioError
from labapp.record.audio.player import DEFAULT, OpenOutput, ProcessOutput, likeness, open_output
from labapp.session.remote import wire

LATE_S = 0.172
"""A piece of sound is left out where its end would be played so much later than it came at best."""
START_S = 0.02
"""So much waits until the loudspeaker plays: what is spoken meanwhile is over then."""
SHARE = 0.98
"""Of what came lately, so much is not to come too late for its turn."""
MARGIN_S = 0.015
"""So much more waits: a loudspeaker takes sound in pieces."""
SPARE_S = 0.025
"""The delay that is wanted is this much shorter than the longest."""
BEHIND_S = 0.01
"""Speech is shortened where it is later than wanted by more than this."""
PERIOD_S = (0.0025, 0.0125)
FADE_S = 0.004
"""What is left out of speech, and in which time its ends are faded into each other."""
QUIET = 0.1
"""A pause is quieter than this share of what was loudest lately."""
FADES = 0.99
"""How quickly that is forgotten, a piece of sound."""
PIECES = 500
"""So many pieces ago, the network may have been another one."""

Sound = NDArray[np.int16]


class VoicePlayer:
    """Plays what is put in.

    Parameters
    ----------
    failed : takes the error where no loudspeaker can be opened; called in a thread of its own.

    Attributes
    ----------
    left_out, pauses, shortened : samples that were not played: what came too late, pauses, and what
        speech was shortened by.
    """

    def __init__(
        self, failed: Callable[[AudioError], None], open_output: OpenOutput = open_output
    ) -> None:
        self._failed, self._open_output = failed, open_output
        self._queue: queue.SimpleQueue[tuple[int, wire.Sound] | None] = queue.SimpleQueue()
        self._trips: deque[int] = deque(maxlen=PIECES)
        self._loudest = 0.0
        self._taken = 0
        self._shortened_last = False
        self.left_out = self.pauses = self.shortened = 0
        self._thread = threading.Thread(target=self._run, name="remote-voice", daemon=True)
        self._thread.start()

    def put(self, sound: wire.Sound) -> None:
        """Play this after what was put in before; from any thread."""
        self._queue.put((time.perf_counter_ns(), sound))

    def close(self) -> None:
        """Play no more, and give the loudspeaker back."""
        self._queue.put(None)
        self._thread.join(2.0)

    def _run(self) -> None:
        piece = self._queue.get()
        if piece is None:
            return
        try:
            output = self._open_output(DEFAULT, piece[1].rate)
        except AudioError as error:
            self._failed(error)
            return
        threading.Thread(target=self._follow, args=(output,), daemon=True).start()
        sent = 0
        while piece is not None:
            came_ns, sound = piece
            samples = np.frombuffer(sound.data, "<i2", len(sound.data) // 2)
            waiting_s = (sent - self._taken) / output.rate
            chosen = self._choose(came_ns - sound.t_ns, samples, sound.rate, waiting_s)
            if len(chosen):
                played = at_rate(chosen, sound.rate, output.rate)
                output.write(played.tobytes())
                sent += len(played)
            piece = self._queue.get()
        output.close()

    def _choose(self, trip_ns: int, samples: Sound, rate: int, waiting_s: float) -> Sound:
        """What of a piece is played.

        Parameters
        ----------
        trip_ns : from there to here, on whatever clocks.
        samples : (n,) int16, at `rate` Hz.
        waiting_s : of sound that is to be played before it.
        """
        self._trips.append(trip_ns)
        trips = sorted(self._trips)
        quickest_ns, slow_ns = trips[0], trips[int(SHARE * (len(trips) - 1))]
        peak = float(np.abs(samples.astype(np.int32)).max(initial=0))
        self._loudest = max(peak, self._loudest * FADES)
        piece_s = len(samples) / rate
        # How much later its end is played than that of a piece that came quickest could be.
        late_s = (trip_ns - quickest_ns) / NS + waiting_s + piece_s
        wanted_s = min((slow_ns - quickest_ns) / NS + piece_s + MARGIN_S, LATE_S - SPARE_S)
        before, self._shortened_last = self._shortened_last, False
        if not self._taken:  # the loudspeaker is being opened
            return samples[: 0 if waiting_s >= START_S else None]
        if late_s > LATE_S:
            self.left_out += len(samples)
            return samples[:0]
        if peak < QUIET * self._loudest:
            if late_s > wanted_s + piece_s / 2:
                self.pauses += len(samples)
                return samples[:0]
            if late_s < wanted_s - piece_s:
                return np.concatenate((samples, samples))
        elif late_s > wanted_s + BEHIND_S and not before:
            chosen = shorten(samples, rate)
            self.shortened += len(samples) - len(chosen)
            self._shortened_last = True
            return chosen
        return samples

    def _follow(self, output: ProcessOutput) -> None:
        for report in output.reports():
            self._taken = report.first + report.samples


def shorten(samples: Sound, rate: int) -> Sound:
    """Speech without one period of it, so that its pitch stays: what follows is most like what is
    left out. (n,) int16, at `rate` Hz; as it is where it is too short."""
    least, most = (round(each * rate) for each in PERIOD_S)
    fade = round(FADE_S * rate)
    most = min(most, len(samples) - fade)
    if most <= least:
        return samples
    sound = samples.astype(np.float32)
    begin = sound[:fade]
    period = least + int(np.argmax(likeness(sound[least : most + fade], begin)))
    rise = np.linspace(0.0, 1.0, fade, dtype=np.float32)
    joined = begin + (sound[period : period + fade] - begin) * rise
    return np.concatenate((np.rint(joined).astype(np.int16), samples[period + fade :]))


def at_rate(samples: Sound, rate: int, wanted: int) -> Sound:
    """Sound at the rate of a loudspeaker that has only its own; good enough for a voice."""
    if rate == wanted or not len(samples):
        return samples
    places = np.arange(round(len(samples) * wanted / rate)) * (rate / wanted)
    played: Sound = np.interp(places, np.arange(len(samples)), samples).astype(np.int16)
    return played
