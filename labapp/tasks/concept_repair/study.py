"""What a study file may say of concept repair."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from labapp.base.documents import Strict
from labapp.study.stages import StimulusStages
from labapp.tasks.concept_repair.plan import Instruction


class Items(Strict):
    """How many pictures of the set are drawn for a participant, by what corrections do to them; see
    `item` and `natural` of a stimulus set of interventions.

    Attributes
    ----------
    repair : pictures that correcting the wrong concepts sets right.
    control : pictures where all is right already.
    trap : pictures that stay wrong, or become wrong, where every concept is set right.
    unrepairable : pictures where all concepts are right and the answer is wrong.
    natural : pictures that the set drew whatever the model makes of them.
    """

    repair: int = Field(default=6, ge=0, le=200)
    control: int = Field(default=6, ge=0, le=200)
    trap: int = Field(default=0, ge=0, le=200)
    unrepairable: int = Field(default=0, ge=0, le=200)
    natural: int = Field(default=0, ge=0, le=200)

    @model_validator(mode="after")
    def _some(self) -> Items:
        if not sum(self.model_dump().values()):
            raise ValueError("no pictures at all; give at least one number above 0")
        return self


class Practice(Strict):
    """Pictures before the stage, of a model whose switches change nothing but what they say.

    Attributes
    ----------
    text : the text before them.
    items : how many.
    """

    text: str
    items: int = Field(default=5, ge=1, le=50)


class ConceptRepairStages(StimulusStages):
    """Concept repair (after paper 001, section 4.1): a model says what it sees of a picture,
    concept by concept, and what it takes the picture for; the participant sets concepts and
    watches.

    Attributes
    ----------
    instruction : `repair`: set right what the model sees wrongly; `audit`: confirm or correct every
        concept; `foresight`: nothing is set freely, one change is given with each picture and what
        the model says then is foretold.
    foresee : for how many of the pictures each change is foretold before it is shown.
    items : how many pictures of which kinds.
    practice : pictures before the stage; without it none.
    examples : whether each concept is shown before the practice, or the stage, in two pictures of
        the set, one with it and one without, which come nowhere else in the session.
    grid : whether the participant ticks after the stage which concept also changes another.
    time_limit_s : seconds after which a picture is left; null for no limit.
    class_names : as the set has them, or given to the classes by lot for each participant and stage
        (`drawn`), for sets whose names are invented.
    """

    task: Literal["concept-repair"]
    instruction: Instruction = "repair"
    foresee: Literal["none", "half", "all"] = "none"
    items: Items = Items()
    practice: Practice | None = None
    examples: bool = False
    grid: bool = True
    time_limit_s: float | None = Field(default=60, gt=0, le=3600)
    class_names: Literal["as_listed", "drawn"] = "as_listed"

    @property
    def plannable(self) -> bool:
        return True

    def texts(self) -> tuple[str, ...]:
        return (*(() if self.practice is None else (self.practice.text,)), self.intro)

    @model_validator(mode="after")
    def _foretold(self) -> ConceptRepairStages:
        if self.instruction == "foresight" and self.foresee != "all":
            raise ValueError("with instruction: foresight every change is foretold; foresee: all")
        return self
