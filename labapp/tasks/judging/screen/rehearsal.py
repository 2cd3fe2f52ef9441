"""The task's own screen with a worked example in it, to be tried out: nothing of it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from labapp.events.commands import Command
from labapp.events.durations import Pauses
from labapp.tasks.judging.commands import Judge, OpenSpecies
from labapp.tasks.judging.events import JudgementMade
from labapp.tasks.judging.machine import answered
from labapp.tasks.judging.plan import JudgingPart, MethodPart, PlannedPhoto, questions
from labapp.tasks.judging.screen.photos import JudgingScreen
from labapp.tasks.judging.state import JudgingState, PhotoTrial
from labapp.ui.participant.view import SessionView


class Rehearsal(JudgingScreen):
    """What a task's screen is mixed with, so that it answers to itself instead of the session."""

    rehearsed: JudgingState

    @property
    def state(self) -> JudgingState:
        return self.rehearsed

    def set_column_width(self, width: int) -> None:
        """As wide as the page it stands in."""
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)

    def send(self, command: Command) -> None:
        trial = self.rehearsed.trial
        assert trial is not None
        if self.session.read_only:
            return
        match command:
            case Judge():
                for payload in answered(questions(self.part.task, self.photo), trial, command):
                    trial = _with(trial, payload)
            case OpenSpecies(option):
                trial = replace(trial, option=option)
        self.rehearsed = replace(self.rehearsed, trial=trial)
        self.render_state()


def _with(trial: PhotoTrial, payload: object) -> PhotoTrial:
    """The trial with an answer given or taken back."""
    if not isinstance(payload, JudgementMade):
        return trial
    answers = {name: value for name, value in trial.answers.items() if name != payload.question}
    if payload.value is not None:
        answers[payload.question] = payload.value
    return replace(trial, answers=answers)


def rehearsal(
    session: SessionView,
    part: MethodPart,
    screen: Callable[[SessionView, JudgingPart], JudgingScreen],
) -> JudgingScreen | None:
    """The screen of the part's task on its example; None where the set has none.

    screen: the class of the task's screen.
    """
    photo = part.correct
    if photo is None:
        return None
    assert isinstance(screen, type)
    made_of = type("Rehearsed", (Rehearsal, screen), {"rehearsed": _fresh()})
    made: JudgingScreen = made_of(session, _stage(part, _as_in_task(photo)))
    made.planned = part  # the part that runs while it is tried out
    made.render_state()
    return made


def _fresh() -> JudgingState:
    return JudgingState(Pauses(), trial=PhotoTrial(1, started_ns=0))


def _as_in_task(photo: PlannedPhoto) -> PlannedPhoto:
    """Without the steps that are left to the participant."""
    if photo.final is None:
        return photo
    first = photo.final.first.prototype
    place = next((n for n, row in enumerate(photo.rows) if row.prototype == first), None)
    return photo.model_copy(update={"rows": photo.rows[:place]})


def _stage(part: MethodPart, photo: PlannedPhoto) -> JudgingPart:
    """A stage of one photo that is in no plan."""
    return JudgingPart(
        id=part.id,
        title=part.title,
        number=1,
        of=1,
        task=part.task,
        explained=part.explained,
        set=1,
        labels=part.labels,
        photos=(photo,),
        description="",
        values=part.values,
        time_limit_s=None,
        think_aloud=False,
    )
