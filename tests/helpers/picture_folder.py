"""A lab's folder of pictures, made of schematic faces: a folder a class, named as CK+ names."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from labapp.models.datasets.faces import CLASSES, face, picture


def make(root: Path, persons: int = 12, each: int = 2, kind: str = "png") -> Path:
    """`each` pictures of each class of every person, wider than high."""
    for label, name in enumerate(CLASSES):
        folder = root / name
        folder.mkdir(parents=True)
        for number in range(persons * each):
            person, take = divmod(number, each)
            file = folder / f"S{person:03}_{take:03}_{label:08}.{kind}"
            Image.fromarray(_wide(label, number)).save(file)
    return root


@cache
def _wide(label: int, number: int) -> NDArray[np.uint8]:
    """Drawn once for all folders."""
    drawn = picture(face(11, "train", label, number))
    return np.pad(np.rint(drawn * 255).astype(np.uint8), ((0, 0), (10, 10)), mode="edge")
