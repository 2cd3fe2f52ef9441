"""Consent: the text, a tick, the uses that are asked one by one, a signature, and a way out."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from labapp.record.events.commands import DeclineConsent
from labapp.study.consent import Sign
from labapp.tasks.consent.machine import ConsentPart
from labapp.ui import theme
from labapp.ui.consent_pdf import SignatureField
from labapp.ui.participant.screen import InView, QuestionCard, Screen
from labapp.ui.participant.view import SessionView, announce_interview
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import CheckBox
from labapp.ui.widgets.controls import Button, Limit, PlainLabel
from labapp.ui.widgets.dial import Foot

CARD_WIDTH = 400
NAME_LIMIT = 120
MISSING: dict[Sign, str] = {
    "name": "consent_missing",
    "click": "consent_missing_click",
    "drawn": "consent_missing_drawn",
}
"""The words for what is still to do, by how the form is signed."""


class ConsentScreen(Screen):
    """A name or a signature goes to `on_consent` and nowhere else.

    tick: that the text was read and is agreed to. uses: a tick for each use of the data that the
    form asks one by one. name: where the name is typed, None if a click signs; with a drawn
    signature it stands below the field, for people who cannot draw: everything works by keyboard.
    field: where the signature is drawn; None if none is.
    """

    def __init__(self, session: SessionView, part: ConsentPart) -> None:
        super().__init__(session, part)
        words = session.words
        self._part = part
        self.text = self.text_view()
        behind = announce_interview(
            words,
            part.items,
            interview=any(other.talks for other in session.parts),
            sound=session.sound != "off",
        )
        self.text.show_text("\n\n".join([*session.pages(part.document, {}), *behind]))
        self.tick = CheckBox(words("consent_agree"), session.palette)
        self.uses = {
            use: CheckBox(words(f"consent_use_{use}_{asked}"), session.palette)
            for use, asked in part.items.items()
        }
        self.name: QLineEdit | None = None
        if part.sign != "click":
            self.name = QLineEdit()
            drawn = part.sign == "drawn"
            self.name.setPlaceholderText(
                words("consent_name_instead" if drawn else "consent_name_hint")
            )
            self.name.setAccessibleName(words("consent_name"))
            Limit(self.name, NAME_LIMIT, words("text_limit", n=NAME_LIMIT))
            self.name.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # in Qt's own words
            self.name.textChanged.connect(self._changed)
            self.name.returnPressed.connect(self.right)
        self.field: SignatureField | None = None
        if part.sign == "drawn":
            self.field = SignatureField(words("consent_draw_hint"), session.palette)
            self.field.altered.connect(self._changed)
        self.leave = QuestionCard(
            words("decline_title"),
            words("decline_text"),
            stay=words("decline_no"),
            go=words("decline_yes"),
        )
        self._given = False
        self._lay_out()
        for box in (self.tick, *self.uses.values()):
            box.toggled.connect(self._changed)
        self.leave.stayed.connect(self._stay)
        self.leave.went.connect(lambda: self.send(DeclineConsent()))

    def _lay_out(self) -> None:
        card = QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(*(theme.SPACE_L,) * 4)
        inside.setSpacing(theme.SPACE_M)
        inside.addWidget(self.tick)
        for box in self.uses.values():
            inside.addWidget(box)
        if self.name is not None:
            inside.addSpacing(theme.SPACE_S)
            self._lay_out_signature(inside, self.name)
        side = controls.fill(controls.column(None, theme.SPACE_L), card, self.leave, 1)
        inner = QWidget()
        inner.setProperty("role", "ground")
        inner.setLayout(side)
        side.setContentsMargins(0, 0, theme.SPACE_S, 0)
        self._holder = holder = QScrollArea()  # a form of many ticks is higher than a small window
        InView(holder)
        holder.setWidgetResizable(True)
        holder.setFrameShape(QFrame.Shape.NoFrame)
        holder.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        holder.setFixedWidth(CARD_WIDTH + theme.SPACE_S)
        holder.setWidget(inner)
        row = controls.row(None, theme.SPACE_XXL)
        text = QVBoxLayout()
        controls.fill(text, self.text, 1)
        controls.fill(row, (text, 1), holder)
        controls.fill(self.column(), 1, row, 2)

    def _lay_out_signature(self, inside: QVBoxLayout, name: QLineEdit) -> None:
        words = self.session.words
        label = PlainLabel(words("consent_signature" if self.field else "consent_name"))
        label.setProperty("role", "heading")
        head = QHBoxLayout()
        head.addWidget(label, 1)
        inside.addLayout(head)
        if self.field is None:
            label.setBuddy(name)
        else:
            again = Button(words("consent_draw_again"), "compact")
            again.clicked.connect(self.field.clear)
            head.addWidget(again)
            inside.addWidget(self.field)
        inside.addWidget(name)

    @property
    def page_shown(self) -> int:
        """1 while it is asked whether the participant really declines."""
        return int(not self.leave.isHidden())

    def turn_to(self, page: int) -> None:
        self.leave.setVisible(bool(page))

    @property
    def _refused(self) -> list[CheckBox]:
        """The uses without which nobody can take part and that are not ticked."""
        asked = self._part.items
        uses = self.uses.items()
        return [box for use, box in uses if asked[use] == "required" and not box.isChecked()]

    @property
    def complete(self) -> bool:
        drawn = self.field is not None and self.field.signed
        signed = self.name is None or drawn or bool(self.name.text().strip())
        return self.tick.isChecked() and not self._refused and signed

    def _changed(self) -> None:
        if self.complete:
            self.reminded = False
        self.altered.emit()

    def foot(self) -> Foot:
        words, missing = self.session.words, MISSING[self._part.sign]
        if self.tick.isChecked() and self._refused:
            missing = "consent_missing_use"
        return Foot(
            left=words("consent_decline"),
            leaves=True,
            right=words("consent_start"),
            ready=self.complete,
            note="" if self.complete else words(missing),
            warn=self.reminded,
        )

    def left(self) -> None:
        self.leave.ask()
        # All of the question, and not only its button, which has the focus.
        QTimer.singleShot(0, self, lambda: self._holder.ensureWidgetVisible(self.leave))

    def _stay(self) -> None:
        self.leave.hide()
        self.tick.setFocus()

    def right(self) -> None:
        if not self.complete:
            self.reminded = True
            self.altered.emit()
            if self.tick.isChecked():
                field = self.tick if self.name is None else self.name
                next(iter(self._refused), field).setFocus()
            else:
                self.tick.setFocus()
        elif not self._given:
            self._given = True
            name = "" if self.name is None else self.name.text().strip()
            drawing = "" if self.field is None else self.field.drawing
            uses: dict[str, bool] = {use: box.isChecked() for use, box in self.uses.items()}
            if not self.session.give_consent(name, drawing, uses):
                self._given = False
            elif self.name is not None:
                self.name.clear()

    def entrance(self) -> QWidget:
        return self.text if self.text.focusPolicy() else self.tick
