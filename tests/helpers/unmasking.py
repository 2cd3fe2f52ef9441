"""Studies that unmask the pictures of a small set, and their task played by hand like helpers.play
does: the screen paints what is due at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from labapp.models.stimuli import masked_pictures
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events.commands import Begin, Next
from labapp.session.machine import SessionMachine
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.machine import UnmaskingTask
from labapp.tasks.unmasking.plan import (
    PlannedMask,
    PlannedSequence,
    ResponseButton,
    StimulusTrial,
    Unmasked,
    UnmaskingPart,
    UnmaskingState,
)
from tests.helpers import stimuli
from tests.helpers.beside import put_beside, write_flow
from tests.helpers.play import NS, Play

MASKS = (5.0, 15.0, 45.0)
CLASSES = ("disc", "ring")
METHODS = {"middle": "Middle", "edge": "Edge"}

TEXTS = {
    "example.md": "# An example\n\nYou see {masks} pictures of one image. {question}",
    "intro.md": "# Now it begins\n\nThere are {stimuli} pictures: {classes}.",
    "rest.md": "# A break\n\nTake a rest.",
}


def made(folder: Path) -> StimulusSet:
    """The small set: two numbered sets of four images of discs and rings, two methods."""
    return stimuli.write(folder, "scores")


def write_unmasking_study(
    folder: Path,
    found: StimulusSet,
    *,
    before: Iterable[Any] = (),
    after: Iterable[Any] = (),
    language: str = "en",
    when_interrupted: str = "resume",
    **stages: Any,
) -> Path:
    """The file of a study with one unmasking stage: an example, then the first set in three masks,
    24 stimuli in a row.

    before, after: items of the flow around the stage; stages: more of `stages`, or other values.
    """
    put_beside(folder)
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    said = {
        "task": "unmasking",
        "stimuli": str(found.folder),
        "masks": list(MASKS),
        "example": "example.md",
        "intro": "intro.md",
        "question": "What is shown?",
        **stages,
    }
    flow = [*before, {"stages": said}, *after]
    return write_flow(folder / "unmasking.yaml", flow, language, when_interrupted)


def unmasking_part(sequences: int = 2, masks: int = 3, **changes: Any) -> UnmaskingPart:
    """A block of some sequences, each of some masks; keywords replace settings."""
    percents = tuple(float(5 * n) for n in range(1, masks + 1))
    values: dict[str, Any] = {
        "id": "stage-1",
        "title": "Stage 1",
        "role": "stage",
        "number": 1,
        "of": 1,
        "unmasked": Unmasked(
            stimuli="tiny-scores",
            manifest_sha256="0" * 64,
            set=1,
            classifier=None,
            classifier_sha256=None,
            accuracy=76.0,
            classes=CLASSES,
            methods=METHODS,
            percents=percents,
            fill="mean",
            level=(128,),
            sign="signed",
            grid=(24, 24),
        ),
        "question": "",
        "buttons": (
            ResponseButton(of="disc", name="disc", key="F"),
            ResponseButton(of="ring", name="ring", key="J"),
            ResponseButton(of=None, name="", key="Space"),
        ),
        "sequences": tuple(sequence(n, percents) for n in range(sequences)),
        "first": 0,
        "total": sequences * masks,
        "size_px": 384,
        "blank_ms": 0,
        "think_aloud": False,
    }
    return UnmaskingPart.model_validate(values | changes)


def sequence(number: int, percents: tuple[float, ...]) -> PlannedSequence:
    """A sequence of an image of its own, the number-th from 0; every fourth is predicted wrongly
    (the third, the seventh …)."""
    truth, method = CLASSES[number % 2], tuple(METHODS)[number // 2 % 2]
    wrong = number % 4 == 2
    image = f"p{number:02}"
    return PlannedSequence(
        image=image,
        picture=f"{image}.png",
        method=method,
        truth=truth,
        prediction=CLASSES[1 - number % 2] if wrong else truth,
        logits=(1.0, -1.0),
        masks=tuple(
            PlannedMask(
                percent=percent,
                pixels=masked_pictures.pixels(percent, 576),
                picture=f"masked:tiny-scores:{image}:{method}:mean:signed:{percent:g}",
                logits=(0.5, -0.5),
            )
            for percent in percents
        ),
    )


class UnmaskingPlay(Play):
    """Sends what the runner and the screen would: Begin, and StimulusPainted when it is due.

    paints: whether the screen paints by itself; a blank is waited for.
    """

    paints: bool = True

    @classmethod
    def of(cls, *parts: UnmaskingPart, restarts: bool = False, **changes: Any) -> UnmaskingPlay:
        """A session of these parts, by default of one made with `changes`."""
        all_of_them = parts or (unmasking_part(**changes),)
        tasks = [UnmaskingTask(part, index) for index, part in enumerate(all_of_them)]
        play = cls(SessionMachine(all_of_them, tasks, {1: "insight"}, restarts=restarts))
        play.start()
        return play

    def _automatic(self) -> None:
        while self.machine.wants_begin(self.state):
            self.store(self.machine.decide(self.state, Begin(), self.now_ns))
        seen = self.stimulus
        if self.paints and seen is not None and seen.due:
            self.now_ns = max(self.now_ns, seen.due_ns)
            self.paint()

    def paint(self, painted_ns: int | None = None) -> None:
        """The screen says when it painted the stimulus, by default now."""
        at = self.now_ns if painted_ns is None else painted_ns
        self.store(self.machine.decide(self.state, StimulusPainted(at, "frame", 16.7), self.now_ns))

    @property
    def unmasking(self) -> UnmaskingState:
        assert isinstance(self.state.part_state, UnmaskingState)
        return self.state.part_state

    @property
    def stimulus(self) -> StimulusTrial | None:
        state = self.state.part_state
        return state.trial if self.state.running and isinstance(state, UnmaskingState) else None

    def respond(
        self, response: int = 1, *, after_s: float = 0.5, input_ns: int | None = None
    ) -> int:
        """Respond to the stimulus on the screen; how many events that led to."""
        self.now_ns += round(after_s * NS)
        at = self.now_ns if input_ns is None else input_ns
        return len(self.send(Respond(response, "key", at, "event")))

    def through(self, response: int = 1) -> None:
        """Respond to every stimulus that is left."""
        while self.state.ended is None and self.stimulus is not None:
            assert self.respond(response)


def play_unmasking(runner: Any, responses: Iterable[int], *, after_ns: int = 400_000_000) -> int:
    """Respond to the stimuli of a real runner on a clock that stands still, until the responses, or
    the stimuli, are over; texts and breaks in between are gone through. How many were given."""
    given = 0
    for response in responses:
        while runner.part is not None and not isinstance(runner.part, UnmaskingPart):
            runner.clock.advance(1.0)
            runner.send(Next())
        if runner.part is None:
            break
        trial = runner.state.part_state.trial
        runner.clock.set_ns(max(runner.clock.now_ns(), trial.due_ns))
        runner.send(StimulusPainted(runner.clock.now_ns(), "frame", 16.7))
        runner.clock.set_ns(runner.clock.now_ns() + after_ns)
        runner.send(Respond(response, "key", runner.clock.now_ns(), "event"))
        given += 1
    return given
