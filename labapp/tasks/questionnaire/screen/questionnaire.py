"""A questionnaire: nothing preselected, Next says what is missing, Back keeps every answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from math import ceil
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from labapp.base.discovery import load
from labapp.record.events.commands import Back, Command, Next
from labapp.record.events.look import SCALED
from labapp.study.instruments import Choice, Choices, Item, Rating, Slider, Statement, Written
from labapp.study.instruments.asking import ITEM_KINDS, kind_of
from labapp.study.instruments.items import DESCRIBED_LONGEST
from labapp.study.plan import QuestionnairePart
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireTask
from labapp.ui import theme
from labapp.ui.participant.screen import InView, PageStack, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import AnchorRow, Look, OptionList, Scale
from labapp.ui.widgets.controls import PlainLabel, TextField
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import LINE_CHARACTERS, MarkdownView, text_width
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen, restyle

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
            # A screen reader says what an answer added to the page, or took away: the focus stays
            # where the answer was given.
            words, after = self.session.words, self.pages[self._page].asked()
            for key, views, others in (
                ("now_asked", after, before),
                ("asked_no_more", before, after),
            ):
                titles = [view.item.title for view in views if view not in others]
                if titles:
                    self.tell(words(key, items=", ".join(words("quoted", text=t) for t in titles)))
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
        named = [words("quoted", text=_short(item.title)) for item in missing[:MOST_NAMED]]
        while len(named) > 1 and len(", ".join(named)) > NAMED_CHARACTERS:
            named.pop()
        names, more = ", ".join(named), len(missing) - len(named)
        note = words("answer_missing", items=names) if missing else ""
        if more:
            note = words("answers_missing", items=names, more=more)
        first = next(iter(self._task.pages_asked(self.state)), 0)
        return Foot(
            left=words("back") if self.state.page > first else "",
            right=words("continue"),
            ready=not missing,
            note=note,
            warn=bool(missing) and self.reminded,
        )

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


LEAST_TABLE_WORDS = 240
SLIDING_WORDS_WIDTH = 440
"""A slider is as low as two lines: its words stand beside it in three at most."""
HEADING_HEIGHT = round(theme.TITLE_PX * 1.4) + theme.SPACE_M
LONG_TEXT = 420
"""A text of more characters is set in two columns."""


class Page(QScrollArea):
    """Scrolls where its items do not fit; shipped instruments do (a test holds them to it). above:
    Markdown over the questions."""

    def __init__(
        self,
        title: str,
        instruction: str,
        items: Sequence[Item],
        words: Strings,
        palette: theme.Palette,
        *,
        above: str = "",
    ) -> None:
        super().__init__()
        self.items = tuple(items)
        self.views: list[ItemView] = []
        self._tables: list[tuple[AnchorRow, list[QWidget]]] = []
        # Items, and the widgets that are shown where one of them is asked.
        self._rows: list[tuple[list[str], list[QWidget]]] = []
        self._words, self._palette = words, palette
        self._slides = any(isinstance(item, Slider) for item in items)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        InView(self)
        inside = QWidget()
        inside.setProperty("role", "ground")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, theme.RING, 0)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        if above:
            self._above(above, title, instruction)
        else:
            self._head(title, instruction)
        for table, some in groupby(items, key=_table_of):
            self._group(list(some), table=table is not None)
        self._column.addStretch(2)
        self.setWidget(inside)

    def asked(self) -> list[ItemView]:
        """The items that are shown."""
        return [view for view in self.views if not view.isHidden()]

    def show_asked(self, ids: Collection[str], awaited: Collection[str]) -> None:
        """Show these items. awaited: others for which room is kept."""
        for items, widgets in self._rows:
            shown = any(item in ids for item in items)
            holds_room = any(item in awaited for item in items)
            for widget in widgets:
                policy = widget.sizePolicy()
                if policy.retainSizeWhenHidden() is not holds_room:
                    policy.setRetainSizeWhenHidden(holds_room)
                    widget.setSizePolicy(policy)
                if widget.isHidden() is shown:
                    widget.setVisible(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The statements of a table as wide as the words over its columns leave room for."""
        super().resizeEvent(event)
        room = self.viewport().width() - theme.RING - theme.SPACE_XXL
        for heads, in_column in self._tables:
            width = min(TABLE_WORDS_WIDTH, room - heads.needed_width())
            for widget in in_column:
                widget.setFixedWidth(max(LEAST_TABLE_WORDS, width))

    def _above(self, text: str, title: str, instruction: str) -> None:
        """The text, and beside it what is asked: below it there would be no room. A text with a
        heading is what the page is about; another title would be one too many."""
        if not text.startswith("# "):
            self._head(title, "")
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XXL)
        columns = [text] if instruction else halves(text)
        for number, part in enumerate(columns):
            down = QVBoxLayout()
            down.addSpacing(HEADING_HEIGHT if number else 0)  # the heading stands in the first
            down.addWidget(TextAbove(part))
            down.addStretch(1)
            row.addLayout(down, 1)
        if instruction:
            asked = PlainLabel(instruction)
            asked.setProperty("role", "strong")
            asked.setWordWrap(True)
            row.addWidget(asked, 1, Qt.AlignmentFlag.AlignBottom)
        elif len(columns) == 1:
            row.addStretch(1)
        self._column.addLayout(row)
        self._column.addSpacing(theme.SPACE_M)

    def _head(self, title: str, instruction: str) -> None:
        head = PlainLabel(title)
        head.setProperty("role", "title")
        head.setWordWrap(True)
        self._column.addWidget(head)
        if instruction:
            label = PlainLabel(instruction)
            label.setWordWrap(True)
            # So wide that its lines are about equally long, and none too long to read.
            long = metrics().horizontalAdvance(instruction)
            even = round(long / ceil(long / text_width()))
            label.setMaximumWidth(min(even, text_width()) + theme.SPACE_XXXL)
            self._column.addSpacing(theme.SPACE_XS)
            # In a row of its own: a column asks a label how high it is at the width of the column.
            row = QHBoxLayout()
            row.addWidget(label, 1)
            row.addStretch()
            self._column.addLayout(row)
        self._column.addSpacing(theme.SPACE_M)

    def _group(self, items: list[Item], *, table: bool) -> None:
        first_group = not self.views
        ids = [item.id for item in items]
        if table and isinstance(items[0], Statement):
            over = QWidget()
            self._rows.append((ids, [over]))
            row = QHBoxLayout(over)
            row.setContentsMargins(0, 0 if first_group else theme.SPACE_S, 0, theme.SPACE_XS)
            row.setSpacing(theme.SPACE_XXL)
            first = items[0]
            heads = AnchorRow(first.points, first.anchors(), self._palette, over=True)
            corner = QWidget()
            corner.setFixedWidth(TABLE_WORDS_WIDTH)
            row.addWidget(corner)
            row.addWidget(heads, 1)
            in_column: list[QWidget] = [corner]
            self._tables.append((heads, in_column))
            self._column.addWidget(over)
        if table or first_group:  # else the line that ends the group before begins this one
            line = _hairline()
            self._rows.append(([item.id for item in self.items] if first_group else ids, [line]))
            self._column.addWidget(line)
        for item in items:
            view = view_of(item, self._words, self._palette)
            if self._slides and view.words is not None:
                view.words.setFixedWidth(SLIDING_WORDS_WIDTH)
            if table and view.words is not None:
                in_column.append(view.words)
            self.views.append(view)
            line = _hairline()
            self._rows.append(([item.id], [view, line]))
            self._column.addWidget(view)
            self._column.addWidget(line)


