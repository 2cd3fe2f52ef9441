"""What was answered to masked pictures so far, for who looks on."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.events import Event
from labapp.ui.moderator.state.fold import Fold, WorkTime

Place = tuple[str, int]
"""The id of a part and the number of a stimulus in it, from 1."""


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response and its reaction time.

    response: as the journal has it, 0 for "I don't know"; reaction_ns: from the first painted
    frame to the input.
    """

    response: int
    reaction_ns: int


class Stimuli(Fold):
    """The responses of a session.

    responses: by stimulus; last: where the newest is, None before the first.
    """

    def __init__(self) -> None:
        self.responses: dict[Place, TimedResponse] = {}
        self.last: Place | None = None
        self._painted: dict[Place, int] = {}

    def apply(self, event: Event, work: WorkTime) -> bool:
        """The mirror shows an answer with the picture that follows it, and not before."""
        if event.kind == "part.restarted":
            self._forget(event.part_id)
        if event.part_id is None or event.trial is None:
            return False
        place = (event.part_id, event.trial)
        if event.kind == "stimulus.shown":
            self._painted[place] = int(event.payload["painted_ns"])
        elif event.kind == "response.given":
            response, at = event.payload["response"], int(event.payload["input_ns"])
            self.responses[place] = TimedResponse(int(response), at - self._painted[place])
            self.last = place
        return False

    def _forget(self, stage: str | None) -> None:
        """A stage that begins again has no answers yet."""
        self.responses = {
            place: response for place, response in self.responses.items() if place[0] != stage
        }
        if self.last is not None and self.last not in self.responses:
            self.last = None
