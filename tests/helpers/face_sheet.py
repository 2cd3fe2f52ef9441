"""Pictures of faces that were looked at and kept, to see whether painting still gives them.

`python -m tests.helpers.face_sheet` paints them anew; look at the file before committing it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from labapp.models.datasets.faces import CLASSES, SIZE, face, picture

KEPT = Path(__file__).parents[1] / "models" / "datasets" / "faces-reference.png"
COLUMNS, ROWS = 8, 4


def painted() -> NDArray[np.uint8]:
    """Sixteen faces of each class without grain, anger above: uint8, shape (384, 768)."""
    made = []
    for row in range(ROWS):
        label = row * len(CLASSES) // ROWS
        for column in range(COLUMNS):
            one = face(7, "test", label, row * COLUMNS + column)
            quiet = replace(one, light=replace(one.light, noise=0.0))
            made.append(picture(quiet))
    grid = np.stack(made).reshape(ROWS, COLUMNS, SIZE, SIZE).transpose(0, 2, 1, 3)
    return np.rint(grid.reshape(ROWS * SIZE, COLUMNS * SIZE) * 255).astype(np.uint8)


def kept() -> NDArray[np.uint8]:
    """The pictures as they were kept, in the same shape."""
    with Image.open(KEPT) as image:
        return np.asarray(image, np.uint8)


if __name__ == "__main__":
    Image.fromarray(painted()).save(KEPT)
