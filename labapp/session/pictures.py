"""The pictures of the part that runs: made for each part by its task type.

The worker that decodes for the runner where a decoder is slow.

The decoders of a session, loaded and warmed up before the participant sees them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from labapp.base.reading import files
from labapp.models.representations.card import CARD
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.decoding import Decoder
from labapp.models.representations.effects import warm_up
from labapp.models.representations.package import files_sha256, find, load_package, tasks_of
from labapp.models.representations.recipe import InTasks, in_tasks
from labapp.record.events.commands import Command
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.session.machine import SessionState
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import Job, PartPictures, PictureContext


class PictureRenderer:
    """The pictures that are on show, in step with the state.

    slow: ids of models that decode in the worker; post: calls a function in the runner's thread;
    on_decoded(command): the worker is done, and this follows (None: other pictures, nothing to
    ask).
    """

    def __init__(
        self,
        decoders: Mapping[str, Decoder],
        slow: frozenset[str],
        post: Callable[[Callable[[], None]], None],
        on_decoded: Callable[[Command | None], None],
    ) -> None:
        self.context = PictureContext(decoders, slow, self._request, on_decoded)
        self._post = post
        self._worker: DecodeWorker | None = None
        self._pictures: PartPictures[Any] | None = None
        self._index = -1
        self._state: Any = None

    @property
    def of_part(self) -> PartPictures[Any] | None:
        """Those of the part that runs; None if no part does."""
        return self._pictures

    @property
    def pictures(self) -> Any:
        """What the part that runs shows; None if it has no pictures, or none yet."""
        return None if self._pictures is None else self._pictures.shown

    def sync(self, part: PlannedPart | None, state: SessionState) -> None:
        """Bring the pictures in step with the state."""
        if part is None:
            self._pictures, self._index = None, -1
        elif self._pictures is None or state.index != self._index:
            self._pictures = registry.task_type_of(part).pictures(part, self.context)
            self._index = state.index
        self._state = state.part_state
        if self._pictures is not None:
            self._pictures.follow(state)

    def try_sync(self, part: PlannedPart | None, state: SessionState) -> Exception | None:
        """The same for a session that was not decided here; why its pictures cannot be shown."""
        try:
            self.sync(part, state)
        except Exception as error:  # noqa: BLE001 (a model that is another one here, or by now)
            return error
        return None

    @property
    def ready(self) -> bool:
        """Whether there is something to show of the present part, see `PartPictures.ready`."""
        return self._pictures is not None and self._pictures.ready(self._state)

    def due(self) -> Command | None:
        """What the pictures ask of a session that is not paused, see `PartPictures.due`."""
        return None if self._pictures is None else self._pictures.due(self._state)

    def close(self) -> None:
        """Join the worker."""
        if self._worker is not None:
            self._worker.close()

    def _request(self, job: Job) -> None:
        if self._worker is None:
            self._worker = DecodeWorker(self._post)
        self._worker.request(job)


class ShowsPictures:
    """A session with pictures: one that runs here or at another computer, or a recorded one."""

    _renderer: PictureRenderer

    @property
    def pictures(self) -> Any:
        """What the part on the screen shows besides its state, of a type that its task says; None
        if it has no pictures, or none yet."""
        return self._renderer.pictures

    @property
    def ready(self) -> bool:
        """Whether there is something to show of the present part (see `PartPictures.ready`)."""
        return self._renderer.ready


SLOW_MS = 8.0
"""A decoder whose 99th percentile is above this is moved off the GUI thread."""


class DecodeWorker:
    """One thread that decodes the latest request and forgets the ones before it.

    deliver: calls a function in the runner's thread. What a job raises is raised there too, so
    that a decoder that breaks is noticed instead of freezing the picture.
    """

    def __init__(self, deliver: Callable[[Callable[[], None]], None]) -> None:
        self._deliver = deliver
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode-worker")
        self._lock = threading.Lock()
        self._next: Job | None = None
        self._closing = False
        self._running: Future[Callable[[], None]] | None = None

    def request(self, job: Job) -> None:
        """Run `job` in the worker; the function it returns is called in the runner's thread."""
        with self._lock:
            if self._closing:
                return
            waiting, self._next = self._next, job
            if waiting is None:
                self._running = self._pool.submit(self._run)
                self._running.add_done_callback(self._deliver_result)

    def close(self, timeout_s: float = 2.0) -> None:
        """Forget the job that waits, and join the thread if its job ends in time."""
        with self._lock:
            self._closing = True
            self._next = None
        left = wait([self._running] if self._running else [], timeout_s).not_done
        self._pool.shutdown(wait=not left, cancel_futures=True)

    def _run(self) -> Callable[[], None]:
        with self._lock:
            job, self._next = self._next, None
        return job() if job is not None else lambda: None

    def _deliver_result(self, future: Future[Callable[[], None]]) -> None:
        if not self._closing and not future.cancelled():
            self._deliver(lambda: future.result()())


