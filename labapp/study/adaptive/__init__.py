"""Adaptive sequences: which level comes next depends on what was answered.

`rule` is what all rules share, `counting` and `posterior` are the rules, `tracks` is what a plan
holds of them. All of it is pure: the same answers give the same next level on every machine.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from labapp.study.adaptive.counting import Criterion, UpDown, WeightedUpDown
from labapp.study.adaptive.posterior import Psi, Quest

AnyRule = Annotated[
    UpDown | WeightedUpDown | Quest | Psi | Criterion, Field(discriminator="method")
]
"""A rule as a study file declares it under `adaptive`, by its `method`."""
