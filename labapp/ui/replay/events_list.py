"""What happened in a session, in words and in order; a click goes there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem

from labapp.replay.lanes import Lane, LaneItem
from labapp.ui.language import tr
from labapp.ui.replay.controller import shown_time
from labapp.ui.replay.lane_words import Parts, item_label, joined_screen

LISTED = ("screen", "pauses", "prompts", "answers", "flags", "notes", "alarms")
"""The lanes whose items are listed."""
LOST = "lost"


class EventsList(QListWidget):
    """Questions, pauses, prompts, flags, notes and alarms.

    Signals
    -------
    picked(int)
        The session time in ns of what was clicked.
    """

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._times: list[int] = []
        self.setProperty("role", "fine")
        self.setAccessibleName(tr("What happened"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.itemClicked.connect(lambda item: self.picked.emit(self._times[self.row(item)]))

    def set_lanes(self, lanes: Sequence[Lane], parts: Parts) -> None:
        """List what these lanes tell of."""
        items: list[LaneItem] = []
        for lane in lanes:
            if lane.id == "screen":
                items += joined_screen(lane, parts)
            elif lane.id in LISTED:
                items += lane.items
            elif lane.id == "sound":
                items += [item for item in lane.items if item.kind == LOST]
        items.sort(key=lambda item: item.t0_ns)
        self._times = [item.t0_ns for item in items]
        self.clear()
        for item in items:
            text = item_label(item, parts)
            row = QListWidgetItem(f"{shown_time(item.t0_ns, 0)}   {text}")
            row.setToolTip(text)
            self.addItem(row)

    def follow(self, t_ns: int) -> None:
        """Mark the last thing that happened until a session time."""
        row = bisect_right(self._times, t_ns) - 1
        if row != self.currentRow():
            self.setCurrentRow(row)
            if row >= 0:
                self.scrollToItem(self.item(row), QAbstractItemView.ScrollHint.PositionAtCenter)
