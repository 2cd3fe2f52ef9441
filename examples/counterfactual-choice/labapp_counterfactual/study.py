"""What a study file may say of the task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from labapp.study.stages import RepresentationStages


class CounterfactualStages(RepresentationStages):
    """Stages of counterfactual choice.

    Attributes
    ----------
    questions : int
        Of each stage.
    candidates : int
        Pictures to choose from; each differs from the first one in another dial, so a model must
        have at least as many dials.
    """

    task: Literal["counterfactual-choice"]
    questions: int = Field(default=6, ge=1, le=200)
    candidates: int = Field(default=3, ge=2, le=8)
    intro: str = "texts/{language}/counterfactual-first.md"
    between: str = "texts/{language}/counterfactual-further.md"

    @property
    def earns(self) -> frozenset[str]:
        return frozenset({"per_correct"})
