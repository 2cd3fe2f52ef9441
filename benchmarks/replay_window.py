"""Opening a session of 90 minutes in the replay window, and going to and fro in it.

Run: python benchmarks/replay_window.py [--minutes 90] [--seeks 200] [--n 5]

A simulated participant at a person's pace turns dials all the time, and is recorded: noise like a
voice at 48 kHz, with the events of a recorder. Each opening is a process of its own, with the cache
that an opening before them left, from the first import done to the window painted, and to its lists
and timeline filled; networks are loaded behind them, first that of the picture, which then comes.
Its memory is what it has at the end, and the most it ever had; where there is a loudspeaker
(scripts/virtual_microphone.sh makes one), a process beside it plays the sound. A seek is to a
random time, and ends when the picture is drawn.
Playing is measured by replay_sound.py, marks by coding.py, the timeline by replay_timeline.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent

sys.path.insert(0, str(Path(__file__).parent.parent))
STUDY = """
id: long-session
title: A long session
version: 1
unnamed_texts: shipped
presentation: as_published
recording: {{audio: optional}}
flow:
  - stages:
      task: reconstruction
      models: [mnist8k/ss5, mnist8k/tc5, mnist8k/ae10]
      trials: 1000
      time_limit_min: {minutes}
      skip: always
"""
NS = 1_000_000_000
BEGIN_NS = 60_000_000_000
FRAME_MS = 1000 / 60
PAGE = os.sysconf("SC_PAGE_SIZE")


def simulated(folder: Path, minutes: float) -> Path:
    """A session of so many minutes, without sound."""
    from labapp.session.simulation.at_scale import simulate_at_scale

    study = folder / "long-session.yaml"
    study.write_text(STUDY.format(minutes=minutes / 3))
    return simulate_at_scale(str(study), 1, "understanding", folder / "data", 1)[0]


def recorded(session: Path) -> None:
    """Let the simulated session have been recorded, from its first second to its end."""
    from benchmarks.replay_sound import voice
    from labapp.record.events import Source, UnstampedEvent
    from labapp.record.events.lifecycle import SessionCompleted
    from labapp.record.journal.layout import JOURNAL
    from labapp.record.journal.opening import open_record
    from tests.helpers.journals import SessionBuilder, write_journal
    from tests.helpers.recorded_sounds import add_take, name_of, write_take

    rows = [
        (event.t_ns, Source(event.source), UnstampedEvent(payload, *event.key))
        for event, payload in open_record(session).payloads()
        if event.kind != "audio.off"
    ]
    end_ns = next(t_ns for t_ns, _, row in rows if isinstance(row.payload, SessionCompleted))
    take = voice(int(end_ns / NS) - 1)
    builder = SessionBuilder(rows=rows)
    add_take(builder, name_of(1), take)
    write_take(session / name_of(1), take)
    (session / JOURNAL).unlink()
    write_journal(session / JOURNAL, sorted(builder.rows, key=lambda row: row[0]))


def opened(session: Path, seeks: int) -> dict[str, Any]:
    """In a process of its own: open, seek, play."""
    begin = perf_counter()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from labapp.ui.qtapp import make_app

    app = make_app()
    from labapp.ui.replay.window import Replay

    imported, spent = perf_counter(), process_time()
    window = Replay(session, BEGIN_NS).window
    history = window.session.history
    window.resize(1366, 768)
    app.processEvents()
    shown, spent = perf_counter(), process_time() - spent
    assert history.machine is not None
    while not window.filled:
        app.processEvents()
    filled = perf_counter()
    part = history.machine.part(history.state_at(BEGIN_NS))
    while part is not None and history.decoders.awaited(part.models()):
        app.processEvents()
    window.picture.repaint()
    pictured = perf_counter()
    while history.decoders.awaited(history.decoders):
        app.processEvents()
    loaded = perf_counter()
    dice = random.Random(1)
    times = [dice.randrange(history.begin_ns, history.end_ns) for _ in range(seeks)]
    took = [_drawn(window, t_ns) for t_ns in times]
    frames = [_drawn(window, times[0] + round(place * FRAME_MS * 1e6)) for place in range(seeks)]
    beside = sum(map(_memory_mib, _children()))
    events = len(history.events)
    minutes = (history.end_ns - history.begin_ns) / 60e9
    window.close()
    return {
        "events": events,
        "minutes": round(minutes, 1),
        "imports_s": imported - begin,
        "open_s": shown - imported,
        "open_processor_s": spent,
        "filled_s": filled - imported,
        "picture_s": pictured - imported,
        "models_s": loaded - imported,
        "seek_ms": took,
        "frame_ms": frames,
        "memory_mib": _memory_mib("self"),
        "sound_process_mib": beside,
        "most_memory_mib": _most_memory_mib(),
    }


def _memory_mib(process: str) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 2**20


def _most_memory_mib() -> float:
    """Not of getrusage, which counts the process that this one was made from as well."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _children() -> list[str]:
    return [
        child
        for thread in Path("/proc/self/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]


def _drawn(window: Any, t_ns: int) -> float:
    begin = perf_counter()
    window.picture.show_time(t_ns)
    window.picture.repaint()
    took = (perf_counter() - begin) * 1e3
    # What the event loop does between two of them, which is not there: screens that were left go.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return took


def spread(values: list[float]) -> dict[str, float]:
    """Median, p95 and p99."""
    names = {"median": 50, "p95": 95, "p99": 99}
    return {name: round(float(np.percentile(values, at)), 2) for name, at in names.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--seeks", type=int, default=200)
    parser.add_argument("--n", type=int, default=5)
    parser.add_argument("--session", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.session is not None:
        print(json.dumps(opened(options.session, options.seeks)))
        return
    with tempfile.TemporaryDirectory(prefix="labapp-replay-") as name:
        session = simulated(Path(name), options.minutes)
        recorded(session)
        environment = os.environ | {
            f"LABAPP_{folder}": f"{name}/{folder}" for folder in ("CACHE", "SETTINGS")
        }
        runs = []
        for _ in range(options.n + 1):
            command = [sys.executable, __file__, "--session", session]
            command += ["--seeks", str(options.seeks)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
        del runs[0]
    figures = {
        "events": runs[0]["events"],
        "minutes": runs[0]["minutes"],
        "imports_s": spread([run["imports_s"] for run in runs]),
        "open_s": spread([run["open_s"] for run in runs]),
        "open_processor_s": spread([run["open_processor_s"] for run in runs]),
        "filled_s": spread([run["filled_s"] for run in runs]),
        "picture_s": spread([run["picture_s"] for run in runs]),
        "models_s": spread([run["models_s"] for run in runs]),
        "seek_to_picture_ms": spread([value for run in runs for value in run["seek_ms"]]),
        "next_frame_ms": spread([value for run in runs for value in run["frame_ms"]]),
        "memory_mib": spread([run["memory_mib"] for run in runs]),
        "sound_process_mib": spread([run["sound_process_mib"] for run in runs]),
        "most_memory_mib": spread([run["most_memory_mib"] for run in runs]),
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
