"""Traversal sheets for the home: decoded in a thread, kept while the program runs."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal, Slot

from labapp.errors import LabappError
from labapp.representations.decoders import Decoder
from labapp.representations.sheets import Sheet, traversals
from labapp.ui import mistakes
from labapp.ui.language import tr


class SheetMaker(QObject):
    """made(model, Sheet), failed(model, text): in the GUI thread, for each sheet that was wanted.

    There is no thread before the first sheet is wanted, and none after `close`.
    """

    made = Signal(str, object)
    failed = Signal(str, str)
    _ended = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: dict[str, Sheet] = {}
        self._running: set[str] = set()
        self._pool: ThreadPoolExecutor | None = None
        self._ended.connect(self._tell)

    def want(self, decoder: Decoder) -> None:
        """Make the sheet of a model, or tell the one that is kept."""
        model = decoder.id
        if model in self._kept:
            self.made.emit(model, self._kept[model])
            return
        if model in self._running:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sheets")
        self._running.add(model)
        # The signal is emitted in the worker and received here: Qt queues it.
        future = self._pool.submit(traversals, decoder)
        future.add_done_callback(lambda done: self._ended.emit(model, done))

    def close(self) -> None:
        """Forget what was not begun, wait for what was, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._running.clear()

    @Slot(str, object)
    def _tell(self, model: str, done: Future[Sheet]) -> None:
        self._running.discard(model)
        if done.cancelled():
            return
        try:
            with mistakes.worded(tr("The pictures of {model} cannot be made.", model=model)):
                sheet = done.result()
        except LabappError as error:
            self.failed.emit(model, error.what)
            return
        self._kept[model] = sheet
        self.made.emit(model, sheet)
