"""What can be opened over a task at any time: the description of the method with its worked
examples, and the picture of the whole tree. The description may be the introduction itself (paper
003, 4: "can access the method explanation at any point during the task").

It covers what is on the screen, which stays as it is, and closes by its button and by Escape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.plugins.part import PlannedPart
from labapp.tasks.judging.events import TREE
from labapp.tasks.judging.plan import JudgingPart, MethodPart
from labapp.tasks.judging.screen.method import Enterable, TextPage, shown_of
from labapp.tasks.judging.screen.photos import WIDEST
from labapp.tasks.judging.screen.worked import WorkedExample
from labapp.ui import theme
from labapp.ui.participant.body import PageStack
from labapp.ui.participant.screen import Opened
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.segments import Views
from labapp.ui.widgets.zoom_view import FACTOR, KEYS, ZoomView


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
        self._inside: QWidget | None = None
        self._column = QVBoxLayout(self)

    @property
    def page_shown(self) -> int:
        return (self._inside.tabs.index or 0) if isinstance(self._inside, Pages) else 0

    def turn_to(self, page: int) -> None:
        if isinstance(self._inside, Pages) and page < len(self._inside.pages):
            self._inside.turn_to(page)

    @property
    def inside(self) -> QWidget | None:
        """The description or the tree that is shown."""
        return self._inside

    def show_what(self, what: str) -> None:
        """Show the description, or the tree."""
        if self.what != what:
            self.what = what
            closes = "judging_close_tree" if what == TREE else "judging_close_description"
            self.close_words = self.session.words(closes)
            if self._inside is not None:
                self._column.removeWidget(self._inside)
                self._inside.hide()  # it goes a moment later, and would lie over the new one
                self._inside.deleteLater()
            self._inside = self._made(what)
            self._column.addWidget(self._inside)

    def _made(self, what: str) -> QWidget:
        part = self._part
        tree = part.explained.tree
        if what == TREE and tree is not None:
            return WholeTree(self.session, tree)
        assert isinstance(part, JudgingPart), "the introduction offers its tree alone"
        made = Pages(self.session, part, self.session.parts)
        made.tree.clicked.connect(self._open_tree)
        return made

    key_places = (ZoomView,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and event.key() in KEYS

    def entrance(self) -> QWidget | None:
        """What takes the keyboard."""
        inside = self._inside
        return inside.entrance() if isinstance(inside, Pages | WholeTree) else None

    def resizeEvent(self, event: object) -> None:
        side = max(theme.SPACE_XL, (self.width() - WIDEST) // 2)
        self._column.setContentsMargins(side, theme.SPACE_L, side, theme.SPACE_L)


class Pages(QWidget):
    """The description and the worked examples, one at a time."""

    def __init__(
        self, session: SessionView, part: JudgingPart, parts: Sequence[PlannedPart]
    ) -> None:
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
            if made := example_page(session, part, parts, name):
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
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_L)
        head.addWidget(self.tabs)
        head.addWidget(self.tree)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_L)
        column.addLayout(head)
        column.addWidget(self.stack, 1)

    def turn_to(self, page: int) -> None:
        """Show a page, from 0."""
        self.tabs.show_index(page)
        self.stack.setCurrentIndex(page)

    def entrance(self) -> QWidget | None:
        """What takes the keyboard."""
        return self.tabs if not self.tabs.isHidden() else self.pages[0].entrance()


def example_page(
    session: SessionView, part: JudgingPart, parts: Sequence[PlannedPart], name: str
) -> WorkedExample | None:
    """A worked example as the introduction to the same stimuli has it; None where none does."""
    for other in parts:
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
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        for button in (self.larger, self.smaller, self.whole):
            row.addWidget(button)
        row.addSpacing(theme.SPACE_M)
        row.addWidget(hint, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addLayout(row)
        column.addWidget(self.view, 1)

    def entrance(self) -> QWidget:
        """What takes the keyboard."""
        return self.view
