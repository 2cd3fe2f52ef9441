"""The kept pictures of a session as images: read once, cut out and coloured as a plan says."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtGui import QImage

from labapp.stimuli import colour
from labapp.stimuli.gallery import Gallery
from labapp.tasks.judging.plan import Explained, PlannedPhoto, PlannedRow
from labapp.ui.widgets.photo_view import cut_out, image_of
from labapp.ui.widgets.row_view import Row

MOST = 160
"""Images that are kept: those of a photo with forty rows."""


class Images:
    """What screens and mirror show of a gallery; equal pictures are one image."""

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        self._kept: OrderedDict[tuple[object, ...], QImage] = OrderedDict()

    def image(self, ref: str) -> QImage:
        """A picture. Raises StimuliError where it is not what was kept."""
        return self._once(("picture", ref), lambda: image_of(self._gallery.rgb(ref)))

    def heatmap(self, photo: str, heat: str, explained: Explained) -> QImage:
        """A heatmap over its photo, in the colours of the plan."""
        scale, colours = explained.scale or "ready", explained.colour_map
        if scale == "ready" or not colours:
            return self.image(heat)

        def made() -> QImage:
            rgb = self._gallery.rgb
            return image_of(colour.overlay(rgb(photo), rgb(heat), scale, colours))

        return self._once(("heatmap", photo, heat, colours), made)

    def row(
        self, photo: PlannedPhoto, row: PlannedRow, *, step: str = "", decision: str = ""
    ) -> Row:
        """The pictures of a row of a photo."""
        own, other = self.image(photo.photo), self.image(row.photo)
        return Row(
            photo=own,
            photo_box=row.region,
            region=self._part(photo.photo, row.region_crop, row.region),
            prototype=self._part(row.photo, row.crop, row.box),
            prototype_photo=other,
            prototype_box=row.box,
            step=step,
            decision=decision,
        )

    def _part(
        self, ref: str, crop: str | None, box: tuple[float, float, float, float] | None
    ) -> QImage:
        """A part of a picture: what was cut out before, or what is in the box."""
        if crop is not None:
            return self.image(crop)
        return self._once(("part", ref, box), lambda: cut_out(self.image(ref), box))

    def _once(self, key: tuple[object, ...], make: Callable[[], QImage]) -> QImage:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = self._kept[key] = make()
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return made
