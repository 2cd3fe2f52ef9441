"""The participant's screen at any time of a recorded session.

It is the participant's own window over the state that the session had, only read. What is not
recorded, and so not seen, `labapp.record.events.look` lists. Over it lie, where they are asked for,
the movements of the dials in the last seconds.

Also the video of the participant beside the replayed screen: the picture of the time that is heard.
Where a stretch is redacted nothing of it is shown, no face either. Nothing of its sound is played:
what is heard is the session's own.

Also what the lanes of a timeline are called, and what their items say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.base.clock import NS, FakeClock
from labapp.base.errors import LabappError
from labapp.base.installation import install_command
from labapp.coding.annotations.model import Redaction
from labapp.coding.annotations.texts import is_redacted
from labapp.coding.annotations.video_files import PlacedVideo
from labapp.coding.videos import decoding
from labapp.coding.videos.decoding import OpenVideo, ShownPicture, VideoFeed
from labapp.record.events.look import WindowShown
from labapp.session.pictures import PictureRenderer, ShowsPictures
from labapp.session.replay.history import History
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.study.plugins.part import PlannedPart
from labapp.ui import theme, timers
from labapp.ui.language import N_, N_all, hide_names_in, tr, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.wording import PartWords, every_mark, format_time, words_of
from labapp.ui.participant.view import CoverText, SessionView
from labapp.ui.participant.window import USUAL, WindowPicture
from labapp.ui.strings import strings_of
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.painting import smooth
from labapp.ui.widgets.photo_view import Images

TRAIL_NS = 5 * NS
"""How long a movement of a dial stays to be seen."""
SOON_MS = 30
"""Until it is looked again whether a network is there."""
AHEAD_MS = 15
"""Between two blocks of events that are folded before they are asked for, 10 ms each."""
TRAIL_BELOW = 15.0
"""Logical pixels from the middle of a dial to its trail."""


class PastSession(ShowsPictures):
    """A recorded session as it was at a time that can be moved: a source of views, see
    `labapp.ui.participant.view.ViewSource`.

    t_ns: session time; error: why the pictures of the part cannot be shown.
    """

    def __init__(self, history: History, size: QSize | None = None) -> None:
        assert history.machine is not None, "the caller looks at `problem` first"
        self.history = history
        self.machine = history.machine
        self._size = size
        self.go_to(history.begin_ns)

    def go_to(self, t_ns: int) -> None:
        """Be as the session was at a session time."""
        history = self.history
        self.t_ns = t_ns
        self.state = history.state_at(t_ns)
        if (size := self._size) is not None:
            look, width, height = self.state.look, size.width(), size.height()
            window = look.window or WindowShown(width, height, 1.0, "", width, height)
            window = replace(window, width=width, height=height, grown=1.0)
            self.state = replace(self.state, look=replace(look, window=window))
        self.clock = FakeClock(t_ns)
        self.stalled = history.is_stalled_at(t_ns)
        self.sound = history.sound_at(t_ns)
        # A new one: what pictures come to depends on the state alone, not on how it was reached.
        self._renderer = PictureRenderer(
            history.decoders, frozenset(), lambda function: function(), lambda command: None
        )
        self.error = self._renderer.try_sync(self.machine.part(self.state), self.state)


class PastWindow:
    """The participant's window at a time of a recorded session.

    Parameters
    ----------
    history : of the session; its `machine` is there.
    size : of the window in logical pixels, whatever it was in the session; None for what it was.
    withholds : whether answers that can tell who somebody is are not shown.
    """

    def __init__(
        self, history: History, size: QSize | None = None, *, withholds: bool = False
    ) -> None:
        assert history.loaded is not None, "the caller looks at `problem` first"
        self.history = history
        self._past = PastSession(history, size)
        view = SessionView(
            self._past,
            history.loaded,
            strings_of(history.loaded, begun=True),
            theme.LIGHT,
            history.loaded.study.presentation,
            None if history.gallery is None else Images(history.gallery),
            withholds=withholds,
        )
        self.picture = WindowPicture(view)
        if size is not None:
            self.picture.window.resize(size)
        self._shown_ns: int | None = None
        self.problem = ""

    @property
    def session(self) -> SessionView:
        return self.picture.session

    def show_time(self, t_ns: int) -> None:
        """Show a session time; where that cannot be, the window says why, see `problem`."""
        self._past.go_to(t_ns)
        if self._shown_ns is not None and t_ns < self._shown_ns:
            self.picture.renew()
        self._shown_ns = t_ns
        self.problem = ""
        try:
            if self._past.error is not None:
                raise self._past.error
            self.picture.follow_at_once()
        except LabappError as error:
            self._give_up(translate_message(error.what))
        except Exception as error:  # noqa: BLE001 (the same, or a task's screen with a fault)
            why = f"{type(error).__name__}: {error}"
            self._give_up(tr("replay.misfit", why=why))

    def _give_up(self, why: str) -> None:
        """Say in the place of the screen why it cannot be shown."""
        self.problem = why
        self.picture.renew()
        self.picture.show_cover(CoverText(tr("replay.screen_unshown"), why))

    def draw(self, room: QSize, ratio: float, *, trails: bool = False) -> QPixmap:
        """Draw the window in an area given in logical pixels, on a display with the given number of
        pixels per logical pixel.

        trails: with the movements of the dials in the last seconds.
        """
        while True:
            pixmap = self.picture.draw(room, ratio)
            if not self.picture.looks_left:
                break
            # What is drawn first may find out what room it needs.
            self.picture.lay_out()
        if trails:
            self._draw_trails(pixmap, ratio)
        return pixmap

    def _draw_trails(self, pixmap: QPixmap, ratio: float) -> None:
        """Beneath each dial where it has been, the paler the longer ago."""
        screen = self.picture.screen
        if screen is None or self.picture.stack.currentWidget() is not screen:
            return
        controls = screen.dial_controls()
        window, now_ns = self.picture.window, self._past.t_ns
        painter = smooth(pixmap)
        scale = pixmap.width() / ratio / window.width()
        painter.scale(scale, scale)
        for dimension, stops in self.history.trails(now_ns - TRAIL_NS, now_ns).items():
            control = controls.get(dimension)
            if control is None or not control.widget.isVisibleTo(window):
                continue
            middle = control.widget.mapTo(window, QPoint(0, control.widget.height() // 2))
            for (_, before), (t_ns, after) in pairwise(stops):
                colour = QColor(self.session.palette.accent)
                colour.setAlphaF(0.15 + 0.75 * max(0.0, 1 - (now_ns - t_ns) / TRAIL_NS))
                painter.setPen(QPen(colour, 3.0))
                y = middle.y() + TRAIL_BELOW
                begin, end = (control.handle_x(value) for value in (before, after))
                painter.drawLine(QPointF(middle.x() + begin, y), QPointF(middle.x() + end, y))
        painter.end()

    def close(self) -> None:
        self.picture.close()


class ReplayPicture(QWidget):
    """The participant's screen at a time, as large as there is room for. history: of the session;
    withholds: see `PastWindow`."""

    def __init__(self, history: History, *, withholds: bool = False) -> None:
        super().__init__()
        self._history, self._withholds = history, withholds
        self._past: PastWindow | None = None
        self._pixmap: QPixmap | None = None
        self._t_ns = history.begin_ns
        self.trails = True
        self.hidden_because = ""
        self._soon = timers.once(self, self._draw, SOON_MS)
        self._begun = False
        self._ahead = timers.make_repeating_timer(self, self._fold_ahead, AHEAD_MS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 90)
        self.setAccessibleName(tr("mirror.screen"))

    def begin(self) -> None:
        """Load networks and fold ahead: once the window is there, which needs the processor for
        itself until then. Nor is a screen drawn before that takes long."""
        self._begun = True
        self._history.decoders.begin()
        self._ahead.start()
        self._draw()

    def _fold_ahead(self) -> None:
        try:
            more = self._history.fold_ahead()
        except Exception:  # noqa: BLE001 (told where that time is shown)
            more = False
        if not more:
            self._ahead.stop()

    @property
    def problem(self) -> str:
        """Why the screen at this time cannot be shown; empty if it can."""
        if self._history.machine is None:
            return self._history.problem
        return "" if self._past is None else self._past.problem

    def show_time(self, t_ns: int) -> None:
        self._t_ns = t_ns
        self._draw()

    def hide_screen(self, why: str) -> None:
        """Show nothing of the screen but why not, as to raters who are not to see it."""
        self.hidden_because = why
        self._draw()

    def _draw(self) -> None:
        if not self.isVisible():
            return
        if not self._begun and self._history.is_far(self._t_ns):
            return
        if self._awaits_model():
            self._soon.start()
            self.update()
            return
        self._pixmap = None
        if self._history.machine is not None and not self.hidden_because:
            if self._past is None:
                self._past = PastWindow(self._history, withholds=self._withholds)
            self._past.show_time(self._t_ns)
            ratio = self.devicePixelRatioF()
            self._pixmap = self._past.draw(self.size(), ratio, trails=self.trails)
        self.update()

    def _awaits_model(self) -> bool:
        """Whether what is shown needs a network that is still being loaded."""
        machine = self._history.machine
        if machine is None or self.hidden_because:
            return False
        part = machine.part(self._history.state_at(self._t_ns))
        return part is not None and self._history.decoders.awaited(part.models())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._pixmap is None:
            loading = tr("starting.models") if self._history.decoders else ""
            problem = translate_message(self._history.problem)
            why = self.hidden_because or problem or loading
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, why
            )
        else:
            wide = self._pixmap.deviceIndependentSize().width()
            painter.drawPixmap(QPointF(round((self.width() - wide) / 2), 0), self._pixmap)
        painter.end()

    def close_picture(self) -> None:
        """Let the window in the picture go."""
        self._soon.stop()
        self._ahead.stop()
        if self._past is not None:
            self._past.close()
            self._past = None


def still(
    history: History,
    t_ns: int,
    size: QSize = USUAL,
    *,
    trails: bool = False,
    withholds: bool = False,
) -> QImage:
    """The participant's screen at a session time, the same picture every time. Raises RecordError:
    no screen of the session can be shown; LabappError: the one at that time cannot be, for example
    since its model is not installed.

    Parameters
    ----------
    size : of the window in logical pixels, which are those of the picture.
    trails : with the movements of the dials in the last seconds.
    withholds : see `PastWindow`.
    """
    history.state_at(t_ns)  # raises, before there is a window
    past = PastWindow(history, size, withholds=withholds)
    try:
        past.show_time(t_ns)
        if past.problem:
            raise LabappError(
                past.problem,
                safe="No picture was written.",
                todo="The replay window (`labapp replay`) shows the rest of the session.",
            )
        return past.draw(size, 1.0, trails=trails).toImage()
    finally:
        past.close()
        # Nobody goes back to the event loop between two pictures.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


LEAST = (120, 68)
"""Of the picture, in logical pixels."""
TENTH = 8
"""Digits of nanoseconds below a tenth of a second."""
ROOM_STEP = 32
"""A picture is decoded for a room of whole steps of so many pixels, so that pulling a border does
not decode each anew."""


class VideoPanel(QWidget):
    """The videos of a session, each with what opens its file: one of them at a time is shown, by
    `view`; where there are several, each has a tab."""

    def __init__(
        self, videos: Sequence[tuple[PlacedVideo, OpenVideo]], redactions: Sequence[Redaction] = ()
    ) -> None:
        super().__init__()
        self.view = VideoScreen(videos, redactions)
        layout = bits.column(self, theme.SPACE_XS)
        self.tabs = [Button(hide_names_in(placed.video.id), "page-tab") for placed, _ in videos]
        if len(videos) > 1:
            row = bits.row(None, theme.SPACE_S)
            for tab in self.tabs:
                tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                row.addWidget(tab)
            row.addStretch(1)
            layout.addLayout(row)
            bits.turn_pages(self.tabs, self.view.choose)
        layout.addWidget(self.view, 1)


class VideoScreen(QWidget):
    """The picture of a video at a session time, or why there is none.

    Attributes
    ----------
    text : str
        What stands in its place; empty while there is a picture.
    shown : what is on the screen.
    """

    _came = Signal(int, object)

    def __init__(
        self, videos: Sequence[tuple[PlacedVideo, OpenVideo]], redactions: Sequence[Redaction] = ()
    ) -> None:
        super().__init__()
        self._redactions = redactions
        self._feeds = [
            VideoFeed(placed, open_video, partial(self._came.emit, number))
            for number, (placed, open_video) in enumerate(videos)
        ]
        self._chosen = 0
        self._t_ns = 0
        self._image = QImage()
        self.shown: ShownPicture | None = None
        self.text = ""
        self._failure = ""
        self._came.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.setMinimumSize(*LEAST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("replay.video_title"))

    def sizeHint(self) -> QSize:
        return QSize(320, 180)

    def withhold(self, redaction: Redaction) -> None:
        """Show nothing of a stretch from now on."""
        self._redactions = (*self._redactions, redaction)
        self._drop()
        self.show_time(self._t_ns)

    @property
    def placed(self) -> PlacedVideo:
        return self._feeds[self._chosen].placed

    def choose(self, number: int) -> None:
        """Show another video; number: its place among them."""
        self._chosen = number
        self._failure = ""
        self._drop()
        self.show_time(self._t_ns)

    def show_time(self, t_ns: int) -> None:
        """Show a session time: the picture comes as soon as it is decoded."""
        self._t_ns = t_ns
        if not self.isVisible():
            return
        if why := self._why_not(t_ns):
            self._drop()
            self._say(why)
            return
        if self.shown is None:
            self._say(self._failure or tr("replay.video_loading"))
        ratio = self.devicePixelRatioF()
        width, height = (
            max(ROOM_STEP, -(-round(side * ratio) // ROOM_STEP) * ROOM_STEP)
            for side in (self.width(), self.height())
        )
        self._feeds[self._chosen].want(t_ns, (width, height))

    def _why_not(self, t_ns: int) -> str:
        """Why nothing is shown at a time; empty if the video is."""
        if not decoding.is_installed():
            told = tr("replay.no_pyav")
            return f"{told} {tr('replay.get_by', command=install_command('video'))}"
        if is_redacted(t_ns, t_ns, self._redactions):
            return tr("replay.video_redacted")
        if not self.placed.covers(t_ns):
            begins, ends = self.placed.stretch_ns
            return tr(
                "replay.no_video_now",
                begin=format_time(round(begins, -TENTH), 0),
                end=format_time(round(ends, -TENTH), 0),
            )
        return ""

    def _take(self, number: int, shown: ShownPicture) -> None:
        """A picture came, by the thread's own time: it is shown where it is still right to."""
        if number != self._chosen or self._why_not(self._t_ns):
            return
        if shown.picture is None:
            assert shown.problem is not None
            self._failure = " ".join(
                translate_message(part) for part in (shown.problem.what, shown.problem.todo) if part
            )
            self._drop()
            self._say(self._failure)
            return
        self._failure = ""
        if is_redacted(shown.begins_ns, shown.begins_ns, self._redactions):
            self._drop()
            self._say(tr("replay.video_redacted"))
            return
        pixels = shown.picture.pixels
        height, width, _ = pixels.shape
        # The image does not own its bytes: `shown` does, as long as it is on the screen.
        self._image = QImage(
            pixels.data, width, height, pixels.strides[0], QImage.Format.Format_RGB888
        )
        self.shown = shown
        self._say("")
        self.update()

    def _drop(self) -> None:
        self._image = QImage()
        self.shown = None

    def _say(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.setAccessibleDescription(text)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._image.isNull():
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect(), flags, self.text)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            size = self._image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
            left = (self.width() - size.width()) / 2
            painter.drawImage(QRectF(left, 0, size.width(), size.height()), self._image)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_time(self._t_ns)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.show_time(self._t_ns)

    def close_videos(self) -> None:
        for feed in self._feeds:
            feed.close()


