"""Texts of one or more pages; the debrief is one too."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from labapp.study.inclusion import amount
from labapp.study.plan import PagesPart
from labapp.ui.participant.screen import PagedScreen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets import controls
from labapp.ui.widgets.markdown import text_width


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
        controls.fill(self.column(text_width()), 1, (self.text, 100), 2)
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

    def format_amount(value: float) -> str:
        return words.number(amount(earned.currency, value))

    if not earned.bonus:
        return words("payment", total=format_amount(earned.total))
    return words(
        "payment_with_bonus",
        total=format_amount(earned.total),
        base=format_amount(earned.base),
        bonus=format_amount(earned.bonus),
    )
