"""The tutorial: pages of text, the last one with four pictures and their dials to play with."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QWidget

from labapp.events.commands import Back, MoveTutorialDial, Next
from labapp.representations.space import LatentSpace
from labapp.study.plan import TutorialBox, TutorialPart
from labapp.ui import theme
from labapp.ui.participant.dials import DialPanel
from labapp.ui.participant.gate import MoveGate
from labapp.ui.participant.pages import page_head
from labapp.ui.participant.picture_panel import view_of
from labapp.ui.participant.screen import Screen, Setting
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.composing import Array
from labapp.ui.widgets.markdown import MarkdownView, text_width

COLUMNS = 2
LARGEST_SIDE = 224.0


class Box(QFrame):
    """A picture with live dials."""

    def __init__(self, setting: Setting, number: int, box: TutorialBox, picture: Array) -> None:
        super().__init__()
        self.setProperty("role", "box")
        words = setting.words
        self.view = view_of(
            box.display,
            picture,
            setting.palette,
            words("your_picture"),
            improved=setting.improved,
        )
        self.dials = DialPanel(
            LatentSpace.from_json(box.dimensions),
            lambda n: words("dial", number=n),
            setting.palette,
            editable=False,
        )
        self.gate = MoveGate(
            lambda i, value, _device: setting.runner.send(MoveTutorialDial(number, i, value)),
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


class TutorialScreen(Screen):
    def __init__(self, setting: Setting, part: TutorialPart) -> None:
        super().__init__(setting, part)
        self._pages = setting.pages(part.document, {})
        self._page = -1
        self.text = MarkdownView()
        self.boxes = [
            Box(setting, number, box, picture)
            for number, (box, picture) in enumerate(
                zip(part.boxes, setting.runner.box_pictures, strict=True)
            )
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
        state = self.state
        if state.page != self._page:
            self._page = state.page
            self.text.show_text(self._pages[self._page])
            self._play.setVisible(self._playing)
            self.set_column_width(theme.CONTENT_WIDTH if self._playing else text_width())
            self._fit()
            self.wish = "content"
        pictures = self.setting.runner.box_pictures
        for box, dials, picture in zip(self.boxes, state.dials, pictures, strict=True):
            box.show_box(dials, picture)

    @property
    def _playing(self) -> bool:
        return self._page + 1 == len(self._pages)

    def head(self) -> Head:
        return page_head(self.setting, "", self._page, len(self._pages))

    def foot(self) -> Foot:
        words = self.setting.words
        return Foot(left=words("back") if self._page else "", right=words("continue"))

    def left(self) -> None:
        self.setting.runner.send(Back())

    def right(self) -> None:
        self.setting.runner.send(Next())

    def entrance(self) -> QWidget | None:
        return self.boxes[0].dials.rows[0].control if self._playing else None
