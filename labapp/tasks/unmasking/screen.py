"""The screen of the unmasking task: a masked picture, a question and its buttons (paper 004,
section 3.5 and figure 2).

What is measured on it, when a picture appears and when it is answered, is taken from the window
system (`labapp.ui.presentation`). So that a picture appears when it is due, the pictures of the
present sequence and of the next one are read and scaled while one is looked at.

A response counts from the press, of a button as of a key, not from the release: the decision is
made then, and how long a finger stays down differs between mouse and keyboard by about 100 ms.
jsPsych, with which the published study was run, times a key from its press too, but a button from
the click, which is its release: its times of buttons are longer by that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QSizePolicy, QWidget

from labapp.base.clock import NS
from labapp.tasks.unmasking.events import Respond, StimulusHidden, StimulusPainted
from labapp.tasks.unmasking.plan import (
    ANSWERED,
    DONT_KNOW,
    StimulusTrial,
    UnmaskingPart,
    UnmaskingState,
)
from labapp.ui import presentation, theme
from labapp.ui.fitting import get_growth
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.presentation import DueTimer, Presenter, refresh_ms
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import COMMANDS, Group
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.dial import Head
from labapp.ui.widgets.painting import (
    brush,
    centre_on_pixels,
    color,
    device_of,
    draw_focus_ring,
    equip,
    metrics,
    pen,
    smooth,
    write_with,
)
from labapp.ui.widgets.segments import magnification, picture_side

HEIGHT = 56
CAP_HEIGHT = 24
LEAST_WIDTH = 180


@dataclass(frozen=True, slots=True)
class Response:
    """A button. cap: what the key is called, as it stands on the button."""

    text: str
    cap: str
    key: Qt.Key


@dataclass(frozen=True, slots=True)
class Press:
    """A button was pressed. place: of the button, from 0; device: mouse, touch or keyboard;
    stamp_ms: the event's own; arrival_ns: of `time.perf_counter_ns`, when it came here."""

    place: int
    device: str
    stamp_ms: int
    arrival_ns: int


