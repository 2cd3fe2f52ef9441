"""A ranking on the screen: options that get their places in the order in which they are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.study.instruments.kinds.ranking import Ranking
from labapp.tasks.questionnaire.screen.kinds.view import ItemView, Pictures, option_pictures
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import MarkedOption, OptionList


class RankingView(ItemView):
    """The first option that is chosen comes first. Choosing one that has a place takes it away, and
    those behind it move up."""

    def __init__(self, item: Ranking, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self._options = item.shown()
        self._ids = [option.id for option in item.shown()]
        self._value: dict[str, int] = {}
        self._words = words
        self.group = OptionList(
            [option.text for option in item.shown()], palette, item.title, several=True
        )
        self.group.chosen.connect(lambda index, _device: self._choose(self._ids[index]))
        self.group.setAccessibleDescription(words("item_ranking"))
        column = controls.column(None, theme.SPACE_XS)
        controls.fill(
            column, controls.make_label(words("item_ranking"), "secondary", wrap=True), self.group
        )
        self.row_layout.addLayout(column, 1)

    def _choose(self, option: str) -> None:
        order = list(self._value)
        after = [each for each in order if each != option]
        self._place(after if option in order else [*order, option])

    def _place(self, order: Sequence[str]) -> None:
        self.answered.emit({option: place for place, option in enumerate(order, start=1)})

    def show_pictures(self, pictures: Pictures) -> None:
        super().show_pictures(pictures)
        options = self._options
        self.group.show_pictures(option_pictures(options, pictures))

    def show_value(self, value: Any) -> None:
        self._value = dict(sorted((value or {}).items(), key=lambda placed: placed[1]))
        for name, option in zip(self._ids, self.group.options, strict=True):
            assert isinstance(option, MarkedOption)
            place = self._value.get(name)
            option.place = "" if place is None else str(place)
            option.setAccessibleDescription(
                "" if place is None else self._words("item_place", number=place, all=len(self._ids))
            )
            option.update()
        self.group.show_taken([self._ids.index(name) for name in self._value])

    def entrance(self) -> QWidget:
        return self.group.entrance()
