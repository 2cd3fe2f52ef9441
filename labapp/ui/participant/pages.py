"""A screen whose text has pages to turn."""

from __future__ import annotations

from collections.abc import Sequence

from labapp.events.commands import Back, Next
from labapp.plugins.part import PlannedPart
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView


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
