"""A choice of many options on the screen: a field to search in, and the options that have what was
typed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from labapp.study.instruments.kinds.dropdown import Dropdown
from labapp.tasks.questionnaire.screen.kinds.view import ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import OptionList
from labapp.ui.widgets.controls import TextField

MOST_SHOWN = 8
"""So many options are shown at once; typing more leaves fewer."""
SEARCH_LONGEST = 100
FIELD_WIDTH = 320


class DropdownView(ItemView):
    """The chosen option is shown as long as nothing is typed. Enter takes the first of those that
    are shown."""

    def __init__(self, item: Dropdown, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.choice, self._words = item, words
        self._chosen: str | None = None
        self._shown: list[str] | None = None
        self._texts = {option.id: option.text for option in item.shown()}
        self.field = TextField(
            item.title, longest=SEARCH_LONGEST, too_long=words("text_limit", n=SEARCH_LONGEST)
        )
        self.field.setFixedWidth(FIELD_WIDTH)
        edit = self.field.edit
        edit.setPlaceholderText(words("item_search"))
        edit.textChanged.connect(self._search)
        edit.returnPressed.connect(self._take_first)  # type: ignore[union-attr]
        self.group = OptionList([], palette, item.title)
        self.group.chosen.connect(lambda index, _device: self._choose(index))
        self.note = controls.make_label(role="secondary", wrap=True)
        column = controls.column(None, theme.SPACE_XS)
        controls.fill(column, (self.field, Qt.AlignmentFlag.AlignLeft), self.group, self.note)
        self.row_layout.addLayout(column, 1)
        self._search()

    def _search(self) -> None:
        typed = self.field.text().strip().casefold()
        known = self._texts.items()
        matching = [name for name, text in known if typed in text.casefold()] if typed else []
        # What begins with it comes first, as one types a name from its beginning.
        matching.sort(key=lambda name: not self._texts[name].casefold().startswith(typed))
        shown = matching[:MOST_SHOWN] if typed else [self._chosen] if self._chosen else []
        if shown != self._shown:
            self._shown = list(shown)
            self.group.show_options([self._texts[name] for name in shown])
            self.group.setVisible(bool(shown))
        at = self._shown.index(self._chosen) if self._chosen in self._shown else None
        self.group.show_index(at)
        more = len(matching) - len(shown)
        note = self._words("item_search_more", n=more) if typed and more else ""
        note = self._words("item_search_none") if typed and not matching else note
        if not typed and not self._chosen:
            note = self._words("item_search_all", n=len(self._texts))
        self.note.setText(note)
        self.field.edit.setAccessibleDescription(note or self._texts.get(self._chosen or "", ""))

    def _take_first(self) -> None:
        if self._shown and self.field.text().strip():
            self._choose(0)

    def _choose(self, index: int) -> None:
        assert self._shown is not None
        name = self._shown[index]
        self.field.edit.clear()
        taken = name == self._chosen and not self.choice.required
        self.answered.emit({"chosen": () if taken else (name,)})

    def show_value(self, value: Any) -> None:
        chosen = value["chosen"] if value is not None else ()
        self._chosen = chosen[0] if chosen else None
        self._search()

    def entrance(self) -> QWidget:
        return self.field.edit
