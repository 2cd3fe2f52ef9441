"""A ranking on the screen: options that get their places in the order in which they are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from labapp.study.instruments.kinds.ranking import Ranking
from labapp.tasks.questionnaire.screen.kinds.view import ItemView, make_label
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import MarkedOption, Option, OptionList, paint_marked


class _PlacedOption(MarkedOption):
    """An option with its place instead of a tick."""

    place = ""

    def paintEvent(self, event: QPaintEvent) -> None:
        strong = self.choice.pointed is self
        paint_marked(
            self, self._colors, square=True, strong=strong, right=theme.SPACE_XS, mark=self.place
        )


class _Places(OptionList):
    def make_option(self) -> Option:
        option = _PlacedOption(self, self._colors, several=self._several)
        self.flow.addWidget(option)
        return option


class RankingView(ItemView):
    """The first option that is chosen comes first. Choosing one that has a place takes it away, and
    those behind it move up."""

    def __init__(self, item: Ranking, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self._ids = [option.id for option in item.options]
        self._value: dict[str, int] = {}
        self._strings = words
        self.group = _Places(
            [option.text for option in item.options], palette, item.title, several=True
        )
        self.group.chosen.connect(lambda index, _device: self._choose(self._ids[index]))
        self.group.setAccessibleDescription(words("ranking_how"))
        column = QVBoxLayout()
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(make_label(words("ranking_how"), "secondary"))
        column.addWidget(self.group)
        self.row_layout.addLayout(column, 1)

    def _choose(self, option: str) -> None:
        order = list(self._value)
        after = [each for each in order if each != option]
        self._place(after if option in order else [*order, option])

    def _place(self, order: Sequence[str]) -> None:
        self.answered.emit({option: place for place, option in enumerate(order, start=1)})

    def show_value(self, value: Any) -> None:
        self._value = dict(sorted((value or {}).items(), key=lambda placed: placed[1]))
        for name, option in zip(self._ids, self.group.options, strict=True):
            assert isinstance(option, _PlacedOption)
            place = self._value.get(name)
            option.place = "" if place is None else str(place)
            option.setAccessibleDescription(
                ""
                if place is None
                else self._strings("ranking_place", number=place, all=len(self._ids))
            )
            option.update()
        self.group.show_taken([self._ids.index(name) for name in self._value])

    def entrance(self) -> QWidget:
        return self.group.entrance()
