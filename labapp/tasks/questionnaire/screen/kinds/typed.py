"""A number or a date on the screen: a field, and next to it its unit and what can be given."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import isinf
from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.study.instruments.items import TYPED_LONGEST, Typed
from labapp.study.instruments.kinds.date import Date
from labapp.study.instruments.kinds.number import Number
from labapp.tasks.questionnaire.screen.kinds.view import ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import TextField
from labapp.ui.widgets.painting import restyle

FIELD_WIDTH = 200


class TypedView(ItemView):
    """A field, with what can be given below it. What was typed and cannot be read stays, and what
    can be given is then shown as a warning."""

    def __init__(self, item: Typed, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.typed, self._words = item, words
        self.field = TextField(
            item.title, longest=TYPED_LONGEST, too_long=words("text_limit", n=TYPED_LONGEST)
        )
        self.field.setFixedWidth(FIELD_WIDTH)
        self.field.committed.connect(lambda text: self.answered.emit({"typed": text}))
        self.hint = controls.make_label(self.allowed(), "secondary", wrap=True)
        column = controls.column(None, theme.SPACE_XS)
        row = controls.fill(controls.row(None, theme.SPACE_S), self.field)
        if unit := self.unit():
            row.addWidget(controls.make_label(unit, wrap=True))
        row.addStretch(1)
        controls.fill(column, row, self.hint)
        self.row_layout.addLayout(column, 1)
        self.show_value(None)

    def unit(self) -> str:
        """What stands behind the field."""
        return ""

    @abstractmethod
    def allowed(self) -> str:
        """What can be given, in words."""

    @abstractmethod
    def words_of(self, value: Any) -> str:
        """An answer as the field shows it."""

    def within(self, kind: str, low: str, high: str) -> str:
        """What can be given: of what kind, and from and to what; empty for no limit."""
        words = self._words
        if low and high:
            return words("item_from_to", kind=kind, low=low, high=high)
        if low:
            return words("item_from", kind=kind, low=low)
        return words("item_up_to", kind=kind, high=high) if high else kind

    def show_value(self, value: Any) -> None:
        wrong = isinstance(value, Mapping) and bool(value["typed"])
        text = value["typed"] if isinstance(value, Mapping) else ""
        self.field.show_text(self.words_of(value) if self.typed.answered(value) else text)
        restyle(self.hint, "tone", "warn" if wrong else "")
        allowed = " ".join(filter(None, (self.unit(), self.allowed())))
        self.field.edit.setAccessibleDescription(
            self._words("item_unread", allowed=allowed) if wrong else allowed
        )

    def uncommitted(self) -> Any:
        text = self.field.uncommitted_text()
        return None if text is None else {"typed": text}

    def entrance(self) -> QWidget:
        return self.field.edit


class NumberView(TypedView):
    typed: Number

    def unit(self) -> str:
        return self.typed.unit

    def words_of(self, value: Any) -> str:
        return self.typed.shown(value).replace(".", self._words("decimal_mark"))

    def allowed(self) -> str:
        item, words = self.typed, self._words
        ends = (None if isinf(end) else end for end in item.bounds())
        low, high = (
            "" if end is None else self.words_of(end if item.decimals else int(end)) for end in ends
        )
        return self.within(
            words("item_number") if item.decimals else words("item_whole"), low, high
        )


class DateView(TypedView):
    typed: Date

    def words_of(self, value: Any) -> str:
        year, month, day = str(value).split("-")
        return self._words("item_date_shown", year=year, month=month, day=day)

    def allowed(self) -> str:
        ends = (self.typed.earliest, self.typed.latest)
        low, high = ("" if end is None else self.words_of(end.isoformat()) for end in ends)
        return self.within(self._words("item_date"), low, high)
