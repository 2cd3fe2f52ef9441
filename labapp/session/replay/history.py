"""A recorded session at any moment: its state, as the session's own state machine comes to it.

The same machine that decided in the session folds its journal again. So whatever the order in which
moments are asked for, a state is the one that the session had.
"""

from __future__ import annotations

import ctypes
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import accumulate, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import overload

import numpy as np
from numpy.typing import NDArray

from labapp.base import leftovers
from labapp.base.errors import LabappError, ModelError, RecordError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.models.representations.card import CARD
from labapp.models.representations.decoding import Array, Decoder
from labapp.models.representations.package import find, load_package
from labapp.models.representations.space import LatentSpace
from labapp.models.stimuli.gallery import RecordedGallery
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    DecoderWarmed,
    ParticipantSimulated,
    PartStarted,
    SegmentStarted,
    SessionPlanned,
    StimuliStored,
)
from labapp.record.events.look import WindowShown
from labapp.record.events.voice import SoundNow, SoundState
from labapp.record.journal.layout import STIMULI, STUDY, FolderTree, study_files_of
from labapp.record.journal.read import Row, payloads
from labapp.record.journal.record import Record
from labapp.session.machine import SessionMachine, SessionState
from labapp.session.pictures import card_path
from labapp.session.runner import machine_of
from labapp.session.stimuli import sets_of
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.study.plan import models_of
from labapp.study.plugins import registry

EVERY = 256
"""Events from one remembered state to the next: to fold so many takes 6 ms."""
MANY = 2_000
"""Events that are read in 10 ms, and folded in 50."""
HELD = 16
"""Blocks of so many events that are held, those asked for last."""
_OF_FILES = (DecoderWarmed.kind, StimuliStored.kind)
STALLED = "journal_stalled"
"""The alarm while a disk that does not answer keeps the screens waiting."""


