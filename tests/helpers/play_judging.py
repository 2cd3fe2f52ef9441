"""Stages that judge explanations, and the warm-up, played by hand like helpers.play does."""

from __future__ import annotations

from typing import Any

from labapp.record.events.commands import Begin, HandIn, Next, ShowQuestion
from labapp.session.machine import SessionMachine
from labapp.tasks.judging import machine as machines
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.machine import JudgingState, PhotoTrial
from labapp.tasks.judging.plan import (
    KIND_OF,
    RIGHT,
    Exercise,
    ExplainedModel,
    JudgingPart,
    JudgingTask,
    PlannedFinal,
    PlannedPhoto,
    PlannedRow,
    WarmUpPart,
)
from tests.helpers.play import Play

CLASSES = ("finch", "gull", "heron", "ibis")


def explained(task: JudgingTask) -> ExplainedModel:
    """What a part says of its method."""
    kind = KIND_OF[task]
    return ExplainedModel(
        stimuli="test-set",
        manifest_sha256="0" * 64,
        kind=kind,
        method="TestNet",
        classifier=None,
        classifier_sha256=None,
        accuracy=76.1,
        classes_are="species",
        invented=True,
        names={name: name.capitalize() for name in CLASSES},
        marks={},
        scale="positive" if kind == "heatmaps" else None,
        colour_map="jet" if kind == "heatmaps" else "",
        tree="tree.png" if kind == "path" else None,
    )


def row(number: int, of: str | None = None, similarity: float = 0.5) -> PlannedRow:
    """A row that compares a region with prototype `number`."""
    return PlannedRow(
        prototype=f"p{number}",
        of=of,
        photo="bird:1:train:0:0",
        box=(0.1, 0.1, 0.4, 0.4),
        crop=None,
        region=(0.2, 0.2, 0.5, 0.5),
        region_crop=None,
        similarity=similarity,
        rank=None if of is None else number,
        present=similarity > 0.5 if of is None else None,
    )


def photo(task: JudgingTask, number: int, *, correct: bool = True) -> PlannedPhoto:
    """Photo `number`: the model says CLASSES[number % 4]; two rows a class, or three steps."""
    prediction = CLASSES[number % 4]
    truth = prediction if correct else CLASSES[(number + 1) % 4]
    values: dict[str, Any] = {
        "id": f"photo-{number}",
        "photo": f"bird:1:test:0:{number}",
        "truth": truth,
        "prediction": prediction,
    }
    if task in ("heatmap-distinction", "prototype-distinction"):
        values["options"] = CLASSES
    match task:
        case "heatmap-distinction":
            values["heatmaps"] = tuple(f"{number}-{name}.png" for name in CLASSES)
            values["strengths"] = tuple(float(name == prediction) for name in CLASSES)
        case "prototype-distinction":
            similar = [0.9 if name == prediction else 0.3 for name in CLASSES]
            both = zip(CLASSES, similar, strict=True)
            values["rows"] = tuple(row(n, name, of) for name, of in both for n in (2, 1))
        case "prototype-agreement":
            values["rows"] = tuple(row(n, prediction, 1 / n) for n in (1, 2, 3))
        case _:
            values["rows"] = tuple(row(n, None, 0.2 * (n + 1)) for n in (1, 2, 3))
            values["first_wrong"] = None if correct else 2
    if task == "path-distinction":
        values["final"] = PlannedFinal(first=row(7), absent=row(8), present=row(9), classes=CLASSES)
    return PlannedPhoto(**values)


def judging_part(task: JudgingTask = "heatmap-distinction", **changes: Any) -> JudgingPart:
    """A stage of four photos, of which the model has the second and the fourth wrong (none where
    all are right); keywords replace settings."""
    wrong = () if task in ("prototype-distinction", "path-distinction") else (2, 4)
    values: dict[str, Any] = {
        "id": "stage-1",
        "title": "Stage 1",
        "number": 1,
        "of": 1,
        "task": task,
        "explained": explained(task),
        "set": 3,
        "labels": False,
        "photos": tuple(photo(task, n, correct=n not in wrong) for n in range(1, 5)),
        "description": "d.md",
        "values": {},
        "time_limit_s": None,
        "think_aloud": True,
    }
    return JudgingPart.model_validate(values | changes)


def warm_up_part() -> WarmUpPart:
    """Two exercises: the model is wrong at its first step, then right."""
    exercises = [
        Exercise(
            id=f"fruits-{n}",
            picture=f"fruits-{n}",
            steps=("color", "count", "shape"),
            prediction="B",
            truth="D" if wrong else "B",
            first_wrong=wrong,
        )
        for n, wrong in enumerate((None, 1, None))
    ]
    return WarmUpPart(
        id="warm-up",
        title="Warming up",
        document="d.md",
        worked=exercises[0],
        exercises=tuple(exercises[1:]),
    )


def judging_task(part: JudgingPart, index: int = 0, seed: int = 7) -> machines.JudgingTask:
    return machines.JudgingTask(part, index, seed, "test", "P01")


class JudgingPlay(Play):
    """Sends what the runner would: Begin and ShowQuestion."""

    @classmethod
    def of(cls, task: JudgingTask = "heatmap-distinction", **changes: Any) -> JudgingPlay:
        part = judging_part(task, **changes)
        play = cls(SessionMachine((part,), (judging_task(part),), {1: "insight"}))
        play.start()
        return play

    @classmethod
    def warm_up(cls) -> JudgingPlay:
        part = warm_up_part()
        play = cls(SessionMachine((part,), (machines.WarmUpTask(part, 0),), {1: "insight"}))
        play.start()
        return play

    def _automatic(self) -> None:
        while self.machine.wants_begin(self.state):
            self.store(self.machine.decide(self.state, Begin(), self.now_ns))
        seen = self.photo
        if seen is not None and seen.started_ns is None and not self.state.pauses.held:
            self.store(self.machine.decide(self.state, ShowQuestion(), self.now_ns))

    @property
    def judging(self) -> JudgingState:
        assert isinstance(self.state.part_state, JudgingState)
        return self.state.part_state

    @property
    def photo(self) -> PhotoTrial | None:
        return self.judging.trial if self.state.running else None

    @property
    def task(self) -> machines.JudgingTask | machines.WarmUpTask:
        task = self.machine.tasks[0]
        assert isinstance(task, machines.JudgingTask | machines.WarmUpTask)
        return task

    def answer(self, *, right: bool = True, agreement: int = 3) -> None:
        """Answer every question about the photo on the screen: rightly, or all with the wrong."""
        assert self.photo is not None
        while missing := self.task.missing(self.photo):
            question = missing[0]
            value = question.first if question.right is None else question.right
            if question.right is not None and not right:
                value = question.first if question.right != question.first else question.last
            self.send(Judge(question.id, agreement if question.id == "agreement" else value, "key"))

    def through(self, *, right: bool = True, agreement: int = RIGHT) -> None:
        """Answer every photo that is left."""
        while self.photo is not None:
            self.answer(right=right, agreement=agreement)
            if isinstance(self.task, machines.WarmUpTask):
                self.send(HandIn())
            self.send(Next())
