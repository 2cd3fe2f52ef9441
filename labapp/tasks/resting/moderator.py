"""What the moderator's windows say of a break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from labapp.base.clock import NS
from labapp.study.plan import BreakPart
from labapp.study.plugins.machine import PartMachine
from labapp.ui.language import tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


class BreakWords(PartWords[BreakPart]):
    def progress(self, part: BreakPart, machine: PartMachine[Any], state: Any) -> str:
        return ""

    def beside(
        self, part: BreakPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        text = tr("resting.ready")
        if part.at_least_s:
            least = wording.short_time(round(part.at_least_s * NS))
            text = tr("resting.least", least=least)
        yield Fact(text)
