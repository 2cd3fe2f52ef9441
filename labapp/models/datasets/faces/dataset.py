"""Faces by row number, painted when they are asked for: rows go through the classes in turn.

A picture is drawn from four numbers: seed, part, class, number in the part. So no face of one part
is in another, and taking more rows of a part leaves the first ones as they were. The class decides
the direction of the five actions of the face. In training pictures it also makes two cues more
likely that have nothing to do with the expression: glasses and dark hair. A model that takes them
for signs of anger errs where they mislead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.models.datasets.draws import Draws
from labapp.models.datasets.faces.parameters import (
    CLASSES,
    Expression,
    Face,
    Hair,
    Identity,
    Light,
    Pose,
)
from labapp.models.datasets.faces.picture import SIZE, picture
from labapp.models.datasets.painter import average_blocks
from labapp.models.datasets.split import PARTS, Float32, Int64, PartName, part_sizes

NOISE = 0.35
"""SD of the random part of each action, which the class moves by 0.2 to 1."""
CUE = 0.65
"""Share of angry training faces with glasses, and with dark hair; of happy ones it is 1 - CUE. In
the other parts, both shares are a half."""

CLEAR = 0.3
"""Least mean of the five actions towards the class, and least action of the corners of the mouth,
which people look at first."""
APART = 0.16
"""Least difference between the grey of the skin and the greys beside it."""


def face(
    seed: int, part: PartName, label: int, number: int, *, noise: float = NOISE, cue: float = CUE
) -> Face:
    """The parameters of one picture. Raises ValueError: no such class, part or number."""
    if not 0 <= label < len(CLASSES):
        raise ValueError(f"class must lie between 0 and {len(CLASSES) - 1}, found {label}")
    if part not in PARTS:
        raise ValueError(f"part must be one of {PARTS}, found {part!r}")
    entropy = (seed, PARTS.index(part), label, number)
    draws = Draws(*entropy, 0)
    leaning = cue if part == "train" else 0.5
    cued = leaning if CLASSES[label] == "anger" else 1 - leaning
    identity = _identity(draws, cued)
    return Face(
        label=label,
        identity=identity,
        expression=_expression(draws, -1 if CLASSES[label] == "anger" else 1, noise),
        pose=Pose(
            x=draws.uniform(46, 54),
            y=draws.uniform(46, 54),
            degrees=draws.uniform(-8, 8),
            scale=draws.uniform(0.88, 1.08),
        ),
        light=Light(
            shading=draws.uniform(0, 0.4),
            degrees=draws.uniform(0, 360),
            ground=_apart(identity.skin, draws.uniform(0.2, 0.9)),
            ground_end=_apart(identity.skin, draws.uniform(0.2, 0.9)),
            noise=draws.uniform(0.02, 0.045),
            texture=draws.uniform(0.01, 0.028),
            blur=draws.uniform(0, 0.8),
        ),
        noise_seed=(*entropy, 1),
    )


def _identity(draws: Draws, cued: float) -> Identity:
    """The identity of a face. `cued`: probability of glasses, and of dark hair."""
    dark = draws.chance(cued)
    hair = Hair(min(int(draws.uniform(0, len(Hair))), len(Hair) - 1))
    skin = draws.uniform(0.48, 0.84)
    bearded = draws.chance(0.22) and hair is not Hair.LONG
    return Identity(
        width=draws.uniform(24, 28.5),
        height=draws.uniform(32, 36.5),
        jaw=draws.uniform(0.62, 0.9),
        chin=draws.uniform(0.28, 0.5),
        ears=draws.uniform(4.5, 7),
        eyes=draws.uniform(10.6, 12.8),
        eye=draws.uniform(4.9, 6.2),
        iris=draws.uniform(0.12, 0.42),
        nose=draws.uniform(12.5, 16.5),
        nostrils=draws.uniform(4.2, 6),
        mouth=draws.uniform(9, 11.5),
        lips=draws.uniform(0.75, 1.25),
        brow=draws.uniform(1.5, 3),
        brow_height=draws.uniform(6.6, 8.4),
        hair=hair,
        hairline=draws.uniform(-0.68, -0.5),
        side=-1.0 if draws.chance(0.5) else 1.0,
        skin=skin,
        tone=draws.uniform(0.06, 0.2) if dark else _apart(skin, draws.uniform(0.35, 0.7)),
        dark=dark,
        cloth=draws.uniform(0.15, 0.85),
        beard=draws.uniform(0.25, 0.6) * bearded,
        glasses=draws.chance(cued),
        frame=draws.uniform(0.08, 0.22),
    )


def _apart(skin: float, tone: float) -> float:
    """A tone that can be told from the skin: a little lighter or darker where it is too near."""
    if abs(tone - skin) >= APART:
        return tone
    return skin + (APART if tone > skin and skin + APART <= 0.85 else -APART)


def _expression(draws: Draws, sign: int, noise: float) -> Expression:
    """The expression of a face, drawn again until it shows its class clearly enough (`CLEAR`)."""
    while True:
        intensity = draws.uniform(0.4, 1)
        brows, lids, cheeks, corners, lips = (
            intensity * (sign * draws.uniform(0.2, 1) + draws.normal(0, noise)) for _ in range(5)
        )
        leaning = sign * (brows + lids + cheeks + corners + lips) / 5
        if leaning >= CLEAR and sign * corners >= CLEAR:
            return Expression(brows, lids, cheeks, corners, lips)


@dataclass(frozen=True, slots=True)
class FaceRows:
    """`per_class` pictures of each class of one part; row i is of class i modulo 2.

    A face is painted at 96 pixels, as people see it, and brought to `size` by averaging areas.
    """

    part: PartName
    per_class: int
    seed: int
    size: int = SIZE
    noise: float = NOISE
    cue: float = CUE

    def __len__(self) -> int:
        return self.per_class * len(CLASSES)

    def face(self, row: int) -> Face:
        """What the picture of a row is made of. IndexError: there is no such row."""
        if not 0 <= row < len(self):
            raise IndexError(f"row must lie between 0 and {len(self) - 1}, found {row}")
        number, label = divmod(int(row), len(CLASSES))
        return face(self.seed, self.part, label, number, noise=self.noise, cue=self.cue)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 1, size, size)."""
        painted = np.stack([picture(self.face(row), SIZE) for row in rows])
        whole = np.rint(painted * np.float32(255)).astype(np.uint8)
        return average_blocks(whole[:, None], self.size).astype(np.float32) / np.float32(255)

    def labels(self, rows: Int64) -> Int64:
        """Classes of the rows, from 0, without painting anything: int64, shape (n,)."""
        return np.asarray(rows, np.int64) % len(CLASSES)


@dataclass(frozen=True, slots=True)
class Faces:
    """The three parts of a data set of faces."""

    train: FaceRows
    validation: FaceRows
    test: FaceRows


def faces(
    *,
    seed: int,
    train: int = 300,
    validation: int = 100,
    test: int = 300,
    size: int = SIZE,
    noise: float = NOISE,
    cue: float = CUE,
) -> Faces:
    """A data set with these numbers of pictures of each class in its parts. Raises ValueError where
    a part would be empty or the seed is negative."""
    counts = part_sizes(train, validation, test, seed=seed, of="class")

    def part(name: PartName) -> FaceRows:
        return FaceRows(name, counts[name], seed, size, noise, cue)

    return Faces(part("train"), part("validation"), part("test"))
