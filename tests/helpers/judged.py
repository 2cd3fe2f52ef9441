"""Sessions in which explanations are judged: played by the program's own state machine, written as
journals. What a participant answers is a function of the test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.record.events import Event, Payload, Source, UnstampedEvent, payload_of
from labapp.record.events.commands import Begin, HandIn, Next, ShowQuestion
from labapp.record.events.lifecycle import PartEnded, PartStarted, SessionCompleted, StimuliStored
from labapp.record.events.trials import QuestionnaireSubmitted
from labapp.session.machine import SessionMachine
from labapp.study.loading import files_digest
from labapp.study.plan import QuestionnairePart, to_rows
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.machine import JudgingTask as Machine
from labapp.tasks.judging.machine import PhotoTrial, WarmUpTask
from labapp.tasks.judging.plan import (
    ExplainedModel,
    JudgingPart,
    JudgingTask,
    PhotoQuestion,
    WarmUpPart,
)
from tests.helpers.journals import SessionBuilder
from tests.helpers.play import NS, Play
from tests.helpers.play_judging import explained, judging_part, photo, warm_up_part

Choose = Callable[[PhotoTrial, PhotoQuestion], int]
"""The answer to a question about a photo."""
Said = tuple[str, Mapping[str, Any]]
"""An instrument and the answers to its items."""


def first_answers(trial: PhotoTrial, question: PhotoQuestion) -> int:
    return question.first


@dataclass
class JudgedSession:
    """One session: a warm-up where wanted, a stage, then questionnaires.

    before, after: questionnaires before and after the stage.
    """

    task: JudgingTask
    participant: str = "P01"
    study: str = "judged"
    method: str = "TestNet"
    labels: bool = False
    set: int = 3
    photos: int = 4
    accuracy: float = 76.1
    warm_up: bool = False
    choose: Choose = first_answers
    before: list[Said] = field(default_factory=list)
    after: list[Said] = field(default_factory=list)
    pause_s: float = 2.0

    def part(self) -> JudgingPart:
        """The stage: every second photo is predicted wrongly, where the task has such."""
        right = self.task in ("prototype-distinction", "path-distinction")
        photos = tuple(
            photo(self.task, n, correct=right or n % 2 == 1) for n in range(1, self.photos + 1)
        )
        said = explained(self.task).model_dump() | {
            "method": self.method,
            "accuracy": self.accuracy,
        }
        return judging_part(
            self.task,
            photos=photos,
            labels=self.labels,
            set=self.set,
            explained=ExplainedModel.model_validate(said),
        )

    def builder(self) -> SessionBuilder:
        """The journal of the session, complete."""
        stage = self.part()
        parts: list[JudgingPart | WarmUpPart] = [warm_up_part()] if self.warm_up else []
        parts.append(stage)
        asked = [
            QuestionnairePart(
                id=f"questionnaire-{n}",
                title="",
                instrument=said[0],
                about=None,
                about_person=said[0] == "hive-demographics",
            )
            for n, said in enumerate([*self.before, *self.after], start=1)
        ]
        before, after = asked[: len(self.before)], asked[len(self.before) :]
        made = SessionBuilder(self.participant, study=self.study, study_files=None)
        made.plan(
            to_rows([*before, *parts, *after]),
            assignment={"number": 1, "set": self.set},
            study_sha256=files_digest({}),  # there is no study folder
        )
        made.segment(0, 1)
        at_s = 1.0
        for index, (part, said) in enumerate(zip(before, self.before, strict=True)):
            at_s = _questionnaire(made, at_s, index, part, said)
        shift = round(at_s * NS)
        for event in self.play(parts):
            if event.kind != "segment.started":
                _copied(made, event, shift)
                at_s = (shift + event.t_ns) / NS
        for index, (part, said) in enumerate(
            zip(after, self.after, strict=True), start=len(before) + len(parts)
        ):
            at_s = _questionnaire(made, at_s, index, part, said)
        made.at(at_s + 1, SessionCompleted())
        return made

    def play(self, parts: list[JudgingPart | WarmUpPart]) -> list[Event]:
        """The events of the parts, answered one question after another every `pause_s`."""
        tasks = [
            WarmUpTask(part, index)
            if isinstance(part, WarmUpPart)
            else Machine(part, index, 7, self.study, self.participant)
            for index, part in enumerate(parts)
        ]
        play = Play(SessionMachine(parts, tasks, {}), auto=False)
        play.start()
        while True:
            while play.machine.wants_begin(play.state):
                play.store(play.machine.decide(play.state, Begin(), play.now_ns))
            if not play.state.running:
                return play.events
            self._answer(play, tasks[play.state.index])

    def _answer(self, play: Play, task: Machine | WarmUpTask) -> None:
        play.send(ShowQuestion())
        while missing := task.missing(play.state.part_state.trial):
            play.now_ns += round(self.pause_s * NS)
            trial, question = play.state.part_state.trial, missing[0]
            play.send(Judge(question.id, self.choose(trial, question), "mouse"))
        play.now_ns += round(self.pause_s * NS)
        if isinstance(task, WarmUpTask):
            play.send(HandIn())
        play.send(Next())

    def write(self, root: Path, *, pictures: Mapping[str, bytes] | None = None) -> Path:
        """The session folder; pictures: kept with it, by what the plan calls them."""
        made = self.builder()
        files = {
            ref: f"{hashlib.sha256(content).hexdigest()}.png"
            for ref, content in (pictures or {}).items()
        }
        if pictures:
            made.at(0.5, StimuliStored("test-set", "0" * 64, files))
        folder = made.write(root)
        for ref, content in (pictures or {}).items():
            path = folder / "stimuli" / files[ref]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return folder


def of_play(play: Play, participant: str = "P01", study: str = "judged") -> SessionBuilder:
    """The journal of what was played so far."""
    made = SessionBuilder(participant, study=study, study_files=None)
    made.plan(to_rows(play.machine.parts), study_sha256=files_digest({}))
    for event in play.events:
        _copied(made, event, 0)
    return made


def _copied(made: SessionBuilder, event: Event, shift_ns: int) -> None:
    unstamped = UnstampedEvent(payload_of(event), event.part_id, event.trial, event.attempt)
    made.rows.append((event.t_ns + shift_ns, Source.SIMULATED, unstamped))


def _questionnaire(
    made: SessionBuilder, at_s: float, index: int, part: QuestionnairePart, said: Said
) -> float:
    """A questionnaire handed in 3 s after it was shown; when the next part can begin."""
    instrument, answers = said
    payloads: list[Payload] = [
        PartStarted(index),
        QuestionnaireSubmitted(instrument, 1, dict(answers)),
        PartEnded(index, "completed"),
    ]
    for seconds, payload in zip((0.1, 3.0, 3.0), payloads, strict=True):
        made.at(at_s + seconds, payload, part.id)
    return at_s + 4.0
