"""When a photo, or an exercise, is there to be judged: its pictures are files, there at once."""

from __future__ import annotations

from labapp.events.commands import Command
from labapp.plugins.pictures import QuestionPictures
from labapp.tasks.judging.plan import JudgingPart, WarmUpPart
from labapp.tasks.judging.state import JudgingState


class PhotoPictures(QuestionPictures[JudgingPart | WarmUpPart]):
    """The first exercise of a warm-up comes behind pages that explain it: its screen says when it
    is there."""

    def due(self, state: JudgingState) -> Command | None:
        first = state.trial is not None and state.trial.number == 1
        return None if first and isinstance(self.part, WarmUpPart) else super().due(state)
