"""The tutorial: pages of text, the last one with four pictures and their dials to play with."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QWidget

from labapp.events.commands import Command
from labapp.representations.space import LatentSpace
from labapp.tasks.reconstruction.events import MoveTutorialDial
from labapp.tasks.reconstruction.plan import TutorialBox, TutorialPart
from labapp.tasks.reconstruction.screen.dials import DialPanel
from labapp.ui import theme
from labapp.ui.participant.gate import MoveGate
from labapp.ui.participant.pages import PagedScreen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.composing import Array
from labapp.ui.widgets.dial import DialSlider, moves_dial
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.scale import Scale
from labapp.ui.widgets.series import view_of

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
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(self.view, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.dials, 1)
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
        self._column = self.column()
        self._column.addStretch(1)
        self._column.addWidget(self.text)
        self._column.addWidget(self._play)
        self._column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

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
