"""A total to distribute on the screen: a field for each option, and below them what is left."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from labapp.study.instruments.kinds.constant_sum import ConstantSum
from labapp.tasks.questionnaire.screen.kinds.view import ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import TextField
from labapp.ui.widgets.painting import restyle

FIELD_WIDTH = 110


class ConstantSumView(ItemView):
    """The fields take digits only. What is left, or too much, is shown below them."""

    def __init__(self, item: ConstantSum, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.shared, self._words = item, words
        self._value: dict[str, int] = {}
        self.fields: dict[str, TextField] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_L)
        grid.setVerticalSpacing(theme.SPACE_XS)
        longest = len(str(item.total))
        for row, option in enumerate(item.shown()):
            field = TextField(
                f"{item.title}: {option.text}",
                longest=longest,
                too_long=words("text_limit", n=longest),
            )
            assert isinstance(field.edit, QLineEdit)
            field.edit.setValidator(QIntValidator(0, item.total, field.edit))
            field.setFixedWidth(FIELD_WIDTH)
            field.committed.connect(
                lambda text, name=option.id: self.answered.emit(self._with({name: text}))
            )
            self.fields[option.id] = field
            grid.addWidget(field, row, 0)
            text = f"{item.unit} {option.text}".strip()
            grid.addWidget(controls.make_label(text, wrap=True), row, 1)
        grid.setColumnStretch(1, 1)
        self.left = controls.make_label(role="secondary", wrap=True)
        column = controls.fill(controls.column(None, theme.SPACE_S), grid, self.left)
        self.row_layout.addLayout(column, 1)
        self.show_value(None)

    def _with(self, typed: dict[str, str]) -> dict[str, int]:
        """The answer with what was typed for some options; an empty field has no number."""
        after: dict[str, int] = dict(self._value)
        for name, text in typed.items():
            after.pop(name, None)
            if text.isdecimal():
                after[name] = min(int(text), self.shared.total)
        return {name: after[name] for name in self.fields if name in after}

    def show_value(self, value: Any) -> None:
        self._value = dict(value or {})
        total = sum(self._value.values())
        left = self.shared.total - total
        shown = {"sum": total, "total": self.shared.total, "by": abs(left)}
        words = self._words
        text = words("item_sum_left", **shown) if left >= 0 else words("item_sum_over", **shown)
        if self.left.text() != text:
            self.left.setText(text)
        restyle(self.left, "tone", "warn" if total > self.shared.total else "")
        for name, field in self.fields.items():
            field.show_text(str(self._value[name]) if name in self._value else "")
            field.edit.setAccessibleDescription(text)

    def uncommitted(self) -> Any:
        texts = {name: field.uncommitted_text() for name, field in self.fields.items()}
        typed = {name: text for name, text in texts.items() if text is not None}
        return self._with(typed) if typed else None

    def entrance(self) -> QWidget:
        open_fields = (field for name, field in self.fields.items() if name not in self._value)
        return next(open_fields, next(iter(self.fields.values()))).edit
