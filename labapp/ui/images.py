"""The kept pictures of a session as images: read once, cut out and coloured as a plan says."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtGui import QImage

from labapp.models.stimuli import masking
from labapp.models.stimuli.gallery import Gallery
from labapp.models.stimuli.manifest import ColourMap, Scale
from labapp.ui.widgets.photo_view import cut_out, image_of

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

    def overlay(self, ref: str, heat: str, scale: Scale, colours: ColourMap) -> QImage:
        """A heatmap over the picture that it explains."""

        def made() -> QImage:
            rgb = self._gallery.rgb
            return image_of(masking.overlay(rgb(ref), rgb(heat), scale, colours))

        return self._once(("heatmap", ref, heat, colours), made)

    def part(self, ref: str, box: tuple[float, float, float, float] | None) -> QImage:
        """What is in a box of a picture."""
        return self._once(("part", ref, box), lambda: cut_out(self.image(ref), box))

    def _once(self, key: tuple[object, ...], make: Callable[[], QImage]) -> QImage:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = self._kept[key] = make()
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return made
