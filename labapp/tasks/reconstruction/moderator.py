"""What the moderator's windows say of interactive reconstruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.plugins.part import PlannedPart
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import PartWords

ANSWERS = {"far": N_("Far away"), "close": N_("Close enough")}
"""Words for the marks of a calibration."""


class ReconstructionWords(PartWords[PlannedPart]):
    marks = {"alignment.marked": "answer"}  # noqa: RUF012 (nobody changes it)

    def subject(self, part: PlannedPart) -> str:
        return part.model if isinstance(part, ReconstructionPart) else ""

    def mark(self, payload: Mapping[str, Any]) -> str:
        words = tr(ANSWERS.get(str(payload["mark"]), str(payload["mark"])))
        return f"{words}: {wording.percent(float(payload['alignment']))}"

    def lanes(self, part: PlannedPart) -> frozenset[str]:
        marked = isinstance(part, ReconstructionPart) and part.marks
        return frozenset({"answer"}) if marked else frozenset()
