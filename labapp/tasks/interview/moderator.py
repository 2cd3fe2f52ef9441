"""What the moderator's windows say of an interview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labapp.record.events.commands import Command
from labapp.study.plugins.machine import PartMachine
from labapp.tasks.interview.events import AskQuestion
from labapp.tasks.interview.machine import InterviewPart
from labapp.ui.language import tr
from labapp.ui.moderator.wording import PartWords

KEYS = 9


def key_of(number: int) -> str:
    """The key that stamps a question, counted from 1; empty behind the ninth."""
    return f"Alt+Shift+{number}" if number <= KEYS else ""


class InterviewWords(PartWords[InterviewPart]):
    panel = "labapp.tasks.interview.beside:InterviewPanel"

    def progress(self, part: InterviewPart, machine: PartMachine[Any], state: Any) -> str:
        return f"{len(set(state.asked))} / {len(part.questions)}" if part.questions else ""

    def lanes(self, part: InterviewPart) -> frozenset[str]:
        return frozenset({"question"})

    def chords(self, parts: Sequence[InterviewPart]) -> Mapping[str, Command]:
        longest = max(len(part.questions) for part in parts)
        return {key_of(n): AskQuestion(n) for n in range(1, min(KEYS, longest) + 1)}

    def describe_chord(self, command: Command) -> str:
        assert isinstance(command, AskQuestion)
        return tr("keys.interview", number=command.question)
