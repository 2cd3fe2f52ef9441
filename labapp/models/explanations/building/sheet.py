"""Sheets of the pictures of a set of pixel scores, to be checked before participants see them.

Two sheets: the explanations, each image beside the scores of every method; and the masked pictures,
of one image of each class, every method in every mask (paper 004, figure 1).

matplotlib is slow to load: nothing imports this module before a sheet is to be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from labapp.base.errors import StimuliError
from labapp.base.figure_style import STYLE
from labapp.models.stimuli import masked_pictures, pictures, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Photo
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking

EXPLANATIONS, MASKED = "explanations.png", "masked.png"
CELL_IN = 1.15
"""Inches that a picture takes."""
LEFT_IN, TOP_IN, EDGE_IN = 1.7, 0.45, 0.1
"""Room for words at the left and above, and for nothing at the other edges."""
DPI = 150
STRONG = 99.0
"""Percentile of the absolute scores of a picture at which its colours end."""


def write(stimulus_set: StimulusSet, masking: Masking, folder: Path) -> tuple[Path, Path]:
    """Draw both sheets into a folder that does not exist. Raises StimuliError: the set has no
    scores, one of its files is missing or damaged, or the folder exists or cannot be written."""
    if (kind := stimulus_set.manifest.kind) != "scores":
        raise StimuliError(
            f"The stimulus set {stimulus_set.id} is of the kind {kind}, but sheets are made "
            "from sets of pixel scores.",
            todo="Choose a set of the kind scores.",
        )
    if folder.exists():
        raise StimuliError(
            f"{folder} already exists, and nothing is overwritten.",
            todo="Choose a folder that does not exist yet.",
        )
    with mpl.rc_context(STYLE):
        figures = {EXPLANATIONS: explanations(stimulus_set), MASKED: masks(stimulus_set, masking)}
        try:
            folder.mkdir(parents=True)
            for name, figure in figures.items():
                FigureCanvasAgg(figure)
                figure.savefig(folder / name, dpi=DPI, metadata={"Software": None})
        except OSError as error:
            raise StimuliError(
                f"{folder} could not be written: {error.strerror}.",
                todo="Choose a folder in which you may write.",
            ) from error
    return folder / EXPLANATIONS, folder / MASKED


def explanations(stimulus_set: StimulusSet) -> Figure:
    """Each image of the set and the scores of every method, red for the prediction, blue against
    it; each picture has a scale of its own, as ranks do."""
    photos = stimulus_set.manifest.photos
    methods = stimulus_set.manifest.methods
    figure, grid = _grid(len(photos), 1 + len(methods))
    for row, photo in enumerate(photos):
        _whole(grid[row][0], stimulus_set, photo)
        _beside(
            grid[row][0],
            f"{photo.id}\n{photo.truth},\n{_describe_prediction(photo)}",
            wrong=not photo.correct,
        )
        for axes, method in zip(grid[row][1:], methods, strict=True):
            scores = score_files.read(stimulus_set.folder, photo.scores[method.id])
            limit = float(np.percentile(np.abs(scores), STRONG)) or 1.0
            axes.imshow(scores, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    _titles(grid[0], ("image", *(method.name for method in methods)))
    return figure


def masks(stimulus_set: StimulusSet, masking: Masking) -> Figure:
    """One image of each class, a right one if there is: one row per method, one column per mask."""
    manifest = stimulus_set.manifest
    chosen = [_first(manifest.photos, class_.id) for class_ in manifest.classes]
    photos = [photo for photo in chosen if photo is not None]
    methods = manifest.methods
    columns = len(masking.percents) + 1
    figure, grid = _grid(len(photos) * len(methods), columns)
    for place, photo in enumerate(photos):
        for step, method in enumerate(methods):
            row = grid[place * len(methods) + step]
            caption = f"{photo.truth},\n{_describe_prediction(photo)}\n" if step == 0 else ""
            _beside(row[0], f"{caption}{method.name}", wrong=not photo.correct and step == 0)
            for axes, percent in zip(row, masking.percents, strict=False):
                ref = MaskedRef(
                    stimulus_set.id, photo.id, method.id, masking.fill, masking.sign, percent
                )
                _show(axes, masked_pictures.picture(stimulus_set, ref))
            _whole(row[-1], stimulus_set, photo)
    _titles(grid[0], (*(f"{percent:g} %" for percent in masking.percents), "image"))
    return figure


def _first(photos: Sequence[Photo], truth: str) -> Photo | None:
    of_class = [photo for photo in photos if photo.truth == truth]
    return next((photo for photo in of_class if photo.correct), next(iter(of_class), None))


def _describe_prediction(photo: Photo) -> str:
    return "predicted right" if photo.correct else f"predicted as {photo.prediction}"


def _grid(rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """A figure with so many pictures beside and below each other."""
    width = LEFT_IN + columns * CELL_IN + EDGE_IN
    height = TOP_IN + rows * CELL_IN + EDGE_IN
    figure = Figure(figsize=(width, height), facecolor="white")
    grid = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(
        left=LEFT_IN / width,
        right=1 - EDGE_IN / width,
        bottom=EDGE_IN / height,
        top=1 - TOP_IN / height,
        wspace=0.06,
        hspace=0.06,
    )
    for axes in grid.flat:
        axes.set_axis_off()
    return figure, [list(row) for row in grid]


def _titles(row: Sequence[Axes], titles: Sequence[str]) -> None:
    for axes, title in zip(row, titles, strict=True):
        axes.set_title(
            fill(title, 16), loc="center", fontsize=8, fontweight="normal"
        ).set_parse_math(False)


def _beside(axes: Axes, caption: str, *, wrong: bool) -> None:
    """Words at the left of a row, in bold if the prediction is wrong."""
    written = axes.text(
        -0.08, 0.5, caption, transform=axes.transAxes, ha="right", va="center", fontsize=8
    )
    written.set_fontweight("bold" if wrong else "normal")
    written.set_parse_math(False)


def _whole(axes: Axes, stimulus_set: StimulusSet, photo: Photo) -> None:
    _show(axes, pictures.read(stimulus_set.folder, photo.photo))


def _show(axes: Axes, pixels: pictures.UInt8) -> None:
    axes.imshow(pixels, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
