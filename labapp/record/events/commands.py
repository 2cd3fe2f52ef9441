"""Commands: what a widget, a script, the clock or the runner asks for.

A command is a wish; only the events that `decide` answers with are facts. Those here are of every
session; a task has its own, which the session hands on to it: see `labapp.tasks.*.commands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from labapp.record.events.lifecycle import PointerMoved
from labapp.record.events.look import Look
from labapp.record.events.trials import SoundAction


class Command:
    """Base of all commands, those of other packages too."""

    while_leaving: ClassVar[bool] = False
    """Whether a part receives it while the participant is asked whether to leave."""
    settles_leaving: ClassVar[bool] = False
    """Whether the moderator ends the part with it: who asked to leave has left, and nobody has to
    answer that any more."""
    from_afar: ClassVar[bool] = False
    """Whether the moderator can ask for it at another computer (see `labapp.session.remote`)."""


@dataclass(frozen=True, slots=True)
class Begin(Command):
    """The runner opens a part, or the next question of it."""


@dataclass(frozen=True, slots=True)
class Tick(Command):
    """Time has passed; sent by the runner when a deadline is due."""

    while_leaving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Skip(Command):
    """The participant skips the question."""


@dataclass(frozen=True, slots=True)
class Next(Command):
    """The participant goes on: next question, next page, continue."""


@dataclass(frozen=True, slots=True)
class Back(Command):
    """The participant turns back one page of a text or tutorial."""


@dataclass(frozen=True, slots=True)
class GiveConsent(Command):
    """The participant agrees. A name or signature goes to the private table, never into an event.

    uses: whether they agree to each use that is asked one by one; None: to all of them.
    """

    uses: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class DeclineConsent(Command):
    pass


@dataclass(frozen=True, slots=True)
class ShowQuestion(Command):
    """The pictures of a question are there and the screen shows them."""


@dataclass(frozen=True, slots=True)
class HandIn(Command):
    """Hand in the answers to a question; the right ones are told."""


@dataclass(frozen=True, slots=True)
class SkipStage(Command):
    """The moderator ends the current part. index: the part that was asked about; when the session
    has gone on to another one meanwhile, nothing is skipped. None: whichever runs. to: the place in
    the plan at which the session continues; the parts in between are skipped too. None: at the next
    part."""

    from_afar: ClassVar[bool] = True
    while_leaving: ClassVar[bool] = True
    index: int | None = None
    to: int | None = None


@dataclass(frozen=True, slots=True)
class TakeBackSkip(Command):
    """Take back a skip that is not confirmed yet. what: trial or part."""

    from_afar: ClassVar[bool] = True
    while_leaving: ClassVar[bool] = True
    what: str


@dataclass(frozen=True, slots=True)
class ConfirmSkip(Command):
    """Do not wait until the time to take a skip back is over: a program skipped."""

    while_leaving: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class AskToLeave(Command):
    """The participant tries to leave the window. how: escape or close."""

    how: str


@dataclass(frozen=True, slots=True)
class StayHere(Command):
    """The participant who tried to leave the window goes on."""


@dataclass(frozen=True, slots=True)
class Reopen(Command):
    """The moderator takes an early end back. seq: of its session.ended."""

    from_afar: ClassVar[bool] = True
    seq: int


@dataclass(frozen=True, slots=True)
class Pause(Command):
    from_afar: ClassVar[bool] = True
    reason: str


@dataclass(frozen=True, slots=True)
class ExplainPause(Command):
    """The moderator says why the session is paused."""

    from_afar: ClassVar[bool] = True
    reason: str


@dataclass(frozen=True, slots=True)
class Resume(Command):
    from_afar: ClassVar[bool] = True
    reason: str


@dataclass(frozen=True, slots=True)
class StandStill(Command):
    """The program, or the whole computer, stood still; the fields are those of
    `labapp.record.events.lifecycle.ProgramStalled`."""

    who: str
    from_ns: int
    duration_ns: int
    asleep_ns: int = 0


@dataclass(frozen=True, slots=True)
class EndSession(Command):
    """End before the plan is done. withdrawal: empty, or what a participant who withdraws wants
    done with the data: keep or delete. debrief: the debriefing is shown, if the study has one
    and lets it be seen."""

    from_afar: ClassVar[bool] = True
    reason: str
    withdrawal: str = ""
    debrief: bool = True


@dataclass(frozen=True, slots=True)
class MovePointer(Command):
    """The pointer moved over the participant's window. key: part, trial and attempt of the question
    on the screen."""

    key: tuple[str | None, int | None, int | None]
    path: PointerMoved


@dataclass(frozen=True, slots=True)
class PlayTextSound(Command):
    """Start a sound of a text or go on with it, pause it, or say that it is over. seconds: how long
    it lasts; audible: whether a loudspeaker is open."""

    sound: str
    action: SoundAction
    seconds: float
    audible: bool = True


@dataclass(frozen=True, slots=True)
class ShowLook(Command):
    """What the participant's window shows besides the session's state has changed."""

    look: Look


@dataclass(frozen=True, slots=True)
class AddNote(Command):
    from_afar: ClassVar[bool] = True
    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class AddFlag(Command):
    from_afar: ClassVar[bool] = True
    number: int


@dataclass(frozen=True, slots=True)
class AddDeviation(Command):
    """The moderator writes down that something went otherwise than the study says."""

    from_afar: ClassVar[bool] = True
    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class GivePrompt(Command):
    from_afar: ClassVar[bool] = True
    text: str


@dataclass(frozen=True, slots=True)
class CorrectNote(Command):
    """Replace the text of the note in event seq; an empty text takes the note back. See
    `labapp.record.events.lifecycle.NoteCorrected`."""

    from_afar: ClassVar[bool] = True
    seq: int
    text: str
    typing_began_ns: int


@dataclass(frozen=True, slots=True)
class Unblind(Command):
    """The console names the representations from now on."""

    from_afar: ClassVar[bool] = True
