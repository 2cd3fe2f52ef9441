"""Texts of one or more pages; the debrief is one too."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from labapp.events.commands import Back, Next
from labapp.study.plan import PagesPart
from labapp.ui.participant.screen import Screen, Setting, stage_words
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView, text_width


class PagesScreen(Screen):
    """A page of text in a column of its own."""

    def __init__(self, setting: Setting, part: PagesPart) -> None:
        super().__init__(setting, part)
        self._pages = setting.pages(part.document, part.values)
        self._last_words = "finish" if part.part == "debrief" else "continue"
        self._stage = stage_words(setting, part)
        self._page = 0
        self.text = MarkdownView()
        column = self.column(text_width())
        column.addStretch(1)
        column.addWidget(self.text, 100)
        column.addStretch(2)
        self.text.show_text(self._pages[0])

    def render_state(self) -> None:
        page = self.state.page
        self.text.show_text(self._pages[page])
        if page != self._page:
            self._page = page
            self.wish = "content"

    def head(self) -> Head:
        return page_head(self.setting, self._stage, self._page, len(self._pages))

    def foot(self) -> Foot:
        words = self.setting.words
        last = self._page + 1 == len(self._pages)
        return Foot(
            left=words("back") if self._page else "",
            right=words(self._last_words if last else "continue"),
        )

    def left(self) -> None:
        self.setting.runner.send(Back())

    def right(self) -> None:
        self.setting.runner.send(Next())

    def entrance(self) -> QWidget | None:
        return self.text if self.text.focusPolicy() else None


def page_head(setting: Setting, stage: str, page: int, of: int) -> Head:
    """The top bar of a text: its page, where there are several."""
    if of == 1:
        return Head(stage)
    return Head(stage, setting.words("page_of", number=page + 1, of=of), page + 1, of)
