"""What the moderator's windows say of an interview."""

from __future__ import annotations

from typing import Any

from labapp.plugins.machine import PartMachine
from labapp.tasks.interview.plan import InterviewPart
from labapp.ui.moderator.part_words import PartWords


class InterviewWords(PartWords[InterviewPart]):
    def progress(self, part: InterviewPart, machine: PartMachine[Any], state: Any) -> str:
        return f"{len(set(state.asked))} / {len(part.questions)}" if part.questions else ""

    def lanes(self, part: InterviewPart) -> frozenset[str]:
        return frozenset({"question"})