class ResponseButton(QAbstractButton):
    """answered(device, stamp_ms, arrival_ns). It looks the same whether a press counts or not, and
    says nothing of whether an answer is right."""

    answered = Signal(str, object, object)

    def __init__(self, response: Response, palette: theme.Palette) -> None:
        super().__init__()
        self.response = response
        self._colors = palette
        self._over = False
        # Not by a click: a ring left on the last answer would suggest it for the next.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{response.text} ({response.cap})")
        # Not by a hand, whose press counts, but by a screen reader, which has no stamp.
        self.clicked.connect(lambda: self.answered.emit("keyboard", 0, time.perf_counter_ns()))

    @property
    def needed_width(self) -> int:
        """Logical pixels that its words and its key need."""
        text = metrics().horizontalAdvance(self.response.text)
        return round(text + self._cap_width + theme.SPACE_S + 2 * theme.SPACE_L) + 2

    @property
    def _cap_width(self) -> float:
        wide = metrics(theme.SECONDARY_PX).horizontalAdvance(self.response.cap)
        return float(max(CAP_HEIGHT, wide + 2 * theme.SPACE_S))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = time.perf_counter_ns()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self.answered.emit(device_of(event), event.timestamp(), at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Who gives the same answer twice in quick succession answers twice."""
        self.mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # it is for the row

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._over = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._over = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = smooth(self)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        equip(painter, pen(p.accent if self._over else p.secondary), brush(p.card))
        painter.drawRoundedRect(box, theme.RADIUS, theme.RADIUS)
        text = metrics().horizontalAdvance(self.response.text)
        left = (self.width() - text - theme.SPACE_S - self._cap_width) / 2
        words = QRectF(left, 0, text + 2, self.height())
        write_with(painter, color(p.ink))
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(words, middle, self.response.text)
        corner = QPointF(left + text + theme.SPACE_S, (self.height() - CAP_HEIGHT) / 2)
        cap = QRectF(corner.x(), corner.y(), self._cap_width, CAP_HEIGHT)
        equip(painter, pen(p.hairline), brush(p.ground))
        painter.drawRoundedRect(cap, theme.SPACE_XS, theme.SPACE_XS)
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self.response.cap)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)
        painter.end()


class ResponseRow(Group):
    """pressed(Press): a button, or its key, was pressed. All buttons are equally wide; those that
    one row of the content has no room for stand in further rows, as many in each.

    The row as a whole has the focus at first, so that no answer stands out. A button's own key
    answers wherever in the row the focus is; Enter presses the button that Tab led to, and so does
    Space, unless it is the key of a button: a key that is printed on one button must not press
    another.
    """

    pressed = Signal(object)

    def __init__(self, responses: Sequence[Response], palette: theme.Palette, name: str) -> None:
        super().__init__()
        self._colors = palette
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.buttons = [ResponseButton(response, palette) for response in responses]
        grid = QGridLayout(self)
        grid.setContentsMargins(*(theme.SPACE_XS,) * 4)
        grid.setSpacing(theme.SPACE_M)
        width = max(LEAST_WIDTH, *(button.needed_width for button in self.buttons))
        # So many in a row that all rows have room and none is much shorter than the others.
        room = theme.CONTENT_WIDTH - 2 * theme.SPACE_XS + theme.SPACE_M
        rows = ceil(len(self.buttons) / max(1, room // (width + theme.SPACE_M)))
        columns = ceil(len(self.buttons) / rows)
        for place, button in enumerate(self.buttons):
            button.setFixedSize(QSize(width, HEIGHT))
            button.answered.connect(
                lambda device, stamp, at, place=place: self.pressed.emit(
                    Press(place, device, stamp, at)
                )
            )
            grid.addWidget(button, *divmod(place, columns))
        self._places = {button.response.key: place for place, button in enumerate(self.buttons)}

    def has_key(self, key: Qt.Key) -> bool:
        """Whether a key is printed on one of the buttons."""
        return key in self._places

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Of the row, and what its buttons leave to it."""
        at = time.perf_counter_ns()
        place = None if event.modifiers() & COMMANDS else self._place(Qt.Key(event.key()))
        if place is None:
            event.ignore()
        elif not event.isAutoRepeat():
            self.pressed.emit(Press(place, "keyboard", event.timestamp(), at))

    def _place(self, key: Qt.Key) -> int | None:
        if key in self._places:
            return self._places[key]
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            focused = (place for place, button in enumerate(self.buttons) if button.hasFocus())
            return next(focused, None)
        return None

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus():
            painter = smooth(self)
            radius = theme.RADIUS + theme.SPACE_XS
            draw_focus_ring(painter, QRectF(self.rect()), radius, self._colors.accent)
            painter.end()


LEAST_ROOM = 96
"""Logical pixels that the picture keeps in the smallest window."""
KEY_WORDS = {
    "Space": "unmasking_key_space",
    "Left": "unmasking_key_left",
    "Right": "unmasking_key_right",
    "Up": "unmasking_key_up",
    "Down": "unmasking_key_down",
}
"""What keys are called that print nothing, by Qt's names for them."""


class UnmaskingScreen(Screen):
    """One stimulus after the other, without anything moving between them."""

    def __init__(self, session: SessionView, part: UnmaskingPart) -> None:
        super().__init__(session, part)
        assert session.images is not None, "a session that shows pictures keeps them"
        self.images = session.images
        self.part = part
        words = session.words
        example = part.role == "practice"
        several = words("stage_of", number=part.number, of=part.of) if part.of > 1 else ""
        self._stage = words("unmasking_example") if example else several
        self._following: tuple[int, int] | None = None
        self._away = False
        self._too_small = False
        self._settling = False
        self.field = StimulusField(part.unmasked.level, session.palette, words("unmasking_picture"))
        if not session.read_only:  # pictures are shown when they are due, and answers timed
            self.presenter = Presenter(self.field)
            self.field.painted = self.presenter.painted
            self.field.rescaled.connect(self._on_rescale)
            self.due = DueTimer(self)
            self.clock = presentation.of_this_machine()
            self._idle = QTimer(self)
            self._idle.setInterval(0)
            self._idle.timeout.connect(self._prepare_one)
        question = part.question or words("unmasking_question")
        self.question = controls.make_label(question, "title", wrap=True)
        self.question.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.responses = ResponseRow(list(self._buttons()), session.palette, question)
        self.responses.pressed.connect(self._on_press)
        column = self._column = self.column()
        column.addStretch(1)
        column.addWidget(self.field, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(theme.SPACE_L)
        controls.fill(column, self.question, controls.Gap(theme.SPACE_S))
        controls.fill(column, (self.responses, Qt.AlignmentFlag.AlignHCenter), 1)

    def _buttons(self) -> Iterator[Response]:
        words = self.session.words
        for button in self.part.buttons:
            text = button.name or words("unmasking_dont_know")
            cap = words(KEY_WORDS[button.key]) if button.key in KEY_WORDS else button.key
            yield Response(text, cap, Qt.Key[f"Key_{button.key}"])

    @property
    def trial(self) -> StimulusTrial | None:
        state = self.state
        return state.trial if isinstance(state, UnmaskingState) else None

    def render_state(self) -> None:
        trial = self.trial
        if self.session.read_only:
            self._draw(trial)
        elif trial is None or trial.interrupted or trial.outcome not in (None, ANSWERED):
            self._take_off()
        elif trial.outcome == ANSWERED:
            # Without a blank, one picture is replaced by the next.
            if self.part.blank_ms:
                self._take_off()
        elif trial.due:
            self._follow(trial)
        elif self.field.shown is None and self._there() and not self._away:
            # Something lay over it, such as the wait for a disk that does not answer.
            self.send(StimulusHidden())

    def _draw(self, trial: StimulusTrial | None) -> None:
        """Show what the state says is seen: a picture from when it was painted until it is taken
        off. Where no blank comes between two, it is taken off by the next one."""
        replaced = trial is not None and trial.outcome == ANSWERED and not self.part.blank_ms
        if trial is None or not (trial.open or replaced):
            self.field.clear()
            return
        name = self._picture(trial)
        if name != self.field.shown or not self.field.ready(name):
            self.field.keep(())
            self._show(name)
            self.field.update()

    def _follow(self, trial: StimulusTrial) -> None:
        followed = trial.number, trial.attempt
        if followed == self._following or self._away or not self._there():
            return
        self._following = followed
        self._idle.stop()
        self.presenter.cancel()
        clock = self.session.clock
        left_ns = round(clock.real_seconds(trial.due_ns - clock.now_ns()) * NS)
        if left_ns > 0:
            self.field.clear()
        at = time.perf_counter_ns() + left_ns
        self._ready(self._picture(trial))
        self.due.call(at, self._bring)

    def _there(self) -> bool:
        """Whether a picture could be seen on this screen now."""
        return self.isVisible() and not self._settling and self.field.side > 0

    def _bring(self) -> None:
        trial = self.trial
        if trial is None or not trial.due:
            return
        name = self._picture(trial)
        self._ready(name)
        self.presenter.present(lambda: self._show(name), self._report_painted)

    def _show(self, name: str) -> None:
        # Perhaps a frame later: what was ready may have had another size.
        self._ready(name)
        self.field.show_picture(name)

    def _report_painted(self, perf_ns: int, shown_by: str) -> None:
        at = self.session.clock.from_perf_ns(perf_ns)
        side, refresh = self.field.picture_px, refresh_ms(self.field)
        self.send(StimulusPainted(at, shown_by, refresh, side, self._too_small))
        self._idle.start()

    def _take_off(self) -> None:
        self._following = None
        self.due.stop()
        self.presenter.cancel()
        self.field.clear()

    def _on_press(self, press: Press) -> None:
        timed = self.clock.of(press.stamp_ms, press.arrival_ns)
        if self._away:
            return
        place = press.place + 1
        response = DONT_KNOW if place == len(self.part.buttons) else place
        at = self.session.clock.from_perf_ns(timed.perf_ns)
        self.send(Respond(response, press.device, at, timed.timed_by))

    def left_alone(self, away: bool) -> None:
        """A picture that is not looked at is taken away, and shown again from its beginning."""
        if away == self._away:
            return
        self._away = away
        if away:
            self._take_off()
            self.send(StimulusHidden())
        else:
            self.render_state()

    def _picture(self, trial: StimulusTrial) -> str:
        return self.part.stimulus(trial.sequence, trial.mask)[1].picture

    def _list_upcoming(self) -> Iterable[str]:
        """The pictures from the present one to the end of the next sequence, as they come; of an
        adaptive stage those that may come next, whatever is answered."""
        trial, state = self.trial, self.state
        if trial is None:
            return ()
        if self.part.adaptive is not None and state.tracking is not None:
            ahead = self.part.adaptive.ahead(state.tracking)
            names = [self.part.stimulus(next_.item, next_.level)[1].picture for next_ in ahead]
            return dict.fromkeys([self._picture(trial), *names])
        coming = self.part.sequences[trial.sequence - 1 : trial.sequence + 1]
        names = [mask.picture for each in coming for mask in each.masks]
        return dict.fromkeys(names[trial.mask - 1 :])

    def _ready(self, name: str) -> None:
        if not self.field.ready(name):
            self.field.prepare(name, self.images.image(name))

    def _prepare_one(self) -> None:
        """Make one more picture ready, while nothing is due."""
        wanted = self._list_upcoming()
        missing = next((name for name in wanted if not self.field.ready(name)), None)
        if missing is None or not self._there():
            self.field.keep(set(wanted))
            self._idle.stop()
            return
        self._ready(missing)

    def _on_rescale(self) -> None:
        """What was ready had another size."""
        shown, trial = self.field.shown, self.trial
        if shown is not None:
            self._show(shown)
        if trial is not None and trial.open:
            self._idle.start()
        else:
            self.render_state()

    def head(self) -> Head:
        number = self.part.first + (self.trial.number if self.trial is not None else 1)
        words, of = self.session.words, self.part.total
        if self.part.adaptive is not None:  # nobody knows how many there will be
            return Head(self._stage, words("unmasking_picture_number", number=number))
        return Head(self._stage, words("unmasking_picture_of", number=number, of=of))

    key_places = (ResponseRow,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and self.responses.has_key(Qt.Key(event.key()))

    def entrance(self) -> QWidget:
        return self.responses

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.session.read_only:
            return
        # The layout comes after this event.
        self._settling = True
        self.due.call(time.perf_counter_ns() + 1, self._finish_settling)

    def _finish_settling(self) -> None:
        self._settling = False
        self.render_state()

    def hideEvent(self, event: QHideEvent) -> None:
        if not self.session.read_only:
            self._take_off()
            self._idle.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the picture be as large as the study says, so that people see it alike whatever the
        display; it takes the margins too before it is smaller than that."""
        super().resizeEvent(event)
        wide = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        beneath = self.question.heightForWidth(wide) + self.responses.sizeHint().height()
        beneath += theme.SPACE_L + theme.SPACE_S + 2 * EDGE
        size = int(self.part.size_px / get_growth(self))  # the page grows, the picture does not
        room = min(wide, size, self.height() - beneath - 2 * theme.SPACE_XS)
        first = self.images.image(self.part.sequences[0].masks[0].picture)
        self._too_small = room < size
        self.field.set_room(max(room, LEAST_ROOM), max(first.width(), first.height()))
        left = (self.height() - beneath + 2 * EDGE - self.field.height()) // 2
        margin = min(max(left, theme.SPACE_XS), theme.SPACE_XL)
        side = self._column.contentsMargins().left()
        self._column.setContentsMargins(side, margin, side, margin)
        if self.session.read_only:
            self._draw(self.trial)


EDGE = 1
"""Logical pixels of the hairline round the field."""


def scale_image(image: QImage, side: float, ratio: float) -> QImage:
    """A picture in device pixels for a square of `side` logical pixels: each of its pixels as a
    block of whole device pixels, or, where it has more pixels than the square, made smaller."""
    most = max(image.width(), image.height())
    room = floor(side * ratio + 1e-6)
    smooth = most > room
    factor = room / most if smooth else magnification(most, side, ratio)
    size = QSize(max(1, round(image.width() * factor)), max(1, round(image.height() * factor)))
    blocks = Qt.TransformationMode.FastTransformation
    how = Qt.TransformationMode.SmoothTransformation if smooth else blocks
    made = image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, how)
    return made.convertToFormat(QImage.Format.Format_RGB32)


class StimulusField(Picture):
    """A square of the level of masked pixels, a hairline round it, and a picture in its middle.

    level: of the ground, from 0 to 255, one of grey or three of red, green and blue. It is that of
    masked pixels, so that an empty field is a picture of which nothing is shown, and no lighter
    or darker. rescaled: the size or the screen changed, and nothing is ready any more; the picture
    on the screen stays.
    """

    rescaled = Signal()

    def __init__(self, level: Sequence[int], palette: theme.Palette, name: str = "") -> None:
        super().__init__()
        self.painted: Callable[[], None] | None = None
        self._colors = palette
        red, green, blue = level if len(level) == 3 else (level[0],) * 3
        self.ground = QColor(red, green, blue)
        self._ready: dict[str, QImage] = {}
        self.shown: str | None = None
        """Name of the picture in it; None while it is empty."""
        self._image: QImage | None = None
        self.side = 0.0
        """Of the square, in logical pixels; 0 before there was room for it."""
        self._room = (0.0, 0, 0.0)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    @property
    def picture_px(self) -> int | None:
        """Longer side of the picture in it, in the display's own pixels; None while it is empty."""
        return None if self._image is None else max(self._image.width(), self._image.height())

    def set_room(self, room: float, pixels: int) -> None:
        """Take as much of a square of `room` logical pixels as a picture of so many pixels fills,
        and the hairline round it."""
        ratio = self.devicePixelRatioF()
        if (room, pixels, ratio) == self._room:
            return
        self._room = (room, pixels, ratio)
        self.side = min(floor(room), picture_side(pixels, room, ratio))
        whole = ceil(self.side) + 2 * EDGE
        self.setFixedSize(QSize(whole, whole))
        self._ready.clear()
        self.update()
        self.rescaled.emit()

    def ready(self, name: str) -> bool:
        return name in self._ready

    def prepare(self, name: str, image: QImage) -> None:
        """Make a picture ready for the present size and screen."""
        self._ready[name] = scale_image(image, self.side, self.devicePixelRatioF())

    def keep(self, names: Container[str]) -> None:
        self._ready = {name: image for name, image in self._ready.items() if name in names}

    def show_picture(self, name: str) -> None:
        """Show a picture that is ready; the caller repaints."""
        self.shown, self._image = name, self._ready[name]

    def clear(self) -> None:
        if self.shown is not None:
            self.shown = self._image = None
            self.update()

    def picture_rect(self) -> QRectF:
        """Where the picture is drawn, in logical pixels, on whole device pixels of the window."""
        if self._image is None:
            return QRectF()
        return centre_on_pixels(self, self._image.width(), self._image.height())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange and self.side:
            room, pixels, _ = self._room
            self.set_room(room, pixels)
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(self._colors.hairline))
        painter.fillRect(self.rect().adjusted(EDGE, EDGE, -EDGE, -EDGE), self.ground)
        if self._image is not None:
            painter.drawImage(self.picture_rect(), self._image)
        painter.end()
        if self.painted is not None:
            self.painted()
