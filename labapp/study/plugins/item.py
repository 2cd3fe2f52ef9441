"""What a study file may say of its course: the base of every item of its `flow`.

What a study file may say of the stages of any task: the base of every item under `stages:`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator

from labapp.base.documents import WORD, Strict, refuse_again
from labapp.study.when import Condition

if TYPE_CHECKING:
    import numpy as np

    from labapp.base.documents import Path_
    from labapp.study.consent import ConsentForm
    from labapp.study.schema import Recording


EarlyDebrief = Literal["begun", "always", "never"]
"""Whether a debriefing is shown at an early end: once a task has begun, always, or never."""


class Item(Strict):
    """One item of a flow; its kind is the key that only this class has.

    Attributes
    ----------
    only_if : for whom the item is shown: variables of the study's assignment or design with the
        value, or the list of values, as `{hint: "with"}`, and answers to earlier questionnaires, as
        `{people.used: often}` or `{people.age: {above: 17}}`, and results of earlier tasks (see
        `name`). `any`, `all` (lists of such) and `not` put conditions together.
    name : what conditions call the results of the stages, or of the practice, as in
        `{training.right: {above: 0.7}}`.
    """

    model_config = ConfigDict(populate_by_name=True)

    key: ClassVar[str]
    """The key in a study file that tells what kind of item it is."""
    consents: ClassVar[bool] = False
    """Whether the participant is asked for consent here."""
    talks: ClassVar[bool] = False
    """Whether the participant is recorded talking with the moderator."""
    first_only: ClassVar[bool] = False
    """Whether it stands at the beginning of the flow, once, and nowhere else."""
    last_only: ClassVar[bool] = False
    """Whether it stands at the end of the flow, once, and nowhere else."""

    only_if: Condition = Field(default_factory=dict)
    name: str | None = Field(default=None, pattern=WORD)

    def texts(self) -> tuple[str, ...]:
        """Names of the texts it shows, with `{language}` and variables in them."""
        return ()

    fills_in: ClassVar[tuple[str, ...]] = ()
    """Names in braces that it fills in in `filled_in`, besides the variables of the study."""

    def filled_in(self) -> Mapping[str, str]:
        """Its values, by key, in which variables in braces are filled in, except texts."""
        return {}

    def instruments(self) -> tuple[str, ...]:
        """Ids of the questionnaires it asks."""
        return ()

    def stimulus_sets(self) -> tuple[str, ...]:
        """Ids or folders of the stimulus sets it names, with variables in them."""
        return ()

    def consent_form(self) -> ConsentForm | None:
        """The consent form that it shows; None if it shows none."""
        return None

    def shown_early(self) -> EarlyDebrief:
        """When its text is shown if the session ends early."""
        return "never"

    def inside(self) -> tuple[Item, ...]:
        """The items that it consists of, which are run once for every drawn cell or level of a
        factor; none if the item belongs to a task type."""
        return ()

    def interrupts(self) -> tuple[Item, ...]:
        """The items that are shown between two of its rounds."""
        return ()

    def interrupted_after(self, rounds: int, random: np.random.Generator) -> frozenset[int]:
        """The rounds, from 1, after which these are shown. random: draws them where they are
        drawn."""
        return frozenset()

    def interruption_faults(self, rounds: int) -> Iterator[tuple[Path_, str]]:
        """Mistakes in them for a number of rounds: the keys, what was found, what is allowed."""
        return iter(())

    def goes_through(self) -> str | None:
        """The drawn variable or factor for whose cells or levels it is repeated, if any."""
        return None

    def with_stages(self, changed: Callable[[TaskStages], TaskStages]) -> Self:
        """The same item with other stages, if it has any; changed: what becomes of them."""
        return self

    def task_stages(self) -> TaskStages | None:
        """The stages of a task, if the item is one; otherwise None."""
        return None

    def problems(self, study: FlowOf) -> Iterator[str]:
        """What is wrong with it in this study, each as what would be allowed."""
        return iter(())


@dataclass(frozen=True)
class FlowOf:
    """What an item may know of the study it stands in. items: of the flow, those inside `each` too;
    languages: those in which participants read it, none if the study says something impossible
    of them; recording: None if that is so; whole: whether these are all its items, and none was
    left out for a mistake in it."""

    items: tuple[Item, ...]
    languages: tuple[str, ...]
    recording: Recording | None
    whole: bool = True


class TaskStages(Strict):
    """Stages of one task; a task derives its own settings from this.

    Attributes
    ----------
    task : which task it is.
    after : the ids of questionnaires that are asked after each stage; your own are in
        `instruments/` next to the study.
    think_aloud : whether the participant should think aloud, so that the moderator is asked to
        prompt.
    """

    task: str
    after: tuple[str, ...] = Field(default=(), max_length=50)
    think_aloud: bool = True

    def names(self) -> tuple[str, ...]:
        """The names in it that may contain variables of the study's assignment, except texts."""
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

    def remarks(self) -> Iterator[tuple[Path_, str]]:
        """Warnings by key: what will differ from what is written, although the study can be run."""
        return iter(())

    @property
    def unfilled(self) -> frozenset[str]:
        """The names in braces that its task fills in, but not in the texts of these stages."""
        return frozenset()

    @property
    def stages(self) -> int:
        """Number of stages that a participant completes."""
        return 1

    @property
    def plannable(self) -> bool:
        """Whether `labapp plan` can compute from it how many participants a study needs: its
        answers are right or wrong, and simulated participants can represent people in them."""
        return False

    def with_target(self, alignment: float) -> Self:
        """The same stages with another target alignment, 0-1; themselves where they have none."""
        return self

    @property
    def earns(self) -> frozenset[str]:
        """What participants can earn in it: names of amounts of
        `labapp.study.inclusion.Incentive`."""
        return frozenset()

    @field_validator("after")
    @classmethod
    def _once_each(cls, after: tuple[str, ...]) -> tuple[str, ...]:
        refuse_again(after)
        return after
