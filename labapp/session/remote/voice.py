"""The participant's voice at another computer: played as it comes, and never later than it must be.

A network brings sound in bursts. What a burst brings too late is left out, so that the voice stays
near to what is seen; the recording at the session's computer is not touched.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from labapp.base.errors import AudioError
from labapp.record.audio.player import DEFAULT, OpenOutput, ProcessOutput, open_output
from labapp.session.remote import wire

LATE_S = 0.2
"""Sound that would be heard so much later than it came is left out."""
AHEAD_S, LOOK_BACK = 0.03, 40
"""So much sound waits at least; where more waited before each of the last pieces, one is left out.
"""


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
        self._queue: queue.SimpleQueue[wire.Sound | None] = queue.SimpleQueue()
        self._taken = 0
        self.put_frames = self.left_out = 0
        """Frames that came, and those of them that came too late to be heard."""
        self._thread = threading.Thread(target=self._run, name="remote-voice", daemon=True)
        self._thread.start()

    def put(self, sound: wire.Sound) -> None:
        """Play this after what was put in before; from any thread."""
        self._queue.put(sound)

    def close(self) -> None:
        """Play no more, and give the loudspeaker back."""
        self._queue.put(None)
        self._thread.join(2.0)

    def _run(self) -> None:
        first = self._queue.get()
        if first is None:
            return
        try:
            output = self._open_output(DEFAULT, first.rate)
        except AudioError as error:
            self._failed(error)
            return
        follow = threading.Thread(target=self._follow, args=(output,), daemon=True)
        follow.start()
        sent = 0
        waits: deque[float] = deque(maxlen=LOOK_BACK)
        sound: wire.Sound | None = first
        while sound is not None:
            frames = len(sound.data) // 2
            waiting_s = (sent - self._taken) / output.rate
            waits.append(waiting_s)
            stands = len(waits) == LOOK_BACK and min(waits) > AHEAD_S
            if waiting_s > LATE_S or stands:
                self.left_out += frames
                waits.clear()
            else:
                data = at_rate(sound.data, sound.rate, output.rate)
                output.write(data)
                sent += len(data) // 2
            self.put_frames += frames
            sound = self._queue.get()
        output.close()

    def _follow(self, output: ProcessOutput) -> None:
        for report in output.reports():
            self._taken = report.first + report.samples


def at_rate(data: bytes, rate: int, wanted: int) -> bytes:
    """16-bit PCM of one channel at another rate, for a loudspeaker that has no other."""
    if rate == wanted:
        return data
    samples = np.frombuffer(data, np.int16)
    count = round(len(samples) * wanted / rate)
    places = np.arange(count) * (len(samples) / max(count, 1))
    made = np.interp(places, np.arange(len(samples)), samples).astype(np.int16)
    return bytes(made.tobytes())
