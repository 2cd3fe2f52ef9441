"""A strip across the home: an interrupted session, or what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from labapp.errors import LabappError
from labapp.ui import theme
from labapp.ui.language import tr, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.choices import Interrupted
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button


class _Band(QFrame):
    def __init__(self, palette: Palette, state: str, tone: str) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setProperty("tone", tone)
        self.title = bits.label(role="strong", wrap=True)
        self.text = bits.label(role="secondary", wrap=True)
        self.row = bits.row(
            self, theme.SPACE_M, (theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        )
        self.row.addWidget(bits.StatusIcon(palette, state), 0, Qt.AlignmentFlag.AlignTop)
        words = bits.column(None, 2)
        words.addWidget(self.title)
        words.addWidget(self.text)
        self.row.addLayout(words, 1)
        self.hide()


class InterruptedBanner(_Band):
    """resume_requested(path), leave_requested(path): the answer for the session shown."""

    resume_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, "warn", "warn")
        self.lines: list[Interrupted] = []
        self.leave = Button(tr("Leave as it is"))
        self.resume = Button(tr("Recover and resume"))
        self.resume.setProperty("role", "primary")
        self.row.addWidget(self.leave)
        self.row.addWidget(self.resume)
        self.leave.clicked.connect(self._left)
        self.resume.clicked.connect(lambda: self.resume_requested.emit(self.lines[0].path))

    def set_lines(self, lines: Sequence[Interrupted]) -> None:
        """The interrupted sessions; they are asked about one after the other."""
        self.lines = list(lines)
        self._show()

    def _left(self) -> None:
        line = self.lines.pop(0)
        self._show()
        self.leave_requested.emit(line.path)

    def _show(self) -> None:
        self.setVisible(bool(self.lines))
        if not self.lines:
            return
        line = self.lines[0]
        title = tr(
            "Session {participant} was interrupted, {when}",
            participant=line.participant,
            when=wording.local_time(line.last_utc),
        )
        bits.set_text(self.title, title)
        if line.forbidden:
            text = tr(
                "{study} · this study does not allow sessions to be resumed. Everything up to then "
                "is on disk and can be exported; its place is free for another participant.",
                study=line.study,
            )
        else:
            text = tr(
                "{study} · everything up to then is on disk. You can resume it now or later.",
                study=line.study,
            )
        self.resume.setVisible(not line.forbidden)
        if more := len(self.lines) - 1:
            text += " " + tr("{n} more after this one.", n=more)
        bits.set_text(self.text, text)


class ErrorBanner(_Band):
    """What happened, what is safe, what to do; stays until it is dismissed."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, "missing", "alarm")
        self.dismiss = Button(tr("Dismiss"))
        self.row.addWidget(self.dismiss)
        self.dismiss.clicked.connect(self.hide)

    def show_error(self, error: LabappError) -> None:
        bits.set_text(self.title, translate_message(error.what))
        bits.set_text(
            self.text,
            " ".join(translate_message(part) for part in (error.safe, error.todo) if part),
        )
        self.show()


class OpeningCard(QFrame):
    """Over the home while a session is opened: what is done now."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = bits.label(role="secondary", wrap=True)
        self.text.setMinimumWidth(360)
        column = bits.column(self, theme.SPACE_S, theme.SPACE_XL)
        column.addWidget(bits.label(tr("Opening the session."), "title"))
        column.addWidget(self.text)
        self.hide()

    def say(self, step: str) -> None:
        """Show a sentence at once, without the event loop."""
        bits.set_text(self.text, step)
        self.adjustSize()
        self.move(self._over.rect().center() - self.rect().center())
        self.raise_()
        self._over.repaint()
