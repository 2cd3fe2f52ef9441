"""Pictures of birds that were looked at and kept, to see whether painting still gives them.

`python -m tests.helpers.bird_sheet` paints them anew; look at the file before committing it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from labapp.models.datasets.birds import SPECIES, bird, picture

KEPT = Path(__file__).parents[1] / "models" / "datasets" / "birds-reference.png"
SIZE = 96


def painted() -> NDArray[np.uint8]:
    """A bird of each species without grain, five a row: uint8, shape (384, 480, 3)."""
    made = []
    for species in range(SPECIES):
        one = bird(7, "test", species, 0, occlusion=0.3)
        made.append(picture(replace(one, light=replace(one.light, noise=0.0)), SIZE))
    grid = np.stack(made).reshape(4, 5, 3, SIZE, SIZE).transpose(0, 3, 1, 4, 2)
    return np.rint(grid.reshape(4 * SIZE, 5 * SIZE, 3) * 255).astype(np.uint8)


def kept() -> NDArray[np.uint8]:
    """The pictures as they were kept, in the same shape."""
    image = QImage(str(KEPT)).convertToFormat(QImage.Format.Format_RGB888)
    flat = np.frombuffer(image.constBits(), np.uint8)
    return flat.reshape(image.height(), image.bytesPerLine() // 3, 3)[:, : image.width()].copy()


def save() -> None:
    sheet = np.ascontiguousarray(painted())
    height, width, _ = sheet.shape
    image = QImage(sheet.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888)
    assert image.save(str(KEPT))


if __name__ == "__main__":
    save()
