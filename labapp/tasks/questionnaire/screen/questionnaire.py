"""A questionnaire: nothing preselected, Next says what is missing, Back keeps every answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from labapp.events.commands import Back, Command, Next
from labapp.study.instruments import Item
from labapp.study.parts import QuestionnairePart
from labapp.tasks.questionnaire.commands import Answer
from labapp.tasks.questionnaire.machine import QuestionnaireTask
from labapp.tasks.questionnaire.screen.items import ItemView
from labapp.tasks.questionnaire.screen.page import Page
from labapp.ui.participant.body import PageStack
from labapp.ui.participant.screen import Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head

MISSING_CHARACTERS = 40
MOST_NAMED, NAMED_CHARACTERS = 3, 84
"""So many items, in so many characters, are named beside Next: that is one line of the bar."""


class QuestionnaireScreen(Screen):
    def __init__(self, session: SessionView, part: QuestionnairePart) -> None:
        super().__init__(session, part)
        task = session.source.machine.tasks[session.parts.index(part)]
        assert isinstance(task, QuestionnaireTask)
        self._task, self._instrument = task, task.instrument
        self._stage = stage_words(session, part)
        self._page: int = self.state.page
        self.stack = PageStack()
        self.pages: list[Page] = []
        for items in self._instrument.pages:
            page = Page(
                self._instrument.title,
                self._instrument.instruction,
                items,
                session.words,
                session.palette,
                above="" if self.pages else above(session, part),
            )
            for view in page.views:
                view.show_as(published=not session.improved, layout=session.layout)
                view.answered.connect(
                    lambda value, name=view.item.id: self.send(Answer(name, value))
                )
            self.pages.append(page)
            self.stack.addWidget(page)
        self.items = [view for page in self.pages for view in page.views]
        self._show_asked()
        self.stack.setCurrentIndex(self._page)
        self.column().addWidget(self.stack)

    def render_state(self) -> None:
        state = self.state
        before = self.pages[self._page].asked()
        self._show_asked()
        if state.page != self._page:
            self._page, self.reminded = state.page, False
            self.stack.setCurrentIndex(state.page)
            self.wish = "content"
        else:
            self._tell_changes(before)
        missing = {item.id for item in self._missing()}
        for view in self.items:
            hidden = view.item.withheld and self.session.withholds
            view.show_value(None if hidden else state.answers.get(view.item.id))
            view.mark_missing(self.reminded and view.item.id in missing)

    def _show_asked(self) -> None:
        """Show what is asked, and keep room for what an answer on the same page would add."""
        asked = self._task.asked(self.state)
        for page in self.pages:
            page.show_asked(asked.ids, asked.awaited(page.items))

    def _tell_changes(self, before: Sequence[ItemView]) -> None:
        """Have a screen reader say what an answer added to the page, or took away: the focus stays
        where the answer was given. before: the items that were shown."""
        after = self.pages[self._page].asked()
        words = self.session.words
        for key, views, others in (("now_asked", after, before), ("asked_no_more", before, after)):
            titles = [view.item.title for view in views if view not in others]
            if titles:
                self.tell(words(key, items=", ".join(words("quoted", text=t) for t in titles)))

    def _missing(self) -> tuple[Item, ...]:
        return self._task.missing(self.state, self.state.page)

    def head(self) -> Head:
        pages = self._task.pages_asked(self.state)
        if len(pages) < 2:
            return Head(self._stage)
        number = pages.index(self.state.page) + 1
        words = self.session.words("page_of", number=number, of=len(pages))
        return Head(self._stage, words, number, len(pages))

    def foot(self) -> Foot:
        words = self.session.words
        missing = self._missing()
        first = next(iter(self._task.pages_asked(self.state)), 0)
        return Foot(
            left=words("back") if self.state.page > first else "",
            right=words("continue"),
            ready=not missing,
            note=self._missing_words([item.title for item in missing]),
            warn=bool(missing) and self.reminded,
        )

    def _missing_words(self, titles: list[str]) -> str:
        if not titles:
            return ""
        words = self.session.words
        named = [words("quoted", text=_short(title)) for title in titles[:MOST_NAMED]]
        while len(named) > 1 and len(", ".join(named)) > NAMED_CHARACTERS:
            named.pop()
        names, more = ", ".join(named), len(titles) - len(named)
        if more:
            return words("answers_missing", items=names, more=more)
        return words("answer_missing", items=names)

    def left(self) -> None:
        self._keep()
        self.send(Back())

    def right(self) -> None:
        self._keep()
        missing = self._missing()
        if not missing:
            self.send(Next())
            return
        self.reminded = True
        self.render_state()
        self.altered.emit()
        view = next(view for view in self.items if view.item.id == missing[0].id)
        self.pages[self._page].ensureWidgetVisible(view)
        view.entrance().setFocus()

    def pending_commands(self) -> Sequence[Command]:
        """What was typed a moment ago."""
        given = [(view.item.id, view.uncommitted()) for view in self.pages[self._page].asked()]
        return [Answer(item, value) for item, value in given if value is not None]

    def _keep(self) -> None:
        for answer in self.pending_commands():
            self.send(answer)

    def entrance(self) -> QWidget | None:
        views = self.pages[self._page].asked()
        return views[0].entrance() if views else None


def above(session: SessionView, part: QuestionnairePart) -> str:
    """The text above the questions, with the method's name and what the participant achieved; what
    tells of a stage that the moderator skipped is left out."""
    if part.above is None:
        return ""
    result_values = session.result_values()
    # What tells of a stage that was done says more than what tells of it as planned.
    values = (
        result_values
        | part.values
        | {name: value for name, value in result_values.items() if value}
    )
    text = "\n\n".join(session.pages(part.above, values))
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _short(text: str) -> str:
    """An item's words for the list of what is missing."""
    text = text.rstrip(" :?.")
    if len(text) <= MISSING_CHARACTERS:
        return text
    return f"{text[:MISSING_CHARACTERS].rsplit(' ', 1)[0]} …"
