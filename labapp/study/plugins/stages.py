"""What a study file may say of the stages of any task: the base of every item under `stages:`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator

from labapp.base.documents import Strict
from labapp.base.validating import refuse_again


class TaskStages(Strict):
    """Stages of one task; a task derives its own settings from this.

    Attributes
    ----------
    task : which task it is.
    after : questionnaires that are asked after each stage, by id; own ones lie beside the study in
        `instruments/`.
    think_aloud : whether the participant is to think aloud, so that the moderator is told to
        prompt.
    """

    task: str
    after: tuple[str, ...] = Field(default=(), max_length=50)
    think_aloud: bool = True

    def names(self) -> tuple[str, ...]:
        """What it names that may hold variables of the study's assignment, texts aside."""
        return ()

    def compared(self) -> tuple[str, ...]:
        """The models that its stages are about, as the study names them: the levels of the factor
        `model`."""
        return ()

    def texts(self) -> tuple[str, ...]:
        """Names of the texts it shows, with `{language}` and variables in them."""
        return ()

    def stimulus_sets(self) -> tuple[str, ...]:
        """Ids or folders of the stimulus sets it shows, with variables in them."""
        return ()

    @property
    def stages(self) -> int:
        """How many stages a participant goes through."""
        return 1

    @property
    def plannable(self) -> bool:
        """Whether `labapp studies plan` can tell of it how many participants a study needs: its
        questions have answers that are right or wrong, and simulated participants stand in for
        people in them."""
        return False

    def with_target(self, alignment: float) -> Self:
        """The same stages with another target alignment, 0-1; themselves where they have none."""
        return self

    @property
    def earns(self) -> frozenset[str]:
        """What a participant can earn in it: names of amounts of `labapp.study.rules.Incentive`."""
        return frozenset()

    @field_validator("after")
    @classmethod
    def _once_each(cls, after: tuple[str, ...]) -> tuple[str, ...]:
        refuse_again(after)
        return after
