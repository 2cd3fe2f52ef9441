"""What can be opened over a task at any time: the description of the method with its worked
examples, and the picture of the whole tree. The description may be the introduction itself (paper
003, 4: "can access the method explanation at any point during the task").

It covers what is on the screen, which stays as it is, and closes by its button and by Escape.

The introduction to a method: pages of text, some of them with a worked example, the task to try
out, or a button that opens the whole tree.

A page shows below or beside its text what it names like a picture: `![](correct)`,
`![](incorrect)`, `![](preview)` or `![](tree)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.base import discovery
from labapp.record.events.commands import Command
from labapp.record.events.durations import Pauses
from labapp.tasks.judging.events import TREE, Judge, OpenSpecies
from labapp.tasks.judging.machine import answered, with_answer
from labapp.tasks.judging.plan import JudgingPart, MethodPart, questions
from labapp.tasks.judging.screen.photos import WIDEST, DescribedScreen, JudgingScreen, filled
from labapp.tasks.judging.screen.worked import WorkedExample
from labapp.tasks.judging.state import JudgingState, PhotoTrial
from labapp.tasks.judging.task import SCREENS
from labapp.ui import theme
from labapp.ui.participant.screen import Opened, PagedScreen, PageStack
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.controls import Button, PlainLabel
from labapp.ui.widgets.markdown import MarkdownView, text_width
from labapp.ui.widgets.photo_view import FACTOR, KEYS, ZoomView
from labapp.ui.widgets.segments import Views


class Description(Opened):
    """The description of a part's method, or its whole tree. open_tree: called where the hand wants
    to see the tree."""

    def __init__(
        self, session: SessionView, part: JudgingPart | MethodPart, open_tree: Callable[[], None]
    ) -> None:
        super().__init__()
        self.session = session
        self._part = part
        self._open_tree = open_tree
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.inside: Pages | WholeTree | None = None
        self._column = QVBoxLayout(self)

    @property
    def page_shown(self) -> int:
        return (self.inside.tabs.index or 0) if isinstance(self.inside, Pages) else 0

    def turn_to(self, page: int) -> None:
        if isinstance(self.inside, Pages) and page < len(self.inside.pages):
            self.inside.turn_to(page)

    def show_what(self, what: str) -> None:
        """Show the description, or the tree."""
        if self.what == what:
            return
        self.what = what
        closes = "judging_close_tree" if what == TREE else "judging_close_description"
        self.close_words = self.session.words(closes)
        if self.inside is not None:
            self._column.removeWidget(self.inside)
            self.inside.hide()  # it goes a moment later, and would lie over the new one
            self.inside.deleteLater()
        part, tree = self._part, self._part.explained.tree
        if what == TREE and tree is not None:
            self.inside = WholeTree(self.session, tree)
        else:
            assert isinstance(part, JudgingPart), "the introduction offers its tree alone"
            self.inside = Pages(self.session, part)
            self.inside.tree.clicked.connect(self._open_tree)
        self._column.addWidget(self.inside)

    key_places = (ZoomView,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and event.key() in KEYS

    def entrance(self) -> QWidget | None:
        return None if self.inside is None else self.inside.entrance()

    def resizeEvent(self, event: object) -> None:
        side = max(theme.SPACE_XL, (self.width() - WIDEST) // 2)
        self._column.setContentsMargins(side, theme.SPACE_L, side, theme.SPACE_L)


class Pages(QWidget):
    """The description and the worked examples, one at a time."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__()
        words = session.words
        told = [shown_of(page) for page in session.pages(part.description, part.values)]
        text = "\n\n".join(text for text, shown in told if shown in ("", TREE))
        self.pages: list[Enterable] = [TextPage(text)]
        names = [words("judging_description")]
        for name, key in (
            ("correct", "judging_example_correct"),
            ("incorrect", "judging_example_incorrect"),
        ):
            if made := example_page(session, part, name):
                self.pages.append(made)
                names.append(words(key))
        self.tabs = Views(names, session.palette, " / ".join(names))
        if len(names) == 1:
            self.tabs.hide()
        self.tabs.changed.connect(self.turn_to)
        self.tree = Button(words("judging_whole_tree"))
        if part.explained.tree is None:
            self.tree.hide()
        self.stack = PageStack()
        for page in self.pages:
            self.stack.addWidget(page)
        head = filled(QHBoxLayout(), theme.SPACE_L, self.tabs, self.tree, 1)
        filled(QVBoxLayout(self), theme.SPACE_L, head, (self.stack, 1))

    def turn_to(self, page: int) -> None:
        """Show a page, from 0."""
        self.tabs.show_index(page)
        self.stack.setCurrentIndex(page)

    def entrance(self) -> QWidget | None:
        return self.tabs if not self.tabs.isHidden() else self.pages[0].entrance()


def example_page(session: SessionView, part: JudgingPart, name: str) -> WorkedExample | None:
    """A worked example as the introduction to the same stimuli has it; None where none does."""
    for other in session.parts:
        if not isinstance(other, MethodPart) or other.explained.stimuli != part.explained.stimuli:
            continue
        photo = other.correct if name == "correct" else other.incorrect
        for page in session.pages(other.document, other.values):
            text, shown = shown_of(page)
            if shown == name and photo is not None:
                return WorkedExample(session, part.task, part.explained, photo, text)
    return None


