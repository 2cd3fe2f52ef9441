"""The way to a survey of another tool: the study's text, and below it a button that opens the
browser, a QR code for a phone, or both. The participant says when it is finished."""

from __future__ import annotations

import segno
from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from labapp.tasks.survey.events import FinishSurvey, OpenSurvey
from labapp.tasks.survey.machine import SurveyPart, can_finish
from labapp.ui import theme
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.theme import Palette
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, Picture, PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.painting import draw_focus_ring

CODE_PX, QUIET = 240, 4
"""Size of a QR code in logical pixels, and modules of white that its standard asks for around it.
On a usual screen that is 6 cm, which a phone reads from half a metre."""


class QrCode(Picture):
    """A link as a QR code, in black on white: every module has the same whole number of pixels."""

    def __init__(self, name: str, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._rows: tuple[bytes, ...] = ()
        self._link = ""
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedSize(QSize(CODE_PX, CODE_PX))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_link(self, link: str) -> None:
        if link != self._link:
            self._link = link
            code = segno.make_qr(link, error="m") if link else None
            self._rows = () if code is None else tuple(bytes(row) for row in code.matrix)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), Qt.GlobalColor.white)
        if self.hasFocus():
            ring = QRectF(self.rect())
            draw_focus_ring(painter, ring, theme.RADIUS, self._palette.accent)
        # In pixels of the screen: a module that is not a whole number of them is blurred.
        ratio = self.devicePixelRatioF()
        painter.scale(1 / ratio, 1 / ratio)
        side = int(self.width() * ratio)
        module = max(1, side // (len(self._rows) + 2 * QUIET))
        first = (side - module * len(self._rows)) // 2
        for y, row in enumerate(self._rows):
            for x, dark in enumerate(row):
                if dark:
                    place = QRect(first + x * module, first + y * module, module, module)
                    painter.fillRect(place, Qt.GlobalColor.black)


class SurveyScreen(Screen):
    """The focus begins on the button or the code, and not on the way on: nobody leaves the survey
    by pressing a key once too often."""

    def __init__(self, session: SessionView, part: SurveyPart) -> None:
        super().__init__(session, part)
        words = session.words
        self._part = part
        self.text = self.text_view()
        self.text.show_text("\n\n".join(session.pages(part.document, {})))
        self.open = Button(words("survey_open"), "primary", pressed=self._open)
        self.code = QrCode(words("survey_code"), session.palette)
        self.scan, self.note = PlainLabel(), PlainLabel()
        for label in (self.scan, self.note):
            label.setWordWrap(True)
        self.note.setProperty("role", "secondary")
        self.code.hide()
        self._lay_out()
        self.render_state()

    def _lay_out(self) -> None:
        """The text and the button on the left, the code on the right: on a low screen, too, there
        is room for both."""
        button = QHBoxLayout()
        controls.fill(button, self.open, 1)
        left = controls.fill(
            controls.column(None, 0), 0, (self.text, 1), controls.Gap(theme.SPACE_L), button
        )
        controls.fill(
            left, controls.Gap(theme.SPACE_M), self.scan, controls.Gap(theme.SPACE_XS), self.note, 0
        )
        row = controls.row(None, theme.SPACE_XL)
        controls.fill(row, (left, 1), (self.code, Qt.AlignmentFlag.AlignVCenter))
        self.column(text_width()).addLayout(row)

    def render_state(self) -> None:
        words, state, way = self.session.words, self.state, self._part.open_with
        link = state.link or ""
        coded = way != "button" or state.failed
        self.open.setVisible(way != "qr-code")
        self.open.setText(words("survey_open_again" if state.opened else "survey_open"))
        if coded == self.code.isHidden():
            self.code.setVisible(coded)
            self.set_column_width(text_width() + coded * (theme.SPACE_XL + CODE_PX))
        self.code.show_link(link if coded and link.startswith("http") else "")
        self.scan.setVisible(coded)
        self.scan.setText(words("survey_scan" if way == "qr-code" else "survey_or_scan"))
        failed = "survey_preview" if self.session.source.state.previewed else "survey_failed"
        self.note.setText(words(failed if state.failed else "survey_come_back"))

    def _open(self) -> None:
        link = self.state.link
        if link and not self.session.read_only:
            self.send(OpenSurvey(opened=self.session.open_link(link)))

    @property
    def _can_finish(self) -> bool:
        return can_finish(self._part, self.state)

    def head(self) -> Head:
        return Head(self.session.words("survey"))

    def foot(self) -> Foot:
        words, ready = self.session.words, self._can_finish
        if ready:
            self.reminded = False
        return Foot(
            right=words("survey_done"),
            ready=ready,
            note="" if ready else words("survey_open_first"),
            warn=self.reminded,
        )

    def right(self) -> None:
        if self._can_finish:
            self.send(FinishSurvey())
            return
        self.reminded = True
        self.altered.emit()
        self.open.setFocus()

    def entrance(self) -> QWidget | None:
        if self.text.focusPolicy():
            return self.text
        return self.code if self._part.open_with == "qr-code" else self.open
