"""How long the description of the method lay open over each photo on the screen.

It can stay open from one photo to the next: every photo gets the time that fell to it, not the one
at which it was opened the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from labapp.analysis.task_records import Key
from labapp.events import Payload
from labapp.events.lifecycle import PartEnded, PartRestarted
from labapp.events.trials import TrialEnded
from labapp.tasks.judging.events import (
    DescriptionClosed,
    DescriptionOpened,
    PhotoJudged,
    PhotoShown,
)

METHOD, TREE = "method", "tree"
"""What a description is of."""


@dataclass(slots=True)
class OverPhotos:
    """A fold over the events of judging. looked_at_ns: photo on the screen -> working time in ns
    with the description of the method open; photos without any are left out."""

    looked_at_ns: dict[Key, int] = field(default_factory=dict)
    _open: bool = False
    _photo: Key | None = None
    _before_ns: int = 0

    def take(self, payload: Payload, photo: Key | None, working_ns: int) -> None:
        """Take in an event of a stage or warm-up; photo: the attempt it is of; working_ns: working
        time at it, which stands still at the session's end."""
        self._until(working_ns)
        match payload:
            case DescriptionOpened():
                self._open = payload.what == METHOD
            case DescriptionClosed():
                self._open = False
            case PhotoShown():
                self._photo = photo
            case PhotoJudged() | TrialEnded():
                self._photo = None
            case PartEnded() | PartRestarted():
                self._open, self._photo = False, None

    def ended(self, working_ns: int) -> dict[Key, int]:
        """`looked_at_ns` at the end of the session, which is at working time working_ns."""
        self._until(working_ns)
        return self.looked_at_ns

    def _until(self, working_ns: int) -> None:
        if self._open and self._photo is not None:
            spent = working_ns - self._before_ns
            self.looked_at_ns[self._photo] = self.looked_at_ns.get(self._photo, 0) + spent
        self._before_ns = working_ns
