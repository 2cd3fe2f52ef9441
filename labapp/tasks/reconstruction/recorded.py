"""What the tables need of the stages and practices of reconstruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.representations.space import Continuous, Discrete, LatentSpace

TASK = "reconstruction"
CALIBRATION = "calibration"
"""Reconstruction without a target, in which the participant marks: a task of its own in the tables,
for its questions are never solved and must not be pooled with others."""


@dataclass(frozen=True, slots=True)
class StagePart:
    """A stage (or the practice) of the reconstruction task.

    trials: questions planned; inactivity_s: seconds without activity after which active time
    pauses; target_alignment in 0..1, None in a calibration.
    """

    id: str
    role: str
    number: int
    model: str
    trials: int
    target_alignment: float | None
    inactivity_s: float
    space: LatentSpace

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> StagePart:
        """From a row of the plan. Raises KeyError, ValueError or TypeError."""
        return cls(
            id=str(row["id"]),
            role=str(row["role"]),
            number=int(row["number"]),
            model=str(row["model"]),
            trials=int(row["trials"]),
            target_alignment=None if row.get("marks") else float(row["target_alignment"]),
            inactivity_s=float(row["inactivity_s"]),
            space=LatentSpace.from_json(row["dimensions"]),
        )

    @property
    def task(self) -> str:
        return CALIBRATION if self.target_alignment is None else TASK

    @property
    def discrete(self) -> frozenset[int]:
        """The discrete dimensions, counted from 0."""
        return frozenset(i for i, d in enumerate(self.space.dimensions) if isinstance(d, Discrete))

    def width(self, dimension: int) -> float | None:
        """Full width of a slider in its own unit; None for a discrete dimension."""
        found = self.space.dimensions[dimension]
        return found.high - found.low if isinstance(found, Continuous) else None