class RecordedEvents(Sequence[tuple[Event, Payload]]):
    """Events with their payloads, read from the rows of a journal when they are asked for.

    Held as objects, those of 90 minutes take three times the memory of their rows.

    Parameters
    ----------
    rows : they were read before without an error.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._blocks: OrderedDict[int, list[tuple[Event, Payload]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> tuple[Event, Payload]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Event, Payload]]: ...
    def __getitem__(
        self, place: int | slice
    ) -> tuple[Event, Payload] | list[tuple[Event, Payload]]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        return self._block(at // EVERY)[at % EVERY]

    def __iter__(self) -> Iterator[tuple[Event, Payload]]:
        return payloads(self._rows)

    def _block(self, number: int) -> list[tuple[Event, Payload]]:
        block = self._blocks.get(number)
        if block is None:
            begin = number * EVERY
            block = self._blocks[number] = list(payloads(self._rows[begin : begin + EVERY]))
            if len(self._blocks) > HELD:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return block


def load_recorded_study(
    planned: SessionPlanned, folder: Path, *, safe: str | None = None, todo: str = ""
) -> LoadedStudy:
    """The study as a session had it. folder: its copy; safe, todo: for the error where a package is
    missing. Raises LabappError."""
    for row in planned.plan:
        if not registry.knows(task := str(row.get("part"))):
            raise RecordError(
                f"The session has parts of the kind {task!r}, which is unknown to labapp and to "
                "the packages installed here, so its screens cannot be shown.",
                safe=safe,
                todo=todo,
            )
    names = study_files_of([path.name for path in folder.iterdir()] if folder.is_dir() else [])
    if len(names) != 1:
        raise RecordError("The session has no copy of its study file, so no screen can be shown.")
    return loading.load(folder / names[0], planned.language, recorded=True)


def read_file_notes(noted: Iterable[Payload]) -> tuple[dict[str, str], dict[str, str]]:
    """SHA-256 of the cards by model, and names of pictures, as the session noted them."""
    cards: dict[str, str] = {}
    names: dict[str, str] = {}
    with suppress(RecordError):  # said when it is read in its turn
        for payload in noted:
            match payload:
                case DecoderWarmed():
                    cards[payload.model] = payload.card_sha256
                case StimuliStored():
                    names.update(payload.files)
    return cards, names


class History:
    """A session as it was, from its beginning to its end.

    Parameters
    ----------
    record : a session folder or a bundle; nothing of it is changed.
    also : is told of each event with its payload, too: a journal takes longest to be read.
    in_parts : read no event before it is asked for, by a time or by `read_on`; else all at once.

    Attributes
    ----------
    events : with their payloads, in the journal's order.
    times : session time of each event in ns, never falling.
    begin_ns, end_ns : session time of the first and the last event.
    loaded : the study as the session had it; None if it cannot be read.
    machine : of the session's plan; None if there is no screen to be shown.
    decoders : of the session's models.
    gallery : the pictures of its plan, where it has any.
    problem : why no screen can be shown, or not to the end; empty if all can.
    shown_windows : whether the session noted how large its window was, and what was scrolled in it.
    simulated : whether a program took part, and perhaps nobody saw a screen.
    """

    def __init__(
        self,
        record: Record,
        also: Callable[[Event, Payload], object] | None = None,
        *,
        in_parts: bool = False,
    ) -> None:
        self.record = record
        self.problem = ""
        kinds = {row.kind for row in record.rows}
        self.shown_windows = WindowShown.kind in kinds
        self.simulated = ParticipantSimulated.kind in kinds
        self._sounds: list[tuple[int, SoundState]] = []
        self._stalled: list[tuple[int, bool]] = []
        self._also = also
        self._reading = record.payloads()
        self._read = 0
        self.events = RecordedEvents(record.rows)
        # What another thread reported may be a little older than what stands before it.
        self.times: list[int] = list(accumulate((row.t_ns for row in record.rows), max))
        self.begin_ns = self.times[0]
        if not in_parts:
            self.read_on(len(self.times))
        self._temporary: TemporaryDirectory[str] | None = None
        self.loaded: LoadedStudy | None = None
        self.machine: SessionMachine | None = None
        try:
            loaded = load_recorded_study(self.record.planned, self._folder(STUDY))
            # Nobody decides anything any more, so that the machines need no decoder.
            self.machine = machine_of(loaded, record.planned, {})
            self.loaded = loaded
        except LabappError as error:
            self.problem = error.what
        models = () if self.machine is None else models_of(self.machine.parts)
        noted = payloads(row for row in record.rows if row.kind in _OF_FILES)
        cards, names = read_file_notes(payload for _, payload in noted)
        self.decoders = RecordedDecoders(dict.fromkeys(models, "") | cards)
        self.gallery = self._gallery(names)
        self._states = [] if self.machine is None else [self.machine.initial()]
        self._last: tuple[int, SessionState] | None = None

    def read_on(self, most: int = MANY) -> bool:
        """Read at most so many more events. Returns whether there are more.

        Where one cannot be read, or cannot be, the history ends before it, see `problem`.
        """
        begin, also = self._read, self._also
        try:
            for count, (event, payload) in enumerate(islice(self._reading, most), begin + 1):
                self._read = count
                if not payload.frequent:
                    self._note(count, payload)
                if also is not None:
                    also(event, payload)
        except RecordError as error:
            self.problem = self.problem or error.what
            self.events = RecordedEvents(self.record.rows[: self._read])
            del self.times[self._read :]
        return self._read < len(self.times)

    def _read_to(self, count: int) -> None:
        if count > self._read:
            self.read_on(count - self._read)

    @property
    def end_ns(self) -> int:
        return self.times[-1] if self.times else self.begin_ns

    def _note(self, count: int, payload: Payload) -> None:
        """What of an event, the count-th, is asked for again and again. Frequent ones say nothing
        of it: they are of a trial alone."""
        before = self._sounds[-1][1] if self._sounds else SoundState()
        sound = SoundState() if isinstance(payload, SegmentStarted) else before.apply(payload)
        if sound != before:
            self._sounds.append((count, sound))
        match payload:
            case AlarmRaised() | AlarmCleared() if payload.code == STALLED:
                self._stalled.append((count, isinstance(payload, AlarmRaised)))
            case SegmentStarted():
                self._stalled.append((count, False))

    def _folder(self, name: str) -> Path:
        """A folder of the record on the disk; of a bundle in an archive a copy."""
        below = self.record.tree.below(name)
        if isinstance(below, FolderTree):
            return below.path
        if self._temporary is None:
            self._temporary = TemporaryDirectory(
                prefix=leftovers.prefix("replay"), ignore_cleanup_errors=True
            )
        folder = Path(self._temporary.name) / name
        for file in below.names():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(below.read(file))
        return folder

    def _gallery(self, names: dict[str, str]) -> RecordedGallery | None:
        """The pictures of the plan; None if it has none."""
        if self.machine is None or self.loaded is None:
            return None
        parts = self.machine.parts
        if not names and not any(part.stimulus_sets() for part in parts):
            return None
        return RecordedGallery(self._folder(STIMULI), names, *sets_of(parts, self.loaded.study))

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be shown as it was, a sentence each."""
        return tuple(filter(None, (self.problem, *self.decoders.problems.values())))

    def events_until(self, t_ns: int) -> int:
        """How many events had happened at a session time, that one included."""
        self._read_to(bisect_right(self.times, t_ns))
        return bisect_right(self.times, t_ns)

    def state_at(self, t_ns: int) -> SessionState:
        """The state of the session at a session time. Raises RecordError if no state can be
        told, see `problem`."""
        return self.state_after(self.events_until(t_ns))

    def state_after(self, count: int) -> SessionState:
        """The state after so many events. Raises RecordError as `state_at`."""
        if self.machine is None:
            raise RecordError(self.problem, safe="The session was only read.")
        self._read_to(count)
        count = min(count, len(self.events))
        while len(self._states) <= count // EVERY:
            self._fold_block()
        begin, state = count // EVERY * EVERY, self._states[count // EVERY]
        # Most times lie a little behind the one before.
        if self._last is not None and begin <= self._last[0] <= count:
            begin, state = self._last
        state = self._fold(state, begin, count)
        self._last = count, state
        return state

    def is_far(self, t_ns: int) -> bool:
        """Whether the state at a session time takes long: many events are to be folded for it."""
        folded = EVERY * (len(self._states) - 1)
        return bisect_right(self.times, t_ns) - folded > MANY

    def fold_ahead(self) -> bool:
        """Fold some more events, so that a late time is not waited for when it is asked for first.
        Returns whether there are more."""
        if self.machine is None or len(self._states) > len(self.events) // EVERY:
            return False
        self._fold_block()
        return True

    def _fold_block(self) -> None:
        begin = (len(self._states) - 1) * EVERY
        self._read_to(begin + EVERY)
        self._states.append(self._fold(self._states[-1], begin, begin + EVERY))

    def _fold(self, state: SessionState, begin: int, end: int) -> SessionState:
        assert self.machine is not None
        apply = self.machine.apply
        for event, payload in self.events[begin:end]:
            state = apply(state, event, payload)
        return state

    def trails(self, begin_ns: int, end_ns: int) -> dict[int, list[tuple[int, float]]]:
        """Where each dial was moved in a time that is open at its beginning. Returns by the number
        of the dial, from 0, session time in ns and value of each movement, in order. Those of
        earlier questions and parts are left out."""
        trails: dict[int, list[tuple[int, float]]] = {}
        for place in range(self.events_until(begin_ns), self.events_until(end_ns)):
            event, payload = self.events[place]
            if payload.begins or isinstance(payload, PartStarted):
                trails.clear()
            elif (movement := payload.moved_dial()) is not None:
                trails.setdefault(movement[0], []).append((event.t_ns, movement[1]))
        return trails

    def sound_at(self, t_ns: int) -> SoundNow:
        """What became of sound at a time, as the participant's window said."""
        count = self.events_until(t_ns)
        place = bisect_right(self._sounds, count, key=lambda change: change[0])
        return self._sounds[place - 1][1].now if place else "waiting"

    def is_stalled_at(self, t_ns: int) -> bool:
        """Whether a disk that did not answer kept the session waiting."""
        count = self.events_until(t_ns)
        place = bisect_right(self._stalled, count, key=lambda change: change[0])
        return place > 0 and self._stalled[place - 1][1]

    def close(self) -> None:
        """Let go what was unpacked."""
        self.decoders.close()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


