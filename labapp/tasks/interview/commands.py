"""Commands of the interview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labapp.events.commands import Command


@dataclass(frozen=True, slots=True)
class AskQuestion(Command):
    """The moderator asks a question of the interview's guide, counted from 1."""

    while_leaving: ClassVar[bool] = True
    question: int


@dataclass(frozen=True, slots=True)
class EndInterview(Command):
    """The interview is over."""

    settles_leaving: ClassVar[bool] = True
