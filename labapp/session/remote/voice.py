"""The participant's voice at another computer: played as it comes, and never later than it must be.

A network brings sound late and in bursts, so some of it always waits to be played: as much as the
network is late now and then. What would be heard too late is left out, and so are pauses in speech
while much is waiting, so that the voice stays near to what is seen. The recording at the session's
computer is not touched.
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
from labapp.record.audio.player import DEFAULT, OpenOutput, ProcessOutput, open_output
from labapp.session.remote import wire

LATE_S = 0.16
"""Sound that would be heard so much later than what came quickest is left out."""
START_S = 0.02
"""So much waits until the loudspeaker plays: what is spoken meanwhile is over then."""
CALM_S = 0.06
"""While more is waiting, pauses in speech are left out."""
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
    """

    def __init__(
        self, failed: Callable[[AudioError], None], open_output: OpenOutput = open_output
    ) -> None:
        self._failed, self._open_output = failed, open_output
        self._queue: queue.SimpleQueue[tuple[int, wire.Sound] | None] = queue.SimpleQueue()
        self._trips: deque[int] = deque(maxlen=PIECES)
        self._loudest = 0.0
        self._taken = 0
        self.left_out = 0
        """Frames that were not played."""
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
            if self._leaves_out(came_ns - sound.t_ns, samples, waiting_s):
                self.left_out += len(samples)
            else:
                played = at_rate(samples, sound.rate, output.rate)
                output.write(played.tobytes())
                sent += len(played)
            piece = self._queue.get()
        output.close()

    def _leaves_out(self, trip_ns: int, samples: Sound, waiting_s: float) -> bool:
        """Whether a piece is not played. trip_ns: from there to here, on whatever clocks;
        waiting_s: of sound that is to be played before it."""
        self._trips.append(trip_ns)
        late_s = (trip_ns - min(self._trips)) / NS
        peak = float(np.abs(samples.astype(np.int32)).max(initial=0))
        self._loudest = max(peak, self._loudest * FADES)
        if not self._taken:
            return waiting_s >= START_S
        pauses = peak < QUIET * self._loudest
        return late_s + waiting_s > LATE_S or (pauses and waiting_s > CALM_S)

    def _follow(self, output: ProcessOutput) -> None:
        for report in output.reports():
            self._taken = report.first + report.samples


def at_rate(samples: Sound, rate: int, wanted: int) -> Sound:
    """Sound at the rate of a loudspeaker that has only its own; good enough for a voice."""
    if rate == wanted or not len(samples):
        return samples
    places = np.arange(round(len(samples) * wanted / rate)) * (rate / wanted)
    played: Sound = np.interp(places, np.arange(len(samples)), samples).astype(np.int16)
    return played
