"""What is recorded of the task: a row a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ordering.task import CardMoved, OrderingDrawn, OrderingPart, OrderingShown, moved

from labapp.analysis.column import INCLUDED, TRIAL, WHERE, WHO, seconds, text, whole, yes
from labapp.analysis.task_records import Attempt, Key, Ran, Row, TaskRecords, TaskTables
from labapp.record.events import Event, Payload
from labapp.record.events.trials import TrialEnded
from labapp.study.plugins.bids import STAGE_TYPE, Column, TaskFiles

ORDERS = (
    *WHO,
    *WHERE,
    *TRIAL,
    text("order", "the cards in the order that counts"),
    whole("moves", "how many cards were moved"),
    seconds("response_s", "from the cards' appearance to Next, without pauses and gaps"),
    yes("excluded", "an attempt that does not count"),
    INCLUDED,
)


class Order(Attempt):
    """One attempt at one question."""

    def __init__(self, part: OrderingPart, key: Key, order: tuple[str, ...]) -> None:
        super().__init__(key)
        self.part, self.order, self.moves = part, order, 0
        self.ended_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case OrderingShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case CardMoved():
                self.order = moved(self.order, payload)
                self.moves += 1
            case TrialEnded():
                self.ended_ns = working


class OrderingRecords(TaskRecords[OrderingPart, Order]):
    tables = TaskTables(own={"orders": ORDERS})
    begins = OrderingDrawn.kind
    kinds = frozenset({OrderingShown.kind, CardMoved.kind})

    def begin(self, part: OrderingPart, key: Key, event: Event, payload: OrderingDrawn) -> Order:
        return Order(part, key, payload.order)

    def trial_row(self, attempt: Order) -> Row:
        return {"duration_s": attempt.since_start(attempt.ended_ns)}

    def stage_row(self, part: OrderingPart, attempts: Sequence[Order], ran: Ran) -> Row:
        return {"n_answered": sum(attempt.outcome == "answered" for attempt in attempts)}

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {"orders": map(_row, self.attempts)}


def _row(attempt: Order) -> Row:
    return {
        "stage": attempt.part.id,
        "stage_number": attempt.part.number,
        "trial": attempt.trial,
        "attempt": attempt.attempt,
        "order": " ".join(attempt.order),
        "moves": attempt.moves,
        "response_s": attempt.since_start(attempt.ended_ns),
        "excluded": attempt.excluded_because is not None,
    }


FILES = TaskFiles(
    parts=("ordering",),
    name="ordering",
    label="ordering",
    description="The participant puts cards in order.",
    event_columns=(
        Column("order", "trial: how the cards lay at first."),
        Column("card", "moved: which card."),
        Column("place", "moved: where to, from 0."),
        Column("device", "moved: the input: mouse, keyboard, simulated."),
    ),
    types={
        "stage": STAGE_TYPE,
        "trial": "A question, from its appearance to Next or its end otherwise.",
        "moved": "A card was moved.",
    },
    kinds={CardMoved.kind: "moved"},
    drawn=OrderingDrawn.kind,
    shown=OrderingShown.kind,
    table="orders",
)
KEPT_TEXT = {OrderingDrawn.kind: ("order",), CardMoved.kind: ("card", "device")}
