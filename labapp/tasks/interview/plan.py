"""An interview in a plan, and what a study file may say of interviews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from labapp.study.plugins.item import FlowOf, Item
from labapp.study.plugins.part import PlannedPart


class InterviewPart(PlannedPart):
    """An interview that lasts until the moderator ends it. document: the text on the participant's
    screen; questions: the moderator's guide, in the order they are meant to be asked."""

    talks: ClassVar[bool] = True
    part: Literal["interview"] = "interview"
    document: str
    questions: tuple[str, ...] = ()

    def guide(self) -> tuple[str, ...]:
        return self.questions


Guide = Annotated[
    tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...],
    Field(max_length=30),
]
"""Questions that a moderator asks, in their order."""


class InterviewItem(Item):
    """An interview, which the moderator ends. The text is on the participant's screen meanwhile.

    Attributes
    ----------
    interview : the file of the text on the participant's screen.
    questions : the moderator's guide; where the study is there in several languages, under each
        language its own. The first nine have a key each that stamps when they were asked.
    """

    key: ClassVar[str] = "interview"
    talks: ClassVar[bool] = True
    interview: str
    questions: Guide | dict[str, Guide] = ()

    def texts(self) -> tuple[str, ...]:
        return (self.interview,)

    def guide(self, language: str) -> tuple[str, ...]:
        return self.questions[language] if isinstance(self.questions, dict) else self.questions

    def problems(self, study: FlowOf) -> Iterator[str]:
        guides = self.questions
        if isinstance(guides, dict) and study.language and study.language not in guides:
            yield (
                f"an interview with questions in the study's language, {study.language}; they are "
                f"there in {', '.join(guides) or 'none'}"
            )
