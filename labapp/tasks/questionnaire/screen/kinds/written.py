"""A written answer on the screen: a field."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.study.instruments import Written
from labapp.tasks.questionnaire.screen.kinds.view import ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.controls import TextField


class WrittenView(ItemView):
    def __init__(self, item: Written, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.field = TextField(
            item.title,
            lines=item.lines,
            longest=item.longest,
            too_long=words("text_limit", n=item.longest),
        )
        self.field.committed.connect(lambda text: self.answered.emit(text))
        self.row_layout.addWidget(self.field, 1)

    def show_value(self, value: Any) -> None:
        self.field.show_text(value or "")

    def uncommitted(self) -> Any:
        return self.field.uncommitted_text()

    def entrance(self) -> QWidget:
        return self.field.edit
