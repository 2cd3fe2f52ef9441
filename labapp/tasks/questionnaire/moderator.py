"""What the moderator's windows say of a questionnaire."""

from __future__ import annotations

from typing import Any

from labapp.plugins.machine import PartMachine
from labapp.study.parts import QuestionnairePart
from labapp.ui.language import tr
from labapp.ui.moderator.part_words import PartWords

SHORT = 4
"""An instrument's id of at most so many characters is an abbreviation that people know."""


class QuestionnaireWords(PartWords[QuestionnairePart]):
    def progress(self, part: QuestionnairePart, machine: PartMachine[Any], state: Any) -> str:
        return part.instrument.upper() if len(part.instrument) <= SHORT else tr("asked")
