"""What is made in threads while the home is on the screen: sheets of what dials do, the pictures of
the chosen study, and what the explained model says of masked ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from PySide6.QtCore import QObject, Qt, Signal, Slot

from labapp.base.errors import LabappError
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.sheets import TraversalSheet, traversals
from labapp.models.stimuli import gallery, pictures
from labapp.ui import mistakes
from labapp.ui.language import tr


class SheetMaker(QObject):
    """made(model, Sheet), failed(model, text): in the GUI thread, for each sheet that was wanted.

    There is no thread before the first sheet is wanted, and none after `close`.
    """

    made = Signal(str, object)
    failed = Signal(str, str)
    _ended = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted: dict[str, LoadedDecoder] = {}
        self._kept: dict[str, TraversalSheet] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._ended.connect(self._tell)

    def want(self, decoder: LoadedDecoder) -> None:
        """Make the sheet of a decoder, or tell the one that is kept; no longer that of another one
        with the same id."""
        model = decoder.id
        if self._wanted.get(model) is decoder:
            if model in self._kept:
                self.made.emit(model, self._kept[model])
            return
        self._wanted[model] = decoder
        self._kept.pop(model, None)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sheets")
        # The signal is emitted in the worker and received here: Qt queues it.
        future = self._pool.submit(traversals, decoder)
        future.add_done_callback(lambda done: self._ended.emit(decoder, done))

    def close(self) -> None:
        """Forget what was not begun, wait for what was, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._wanted = {model: self._wanted[model] for model in self._kept}

    @Slot(object, object)
    def _tell(self, decoder: LoadedDecoder, done: Future[TraversalSheet]) -> None:
        model = decoder.id
        if done.cancelled() or self._wanted.get(model) is not decoder:
            return
        try:
            with mistakes.worded(tr("pictures.failed", model=model)):
                self._kept[model] = done.result()
        except LabappError as error:
            del self._wanted[model]  # wanted again, it is tried again
            self.failed.emit(model, error.what)
        else:
            self.made.emit(model, self._kept[model])


class _Unwanted(Exception):
    """Other pictures are wanted now, or none."""


class PictureWarmer(QObject):
    """changed: done, of or problem are others; in the GUI thread. Of the pictures only birds take
    time: until all are there, done and of count those, or all where there are none.

    There is no thread before the first pictures are wanted, and none after `close`.
    """

    changed = Signal()
    _progressed = Signal(int, int, int)
    _ended = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.of = self.done = 0
        self.problem = ""
        self._wanted: tuple[str, ...] = ()
        self._number = 0
        self._stop = Event()
        self._pool: ThreadPoolExecutor | None = None
        self._progressed.connect(self._count)
        # Queued also where it comes from the GUI thread, as it does of pictures that were there
        # already: what is counted last is the end, and not a picture before it.
        self._ended.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def want(self, refs: Sequence[str], ask: Callable[[], object] | None = None) -> None:
        """Make these pictures, and no longer those that were wanted before. ask: what else is to be
        known of them before a session begins, and takes its time."""
        if tuple(refs) == self._wanted:
            return
        self._wanted = tuple(refs)
        self._stop.set()
        self._stop = stop = Event()
        self._number += 1
        birds = sum(pictures.is_bird(ref) for ref in refs)
        self.of, self.done, self.problem = birds or len(refs), 0, ""
        number = self._number

        def progress(done: int, of: int) -> None:
            if stop.is_set():
                raise _Unwanted
            self._progressed.emit(number, done, of)

        def make() -> None:
            gallery.warm(refs, progress)
            if ask is not None and not stop.is_set():
                ask()

        if refs:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pictures")
            # Signals are emitted in the worker and received here: Qt queues them.
            future = self._pool.submit(make)
            future.add_done_callback(lambda done: self._ended.emit(number, done))
        self.changed.emit()

    def close(self) -> None:
        """Finish the picture that is being made, forget the others, and end the thread."""
        self._stop.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._wanted = ()

    @Slot(int, int, int)
    def _count(self, number: int, done: int, of: int) -> None:
        if number == self._number and done < of:
            self.done, self.of = done, of
            self.changed.emit()

    @Slot(int, object)
    def _tell(self, number: int, ended: Future[None]) -> None:
        if number != self._number or ended.cancelled():
            return
        error = ended.exception()
        if isinstance(error, _Unwanted):
            return
        if error is None:
            self.of = self.done = len(self._wanted)
        else:
            self.problem = error.what if isinstance(error, LabappError) else str(error)
        self.changed.emit()
