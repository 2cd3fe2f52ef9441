"""Texts of one or more pages; the debrief is one too."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from labapp.events.commands import Back, Next
from labapp.plugins.part import PlannedPart
from labapp.study.parts import PagesPart
from labapp.study.rules import amount
from labapp.ui.participant.screen import Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView, text_width


class PagedScreen(Screen):
    """A screen whose text has pages to turn.

    pages: their Markdown; stage: words of the top bar; last_words: key of the words of the button
    that leaves the last page.
    """

    def __init__(
        self,
        session: SessionView,
        part: PlannedPart,
        pages: Sequence[str],
        *,
        stage: str = "",
        last_words: str = "continue",
    ) -> None:
        super().__init__(session, part)
        self._pages = pages
        self._stage = stage
        self._last_words = last_words
        self._page = -1
        self.text = MarkdownView()

    def render_state(self) -> None:
        if self.state.page == self._page:
            return
        self._page = self.state.page
        self.text.show_text(self._pages[self._page])
        self.page_turned()
        self.wish = "content"

    def page_turned(self) -> None:
        """Another page's text is shown."""

    @property
    def on_last_page(self) -> bool:
        return self._page + 1 == len(self._pages)

    def head(self) -> Head:
        of = len(self._pages)
        if of == 1:
            return Head(self._stage)
        number = self._page + 1
        return Head(self._stage, self.session.words("page_of", number=number, of=of), number, of)

    def foot(self) -> Foot:
        words = self.session.words
        return Foot(
            left=words("back") if self._page > 0 else "",
            right=words(self._last_words if self.on_last_page else "continue"),
        )

    def left(self) -> None:
        self.send(Back())

    def right(self) -> None:
        self.send(Next())


class PagesScreen(PagedScreen):
    """A page of text in a column of its own; the debrief ends with what is paid."""

    def __init__(self, session: SessionView, part: PagesPart) -> None:
        pages = session.pages(part.document, part.values)
        last = part.part == "debrief"
        if last and (paid := payment_words(session)):
            pages[-1] += f"\n\n{paid}"
        super().__init__(
            session,
            part,
            pages,
            stage=stage_words(session, part),
            last_words="finish" if last else "continue",
        )
        column = self.column(text_width())
        column.addStretch(1)
        column.addWidget(self.text, 100)
        column.addStretch(2)
        # Before the first layout, which decides whether the text scrolls and so takes the focus.
        self.text.show_text(self._pages[0])

    def entrance(self) -> QWidget | None:
        return self.text if self.text.focusPolicy() else None


def payment_words(session: SessionView) -> str:
    """What the participant is told of the payment; empty in a study that pays nothing."""
    earned = session.payment()
    if earned is None:
        return ""
    words = session.words

    def said(value: float) -> str:
        return words.number(amount(earned.currency, value))

    if not earned.bonus:
        return words("payment", total=said(earned.total))
    return words(
        "payment_with_bonus",
        total=said(earned.total),
        base=said(earned.base),
        bonus=said(earned.bonus),
    )
