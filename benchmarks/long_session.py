"""A long session at real speed with sound: does memory stay flat, is a frame of sound ever lost?

    python benchmarks/long_session.py [--minutes 60] [--out DIR] [--json]

The real windows (on $DISPLAY, else offscreen), the real clock, a microphone into which speech is
played all the time, and a simulated participant at a person's pace; a moderator's note every five
minutes. Starts a virtual microphone by itself where there is no PULSE_SERVER. Ends with verify.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "virtual_microphone.sh"
WORDS = (
    "I turn this dial and the line gets thicker. Now the second one. It leans to the left. "
    "I think this one makes the round part larger. That is almost it."
)
STUDY = """
id: long-session
title: A long session
version: 1
unnamed_texts: shipped
presentation: as_published
recording: {{audio: required}}
flow:
  - practice: circles
  - stages:
      task: reconstruction
      models: [mnist8k/ss5, mnist8k/tc5, mnist8k/ae10]
      trials: 1000
      time_limit_min: {minutes}
      skip: always
      after: [shipped:seq, shipped:nasa-tlx]
  - debrief: shipped:debrief
"""
TICK_MS = 50
NOTE_S = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb" if os.environ.get("DISPLAY") else "offscreen")
    with tempfile.TemporaryDirectory(prefix="labapp-long-") as name:
        folder = given.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        _microphone(Path(name))
        speech = subprocess.Popen(["/bin/sh", "-c", _speaking(folder)], start_new_session=True)
        try:
            result = session(folder, given.minutes)
        finally:
            os.killpg(speech.pid, 15)
    if given.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:28} {value}")
    return 0 if result["verified"] and result["lost_frames"] == 0 else 1


def _microphone(folder: Path) -> None:
    """A virtual microphone, for this process and the player."""
    if "PULSE_SERVER" in os.environ:
        return
    made = subprocess.run(
        [str(SCRIPT), "start"],
        env={**os.environ, "LABAPP_VIRTUAL_MICROPHONE": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    for line in made.stdout.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        os.environ[name] = value.strip("'")


def _speaking(folder: Path) -> str:
    wav = folder / "speech.wav"
    subprocess.run(["espeak-ng", "-w", str(wav), WORDS], check=True)
    return f"while paplay --device=speaker '{wav}'; do sleep 2; done"


def rss_mb() -> float:
    """Memory of this process and of the one that records."""
    total = 0.0
    for pid in [os.getpid(), *_children(os.getpid())]:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        rows = [line for line in status.splitlines() if line.startswith("VmRSS")]
        total += sum(float(line.split()[1]) for line in rows) / 1024
    return total


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def session(folder: Path, minutes: float) -> dict[str, Any]:
    """Run the session and say what was measured; times in ms, memory in MB."""
    from PySide6.QtCore import QTimer

    from labapp.record.events import Source
    from labapp.record.events.commands import AddNote
    from labapp.record.journal.opening import open_record
    from labapp.session.bids.verify import verify
    from labapp.session.simulation.person import Pace
    from labapp.ui.controller import SessionController
    from labapp.ui.qtapp import make_app
    from labapp.ui.starting import RunOptions, open_new

    app = make_app()
    study = folder / "long-session.yaml"
    study.write_text(STUDY.format(minutes=max(minutes / 3 - 0.7, 0.1)))
    options = RunOptions(
        data=folder / "sessions",
        private=folder / "private",
        windowed=True,
        simulate="understanding",
        audio="default",
    )
    opened = open_new(str(study), "P01", "1", options)
    # A dial moves with every frame, as under a hand; decisions take a person's time.
    control = SessionController(opened, options, pace=Pace(0.03, 1.2, 6.0))
    control.closed.connect(app.exit)
    began = time.perf_counter()
    memory: list[tuple[float, float]] = []
    late: list[float] = []
    due = [0.0, NOTE_S]

    def tick() -> None:
        now = time.perf_counter()
        if due[0]:
            late.append(max(0.0, (now - due[0]) * 1000))
        due[0] = now + TICK_MS / 1000
        if not memory or now - began - memory[-1][0] >= 60:
            memory.append((now - began, rss_mb()))
            print(f"{(now - began) / 60:5.1f} min  {memory[-1][1]:.1f} MB", file=sys.stderr)
        if now - began > due[1] and not opened.runner.finished:
            due[1] += NOTE_S
            note = AddNote("said what the dial does", opened.runner.clock.now_ns())
            opened.runner.send(note, Source.MODERATOR)

    timer = QTimer()
    timer.timeout.connect(tick)
    control.start()
    timer.start(TICK_MS)
    status = app.exec()
    lasted = time.perf_counter() - began
    path = opened.folder.path
    record = open_record(path)
    events = list(record.events())
    moved: dict[tuple[Any, ...], int] = {}
    lags = []
    for event in events:
        key = (event.part_id, event.trial, event.payload.get("z_seq"))
        if event.kind == "dial.moved":
            moved[key] = event.t_ns
        elif event.kind == "picture.decoded" and key in moved:
            lags.append((event.t_ns - moved.pop(key)) / 1e6)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {
        "status": status,
        "minutes": round(lasted / 60, 1),
        "events": len(events),
        **_memory(memory),
        "lost_frames": record.outline.lost_frames,
        "gaps_of_sound": sum(event.kind == "audio.gap" for event in events),
        "sound_s": round(sum(a.frames / a.nominal_rate for a in record.audio), 1),
        "dial_to_picture_ms": _quantiles(lags),
        "window_late_ms": _quantiles(late),
        "alarms": sorted({e.payload["code"] for e in events if e.kind == "alarm.raised"}),
        "longest_pause_of_events_s": round(
            max((b.t_ns - a.t_ns for a, b in pairwise(events)), default=0) / 1e9, 2
        ),
        "session_mb": round(size / 1e6, 1),
        "verified": verify(path).ok,
    }


def _memory(memory: list[tuple[float, float]]) -> Mapping[str, float]:
    def at(minute: float) -> float:
        return round(min(memory, key=lambda row: abs(row[0] - minute * 60))[1], 1)

    return {"mb_at_5_min": at(5), "mb_at_end": round(memory[-1][1], 1)}


def _quantiles(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    middle, p95, p99 = np.quantile(values, [0.5, 0.95, 0.99])
    return {
        "n": len(values),
        "median": round(float(middle), 2),
        "p95": round(float(p95), 2),
        "p99": round(float(p99), 2),
        "max": round(max(values), 2),
    }


if __name__ == "__main__":
    sys.exit(main())
