"""What the moderator's windows say of interactive reconstruction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from labapp.study.plugins.part import PlannedPart
from labapp.tasks.reconstruction.machine import MARKS, StageState
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.ui.language import N_, number, tr, tr_known
from labapp.ui.moderator import wording
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

ANSWERS = {"far": N_("reconstruction.mark.far"), "close": N_("reconstruction.mark.close")}
"""Words for the marks of a calibration."""


class ReconstructionWords(PartWords[PlannedPart]):
    marks = {"alignment.marked": "answer"}  # noqa: RUF012 (nobody changes it)

    def subject(self, part: PlannedPart) -> str:
        return part.model if isinstance(part, ReconstructionPart) else ""

    def mark(self, part: PlannedPart, payload: Mapping[str, Any]) -> str:
        words = tr_known(str(payload["mark"]), ANSWERS)
        return f"{words}: {wording.percent(float(payload['alignment']))}"

    def lanes(self, part: PlannedPart) -> frozenset[str]:
        marked = isinstance(part, ReconstructionPart) and part.marks
        return frozenset({"answer"}) if marked else frozenset()

    fold = "labapp.tasks.reconstruction.beside:Curve"
    beside_widget = "labapp.tasks.reconstruction.beside:QuestionCurve"

    def beside(
        self, part: PlannedPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        state = session.part_state
        if not isinstance(part, ReconstructionPart) or not isinstance(state, StageState):
            yield from super().beside(part, session, console)
            return
        trial = state.trial
        if trial is None:
            return
        yield Fact(tr("reconstruction.alignment"), "secondary")
        goal = "" if part.marks else f" / {number(f'{part.target_alignment * 100:g}')} %"
        tone: Literal["", "good"] = "good" if trial.solved else ""
        yield Fact(f"{wording.percent(trial.alignment)}{goal}", "strong", tone)
        if trial.solved:
            yield Fact(tr("reconstruction.matched"), "", "good")
        if part.marks:
            made = Counter(mark.mark for mark in trial.marks)
            counts = {name: made[name] for name in MARKS}
            yield Fact(tr("reconstruction.marked", **counts))
        if trial.selected is not None:
            label = state.labels[trial.selected]
            name = label or tr("task.dial", number=trial.selected + 1)
            value = number(f"{trial.z[trial.selected]:.2f}")
            yield Fact(tr("reconstruction.in_hand", dial=name, value=value), "secondary")
