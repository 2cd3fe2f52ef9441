"""The pictures of a part on the participant's screen, kept in step with the session's state.

A fast decoder decodes at once, in the runner's thread. A slow one decodes in a worker: the dials
never wait for it, and a trial begins when its pictures are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from labapp.models.representations.decoding import Decoder
from labapp.record.events.commands import Command, ShowQuestion
from labapp.record.events.registry import Pauses
from labapp.study.plugins.part import PlannedPart

Job = Callable[[], Callable[[], None]]
"""Work for the worker; the function it returns is called in the runner's thread."""

P = TypeVar("P", bound=PlannedPart)


class Session(Protocol):
    """What pictures ask of the session's state besides the state of the part."""

    @property
    def part_state(self) -> Any: ...
    @property
    def pauses(self) -> Pauses: ...


@dataclass(frozen=True)
class PictureContext:
    """What decodes.

    Attributes
    ----------
    decoders : by model id, for every model of the plan.
    slow : ids of the models that decode in the worker.
    request : runs a job in the worker, which forgets an earlier one that still waits.
    came : to be called in the runner's thread when the worker is done, with the command that
        follows; with None if there are other pictures and nothing to ask.
    """

    decoders: Mapping[str, Decoder]
    slow: frozenset[str]
    request: Callable[[Job], None]
    came: Callable[[Command | None], None]


class PartPictures(Generic[P]):
    """The pictures of one part while it runs; as it stands here, a part has none.

    Attributes
    ----------
    shown
        What is on show, of a type that the task and its screen agree on; None if the part has no
        pictures, or none yet.
    """

    def __init__(self, part: P, context: PictureContext) -> None:
        self.part = part
        self.context = context
        self.shown: Any = None

    def follow(self, session: Session) -> None:
        """Bring the pictures in step with the state (a new trial, a resumed one)."""

    def ready(self, state: Any) -> bool:
        """Whether there is something to show: the trial was drawn and its pictures are ready. The
        screen of a part is created only then, since a resumed session, for example, has its part
        long before it has pictures. state: of the part."""
        return not self.part.has_trials or state.trial is not None

    def due(self, state: Any) -> Command | None:
        """What the pictures request from a session that is not paused: to begin a trial whose
        pictures are ready, or to record the picture after a movement."""
        return None


class QuestionPictures(PartPictures[P]):
    """The pictures of questions that come one after the other: one begins when they are there,
    which pictures that are files are at once."""

    def due(self, state: Any) -> Command | None:
        question = state.trial
        waits = question is not None and question.started_ns is None and question.outcome is None
        return ShowQuestion() if waits and self.ready(state) else None


class DecodedPictures(QuestionPictures[P]):
    """The pictures of questions about a model, decoded when they are others than those asked for
    last: at once, or in the worker where the model is slow."""

    def __init__(self, part: P, context: PictureContext) -> None:
        super().__init__(part, context)
        self._slow = not context.slow.isdisjoint(part.models())
        self._of: tuple[int, ...] | None = None

    def ready(self, state: Any) -> bool:
        return super().ready(state) and self.shown is not None

    def show(self, key: tuple[int, ...], decode: Callable[[], Any]) -> None:
        """Show what is decoded. key: what the pictures are of; all but its last number say which
        question, whose former pictures stay until the others are there."""
        if key == self._of:
            return
        if self._of is None or self._of[:-1] != key[:-1]:
            self.shown = None
        self._of = key
        if not self._slow:
            self.shown = decode()
            return

        def job() -> Callable[[], None]:
            decoded = decode()
            return lambda: self._receive_decoded(key, decoded)

        self.context.request(job)

    def _receive_decoded(self, key: tuple[int, ...], decoded: Any) -> None:
        """The worker is done; the question may be over meanwhile, or ask for other pictures."""
        if key == self._of:
            self.shown = decoded
            self.context.came(None)
