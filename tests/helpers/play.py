"""A session machine played by hand: commands in, stamped events out, no files and no threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from labapp.record.events import Event, Payload, UnstampedEvent, payload_of
from labapp.record.events.commands import Begin, Command, Tick
from labapp.record.events.lifecycle import SegmentStarted
from labapp.record.events.registry import payload_text
from labapp.session.machine import SessionMachine, SessionState
from labapp.study.instruments import Instrument
from labapp.study.plan import PagesPart, QuestionnairePart
from labapp.study.plugins.machine import PartMachine, TextMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.consent.machine import ConsentPart, ConsentTask
from labapp.tasks.questionnaire.machine import QuestionnaireTask
from labapp.tasks.reconstruction.events import Decoded, Presented
from labapp.tasks.reconstruction.machine import (
    ReconstructionTask,
    StageState,
    Trial,
    TutorialMachine,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialBox, TutorialPart

NS = 1_000_000_000

SPACE = LatentSpace((Discrete("shape", 3), Continuous("x", -1.003, 2.0), Continuous("y", 0.0, 1.0)))
"""A discrete dial, one whose low limit lies off the step, and an ordinary one."""

INSTRUMENT = Instrument.model_validate(
    {
        "id": "two",
        "version": 1,
        "title": "Two questions",
        "source": "made for tests",
        "items": [
            {"id": "ease", "text": "Easy?", "points": 7, "low": "no", "high": "yes"},
            {
                "id": "joy",
                "text": "Fun?",
                "points": 5,
                "low": "no",
                "high": "yes",
                "required": False,
            },
        ],
    }
)


def stage_part(part_id: str = "stage-1", **changes: Any) -> ReconstructionPart:
    """A stage of two questions on SPACE; keywords replace settings."""
    values: dict[str, Any] = {
        "id": part_id,
        "title": "Stage 1",
        "role": "stage",
        "number": 1,
        "of": 1,
        "model": "test/model",
        "display": "image",
        "dimensions": SPACE.to_json(),
        "trials": 2,
        "sampling": "uniform",
        "distance": "dsprites",
        "target_alignment": 0.9,
        "skip": "after",
        "skip_after_s": 10.0,
        "inactivity_s": 3.0,
        "active_time": "paused",
        "time_limit_s": None,
        "overlay_at_start": False,
        "labels_editable": True,
        "think_aloud": True,
    }
    return ReconstructionPart.model_validate(values | changes)


def stage_task(part: ReconstructionPart, index: int = 0) -> ReconstructionTask:
    return ReconstructionTask(part, index, LatentSpace.from_json(part.dimensions), None, 7, "P01")


def whole_machine(*stages: ReconstructionPart, restarts: bool = False) -> SessionMachine:
    """Consent, a text, a tutorial, these stages, a questionnaire, a debrief. restarts: a stage that
    was broken off begins again."""
    rows = tuple(SPACE.to_json())
    box = TutorialBox(model="test/model", display="image", dimensions=rows, start=(0.0, 0.5, 0.5))
    document = {"document": "d.md"}
    parts: list[PlannedPart] = [
        ConsentPart(id="consent", title="", document_sha256="0" * 64, **document),
        PagesPart(part="text", id="text-1", title="", **document),
        TutorialPart(id="tutorial", title="", boxes=(box,), **document),
        *stages,
        QuestionnairePart(id="questionnaire-1", title="", instrument="two", about=None),
        PagesPart(part="debrief", id="debrief", title="", **document),
    ]
    tasks: list[PartMachine[Any]] = []
    for index, part in enumerate(parts):
        match part:
            case ConsentPart():
                tasks.append(ConsentTask(part, index))
            case TutorialPart():
                tasks.append(TutorialMachine(part, index, 2, (SPACE,)))
            case PagesPart():
                tasks.append(TextMachine(part, index, 3))
            case QuestionnairePart():
                tasks.append(QuestionnaireTask(part, index, INSTRUMENT))
            case ReconstructionPart():
                tasks.append(stage_task(part, index))
    return SessionMachine(parts, tasks, {1: "insight", 4: "technical"}, restarts=restarts)


def stage_machine(**changes: Any) -> SessionMachine:
    """A session of one stage."""
    part = stage_part(**changes)
    return SessionMachine((part,), (stage_task(part),), {1: "insight"})


def _no_alignment(trial: Trial) -> float:
    return 0.0


@dataclass
class Play:
    """Plays a machine. now_ns: session time; alignment: what a decoded question comes to.

    auto: send what the runner would (Begin, Presented, Decoded) after every command.
    """

    machine: SessionMachine
    alignment: Callable[[Trial], float] = _no_alignment
    auto: bool = True
    now_ns: int = 0
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state: SessionState = self.machine.initial()
        self.segment = 0

    def start(self) -> Play:
        """A run of the program begins (again, after a crash)."""
        self.segment += 1
        gap = self.events[-1].t_ns if self.events else None
        payload = SegmentStarted(self.segment, "2026-01-02T03:04:05.000000Z", "b", "0", "0", gap)
        self.store((UnstampedEvent(payload),))
        if self.auto:
            self._automatic()
        return self

    def store(self, events: Sequence[UnstampedEvent]) -> None:
        """Stamp, write as JSON and fold."""
        for unstamped in events:
            payload: Payload = unstamped.payload
            event = Event(
                len(self.events) + 1,
                self.segment,
                self.now_ns,
                "2026-01-02T03:04:05.000000Z",
                "simulated",
                payload.kind,
                payload.version,
                unstamped.part_id,
                unstamped.trial,
                unstamped.attempt,
                json.loads(payload_text(payload.as_dict())),
            )
            self.events.append(event)
            self.state = self.machine.apply(self.state, event, payload_of(event))

    def send(self, command: Command) -> Sequence[UnstampedEvent]:
        events = self.machine.decide(self.state, command, self.now_ns)
        self.store(events)
        if self.auto:
            self._automatic()
        return events

    def _automatic(self) -> None:
        while self.machine.wants_begin(self.state):
            self.store(self.machine.decide(self.state, Begin(), self.now_ns))
        if self.state.pauses.held or (trial := self.trial) is None:
            return
        align = self.alignment(trial)
        if trial.started_ns is None:
            self.send(Presented(align, 4.0, 0.5))
        elif trial.running and trial.z_seq > trial.decoded_seq:
            self.send(Decoded(trial.z_seq, trial.z, align, 4.0, 0.5))

    def wait(self, seconds: float) -> Play:
        """Let time pass, with a Tick at every deadline, as the runner's timer sends them."""
        until = self.now_ns + round(seconds * NS)
        while (due := self.machine.next_deadline(self.state)) is not None and due <= until:
            self.now_ns = max(self.now_ns, due)
            assert self.send(Tick()), "a deadline that leads to nothing"
        self.now_ns = until
        return self

    def crash(self, seconds: float) -> Play:
        """The program is killed, and started again after so long."""
        self.now_ns += round(seconds * NS)
        return self.start()

    @property
    def stage(self) -> StageState:
        assert isinstance(self.state.part_state, StageState)
        return self.state.part_state

    @property
    def trial(self) -> Trial | None:
        state = self.state.part_state
        return state.trial if self.state.running and isinstance(state, StageState) else None

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def working_ns(self) -> int:
        return self.state.pauses.working_ns(self.now_ns)
