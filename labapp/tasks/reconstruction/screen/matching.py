"""The reconstruction screen: dials on the left, own picture and target on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.events.commands import Command, Next, Skip
from labapp.representations.space import LatentSpace
from labapp.tasks.reconstruction.commands import EditLabel, MoveDial, SelectDial, ToggleOverlay
from labapp.tasks.reconstruction.machine import LABEL_LIMIT, ReconstructionTask
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.screen.dials import DialPanel
from labapp.tasks.reconstruction.screen.picture_panel import GAP, PicturePanel
from labapp.tasks.reconstruction.state import StageState, Trial
from labapp.ui import theme
from labapp.ui.participant.gate import MoveGate
from labapp.ui.participant.screen import DialControl, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.alignment import AlignmentBar
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.dial import DialSlider, moves_dial
from labapp.ui.widgets.hands import KEYBOARD
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.scale import Scale

DIALS_LEAST, NAMED_DIALS_LEAST = 344, 384
"""So much width is kept for the dials (with names to edit: the second); the pictures take what is
left of the content column."""


class ReconstructionScreen(Screen):
    """One stage (or the practice); questions come and go in it without anything being rebuilt."""

    def __init__(self, session: SessionView, part: ReconstructionPart) -> None:
        super().__init__(session, part)
        pictures = session.pictures
        assert pictures is not None  # the window makes a screen when they are there
        self.part = part
        self._space = LatentSpace.from_json(part.dimensions)
        words, palette = session.words, session.palette
        task = session.task
        assert isinstance(task, ReconstructionTask)
        self._task = task
        self._stage = stage_words(session, part)
        self.dials = DialPanel(
            self._space,
            lambda number: words("dial", number=number),
            palette,
            editable=part.labels_editable,
            improved=session.improved,
            text_of=words.number,
            too_long=words("text_limit", n=LABEL_LIMIT),
        )
        self.gate = MoveGate(self._move, lambda: self.pictures.front.update(), self)
        self.pictures = PicturePanel(
            part,
            pictures,
            words,
            palette,
            improved=session.improved,
            frame_painted=self.gate.frame_painted,
        )
        self.bar = AlignmentBar(words("alignment"), words("aligned"), palette, words.number)
        self.beneath = self.make_beneath()
        self._question: tuple[int, int] | None = None
        self._solved = self._offered = False
        self._labels: tuple[str | None, ...] = ()
        self._lay_out()
        self.dials.moved.connect(self.gate.ask)
        self.dials.selected.connect(self._select)
        self.dials.renamed.connect(lambda i, text: self.send(EditLabel(i, text)))
        self.pictures.toggle.changed.connect(self._toggle)
        self.pictures.toggle.selected.connect(self._back_to_dial)

    def make_beneath(self) -> QWidget | None:
        """Finish the bar; what stands beneath it, of a height that never changes."""
        words, alignment = self.session.words, self.part.target_alignment
        target = words.number(f"{alignment * 100:g}")
        self.bar.set_target(alignment, words("target_mark", target=target))
        return None

    def title(self) -> str:
        return self.session.words("task_title")

    def instruction(self) -> str:
        """What is to be done, in a sentence or two."""
        words, part = self.session.words, self.part
        seconds = words.number(f"{part.skip_after_s:g}")
        return words(f"task_text_skip_{part.skip}", skip_after_s=seconds)

    def may_go_on(self, trial: Trial) -> bool:
        """Whether Next is possible."""
        return trial.solved

    def _lay_out(self) -> None:
        words, part = self.session.words, self.part
        title = PlainLabel(self.title())
        title.setProperty("role", "title")
        title.setWordWrap(True)
        task = self.instruction()
        if part.think_aloud:
            task = " ".join([task, words("task_text_think_aloud")])
        text = PlainLabel(task)
        text.setWordWrap(True)
        # As published nothing is said of keys: they are those of any slider on a web page.
        hints = [words("dial_help")] if self.session.improved else []
        if part.labels_editable:
            hints.append(words("rename_help"))
        help_text = PlainLabel(" ".join(hints))
        help_text.setWordWrap(True)
        help_text.setProperty("role", "secondary")
        left = QVBoxLayout()
        left.setSpacing(0)
        left.addWidget(title)
        left.addSpacing(theme.SPACE_S)
        left.addWidget(text)
        left.addSpacing(theme.SPACE_M)
        left.addWidget(self.dials)
        left.addSpacing(theme.SPACE_S)
        left.addWidget(help_text)
        left.addStretch(1)
        self._right = QWidget()
        right = QVBoxLayout(self._right)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(theme.SPACE_M)
        right.addWidget(self.pictures)
        right.addWidget(self.bar)
        if self.beneath is not None:
            right.addWidget(self.beneath)
        right.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XL)
        row.addLayout(left, 1)
        row.addWidget(self._right)
        column = self.column()
        column.addStretch(1)
        column.addLayout(row)
        column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Pictures as large as fits beside the dials and above the bar."""
        super().resizeEvent(event)
        content = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        least = NAMED_DIALS_LEAST if self.part.labels_editable else DIALS_LEAST
        wide = (content - least - theme.SPACE_XL - GAP) / 2
        around = self.pictures.around() + self.bar.sizeHint().height() + theme.SPACE_M
        if self.beneath is not None:
            around += self.beneath.sizeHint().height() + theme.SPACE_M
        high = self.height() - 2 * theme.SPACE_XL - around
        needed = 0 if self.beneath is None else self.beneath.minimumSizeHint().width()
        self._right.setFixedWidth(max(needed, round(self.pictures.fit(min(wide, high)))))

    @property
    def trial(self) -> Trial | None:
        """The present question."""
        state = self.state
        return state.trial if isinstance(state, StageState) else None

    def _move(self, dimension: int, value: float, device: str) -> None:
        self.send(MoveDial(dimension, value, device))

    def _select(self, dimension: int, device: str) -> None:
        self.gate.flush()
        self.send(SelectDial(dimension, device))

    def _toggle(self, index: int) -> None:
        self.gate.flush()
        self.send(ToggleOverlay(bool(index)))

    def _back_to_dial(self, device: str) -> None:
        """A click on a view, also the one that is shown, leaves the arrow keys with the dial."""
        place = self.key_place
        if device != KEYBOARD and place is not None and place.isEnabled():
            place.setFocus(Qt.FocusReason.OtherFocusReason)

    def dial_controls(self) -> Mapping[int, DialControl]:
        rows = enumerate(self.dials.rows)
        return {i: DialControl(row.control, row.control.handle_x) for i, row in rows}

    def pending_commands(self) -> Sequence[Command]:
        names = [(i, row.name.uncommitted_text) for i, row in enumerate(self.dials.rows)]
        return [
            *(MoveDial(*waiting) for waiting in self.gate.waiting()),
            *(EditLabel(i, name) for i, name in names if name is not None),
        ]

    def render_state(self) -> None:
        trial, pictures = self.trial, self.session.pictures
        if trial is None or pictures is None:
            return
        question = (trial.number, trial.attempt)
        if question != self._question:
            self._question = question
            self.gate.clear()
            self.dials.set_starts(trial.z_start if self.session.improved else None)
            self.wish = "content"
        if trial.solved:
            self.gate.clear()
        for index, value in enumerate(trial.z):
            if not self.gate.waits(index):
                self.dials.show_value(index, value)
        self.pictures.show_overlay(trial.overlay)
        self.pictures.show_pictures(pictures)
        self.bar.show_alignment(trial.alignment, trial.solved)
        self.dials.set_locked(not trial.running)
        if self.state.labels != self._labels:
            self._labels = self.state.labels
            self.dials.show_names(self._labels)
        if trial.solved != self._solved:
            self._solved = trial.solved
            if trial.solved:
                self.wish = "right"
        offered = self._may_skip(trial)
        if offered and not self._offered and self.part.skip == "after":
            self.tell(self.session.words("skip"))  # it comes up far from the focus
        self._offered = offered

    def _may_skip(self, trial: Trial) -> bool:
        return trial.running and self._task.may_skip(trial)

    def head(self) -> Head:
        trial, of = self.trial, self.part.trials
        number = trial.number if trial else 1
        question = self.session.words("question_of", number=number, of=of)
        return Head(self._stage, question, number, of)

    def foot(self) -> Foot:
        trial = self.trial
        offered = trial is not None and self._may_skip(trial)
        return Foot(
            left=self.session.words("skip") if offered else "",
            leaves=True,
            right=self.session.words("next_question"),
            enabled=trial is not None and self.may_go_on(trial),
        )

    def left(self) -> None:
        self.gate.flush()
        self.send(Skip())

    def right(self) -> None:
        self.send(Next())

    key_places = (DialSlider, Scale)

    def announces(self, event: QKeyEvent) -> bool:
        return moves_dial(event)

    def entrance(self) -> QWidget:
        return self.dials.rows[0].control
