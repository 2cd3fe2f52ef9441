"""Regions of a picture on the screen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from labapp.study.instruments.items import Picture
from labapp.study.instruments.kinds.region import RegionChoice
from labapp.tasks.questionnaire.screen.kinds.view import (
    MARK_WIDTH,
    WIDEST_PICTURE,
    ItemView,
    Pictures,
)
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, equip, pen
from labapp.ui.widgets.study_picture import SizedPicture

FILL = 60
"""How opaque the chosen region is, of 255."""


class PictureRegions(SizedPicture, Choice):
    """A picture whose regions are the options. Arrow keys go from one to the next, Space takes
    it."""

    looked_over = True

    def __init__(self, item: RegionChoice, palette: theme.Palette) -> None:
        super().__init__(palette, item.title)
        regions = {option.id: option for option in item.options}
        shown = [regions[option.id] for option in item.shown()]
        self._areas = [QRectF(*region.area) for region in shown]
        self.hold_picture(None, None, WIDEST_PICTURE)
        self.show_options([region.text for region in shown])

    def show_picture(self, content: bytes, picture: Picture) -> None:
        """Show the picture below the regions."""
        self.hold_picture(content, picture.width, WIDEST_PICTURE)
        self.setAccessibleDescription(picture.alt)
        self.place_options()

    def box(self, index: int) -> QRectF:
        """The position of a region, in the widget's pixels."""
        whole, area = self.picture_box(), self._areas[index]
        left, top = area.x() * whole.width(), area.y() * whole.height()
        return QRectF(left, top, area.width() * whole.width(), area.height() * whole.height())

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        self.draw_picture(painter)
        for index, option in enumerate(self.options):
            box = self.box(index).adjusted(1.5, 1.5, -1.5, -1.5)
            # White below the outline: it is seen on any picture.
            equip(painter, pen(p.card, 4.0), Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
            taken, strong = index == self.index, option.hasFocus() or self.pointed is option
            if taken:
                accent = brush(p.accent).color()
                painter.setBrush(QColor(accent.red(), accent.green(), accent.blue(), FILL))
            painter.setPen(pen(p.accent if taken or strong else p.ink, 3.0 if taken else 1.6))
            painter.drawRect(box)
            if option.hasFocus():
                equip(painter, pen(p.accent, theme.RING, dashed=True), Qt.BrushStyle.NoBrush)
                painter.drawRect(box.adjusted(4, 4, -4, -4))


class RegionView(ItemView):
    def __init__(self, item: RegionChoice, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words, wide=True)
        self.choice = item
        self._ids = [option.id for option in item.shown()]
        self.group = PictureRegions(item, palette)
        self.group.chosen.connect(
            lambda index, _device: self.answered.emit({"chosen": (self._ids[index],)})
        )
        self.row_layout.setDirection(QBoxLayout.Direction.TopToBottom)
        self.row_layout.setSpacing(theme.SPACE_S)
        indented = QHBoxLayout()
        indented.setContentsMargins(MARK_WIDTH, 0, 0, 0)
        indented.addWidget(self.group)
        self.row_layout.addLayout(indented)

    def show_pictures(self, pictures: Pictures) -> None:
        media = self.choice.media
        if (content := pictures(media.file)) is not None:
            self.group.show_picture(content, media)

    def show_value(self, value: Any) -> None:
        chosen = value["chosen"] if value is not None else ()
        self.group.show_index(self._ids.index(chosen[0]) if chosen else None)

    def entrance(self) -> QWidget:
        return self.group.entrance()
