"""The journal under load: what an append costs the thread that calls it, and whether all is kept.

One thread appends at a steady rate as the windows' thread does (mostly dial movements, now and then
an answer, whose receipt is waited for), with the journal's writer at work on a real disk. `--load`
adds threads that keep the interpreter busy, `--sound` a WAV file that is synced every second.
Ends with 1 when an event is lost or the 99th percentile of an append is above 0.2 ms.

    python benchmarks/journal.py [--seconds 60] [--rate 2000] [--load 1] [--sound] [--dir .]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from labapp.base.clock import SessionClock
from labapp.record.audio.capture import WavWriter
from labapp.record.events import Source, UnstampedEvent
from labapp.record.events.trials import ResponseChanged
from labapp.record.journal.read import read_rows
from labapp.record.journal.write import Journal
from labapp.tasks.reconstruction.events import DialMoved, PictureDecoded

DURABLE_EVERY = 500
SOUND_RATE = 48_000
TARGET_P99_MS = 0.2


def busy(stop: threading.Event) -> None:
    """Python that never gives the interpreter away by itself."""
    total = 0
    while not stop.is_set():
        for number in range(1000):
            total += number * number


def record(path: Path, stop: threading.Event) -> None:
    """Sound as the recorder writes it: ten times a second, synced every second."""
    wav = WavWriter(path, SOUND_RATE)
    block = bytes(SOUND_RATE // 10 * 2)
    while not stop.wait(0.1):
        wav.append(block)
        wav.flush()
        if wav.frames % SOUND_RATE == 0:
            wav.sync()
    wav.close()


def measure(
    folder: Path, rate: int, seconds: float, load: int, sound: bool
) -> dict[str, float | int | bool]:
    """Append `rate` events a second for so long; times in ms."""
    stop = threading.Event()
    rivals = [threading.Thread(target=busy, args=(stop,)) for _ in range(load)]
    if sound:
        rivals.append(threading.Thread(target=record, args=(folder / "sound.wav", stop)))
    journal = Journal.create(folder / "journal.sqlite", SessionClock())
    appends, commits = [], []
    count = round(rate * seconds)
    with ExitStack() as ending:
        ending.callback(lambda: [rival.join() for rival in rivals])
        ending.callback(stop.set)
        for rival in rivals:
            rival.start()
        began = time.perf_counter()
        for number in range(count):
            ahead = began + number / rate - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            durable = number % DURABLE_EVERY == 0
            if durable:
                unstamped = UnstampedEvent(
                    ResponseChanged("seq", "ease", number % 7 + 1), "stage-1-seq"
                )
            elif number % 2:
                unstamped = UnstampedEvent(
                    DialMoved(number, number % 5, 0.25, "mouse"), "stage-1", 1, 1
                )
            else:
                unstamped = UnstampedEvent(
                    PictureDecoded(number, 0.512345678, 12.25, 0.19), "stage-1", 1, 1
                )
            before = time.perf_counter_ns()
            receipt = journal.append(unstamped, Source.PARTICIPANT)
            after = time.perf_counter_ns()
            appends.append(after - before)
            if durable:
                if not receipt.wait(10.0):
                    raise SystemExit("an answer was not committed within 10 s")
                commits.append(time.perf_counter_ns() - after)
        took = time.perf_counter() - began
    journal.close()
    numbers = [row.seq for row in read_rows(folder)]
    spent = np.asarray(appends) / 1e6
    waits = np.asarray(commits) / 1e6
    return {
        "events": count,
        "rate_reached": round(count / took, 1),
        "kept": len(numbers),
        "nothing_lost": numbers == list(range(1, count + 1)),
        "append_median_ms": round(float(np.median(spent)), 4),
        "append_p95_ms": round(float(np.percentile(spent, 95)), 4),
        "append_p99_ms": round(float(np.percentile(spent, 99)), 4),
        "append_max_ms": round(float(spent.max()), 3),
        "commit_median_ms": round(float(np.median(waits)), 3),
        "commit_p99_ms": round(float(np.percentile(waits, 99)), 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=int, default=2000, help="events a second")
    parser.add_argument("--load", type=int, default=0, help="threads that compete for Python")
    parser.add_argument("--sound", action="store_true", help="write and sync sound besides")
    parser.add_argument("--dir", type=Path, help="a folder on the disk to measure")
    parser.add_argument(
        "--switch-ms", type=float, default=5.0, help="interpreter's switch interval"
    )
    options = parser.parse_args(arguments)
    sys.setswitchinterval(options.switch_ms / 1e3)
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="labapp-journal-") as folder:
        result = measure(Path(folder), options.rate, options.seconds, options.load, options.sound)
    print(json.dumps(result, indent=2))
    return 0 if result["nothing_lost"] and result["append_p99_ms"] <= TARGET_P99_MS else 1


if __name__ == "__main__":
    sys.exit(main())
