"""A single-dimension stage played by hand, like helpers.play does a reconstruction stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from labapp.models.representations.decoders import percentiles_of
from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from labapp.record.events.commands import Begin, HandIn, Next, ShowQuestion
from labapp.session.machine import SessionMachine
from labapp.tasks.single_dimension.events import Choose, Rate
from labapp.tasks.single_dimension.machine import ChoiceQuestion, SingleDimensionTask, SingleState
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from labapp.tasks.single_dimension.planner import order_dimensions
from tests.helpers.play import Play

SPACE = LatentSpace((Discrete("shape", 4), Continuous("x", -3.0, 3.0), Continuous("y", 0.0, 1.0)))


def latents(rows: int = 400) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A held-out sample of SPACE."""
    rng = np.random.default_rng(5)
    columns = (rng.integers(4, size=rows), rng.normal(0, 0.8, rows).clip(-3, 3), rng.random(rows))
    return np.stack(columns, axis=1).astype(np.float32)


def single_part(**changes: Any) -> SingleDimensionPart:
    """A stage of two questions per dial on SPACE; keywords replace settings."""
    values: dict[str, Any] = {
        "id": "stage-1",
        "title": "Stage 1",
        "role": "stage",
        "number": 1,
        "of": 1,
        "model": "test/model",
        "display": "image",
        "dimensions": SPACE.to_json(),
        "visualisation": "traversals",
        "asked": order_dimensions(SPACE, 2, 7, "test", "P01", 1),
        "sampling": "held_out",
        "time_limit_s": None,
        "think_aloud": True,
    }
    return SingleDimensionPart.model_validate(values | changes)


def single_task(part: SingleDimensionPart, seed: int = 7, index: int = 0) -> SingleDimensionTask:
    sample = latents()
    space = LatentSpace.from_json(part.dimensions)
    return SingleDimensionTask(part, index, space, sample, percentiles_of(sample), seed, "P01")


class SinglePlay(Play):
    """Sends what the runner would: Begin and ShowQuestion."""

    @classmethod
    def of(cls, seed: int = 7, **changes: Any) -> SinglePlay:
        part = single_part(**changes)
        play = cls(SessionMachine((part,), (single_task(part, seed),), {1: "insight"}))
        play.start()
        return play

    def _automatic(self) -> None:
        while self.machine.wants_begin(self.state):
            self.store(self.machine.decide(self.state, Begin(), self.now_ns))
        question = self.question
        if question is not None and question.started_ns is None and not self.state.pauses.held:
            self.store(self.machine.decide(self.state, ShowQuestion(), self.now_ns))

    @property
    def single(self) -> SingleState:
        assert isinstance(self.state.part_state, SingleState)
        return self.state.part_state

    @property
    def question(self) -> ChoiceQuestion | None:
        return self.single.trial if self.state.running else None

    def answer(self, *, right: bool = True) -> None:
        """Answer the question on the screen and hand it in."""
        assert self.question is not None
        correct = self.question.correct
        self.send(Choose(correct if right else int(correct == 0), "mouse"))
        self.send(Rate("confidence", 4, "mouse"))
        self.send(Rate("understanding", 5, "mouse"))
        self.send(HandIn())

    def through(self, *, right: bool = True) -> None:
        """Answer every question that is left."""
        while self.question is not None:
            self.answer(right=right)
            self.send(Next())
