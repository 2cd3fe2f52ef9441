"""What the moderator's windows say of the single-dimension task."""

from __future__ import annotations

from labapp.plugins.part import PlannedPart, RepresentationPart
from labapp.ui.moderator.part_words import PartWords


class SingleDimensionWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        return part.model if isinstance(part, RepresentationPart) else ""
