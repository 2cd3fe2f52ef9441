"""The pictures of the documentation show the windows as they are now: each is drawn again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from scripts import docs_pictures
from tests.helpers.recipes import ROOT

SIDE, NEAR = (320, 180), 6.0
"""Pixels that are compared, and how far levels of grey (0 to 255) may differ on average: other
fonts and a made-up voice move little of a window, another arrangement moves much."""


@pytest.mark.parametrize("name", list(docs_pictures.PICTURES))
def test_a_picture_is_of_the_windows_as_they_are(name: str, tmp_path: Path) -> None:
    """`make pictures` draws them again."""
    script = ROOT / "scripts" / "docs_pictures.py"
    command = [sys.executable, str(script), "--out", str(tmp_path), name]
    subprocess.run(command, check=True, timeout=300, cwd=ROOT)
    before, now = (grey(folder / name) for folder in (docs_pictures.OUT, tmp_path))
    assert np.abs(before - now).mean() < NEAR


def grey(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("L").resize(SIDE), dtype=float)