@dataclass(frozen=True)
class WarmDecoders:
    """Decoders by model id, and what the warm-up of each measured.

    files: by model id the hash of the files that its decoder was read from; of a decoder that was
    read from no files there is none.
    """

    decoders: dict[str, LoadedDecoder]
    warmed: list[DecoderWarmed]
    files: dict[str, str] = field(default_factory=dict)

    def unchanged(self) -> WarmDecoders:
        """Those whose files are still what they were read from."""
        return self._of(
            {
                model
                for model in self.decoders
                if model not in self.files or files_sha256(model) == self.files[model]
            }
        )

    def with_others(self, others: WarmDecoders) -> WarmDecoders:
        """These and others, which replace those of the same models."""
        rest = self._of(self.decoders.keys() - others.decoders.keys())
        return WarmDecoders(
            rest.decoders | others.decoders, rest.warmed + others.warmed, rest.files | others.files
        )

    def _of(self, models: Set[str]) -> WarmDecoders:
        return WarmDecoders(
            {model: decoder for model, decoder in self.decoders.items() if model in models},
            [times for times in self.warmed if times.model in models],
            {model: sha256 for model, sha256 in self.files.items() if model in models},
        )


@dataclass(frozen=True, slots=True)
class ReadDecoder:
    """A decoder that was read, and is not warm yet. sha256: of its files before that."""

    decoder: LoadedDecoder
    sha256: str


def read_decoder(model: str, device: str | None = None) -> ReadDecoder:
    """Read a model by id, in whatever thread: that takes most of the time. Raises ModelError."""
    sha256_before = files_sha256(model)  # before it is read: what is written now is news
    return ReadDecoder(load_package(model, device, threads=1), sha256_before)


def warm_decoder(model: str, read: ReadDecoder) -> WarmDecoders:
    """Warm up a model that was read, in the thread that will decode: its times are measured.
    Raises ModelError."""
    times = warm_up(read.decoder, 50)
    warmed = DecoderWarmed(
        model,
        times.device,
        times.threads,
        times.n,
        times.median_ms,
        times.p99_ms,
        sha256(files.content(card_path(model))).hexdigest(),
        *read.decoder.backend,
    )
    return WarmDecoders({model: read.decoder}, [warmed], {model: read.sha256})


def load_warm(
    models: Iterable[str],
    device: str | None = None,
    progress: Callable[[str], None] = lambda model: None,
) -> WarmDecoders:
    """Load and warm up models by id, one CPU thread each. Raises ModelError."""
    warm = WarmDecoders({}, [])
    for model in models:
        progress(model)
        warm = warm.with_others(warm_decoder(model, read_decoder(model, device)))
    return warm


def card_path(model: str) -> Path:
    """The card of a model given by id. Raises ModelError when there is no such model."""
    return find(model) / CARD


def tasks_of_loaded(model: str, decoder: Decoder) -> InTasks:
    """What tasks follow of a model: of the one that is loaded, where it has a card."""
    card = getattr(decoder, "card", None)
    return tasks_of(model) if card is None else in_tasks(card)
