"""The alignment over the present question, beside the participant's screen in the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labapp.plugins.part import PlannedPart
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.state import StageState
from labapp.ui.moderator.curve_view import CurveView
from labapp.ui.moderator.facts import Beside
from labapp.ui.theme import Palette

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

HIGH_PX = 110


class QuestionCurve(CurveView, Beside):
    """Its time stands still in a pause and once the question is solved."""

    def __init__(self, palette: Palette, console: ConsoleState) -> None:
        super().__init__(palette, console.curve)
        self.setFixedHeight(HIGH_PX)
        self._drawn: tuple[int, float] | None = None

    def show_beside(self, part: PlannedPart, session: SessionView, console: ConsoleState) -> None:
        there = isinstance(part, ReconstructionPart) and isinstance(session.part_state, StageState)
        self.setVisible(there)
        if not isinstance(part, ReconstructionPart):
            return
        curve, since_ns = console.curve, 0
        if curve.began_ns is not None:
            since_ns = console.work.working_ns(session.clock.now_ns()) - curve.began_ns
        newest = curve.points[-1] if curve.points else None
        changed, self._drawn = newest != self._drawn, newest
        self.show_curve(None if part.marks else part.target_alignment, since_ns, changed=changed)
