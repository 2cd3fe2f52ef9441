"""What the moderator's windows say of a part: as it stands here of any, else its task says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from labapp.base import discovery
from labapp.record.events.commands import Command
from labapp.study.plugins import registry
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart, section_of
from labapp.ui.language import N_, counted, tr
from labapp.ui.moderator import wording

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

P = TypeVar("P", bound=PlannedPart)


@dataclass(frozen=True, slots=True)
class Fact:
    """A line beside the participant's screen, for the moderator alone.

    Attributes
    ----------
    text
        In the moderator's language.
    role, tone
        How it looks, see the console's style sheet.
    veiled
        Whether a blind moderator does not see it: what is true, what a model predicts, a method.
    """

    text: str
    role: Literal["", "strong", "secondary", "number"] = ""
    tone: Literal["", "good", "alarm"] = ""
    veiled: bool = False


class PartWords(Generic[P]):
    """Words for the parts of one task, in the moderator's language; see `TaskType.moderator`."""

    def progress(self, part: P, machine: PartMachine[Any], state: Any) -> str:
        """How far the part on the screen is, in a word or two."""
        if part.has_trials:
            trial = machine.trial(state)
            return f"{1 if trial is None else trial[0]} / {part.trial_count()}"
        if (pages := machine.page_count()) > 1:
            return tr("progress.page", number=machine.page(state) + 1, all=pages)
        return tr("progress.reading")

    def subject(self, part: P) -> str:
        """What a stage is about, such as its model: hidden while the session is blind."""
        return ""

    def detail(self, part: P, *, blind: bool) -> str:
        """What stands beside a part's title in the plan."""
        return self.subject(part) if part.measures and not blind else ""

    def facts(self, parts: Sequence[P]) -> str:
        """What is known of a stage before a session, in one line; parts: its blocks."""
        return ""

    def trial(self, part: P, number: int) -> str:
        """A trial in the timeline, as a block of its own or, where `goes_on` joins several, as
        theirs."""
        of = part.trial_count() or number
        return tr("progress.question_of", question=self.noun(part, number), all=of)

    def noun(self, part: P, number: int) -> str:
        """What a trial is called, with its number."""
        return tr("progress.question", number=number)

    def place(self, part: P, machine: PartMachine[Any], state: Any) -> str:
        """Where the participant is, over the mirror."""
        trial = machine.trial(state)
        title = wording.part_title(part.title)
        return title if trial is None else f"{title} · {self.trial(part, trial[0])}"

    def beside(self, part: P, session: SessionView, console: ConsoleState) -> Iterator[Fact]:
        """What a moderator reads beside the participant's screen, from top to bottom.

        session: as the participant's screen has it; console: what the events so far came to.
        """
        progress = self.progress(part, session.task, session.part_state)
        if part.consents:
            yield Fact(tr("progress.consent"))
        elif progress == tr("progress.reading"):
            yield Fact(tr("progress.text"))
        elif progress:
            yield Fact(tr("progress.on_screen", progress=progress))

    fold: ClassVar[str] = ""
    """Where that is which these lines and the widget read of the events so far, as `module:Class`
    of a `labapp.ui.moderator.state.console.Fold`; empty for nothing. `ConsoleState.fold` has it."""
    beside_widget: ClassVar[str] = ""
    """Where a widget is that stands below these lines, as `module:Class` of a
    `labapp.ui.moderator.mirror.Beside`; empty for none."""

    panel: ClassVar[str] = ""
    """Where a widget is that takes the place of the mirror while a part runs, as `module:Class` of
    a `labapp.ui.moderator.mirror.PartPanel`; empty for none. It is for parts that the moderator
    leads."""

    def chords(self, parts: Sequence[P]) -> Mapping[str, Command]:
        """Keys of the moderator, in whichever window, and what each asks of the session.

        parts: all of the plan that are of the task, at least one. Keys are chords with Alt+Shift:
        plain keys are the participant's.
        """
        return {}

    def goes_on(self, part: P, number: int, outcome: str) -> bool:
        """Whether the block of a trial goes on after it ended so: further trials belong to it."""
        return False

    joins = False
    """Whether several trials are one block."""
    marks: Mapping[str, str] = {}
    """Kinds of events that are marks of the timeline, and which mark each is."""

    def mark(self, part: P, payload: Mapping[str, Any]) -> str:
        """The words of such a mark, an event of the part."""
        raise NotImplementedError

    def moved(self, part: P, numbers: Sequence[int]) -> str:
        """What was moved, by the numbers of `Payload.moved_dial`, from 0, in their order."""
        return tr("task.dial", number=", ".join(str(number + 1) for number in numbers))

    def lanes(self, part: P) -> frozenset[str]:
        """The marks that the timeline names in its legend because of a part."""
        return frozenset()


def title_of(parts: Sequence[PlannedPart], place: int, *, blind: bool) -> str:
    """What a part is called where the whole plan is spoken of: a stage with what it is about, a
    questionnaire with the stage that it asks about."""
    part = parts[place]
    title = wording.part_title(part.title)
    owner = next((each for each in parts if each.id == part.belongs_to()), None)
    if owner is not None:
        return f"{title} · {wording.part_title(owner.title)}"
    detail = words_of(part).detail(part, blind=blind)
    return f"{title} ({detail})" if detail else title


def section_title(parts: Sequence[PlannedPart], place: int, *, blind: bool) -> str:
    """What the section of a part is called: the stage in it, or the part where there is none."""
    section = section_of(parts, place)
    stage = next((each for each in section if parts[each].has_trials), section.start)
    return title_of(parts, stage, blind=blind)


def contents_of(parts: Sequence[PlannedPart], places: Iterable[int], asked: int = 0) -> str:
    """What is left out with some parts, such as “1 text, 7 questions and 2 questionnaires”. asked:
    how many questions of them are over."""
    left = [parts[place] for place in places]
    questions = sum(part.trial_count() for part in left) - asked
    others = [part for part in left if not part.has_trials]
    asks = sum(part.questionnaire() is not None for part in others)
    rests = sum(part.rests for part in others)
    talks = sum(part.talks for part in others)
    counts = (
        (len(others) - asks - rests - talks, N_("progress.texts")),
        (questions, N_("progress.questions")),
        (asks, N_("progress.questionnaires")),
        (rests, N_("progress.breaks")),
        (talks, N_("progress.interviews")),
    )
    told = [counted(n, key) for n, key in counts if n > 0]
    return wording.listed(told) if told else ""


@cache
def _words(where: str) -> PartWords[Any]:
    return discovery.load(where)() if where else PartWords()


def words_of(part: PlannedPart) -> PartWords[Any]:
    """The words for a part."""
    return _words(registry.task_type_of(part).moderator)


def chords_of(parts: Sequence[PlannedPart]) -> dict[str, Command]:
    """The keys of the moderator for the parts of a plan."""
    of_task: dict[PartWords[Any], list[PlannedPart]] = {}
    for part in parts:
        of_task.setdefault(words_of(part), []).append(part)
    chords: dict[str, Command] = {}
    for words, own in of_task.items():
        chords |= words.chords(own)
    return chords


@cache
def every_mark() -> dict[str, PartWords[Any]]:
    """By kind of event, who has words for its mark."""
    every = (_words(known.moderator) for known in registry.task_types())
    return {kind: words for words in every for kind in words.marks}