TITLES: Mapping[str, str] = {
    "sound": N_("sessions.column.voice"),
    "screen": N_("deviation.screen"),
    "dials": N_("replay.lane.dials"),
    "alignment": N_("replay.lane.alignment"),
    "notes": N_("notes.notes"),
}
HELD: Mapping[str, str] = {
    "break": N_("part.break"),
    "gap": N_("timeline.gap"),
    "skip": N_("replay.skip_taken_back"),
    "leave": N_("replay.leave_asked"),
    "end": N_("replay.session_ended"),
}
HEARD: Mapping[str, str] = N_all("replay.heard", "silent", "zeros", "clipping")
ABSENT: Mapping[str, str] = {
    "missing": N_("replay.absent.missing"),
    "unreadable": N_("replay.absent.unreadable"),
    "other_file": N_("replay.absent.other_file"),
    "cut_off": N_("replay.absent.cut_off"),
}
"""Why there is no sound, besides what happened while it was recorded."""

Parts = Mapping[str, PlannedPart]
"""The parts of a session's plan by their ids."""


def title(lane: str) -> str:
    """What a row is called."""
    return tr(TITLES[lane])


def item_label(item: LaneItem, parts: Parts, *, outcomes: bool = True) -> str:
    """What stands in or beside an item; outcomes: whether it says how something ended."""
    return hide_names_in(_label(item, parts, outcomes=outcomes))


