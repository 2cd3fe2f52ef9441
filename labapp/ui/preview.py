"""A study as participants will see it, without a participant: nothing is kept of it.

It is the real window over a real session, in a temporary folder that goes with the preview. Where
the moderator jumps to a part, the session stands as though all parts before it were done. What
comes up inside of a part, such as what is said to an answer, is a still of a simulated session.

The window of a preview is the participant's, with the list of all screens beside it.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from PySide6.QtCore import QByteArray, QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QImage, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from labapp.base import leftovers
from labapp.base.clock import FakeClock
from labapp.base.errors import LabappError, SessionError, TargetExists, UsageError
from labapp.record.events.look import Look
from labapp.session import opening
from labapp.session.gate import check_predictable
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.pictures import PictureRenderer
from labapp.session.simulation.simulation_job import Course, Decoders, SimulatedMoment, course_of
from labapp.study.allocation import rule_of, variants
from labapp.study.loading import LoadedStudy
from labapp.study.plugins.part import PlannedPart
from labapp.ui import theme, timers
from labapp.ui.fitting import Fitted
from labapp.ui.language import N_, in_words, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.mirror import ScreenMirror
from labapp.ui.moderator.wording import words_of
from labapp.ui.participant import view
from labapp.ui.participant.view import Bridge, QtScheduler, SessionView
from labapp.ui.participant.window import WINDOWED, ParticipantWindow, WindowPicture, window_of
from labapp.ui.strings import strings_of
from labapp.ui.widgets.controls import Button

PATIENCE_S = 60.0
"""How long a screen may take: models are loaded and pictures painted for it."""
SETTLES = 4
"""Rounds of events until a layout that follows another one has come to rest."""
GROWS = 4
"""So often a window is made higher until nothing in it scrolls."""
THUMB, GAP, COLUMNS, CAPTION = 320, 16, 4, 24
"""Of the contact sheet, in pixels."""
AROUND = {"session.paused": N_("preview.pause"), "session.completed": N_("preview.end")}
"""What covers a session, by the kind of event that led to it."""


@dataclass(frozen=True)
class PreviewScreen:
    """One screen of a preview, as it comes up, which can be tried.

    Attributes
    ----------
    index, page : part of the plan and page of it, both from 0.
    pages : how many pages the part has.
    part : the part.
    """

    index: int
    page: int
    pages: int
    part: PlannedPart

    @property
    def title(self) -> str:
        """As lists name it."""
        title = wording.part_title(self.part.title)
        if self.pages > 1:
            title = tr("preview.page", part=title, n=self.page + 1, of=self.pages)
        number = f"{self.index + 1}".rjust(2, "\N{FIGURE SPACE}")
        return f"{number}  {title}"

    @property
    def file(self) -> str:
        """The name of its picture."""
        page = f"-{self.page + 1}" if self.pages > 1 else ""
        return f"{self.index + 1:02d}-{self.part.id}{page}.png"


@dataclass(frozen=True)
class Still:
    """What a part comes to inside of it, or what covers all of it: a picture to look at.

    Attributes
    ----------
    part : the part; None for a pause and the end.
    moment : of a simulated session.
    number : which one of the part it is that came up after such an event, from 1.
    """

    part: PlannedPart | None
    moment: SimulatedMoment
    number: int = 1

    @property
    def title(self) -> str:
        """As lists name it."""
        moment, part = self.moment, self.part
        if part is None:
            return tr(AROUND[moment.after])
        noun = words_of(part).noun(part, moment.trial) if part.has_trials else ""
        if moment.begins:
            return noun
        after = tr("preview.after", event=moment.after)
        return f"{noun}, {after}" if noun and moment.trial else after

    @property
    def file(self) -> str:
        """The name of its picture."""
        after = re.sub("[._]", "-", self.moment.after)
        if self.part is None:
            return f"{after}.png"
        number = f"-{self.number}" if self.number > 1 else ""
        return f"{self.moment.state.index + 1:02d}-{self.part.id}-{after}{number}.png"


def hidden_below(window: QWidget) -> int:
    """Logical pixels by which what a window shows is longer than its room."""
    areas = [area for area in window.findChildren(QAbstractScrollArea) if area.isVisible()]
    return max((area.verticalScrollBar().maximum() for area in areas), default=0)


def choose_cells(loaded: LoadedStudy, condition: str | None) -> tuple[str, ...]:
    """The places of a condition, or of the first one. Raises UsageError for an unknown one."""
    rule = rule_of(loaded.study)
    if rule is None:
        if condition is None:
            return ()
        raise UsageError(
            f"The study {loaded.study.id!r} draws no conditions.", todo="Leave --condition out."
        )
    if condition is None:
        return next(variants(loaded.study))[1]
    if (chosen := rule.named(condition)) is None:
        number = rule.draws
        raise UsageError(
            f"{condition!r} is not a condition of {loaded.study.id!r}: {number} of "
            f"{'; '.join(rule.cells)} {'is' if number == 1 else 'are'} drawn.",
            todo=rule.naming,
        )
    return chosen


class Preview:
    """The window on one participant's plan.

    dependencies: of its session, for the simulated ones.
    """

    def __init__(self, opened: OpenSession, dependencies: SessionDependencies) -> None:
        self.opened = opened
        self.runner = opened.runner
        self.bridge = Bridge(self.runner)
        self._dependencies = dependencies
        loaded = opened.loaded
        self.window = ParticipantWindow(
            self.bridge,
            loaded,
            strings_of(loaded),
            loaded.study.presentation,
            opened.give_consent,
            open_link=lambda link: False,
        )
        tasks = self.runner.machine.tasks
        self.places = tuple(
            PreviewScreen(index, page, task.page_count(), part)
            for index, (part, task) in enumerate(zip(self.runner.machine.parts, tasks, strict=True))
            for page in range(task.page_count())
        )

    @cached_property
    def course(self) -> Course:
        """What simulated participants came to in this plan."""
        opened = self.opened
        return course_of(self.runner.machine, opened.loaded, opened.planned, self._dependencies)

    @cached_property
    def stills(self) -> tuple[Still, ...]:
        """What comes up inside of the parts; then a pause and the end."""
        course, parts = self.course, self.runner.machine.parts
        count: Counter[tuple[int, str]] = Counter()
        stills = []
        for moment in course.moments:
            index = moment.state.index
            count[index, moment.after] += not moment.begins
            stills.append(Still(parts[index], moment, count[index, moment.after]))
        around = filter(None, (course.pause, course.end))
        return (*stills, *(Still(None, moment) for moment in around))

    @property
    def place(self) -> PreviewScreen | None:
        """The screen that is shown; None before the first and behind the last."""
        state = self.runner.state
        if not state.running:
            return None
        at = (state.index, self.runner.machine.tasks[state.index].page(state.part_state))
        return next(place for place in self.places if (place.index, place.page) == at)

    def jump(self, place: PreviewScreen) -> None:
        """Go to a screen, which comes as soon as its pictures are there."""
        self.runner.preview(self.course.before(place.index), place.page)

    def show(self, place: PreviewScreen) -> None:
        """Go to a screen and wait for it. Raises SessionError if it does not come."""
        self.jump(place)
        until = monotonic() + PATIENCE_S
        while not self._stands(place):
            if monotonic() > until:
                raise SessionError(
                    f"The screen of {place.part.id!r} does not appear.",
                    safe="A preview keeps nothing.",
                    todo="`labapp studies check` shows more about the study.",
                )
            QApplication.processEvents()
        for _ in range(SETTLES):
            QApplication.processEvents()

    def _stands(self, place: PreviewScreen) -> bool:
        screen, part = self.window.screen_shown, place.part
        seen = part.rests or not self.window.covered
        return screen is not None and screen.planned is part and seen

    def view_of(self, moment: SimulatedMoment) -> SessionView:
        """The session at a moment, only read, in a window as large as the participant's, and higher
        where something would scroll."""
        machine, window = self.runner.machine, self.window
        state = replace(moment.state, look=Look(window_of(window)), previewed=True)
        renderer = PictureRenderer(
            self._dependencies.decoders, frozenset(), lambda call: call(), lambda command: None
        )
        renderer.sync(machine.part(state), state)
        clock = FakeClock(moment.t_ns)
        source = view.MomentSource(machine, state, clock, renderer.pictures, renderer.ready)
        session = replace(window.session, source=source, hand=None)
        picture = WindowPicture(session)
        for _ in range(GROWS):
            picture.follow_at_once()
            if not (hidden := hidden_below(picture.window)):
                break
            size = replace(window_of(window), height=picture.window.height() + hidden)
            source = replace(source, state=replace(state, look=Look(size)))
            picture.session = session = replace(session, source=source)
        picture.close()
        return session

    def picture(self, screen: PreviewScreen | Still) -> QImage:
        """A screen as a picture, at the window's size. A place where no simulated participant came
        is what the window shows."""
        if isinstance(screen, Still):
            moment: SimulatedMoment | None = screen.moment
        else:
            moment = self.course.places.get((screen.index, screen.page))
        if moment is None:
            assert isinstance(screen, PreviewScreen)
            self.show(screen)
            return self.window.grab().toImage()
        picture = WindowPicture(self.view_of(moment))
        picture.follow()
        while picture.looks_left:
            drawn = picture.draw(picture.window.size(), self.window.devicePixelRatioF())
        picture.close()
        # Nobody goes back to the event loop between two pictures.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return drawn.toImage()


@contextmanager
def open_preview(
    loaded: LoadedStudy, participant: str | None, condition: str | None
) -> Iterator[Preview]:
    """A preview, and nothing left of it behind."""
    label = participant or loaded.study.participants.label(1)
    prefix = leftovers.prefix("preview")
    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        drawn = choose_cells(loaded, condition)
        dependencies = replace(
            Decoders().dependencies(loaded, label, drawn, None, folder / "private"),
            make_scheduler=QtScheduler,
            no_sound="a preview",
            predict_masked=check_predictable,
            fsync_on_commit=False,
        )
        opened = opening.create(loaded, label, dependencies, data=folder / "data", cells=drawn)
        try:
            preview = Preview(opened, dependencies)
            opened.begin()
            yield preview
            preview.window.close_for_good()
            preview.window.deleteLater()
        finally:
            opened.close("a preview")


def write_pictures(preview: Preview, out: Path) -> list[Path]:
    """Screens as PNG in a folder that is not there yet, and a contact sheet of them.

    There is a picture of each page of each part and, once per part, of the screen after each kind
    of event. What looks like another screen of its part is left out.

    Raises TargetExists if the folder is there, and LabappError if a screen does not come.
    """
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise TargetExists(f"{out} exists already.", todo="Name another folder.") from error
    window = preview.window
    window.resize(*WINDOWED)
    window.show()
    paths, images = [], []
    seen: set[tuple[str, bytes]] = set()
    for screen, title in _in_order(preview):
        image = preview.picture(screen)
        part = "" if screen.part is None else screen.part.id
        looks = (part, sha256(image.constBits()).digest())
        if isinstance(screen, Still) and looks in seen:
            continue
        seen.add(looks)
        path = out / screen.file
        if not image.save(str(path)):
            todo = "Free some space, or choose another place."
            raise LabappError(f"{path} cannot be written.", todo=todo)
        paths.append(path)
        images.append((image.scaledToWidth(THUMB, SMOOTH), title))
    sheet = out / "contact-sheet.png"
    contact_sheet(images).save(str(sheet))
    return [*paths, sheet]


def _in_order(preview: Preview) -> Iterator[tuple[PreviewScreen | Still, str]]:
    """Every screen that is written, and its title: of a part its pages, and what comes up in it."""
    stills = [still for still in preview.stills if still.part is None or not still.moment.begins]
    for place in preview.places:
        yield place, place.title
        if place.page == place.pages - 1:
            number = place.title.split("  ")[0]
            for still in stills:
                if still.part is place.part:
                    yield still, f"{number}  {still.title}"
    for still in stills:
        if still.part is None:
            yield still, still.title


SMOOTH = Qt.TransformationMode.SmoothTransformation


def contact_sheet(images: Sequence[tuple[QImage, str]]) -> QImage:
    """All screens small, with their titles below them, in rows of four. A higher screen is shown
    narrower."""
    high = min(round(THUMB * image.height() / max(image.width(), 1)) for image, _ in images)
    rows = -(-len(images) // COLUMNS)
    columns = min(COLUMNS, len(images))
    width, height = columns * (THUMB + GAP) + GAP, rows * (high + CAPTION + GAP) + GAP
    sheet = QImage(width, height, QImage.Format.Format_RGB32)
    sheet.fill(QColor("#e9e9ec"))
    painter = QPainter(sheet)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    for number, (image, title) in enumerate(images):
        row, column = divmod(number, COLUMNS)
        at = QPoint(GAP + column * (THUMB + GAP), GAP + row * (high + CAPTION + GAP))
        painter.drawImage(at, image.scaled(THUMB, high, Qt.AspectRatioMode.KeepAspectRatio, SMOOTH))
        caption = QRect(at.x(), at.y() + high, THUMB, CAPTION)
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, THUMB)
        painter.drawText(caption, Qt.AlignmentFlag.AlignVCenter, shown)
    painter.end()
    return sheet


SIDE, LEAST = 300, 220
"""Width of the list of screens, and its least one, in logical pixels."""
SIGNAL_MS, LOOK_MS = 200, 1000
PROBLEM = 120
"""Height of an error beside the screens, in logical pixels; a longer one is scrolled."""
SCREEN = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class Reopened:
    """What the next preview shows after the study's files have changed: the study as it is now, at
    this part and page, in a window of this geometry."""

    loaded: LoadedStudy
    part: str
    page: int
    geometry: QByteArray


def _stamp(loaded: LoadedStudy) -> list[tuple[int, int] | None]:
    """When the files of a study were last written, and how long they are."""
    stamps: list[tuple[int, int] | None] = []
    for path in (loaded.path, *loaded.places.values()):
        try:
            stat = path.stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((stat.st_mtime_ns, stat.st_size))
    return stamps


class PreviewWindow(Fitted, QWidget):
    """The participant's window, and beside it the list of screens: any can be chosen. Below a part
    is what comes up inside of it, which is only looked at.

    reread: reads the study again, if its files can change.
    closed(): the preview is over; `reopened` says what is shown instead, if anything.
    """

    closed = Signal()

    def __init__(self, preview: Preview, reread: Callable[[], LoadedStudy] | None = None) -> None:
        super().__init__()
        self._preview, self._reread = preview, reread
        self.reopened: Reopened | None = None
        self.setWindowTitle(tr("preview.title", study=preview.opened.loaded.study.title))
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(bits.stylesheet(theme.LIGHT))
        self.screens = QTreeWidget()
        self.screens.setProperty("role", "choice")
        self.screens.setHeaderHidden(True)
        self.screens.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.screens.setAccessibleName(tr("preview.screens"))
        self.screens.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows = {(place.index, place.page): self._row(place) for place in preview.places}
        for row in self._rows.values():
            self.screens.addTopLevelItem(row)
        for still in preview.stills:
            if still.part is None:
                self.screens.addTopLevelItem(self._row(still))
            else:
                moment = still.moment
                self._rows[moment.state.index, moment.page].addChild(self._row(still))
        self.screens.currentItemChanged.connect(self._jump)
        self.back, self.following = Button(tr("button.back")), Button(tr("preview.next"))
        self.back.setShortcut(QKeySequence("Ctrl+PgUp"))
        self.following.setShortcut(QKeySequence("Ctrl+PgDown"))
        self.back.clicked.connect(lambda: self._go(self._beside()[0]))
        self.following.clicked.connect(lambda: self._go(self._beside()[1]))
        self.screens.itemExpanded.connect(self._show_ways)
        self.screens.itemCollapsed.connect(self._show_ways)
        buttons = bits.fill(QHBoxLayout(), self.back, self.following)
        self.told = bits.label("", "secondary", wrap=True)
        self.problem = bits.label("", "secondary", wrap=True)
        self._problem_area = bits.Scrolling(self.problem)
        self._problem_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._problem_area.hide()
        self.reopen = Button(tr("preview.reopen"), pressed=self._reopen)
        self.reopen.hide()
        self._stamp = _stamp(preview.opened.loaded)
        if reread is not None:
            timers.make_repeating_timer(self, self._look, LOOK_MS).start()
        side = QWidget()
        side.setMinimumWidth(LEAST)
        column = bits.column(side, theme.SPACE_M, theme.SPACE_M)
        safe = bits.label(tr("preview.safe"), "secondary", wrap=True)
        bits.fill(
            column, safe, (self.screens, 1), self.told, self._problem_area, self.reopen, buttons
        )
        self._still: ScreenMirror | None = None
        # On a small display the window has its least size all the same, and is scrolled.
        self.tried = QScrollArea()
        self.tried.setFrameShape(QFrame.Shape.NoFrame)
        self.tried.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.tried.setWidgetResizable(True)
        self.tried.setWidget(preview.window)
        self.shown = QStackedWidget()
        self.shown.addWidget(self.tried)
        self.split = QSplitter()
        self.split.addWidget(side)
        self.split.addWidget(self.shown)
        self.split.setCollapsible(1, False)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([SIDE, WINDOWED[0]])
        bits.fill(bits.row(self, 0), self.split)
        preview.bridge.changed.connect(self._follow)
        self.choose(preview.places[0])

    @staticmethod
    def _row(screen: PreviewScreen | Still) -> QTreeWidgetItem:
        row = QTreeWidgetItem([screen.title])
        row.setToolTip(0, screen.title)
        row.setData(0, SCREEN, screen)
        return row

    def open(self, before: Reopened | None = None) -> None:
        """Show it, as large as a participant's window with the list beside it, if there is room; or
        as the preview before was shown."""
        self.resize(SIDE + WINDOWED[0], WINDOWED[1])
        if before is not None:
            self.restoreGeometry(before.geometry)
            same = [p for p in self._preview.places if p.part.id == before.part]
            if same:
                self.choose(same[min(before.page, len(same) - 1)])
        self.show()
        self.screens.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def chosen(self) -> PreviewScreen | Still:
        """The screen that the list stands on."""
        row = self.screens.currentItem()
        assert row is not None
        screen: PreviewScreen | Still = row.data(0, SCREEN)
        return screen

    def choose(self, place: PreviewScreen) -> None:
        """Go to a screen."""
        self._go(self._rows[place.index, place.page])

    def _beside(self) -> tuple[QTreeWidgetItem | None, QTreeWidgetItem | None]:
        row = self.screens.currentItem()
        if row is None:
            return None, None
        return self.screens.itemAbove(row), self.screens.itemBelow(row)

    def _go(self, row: QTreeWidgetItem | None) -> None:
        if row is not None:
            self.screens.setCurrentItem(row)

    def _show_ways(self) -> None:
        for button, row in zip((self.back, self.following), self._beside(), strict=True):
            button.setEnabled(row is not None)

    def _jump(self) -> None:
        screen = self.chosen
        self._show_ways()
        if isinstance(screen, Still):
            self._show_still(screen)
            return
        self._end_still()
        self.told.setText(tr("preview.tryable"))
        if screen != self._preview.place:
            self._preview.jump(screen)

    def _show_still(self, still: Still) -> None:
        """Show a moment in the place of the window, which waits behind it."""
        shown = ScreenMirror(self._preview.view_of(still.moment))
        self.shown.addWidget(shown)
        self.shown.setCurrentWidget(shown)
        self._end_still()
        self._still = shown
        shown.follow()
        QTimer.singleShot(0, shown, shown.follow)
        self.told.setText(tr("preview.look_only"))

    def _end_still(self) -> None:
        if self._still is not None:
            self.shown.removeWidget(self._still)
            self._still.close_picture()
            self._still.deleteLater()
            self._still = None

    def _follow(self) -> None:
        """Mark the screen to which the window went by itself."""
        place = self._preview.place
        if place is not None and isinstance(self.chosen, PreviewScreen) and place != self.chosen:
            self.choose(place)

    def _look(self) -> None:
        """Offer to show the study as it is now, if one of its files has changed."""
        stamp = _stamp(self._preview.opened.loaded)
        if stamp != self._stamp:
            self._stamp = stamp
            self._say(tr("preview.changed"))
            self.reopen.show()

    def _say(self, words: str) -> None:
        """Put words above the button; long ones are scrolled."""
        self.problem.setText(words)
        bar = self._problem_area.verticalScrollBar().sizeHint().width()
        needed = self.problem.heightForWidth(self.screens.width() - bar)
        self._problem_area.setFixedHeight(min(needed, PROBLEM))
        self._problem_area.show()

    def _reopen(self) -> None:
        assert self._reread is not None
        try:
            loaded = self._reread()
        except LabappError as error:
            self._say(in_words(error))
            return
        chosen = self.chosen
        page = chosen.moment.page if isinstance(chosen, Still) else chosen.page
        part = "" if chosen.part is None else chosen.part.id
        self.reopened = Reopened(loaded, part, page, self.saveGeometry())
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._end_still()
        super().closeEvent(event)
        self.closed.emit()


def run_preview(
    preview: Preview,
    reread: Callable[[], LoadedStudy] | None = None,
    before: Reopened | None = None,
) -> Reopened | None:
    """Show a preview until its window is closed, or the program is asked to end. What is to be
    shown instead, if the person asked for the study as it is now."""
    app = QApplication.instance()
    assert app is not None
    window = PreviewWindow(preview, reread)
    window.closed.connect(app.quit)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    # Python runs its signal handlers only when the event loop calls into Python.
    timers.make_repeating_timer(window, lambda: None, SIGNAL_MS).start()
    window.open(before)
    app.exec()
    return window.reopened
