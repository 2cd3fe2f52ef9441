"""The screen of a calibration: reconstruction without a target mark, and two buttons that mark
where the pictures are "far away" and "close enough" (paper 000, A.2.3)."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from labapp.events.commands import MarkAlignment
from labapp.tasks.reconstruction.state import MARKS, Trial
from labapp.ui.participant.reconstruction import ReconstructionScreen
from labapp.ui.widgets.marks import MarkRow


class CalibrationScreen(ReconstructionScreen):
    """Nothing locks: the participant goes on, or marks again, when both were marked."""

    marks: MarkRow

    def make_beneath(self) -> QWidget:
        words = self.setting.words

        def button(mark: str) -> tuple[str, str]:
            letter = words(f"mark_{mark}_key")
            return words("mark_button", mark=words(f"mark_{mark}"), letter=letter), letter

        self.marks = MarkRow({mark: button(mark) for mark in MARKS}, self)
        self.marks.marked.connect(self._mark)
        return self.marks

    def title(self) -> str:
        return self.setting.words("mark_title")

    def instruction(self) -> str:
        words, part = self.setting.words, self.part
        said = [words("mark_text")]
        if part.skip == "after":
            seconds = words.number(f"{part.skip_after_s:g}")
            said.append(words("mark_text_skip_after", skip_after_s=seconds))
        elif part.skip == "always":
            said.append(words("mark_text_skip_always"))
        return " ".join(said)

    def may_go_on(self, trial: Trial) -> bool:
        return not trial.unmarked

    def render_state(self) -> None:
        super().render_state()
        if (trial := self.trial) is not None:
            self.marks.say(self._said(trial))

    def _said(self, trial: Trial) -> str:
        """What was marked last, and what is missing."""
        words = self.setting.words
        if not trial.marks:
            return words("mark_first")
        last = trial.marks[-1].mark
        count = sum(one.mark == last for one in trial.marks)
        made = words("mark_made", mark=words(f"mark_{last}"), count=count)
        if trial.unmarked:
            missing = words("mark_missing", mark=words(f"mark_{trial.unmarked[0]}"))
        else:
            missing = words("mark_enough")
        return f"{made} {missing}"

    def _mark(self, mark: str) -> None:
        self.gate.flush()
        self.send(MarkAlignment(mark))

    def right(self) -> None:
        self.gate.flush()
        super().right()
