"""The screen of the unmasking task: a masked picture, a question and its buttons (paper 004,
section 3.5 and figure 2).

What is measured on it, when a picture appears and when it is answered, is taken from the window
system (`labapp.ui.presentation`, `labapp.ui.input_time`). So that a picture appears when it is due,
the pictures of the present sequence and of the next one are read and scaled while one is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from labapp.clock import NS
from labapp.tasks.unmasking.events import Respond, StimulusHidden, StimulusPainted
from labapp.tasks.unmasking.plan import DONT_KNOW, UnmaskingPart
from labapp.tasks.unmasking.state import ANSWERED, StimulusTrial, UnmaskingState
from labapp.ui import input_time, theme
from labapp.ui.growing import grown_of
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.presentation import DueTimer, Presenter, refresh_ms
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.responses import Press, Response, ResponseRow
from labapp.ui.widgets.stimulus import EDGE, StimulusField

LEAST_ROOM = 96
"""Logical pixels that the picture keeps in the smallest window."""
KEY_WORDS = {
    "Space": "unmasking_key_space",
    "Left": "unmasking_key_left",
    "Right": "unmasking_key_right",
    "Up": "unmasking_key_up",
    "Down": "unmasking_key_down",
}
"""What keys are called that print nothing, by Qt's names for them."""