def _label(item: LaneItem, parts: Parts, *, outcomes: bool) -> str:
    match item.kind:
        case "trial" | "part":
            ended = wording.OUTCOMES.get(item.outcome) if outcomes else None
            label = screen_label(item, parts)
            return f"{label} · {tr(ended)}" if ended else label
        case "lost":
            return tr("replay.sound_lost")
        case "unrecorded":
            return tr("replay.not_recorded")
        case "flag.added":
            return tr("timeline.flag", number=item.payload["number"], meaning=item.text)
        case "deviation.noted":
            return tr("deviation.noted", said=item.text)
        case "pause":
            return wording.describe_pause(str(item.payload.get("reason", "")))
        case "stall":
            return wording.describe_stall(item.payload)
        case "skip.taken_back":
            return tr("timeline.skip_taken_back")
        case "audio.gap":
            return tr("replay.sound_lost_why", cause=wording.gap(str(item.payload["cause"])))
        case kind if item.payload and (text := wording.alarm_text(kind, item.payload)):
            return text
        case kind if kind in HELD:
            return tr(HELD[kind])
        case kind if kind in HEARD:
            return tr(HEARD[kind])
        case kind if (words := every_mark().get(kind)) is not None and item.payload:
            part = parts.get(item.part_id or "")
            return item.text if part is None else words.mark(part, item.payload)
    return item.text


