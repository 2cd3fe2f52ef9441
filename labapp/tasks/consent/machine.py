"""Consent: given with what the participant agrees to, or declined.

The consent form in a plan, and what a study file may say of consent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, DeclineConsent, GiveConsent
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses
from labapp.study.consent import Asked, ConsentForm, ConsentSetting, Sign, Use
from labapp.study.plugins.item import FlowOf, Item
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.consent.events import ConsentDeclined, ConsentGiven


class ConsentPart(PlannedPart):
    """The consent form. document_sha256: hash of its text; sign: how it is signed; items: uses of
    the data that are asked one by one."""

    consents: ClassVar[bool] = True
    part: Literal["consent"] = "consent"
    document: str
    document_sha256: str
    sign: Sign = "name"
    items: dict[Use, Asked] = Field(default_factory=dict)

    def signed_document(self) -> str | None:
        return None if self.sign == "click" else self.document_sha256


class ConsentItem(Item):
    """The consent form, which is read and signed before anything else.

    Attributes
    ----------
    consent : its text, or its text with how it is signed and what is asked in it.
    """

    key: ClassVar[str] = "consent"
    consents: ClassVar[bool] = True
    first_only: ClassVar[bool] = True
    consent: ConsentSetting

    def texts(self) -> tuple[str, ...]:
        return (self.consent.text,)

    def consent_form(self) -> ConsentForm:
        return self.consent

    def problems(self, study: FlowOf) -> Iterator[str]:
        """What it asks about sound must be what the study does with it."""
        recording, items = study.recording, self.consent.items
        if recording is None:
            return
        if recording.audio == "required" and items.get("audio") == "optional":
            yield (
                "consent.items.audio: required, because recording.audio is required, so nobody "
                "can take part without being recorded"
            )
        heard = [use for use in items if use in ("audio", "transcript", "share_audio")]
        if recording.audio == "off" and heard:
            yield (
                f"no {heard[0]!r} in consent.items, because recording.audio is off and there is "
                "no sound"
            )


@dataclass(frozen=True, slots=True)
class ConsentState:
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class ConsentTask(PartMachine[ConsentState]):
    """The consent form. Typed names never pass through here: see session.private."""

    part: ConsentPart
    index: int

    def initial(self, pauses: Pauses) -> ConsentState:
        return ConsentState()

    def decide(
        self, state: ConsentState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        sha256 = self.part.document_sha256
        match command:
            case GiveConsent(uses):
                agreed: dict[str, bool] = {
                    use: uses is None or bool(uses.get(use, False)) for use in self.part.items
                }
                required = (use for use, asked in self.part.items.items() if asked == "required")
                if not all(agreed[use] for use in required):
                    return ()
                return (
                    UnstampedEvent(ConsentGiven(sha256, self.part.sign, agreed), self.part.id),
                    UnstampedEvent(PartEnded(self.index, "completed"), self.part.id),
                )
            case DeclineConsent():
                return (
                    UnstampedEvent(ConsentDeclined(sha256), self.part.id),
                    UnstampedEvent(PartEnded(self.index, "declined"), self.part.id),
                )
        return ()

    def apply(self, state: ConsentState, event: Event, payload: Payload) -> ConsentState:
        return ConsentState(payload.outcome) if isinstance(payload, PartEnded) else state
