"""Options to choose from on the screen."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.study.instruments import Choice, Choices
from labapp.study.instruments.items import DESCRIBED_LONGEST
from labapp.tasks.questionnaire.screen.kinds.view import (
    ItemView,
    Pictures,
    make_mark,
    option_pictures,
    show_mark,
)
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import OptionList
from labapp.ui.widgets.controls import TextField

PAIR_WIDTH = 300
DESCRIBED_WIDTH = 320


class ChoiceView(ItemView):
    """One or several options, one of them perhaps with a field to describe it."""

    def __init__(self, item: Choice | Choices, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.choice = item
        self._value: dict[str, Any] = {"chosen": ()}
        self._own = next((option.id for option in item.shown() if option.describe), None)
        self.field: TextField | None = None
        self.group = OptionList(
            [option.text for option in item.shown()],
            palette,
            item.title,
            several=item.several,
            least_width=PAIR_WIDTH if self.words is None else 0,
        )
        self.group.chosen.connect(lambda index, _device: self._asked(index))
        if self._own is not None:
            self.field = TextField(
                words("own_words"),
                longest=DESCRIBED_LONGEST,
                too_long=words("text_limit", n=DESCRIBED_LONGEST),
            )
            self.field.setFixedWidth(DESCRIBED_WIDTH)
            self.field.edit.setPlaceholderText(words("own_words"))
            self.field.committed.connect(lambda text: self._give(self._value["chosen"], text))
            policy = self.field.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self.field.setSizePolicy(policy)
            self.field.hide()
            self.group.flow.addWidget(self.field)
        self._mark = make_mark()
        if self.words is None:
            self.row_layout.setSpacing(0)
            self.row_layout.addWidget(self._mark)
        self.row_layout.addWidget(self.group, 1)

    def _asked(self, index: int) -> None:
        option = self.choice.shown()[index]
        before = [option for option in self.choice.shown() if option.id in self._value["chosen"]]
        if option in before:
            if not self.choice.several and self.choice.required:
                return
            after = [other for other in before if other is not option]
        elif not self.choice.several or option.alone:
            after = [option]
        else:
            after = [*(other for other in before if not other.alone), option]
        self._give(tuple(other.id for other in after), self._value.get("described", ""))
        if option.describe and self.field is not None and not self.field.isHidden():
            self.field.setFocus()

    def _give(self, chosen: tuple[str, ...], described: str) -> None:
        self.answered.emit(self._with(chosen, described))

    def _with(self, chosen: tuple[str, ...], described: str) -> dict[str, Any]:
        value: dict[str, Any] = {"chosen": chosen}
        if self._own in chosen:
            value["described"] = described
        return value

    def show_pictures(self, pictures: Pictures) -> None:
        super().show_pictures(pictures)
        options = self.choice.shown()
        self.group.show_pictures(option_pictures(options, pictures))

    def show_value(self, value: Any) -> None:
        self._value = dict(value) if value is not None else {"chosen": ()}
        chosen = self._value["chosen"]
        self.group.show_taken(
            [index for index, option in enumerate(self.choice.shown()) if option.id in chosen]
        )
        if self.field is not None:
            self.field.setVisible(self._own in chosen)
            self.field.show_text(self._value.get("described", ""))

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        show_mark(self._mark, self._mark, missing)

    def uncommitted(self) -> Any:
        if self.field is None or self.field.isHidden():
            return None
        text = self.field.uncommitted_text()
        return None if text is None else self._with(self._value["chosen"], text)

    def entrance(self) -> QWidget:
        return self.group.entrance()
