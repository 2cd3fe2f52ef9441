"""How quickly the timeline of a recorded session is drawn while it is moved and zoomed.

    python benchmarks/replay_timeline.py [--minutes 90] [--marks 10000] [--width 1366]
        [--height 300] [--ratio 1] [--frames 300] [--json FILE] [--film FILE.png]

A made session with units, codes of two tiers and of another rater, 20,000 moves of dials and an
alignment, in the offscreen platform. Five kinds of frames, each painted by itself; median, 95th and
99th percentile of their times in milliseconds, the processor time of the thread that draws (which
other work on the cores disturbs less), and frames a second at the median:

* pan: the view moves by 7 pixels, at a minute and at the whole session;
* zoom: the view goes in and out by steps of the wheel;
* jump: another stretch of a minute each time, of which nothing is known from the frame before;
* play: only the playhead moves.

--film draws some frames below each other instead of measuring: the session zoomed into, moved and
played.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from labapp.ui.replay.timeline import Timeline

BOUND_MS = 20.0
"""Fifty frames a second."""


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=int, default=90)
    parser.add_argument("--marks", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=1366)
    parser.add_argument("--height", type=int, default=300)
    parser.add_argument("--ratio", type=float, default=1.0)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--film", type=Path)
    return parser.parse_args()


def film(line: Timeline, end_ns: int, path: Path) -> None:
    """Frames of a moved, zoomed and played timeline below each other, as one picture."""
    from PySide6.QtGui import QImage, QPainter

    frames = []
    line.set_playhead(end_ns // 2)
    for step in range(10):
        if step < 4:
            line.zoom(4.0)
        elif step < 7:
            line.pan(line.width() / 3)
        else:
            line.set_playhead(round(line.scale.left_ns + (step - 6) * line.scale.span_ns / 4))
        frames.append(line.grab().toImage())
    strip = QImage(frames[0].width(), sum(f.height() for f in frames), frames[0].format())
    painter = QPainter(strip)
    for place, frame in enumerate(frames):
        frame.setDevicePixelRatio(1.0)
        painter.drawImage(0, place * frame.height(), frame)
    painter.end()
    strip.save(str(path))


def main() -> None:
    options = parsed()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["QT_SCALE_FACTOR"] = str(options.ratio)
    from PySide6.QtWidgets import QApplication

    from labapp.base.clock import NS
    from labapp.ui import theme
    from labapp.ui.replay.timeline import Timeline
    from tests.helpers.timelines import (
        MemoryPeaks,
        made_codes,
        made_lanes,
        made_parts,
        made_units,
    )

    app = QApplication([])
    end_ns = options.minutes * 60 * NS
    units = made_units(end_ns)
    codes = made_codes(units, options.marks)
    results: dict[str, dict[str, float]] = {}
    for name, palette in (("light", theme.LIGHT), ("dark", theme.DARK)):
        line = Timeline(palette)
        line.set_session(0, end_ns, made_parts())
        line.set_peaks(MemoryPeaks(end_ns, units))
        line.set_lanes(made_lanes(end_ns))
        line.set_units(units, editable=True)
        line.set_marks(codes)
        line.set_current_unit(units[len(units) // 2].id)
        line.resize(options.width, options.height)
        line.show()
        app.processEvents()

        if options.film:
            film(line, end_ns, options.film.with_stem(f"{options.film.stem}-{name}"))
            line.close()
            continue

        def minute(line: Timeline = line) -> None:
            line.show_stretch(end_ns / 2, end_ns / 2 + 60 * NS)

        def ten_minutes(line: Timeline = line) -> None:
            line.show_stretch(end_ns / 2, end_ns / 2 + 600 * NS)

        def half(line: Timeline = line) -> None:
            line.show_stretch(end_ns / 4, 3 * end_ns / 4)

        def pan(number: int, line: Timeline = line) -> None:
            line.pan(7 if number // 50 % 2 == 0 else -7)

        def zoom(number: int, line: Timeline = line) -> None:
            line.zoom(1.25 if number // 25 % 2 == 0 else 1 / 1.25, line.width() / 3)

        def jump(number: int, line: Timeline = line) -> None:
            left = (number * 7919) % options.minutes * 60 * NS
            line.show_stretch(left, left + 60 * NS)

        def play(number: int, line: Timeline = line) -> None:
            line.set_playhead(end_ns // 2 + number * NS // 60)

        cases: dict[str, tuple[Callable[[], None], Callable[[int], None]]] = {
            "pan, a minute": (minute, pan),
            "pan, ten minutes": (ten_minutes, pan),
            "pan, half the session": (half, pan),
            "zoom": (line.show_all, zoom),
            "jump": (minute, jump),
            "play": (minute, play),
        }
        for case, (begin, step) in cases.items():
            begin()
            app.processEvents()
            times, busy = [], []
            for number in range(options.frames):
                started, worked = time.perf_counter(), time.thread_time()
                step(number)
                line.repaint()
                times.append((time.perf_counter() - started) * 1e3)
                busy.append((time.thread_time() - worked) * 1e3)
            median, p95, p99 = np.quantile(times, (0.5, 0.95, 0.99)).tolist()
            cpu, cpu_p95 = np.quantile(busy, (0.5, 0.95)).tolist()
            figures = {"median": median, "p95": p95, "p99": p99, "cpu": cpu, "cpu_p95": cpu_p95}
            results[f"{name}: {case}"] = figures
            within = "" if p95 <= BOUND_MS else f"  ABOVE {BOUND_MS:g} ms"
            print(
                f"{name:5}  {case:22}  median {median:5.2f}  p95 {p95:5.2f}  p99 {p99:5.2f} ms"
                f"  processor {cpu:5.2f}, p95 {cpu_p95:5.2f}  {1000 / median:5.0f} frames/s{within}"
            )
        line.close()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
