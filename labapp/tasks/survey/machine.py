"""A survey that another tool asks: its link is shown until the participant is back.

The survey in a plan, its link, and what a study file can say of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationInfo, field_validator

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Begin, Command, SkipStage
from labapp.record.events.lifecycle import PartEnded, SessionPlanned
from labapp.record.events.registry import Pauses
from labapp.study.conditions import VARIABLE, Scope
from labapp.study.plugins import texts
from labapp.study.plugins.item import Item
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.survey.events import (
    EndSurvey,
    FinishSurvey,
    OpenSurvey,
    SurveyOpened,
    SurveyReturned,
    SurveyShown,
)

OpenWith = Literal["button", "qr-code", "both"]
LONGEST_LINK = 500
"""Characters of a link; with more, a phone can hardly read its QR code."""
OF_SESSION = ("participant", "session", "study", "language")
"""What a link can say of the session, besides the variables of the study."""


def fill_link(template: str, values: Mapping[str, object]) -> str:
    """A link with values in place of names in braces, encoded for a URL; other names stay."""

    def encode(name: str, written: str) -> str:
        return quote(str(values[name]), safe="") if name in values else written

    return VARIABLE.sub(lambda match: encode(match[1], match[0]), template)


def of_variables(template: str, scope: Scope) -> str:
    """A link with the variables of the study filled in, and nothing of the session."""
    return fill_link(template, {k: v for k, v in scope.items() if k not in OF_SESSION})


def of_session(template: str, planned: SessionPlanned) -> str:
    """A link with all that it says of a session."""
    return fill_link(template, {name: getattr(planned, name) for name in OF_SESSION})


class SurveyPart(PlannedPart):
    """A survey of another tool.

    Attributes
    ----------
    document : the text on the participant's screen.
    link : with the study's variables filled in; names of `OF_SESSION` are still in braces.
    open_with : how it is opened.
    """

    leads_elsewhere: ClassVar[bool] = True
    part: Literal["survey"] = "survey"
    document: str
    link: str
    open_with: OpenWith


class SurveyItem(Item):
    """A survey of the lab's own survey tool, which opens in a browser or on the participant's
    phone. The session continues when the participant or the moderator says that it is finished.

    Attributes
    ----------
    survey : the file of the text on the participant's screen.
    anonymous : whether the link has no `{participant}`, so that nobody can tell who answered and
        the answers cannot be merged back (as for payment data).
    link : the address of the survey. `{participant}`, `{session}`, `{study}`, `{language}` and the
        variables of the study are filled in, encoded for a URL.
    open_with : how participants open it. `button`: in the browser of this computer; `qr-code`: on
        their phone; `both`: as they like.
    """

    key: ClassVar[str] = "survey"
    survey: str
    anonymous: bool = False
    link: Annotated[str, Field(max_length=LONGEST_LINK)]
    open_with: OpenWith = "button"

    def texts(self) -> tuple[str, ...]:
        return (self.survey,)

    def filled_in(self) -> Mapping[str, str]:
        return {"link": self.link}

    fills_in: ClassVar[tuple[str, ...]] = OF_SESSION

    @field_validator("link")
    @classmethod
    def _leads_somewhere(cls, link: str, info: ValidationInfo) -> str:
        if not link.isascii() or not link.isprintable() or " " in link:
            raise ValueError("a link without spaces and letters like ü; copy it from the browser")
        if nearly := texts.near_names(link):
            raise ValueError(
                f"names in braces such as {{participant}}; {nearly[0]!r} is not one of them"
            )
        try:
            parts = urlsplit(link)
        except ValueError as error:
            raise ValueError("a link that begins with https:// and the name of a server") from error
        if parts.scheme not in ("https", "http") or not parts.netloc or "{" in parts.netloc:
            raise ValueError("a link that begins with https:// and the name of a server")
        named = "participant" in texts.names(link)
        if info.data.get("anonymous") and named:
            raise ValueError("a link without {participant}, because `anonymous` is true")
        if not info.data.get("anonymous") and not named:
            raise ValueError(
                "a link with {participant}, so that answers can be merged back; "
                "or `anonymous: true` before it"
            )
        return link


@dataclass(frozen=True, slots=True)
class SurveyState:
    """link: None until the page came up; opened: how often a browser was started; failed: whether
    the last attempt to start one failed."""

    link: str | None = None
    opened: int = 0
    failed: bool = False
    outcome: str | None = None


def can_finish(part: SurveyPart, state: SurveyState) -> bool:
    """Whether the participant can have answered: not before the survey was opened, where only the
    button opens it."""
    tried = state.opened > 0 or state.failed
    return state.link is not None and (part.open_with != "button" or tried)


@dataclass(frozen=True, slots=True)
class SurveyMachine(PartMachine[SurveyState]):
    """link: with everything filled in; index: the place in the plan."""

    part: SurveyPart
    index: int
    link: str

    def initial(self, pauses: Pauses) -> SurveyState:
        return SurveyState()

    def wants_begin(self, state: SurveyState) -> bool:
        return state.link is None and state.outcome is None

    def decide(self, state: SurveyState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case Begin() if state.link is None:
                return (self._event(SurveyShown(self.link, self.part.open_with)),)
            case OpenSurvey(opened) if self._by_button(state):
                return (self._event(SurveyOpened(opened)),)
            case FinishSurvey() if can_finish(self.part, state):
                return self._end("participant")
            case EndSurvey():
                return self._end("moderator")
            case SkipStage():
                return (self._event(PartEnded(self.index, "skipped")),)
        return ()

    def _by_button(self, state: SurveyState) -> bool:
        return state.link is not None and self.part.open_with != "qr-code"

    def _event(self, payload: Payload) -> UnstampedEvent:
        return UnstampedEvent(payload, self.part.id)

    def _end(self, by: str) -> Sequence[UnstampedEvent]:
        return (self._event(SurveyReturned(by)), self._event(PartEnded(self.index, "completed")))

    def apply(self, state: SurveyState, event: Event, payload: Payload) -> SurveyState:
        match payload:
            case SurveyShown():
                return replace(state, link=payload.link)
            case SurveyOpened():
                opened = state.opened + payload.opened
                return replace(state, opened=opened, failed=not payload.opened)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state
