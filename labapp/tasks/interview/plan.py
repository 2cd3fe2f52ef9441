"""An interview in a plan."""

from __future__ import annotations

from typing import ClassVar, Literal

from labapp.plugins.part import PlannedPart


class InterviewPart(PlannedPart):
    """An interview that lasts until the moderator ends it. document: the text on the participant's
    screen; questions: the moderator's guide, in the order they are meant to be asked."""

    talks: ClassVar[bool] = True
    part: Literal["interview"] = "interview"
    document: str
    questions: tuple[str, ...] = ()

    def guide(self) -> tuple[str, ...]:
        return self.questions