def halves(text: str) -> list[str]:
    """A short text as it is; a long one in two of about as many lines, divided between
    paragraphs."""
    paragraphs = text.split("\n\n")
    if len(text) <= LONG_TEXT or len(paragraphs) < 3:
        return [text]
    lines = [
        sum(ceil(len(line) / LINE_CHARACTERS) for line in paragraph.splitlines())
        for paragraph in paragraphs
    ]
    at = min(range(2, len(lines)), key=lambda n: abs(sum(lines[:n]) - sum(lines[n:])))
    return ["\n\n".join(paragraphs[:at]), "\n\n".join(paragraphs[at:])]


class TextAbove(MarkdownView):
    """A text that is always as high as it needs: the page scrolls, not the text in it."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.show_text(markdown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.setMinimumHeight(self.height_for(self.width()))
        super().resizeEvent(event)


def _table_of(item: Item) -> tuple[object, ...] | None:
    """Equal for statements of one table; None for an item that stands by itself."""
    if not isinstance(item, Statement):
        return None
    return (item.points, item.first, item.look, tuple(item.anchors().items()))


def _hairline() -> QFrame:
    line = QFrame()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line


WORDS_WIDTH = 340
TABLE_WORDS_WIDTH = 520
PAIR_WIDTH = 300
DESCRIBED_WIDTH = 320
MARK = "▸"


class ItemWords(QWidget):
    """The words of an item; marked, in room kept for it, while an answer to it is missing."""

    def __init__(self, item: Item, optional: str, width: int) -> None:
        super().__init__()
        self._head = _label(item.name or item.text, "strong" if item.name else "")
        self._mark = _mark()
        more = [item.text] if item.name and item.text else []
        more += [optional] if optional else []
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._head)
        for line in more:
            words.addWidget(_label(line, "secondary"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.setFixedWidth(width)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and a mark, that this item still needs an answer."""
        _show_mark(self._mark, self._head, missing)