M_MMAP_THRESHOLD = -3
"""Of glibc's malloc.h."""
MOST_BYTES = 8 << 20
"""Of the pictures that are remembered of a model: going to and fro in a question decodes nothing
twice."""


class RememberingDecoder:
    """A decoder that remembers the last pictures it made."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._bytes = 0
        self._pictures: OrderedDict[bytes, Array] = OrderedDict()

    @property
    def id(self) -> str:
        return self._decoder.id

    @property
    def space(self) -> LatentSpace:
        return self._decoder.space

    @property
    def latents(self) -> Array | None:
        return self._decoder.latents

    @property
    def percentiles(self) -> Mapping[int, Array]:
        return self._decoder.percentiles

    @property
    def from_prior(self) -> bool:
        return self._decoder.from_prior

    def decode(self, z: NDArray[np.float32]) -> Array:
        """As the decoder itself: float32 (n, width) to float32 (n, *shape)."""
        key = z.tobytes()
        if key in self._pictures:
            self._pictures.move_to_end(key)
            return self._pictures[key]
        pictures = self._pictures[key] = self._decoder.decode(z)
        pictures.flags.writeable = False
        self._bytes += pictures.nbytes
        while self._bytes > MOST_BYTES and len(self._pictures) > 1:
            _, oldest = self._pictures.popitem(last=False)
            self._bytes -= oldest.nbytes
        return pictures


class RecordedDecoders(Mapping[str, Decoder]):
    """The decoders of a session by the ids of its models.

    Parameters
    ----------
    cards : SHA-256 of the card that each model had in the session; empty if it is not known.

    Attributes
    ----------
    places : folders of models that are not found by their ids.
    problems : by model, why its pictures are not there, or may not be those that were seen.
    """

    def __init__(self, cards: Mapping[str, str]) -> None:
        self._cards = cards
        self._decoders: dict[str, Decoder] = {}
        self._errors: dict[str, ModelError] = {}
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None
        self._begin = threading.Event()
        self._closed = False
        self._first: tuple[str, ...] = ()
        self.problems: dict[str, str] = {}
        self.places: dict[str, Path] = {}

    def misses(self, model: str) -> bool:
        """Whether the model of the session is not on this computer, or another one is in its
        place."""
        try:
            card = sha256(files.content(card_path(model))).hexdigest()
        except (LabappError, OSError):
            return True
        return bool(self._cards[model]) and card != self._cards[model]

    def place(self, model: str, folder: Path) -> None:
        """The files of a model are in this folder."""
        with self._lock:
            self.places[model] = folder
            self._decoders.pop(model, None)
            self._errors.pop(model, None)
            self.problems.pop(model, None)

    def __getitem__(self, model: str) -> Decoder:
        """A decoder. Raises KeyError for a model that the session does not have, and ModelError
        for one that cannot be loaded here."""
        with self._lock:
            if model in self._errors:
                raise self._errors[model]
            if model not in self._decoders:
                if model not in self._cards:
                    raise KeyError(model)
                self._decoders[model] = self._load(model)
            return self._decoders[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards)

    def __len__(self) -> int:
        return len(self._cards)

    def load_in_background(self) -> None:
        """Load all of them behind a window's back, as soon as that calls `begin`: networks take
        long, and until it is painted a window needs the processor for itself."""
        self._loading = threading.Thread(target=self._load_all, name="models", daemon=True)
        self._loading.start()

    def begin(self) -> None:
        """Begin with what is to be loaded in the background."""
        self._begin.set()

    def _load_all(self) -> None:
        self._begin.wait()
        _give_memory_back()
        while not self._closed and (left := [m for m in self._cards if not self._over(m)]):
            model = next((m for m in self._first if m in left), left[0])
            with suppress(ModelError):  # told where its pictures would be
                self[model]
            _give_memory_back()

    def _over(self, model: str) -> bool:
        return model in self._decoders or model in self._errors

    def awaited(self, models: Iterable[str]) -> bool:
        """Whether any of these is still to be loaded in the background; they come first then."""
        if self._loading is None or not self._loading.is_alive():
            return False
        self._first = tuple(model for model in models if not self._over(model))
        return bool(self._first)

    def close(self) -> None:
        """Wait for what is just being loaded, and load no more in the background."""
        self._closed = True
        self._begin.set()
        if self._loading is not None:
            self._loading.join()

    def _load(self, model: str) -> Decoder:
        try:
            place = self.places.get(model, model)
            decoder = load_package(place, "cpu", threads=1)
            card = sha256(files.content(find(place) / CARD)).hexdigest()
        except (LabappError, OSError) as error:
            why = error.what if isinstance(error, LabappError) else str(error)
            self._errors[model] = ModelError(
                Message("pictures_unshown", model=model, why=why),
                safe=Message("pictures_unshown_safe"),
                todo=Message("pictures_unshown_todo", model=model),
            )
            self.problems[model] = self._errors[model].what
            raise self._errors[model] from error
        if self._cards[model] and card != self._cards[model]:
            self.problems[model] = Message("pictures_of_another", model=model)
        return RememberingDecoder(decoder)


def _give_memory_back() -> None:
    """Give back to the system what the making of a network took and left: 50 MB of each, which
    glibc would keep for later. Other systems have their own ways."""
    with suppress(OSError, AttributeError):
        glibc = ctypes.CDLL("libc.so.6")
        # Blocks of 1 MiB and more on their own: by itself glibc puts them among small ones as soon
        # as one was given back, and what lies between those stays.
        glibc.mallopt(M_MMAP_THRESHOLD, 1 << 20)
        glibc.malloc_trim(0)
