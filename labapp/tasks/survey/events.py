"""Events and commands of a survey that another tool asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labapp.record.events.commands import Command
from labapp.record.events.registry import Identifying, Payload, Word, kind


@kind("survey.shown", durable=True)
class SurveyShown(Payload):
    """The page that leads to the lab's survey appeared.

    Attributes
    ----------
    link : the link, with the participant's id in it; de-identified copies withhold it.
    open_with : how the survey is opened: button, qr-code or both.
    """

    link: Identifying
    open_with: Word


@kind("survey.opened", durable=True)
class SurveyOpened(Payload):
    """The participant pressed the button that opens the survey in the browser of this computer.

    Attributes
    ----------
    opened : whether a browser was started; false also in a preview, which opens none.
    """

    opened: bool


@kind("survey.returned", durable=True)
class SurveyReturned(Payload):
    """The participant has returned from the survey, and the session continues.

    Attributes
    ----------
    by : who reported this: participant or moderator.
    """

    by: Word


@dataclass(frozen=True, slots=True)
class OpenSurvey(Command):
    """The participant opened the survey. opened: whether a browser was started."""

    opened: bool


@dataclass(frozen=True, slots=True)
class FinishSurvey(Command):
    """The participant has finished the survey."""


@dataclass(frozen=True, slots=True)
class EndSurvey(Command):
    """The moderator continues the session after the survey."""

    settles_leaving: ClassVar[bool] = True
    from_afar: ClassVar[bool] = True
