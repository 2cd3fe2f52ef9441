"""The screens of reconstruction: dials on the left, own picture and target on the right; the
tutorial, whose last page has pictures and their dials to play with; and the calibration, with two
buttons in place of the target mark (paper 000, A.2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from labapp.models.representations.space import LatentSpace
from labapp.record.events.commands import Command, Next, Skip
from labapp.tasks.reconstruction.events import (
    EditLabel,
    MarkAlignment,
    MoveDial,
    MoveTutorialDial,
    SelectDial,
    ToggleOverlay,
)
from labapp.tasks.reconstruction.machine import (
    LABEL_LIMIT,
    ReconstructionTask,
    ShownPictures,
    StageState,
    Trial,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialBox, TutorialPart
from labapp.tasks.reconstruction.screen.dials import DialPanel
from labapp.ui import theme
from labapp.ui.participant.screen import DialControl, PagedScreen, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.participant.window import MoveGate
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import Scale
from labapp.ui.widgets.controls import Button, Picture, PlainLabel
from labapp.ui.widgets.dial import DialSlider, Foot, Head, SeriesView, moves_dial, view_of
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.painting import (
    KEYBOARD,
    Array,
    brush,
    color,
    equip,
    metrics,
    pen,
    smooth,
    write_with,
)
from labapp.ui.widgets.segments import ImageView, StimulusView, Views

DIALS_LEAST, NAMED_DIALS_LEAST = 344, 384
"""So much width is kept for the dials (with names to edit: the second); the pictures take what is
left of the content column."""


class ReconstructionScreen(Screen):
    """One stage (or the practice); questions come and go in it without anything being rebuilt."""

    def __init__(self, session: SessionView, part: ReconstructionPart) -> None:
        super().__init__(session, part)
        pictures = session.pictures
        assert pictures is not None  # the window makes a screen when they are there
        self.part = part
        self._space = LatentSpace.from_json(part.dimensions)
        words, palette = session.words, session.palette
        task = session.task
        assert isinstance(task, ReconstructionTask)
        self._task = task
        self._stage = stage_words(session, part)
        self.dials = DialPanel(
            self._space,
            lambda number: words("dial", number=number),
            palette,
            editable=part.labels_editable,
            improved=session.improved,
            text_of=words.number,
            too_long=words("text_limit", n=LABEL_LIMIT),
        )
        self.gate = MoveGate(
            lambda *moved: self.send(MoveDial(*moved)), lambda: self.pictures.front.update(), self
        )
        self.pictures = PicturePanel(
            part,
            pictures,
            words,
            palette,
            improved=session.improved,
            frame_painted=self.gate.frame_painted,
        )
        self.bar = AlignmentBar(words("alignment"), words("aligned"), palette, words.number)
        self.beneath = self.make_beneath()
        self._question: tuple[int, int] | None = None
        self._solved = self._offered = False
        self._labels: tuple[str | None, ...] = ()
        self._lay_out()
        self.dials.moved.connect(self.gate.ask)
        self.dials.selected.connect(self._select)
        self.dials.renamed.connect(lambda i, text: self.send(EditLabel(i, text)))
        self.pictures.toggle.changed.connect(self._toggle)
        self.pictures.toggle.selected.connect(self._back_to_dial)

    def make_beneath(self) -> QWidget | None:
        """Finish the bar; what stands beneath it, of a height that never changes."""
        words, alignment = self.session.words, self.part.target_alignment
        target = words.number(f"{alignment * 100:g}")
        self.bar.set_target(alignment, words("target_mark", target=target))
        return None

    def title(self) -> str:
        return self.session.words("task_title")

    def instruction(self) -> str:
        """What is to be done, in a sentence or two."""
        words, part = self.session.words, self.part
        seconds = words.number(f"{part.skip_after_s:g}")
        return words(f"task_text_skip_{part.skip}", skip_after_s=seconds)

    def may_go_on(self, trial: Trial) -> bool:
        return trial.solved

    def _lay_out(self) -> None:
        words, part = self.session.words, self.part
        title = controls.make_label(self.title(), "title", wrap=True)
        task = self.instruction()
        if part.think_aloud:
            task = " ".join([task, words("task_text_think_aloud")])
        text = controls.make_label(task, wrap=True)
        # As published nothing is said of keys: they are those of any slider on a web page.
        hints = [words("dial_help")] if self.session.improved else []
        if part.labels_editable:
            hints.append(words("rename_help"))
        help_text = controls.make_label(" ".join(hints), "secondary", wrap=True)
        left = controls.fill(controls.column(None, 0), title, controls.Gap(theme.SPACE_S), text)
        controls.fill(
            left, controls.Gap(theme.SPACE_M), self.dials, controls.Gap(theme.SPACE_S), help_text, 1
        )
        self._right = QWidget()
        right = controls.fill(controls.column(self._right, theme.SPACE_M), self.pictures, self.bar)
        if self.beneath is not None:
            right.addWidget(self.beneath)
        right.addStretch(1)
        row = controls.fill(controls.row(None, theme.SPACE_XL), (left, 1), self._right)
        controls.fill(self.column(), 1, row, 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        content = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        least = NAMED_DIALS_LEAST if self.part.labels_editable else DIALS_LEAST
        wide = (content - least - theme.SPACE_XL - GAP) / 2
        around = self.pictures.around() + self.bar.sizeHint().height() + theme.SPACE_M
        if self.beneath is not None:
            around += self.beneath.sizeHint().height() + theme.SPACE_M
        high = self.height() - 2 * theme.SPACE_XL - around
        needed = 0 if self.beneath is None else self.beneath.minimumSizeHint().width()
        self._right.setFixedWidth(max(needed, round(self.pictures.fit(min(wide, high)))))

    @property
    def trial(self) -> Trial | None:
        state = self.state
        return state.trial if isinstance(state, StageState) else None

    def _select(self, dimension: int, device: str) -> None:
        self.gate.flush()
        self.send(SelectDial(dimension, device))

    def _toggle(self, index: int) -> None:
        self.gate.flush()
        self.send(ToggleOverlay(bool(index)))

    def _back_to_dial(self, device: str) -> None:
        """A click on a view, also the one that is shown, leaves the arrow keys with the dial."""
        place = self.key_place
        if device != KEYBOARD and place is not None and place.isEnabled():
            place.setFocus(Qt.FocusReason.OtherFocusReason)

    def dial_controls(self) -> Mapping[int, DialControl]:
        rows = enumerate(self.dials.rows)
        return {i: DialControl(row.control, row.control.handle_x) for i, row in rows}

    def pending_commands(self) -> Sequence[Command]:
        names = [(i, row.name.uncommitted_text) for i, row in enumerate(self.dials.rows)]
        return [
            *(MoveDial(*waiting) for waiting in self.gate.waiting()),
            *(EditLabel(i, name) for i, name in names if name is not None),
        ]

    def render_state(self) -> None:
        trial, pictures = self.trial, self.session.pictures
        if trial is None or pictures is None:
            return
        if self._question != (trial.number, trial.attempt):
            self._question = (trial.number, trial.attempt)
            self.gate.clear()
            self.dials.set_starts(trial.z_start if self.session.improved else None)
            self.wish = "content"
        if trial.solved:
            self.gate.clear()
        for index, value in enumerate(trial.z):
            if not self.gate.waits(index):
                self.dials.show_value(index, value)
        self.pictures.show_overlay(trial.overlay)
        self.pictures.show_pictures(pictures)
        self.bar.show_alignment(trial.alignment, trial.solved)
        self.dials.set_locked(not trial.running)
        if self.state.labels != self._labels:
            self._labels = self.state.labels
            self.dials.show_names(self._labels)
        if trial.solved != self._solved:
            self._solved = trial.solved
            if trial.solved:
                self.wish = "right"
        offered = self._may_skip(trial)
        if offered and not self._offered and self.part.skip == "after":
            self.tell(self.session.words("skip"))  # it comes up far from the focus
        self._offered = offered

    def _may_skip(self, trial: Trial) -> bool:
        return trial.running and self._task.may_skip(trial)

    def head(self) -> Head:
        trial, of = self.trial, self.part.trials
        number = trial.number if trial else 1
        question = self.session.words("question_of", number=number, of=of)
        return Head(self._stage, question, number, of)

    def foot(self) -> Foot:
        trial = self.trial
        offered = trial is not None and self._may_skip(trial)
        return Foot(
            left=self.session.words("skip") if offered else "",
            leaves=True,
            right=self.session.words("next_question"),
            enabled=trial is not None and self.may_go_on(trial),
        )

    def left(self) -> None:
        self.gate.flush()
        self.send(Skip())

    def right(self) -> None:
        self.send(Next())

    key_places = (DialSlider, Scale)

    def announces(self, event: QKeyEvent) -> bool:
        return moves_dial(event)

    def entrance(self) -> QWidget:
        return self.dials.rows[0].control


GAP = theme.SPACE_M
CAPTION_HEIGHT = 28


class Swatch(QWidget):
    """The line or patch beside a word of the legend."""

    def __init__(self, mark: str, *, kind: str) -> None:
        super().__init__()
        self._mark, self._kind = mark, kind
        self.setFixedSize(26 if kind != "patch" else 14, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._kind == "patch":
            painter.fillRect(self.rect(), brush(self._mark))
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(pen(self._mark, 2.4, dashed=self._kind == "dashed"))
            painter.drawLine(0, 7, self.width(), 7)
        painter.end()


class PicturePanel(QWidget):
    """frame_painted: called at the end of the paintEvent of the view in front."""

    def __init__(
        self,
        part: ReconstructionPart,
        pictures: ShownPictures,
        words: Strings,
        palette: theme.Palette,
        *,
        improved: bool,
        frame_painted: Callable[[], None],
    ) -> None:
        super().__init__()
        self.overlay = False
        self._shown: ShownPictures | None = None
        self._target: Array | None = None

        def view(key: str) -> ImageView | SeriesView:
            return view_of(
                part.display,
                pictures.own,
                palette,
                words(key),
                improved=improved,
                chart=part.chart,
                band=part.tolerant,
            )

        self.own, self.target, self.both = view("your_picture"), view("target"), view("overlay")
        self.own.painted = self.both.painted = frame_painted
        self.toggle = Views(
            (words("side_by_side"), words("overlay")), palette, words("your_picture")
        )
        pair, single = QWidget(), QWidget()
        row = controls.row(pair, GAP)
        for picture, key in ((self.own, "your_picture"), (self.target, "target")):
            caption = PlainLabel(words(key))
            caption.setAlignment(Qt.AlignmentFlag.AlignCenter)
            row.addLayout(_add_caption(picture, caption))
        middle = QHBoxLayout(single)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addStretch(1)
        controls.fill(middle, _add_caption(self.both, _legend(part, words, improved=improved)), 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(pair)
        self._stack.addWidget(single)
        column = controls.column(self, theme.SPACE_S)
        controls.fill(column, self._stack, (self.toggle, Qt.AlignmentFlag.AlignHCenter))

    @property
    def front(self) -> StimulusView:
        """The view that shows the own picture now."""
        return self.both if self.overlay else self.own

    def fit(self, side: float) -> float:
        """Give every picture at most `side` logical pixels; returns the panel's width, in which
        words and buttons have their room though the pictures may be smaller."""
        taken = self.own.side_for(side - 2)
        for view in (self.own, self.target, self.both):
            view.set_side(taken)
        pages = [self._stack.widget(place) for place in range(self._stack.count())]
        words = [page.minimumSizeHint().width() for page in pages if page is not None]
        width = max(2 * self.own.width() + GAP, self.toggle.sizeHint().width(), *words)
        self._stack.setFixedSize(width, self.own.height() + CAPTION_HEIGHT)
        return width

    def around(self) -> int:
        """Height of everything but the picture."""
        return CAPTION_HEIGHT + theme.SPACE_S + self.toggle.sizeHint().height() + 2

    def show_pictures(self, pictures: ShownPictures) -> None:
        if pictures is not self._shown:
            self._shown = pictures
            self._draw()

    def show_overlay(self, on: bool) -> None:
        self.toggle.show_index(int(on))
        if on != self.overlay:
            self.overlay = on
            self._draw()
            self._stack.setCurrentIndex(int(on))

    def _draw(self) -> None:
        """Bring the views in front up to date, and only them."""
        if self._shown is None:
            return
        if self.overlay:
            self.both.show_overlay(self._shown.own, self._shown.target)
            return
        self.own.show_picture(self._shown.own)
        if self._shown.target is not self._target:
            self._target = self._shown.target
            if isinstance(self.target, SeriesView):
                self.target.show_target(self._target)
            else:
                self.target.show_picture(self._target)


def _add_caption(view: QWidget, caption: QWidget) -> QVBoxLayout:
    column = controls.fill(controls.column(None, 0), (view, Qt.AlignmentFlag.AlignHCenter))
    caption.setFixedHeight(CAPTION_HEIGHT)
    column.addWidget(caption)
    return column


def _legend(part: ReconstructionPart, words: Strings, *, improved: bool) -> QWidget:
    """What is what in the overlay, by mark and word."""
    if part.display == "series":
        marks = [
            ("overlay_legend_yours", theme.SERIES_OWN, "line"),
            ("overlay_legend_target", theme.SERIES_TARGET, "dashed" if improved else "line"),
        ]
        if part.tolerant:
            marks.append(("overlay_legend_band", theme.SERIES_BAND, "patch"))
    elif improved:
        # What two_hues gives for full white on black.
        marks = [
            ("overlay_legend_yours", "#0080FF", "patch"),
            ("overlay_legend_target", "#FF7F00", "patch"),
        ]
    else:
        marks = []
    legend = QWidget()
    row = controls.fill(controls.row(legend, theme.SPACE_S), 1)
    for key, mark, kind in marks:
        row.addWidget(Swatch(mark, kind=kind))
        words_label = controls.make_label(words(key), "secondary")
        controls.fill(row, words_label, controls.Gap(theme.SPACE_S))
    row.addStretch(1)
    return legend


BAR_H = 14.0
HEAD_H = 36.0
FOOT_H = 20.0
MARK_OUT = 5.0
CHECK_R = 11.0


class AlignmentBar(Picture):
    """Alignment in 0..1, shown in per cent with one decimal. Solved, it turns good, with a check
    mark and a word beside the colour. number: writes a number as the language does."""

    def __init__(
        self,
        title: str,
        solved_text: str,
        palette: theme.Palette,
        number: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        self._title = title
        self._solved_text = solved_text
        self._colors = palette
        self._target: float | None = None
        self._target_text = ""
        self._alignment = 0.0
        self._number = number
        self.percent = number("0.0 %")
        self.solved = False
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)

    def set_target(self, target: float, text: str) -> None:
        """The mark, at a share of the bar, and its words."""
        self._target, self._target_text = target, text
        self.update()

    def show_alignment(self, alignment: float, solved: bool) -> None:
        if alignment == self._alignment and solved == self.solved:
            return
        self._alignment, self.solved = alignment, solved
        self.percent = self._number(f"{alignment * 100:.1f} %")
        text = self._solved_text if solved else self._target_text
        self.setAccessibleDescription(f"{self.percent}, {text}" if text else self.percent)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, round(HEAD_H + BAR_H + 2 * MARK_OUT + FOOT_H))

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        width = float(self.width())
        painter = smooth(self)
        painter.fillRect(self.rect(), brush(p.ground))
        head = QRectF(0, 0, width, HEAD_H)
        low_left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        low_right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
        strong = p.good if self.solved else p.ink
        write_with(painter, color(p.ink))
        painter.drawText(head.adjusted(0, 0, 0, -4), low_left, self._title)
        write_with(painter, color(strong), theme.NUMBER_PX, True)
        painter.drawText(head, low_right, self.percent)
        if self.solved:
            self._paint_solved(painter, head)
        bar = QRectF(0, HEAD_H + MARK_OUT, width, BAR_H)
        equip(painter, Qt.PenStyle.NoPen, brush(p.track))
        painter.drawRoundedRect(bar, BAR_H / 2, BAR_H / 2)
        filled = width * min(max(self._alignment, 0.0), 1.0)
        if filled >= 1:
            painter.setBrush(brush(p.good if self.solved else p.accent))
            part = QRectF(0, bar.top(), max(filled, BAR_H), BAR_H)
            painter.drawRoundedRect(part, BAR_H / 2, BAR_H / 2)
        if self._target is not None:
            self._paint_target(painter, bar, self._target)
        painter.end()

    def _paint_target(self, painter: QPainter, bar: QRectF, target: float) -> None:
        p, width = self._colors, bar.width()
        x = min(width * target, width - 1)
        painter.setPen(pen(p.ink, 2.0))
        painter.drawLine(
            QPointF(x, bar.top() - MARK_OUT + 1), QPointF(x, bar.bottom() + MARK_OUT - 1)
        )
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        half = metrics(theme.SECONDARY_PX).horizontalAdvance(self._target_text) / 2 + 1
        middle = min(max(x, half), width - half)
        foot = QRectF(middle - half, bar.bottom() + MARK_OUT, 2 * half, FOOT_H)
        painter.drawText(foot, Qt.AlignmentFlag.AlignCenter, self._target_text)

    def _paint_solved(self, painter: QPainter, head: QRectF) -> None:
        """A check mark in a disc, and the word, left of the number."""
        p = self._colors
        number = metrics(theme.NUMBER_PX, True).horizontalAdvance(self.percent)
        word = metrics(theme.BODY_PX, True).horizontalAdvance(self._solved_text)
        right = head.right() - number - theme.SPACE_L
        write_with(painter, color(p.good), theme.BODY_PX, True)
        box = QRectF(right - word, 0, word + 1, HEAD_H - 4)
        painter.drawText(
            box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, self._solved_text
        )
        centre = QPointF(right - word - theme.SPACE_S - CHECK_R, HEAD_H - 4 - CHECK_R)
        equip(painter, Qt.PenStyle.NoPen, brush(p.good))
        painter.drawEllipse(centre, CHECK_R, CHECK_R)
        painter.setPen(pen(p.on_accent, 2.4))
        x, y = centre.x(), centre.y()
        painter.drawPolyline([QPointF(x - 5, y), QPointF(x - 1.5, y + 4), QPointF(x + 5, y - 4)])


COLUMNS = 2
LARGEST_SIDE = 224.0


class Box(QFrame):
    """A picture with live dials."""

    def __init__(
        self,
        session: SessionView,
        number: int,
        box: TutorialBox,
        picture: Array,
        send: Callable[[Command], None],
    ) -> None:
        super().__init__()
        self.setProperty("role", "box")
        words = session.words
        self.view = view_of(
            box.display,
            picture,
            session.palette,
            words("your_picture"),
            improved=session.improved,
            chart=box.chart,
        )
        self.dials = DialPanel(
            LatentSpace.from_json(box.dimensions),
            lambda n: words("dial", number=n),
            session.palette,
            editable=False,
            improved=session.improved,
            text_of=words.number,
        )
        self.gate = MoveGate(
            lambda i, value, _device: send(MoveTutorialDial(number, i, value)),
            lambda: self.view.update(),
            self,
        )
        self.view.painted = self.gate.frame_painted
        self.dials.moved.connect(self.gate.ask)
        row = controls.row(self, theme.SPACE_L)
        controls.fill(row, (self.view, Qt.AlignmentFlag.AlignVCenter), (self.dials, 1))
        self._picture: Array | None = None

    def show_box(self, dials: tuple[float, ...], picture: Array) -> None:
        for index, value in enumerate(dials):
            if not self.gate.waits(index):
                self.dials.show_value(index, value)
        if picture is not self._picture:
            self._picture = picture
            self.view.show_picture(picture)


class TutorialScreen(PagedScreen):
    def __init__(self, session: SessionView, part: TutorialPart) -> None:
        super().__init__(session, part, session.pages(part.document, {}))
        self.boxes = [
            Box(session, number, box, picture, self.send)
            for number, (box, picture) in enumerate(zip(part.boxes, session.pictures, strict=True))
        ]
        self._play = QWidget()
        grid = QGridLayout(self._play)
        grid.setContentsMargins(0, theme.SPACE_L, 0, 0)
        grid.setHorizontalSpacing(theme.SPACE_XXXL)
        grid.setVerticalSpacing(theme.SPACE_XL)
        for number, box in enumerate(self.boxes):
            grid.addWidget(box, number // COLUMNS, number % COLUMNS)
        self._column = controls.fill(self.column(), 1, self.text, self._play, 2)

    def _fit(self) -> None:
        rows = -(-len(self.boxes) // COLUMNS)
        room = self.height() - 2 * theme.SPACE_XL - self.text.sizeHint().height()
        side = (room - theme.SPACE_L - theme.SPACE_XL * (rows - 1)) / rows - 2
        for box in self.boxes:
            box.view.set_side(box.view.side_for(min(side, LARGEST_SIDE)))

    def render_state(self) -> None:
        super().render_state()
        pictures = self.session.pictures
        for box, dials, picture in zip(self.boxes, self.state.dials, pictures, strict=True):
            box.show_box(dials, picture)

    def page_turned(self) -> None:
        self._play.setVisible(self.on_last_page)
        self.set_column_width(theme.CONTENT_WIDTH if self.on_last_page else text_width())
        self._fit()

    key_places = (DialSlider, Scale)

    def announces(self, event: QKeyEvent) -> bool:
        return moves_dial(event)

    def entrance(self) -> QWidget | None:
        return self.boxes[0].dials.rows[0].control if self.on_last_page else None


class MarkRow(QWidget):
    """Buttons that mark something, as often as one likes, over a line that says what was marked,
    whose room is kept while it is empty. marked(name): a button or its key was pressed. buttons: by
    name, the button's words and its key, which is the whole page's (`take_key`)."""

    marked = Signal(str)

    def __init__(self, buttons: Mapping[str, tuple[str, str]]) -> None:
        super().__init__()
        self.buttons: dict[str, Button] = {}
        self._keys: dict[str, Callable[[], None]] = {}
        row = controls.row(None, theme.SPACE_M)
        for name, (words, key) in buttons.items():
            button = Button(words)
            mark = partial(self.marked.emit, name)
            button.clicked.connect(mark)
            self._keys[key.upper()] = mark
            self.buttons[name] = button
            row.addWidget(button, 1)
        self.line = controls.make_label(" ", "secondary")
        self.line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        controls.fill(controls.column(self, theme.SPACE_S), row, self.line)

    def take_key(self, event: QKeyEvent) -> bool:
        """Mark something by its key; False for any other key."""
        mark = self._keys.get(event.text().upper())
        if mark is None or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            return False
        if not event.isAutoRepeat():
            mark()
        return True

    def say(self, text: str) -> None:
        """Show what was marked and what is missing, on one line."""
        if text != self.line.text():
            self.line.setText(text)


NAMES = {"far": ("mark_far", "mark_far_key"), "close": ("mark_close", "mark_close_key")}
"""Words and key of each mark."""


class CalibrationScreen(ReconstructionScreen):
    """Nothing locks: the participant goes on, or marks again, when both were marked."""

    marks: MarkRow

    def make_beneath(self) -> QWidget:
        words = self.session.words
        buttons = {}
        for mark, (name, key) in NAMES.items():
            letter = words(key)
            buttons[mark] = (words("mark_button", mark=words(name), letter=letter), letter)
        self.marks = MarkRow(buttons)
        self.marks.marked.connect(self._mark)
        return self.marks

    def title(self) -> str:
        return self.session.words("mark_title")

    def instruction(self) -> str:
        words, part = self.session.words, self.part
        texts = [words("mark_text")]
        if part.skip == "after":
            seconds = words.number(f"{part.skip_after_s:g}")
            texts.append(words("mark_text_skip_after", skip_after_s=seconds))
        elif part.skip == "always":
            texts.append(words("mark_text_skip_always"))
        return " ".join(texts)

    def may_go_on(self, trial: Trial) -> bool:
        return not trial.unmarked

    def render_state(self) -> None:
        super().render_state()
        if (trial := self.trial) is not None:
            self.marks.say(self._describe_marks(trial))

    def _describe_marks(self, trial: Trial) -> str:
        words = self.session.words
        if not trial.marks:
            return words("mark_first")
        last = trial.marks[-1].mark
        count = sum(mark.mark == last for mark in trial.marks)
        made = words("mark_made", mark=words(NAMES[last][0]), count=count)
        if not trial.unmarked:
            return " ".join([made, words("mark_enough")])
        missing = words(NAMES[trial.unmarked[0]][0])
        return " ".join([made, words("mark_missing", mark=missing)])

    def take_key(self, event: QKeyEvent) -> bool:
        return self.marks.take_key(event) or super().take_key(event)

    def _mark(self, mark: str) -> None:
        self.gate.flush()
        self.send(MarkAlignment(mark))

    def right(self) -> None:
        self.gate.flush()
        super().right()
