"""What a task makes of the events so far for what its words and widgets say beside the mirror."""

from __future__ import annotations

from labapp.events import Event
from labapp.ui.moderator.state.worktime import WorkTime


class Fold:
    """Made by a console for the parts of a task; `PartWords.fold` names it."""

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event, at whose working time `work` stands; True where what stands beside the
        mirror is to be drawn anew now, and not with the next change on the participant's screen."""
        raise NotImplementedError
