"""The command of a questionnaire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labapp.record.events.commands import Command


@dataclass(frozen=True, slots=True)
class Answer(Command):
    """Answer (or change the answer to) an item of a questionnaire."""

    item: str
    value: Any
