"""The window of a preview: the participant's, and beside it the list of all screens."""

from __future__ import annotations

import signal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.fitting import Fitted
from labapp.ui.language import tr
from labapp.ui.moderator import bits, style
from labapp.ui.moderator.mirror import ScreenMirror
from labapp.ui.participant.window import WINDOWED
from labapp.ui.preview import Place, Preview, Still
from labapp.ui.widgets.buttons import Button

SIDE, LEAST = 300, 220
"""Width of the list of screens, and its least one, in logical pixels."""
SIGNAL_MS = 200
SCREEN = Qt.ItemDataRole.UserRole


class PreviewWindow(Fitted, QWidget):
    """The participant's window, and beside it the list of screens: any can be chosen. Below a part
    stands what comes up inside of it, which is only looked at.

    Signals
    -------
    closed()
        The person closed it: the preview is over.
    """

    closed = Signal()

    def __init__(self, preview: Preview) -> None:
        super().__init__()
        self._preview = preview
        title = preview.opened.loaded.study.title
        self.setWindowTitle(tr("Preview: {study}", study=title))
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(style.stylesheet(theme.LIGHT))
        self.screens = QTreeWidget()
        self.screens.setProperty("role", "choice")
        self.screens.setHeaderHidden(True)
        self.screens.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.screens.setAccessibleName(tr("Screens of the study"))
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
        self.back, self.following = Button(tr("Back")), Button(tr("Next"))
        self.back.setShortcut(QKeySequence("Ctrl+PgUp"))
        self.following.setShortcut(QKeySequence("Ctrl+PgDown"))
        self.back.clicked.connect(lambda: self._go(self._beside()[0]))
        self.following.clicked.connect(lambda: self._go(self._beside()[1]))
        self.screens.itemExpanded.connect(self._show_ways)
        self.screens.itemCollapsed.connect(self._show_ways)
        buttons = QHBoxLayout()
        buttons.addWidget(self.back)
        buttons.addWidget(self.following)
        self.told = bits.label("", "secondary", wrap=True)
        side = QWidget()
        side.setMinimumWidth(LEAST)
        column = QVBoxLayout(side)
        column.setContentsMargins(*[theme.SPACE_M] * 4)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(bits.label(tr("Nothing is recorded or kept."), "secondary", wrap=True))
        column.addWidget(self.screens, 1)
        column.addWidget(self.told)
        column.addLayout(buttons)
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
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.split)
        preview.bridge.changed.connect(self._follow)
        self.choose(preview.places[0])

    @staticmethod
    def _row(screen: Place | Still) -> QTreeWidgetItem:
        row = QTreeWidgetItem([screen.title])
        row.setToolTip(0, screen.title)
        row.setData(0, SCREEN, screen)
        return row

    def open(self) -> None:
        """Show it, as large as a participant's window with the list beside it, where there is
        room."""
        self.resize(SIDE + WINDOWED[0], WINDOWED[1])
        self.show()
        self.screens.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def chosen(self) -> Place | Still:
        """The screen that the list stands on."""
        row = self.screens.currentItem()
        assert row is not None
        screen: Place | Still = row.data(0, SCREEN)
        return screen

    def choose(self, place: Place) -> None:
        """Go to a screen."""
        self._go(self._rows[place.index, place.page])

    def _beside(self) -> tuple[QTreeWidgetItem | None, QTreeWidgetItem | None]:
        """The rows above and below the one that is chosen."""
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
        self.told.setText(tr("This screen can be tried."))
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
        self.told.setText(tr("Simulated, to look at only."))

    def _end_still(self) -> None:
        """Let the moment go that is shown."""
        if self._still is not None:
            self.shown.removeWidget(self._still)
            self._still.close_picture()
            self._still.deleteLater()
            self._still = None

    def _follow(self) -> None:
        """Mark the screen to which the window went by itself."""
        place = self._preview.place
        if place is not None and isinstance(self.chosen, Place) and place != self.chosen:
            self.choose(place)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._end_still()
        super().closeEvent(event)
        self.closed.emit()


def run_preview(preview: Preview) -> None:
    """Show a preview until its window is closed, or the program is asked to end."""
    app = QApplication.instance()
    assert app is not None
    window = PreviewWindow(preview)
    window.closed.connect(app.quit)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    # Python runs its signal handlers only when the event loop calls into Python.
    awake = QTimer(window)
    awake.timeout.connect(lambda: None)
    awake.start(SIGNAL_MS)
    window.open()
    app.exec()
