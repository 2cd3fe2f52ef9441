"""What the moderator's windows say of a break."""

from __future__ import annotations

from typing import Any

from labapp.plugins.machine import PartMachine
from labapp.study.parts import BreakPart
from labapp.ui.moderator.part_words import PartWords


class BreakWords(PartWords[BreakPart]):
    def progress(self, part: BreakPart, machine: PartMachine[Any], state: Any) -> str:
        return ""
