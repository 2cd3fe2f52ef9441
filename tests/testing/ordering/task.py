"""A task with trials, in order; `test_planted_faults` breaks it in one place at a time.

Cards come in a mixed order, and the participant moves them. It is copied into a package of its own,
and not imported from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from labapp.record.events import Payload
from labapp.record.events.commands import Command, Next
from labapp.record.events.registry import Pauses, kind
from labapp.study.conditions import Scope, shuffled
from labapp.study.planner import Planner
from labapp.study.plugins import questions
from labapp.study.plugins.item import TaskStages
from labapp.study.plugins.part import TrialsPart
from labapp.study.plugins.pictures import PictureContext, QuestionPictures
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.plugins.simulated import DEVICE, Answerer, SimulatedParticipant, Step

CARDS = ("river", "stone", "cloud")


class OrderingStages(TaskStages):
    """Stages in which cards are put in order. questions: how many."""

    task: Literal["ordering"]
    questions: int = 3


class OrderingPart(TrialsPart):
    """A stage of the plan. orders: of each question, how its cards lie at first."""

    part: Literal["ordering"] = "ordering"
    role: Literal["stage"] = "stage"
    number: int
    of: int
    orders: tuple[tuple[str, ...], ...]
    time_limit_s: None = None
    think_aloud: bool

    @property
    def task(self) -> str:
        return "ordering"

    @property
    def model(self) -> str:
        return "cards"

    @property
    def trials(self) -> int:
        return len(self.orders)


@kind("ordering.drawn", durable=True, begins=("ordering",))
class OrderingDrawn(Payload):
    """Cards are to be put in order. order: how they lie at first."""

    order: tuple[str, ...]


@kind("ordering.shown", durable=True, of_trial=True)
class OrderingShown(Payload):
    """The cards are on the screen; their time runs from here."""


@kind("ordering.moved", durable=True, of_trial=True)
class CardMoved(Payload):
    """A card was moved. card: which; place: where to, from 0; device: the input."""

    card: str
    place: int
    device: str


@dataclass(frozen=True, slots=True)
class MoveCard(Command):
    """Move a card to a place, from 0."""

    card: str
    place: int
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(questions.Question):
    """order: of the cards; moves: how many so far."""

    order: tuple[str, ...]
    moves: int = 0


@dataclass(frozen=True, slots=True)
class OrderingState(questions.QuestionsState[Question]):
    """The stage so far."""


class OrderingMachine(questions.QuestionsMachine[OrderingState, Question]):
    """The rules."""

    part: OrderingPart
    shown = OrderingShown

    def initial(self, pauses: Pauses) -> OrderingState:
        return OrderingState(pauses)

    def draw(self, number: int, attempt: int) -> OrderingDrawn:
        return OrderingDrawn(self.part.orders[number - 1])

    def drawn(self, payload: Payload, number: int, attempt: int) -> Question | None:
        if not isinstance(payload, OrderingDrawn):
            return None
        return Question(number=number, attempt=attempt, order=payload.order)

    def answer(self, question: Question, command: Command) -> Sequence[Payload]:
        match command:
            case MoveCard(card, place, device) if card in question.order:
                if place in range(len(question.order)) and question.order[place] != card:
                    return (CardMoved(card, place, device),)
        return ()

    def after(self, question: Question, payload: Payload) -> Question:
        if isinstance(payload, CardMoved):
            order = moved(question.order, payload)
            return replace(question, order=order, moves=question.moves + 1)
        return question

    def answered(self, question: Question) -> bool:
        return question.moves > 0


def moved(order: tuple[str, ...], move: CardMoved) -> tuple[str, ...]:
    """The order after a card was moved."""
    rest = [card for card in order if card != move.card]
    return (*rest[: move.place], move.card, *rest[move.place :])


class Sorter(Answerer[OrderingPart]):
    """A simulated participant, who moves the first card."""

    def steps(self, question: Question) -> Iterator[Step]:
        yield Step(MoveCard(question.order[0], 1, DEVICE), "look")
        yield Step(Next())


class Ordering(TaskType[OrderingPart]):
    name = "ordering"
    parts = (OrderingPart,)
    stages = (OrderingStages,)
    shown = (OrderingShown.kind,)
    records = "ordering.records:OrderingRecords"
    bids = ("ordering.records:FILES",)
    kept_text = "ordering.records:KEPT_TEXT"

    def plan(
        self, item: OrderingStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[OrderingPart]:
        number, of = planner.next_stage()
        seed = planner.seed
        yield OrderingPart(
            id=f"stage-{number}",
            title=f"Stage {number}",
            number=number,
            of=of,
            orders=tuple(
                shuffled(CARDS, seed, planner.participant, "ordering", question)
                for question in range(item.questions)
            ),
            think_aloud=item.think_aloud,
        )

    def machine(self, part: OrderingPart, index: int, context: MachineContext) -> OrderingMachine:
        return OrderingMachine(part, index)

    def pictures(
        self, part: OrderingPart, context: PictureContext
    ) -> QuestionPictures[OrderingPart]:
        return QuestionPictures(part, context)

    def screen(self, part: OrderingPart) -> str:
        return "ordering.screen:OrderingScreen"

    def simulate(self, part: OrderingPart, participant: SimulatedParticipant) -> Sorter:
        return Sorter(part, participant)


TASK = Ordering()
