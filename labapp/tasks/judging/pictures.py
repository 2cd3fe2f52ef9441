"""When a photo, or an exercise, is there to be judged: its pictures are files, there at once."""

from __future__ import annotations

from labapp.events.commands import Command, ShowQuestion
from labapp.plugins.pictures import PartPictures
from labapp.tasks.judging.plan import JudgingPart, WarmUpPart
from labapp.tasks.judging.state import JudgingState


class PhotoPictures(PartPictures[JudgingPart | WarmUpPart]):
    """The first exercise of a warm-up comes behind pages that explain it: its screen says when it
    is there."""

    def due(self, state: JudgingState) -> Command | None:
        photo = state.trial
        if photo is None or photo.started_ns is not None or state.outcome is not None:
            return None
        explained = isinstance(self.part, WarmUpPart) and photo.number == 1
        return None if explained else ShowQuestion()
