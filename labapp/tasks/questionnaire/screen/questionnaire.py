"""A questionnaire: nothing preselected, Next says what is missing, Back keeps every answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from labapp.base.discovery import load
from labapp.record.events.commands import Back, Command, Next
from labapp.study.instruments import Item, Slider, Statement, dont_know
from labapp.study.instruments.kinds import ITEM_KINDS, kind_of
from labapp.study.plan import QuestionnairePart
from labapp.tasks.questionnaire.machine import Answer, PlaySound, QuestionnaireTask, SoundKey
from labapp.tasks.questionnaire.screen.kinds.view import (
    MARK_WIDTH,
    TABLE_WORDS_WIDTH,
    ItemView,
    Pictures,
    no_pictures,
)
from labapp.ui import theme
from labapp.ui.participant.screen import InView, PageStack, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.timers import make_repeating_timer
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import AnchorRow, CheckBox, Choice
from labapp.ui.widgets.controls import hairline
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import (
    LINE_CHARACTERS,
    MarkdownView,
    TextSound,
    no_sound,
    text_width,
)
from labapp.ui.widgets.painting import metrics, restyle
from labapp.ui.widgets.sound_bar import SoundBar, Sounding

COUNT_MS = 100
MISSING_CHARACTERS = 40
MOST_NAMED, NAMED_CHARACTERS = 3, 84
"""So many items, in so many characters, are named beside Next: that is one line of the bar."""


class QuestionnaireScreen(Screen):
    def __init__(self, session: SessionView, part: QuestionnairePart) -> None:
        super().__init__(session, part)
        task = session.source.machine.tasks[session.parts.index(part)]
        assert isinstance(task, QuestionnaireTask)
        self._task, self._instrument = task, task.instrument
        self._stage, self.part = stage_words(session, part), part
        self._page: int = self.state.page
        self.stack = PageStack()
        self.pages: list[Page] = []
        for place in range(len(self._instrument.pages)):
            page = self._make_page(place)
            self.pages.append(page)
            self.stack.addWidget(page)
        self._show_asked()
        self.stack.setCurrentIndex(self._page)
        self.column().addWidget(self.stack)
        if self._instrument.minimum_s and not session.read_only:
            make_repeating_timer(self, self._count_down, COUNT_MS).start()

    def _worded(self, item: Item) -> Item:
        return self._task.worded(self.state, item, withholds=self.session.withholds)

    def _make_page(self, place: int) -> Page:
        """A page with the answers filled into the words of its items."""
        session = self.session
        page = Page(
            self._instrument.title,
            self._instrument.instruction,
            [self._worded(item) for item in self._instrument.pages[place]],
            session.words,
            session.palette,
            above="" if place else above(session, self.part),
            pictures=session.study_picture,
            sound_bar=self._make_sound_bar,
            text_sound=self.sound_of_text,
        )
        for view in page.views:
            view.show_as(published=not session.improved, layout=session.layout)
            view.answered.connect(lambda value, name=view.item.id: self.send(Answer(name, value)))
            if (box := page.unknown.get(view.item.id)) is not None:
                box.clicked.connect(lambda ticked, item=view.item: self._say_unknown(item, ticked))
            if self._instrument.advance:
                # An arrow key that answered would lead to the next page.
                for choice in view.findChildren(Choice):
                    choice.looked_over = True
        return page

    def _say_unknown(self, item: Item, ticked: bool) -> None:
        self.send(Answer(item.id, dont_know.unknown(item) if ticked else dont_know.TAKEN_BACK))

    @property
    def items(self) -> list[ItemView]:
        """The items of all pages."""
        return [view for page in self.pages for view in page.views]

    def _word_page(self, place: int) -> None:
        """Make a page again where other answers belong in the words of its items than it shows."""
        page = self.pages[place]
        if tuple(map(self._worded, self._instrument.pages[place])) == page.items:
            return
        self.pages[place] = again = self._make_page(place)
        self.stack.insertWidget(place, again)
        self.stack.removeWidget(page)
        page.deleteLater()

    def _count_down(self) -> None:
        """Say how long the page stays, and let the participant go on once it may."""
        left_s = ceil(self._task.wait_s(self.state, self.session.clock.now_ns()))
        if left_s != self._left_s:
            self._left_s = left_s
            self.altered.emit()

    _left_s = 0

    def _make_sound_bar(self, item: Item, option: str) -> SoundBar | None:
        """What plays the sound of an item, or of an option."""
        sound = item.sounds[option]
        options = {each.id: each.text for each in item.options_or_rows}
        words = options.get(option, item.title)
        return self.make_sound_bar(
            sound.file,
            sound.alt or words,
            lambda: self._look_at_sound(item, option),
            lambda action, audible: self.send(PlaySound(item.id, action, audible, option)),
            caption=words if option else "",
            width=getattr(sound, "width", None),
        )

    def _look_at_sound(self, item: Item, option: str) -> Sounding:
        """What the session says of the sound of an item now."""
        state, words, task = self.state, self.session.words, self._task
        sound, now = item.sounds[option], task.sound(state, item.id, option)
        notes = [words("sound_first")] if sound.heard and not now.heard else []
        if sound.plays is not None:
            notes.append(words("sound_left", n=max(sound.plays - now.plays, 0)))
        working = state.pauses.working_ns(self.session.clock.now_ns())
        return Sounding.of(now, working, state.pauses.held, sound.plays, " ".join(notes))

    def render_state(self) -> None:
        state = self.state
        self._word_page(state.page)
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
            value = None if hidden else state.answers.get(view.item.id)
            view.show_value(None if dont_know.is_about_knowing(value) else value)
            view.mark_missing(self.reminded and view.item.id in missing)
            settled = self._task.is_settled(state, view.item)
            awaits = self._task.awaits_sound(state, view.item)
            view.setEnabled(not settled and not awaits)
            for page in self.pages:
                if (box := page.unknown.get(view.item.id)) is not None:
                    box.setChecked(dont_know.is_unknown(value))
                    box.setEnabled(view.isEnabled())
        self._show_feedback()
        for page in self.pages:
            for bar in page.sounds.values():
                bar.follow()

    def _show_feedback(self) -> None:
        """Show below each comprehension check what its last answer came to, as long as that answer
        is there; one that is settled can no longer be changed."""
        state, words = self.state, self.session.words
        labels = [(name, label) for page in self.pages for name, label in page.feedback.items()]
        views = {view.item.id: view for view in self.items}
        for name, label in labels:
            view, judged = views[name], state.judged.get(name)
            check, settled = view.item.comprehension, self._task.is_settled(state, view.item)
            text, tone = "", ""
            if judged is not None and judged.passed:
                text, tone = words("item_check_right"), "good"
            elif check is not None and self._task.is_wrong(state, view.item):
                verdict = words("item_check_wrong") if settled else words("item_check_again")
                text, tone = f"{verdict} {check.feedback}".strip(), "alarm" if settled else "warn"
            if text and text != label.text():
                self.tell(text)
            label.setText(text)
            label.setVisible(bool(text) and not view.isHidden())
            restyle(label, "tone", tone)

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
        titles = [self._worded(item).title for item in missing[:MOST_NAMED]]
        named = [words("quoted", text=_short(title)) for title in titles]
        while len(named) > 1 and len(", ".join(named)) > NAMED_CHARACTERS:
            named.pop()
        names, more = ", ".join(named), len(missing) - len(named)
        wait_s = self._task.wait_s(self.state, self.session.clock.now_ns())
        note = words("page_wait", s=ceil(wait_s)) if wait_s > 0 else ""
        note = words("answer_missing", items=names) if missing else note
        if more:
            note = words("answers_missing", items=names, more=more)
        first = next(iter(self._task.pages_asked(self.state)), 0)
        return Foot(
            left=words("back") if self.state.page > first else "",
            right=words("continue"),
            ready=not missing and wait_s <= 0,
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
        self._entrance_of(view).setFocus()

    def _entrance_of(self, view: ItemView) -> QWidget:
        """What takes the focus of an item: where its sound must be heard first, what plays it."""
        bars = self.pages[self._page].sounds
        awaited = (
            option
            for option, sound in view.item.sounds.items()
            if sound.heard and not self._task.sound(self.state, view.item.id, option).heard
        )
        bar = bars.get((view.item.id, next(awaited, "")))
        return view.entrance() if bar is None or view.isEnabled() else bar.button

    def pending_commands(self) -> Sequence[Command]:
        """What was typed a moment ago."""
        given = [(view.item.id, view.uncommitted()) for view in self.pages[self._page].asked()]
        return [Answer(item, value) for item, value in given if value is not None]

    def _keep(self) -> None:
        for answer in self.pending_commands():
            self.send(answer)

    def entrance(self) -> QWidget | None:
        views = self.pages[self._page].asked()
        return self._entrance_of(views[0]) if views else None


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
        pictures: Pictures = no_pictures,
        sound_bar: Callable[[Item, str], SoundBar | None] = lambda item, option: None,
        text_sound: TextSound = no_sound,
    ) -> None:
        """sound_bar: makes what plays the sound of an item, or of an option; text_sound: of the
        text above."""
        super().__init__()
        self._pictures, self._sound_bar, self._text_sound = pictures, sound_bar, text_sound
        self.sounds: dict[SoundKey, SoundBar] = {}
        self.items = tuple(items)
        self.views: list[ItemView] = []
        self.feedback: dict[str, QLabel] = {}
        self.unknown: dict[str, CheckBox] = {}
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
        self._column = controls.fill(controls.column(inside, 0, (0, 0, theme.RING, 0)), 1)
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
        row = controls.row(None, theme.SPACE_XXL)
        columns = [text] if instruction else halves(text)
        for number, part in enumerate(columns):
            down = QVBoxLayout()
            down.addSpacing(HEADING_HEIGHT if number else 0)  # the heading stands in the first
            controls.fill(down, TextAbove(part, self._pictures, self._text_sound), 1)
            row.addLayout(down, 1)
        if instruction:
            asked = controls.make_label(instruction, "strong", wrap=True)
            row.addWidget(asked, 1, Qt.AlignmentFlag.AlignBottom)
        elif len(columns) == 1:
            row.addStretch(1)
        controls.fill(self._column, row, controls.Gap(theme.SPACE_M))

    def _head(self, title: str, instruction: str) -> None:
        head = controls.make_label(title, "title", wrap=True)
        self._column.addWidget(head)
        if instruction:
            label = controls.make_label(instruction, wrap=True)
            # So wide that its lines are about equally long, and none too long to read.
            long = metrics().horizontalAdvance(instruction)
            even = round(long / ceil(long / text_width()))
            label.setMaximumWidth(min(even, text_width()) + theme.SPACE_XXXL)
            self._column.addSpacing(theme.SPACE_XS)
            # In a row of its own: a column asks a label how high it is at the width of the column.
            row = QHBoxLayout()
            controls.fill(row, (label, 1), 0)
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
            controls.fill(row, corner, (heads, 1))
            in_column: list[QWidget] = [corner]
            self._tables.append((heads, in_column))
            self._column.addWidget(over)
        if table or first_group:  # else the line that ends the group before begins this one
            line = hairline()
            self._rows.append(([item.id for item in self.items] if first_group else ids, [line]))
            self._column.addWidget(line)
        for item in items:
            view = view_of(item, self._words, self._palette)
            view.show_pictures(self._pictures)
            if self._slides and view.words is not None:
                view.words.setFixedWidth(SLIDING_WORDS_WIDTH)
            if table and view.words is not None:
                in_column.append(view.words)
            self.views.append(view)
            line = hairline()
            widgets: list[QWidget] = [view, line]
            if any(item.sounds) and (lifted := view.lift_words()) is not None:
                widgets.append(lifted)  # what an option sounds like belongs to the options
                self._column.addWidget(lifted)
            for option in item.sounds:
                if (bar := self._sound_bar(item, option)) is not None:
                    self.sounds[item.id, option] = bar
                    bar.setContentsMargins(MARK_WIDTH, 0, 0, 0)
                    widgets.append(bar)
                    self._column.addWidget(bar)
            self._rows.append(([item.id], widgets))
            self._column.addWidget(view)
            if item.dont_know:
                self.unknown[item.id] = box = CheckBox(item.dont_know, self._palette)
                box.setAccessibleDescription(item.title)
                # Its frame is about as wide as its words, which it wraps on a narrow screen.
                box.setMaximumWidth(
                    ceil(metrics().horizontalAdvance(item.dont_know)) + theme.SPACE_XXXL
                )
                widgets.append(box)
                indented = controls.row(None, 0, (MARK_WIDTH, 0, 0, theme.SPACE_S))
                controls.fill(self._column, controls.fill(indented, (box, 1), 0))
            if item.comprehension is not None:
                self.feedback[item.id] = feedback = controls.make_label(role="strong", wrap=True)
                feedback.setContentsMargins(MARK_WIDTH, 0, 0, theme.SPACE_S)
                feedback.hide()
                self._column.addWidget(feedback)
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

    def __init__(self, markdown: str, pictures: Pictures, sounds: TextSound) -> None:
        super().__init__(pictures, sounds)
        self.show_text(markdown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.setMinimumHeight(self.height_for(self.width()))
        super().resizeEvent(event)


def _table_of(item: Item) -> tuple[object, ...] | None:
    """Equal for statements of one table; None for an item that stands by itself."""
    if not isinstance(item, Statement):
        return None
    return (item.points, item.first, item.look, tuple(item.anchors().items()))


def view_of(item: Item, words: Strings, palette: theme.Palette) -> ItemView:
    view: ItemView = load(ITEM_KINDS[kind_of(item)].view)(item, words, palette)
    return view