class WholeTree(QWidget):
    """The picture of the whole tree, with buttons to zoom."""

    def __init__(self, session: SessionView, tree: str) -> None:
        super().__init__()
        assert session.images is not None, "a session that explains pictures keeps them"
        words = session.words
        self.view = ZoomView(session.palette, words("judging_tree"))
        self.view.show_picture(session.images.image(tree))
        self.larger, self.smaller = Button("+"), Button("−")
        self.whole = Button(words("judging_tree_fit"))
        for button, name in (
            (self.larger, "judging_tree_larger"),
            (self.smaller, "judging_tree_smaller"),
        ):
            button.setAccessibleName(words(name))
            button.setToolTip(words(name))
        self.larger.clicked.connect(lambda: self.view.zoom(FACTOR))
        self.smaller.clicked.connect(lambda: self.view.zoom(1 / FACTOR))
        self.whole.clicked.connect(self.view.fit)
        hint = PlainLabel(words("judging_tree_hint"))
        hint.setProperty("role", "secondary")
        row = filled(QHBoxLayout(), theme.SPACE_S, self.larger, self.smaller, self.whole)
        row.addSpacing(theme.SPACE_M)
        row.addWidget(hint, 1)
        filled(QVBoxLayout(self), theme.SPACE_M, row, (self.view, 1))

    def entrance(self) -> QWidget:
        return self.view


SHOWN = re.compile(r"!\[[^\]]*\]\((correct|incorrect|preview|tree)\)")


def shown_of(page: str) -> tuple[str, str]:
    """The text of a page, and what it shows besides: empty for nothing."""
    match = SHOWN.search(page)
    return SHOWN.sub("", page).strip(), match[1] if match else ""


class TextPage(QWidget):
    """A text in a column of its own, and perhaps a button below it."""

    def __init__(self, text: str, button: Button | None = None) -> None:
        super().__init__()
        self.text = MarkdownView()
        self.text.show_text(text)
        self.button = button
        column = filled(QVBoxLayout(), theme.SPACE_L, 1, (self.text, 100))
        if button is not None:
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(2)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addLayout(column, 100)
        row.addStretch(1)
        self.text.setMinimumWidth(min(text_width(), 600))

    def entrance(self) -> QWidget | None:
        return self.button or (self.text if self.text.focusPolicy() else None)


class PreviewPage(QWidget):
    """A text over the task's own screen."""

    def __init__(self, text: str, screen: JudgingScreen) -> None:
        super().__init__()
        self.tried = screen
        self.text = MarkdownView()
        self.text.show_text(text)
        filled(QVBoxLayout(self), theme.SPACE_M, self.text, (screen, 100))

    def entrance(self) -> QWidget | None:
        return self.tried.entrance()


class MethodScreen(DescribedScreen, PagedScreen):
    def __init__(self, session: SessionView, part: MethodPart) -> None:
        super().__init__(session, part, session.pages(part.document, part.values))
        self._part = part
        self._made: dict[int, QWidget] = {}
        self.stack = PageStack()
        self.column(WIDEST).addWidget(self.stack)

    @property
    def page(self) -> QWidget | None:
        """What is on the screen."""
        return self.stack.currentWidget()

    def page_turned(self) -> None:
        if self._page not in self._made:
            page = self._made[self._page] = self._page_of(self._pages[self._page])
            self.stack.addWidget(page)
        self.stack.setCurrentWidget(self._made[self._page])

    def _page_of(self, page: str) -> QWidget:
        text, shown = shown_of(page)
        session, part = self.session, self._part
        examples = {"correct": part.correct, "incorrect": part.incorrect}
        if (photo := examples.get(shown)) is not None:
            return WorkedExample(session, part.task, part.explained, photo, text)
        if shown == "preview" and (tried := rehearsal(session, part)):
            return PreviewPage(text, tried)
        if shown == TREE and part.explained.tree is not None:
            button = Button(session.words("judging_whole_tree"))
            button.clicked.connect(self.open_tree)
            return TextPage(text, button)
        return TextPage(text)

    def entrance(self) -> QWidget | None:
        page = self.page
        return page.entrance() if isinstance(page, Enterable) else None


Enterable = TextPage | PreviewPage | WorkedExample


class Rehearsal(JudgingScreen):
    """What a task's screen is mixed with, so that it answers to itself instead of the session."""

    rehearsed: JudgingState

    @property
    def state(self) -> JudgingState:
        return self.rehearsed

    def set_column_width(self, width: int) -> None:
        """As wide as the page it is in."""
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)

    def send(self, command: Command) -> None:
        trial = self.rehearsed.trial
        assert trial is not None
        if self.session.read_only:
            return
        match command:
            case Judge():
                for payload in answered(questions(self.part.task, self.photo), trial, command):
                    trial = with_answer(trial, payload)
            case OpenSpecies(option):
                trial = replace(trial, option=option)
        self.rehearsed = replace(self.rehearsed, trial=trial)
        self.render_state()


def rehearsal(session: SessionView, part: MethodPart) -> JudgingScreen | None:
    """The screen of the part's task on its example; None where the set has none."""
    photo = part.correct
    if photo is None:
        return None
    if photo.final is not None:  # without the steps that are left to the participant
        first = photo.final.first.prototype
        steps = takewhile(lambda row: row.prototype != first, photo.rows)
        photo = photo.model_copy(update={"rows": tuple(steps)})
    stage = JudgingPart(
        id=part.id,
        title=part.title,
        number=1,
        of=1,
        task=part.task,
        explained=part.explained,
        set=1,
        labels=part.labels,
        photos=(photo,),
        description="",
        values=part.values,
        time_limit_s=None,
        think_aloud=False,
    )
    rehearsed = JudgingState(Pauses(), trial=PhotoTrial(1, started_ns=0))
    bases = (Rehearsal, discovery.load(SCREENS[part.task]))
    made: JudgingScreen = type("Rehearsed", bases, {"rehearsed": rehearsed})(session, stage)
    made.planned = part  # the part that runs while it is tried out
    made.render_state()
    return made
