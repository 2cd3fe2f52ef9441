"""Best-worst scaling on the screen: the same options twice, to choose the best and the worst."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.study.instruments.kinds.best_worst import ENDS, BestWorst
from labapp.tasks.questionnaire.screen.kinds.view import ItemView, Pictures, option_pictures
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import OptionList

COLUMN_WIDTH = 220


class BestWorstView(ItemView):
    """What is chosen as the worst is no longer the best, and the other way round."""

    def __init__(self, item: BestWorst, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self._options = item.shown()
        self._ids = [option.id for option in item.shown()]
        self._value: dict[str, str] = {}
        self.groups: dict[str, OptionList] = {}
        columns = controls.row(None, theme.SPACE_XL)
        for end in ENDS:
            group = OptionList(
                [option.text for option in item.shown()],
                palette,
                f"{item.title}: {getattr(item, end)}",
                least_width=COLUMN_WIDTH,
            )
            group.chosen.connect(lambda index, _device, at=end: self._choose(at, self._ids[index]))
            column = controls.column(None, theme.SPACE_XS)
            controls.fill(
                column, controls.make_label(getattr(item, end), "strong", wrap=True), group, 1
            )
            columns.addLayout(column, 1)
            self.groups[end] = group
        self.row_layout.addLayout(columns, 1)

    def _choose(self, end: str, option: str) -> None:
        others = {at: chosen for at, chosen in self._value.items() if chosen != option}
        given_back = self._value.get(end) == option
        self.answered.emit(others if given_back else {**others, end: option})

    def show_pictures(self, pictures: Pictures) -> None:
        super().show_pictures(pictures)
        options = self._options
        for group in self.groups.values():
            group.show_pictures(option_pictures(options, pictures))

    def show_value(self, value: Any) -> None:
        self._value = dict(value or {})
        for end, group in self.groups.items():
            chosen = self._value.get(end)
            group.show_index(None if chosen is None else self._ids.index(chosen))

    def entrance(self) -> QWidget:
        open_groups = (group for end, group in self.groups.items() if end not in self._value)
        return next(open_groups, self.groups["best"]).entrance()