class ItemView(QWidget):
    """An item: its words on the left, its answer on the right, which is what the session says.
    answered(value): the hand wants this answer."""

    answered = Signal(object)

    def __init__(self, item: Item, words: Strings, width: int = WORDS_WIDTH) -> None:
        super().__init__()
        self.item = item
        # Of a slider it is said beside it that it has no answer yet.
        optional = "" if item.required or item.always_answered else words("optional")
        bare = not item.name and not item.text
        self.words = None if bare else ItemWords(item, optional, width)
        self.row_layout = QHBoxLayout(self)
        self.row_layout.setContentsMargins(0, theme.SPACE_S, 0, theme.SPACE_S)
        self.row_layout.setSpacing(theme.SPACE_XXL)
        if self.words is not None:
            self.row_layout.addWidget(self.words, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_as(self, *, published: bool, layout: int) -> None:
        """Look as in a published study or improved, in a layout of `labapp.record.events.look`."""

    def show_value(self, value: Any) -> None:
        """Show the answer that the session has; None for none."""

    def mark_missing(self, missing: bool) -> None:
        if self.words is not None:
            self.words.mark_missing(missing)

    def uncommitted(self) -> Any:
        """The answer with what was typed and not kept yet; None where nothing was."""
        return None

    def entrance(self) -> QWidget:
        """What takes the focus."""
        raise NotImplementedError


class RatingView(ItemView):
    """A scale; the head of their table has the anchors of statements, once."""

    def __init__(self, item: Rating, words: Strings, palette: theme.Palette) -> None:
        table = isinstance(item, Statement)
        super().__init__(item, words, TABLE_WORDS_WIDTH if table else WORDS_WIDTH)
        self.rating = item
        look = Look(
            numbered=item.numbered,
            digits=not item.ticks,
            first=item.first,
            even=bool(item.labels),
            ticks=item.ticks,
        )
        self.row = Scale(item.points, palette, look, item.title, item.anchors())
        self.row.chosen.connect(lambda index, _device: self.answered.emit(index + item.first))
        if table:
            self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
            self.row_layout.addWidget(self.row, 1)
        elif self.words is None:
            self._between(*item.ends())
        else:
            right = QVBoxLayout()
            right.setSpacing(theme.SPACE_XS)
            right.addWidget(self.row)
            right.addWidget(AnchorRow(item.points, item.anchors(), palette))
            self.row_layout.addLayout(right, 1)

    def _between(self, low: str, high: str) -> None:
        self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        sides = (Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft)
        self._mark = _mark()
        self.row_layout.setSpacing(theme.SPACE_XL)
        self.row_layout.addWidget(self._mark)
        self.sides = [_label(words, "") for words in (low, high)]
        for label, side in zip(self.sides, sides, strict=True):
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self.row_layout.addWidget(self.sides[0], 2)
        self.row_layout.addWidget(self.row, 3)
        self.row_layout.addWidget(self.sides[1], 2)

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        if self.words is None:
            _show_mark(self._mark, self.sides[0], missing)

    def show_value(self, value: Any) -> None:
        self.row.show_index(None if value is None else value - self.rating.first)

    def entrance(self) -> QWidget:
        return self.row


class ChoiceView(ItemView):
    """One or several options, one of them perhaps with a field to describe it."""

    def __init__(self, item: Choice | Choices, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.choice = item
        self._value: dict[str, Any] = {"chosen": ()}
        self._own = next((option.id for option in item.options if option.describe), None)
        self.field: TextField | None = None
        self.group = OptionList(
            [option.text for option in item.options],
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
        self._mark = _mark()
        if self.words is None:
            self.row_layout.setSpacing(0)
            self.row_layout.addWidget(self._mark)
        self.row_layout.addWidget(self.group, 1)

    def _asked(self, index: int) -> None:
        option = self.choice.options[index]
        before = [option for option in self.choice.options if option.id in self._value["chosen"]]
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

    def show_value(self, value: Any) -> None:
        self._value = dict(value) if value is not None else {"chosen": ()}
        chosen = self._value["chosen"]
        self.group.show_taken(
            [index for index, option in enumerate(self.choice.options) if option.id in chosen]
        )
        if self.field is not None:
            self.field.setVisible(self._own in chosen)
            self.field.show_text(self._value.get("described", ""))

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        _show_mark(self._mark, self._mark, missing)

    def uncommitted(self) -> Any:
        if self.field is None or self.field.isHidden():
            return None
        text = self.field.uncommitted_text()
        return None if text is None else self._with(self._value["chosen"], text)

    def entrance(self) -> QWidget:
        return self.group.entrance()


class WrittenView(ItemView):
    def __init__(self, item: Written, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.field = TextField(
            item.title,
            lines=item.lines,
            longest=item.longest,
            too_long=words("text_limit", n=item.longest),
        )
        self.field.committed.connect(lambda text: self.answered.emit(text))
        self.row_layout.addWidget(self.field, 1)

    def show_value(self, value: Any) -> None:
        self.field.show_text(value or "")

    def uncommitted(self) -> Any:
        return self.field.uncommitted_text()

    def entrance(self) -> QWidget:
        return self.field.edit


class SliderView(ItemView):
    """A slider, and over it in words where it stands, or that it has no answer yet."""

    def __init__(self, item: Slider, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        low, high, self._start = item.places()
        self._said, self._unit = words, item.unit
        self._key = "selected_accuracy" if item.about == "accuracy" else "selected_value"
        self.selected = _label("", "secondary")
        self._tells = True
        self.slider = NumberSlider(low, high, self._start, item.unit, palette)
        self.slider.setAccessibleName(item.title)
        self.selected.setFixedHeight(ceil(metrics(bold=True).height()))
        self.slider.moved.connect(lambda value: self._say(value, touched=True))
        self.slider.given.connect(lambda value: self.answered.emit(_make_touched(value)))
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_XS)
        right.addWidget(self.selected)
        right.addWidget(self.slider)
        self.row_layout.addLayout(right, 1)
        self.show_value(None)

    def show_as(self, *, published: bool, layout: int) -> None:
        self._tells = layout >= SCALED
        self.slider.show_start(published or not self._tells)
        self._say(self.slider.value(), touched=self.slider.touched)

    def show_value(self, value: Any) -> None:
        number, touched = (value["value"], value["touched"]) if value else (self._start, False)
        self.slider.show_value(number, touched=touched)
        self._say(self.slider.value(), touched=self.slider.touched)

    def _say(self, number: int, *, touched: bool) -> None:
        text = self._said(self._key, value=number, unit=self._unit)
        if self._tells and not touched:
            none = self._said("slider_unanswered")
            stands = f"{number}\N{NO-BREAK SPACE}{self._unit} · "  # nothing is selected yet
            text = f"{stands}{none}" if self.slider.has_handle else none
        if self.selected.text() != text:
            self.selected.setText(text)
            self.slider.setAccessibleDescription(text)
        restyle(self.selected, "role", "strong" if touched else "secondary")

    def uncommitted(self) -> Any:
        return _make_touched(self.slider.value()) if self.slider.held else None

    def entrance(self) -> QWidget:
        return self.slider


def _make_touched(value: int) -> dict[str, Any]:
    return {"value": value, "touched": True}


def view_of(item: Item, words: Strings, palette: theme.Palette) -> ItemView:
    view: ItemView = load(ITEM_KINDS[kind_of(item)].view)(item, words, palette)
    return view


def _label(words: str, role: str) -> QLabel:
    label = PlainLabel(words)
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label


def _mark() -> QLabel:
    """Room for the mark of a missing answer."""
    label = PlainLabel()
    label.setFixedWidth(theme.SPACE_L)
    return label


def _show_mark(mark: QLabel, words: QLabel, missing: bool) -> None:
    text = MARK if missing else ""
    if mark.text() == text:
        return
    mark.setText(text)
    for label in (mark, words):
        restyle(label, "tone", "warn" if missing else "")


HANDLE_R = 10.0
RING_R = 14.0
TRACK_H = 6.0
GAP = 8.0
"""Between the ends of the line and their numbers."""
PAGE = 10

_STEPS = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: PAGE,
    Qt.Key.Key_PageDown: -PAGE,
}


class NumberSlider(QAbstractSlider):
    """A slider for a whole number.

    moved(value): the handle follows the hand; given(value): the hand set it there, or left it there
    on purpose, and let go. unit stands behind the numbers at both ends; touched: whether it looks
    touched.

    Until it is touched it has no handle: a click puts one there, and the first arrow key puts it
    where the slider begins. Where a handle is shown from the start (`show_start`) it is hollow and
    its line grey until the hand moves it, or says that it stands where it should (a click on the
    handle, Space or Enter). Arrow keys move one, Page keys ten, Home and End go to the ends.
    """

    moved = Signal(int)
    given = Signal(int)

    def __init__(
        self,
        low: int,
        high: int,
        start: int,
        unit: str,
        palette: theme.Palette,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._ends = [f"{value}\N{NO-BREAK SPACE}{unit}" for value in (low, high)]
        self._sides = [
            ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(words)) + GAP for words in self._ends
        ]
        self._colors = palette
        self.touched = False
        self._starts = False
        self._held: tuple[float, int] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(low, high)
        self.setPageStep(PAGE)
        self._shown = start
        self.setValue(start)
        self.valueChanged.connect(self._on_value_change)

    def _on_value_change(self, value: int) -> None:
        """Qt's value is another one: by what is shown, or by a screen reader."""
        if value != self._shown:
            self._ask(value)

    def _put(self, value: int) -> None:
        self._shown = value
        self.setValue(value)

    def show_start(self, shown: bool) -> None:
        """Say whether a handle is shown before anybody touches it."""
        self._starts = shown
        self.update()

    @property
    def has_handle(self) -> bool:
        return self.touched or self._starts

    @property
    def held(self) -> bool:
        """Whether the hand is dragging it: its value is not given yet."""
        return self._held is not None

    def show_value(self, value: int, *, touched: bool) -> None:
        """Show what the session says; not under the hand."""
        if self._held is None and (value, touched) != (self._shown, self.touched):
            self.touched = touched
            self._put(value)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def handle_x(self, value: int) -> float:
        """Centre of the handle at a value, in the widget's pixels."""
        share = (value - self.minimum()) / max(self.maximum() - self.minimum(), 1)
        return self._sides[0] + RING_R + share * self._span()

    def _span(self) -> float:
        return max(1.0, self.width() - sum(self._sides) - 2 * RING_R)

    def _move(self, value: int) -> None:
        self.touched = True
        self._put(min(max(value, self.minimum()), self.maximum()))
        self.update()
        self.moved.emit(self._shown)

    def _ask(self, value: int) -> None:
        before = (self._shown, self.touched)
        self._move(value)
        if before != (self._shown, self.touched):
            self.given.emit(self._shown)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        if not self.has_handle or abs(x - self.handle_x(self._shown)) > RING_R:
            share = (x - self._sides[0] - RING_R) / self._span()
            self._move(self.minimum() + round(share * (self.maximum() - self.minimum())))
        self._held = (x, self._shown)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is None:
            return
        x, value = self._held
        moved = round((event.position().x() - x) / self._span() * (self.maximum() - self.minimum()))
        if value + moved != self._shown:
            self._move(value + moved)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._held is not None:
            self._held = None
            self._move(self._shown)
            self.given.emit(self._shown)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held:
            event.ignore()
        elif key in _STEPS:
            self._ask(self._shown + (_STEPS[key] if self.has_handle else 0))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._ask(self.minimum() if key == Qt.Key.Key_Home else self.maximum())
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.has_handle:
            self._ask(self._shown)
        else:
            event.ignore()

    def focusInEvent(self, event: object) -> None:
        self.update()

    def focusOutEvent(self, event: object) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        middle = theme.TARGET_HEIGHT / 2
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(p.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.track))
        left, x = self.handle_x(self.minimum()) - HANDLE_R, self.handle_x(self._shown)
        track = QRectF(left, middle - TRACK_H / 2, self._span() + 2 * HANDLE_R, TRACK_H)
        painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        if self.touched:
            painter.setBrush(brush(p.accent))
            track.setRight(x)
            painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        centre = QPointF(x, middle)
        if self.has_handle:
            if self.hasFocus():
                painter.setPen(pen(p.accent, theme.RING))
                painter.setBrush(brush(p.accent_soft))
                painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
            painter.setPen(pen(p.accent if self.touched else p.secondary, 2.0))
            painter.setBrush(brush(p.accent if self.touched else p.card))
            painter.drawEllipse(centre, HANDLE_R - 2, HANDLE_R - 2)
        elif self.hasFocus():
            draw_focus_ring(painter, track.adjusted(-2, -4, 2, 4), theme.RADIUS, p.accent)
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        for words, side in zip(self._ends, sides, strict=True):
            painter.drawText(QRectF(self.rect()), side | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()