def describe_moved(dials: Sequence[int], part: PlannedPart | None) -> str:
    """What was moved in a part, by the numbers of its dials, from 0."""
    return hide_names_in((PartWords[Any]() if part is None else words_of(part)).moved(part, dials))


def item_tip(item: LaneItem, parts: Parts) -> str:
    """The same in full, where a pointer rests on it."""
    if item.kind == "lost":
        cause = tr(ABSENT[item.text]) if item.text in ABSENT else wording.gap(item.text)
        return tr("replay.sound_lost_why", cause=cause)
    return item_label(item, parts)


def screen_label(item: LaneItem, parts: Parts) -> str:
    """A part or a trial as the console's timeline calls it."""
    part = parts.get(item.part_id or "")
    if part is None:
        return item.part_id or ""
    if item.kind == "part":
        return wording.part_title(part.title)
    return words_of(part).trial(part, item.trial or 1)


def shorter_labels(item: LaneItem, parts: Parts) -> tuple[str, ...]:
    """What a part or a trial is called where there is less room; of a trial also its number."""
    label = hide_names_in(screen_label(item, parts))
    number = re.search(r"\d+", label) if item.kind == "trial" else None
    return (label,) if number is None else (label, number[0])


def join_trials(lane: Lane, parts: Parts) -> Sequence[LaneItem]:
    """The items of the lane of the screen; trials that are many and short are one item where their
    task joins them."""
    items: list[LaneItem] = []
    for item in lane.items:
        part = parts.get(item.part_id or "")
        last = items[-1] if items else None
        if (
            item.kind == "trial"
            and part is not None
            and words_of(part).joins
            and last is not None
            and last.kind == "trial"
            and (last.part_id, screen_label(last, parts))
            == (item.part_id, screen_label(item, parts))
        ):
            items[-1] = replace(last, t1_ns=item.t1_ns, outcome=item.outcome)
        else:
            items.append(item)
    return items
