"""Sheets of a set of pixel scores: every image, method and mask is on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from labapp.base.errors import StimuliError
from labapp.models.explanations.building import sheet
from labapp.models.stimuli import masked_pictures, score_files
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking
from tests.helpers import stimuli

MASKING = Masking(masked_pictures.sizes(5, 60, 4), "black", "signed")


def drawn(figure: Figure) -> list[np.ndarray]:
    """The pictures of a figure, row by row."""
    return [np.asarray(image.get_array()) for axes in figure.axes for image in axes.get_images()]


def words(figure: Figure) -> set[str]:
    texts = [text.get_text() for axes in figure.axes for text in (*axes.texts, axes.title)]
    return {" ".join(text.split()) for text in texts} - {""}


def test_the_explanations_are_the_scores(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    figure = sheet.explanations(made)
    shown = drawn(figure)
    assert len(shown) == 8 * 3
    photo = made.manifest.photos[2]
    for place, method in enumerate(("middle", "edge"), start=1):
        scores = score_files.read(made.folder, photo.scores[method])
        assert np.array_equal(shown[2 * 3 + place], scores)
    assert {"image", "Middle", "Edge", "p00 disc, predicted right"} <= words(figure)
    assert "p02 disc, predicted as ring" in words(figure)


def test_the_masks_are_what_a_participant_sees(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    figure = sheet.masks(made, MASKING)
    shown = drawn(figure)
    assert len(shown) == 2 * 2 * 5
    chosen = ["p00", "p01"]
    for row, (photo, method) in enumerate((p, m) for p in chosen for m in ("middle", "edge")):
        for column, percent in enumerate(MASKING.percents):
            ref = MaskedRef(made.id, photo, method, "black", "signed", percent)
            assert np.array_equal(shown[5 * row + column], masked_pictures.picture(made, ref))
    assert {"5 %", "11 %", "26 %", "60 %", "image", "Middle", "Edge"} <= words(figure) | {
        one.split()[-1] for one in words(figure)
    }


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "sheets" / "explanations.png"
    kept.parent.mkdir()
    kept.write_bytes(b"a sheet")
    with pytest.raises(StimuliError, match="exists; nothing is overwritten"):
        sheet.write(stimuli.write(tmp_path, "scores"), MASKING, kept.parent)
    assert kept.read_bytes() == b"a sheet"


def test_both_are_written(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "a" / "sheets"
    paths = sheet.write(made, MASKING, out)
    assert [path.name for path in paths] == ["explanations.png", "masked.png"]
    for path in paths:
        with Image.open(path) as image:
            assert image.format == "PNG"
            assert np.asarray(image.convert("L")).std() > 10
    (tmp_path / "file").write_text("")
    with pytest.raises(StimuliError, match="cannot be written"):
        sheet.write(made, MASKING, tmp_path / "file" / "sheets")


def test_other_sets_have_no_sheets(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "path-agreement")
    with pytest.raises(StimuliError, match="tiny-path-agreement is of the kind path"):
        sheet.write(made, MASKING, tmp_path / "sheets")
