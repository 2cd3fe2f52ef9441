"""The participant's voice at another computer: played as it comes, and never later than it must be.

A network brings sound in bursts. What a burst brings too late is left out, so that the voice stays
near to what is seen; the recording at the session's computer is not touched.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from labapp.base.errors import AudioError
from labapp.record.audio.player import DEFAULT, OpenOutput, open_output
from labapp.session.remote import wire

LATE_S = 0.12
"""Sound that would be heard so much later than it came is left out."""


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
        self.left_out = 0
        """Frames that came too late to be heard."""
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
        sound: wire.Sound | None = first
        while sound is not None:
            frames = len(sound.data) // 2
            if output.rate == sound.rate:
                if (sent - self._taken) / output.rate > LATE_S:
                    self.left_out += frames
                else:
                    output.write(sound.data)
                    sent += frames
            sound = self._queue.get()
        output.close()

    def _follow(self, output: object) -> None:
        for report in output.reports():  # type: ignore[attr-defined]
            self._taken = report.first + report.samples