class UnmaskingScreen(Screen):
    """One stimulus after the other, without anything moving between them."""

    def __init__(self, session: SessionView, part: UnmaskingPart) -> None:
        super().__init__(session, part)
        assert session.images is not None, "a session that shows pictures keeps them"
        self.images = session.images
        self.part = part
        words = session.words
        example = part.role == "practice"
        several = words("stage_of", number=part.number, of=part.of) if part.of > 1 else ""
        self._stage = words("unmasking_example") if example else several
        self._following: tuple[int, int] | None = None
        self._away = False
        self._too_small = False
        self._settling = False
        self.field = StimulusField(part.unmasked.level, session.palette, words("unmasking_picture"))
        if not session.read_only:
            self._begin_timing()
        question = part.question or words("unmasking_question")
        self.question = PlainLabel(question)
        self.question.setProperty("role", "title")
        self.question.setWordWrap(True)
        self.question.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.responses = ResponseRow(list(self._buttons()), session.palette, question)
        self.responses.pressed.connect(self._pressed)
        column = self._column = self.column()
        column.addStretch(1)
        column.addWidget(self.field, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(theme.SPACE_L)
        column.addWidget(self.question)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.responses, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def _begin_timing(self) -> None:
        """What shows pictures when they are due, and takes the time of answers."""
        self.presenter = Presenter(self.field)
        self.field.painted = self.presenter.painted
        self.field.rescaled.connect(self._rescaled)
        self.due = DueTimer(self)
        self.clock = input_time.of_this_machine()
        self._idle = QTimer(self)
        self._idle.setInterval(0)
        self._idle.timeout.connect(self._prepare_one)

    def _buttons(self) -> Iterator[Response]:
        words = self.session.words
        for button in self.part.buttons:
            text = button.name or words("unmasking_dont_know")
            cap = words(KEY_WORDS[button.key]) if button.key in KEY_WORDS else button.key
            yield Response(text, cap, Qt.Key[f"Key_{button.key}"])

    @property
    def trial(self) -> StimulusTrial | None:
        """The present stimulus."""
        state = self.state
        return state.trial if isinstance(state, UnmaskingState) else None

    def render_state(self) -> None:
        trial = self.trial
        if self.session.read_only:
            self._draw(trial)
        elif trial is None or trial.interrupted or trial.outcome not in (None, ANSWERED):
            self._take_off()
        elif trial.outcome == ANSWERED:
            # Without a blank, one picture is replaced by the next.
            if self.part.blank_ms:
                self._take_off()
        elif trial.due:
            self._follow(trial)
        elif self.field.shown is None and self._there() and not self._away:
            # Something lay over it, such as the wait for a disk that does not answer.
            self.send(StimulusHidden())

    def _draw(self, trial: StimulusTrial | None) -> None:
        """Show what the state says is seen: a picture from when it was painted until it is taken
        off. Where no blank comes between two, it is taken off by the next one."""
        replaced = trial is not None and trial.outcome == ANSWERED and not self.part.blank_ms
        if trial is None or not (trial.open or replaced):
            self.field.clear()
            return
        name = self._picture(trial.number)
        if name != self.field.shown or not self.field.ready(name):
            self.field.keep(())
            self._show(name)
            self.field.update()

    def _follow(self, trial: StimulusTrial) -> None:
        """Bring the picture when it is due."""
        followed = trial.number, trial.attempt
        if followed == self._following or self._away or not self._there():
            return
        self._following = followed
        self._idle.stop()
        self.presenter.cancel()
        clock = self.session.clock
        left_ns = round(clock.real_seconds(trial.due_ns - clock.now_ns()) * NS)
        if left_ns > 0:
            self.field.clear()
        at = time.perf_counter_ns() + left_ns
        self._ready(self._picture(trial.number))
        self.due.call(at, self._bring)

    def _there(self) -> bool:
        """Whether a picture could be seen on this screen now."""
        return self.isVisible() and not self._settling and self.field.side > 0

    def _bring(self) -> None:
        trial = self.trial
        if trial is None or not trial.due:
            return
        name = self._picture(trial.number)
        self._ready(name)
        self.presenter.present(lambda: self._show(name), self._shown)

    def _show(self, name: str) -> None:
        # Perhaps a frame later: what was ready may have had another size.
        self._ready(name)
        self.field.show_picture(name)

    def _shown(self, perf_ns: int, shown_by: str) -> None:
        at = self.session.clock.from_perf_ns(perf_ns)
        side, refresh = self.field.picture_px, refresh_ms(self.field)
        self.send(StimulusPainted(at, shown_by, refresh, side, self._too_small))
        self._idle.start()

    def _take_off(self) -> None:
        """Show nothing, and bring nothing."""
        self._following = None
        self.due.stop()
        self.presenter.cancel()
        self.field.clear()

    def _pressed(self, press: Press) -> None:
        timed = self.clock.of(press.stamp_ms, press.arrival_ns)
        if self._away:
            return
        place = press.place + 1
        response = DONT_KNOW if place == len(self.part.buttons) else place
        at = self.session.clock.from_perf_ns(timed.perf_ns)
        self.send(Respond(response, press.device, at, timed.timed_by))

    def left_alone(self, away: bool) -> None:
        """A picture that is not looked at is taken away, and shown again from its beginning."""
        if away == self._away:
            return
        self._away = away
        if away:
            self._take_off()
            self.send(StimulusHidden())
        else:
            self.render_state()

    def _picture(self, number: int) -> str:
        return self.part.stimulus(number)[1].picture

    def _wanted(self) -> Iterable[str]:
        """The pictures from the present one to the end of the next sequence, as they come."""
        trial = self.trial
        if trial is None:
            return ()
        sequence, mask = self.part.at(trial.number)
        coming = self.part.sequences[sequence - 1 : sequence + 1]
        names = [mask.picture for each in coming for mask in each.masks]
        return dict.fromkeys(names[mask - 1 :])

    def _ready(self, name: str) -> None:
        if not self.field.ready(name):
            self.field.prepare(name, self.images.image(name))

    def _prepare_one(self) -> None:
        """Make one more picture ready, while nothing is due."""
        wanted = self._wanted()
        missing = next((name for name in wanted if not self.field.ready(name)), None)
        if missing is None or not self._there():
            self.field.keep(set(wanted))
            self._idle.stop()
            return
        self._ready(missing)

    def _rescaled(self) -> None:
        """What was ready had another size."""
        shown, trial = self.field.shown, self.trial
        if shown is not None:
            self._show(shown)
        if trial is not None and trial.open:
            self._idle.start()
        else:
            self.render_state()

    def head(self) -> Head:
        number = self.part.first + (self.trial.number if self.trial is not None else 1)
        of = self.part.total
        return Head(self._stage, self.session.words("unmasking_picture_of", number=number, of=of))

    def foot(self) -> Foot:
        return Foot()

    key_places = (ResponseRow,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and self.responses.has_key(Qt.Key(event.key()))

    def entrance(self) -> QWidget:
        return self.responses

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.session.read_only:
            return
        # The layout comes after this event.
        self._settling = True
        self.due.call(time.perf_counter_ns() + 1, self._settled)

    def _settled(self) -> None:
        self._settling = False
        self.render_state()

    def hideEvent(self, event: QHideEvent) -> None:
        if not self.session.read_only:
            self._take_off()
            self._idle.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Let the picture be as large as the study says, so that people see it alike whatever the
        display; it takes the margins too before it is smaller than that."""
        wide = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        beneath = self.question.heightForWidth(wide) + self.responses.sizeHint().height()
        beneath += theme.SPACE_L + theme.SPACE_S + 2 * EDGE
        size = int(self.part.size_px / grown_of(self))  # the page grows, the picture does not
        room = min(wide, size, self.height() - beneath - 2 * theme.SPACE_XS)
        first = self.images.image(self._picture(1))
        self._too_small = room < size
        self.field.set_room(max(room, LEAST_ROOM), max(first.width(), first.height()))
        left = (self.height() - beneath + 2 * EDGE - self.field.height()) // 2
        margin = min(max(left, theme.SPACE_XS), theme.SPACE_XL)
        side = self._column.contentsMargins().left()
        self._column.setContentsMargins(side, margin, side, margin)
        if self.session.read_only:
            self._draw(self.trial)
