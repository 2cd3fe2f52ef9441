"""Event and commands of the interview: what was asked, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labapp.record.events.commands import Command
from labapp.record.events.lifecycle import GuideQuestion
from labapp.record.events.registry import Whole, Word, kind


@kind("interview.question_asked", durable=True)
class QuestionAsked(GuideQuestion):
    """The moderator asked a question of the interview's guide."""

    question: Whole
    text: Word


@dataclass(frozen=True, slots=True)
class AskQuestion(Command):
    """The moderator asks a question of the interview's guide, counted from 1."""

    while_leaving: ClassVar[bool] = True
    from_afar: ClassVar[bool] = True
    question: int


@dataclass(frozen=True, slots=True)
class EndInterview(Command):
    """The interview is over."""

    settles_leaving: ClassVar[bool] = True
    from_afar: ClassVar[bool] = True
