"""The pictures of a photo as a plan explains it: its heatmaps, and the rows that compare its
regions with prototypes."""

from __future__ import annotations

from PySide6.QtGui import QImage

from labapp.tasks.judging.plan import ExplainedModel, PlannedPhoto, PlannedRow
from labapp.ui.images import Images
from labapp.ui.widgets.row_view import Row


def heatmap(images: Images, photo: str, heat: str, explained: ExplainedModel) -> QImage:
    """A heatmap over its photo, in the colours of the plan."""
    scale, colours = explained.scale or "ready", explained.colour_map
    if scale == "ready" or not colours:
        return images.image(heat)
    return images.overlay(photo, heat, scale, colours)


def row_of(
    images: Images, photo: PlannedPhoto, row: PlannedRow, *, step: str = "", decision: str = ""
) -> Row:
    """The pictures of a row of a photo."""
    return Row(
        photo=images.image(photo.photo),
        photo_box=row.region,
        region=_part(images, photo.photo, row.region_crop, row.region),
        prototype=_part(images, row.photo, row.crop, row.box),
        prototype_photo=images.image(row.photo),
        prototype_box=row.box,
        step=step,
        decision=decision,
    )


def _part(
    images: Images,
    ref: str,
    crop: str | None,
    box: tuple[float, float, float, float] | None,
) -> QImage:
    """A part of a picture: what was cut out before, or what is in the box."""
    return images.part(ref, box) if crop is None else images.image(crop)
