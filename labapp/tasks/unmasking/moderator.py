"""What the moderator's windows say of unmasking: a sequence of pictures is one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labapp.record.events import Event, payload_of
from labapp.record.events.trials import LevelChosen
from labapp.study.plugins.machine import INTERRUPTED, LATE_NS, PartMachine
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import ANSWERED, DONT_KNOW, Reaction, UnmaskingPart, UnmaskingState
from labapp.ui.language import N_, N_all, number, tr, tr_known
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.console import Fold, WorkTime
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


MS = 1_000_000


class UnmaskingWords(PartWords[UnmaskingPart]):
    joins = True

    def progress(self, part: UnmaskingPart, machine: PartMachine[Any], state: Any) -> str:
        most = "" if part.adaptive is None else wording.MOST
        return f"{self._number(part, machine, state)} / {most}{part.total}"

    def _number(self, part: UnmaskingPart, machine: PartMachine[Any], state: Any) -> int:
        """Of the present picture among those of all blocks, from 1."""
        trial = machine.trial(state)
        return part.first + (1 if trial is None else trial[0])

    def subject(self, part: UnmaskingPart) -> str:
        shared = part.unmasked
        methods = ", ".join(shared.methods.values())
        named = {"set": shared.stimuli, "number": shared.set, "methods": methods}
        return tr("unmasking.set", **named)

    def detail(self, part: UnmaskingPart, *, blind: bool) -> str:
        """Which of the stage's pictures a block has: 101–200; nothing if it has all of them."""
        if part.trials == part.total:
            return ""
        return f"{part.first + 1}–{part.first + part.trials}"

    def facts(self, parts: Sequence[UnmaskingPart]) -> str:
        """What is known of a stage of masked pictures, in one line; parts: all of its blocks."""
        first = parts[0]
        shared = first.unmasked
        sequences = [sequence for part in parts for sequence in part.sequences]
        made = {
            "n": len({sequence.image for sequence in sequences}),
            "methods": len({sequence.method for sequence in sequences}),
            "masks": len(shared.percents),
            "all": first.total,
        }
        percents = ", ".join(number(f"{percent:g}") for percent in shared.percents)
        facts = [
            tr("unmasking.design", **made),
            tr("unmasking.percents", percents=percents),
            tr(FILLS[shared.fill]),
            tr(RANKED[shared.sign]),
            tr("task.model_right_in", percent=wording.percent(shared.accuracy / 100)),
        ]
        if first.blank_ms:
            time = wording.milliseconds(first.blank_ms * MS)
            facts.append(tr("unmasking.blank_time", time=time))
        if len(parts) > 1:
            facts.append(tr("unmasking.blocks", n=len(parts)))
        keys = [
            f"{tr_known(button.key, KEYS)} "
            f"{name_response(first, DONT_KNOW if button.of is None else place)}"
            for place, button in enumerate(first.buttons, start=1)
        ]
        facts.append(tr("unmasking.keys", keys=", ".join(keys)))
        return "  ·  ".join(facts)

    def trial(self, part: UnmaskingPart, number: int) -> str:
        if part.adaptive is not None:
            return tr("unmasking.adaptive_picture", number=number)
        sequence, _ = part.at(number)
        return tr("unmasking.sequence", number=sequence, all=len(part.sequences))

    def goes_on(self, part: UnmaskingPart, number: int, outcome: str) -> bool:
        if part.adaptive is not None:
            return outcome == INTERRUPTED
        sequence, mask = part.at(number)
        whole = mask == len(part.sequences[sequence - 1].masks)
        return outcome == INTERRUPTED or (outcome == ANSWERED and not whole)

    def place(self, part: UnmaskingPart, machine: PartMachine[Any], state: Any) -> str:
        return tr(
            "unmasking.picture_of",
            part=wording.part_title(part.title),
            number=self._number(part, machine, state),
            all=part.total,
        )

    fold = "labapp.tasks.unmasking.moderator:Stimuli"
    beside_widget = "labapp.tasks.unmasking.beside:Masks"

    def beside(
        self, part: UnmaskingPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        state = session.part_state
        if not isinstance(state, UnmaskingState) or state.trial is None:
            return
        trial = state.trial
        sequence, mask = part.stimulus(trial.sequence, trial.mask)
        now = tr("unmasking.blank")
        if trial.open:
            now = tr("unmasking.shown", percent=number(f"{mask.percent:g}\N{NO-BREAK SPACE}%"))
        elif trial.due and session.clock.now_ns() - trial.due_ns > LATE_NS:
            now = tr("unmasking.off_screen")
        yield Fact(now, "strong")
        names = {button.of: button.name for button in part.buttons}
        truth, prediction = (names.get(of) or of for of in (sequence.truth, sequence.prediction))
        wrong = "" if sequence.truth == sequence.prediction else tr("task.wrong_mark")
        method = part.unmasked.methods.get(sequence.method, sequence.method)
        yield Fact(tr("task.correct", name=truth), veiled=True)
        yield Fact(tr("task.predicted", name=prediction) + wrong, veiled=True)
        yield Fact(tr("unmasking.picture", id=sequence.image), veiled=True)
        yield Fact(tr("unmasking.method", name=method), veiled=True)
        yield Fact(last_of(part, console.fold(Stimuli)), "secondary")


def last_of(part: UnmaskingPart, stimuli: Stimuli) -> str:
    """The newest answer of the part and its reaction time."""
    if stimuli.last is None or stimuli.last[0] != part.id:
        return tr("unmasking.no_answer")
    given = stimuli.responses[stimuli.last]
    right = part.is_right(given.sequence, given.response)
    mark = "" if right is None else " ✓" if right else " ✗"
    return tr(
        "unmasking.last_answer",
        answer=name_response(part, given.response) + mark,
        time=wording.milliseconds(given.reaction_ns),
    )


def name_response(part: UnmaskingPart, response: int) -> str:
    if response == DONT_KNOW:
        return tr("task.unsure")
    button = part.buttons[response - 1]
    return button.name or str(button.of)


FILLS = N_all("unmasking.fill", "mean", "black", "grey", "white")
RANKED = {"signed": N_("unmasking.ranked.signed"), "absolute": N_("unmasking.ranked.absolute")}


KEYS = {
    "Space": N_("unmasking.key.space"),
    "Left": N_("unmasking.key.left"),
    "Right": N_("unmasking.key.right"),
    "Up": N_("unmasking.key.up"),
    "Down": N_("unmasking.key.down"),
}
"""Keys of response buttons that have a name; the others are letters and digits."""


Place = tuple[str, int]
"""The id of a part and the number of a stimulus in it, from 1."""


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """response: as the journal has it, 0 for "I don't know"; reaction_ns: from the first painted
    frame to the input; sequence, mask: their numbers, from 1."""

    response: int
    reaction_ns: int
    sequence: int
    mask: int


class Stimuli(Fold):
    """The responses of a session by stimulus; last: where the newest is, None before the first."""

    def __init__(self) -> None:
        self.responses: dict[Place, TimedResponse] = {}
        self.last: Place | None = None
        self.tracks: dict[Place, int] = {}  # of an adaptive stage, whose turn it was
        self._open: dict[Place, Reaction] = {}
        self._drawn: dict[Place, StimulusDrawn] = {}

    def apply(self, event: Event, work: WorkTime) -> bool:
        """The mirror shows an answer with the picture that follows it, and not before."""
        if event.kind == "part.restarted":  # it has no answers yet
            stage = event.part_id
            self.responses = {at: given for at, given in self.responses.items() if at[0] != stage}
            if self.last not in self.responses:
                self.last = None
        if event.part_id is None or event.trial is None:
            return False
        place = (event.part_id, event.trial)
        if event.kind == LevelChosen.kind:
            self.tracks[place] = int(event.payload["track"])
        if event.kind == StimulusDrawn.kind:
            drawn = payload_of(event)
            assert isinstance(drawn, StimulusDrawn)
            self._drawn[place] = drawn
        if event.kind in (StimulusShown.kind, ResponseGiven.kind):
            reaction = self._open.setdefault(place, Reaction())
            reaction.apply(payload_of(event))
            if (
                event.kind == ResponseGiven.kind
                and (taken := reaction.reaction_time_ns) is not None
            ):
                drawn, response = self._drawn[place], int(event.payload["response"])
                self.responses[place] = TimedResponse(response, taken, drawn.sequence, drawn.mask)
                self.last = place
        return False
