"""The smallest task there is, in order; `test_broken_tasks` breaks it in one place at a time.

It is copied into a package of its own, and not imported from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, SkipStage
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses, kind
from labapp.study.plugins.item import Item
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.registry import TaskType
from labapp.study.plugins.simulated import Actor
from labapp.ui.participant.screen import Screen


class PressingItem(Item):
    """A button that is pressed some times. presses: how often."""

    key: ClassVar[str] = "pressing"
    pressing: int


class PressingPart(PlannedPart):
    """A button that is pressed. presses: how often."""

    part: Literal["pressing"] = "pressing"
    presses: tuple[int, ...]


@kind("button.pressed", durable=True)
class ButtonPressed(Payload):
    """The button was pressed. strength: 1 to 9."""

    strength: int


@dataclass(frozen=True, slots=True)
class Press(Command):
    """Press the button."""

    strength: int


@dataclass(frozen=True, slots=True)
class PressingState:
    """presses: the strength of each so far; began_ns: when the last was, in session time."""

    presses: tuple[int, ...] = ()
    last_ns: int = 0
    outcome: str | None = None


class PressingMachine(PartMachine[PressingState]):
    def __init__(self, part: PressingPart, index: int) -> None:
        self.part = part
        self.index = index

    def initial(self, pauses: Pauses) -> PressingState:
        return PressingState()

    def decide(
        self, state: PressingState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        ends = UnstampedEvent(PartEnded(self.index, "completed"), self.part.id)
        if state.outcome is not None:
            return ()
        if isinstance(command, SkipStage):
            return (UnstampedEvent(PartEnded(self.index, "skipped"), self.part.id),)
        if isinstance(command, Press) and 1 <= command.strength <= 9:
            pressed = UnstampedEvent(ButtonPressed(command.strength), self.part.id)
            last = len(state.presses) + 1 == len(self.part.presses)
            return (pressed, ends) if last else (pressed,)
        return ()

    def apply(self, state: PressingState, event: Event, payload: Payload) -> PressingState:
        match payload:
            case ButtonPressed():
                presses = (*state.presses, payload.strength)
                return replace(state, presses=presses, last_ns=event.t_ns)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state


class Presser(Actor[PressingPart]):
    def act(self) -> None:
        self.participant.send(Press(5), 0.1)


class PressingScreen(Screen):
    def __init__(self, session: Any, part: PressingPart) -> None:
        super().__init__(session, part)
        self.label = QLabel()
        self.column().addWidget(self.label)

    def take_key(self, event: QKeyEvent) -> bool:
        if event.text().isdigit():
            self.send(Press(int(event.text())))
        return event.text().isdigit()

    def render_state(self) -> None:
        self.label.setText(str(len(self.state.presses)))


class Pressing(TaskType[PressingPart]):
    name = "pressing"
    parts = (PressingPart,)
    items = (PressingItem,)
    told_elsewhere = ("button.pressed",)

    def plan(
        self, item: PressingItem, scope: object, place: int, planner: Any
    ) -> Iterator[PressingPart]:
        yield PressingPart(
            id=planner.new_id("pressing"), title="Pressing", presses=(1,) * item.pressing
        )

    def machine(self, part: PressingPart, index: int, context: object) -> PressingMachine:
        return PressingMachine(part, index)

    def screen(self, part: PressingPart) -> str:
        return f"{__name__}:PressingScreen"

    def simulate(self, part: PressingPart, participant: Any) -> Actor[Any]:
        return Presser(part, participant)


TASK = Pressing()
