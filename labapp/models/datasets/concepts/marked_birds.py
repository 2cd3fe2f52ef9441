"""Painted birds whose six marks are the concepts: sixteen species, each made by all of its marks.

The genus lorrin is left out: two of its species have the very marks of species of other genera, and
their plumage, which tells them apart, is no concept here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.models.datasets.birds import (
    SISTERS,
    SPECIES,
    STATES,
    FieldMark,
    bird,
    marks_of,
    name_of,
    picture,
)
from labapp.models.datasets.concepts.rows import ConceptRows, ConceptSplit, ConceptWords, Words
from labapp.models.datasets.split import Float32, Float64, Int64, PartName

FIRST = SISTERS
"""The first species that is there; class i is species FIRST + i."""
CLASSES = SPECIES - FIRST
SIZE = 64
"""Width in which birds are painted for a network, in pixels."""
NAMES = {
    FieldMark.CREST: "Crest",
    FieldMark.PATTERN: "Wing",
    FieldMark.BEAK: "Beak",
    FieldMark.TAIL: "Tail",
    FieldMark.RING: "Eye ring",
    FieldMark.BAND: "Breast band",
}
GERMAN = {
    FieldMark.CREST: Words("Schopf", "kein Schopf", "Schopf"),
    FieldMark.PATTERN: Words("Flügel", "Flügelbinden", "Flügelflecken"),
    FieldMark.BEAK: Words("Schnabel", "gerader Schnabel", "Hakenschnabel"),
    FieldMark.TAIL: Words("Schwanz", "stumpfer Schwanz", "gegabelter Schwanz"),
    FieldMark.RING: Words("Augenring", "kein Augenring", "Augenring"),
    FieldMark.BAND: Words("Brustband", "kein Brustband", "Brustband"),
}
"""The words in German."""


@dataclass(frozen=True, slots=True)
class MarkedBirdRows:
    """`each` birds of every species of one part; row i is of class i modulo `CLASSES`."""

    part: PartName
    each: int
    seed: int

    def __len__(self) -> int:
        return self.each * CLASSES

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 3, SIZE, SIZE)."""
        pictures = np.empty((len(rows), 3, SIZE, SIZE), np.float32)
        for place, (species, number) in enumerate(self.factors(rows).astype(int).tolist()):
            pictures[place] = picture(bird(self.seed, self.part, species, number), SIZE)
        return pictures

    def factors(self, rows: Int64) -> Float64:
        """Species, and number among those of the part: float64, shape (n, 2)."""
        return np.stack([FIRST + rows % CLASSES, rows // CLASSES], axis=1).astype(np.float64)


def marked_birds(*, seed: int = 0, train: int = 200, test: int = 60) -> ConceptSplit:
    """The task, of so many birds of each species. Raises ValueError: a part without a bird."""
    if min(train, test) < 1:
        raise ValueError(f"both parts need a bird of each species, found {train} and {test}")
    marks = np.array([marks_of(species) for species in range(FIRST, SPECIES)], dtype=np.int64)

    def part(name: PartName, each: int) -> ConceptRows:
        labels = np.arange(each * CLASSES, dtype=np.int64) % CLASSES
        return ConceptRows(MarkedBirdRows(name, each, seed), marks[labels], labels)

    def reference(factors: Float64) -> str:
        species, number = factors.astype(int).tolist()
        return f"bird:{seed}:test:{species}:{number}"

    return ConceptSplit(
        name="painted birds, six marks",
        train=part("train", train),
        test=part("test", test),
        factor_names=("species", "number"),
        concept_names=tuple(STATES[mark][1] for mark in FieldMark),
        classes=CLASSES,
        origin="rendered",
        words=tuple(
            ConceptWords(mark.name.lower(), NAMES[mark], *STATES[mark], {"de": GERMAN[mark]})
            for mark in FieldMark
        ),
        rules=tuple(dict(enumerate(row)) for row in marks.tolist()),
        class_names=tuple((f"s{n:02d}", name_of(n)) for n in range(FIRST, SPECIES)),
        classes_are="species",
        invented=True,
        reference=reference,
    )
