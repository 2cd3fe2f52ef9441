"""What the analysis needs of the parts of a plan in which pictures are unmasked.

Read from the rows of the session's first event like the other parts (`labapp.analysis.parts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import log_softmax

from labapp.stimuli.manifest import Confusion

PART = "unmasking"
DONT_KNOW = 0
"""The response that names no class."""


@dataclass(frozen=True, slots=True)
class Output:
    """What the model makes of a picture: its most probable class, and the log of the probability
    of every class, by its id."""

    prediction: str
    log_p: Mapping[str, float]

    @classmethod
    def of(cls, logits: Sequence[float], classes: Sequence[str]) -> Output | None:
        """None without logits. Raises ValueError unless there is one a class."""
        return _output(tuple(logits), tuple(classes)) if logits else None


@lru_cache(maxsize=8192)
def _output(logits: tuple[float, ...], classes: tuple[str, ...]) -> Output:
    """The sessions of a study have the same pictures: each output is worked out once."""
    found = log_softmax(np.asarray(logits, dtype=np.float64))
    log_p = dict(zip(classes, found.tolist(), strict=True))
    return Output(classes[int(found.argmax())], log_p)


@dataclass(frozen=True, slots=True)
class Mask:
    """A stimulus as planned. output: of the model on it, None where there is no model to ask."""

    percent: float
    pixels: int
    output: Output | None


@dataclass(frozen=True, slots=True)
class Sequence_:
    """An image and a method. prediction: of the whole image; output: of the model on it."""

    image: str
    method: str
    truth: str
    prediction: str
    output: Output | None
    masks: tuple[Mask, ...]


@dataclass(frozen=True, slots=True)
class UnmaskingPart:
    """A block of the stage, or the example before it (role practice).

    model: id of the classifier, else of the stimulus set. buttons: their classes, None for "I don't
    know", in their order. first: stimuli of the blocks before this one.
    """

    id: str
    role: str
    number: int
    stimuli: str
    manifest_sha256: str
    classifier: str | None
    accuracy: float
    classes: tuple[str, ...]
    methods: Mapping[str, str]
    percents: tuple[float, ...]
    fill: str
    sign: str
    grid: tuple[int, int]
    pool: tuple[Confusion, ...]
    buttons: tuple[str | None, ...]
    sequences: tuple[Sequence_, ...]
    first: int

    @property
    def task(self) -> str:
        return PART

    @property
    def model(self) -> str:
        return self.classifier or self.stimuli

    @property
    def trials(self) -> int:
        """Stimuli planned."""
        return sum(len(one.masks) for one in self.sequences)

    def stimuli_planned(self) -> Iterator[tuple[int, int, Sequence_, Mask]]:
        """Every stimulus in order, with the numbers of its sequence and its mask, from 1."""
        for number, sequence in enumerate(self.sequences, start=1):
            for place, mask in enumerate(sequence.masks, start=1):
                yield number, place, sequence, mask

    def class_of(self, button: int) -> str | None:
        """The class that a button names; None for "I don't know". Raises IndexError where there is
        no such button."""
        return None if button == DONT_KNOW else self.buttons[button - 1]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> UnmaskingPart:
        """From a row of the plan. Raises KeyError, ValueError or TypeError."""
        shared = row["unmasked"]
        classes = tuple(map(str, shared["classes"]))
        rows, columns = shared["grid"]
        return cls(
            id=str(row["id"]),
            role=str(row["role"]),
            number=int(row["number"]),
            stimuli=str(shared["stimuli"]),
            manifest_sha256=str(shared["manifest_sha256"]),
            classifier=shared["classifier"],
            accuracy=float(shared["accuracy"]),
            classes=classes,
            methods=dict(shared["methods"]),
            percents=tuple(map(float, shared["percents"])),
            fill=str(shared["fill"]),
            sign=str(shared["sign"]),
            grid=(int(rows), int(columns)),
            pool=tuple(Confusion.model_validate(one) for one in shared.get("pool", ())),
            buttons=tuple(one["of"] for one in row["buttons"]),
            sequences=tuple(_sequence(one, classes, shared["methods"]) for one in row["sequences"]),
            first=int(row["first"]),
        )


def _sequence(
    row: Mapping[str, Any], classes: Sequence[str], methods: Mapping[str, str]
) -> Sequence_:
    if row["method"] not in methods:
        raise ValueError(f"{row['method']!r} is none of the methods")
    for named in (row["truth"], row["prediction"]):
        if named not in classes:
            raise ValueError(f"{named!r} is none of the classes")
    return Sequence_(
        image=str(row["image"]),
        method=str(row["method"]),
        truth=str(row["truth"]),
        prediction=str(row["prediction"]),
        output=Output.of(row["logits"], classes),
        masks=tuple(
            Mask(
                float(one["percent"]), int(one["pixels"]), Output.of(one.get("logits", ()), classes)
            )
            for one in row["masks"]
        ),
    )
