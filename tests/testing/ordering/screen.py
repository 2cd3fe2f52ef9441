"""The participant's screen: cards side by side."""

from __future__ import annotations

from typing import Any

from ordering.task import MoveCard, OrderingPart
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QLabel

from labapp.record.events.commands import Next
from labapp.ui.participant.screen import Screen
from labapp.ui.widgets.dial import Foot


class Card(QLabel):
    """A card that goes one place on by an arrow key or a click."""

    wanted = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}
        if event.key() in steps:
            self.wanted.emit(steps[Qt.Key(event.key())], "keyboard")
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.wanted.emit(1, "mouse")


class OrderingScreen(Screen):
    def __init__(self, session: Any, part: OrderingPart) -> None:
        super().__init__(session, part)
        self.part = part
        self._asked: Any = None
        self.cards = [Card() for _ in part.orders[0]]
        row = self.column()
        for place, card in enumerate(self.cards):
            row.addWidget(card)
            card.wanted.connect(lambda step, device, at=place: self.move_card(at, step, device))

    def move_card(self, place: int, step: int, device: str) -> None:
        order = self.state.trial.order
        if 0 <= place + step < len(order):
            self.send(MoveCard(order[place], place + step, device))

    def render_state(self) -> None:
        question = self.state.trial
        if question is None:
            return
        if (key := (question.number, question.attempt)) != self._asked:
            self._asked = key
            self.wish = "content"
        for card, name in zip(self.cards, question.order, strict=True):
            card.setText(name)

    def foot(self) -> Foot:
        question = self.state.trial
        moved = question is not None and question.moves > 0
        return Foot(right=self.session.words("next_question"), enabled=moved)

    def right(self) -> None:
        self.send(Next())

    def entrance(self) -> Card:
        return self.cards[0]
