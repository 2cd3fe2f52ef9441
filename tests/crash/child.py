"""A session in real time without windows, recorded with sound, that says what was acknowledged.

    python -m tests.crash.child DATA PARTICIPANT PACE STUDY [FOLDER]

Begins a session of a study file (beside this one, or by its path), or goes on with the one in
FOLDER. Each line on standard output is a JSON list: ["folder", path]; ["append", seq, kind,
perf_ns] as soon as an event is made; ["durable", seq] once its receipt says that it is on disk;
["sound", perf_ns, rate] when the microphone begins; ["done"].
It is meant to be killed at any moment.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labapp.base.clock import Clock
from labapp.record.audio.devices import Device
from labapp.record.audio.recorder import Recorder
from labapp.record.events import Payload, Source, UnstampedEvent
from labapp.record.events.commands import Resume
from labapp.record.journal.write import Journal, Receipt
from labapp.session import opening
from labapp.session.folder import SessionFolder
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST, Pace
from labapp.study.loading import load
from tests.helpers.formulas import formula_decoders
from tests.helpers.live import LoopScheduler
from tests.record.audio.fakes import DEVICE, Tone, Watcher

PACES = {
    "fast": FAST,
    "hasty": Pace(stride_s=0.01, think_s=0.02, read_s=0.02),
    "rushed": Pace(stride_s=0.006, think_s=0.012, read_s=0.012),
}


def say(*words: Any) -> None:
    """One write a line: shorter than a pipe's buffer, so it arrives whole or not at all."""
    os.write(1, json.dumps(words).encode() + b"\n")


class Witness:
    """Says of every event that it was made, and later that it is on disk."""

    def __init__(self, journal: Journal) -> None:
        self._append = journal.append_all
        self._receipts: queue.SimpleQueue[Receipt] = queue.SimpleQueue()
        journal.append_all = self.append_all  # type: ignore[method-assign]
        threading.Thread(target=self._watch, daemon=True).start()

    def append_all(self, events: Sequence[UnstampedEvent], source: Source) -> list[Receipt]:
        receipts = self._append(events, source)
        for unstamped, receipt in zip(events, receipts, strict=True):
            say("append", receipt.event.seq, receipt.event.kind, time.perf_counter_ns())
            if unstamped.payload.durable:
                self._receipts.put(receipt)
        return receipts

    def _watch(self) -> None:
        while True:
            receipt = self._receipts.get()
            if receipt.wait(60.0):
                say("durable", receipt.event.seq)


def make_recorder(
    home: SessionFolder, segment: int, emit: Callable[[Payload], None], clock: Clock
) -> Recorder:
    def open_input(device: Device) -> Tone:
        tone = Tone()
        say("sound", round(tone._start * 1e9), tone.rate)
        return tone

    return Recorder(
        home.path,
        segment,
        DEVICE,
        emit=emit,
        from_perf_ns=clock.from_perf_ns,
        watcher=Watcher(),
        open_input=open_input,
    )


def session_of(data: Path, participant: str, study: str, folder: str | None) -> OpenSession:
    around = SessionDependencies(
        decoders=formula_decoders(),
        warmed=(),
        make_scheduler=LoopScheduler,
        make_recorder=make_recorder,
        private=data / "private",
    )
    if folder is None:
        loaded = load(Path(__file__).parent / study)
        return opening.create(loaded, participant, around, data=data)
    return opening.resume(Path(folder), lambda loaded, models: around)


def main(data: str, participant: str, pace: str, study: str, folder: str | None = None) -> None:
    session = session_of(Path(data), participant, study, folder)
    runner = session.runner
    Witness(runner.journal)
    say("folder", str(session.folder.path))
    session.begin()
    if folder is not None:
        runner.send(Resume("resumed after a crash"), Source.MODERATOR)
    driver = Driver(
        runner,
        session.give_consent,
        "knowing",
        session.planned.seed,
        participant,
        PACES[pace],
        paints=True,
    )
    driver.start()
    scheduler = runner.scheduler
    assert isinstance(scheduler, LoopScheduler)
    scheduler.run(lambda: runner.finished)
    session.close("done")
    say("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
