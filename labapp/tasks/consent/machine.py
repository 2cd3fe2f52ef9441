"""Consent: given with what the participant agrees to, or declined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, DeclineConsent, GiveConsent
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import PartEnded
from labapp.study.plugins.machine import PartMachine
from labapp.tasks.consent.events import ConsentDeclined, ConsentGiven
from labapp.tasks.consent.plan import ConsentPart


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
