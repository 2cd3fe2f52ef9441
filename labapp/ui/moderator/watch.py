"""What the program itself notices while a session runs, as alarms for the journal: in English
whoever reads it. No Qt.
"""

from __future__ import annotations

from labapp.events import Payload
from labapp.events.lifecycle import AlarmCleared, AlarmRaised
from labapp.messages import Message, coded
from labapp.session.folder import LOW_DISK_BYTES
from labapp.ui.moderator import wording

SLOW_MS = 16.0
"""A picture should follow its dial within one frame of a 60 Hz screen."""
RECOVERED_MS = 12.0
"""An alarm ends only well below its limit, so that it does not flicker."""
DISK_OK_BYTES = LOW_DISK_BYTES * 6 // 5


class Watch:
    """Raises each alarm once and clears it when its cause is over.

    sound: the recorder runs and watches the disk itself.
    """

    def __init__(self, *, sound: bool) -> None:
        self._sound = sound
        self._standing: set[str] = set()

    def check(self, free_bytes: int | None, p99_ms: float | None) -> list[Payload]:
        """What to store after a look: free space of the data folder, 99th percentile of decoding
        (None: not known)."""
        out: list[Payload] = []
        if free_bytes is not None and not self._sound:
            size, unit = wording.plain_size(free_bytes).split()
            detail = Message("disk_free", size=float(size), unit=unit)
            out += self._judge(
                "disk_low", detail, free_bytes < LOW_DISK_BYTES, free_bytes > DISK_OK_BYTES
            )
        if p99_ms is not None:
            detail = Message("pictures_slow", ms=round(p99_ms))
            out += self._judge("decoder_slow", detail, p99_ms > SLOW_MS, p99_ms < RECOVERED_MS)
        return out

    def _judge(self, code: str, detail: Message, bad: bool, good: bool) -> list[Payload]:
        if bad and code not in self._standing:
            self._standing.add(code)
            return [AlarmRaised(code, str(detail), coded(detail))]
        if good and code in self._standing:
            self._standing.remove(code)
            return [AlarmCleared(code)]
        return []
