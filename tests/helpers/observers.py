"""Annotations of observers whose psychometric functions are known, drawn straight into tables: no
session, no program. And any annotations, written down one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from labapp.analysis.columns import table_columns
from labapp.analysis.tables import Tables, frames
from labapp.models.stimuli.masked_pictures import sizes
from labapp.tasks.unmasking.report.contents import groups_of
from labapp.tasks.unmasking.report.curves import AnnotationCells
from labapp.tasks.unmasking.report.results import AnnotationGroup

METHODS = {"gradient": 18.0, "guided_backprop": 10.0, "lrp": 13.0}
"""Threshold in percent by method, in the set's order."""
CLASSES = ("anger", "happiness")


@dataclass(frozen=True)
class World:
    """A stimulus set: images alternate between the classes, and the model has every fifth wrong
    (the first, the sixth ...). model: it has outputs on masked pictures, drawn at random."""

    methods: Sequence[str] = tuple(METHODS)
    percents: Sequence[float] = sizes()
    images: int = 10
    classes: Sequence[str] = CLASSES
    model: bool = True
    seed: int = 1
    pool: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """The columns that annotations and masked predictions share."""
        rng = np.random.default_rng(self.seed)
        return [
            self._row(image, place, percent, rng.uniform(0.05, 0.95))
            for image in range(self.images)
            for place in range(len(self.methods))
            for percent in self.percents
        ]

    def set_columns(self) -> dict[str, Any]:
        return {
            "study": "made-up",
            "stimuli": "a-set",
            "manifest_sha256": "a" * 64,
            "classifier": "some/model",
            "model_accuracy": 80.0,
            "classes": ";".join(self.classes),
        }

    def other(self, name: str) -> str:
        return self.classes[(self.classes.index(name) + 1) % len(self.classes)]

    def _row(self, image: int, place: int, percent: float, p: float) -> dict[str, Any]:
        truth = self.classes[image % len(self.classes)]
        prediction = self.other(truth) if image % 5 == 0 else truth
        row = {
            **self.set_columns(),
            "image": f"image-{image:02d}",
            "truth": truth,
            "method": self.methods[place],
            "method_name": self.methods[place].upper(),
            "method_number": place + 1,
            "percent": float(percent),
            "pixels": round(23.04 * percent),
            "grid_rows": 48,
            "grid_columns": 48,
            "fill": "mean",
            "sign": "signed",
            "prediction": prediction,
            "correct_prediction": prediction == truth,
        }
        if self.model:
            masked = truth if p > 0.5 else self.other(truth)
            row |= {
                "prediction_masked": masked,
                "correct_prediction_masked": masked == truth,
                "p_truth_masked": p,
                "cross_entropy_masked": -np.log(p),
            }
        return row


def annotated(
    of: Mapping[str, Any], participant: str, response: str | None, ms: float = 700.0, **more: Any
) -> dict[str, Any]:
    """A row of the table of annotations. response: the class named, None for "I don't know"."""
    masked = of.get("prediction_masked")
    return {
        **of,
        "participant": participant,
        "session": "1",
        "stage": "stage-1",
        "stage_number": 1,
        "role": "stage",
        "trial": 1,
        "attempt": 1,
        "outcome": "answered",
        "response": response,
        "dont_know": response is None,
        "correct": response == of["truth"],
        "follows_prediction": response == of["prediction"],
        "follows_prediction_masked": None if masked is None else response == masked,
        "reaction_time_ms": ms,
        "keyboard_away": False,
        "prior_exposures": 0,
        "excluded": False,
        "included": True,
        **more,
    }


def tables_with(world: World, annotations: Iterable[Mapping[str, Any]]) -> Tables:
    """Tables of a set and these rows of annotations, nothing else."""
    rows: dict[str, list[Any]] = {name: [] for name in table_columns()}
    rows["annotations"] = list(annotations)
    rows["masked_predictions"] = world.rows()
    rows["pool"] = [
        world.set_columns() | {"truth": truth, "prediction": prediction, "count": count}
        for (truth, prediction), count in world.pool.items()
    ]
    made = frames(rows)
    return Tables.of(made, made["snapshots"])


def observed(
    participants: int,
    world: World | None = None,
    thresholds: Mapping[str, float] | None = None,
    *,
    seed: int = 7,
    slope: float = 4.0,
    guess: float = 0.1,
    lapse: float = 0.02,
    sd: float = 0.2,
    images_sd: float = 0.15,
    right: float = 0.9,
) -> Tables:
    """So many observers. sd, images_sd: of the logarithms of thresholds, over observers and over
    images (these sum to nothing); right: share of labels that are the true class. What is
    recognised in a sequence stays recognised, as people do."""
    world = world or World()
    thresholds = thresholds or METHODS
    rng = np.random.default_rng(seed)
    given = world.rows()
    names = list(dict.fromkeys(row["image"] for row in given))
    drawn = rng.normal(0, images_sd, len(names))
    hardness = dict(zip(names, drawn - drawn.mean(), strict=True))
    rows = []
    for number in range(participants):
        offset = rng.normal(0, sd)
        sequences: dict[tuple[str, str], tuple[float, bool]] = {}
        for row in given:
            key = (row["image"], row["method"])
            if key not in sequences:
                sequences[key] = (rng.uniform(), bool(rng.uniform() < right))
            draw, is_right = sequences[key]
            x = np.log(row["percent"]) - np.log(thresholds[row["method"]]) - offset
            x -= hardness[row["image"]]
            seen = draw < 1 / (1 + np.exp(-slope * x))
            labelled = rng.uniform() < (1 - lapse if seen else guess)
            named = row["truth"] if is_right else world.other(row["truth"])
            ms = float(250 + rng.lognormal(6.1, 0.4))
            rows.append(annotated(row, f"P{number:02d}", named if labelled else None, ms))
    return tables_with(world, rows)


@cache
def sample(participants: int, images: int) -> Tables:
    """So many observers of so many images, made once for tests that only read them."""
    return observed(participants, World(images=images))


def group_of(tables: Tables) -> AnnotationGroup:
    """The one group of these tables."""
    (group,) = groups_of(tables)
    return group


def cells_of(tables: Tables) -> AnnotationCells:
    return AnnotationCells.of(group_of(tables))


def with_frames(tables: Tables, **frames: Any) -> Tables:
    """These tables with other rows in some of them."""
    made = tables.by_name() | frames
    return Tables.of(made, made["snapshots"])
