"""Decisions of the tasks that judge explanations, and of the warm-up before them.

All of them are one machine: a photo (or exercise) is drawn and shown, its questions are answered in
any order and as often as wanted, and then it is left for good. In a stage, Next hands the answers
in and leads to the next photo at once; in the warm-up they are handed in, told about, and left.

The description of the method, and the picture of the whole tree, which can be looked at while
something else is on the screen; every opening and closing is an event.

The state of a stage that judges explanations, or of the warm-up. Times are working time (without
pauses), in ns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, HandIn, Next
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses
from labapp.study.plugins import machine
from labapp.study.plugins.questions import Question as AskedTrial
from labapp.study.plugins.questions import QuestionsMachine, QuestionsState
from labapp.tasks.judging import events, performance
from labapp.tasks.judging.events import PerformanceComputed
from labapp.tasks.judging.plan import (
    VERDICT,
    Exercise,
    JudgingPart,
    PhotoQuestion,
    PlannedPhoto,
    WarmUpPart,
    applies,
    exercise_questions,
    questions,
)


@dataclass(frozen=True, slots=True)
class PhotoTrial(AskedTrial):
    """One photo, or one exercise: the number-th of the part, from 1.

    answers: question -> answer; right: of the final answers, None before they are handed in;
    option: the class whose rows are looked at, from 1. started_ns is None until it is on the
    screen.
    """

    answers: Mapping[str, int] = field(default_factory=dict)
    option: int = 1
    right: Mapping[str, bool] | None = None

    @property
    def open(self) -> bool:
        """On the screen and not handed in: its answers can be changed."""
        return self.started_ns is not None and self.right is None and self.outcome is None

    @property
    def judged(self) -> bool:
        """Handed in; in the warm-up the feedback stands, and Next leads on."""
        return self.right is not None and self.outcome is None


class StageResult(NamedTuple):
    """The result of a stage. answers: number of a photo -> its final answers."""

    performance: PerformanceComputed
    answers: Mapping[int, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class JudgingState(QuestionsState[PhotoTrial]):
    """trial: the present photo, None before the first; judged: number of a photo -> its final
    answers; description: what is open of the description, empty for nothing, else method or tree;
    attempt: at the stage; performance: computed at its end."""

    judged: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    description: str = ""
    performance: PerformanceComputed | None = None


JUDGED = "judged"


def missing(asked: Sequence[PhotoQuestion], trial: PhotoTrial) -> tuple[PhotoQuestion, ...]:
    return tuple(
        question
        for question in asked
        if applies(question, trial.answers) and question.id not in trial.answers
    )


def decide_answer(
    asked: Sequence[PhotoQuestion], trial: PhotoTrial, command: events.Judge
) -> Sequence[events.JudgementMade]:
    """The events of an answer; none if the question has no such answer, or has it already.

    Answers to questions that no longer apply are taken back.
    """
    question = next((candidate for candidate in asked if candidate.id == command.question), None)
    if question is None or not applies(question, trial.answers):
        return ()
    if not question.first <= command.value <= question.last:
        return ()
    if trial.answers.get(question.id) == command.value:
        return ()
    now = {**trial.answers, question.id: command.value}
    left = [
        candidate.id for candidate in asked if candidate.id in now and not applies(candidate, now)
    ]
    return (
        events.JudgementMade(question.id, command.value, command.device),
        *(events.JudgementMade(name, None, command.device) for name in left),
    )


def with_answer(trial: PhotoTrial, made: events.JudgementMade) -> PhotoTrial:
    """The trial with an answer given or taken back."""
    if made.value is not None:
        return replace(trial, answers={**trial.answers, made.question: made.value})
    left = {name: value for name, value in trial.answers.items() if name != made.question}
    return replace(trial, answers=left)


class JudgingMachine(QuestionsMachine[JudgingState, PhotoTrial]):
    """What photos and exercises share."""

    shown = events.PhotoShown
    achieved = JUDGED

    def questions(self, trial: PhotoTrial) -> tuple[PhotoQuestion, ...]:
        """The questions of a trial, whether or not they apply."""
        raise NotImplementedError

    def missing(self, trial: PhotoTrial) -> tuple[PhotoQuestion, ...]:
        return missing(self.questions(trial), trial)

    def right(self, question: PhotoTrial) -> bool | None:
        """By the last of the questions by which the performance is told."""
        asked = performance.list_scored_questions(self.part.task)[-1]
        return None if question.right is None else question.right.get(asked)

    def initial(self, pauses: Pauses) -> JudgingState:
        return JudgingState(pauses)

    def drawn(self, payload: Payload, number: int, attempt: int) -> PhotoTrial | None:
        return PhotoTrial(number, attempt) if isinstance(payload, events.PhotoDrawn) else None

    def after(self, question: PhotoTrial, payload: Payload) -> PhotoTrial:
        match payload:
            case events.JudgementMade():
                return with_answer(question, payload)
            case events.SpeciesOpened():
                return replace(question, option=payload.option)
            case events.PhotoJudged():
                return replace(question, answers=dict(payload.answers), right=dict(payload.right))
        return question

    def apply(self, state: JudgingState, event: Event, payload: Payload) -> JudgingState:
        after = super().apply(state, event, payload)
        if event.part_id != self.part.id:
            return after
        match payload:
            case events.PerformanceComputed():
                return replace(after, performance=payload)
            case events.PhotoJudged() if after.trial is not None:
                judged = {**state.judged, after.trial.number: dict(payload.answers)}
                return replace(after, judged=judged)
        return replace(after, description=after_description(state.description, payload))


@dataclass(frozen=True)
class JudgingTask(JudgingMachine):
    """A stage of photos. index: the part's place in the plan; seed, study and participant: for the
    coin among the ties of the performance."""

    part: JudgingPart
    index: int
    seed: int
    study: str
    participant: str

    def closing(self, state: JudgingState) -> Sequence[Payload]:
        return close_description(state.description)

    def result(self, state: JudgingState) -> StageResult | None:
        return None if state.performance is None else StageResult(state.performance, state.judged)

    def photo(self, trial: PhotoTrial) -> PlannedPhoto:
        return self.part.photos[trial.number - 1]

    def questions(self, trial: PhotoTrial) -> tuple[PhotoQuestion, ...]:
        return questions(self.part.task, self.photo(trial))

    @property
    def offered(self) -> tuple[str, ...]:
        """What can be opened at any time: the method's description, and the whole tree."""
        return (events.METHOD, events.TREE) if self.part.explained.tree else (events.METHOD,)

    def decide(
        self, state: JudgingState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        if payloads := decide_description(self.offered, state.description, command):
            return [self._add_photo_key(state, payload) for payload in payloads]
        trial = state.trial
        if isinstance(command, Next) and trial and trial.open and not self.missing(trial):
            right = performance.mark_answers(self.part.task, self.photo(trial), trial.answers)
            final = events.PhotoJudged(dict(trial.answers), right)
            left = self.leave(state, self.after(trial, final))
            state = replace(state, judged={**state.judged, trial.number: trial.answers})
            return (machine.unstamped(self.part, trial, final), *self._end(state, left))
        return self._end(state, super().decide(state, command, now_ns))

    def draw(self, number: int, attempt: int) -> events.PhotoDrawn:
        photo = self.part.photos[number - 1]
        return events.PhotoDrawn(photo.id, self.part.set, photo.truth, photo.prediction)

    def answered(self, question: PhotoTrial) -> bool:
        """Next itself hands in."""
        return False

    def answer(self, question: PhotoTrial, command: Command) -> Sequence[Payload]:
        match command:
            case events.Judge():
                return decide_answer(self.questions(question), question, command)
            case events.OpenSpecies(option) if option != question.option:
                if self.part.task == "prototype-distinction":
                    known = 1 <= option <= len(self.photo(question).options)
                    return (events.SpeciesOpened(option),) if known else ()
        return ()

    def _end(self, state: JudgingState, made: Sequence[UnstampedEvent]) -> Sequence[UnstampedEvent]:
        """Before a stage ends, however it does, the description is closed and the performance
        computed."""
        if not made or not isinstance(made[-1].payload, PartEnded):
            return made
        computed = performance.compute(
            self.part, state.judged, self.seed, self.study, self.participant, state.attempt
        )
        closing = [*close_description(state.description), computed]
        return [
            *made[:-1],
            *(UnstampedEvent(payload, self.part.id) for payload in closing),
            made[-1],
        ]

    def _add_photo_key(self, state: JudgingState, payload: Payload) -> UnstampedEvent:
        """What happens beside the photos carries the photo that is on the screen, if there is."""
        trial = state.trial
        if trial is None or trial.outcome is not None:
            return UnstampedEvent(payload, self.part.id)
        return machine.unstamped(self.part, trial, payload)


@dataclass(frozen=True)
class WarmUpTask(JudgingMachine):
    """The exercises before a task. index: the part's place in the plan."""

    part: WarmUpPart

    def exercise(self, trial: PhotoTrial) -> Exercise:
        return self.part.exercises[trial.number - 1]

    def questions(self, trial: PhotoTrial) -> tuple[PhotoQuestion, ...]:
        return exercise_questions(self.exercise(trial))

    def draw(self, number: int, attempt: int) -> events.PhotoDrawn:
        exercise = self.part.exercises[number - 1]
        return events.PhotoDrawn(exercise.id, 0, exercise.truth, exercise.prediction)

    def answered(self, question: PhotoTrial) -> bool:
        return question.judged

    def right(self, question: PhotoTrial) -> bool | None:
        return None if question.right is None else question.right[VERDICT]

    def answer(self, question: PhotoTrial, command: Command) -> Sequence[Payload]:
        match command:
            case events.Judge() if question.open:
                return decide_answer(self.questions(question), question, command)
            case HandIn() if question.open and not self.missing(question):
                right = {
                    asked.id: question.answers[asked.id] == asked.right
                    for asked in self.questions(question)
                    if asked.right is not None
                }
                return (events.PhotoJudged(dict(question.answers), right),)
        return ()


def decide_description(offered: Sequence[str], now: str, command: Command) -> Sequence[Payload]:
    """What a command leads to. offered: what can be opened; now: what is open, or nothing."""
    match command:
        case events.OpenDescription(what) if what in offered and what != now:
            return (*close_description(now), events.DescriptionOpened(what))
        case events.CloseDescription(what) if what and what == now:
            return close_description(now)
    return ()


def close_description(now: str) -> Sequence[Payload]:
    return (events.DescriptionClosed(now),) if now else ()


def after_description(now: str, payload: Payload) -> str:
    match payload:
        case events.DescriptionOpened():
            return payload.what
        case events.DescriptionClosed():
            return ""
    return now
