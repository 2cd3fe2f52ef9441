"""Coding a long session: from the key to the file, and how long opening takes.

A rater's file is filled with marks, then a code is given again and again as a key does it, at a
steady rate and with the file's syncing thread at work on a real disk. Measured is the time until
the mark is in the file (a killed program keeps it), and until the disk has it. Then the file is
opened again, and read with the session.
Ends with 1 when the 99th percentile to the file is above 50 ms, or opening takes more than 2 s of
the processor.

    python benchmarks/annotations.py [--marks 10000] [--keys 500] [--rate 10] [--dir .]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labapp.base import resources
from labapp.base.clock import NS
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import Unit
from labapp.record.journal.opening import open_record
from labapp.session.condition_assignment import coverage  # noqa: F401  (loads the tasks, as a window has them)
from labapp.session.simulation.at_scale import simulate_at_scale

TARGET_P99_MS = 50.0
OPEN_TARGET_S = 2.0
PARTICIPANT_S = 5400


def session_in(folder: Path, units: int) -> Path:
    """A simulated session, whose units are as many as there are to be, one a second or less."""
    (session,) = simulate_at_scale("quickstart", 1, "understanding", folder / "data", 1)
    length = PARTICIPANT_S * NS // units
    with store.open_units(session, "anna") as file:
        file.put_all(
            Unit(f"u{number}", number * length, (number + 1) * length - 1)
            for number in range(units)
        )
        file.freeze()
    return session


def filled(file: MarksFile, count: int, units: int) -> None:
    """Give marks until there are so many: to every second unit, and in between."""
    draw = random.Random(1)
    codes = [code.id for code in file.codebook.given("strategy")]
    for number in range(0, units, 2):
        file.give(draw.choice(codes), unit=f"u{number}")
    while len(file.marks) < count:
        begin = draw.randrange(PARTICIPANT_S * NS)
        file.give("frustrated", t0_ns=begin, t1_ns=begin + NS)


def percentiles(times_ns: Sequence[int]) -> dict[str, float]:
    """In ms."""
    values = np.percentile(np.array(times_ns) / 1e6, [50, 99, 100])
    return dict(zip(("median_ms", "p99_ms", "max_ms"), map(float, values), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marks", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=500)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--dir", type=Path, default=Path())
    options = parser.parse_args()
    units = max(2, options.marks // 2)
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    result: dict[str, object] = {"marks": options.marks, "keys": options.keys}
    with tempfile.TemporaryDirectory(dir=options.dir) as name:
        session = session_in(Path(name), units)
        began = time.perf_counter()
        with store.open_marks(session, "anna", book) as file:
            filled(file, options.marks, units)
            result["filling_s"] = time.perf_counter() - began
            in_file, durable = [], []
            draw = random.Random(2)
            codes = [code.id for code in book.given("strategy")]
            for _ in range(options.keys):
                pressed = time.perf_counter_ns()
                file.give(draw.choice(codes), unit=f"u{draw.randrange(units)}")
                assert file.marks  # what the window draws
                in_file.append(time.perf_counter_ns() - pressed)
                while not file.saved:
                    time.sleep(0.001)
                durable.append(time.perf_counter_ns() - pressed)
                spent = (time.perf_counter_ns() - pressed) / 1e9
                time.sleep(max(0.0, 1 / options.rate - spent))
            result["to_file"] = percentiles(in_file)
            result["to_disk"] = percentiles(durable)
            result["bytes"] = file.path.stat().st_size
        began, processor = time.perf_counter(), time.process_time()
        with store.open_marks(session, "anna", book) as file:
            result["open_s"] = time.perf_counter() - began
            result["open_processor_s"] = time.process_time() - processor
            assert len(file.marks) >= options.marks
        began = time.perf_counter()
        annotations = store.annotations_of(open_record(session))
        result["read_s"] = time.perf_counter() - began
        assert len(annotations.raters["anna"].marks) >= options.marks
    assert not any(t.name.startswith("annotations") for t in threading.enumerate())
    print(json.dumps(result, indent=2))
    to_file = percentiles(in_file)
    late = to_file["p99_ms"] > TARGET_P99_MS
    return int(late or float(str(result["open_processor_s"])) > OPEN_TARGET_S)


if __name__ == "__main__":
    sys.exit(main())
