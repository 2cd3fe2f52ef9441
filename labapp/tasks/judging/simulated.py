"""How a simulated participant judges explanations.

How simulated participants judge explanations, and do the exercises before.

`understanding`, like `knowing`, knows the true class and says so wherever a class is asked for,
also where the model's is; `explanation` follows what it is shown: the strongest heatmap, the class
whose rows are most similar, the model's own steps, and believes the model; any other name guesses.
So what a session of each must come to can be told from the plan alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labapp.record.events.commands import HandIn, Next, ShowQuestion
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.person import GUESSES, KNOWS, TRUSTS
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Actor, SimulatedParticipant, Step, TrialKey
from labapp.tasks.judging import plan
from labapp.tasks.judging.events import TREE, CloseDescription, Judge, OpenDescription, OpenSpecies
from labapp.tasks.judging.machine import JudgingTask, PhotoTrial, WarmUpTask
from labapp.tasks.judging.machine import JudgingTask as Machine
from labapp.tasks.judging.plan import JudgingPart, MethodPart, WarmUpPart

TREE_RATE = 0.3
"""How often somebody who reads about a method looks at its whole tree before going on."""


class MethodReader(Actor[MethodPart]):
    """Opens the picture of the whole tree at times, and closes it again."""

    def act(self) -> None:
        participant = self.participant
        if self.state.description:
            participant.send(CloseDescription(TREE), participant.pace.think_s)
        elif self.part.explained.tree is not None and participant.rng.random() < TREE_RATE:
            participant.send(OpenDescription(TREE), participant.pace.read_s)
        else:
            participant.send(Next(), participant.pace.read_s)


class ExplanationJudge(Actor[JudgingPart | WarmUpPart]):
    """Answers about the photo, or the exercise, on the screen."""

    def __init__(self, part: JudgingPart | WarmUpPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._spoken: TrialKey | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        strategy = participant.strategy
        task = runner.machine.tasks[runner.state.index]
        trial: PhotoTrial | None = self.state.trial
        if trial is not None and trial.started_ns is None and isinstance(part, WarmUpPart):
            participant.send(ShowQuestion(), participant.pace.read_s)
            return
        if trial is None or not (trial.open or trial.judged):
            participant.later(participant.pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if isinstance(task, WarmUpTask):
            rng = generator(*participant.seed, part.id, trial.number)
            participant.go_through(key, exercise_steps(task, trial, strategy, rng))
        elif isinstance(task, JudgingTask):
            if self._spoken != key:
                self._spoken = key
                follows = TRUSTS if strategy == FOLLOW else GUESSES
                participant.think_aloud(KNOWS if strategy in KNOW else follows)
            # By study too: a person who guesses in two of them guesses independently in each.
            rng = generator(*participant.seed, task.study, part.id, trial.number)
            participant.go_through(key, steps(task, trial, strategy, rng))


KNOW = ("understanding", ORACLE)
"""Strategies that answer what is true."""
FOLLOW = "explanation"
"""The strategy that goes by what it is shown."""
CHANGE_RATE = 0.1
LOOKS_UP_RATE = 0.08
"""How often the description is opened while a photo is judged."""


def steps(
    machine: Machine, trial: PhotoTrial, strategy: str, rng: np.random.Generator
) -> Iterator[Step]:
    """What a simulated participant does with a photo, from its appearance to Next."""
    photo, task = machine.photo(trial), machine.part.task
    asked = machine.questions(trial)
    final = _final(task, photo, asked, strategy, rng)
    if rng.random() < LOOKS_UP_RATE:
        what = str(rng.choice(machine.offered))
        yield Step(OpenDescription(what))
        yield Step(CloseDescription(what), "look")
    looked = False
    option = 1
    for question in asked:
        if question.id not in final:
            continue
        if task == "prototype-distinction" and question.row is not None:
            of = photo.options.index(photo.rows[question.row - 1].of or "") + 1
            if of != option:
                yield Step(OpenSpecies(of))
                option, looked = of, False
        waits = "look" if not looked or question.row is None else "think"
        looked = True
        if question.row is None and rng.random() < CHANGE_RATE:
            yield from _other_first(question, final[question.id], rng)
        yield Step(Judge(question.id, final[question.id], DEVICE), waits)
    yield Step(Next())


def exercise_steps(
    machine: WarmUpTask, trial: PhotoTrial, strategy: str, rng: np.random.Generator
) -> Iterator[Step]:
    """What a simulated participant does with an exercise of the warm-up."""
    no_mistake = len(machine.exercise(trial).asked) + 1
    believes = {plan.VERDICT: plan.RIGHT, plan.MISTAKE: no_mistake, plan.AGREEMENT: 4}
    for question in machine.questions(trial):
        value = int(rng.integers(question.first, question.last + 1))
        if strategy in KNOW and question.right is not None:
            value = question.right
        elif strategy == FOLLOW:
            value = believes[question.id]
        yield Step(Judge(question.id, value, DEVICE), "look")
    yield Step(HandIn())
    yield Step(Next(), "look")


def _final(
    task: plan.JudgingTask,
    photo: plan.PlannedPhoto,
    asked: tuple[plan.PhotoQuestion, ...],
    strategy: str,
    rng: np.random.Generator,
) -> dict[str, int]:
    """The answers it ends with; of two branches those of one."""
    final = {
        question.id: int(rng.integers(question.first, question.last + 1)) for question in asked
    }
    knows, follows = strategy in KNOW, strategy == FOLLOW
    if knows or follows:
        believed = photo.truth if knows else find_indicated_class(task, photo)
        final |= _make_answers(photo, believed, final)
        for question in asked:
            if question.row is not None:
                rated = (
                    _judge_similarity(photo, question.row)
                    if knows
                    else similar(photo, question.row)
                )
                final[question.id] = _scale(rng.normal(rated, 0.6), 4)
            elif question.id.endswith("confidence"):
                final[question.id] = _scale(rng.normal(4.0, 0.8), 5)
        if plan.AGREEMENT in final:
            sure = int(rng.integers(2))
            final[plan.AGREEMENT] = 3 + sure if follows or photo.correct else 2 - sure
        if plan.FIRST_STEP in final:
            agrees = len(photo.rows) + 1
            final[plan.FIRST_STEP] = photo.first_wrong or agrees if knows else agrees
    if plan.FIRST in final:
        final.pop(plan.AFTER_ABSENT if final[plan.FIRST] == plan.PRESENT else plan.AFTER_PRESENT)
    return final


def find_indicated_class(task: plan.JudgingTask, photo: plan.PlannedPhoto) -> str:
    """The class to which the explanation points; where it does not say, what the model says."""
    if task == "heatmap-distinction" and photo.strengths:
        return photo.options[int(np.argmax(photo.strengths))]
    if task == "prototype-distinction":
        means = [
            np.mean([photo.rows[row - 1].similarity or 0.0 for row in photo.rows_of(option)])
            for option in range(1, len(photo.options) + 1)
        ]
        return photo.options[int(np.argmax(means))]
    return photo.prediction


def _make_answers(photo: plan.PlannedPhoto, believed: str, asked: dict[str, int]) -> dict[str, int]:
    if photo.final is not None and plan.FIRST in asked:
        first, second = divmod(photo.final.classes.index(believed), 2)
        seconds = dict.fromkeys((plan.AFTER_ABSENT, plan.AFTER_PRESENT), second + 1)
        return {plan.FIRST: first + 1, **seconds}
    if believed not in photo.options:
        return {}
    place = photo.options.index(believed) + 1
    return {name: place for name in (plan.OUTPUT, plan.DISTINCTION) if name in asked}


def _judge_similarity(photo: plan.PlannedPhoto, row: int) -> float:
    """How similar a row looks to somebody who knows the class of the photo."""
    of = photo.rows[row - 1].of
    if of is None:
        return 2.5
    return 3.3 if of == photo.truth else 2.0


def similar(photo: plan.PlannedPhoto, row: int) -> float:
    """How similar the model says a row is, from 1 for the least of the photo to 4 for the most."""
    there = [row.similarity for row in photo.rows if row.similarity is not None]
    mine = photo.rows[row - 1].similarity
    if mine is None or max(there) == min(there):
        return 2.5
    return 1 + 3 * (mine - min(there)) / (max(there) - min(there))


def _scale(value: float, points: int) -> int:
    return min(max(round(value), 1), points)


def _other_first(
    question: plan.PhotoQuestion, final: int, rng: np.random.Generator
) -> Iterator[Step]:
    """Another answer before the final one; of a step with the one after it."""
    others = [value for value in range(question.first, question.last + 1) if value != final]
    other = int(rng.choice(others))
    yield Step(Judge(question.id, other, DEVICE), "look")
    if question.id == plan.FIRST:
        after = plan.AFTER_PRESENT if other == plan.PRESENT else plan.AFTER_ABSENT
        yield Step(Judge(after, int(rng.integers(1, 3)), DEVICE))
