"""Decisions of the tasks that judge explanations, and of the warm-up before them.

All of them are one machine: a photo (or exercise) is drawn and shown, its questions are answered in
any order and as often as wanted, and then it is left for good. In a stage, Next hands the answers
in and leads to the next photo at once; in the warm-up they are handed in, told about, and left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.events import Body, Draft, Event
from labapp.events.commands import Begin, Command, HandIn, Next, ShowQuestion, SkipStage, Tick
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartEnded
from labapp.plugins import stage
from labapp.tasks.judging import description, performance
from labapp.tasks.judging.commands import Judge, OpenSpecies
from labapp.tasks.judging.events import (
    JudgementMade,
    PhotoDrawn,
    PhotoJudged,
    PhotoShown,
    SpeciesOpened,
)
from labapp.tasks.judging.fold import apply_event
from labapp.tasks.judging.plan import (
    Exercise,
    JudgingPart,
    PlannedPhoto,
    Question,
    WarmUpPart,
    applies,
    exercise_questions,
    questions,
)
from labapp.tasks.judging.state import Judged, JudgingState, PhotoTrial

JUDGED = "judged"


def missing(asked: Sequence[Question], trial: PhotoTrial) -> tuple[Question, ...]:
    """The questions that are still to be answered."""
    return tuple(
        question
        for question in asked
        if applies(question, trial.answers) and question.id not in trial.answers
    )


def answered(asked: Sequence[Question], trial: PhotoTrial, command: Judge) -> Sequence[Body]:
    """What an answer leads to: nothing where it is none of the question, or the same again. It
    takes back the answers to questions that no longer apply."""
    question = next((one for one in asked if one.id == command.question), None)
    if question is None or not applies(question, trial.answers):
        return ()
    if not question.first <= command.value <= question.last:
        return ()
    if trial.answers.get(question.id) == command.value:
        return ()
    now = {**trial.answers, question.id: command.value}
    left = [one.id for one in asked if one.id in now and not applies(one, now)]
    return (
        JudgementMade(question.id, command.value, command.device),
        *(JudgementMade(name, None, command.device) for name in left),
    )


@dataclass(frozen=True)
class JudgingTask(stage.StageMachine[JudgingState]):
    """A stage of photos. index: the part's place in the plan; seed, study and participant: for the
    coin among the ties of the performance."""

    part: JudgingPart
    index: int
    seed: int
    study: str
    participant: str

    def initial(self, pauses: Pauses) -> JudgingState:
        return JudgingState(pauses)

    def wants_begin(self, state: JudgingState) -> bool:
        return _wants_begin(state)

    def next_deadline(self, state: JudgingState) -> int | None:
        return stage.next_deadline(state, stage.limit_ns(self.part, state))

    def closing(self, state: JudgingState) -> Sequence[Body]:
        return description.closed(state.description)

    def result(self, state: JudgingState) -> Judged | None:
        return None if state.performance is None else Judged(state.performance, state.judged)

    def photo(self, trial: PhotoTrial) -> PlannedPhoto:
        """The photo of a trial, as planned."""
        return self.part.photos[trial.number - 1]

    def questions(self, trial: PhotoTrial) -> tuple[Question, ...]:
        """The questions about it, whether or not they apply."""
        return questions(self.part.task, self.photo(trial))

    def missing(self, trial: PhotoTrial) -> tuple[Question, ...]:
        """Those still to be answered before Next leads on."""
        return missing(self.questions(trial), trial)

    @property
    def offered(self) -> tuple[str, ...]:
        """What can be opened at any time: the method's description, and the whole tree."""
        tree = (description.TREE,) if self.part.explained.tree else ()
        return (description.METHOD, *tree)

    def decide(self, state: JudgingState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        match command:
            case SkipStage():
                return self._end(state, stage.skip_stage(self.part, self.index, state, None))
            case Tick():
                working = state.pauses.working_ns(now_ns)
                return self._end(
                    state, stage.time_is_up(self.part, self.index, state, None, working)
                )
            case Begin():
                return self._begin(state)
        if bodies := description.toggled(self.offered, state.description, command):
            return [self._keyed(state, body) for body in bodies]
        trial = state.trial
        if trial is None:
            return ()
        if isinstance(command, ShowQuestion):
            return _show(self.part, trial)
        return self._open(state, trial, command) if trial.open else ()

    def _open(self, state: JudgingState, trial: PhotoTrial, command: Command) -> Sequence[Draft]:
        """While the photo is judged."""
        bodies: Sequence[Body] = ()
        match command:
            case Judge():
                bodies = answered(self.questions(trial), trial, command)
            case OpenSpecies(option) if option != trial.option:
                if self.part.task == "prototype-distinction":
                    known = 1 <= option <= len(self.photo(trial).options)
                    bodies = (SpeciesOpened(option),) if known else ()
            case Next() if not self.missing(trial):
                return self._judged(state, trial)
        return [stage.draft(self.part, trial, body) for body in bodies]

    def _judged(self, state: JudgingState, trial: PhotoTrial) -> Sequence[Draft]:
        """The answers are final, and the next photo follows."""
        right = performance.marked(self.part.task, self.photo(trial), trial.answers)
        left = stage.leave_question(self.part, self.index, state, trial, JUDGED)
        final = PhotoJudged(dict(trial.answers), right)
        state = replace(state, judged={**state.judged, trial.number: trial.answers})
        return (stage.draft(self.part, trial, final), *self._end(state, left))

    def _end(self, state: JudgingState, drafts: Sequence[Draft]) -> Sequence[Draft]:
        """Before a stage ends, however it does, the description is closed and the performance
        computed."""
        if not drafts or not isinstance(drafts[-1].body, PartEnded):
            return drafts
        computed = performance.compute(
            self.part, state.judged, self.seed, self.study, self.participant, state.attempt
        )
        closing = [*description.closed(state.description), computed]
        return [*drafts[:-1], *(Draft(body, self.part.id) for body in closing), drafts[-1]]

    def _keyed(self, state: JudgingState, body: Body) -> Draft:
        """What happens beside the photos carries the photo that is on the screen, if there is."""
        trial = state.trial
        if trial is None or trial.outcome is not None:
            return Draft(body, self.part.id)
        return stage.draft(self.part, trial, body)

    def _begin(self, state: JudgingState) -> Sequence[Draft]:
        number = len(state.outcomes) + 1
        if not _wants_begin(state) or number > len(self.part.photos):
            return ()
        photo = self.part.photos[number - 1]
        drawn = PhotoDrawn(photo.id, self.part.set, photo.truth, photo.prediction)
        return (Draft(drawn, self.part.id, number, state.attempt),)

    def apply(self, state: JudgingState, event: Event, body: Body) -> JudgingState:
        return apply_event(self.part.id, state, event, body)


@dataclass(frozen=True)
class WarmUpTask(stage.StageMachine[JudgingState]):
    """The exercises before a task. index: the part's place in the plan."""

    part: WarmUpPart
    index: int

    def initial(self, pauses: Pauses) -> JudgingState:
        return JudgingState(pauses)

    def wants_begin(self, state: JudgingState) -> bool:
        return _wants_begin(state)

    def next_deadline(self, state: JudgingState) -> int | None:
        return None

    def exercise(self, trial: PhotoTrial) -> Exercise:
        """The exercise of a trial, as planned."""
        return self.part.exercises[trial.number - 1]

    def questions(self, trial: PhotoTrial) -> tuple[Question, ...]:
        return exercise_questions(self.exercise(trial))

    def missing(self, trial: PhotoTrial) -> tuple[Question, ...]:
        """Those still to be answered before it can be handed in."""
        return missing(self.questions(trial), trial)

    def decide(self, state: JudgingState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        trial = state.trial
        match command:
            case SkipStage():
                achieved = JUDGED if trial is not None and trial.judged else None
                return stage.skip_stage(self.part, self.index, state, achieved)
            case Begin():
                return self._begin(state)
        if trial is None:
            return ()
        match command:
            case ShowQuestion():
                return _show(self.part, trial)
            case Judge() if trial.open:
                asked = self.questions(trial)
                bodies = answered(asked, trial, command)
                return [stage.draft(self.part, trial, body) for body in bodies]
            case HandIn() if trial.open and not self.missing(trial):
                right = {
                    question.id: trial.answers[question.id] == question.right
                    for question in self.questions(trial)
                    if question.right is not None
                }
                return (stage.draft(self.part, trial, PhotoJudged(dict(trial.answers), right)),)
            case Next() if trial.judged:
                return stage.leave_question(self.part, self.index, state, trial, JUDGED)
        return ()

    def _begin(self, state: JudgingState) -> Sequence[Draft]:
        number = len(state.outcomes) + 1
        if not _wants_begin(state) or number > len(self.part.exercises):
            return ()
        exercise = self.part.exercises[number - 1]
        drawn = PhotoDrawn(exercise.id, 0, exercise.truth, exercise.prediction)
        return (Draft(drawn, self.part.id, number, state.attempt),)

    def apply(self, state: JudgingState, event: Event, body: Body) -> JudgingState:
        return apply_event(self.part.id, state, event, body)


def _wants_begin(state: JudgingState) -> bool:
    if state.outcome is not None or state.pauses.held:
        return False
    return state.trial is None or state.trial.outcome is not None


def _show(part: JudgingPart | WarmUpPart, trial: PhotoTrial) -> Sequence[Draft]:
    """The pictures are on the screen."""
    if trial.started_ns is not None or trial.outcome is not None:
        return ()
    return (stage.draft(part, trial, PhotoShown()),)
