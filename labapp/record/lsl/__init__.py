"""The three streams of a session: its events, the dials that are moved, and the alignment.

The journal hands every event over as it is stamped. That costs the thread it happens in one entry
in a queue: what is sent is made, and sent, in a thread of its own a few milliseconds later. Time
stamps are those of the events, so that nothing is lost by the wait.

Loads liblsl, when a session is to send its events and not before. Nothing else in labapp loads it.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any

from labapp.base.clock import NS, Clock
from labapp.base.errors import JournalError, LslError
from labapp.base.installation import install_command
from labapp.base.messages import Message, encode_message
from labapp.record.events import Event, Payload, payload_of
from labapp.record.events.lifecycle import AlarmRaised, LslClock, LslOpened
from labapp.record.events.registry import frequent_kinds
from labapp.record.events.trials import Comparison

EVENTS, DIALS, ALIGNMENT = NAMES = ("labapp-events", "labapp-dials", "labapp-alignment")
LEFT_OUT = frozenset({"audio.block", "pointer.moved"})
"""Kinds that come all the time and mark nothing, beside those that are `frequent`."""
GATHER_S = 0.004
"""How long the sender waits behind an event: the picture that it leads to comes first."""
CLOCK_S = 5.0
DRIFT_S = 1e-4
"""Clocks that have moved apart by so much are journalled again."""
READINGS = 20
LINGER_S = 0.3
"""How long receivers have for the last events before the streams are gone."""
JOIN_S = 3.0

EmitPayload = Callable[[Payload], None]
_log = logging.getLogger(__name__)


class SessionStreams:
    """The streams of one run of a session, from when this is made until `close`.

    Parameters
    ----------
    source_id : by which receivers know the streams; the same in each run of a session.
    clock : the session's.
    emit : stores what the streams have to say themselves; from any thread.

    Attributes
    ----------
    opened : what the journal says of them.

    Raises
    ------
    LslError : they cannot be opened.
    """

    def __init__(self, source_id: str, clock: Clock, emit: EmitPayload) -> None:
        self._lsl = lsl = load()
        self._clock, self._emit = clock, emit
        self._outlets: dict[str, Any] = {}
        try:
            self._open(EVENTS, "Markers", ("marker",), lsl.cf_string, source_id)
            self._open(DIALS, "Dials", ("dimension", "value"), lsl.cf_float32, source_id)
            self._open(ALIGNMENT, "Alignment", ("alignment",), lsl.cf_float32, source_id)
            version = lsl.library_version()
        except (RuntimeError, OSError, ValueError) as error:
            raise LslError(
                Message("lsl_streams", error=str(error)),
                safe="Everything else works.",
                todo="Check whether a firewall or a configuration of LSL (lsl_api.cfg) blocks it.",
            ) from error
        self.opened = LslOpened(source_id, NAMES, f"{version // 100}.{version % 100}")
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._silent = frequent_kinds() | LEFT_OUT
        self._anchor = self._read()
        self._closed = False
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="lsl-sender", daemon=True)
        self._thread.start()

    def _open(
        self, name: str, kind: str, channels: tuple[str, ...], form: int, source_id: str
    ) -> None:
        lsl = self._lsl
        info = lsl.StreamInfo(
            name, kind, len(channels), lsl.IRREGULAR_RATE, form, f"{source_id}-{name}"
        )
        described = info.desc().append_child("channels")
        for label in channels:
            described.append_child("channel").append_child_value("label", label)
        self._outlets[name] = lsl.StreamOutlet(info)

    def take(self, event: Event) -> None:
        """Send an event soon; the journal's subscriber. It does nothing that takes time."""
        self._queue.put(event)

    @property
    def received(self) -> bool:
        """Whether anybody receives the events just now."""
        outlet = self._outlets.get(EVENTS)
        return outlet is not None and bool(outlet.have_consumers())

    def close(self) -> None:
        """Send what is left, and take the streams away. What cannot be sent in time is given up:
        the journal has it."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join(JOIN_S)

    # --- the sender's thread ----------------------------------------------------------------------

    def _run(self) -> None:
        self._journal_clock()
        look_ns = time.perf_counter_ns() + round(CLOCK_S * NS)
        over = False
        while not over:
            wait_s = max(0.0, (look_ns - time.perf_counter_ns()) / NS)
            try:
                events = [self._queue.get(timeout=wait_s)]
            except Empty:
                events = []
            if events:
                time.sleep(GATHER_S)
                while not self._queue.empty():
                    events.append(self._queue.get())
            for event in events:
                if event is None:
                    over = True
                elif not self._failed:
                    self._send(event)
            if time.perf_counter_ns() >= look_ns and not over:
                look_ns = time.perf_counter_ns() + round(CLOCK_S * NS)
                self._look_at_clock()
        if self.received:
            time.sleep(LINGER_S)
        self._outlets.clear()

    def _send(self, event: Event) -> None:
        """Send what the streams have of an event; the first failure is an alarm, and the last."""
        try:
            stamp = self._stamp(event.t_ns)
            if event.kind not in self._silent:
                self._outlets[EVENTS].push_sample([marker(event)], stamp)
            payload = payload_of(event)
            if (movement := payload.moved_dial()) is not None:
                self._outlets[DIALS].push_sample(list(map(float, movement)), stamp)
            if isinstance(payload, Comparison):
                self._outlets[ALIGNMENT].push_sample([float(payload.alignment)], stamp)
        except (RuntimeError, OSError, ValueError) as error:
            self._failed = True
            message = Message("lsl_failed", error=str(error))
            self._store(AlarmRaised("lsl_failed", str(message), encode_message(message)))

    def _read(self) -> tuple[int, float]:
        """One moment in ns on the session's clock and in s on LSL's, as near as it can be read."""
        readings = []
        for _ in range(READINGS):
            before = time.perf_counter_ns()
            lsl_s = self._lsl.local_clock()
            after = time.perf_counter_ns()
            readings.append((after - before, (before + after) // 2, lsl_s))
        _, perf_ns, lsl_s = min(readings)
        return self._clock.from_perf_ns(perf_ns), lsl_s

    def _stamp(self, t_ns: int) -> float:
        """A session time on LSL's clock, in seconds."""
        session_ns, lsl_s = self._anchor
        return lsl_s + self._clock.real_seconds(t_ns - session_ns)

    def _look_at_clock(self) -> None:
        session_ns, lsl_s = self._read()
        if abs(self._stamp(session_ns) - lsl_s) > DRIFT_S:
            self._anchor = (session_ns, lsl_s)
            self._journal_clock()

    def _journal_clock(self) -> None:
        self._store(LslClock(*self._anchor))

    def _store(self, payload: Payload) -> None:
        try:
            self._emit(payload)
        except JournalError as error:
            _log.warning("%s of LSL was not stored: %s", payload.kind, error.what)


