"""The state of a stage that judges explanations, or of the warm-up. Times are working time (without
pauses), in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from labapp.study.plugins.questions import Question as AskedTrial
from labapp.study.plugins.questions import QuestionsState
from labapp.tasks.judging.events import PerformanceComputed


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
