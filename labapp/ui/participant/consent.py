"""Consent: the text, a tick and a typed name, and a way out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from labapp.events.commands import DeclineConsent
from labapp.study.plan import ConsentPart
from labapp.ui import theme
from labapp.ui.participant.panels import Question
from labapp.ui.participant.screen import Screen, Setting
from labapp.ui.widgets.bars import Foot
from labapp.ui.widgets.checkbox import CheckBox
from labapp.ui.widgets.markdown import MarkdownView

CARD_WIDTH = 400
NAME_LIMIT = 120


class ConsentScreen(Screen):
    """What was typed goes to `on_consent` and nowhere else."""

    def __init__(self, setting: Setting, part: ConsentPart) -> None:
        super().__init__(setting, part)
        words = setting.words
        self.text = MarkdownView()
        self.text.show_text("\n\n".join(setting.pages(part.document, {})))
        self.tick = CheckBox(words("consent_agree"), setting.palette)
        self.name = QLineEdit()
        self.name.setPlaceholderText(words("consent_name_hint"))
        self.name.setAccessibleName(words("consent_name"))
        self.name.setMaxLength(NAME_LIMIT)
        self.name.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # in Qt's own words
        self.leave = Question(
            words("decline_title"),
            words("decline_text"),
            stay=words("decline_no"),
            go=words("decline_yes"),
        )
        self._asked = False
        self._given = False
        self._lay_out(words("consent_name"))
        self.tick.toggled.connect(self._typed)
        self.name.textChanged.connect(self._typed)
        self.name.returnPressed.connect(self.right)
        self.leave.stayed.connect(self._stay)
        self.leave.went.connect(lambda: setting.runner.send(DeclineConsent()))

    def _lay_out(self, name_words: str) -> None:
        card = QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(*(theme.SPACE_L,) * 4)
        inside.setSpacing(theme.SPACE_M)
        label = QLabel(name_words)
        label.setProperty("role", "heading")
        label.setBuddy(self.name)
        inside.addWidget(self.tick)
        inside.addSpacing(theme.SPACE_S)
        inside.addWidget(label)
        inside.addWidget(self.name)
        side = QVBoxLayout()
        side.setSpacing(theme.SPACE_L)
        side.addWidget(card)
        side.addWidget(self.leave)
        side.addStretch(1)
        holder = QWidget()
        holder.setFixedWidth(CARD_WIDTH)
        holder.setLayout(side)
        side.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XXL)
        text = QVBoxLayout()
        text.addWidget(self.text)
        text.addStretch(1)
        row.addLayout(text, 1)
        row.addWidget(holder)
        column = self.column()
        column.addStretch(1)
        column.addLayout(row)
        column.addStretch(2)

    @property
    def complete(self) -> bool:
        return self.tick.isChecked() and bool(self.name.text().strip())

    def _typed(self) -> None:
        if self.complete:
            self._asked = False
        self.altered.emit()

    def foot(self) -> Foot:
        words = self.setting.words
        return Foot(
            left=words("consent_decline"),
            right=words("consent_start"),
            ready=self.complete,
            note="" if self.complete else words("consent_missing"),
            warn=self._asked,
        )

    def left(self) -> None:
        self.leave.ask()

    def _stay(self) -> None:
        self.leave.hide()
        self.tick.setFocus()

    def right(self) -> None:
        if not self.complete:
            self._asked = True
            self.altered.emit()
            (self.name if self.tick.isChecked() else self.tick).setFocus()
        elif not self._given:
            self._given = True
            name = self.name.text().strip()
            self.name.clear()
            self.setting.on_consent(name)

    def entrance(self) -> QWidget:
        return self.text if self.text.focusPolicy() else self.tick