def marker(event: Event) -> str:
    """What the stream of events says of one: its kind and place as compact JSON. Nothing that a
    person wrote, answered or is called is in it.

    Parameters
    ----------
    event : of the journal; `seq` is its number there.
    """
    facts = {
        "kind": event.kind,
        "stage": event.part_id,
        "trial": event.trial,
        "attempt": event.attempt,
        "seq": event.seq,
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def load() -> ModuleType:
    """The `pylsl` module. Raises LslError: it is not installed, or its library liblsl cannot be
    loaded."""
    try:
        import pylsl
    except ModuleNotFoundError as error:
        raise LslError(
            Message("lsl_missing"),
            safe="Everything else works.",
            todo=f"Install it: {install_command('lsl')}",
        ) from error
    except (ImportError, OSError, RuntimeError) as error:
        # Its own explanation has several lines; the first says what is wrong.
        raise LslError(
            Message("lsl_library", error=(str(error).splitlines() or [""])[0].strip()),
            safe="Everything else works.",
            todo="It needs Windows, macOS, or Linux with glibc 2.35 or newer (Ubuntu 22.04, "
            f"Debian 12). Install it again: {install_command('lsl')}",
        ) from error
    module: ModuleType = pylsl
    return module


def problem() -> LslError | None:
    """Why nothing can be sent; None if it can."""
    try:
        load()
    except LslError as error:
        return error
    return None
