"""A questionnaire: all its items on one screen, nothing preselected, Next says what is missing."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from labapp.events.commands import Answer, Next
from labapp.study.instruments import Scale
from labapp.study.plan import QuestionnairePart
from labapp.ui import theme
from labapp.ui.participant.screen import Screen, Setting, stage_words
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.choices import MOST_CIRCLES, ChoiceRow, Look
from labapp.ui.widgets.markdown import text_width

ITEM_WIDTH = 340
MISSING_CHARACTERS = 40


class ScaleItem(QWidget):
    """One item: its words on the left, the scale with its anchors on the right."""

    def __init__(self, scale: Scale, palette: theme.Palette) -> None:
        super().__init__()
        self.scale = scale
        self.row = ChoiceRow(scale.points, palette, Look(numbered=scale.points <= MOST_CIRCLES))
        self.row.setAccessibleName(f"{scale.text} 1: {scale.low}, {scale.points}: {scale.high}")
        self._text = QLabel(scale.text)
        self._text.setWordWrap(True)
        self._text.setFixedWidth(ITEM_WIDTH)
        anchors = QHBoxLayout()
        for words, side in (
            (scale.low, Qt.AlignmentFlag.AlignLeft),
            (scale.high, Qt.AlignmentFlag.AlignRight),
        ):
            anchor = QLabel(words)
            anchor.setProperty("role", "secondary")
            anchors.addWidget(anchor, 1, side)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_XS)
        right.addWidget(self.row)
        right.addLayout(anchors)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, theme.SPACE_M, 0, theme.SPACE_M)
        row.setSpacing(theme.SPACE_XXL)
        row.addWidget(self._text, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(right, 1)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and weight, that this item still needs an answer."""
        tone = "warn" if missing else ""
        if self._text.property("tone") != tone:
            self._text.setProperty("tone", tone)
            self._text.style().unpolish(self._text)
            self._text.style().polish(self._text)
            self._text.setText(f"▸ {self.scale.text}" if missing else self.scale.text)


class QuestionnaireScreen(Screen):
    def __init__(self, setting: Setting, part: QuestionnairePart) -> None:
        super().__init__(setting, part)
        self._instrument = setting.loaded.instruments[part.instrument]
        self._stage = stage_words(setting, part)
        self._asked = False
        title = QLabel(self._instrument.title)
        title.setProperty("role", "title")
        title.setWordWrap(True)
        column = self.column()
        column.addStretch(1)
        column.addWidget(title)
        if self._instrument.instruction:
            instruction = QLabel(self._instrument.instruction)
            instruction.setWordWrap(True)
            instruction.setMaximumWidth(text_width())
            column.addSpacing(theme.SPACE_S)
            column.addWidget(instruction)
        column.addSpacing(theme.SPACE_L)
        self.items: list[ScaleItem] = []
        for scale in self._instrument.items:
            if not isinstance(scale, Scale):
                continue
            item = ScaleItem(scale, setting.palette)
            item.row.chosen.connect(
                lambda index, _device, name=scale.id: setting.runner.send(Answer(name, index + 1))
            )
            self.items.append(item)
            column.addWidget(_hairline())
            column.addWidget(item)
        column.addWidget(_hairline())
        column.addStretch(2)

    def render_state(self) -> None:
        answers = self.state.answers
        missing = {scale.id for scale in self._instrument.missing(answers)}
        for item in self.items:
            value = answers.get(item.scale.id)
            item.row.show_index(None if value is None else value - 1)
            item.mark_missing(self._asked and item.scale.id in missing)

    def head(self) -> Head:
        return Head(self._stage)

    def foot(self) -> Foot:
        words = self.setting.words
        missing = self._instrument.missing(self.state.answers)
        names = ", ".join(_short(scale.title) for scale in missing)
        return Foot(
            right=words("continue"),
            ready=not missing,
            note=words("answer_missing", items=names) if missing else "",
            warn=bool(missing) and self._asked,
        )

    def right(self) -> None:
        missing = self._instrument.missing(self.state.answers)
        if not missing:
            self.setting.runner.send(Next())
            return
        self._asked = True
        self.render_state()
        self.altered.emit()
        next(item for item in self.items if item.scale.id == missing[0].id).row.setFocus()

    def entrance(self) -> QWidget:
        return self.items[0].row


def _short(text: str) -> str:
    """An item's words for the list of what is missing."""
    text = text.rstrip(" :?.")
    if len(text) <= MISSING_CHARACTERS:
        return f"“{text}”"
    return f"“{text[:MISSING_CHARACTERS].rsplit(' ', 1)[0]} …”"


def _hairline() -> QFrame:
    line = QFrame()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line
