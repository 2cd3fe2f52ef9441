"""How long a person waits: `labapp --help`, and the moderator window from start to painted.

Each is a process of its own, on a warm disk, offscreen unless QT_QPA_PLATFORM says otherwise.

    python benchmarks/startup.py [--n 10] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

_HOME = """
import sys, time
from pathlib import Path
began = float(sys.argv[1])
from labapp.ui.qtapp import make_app
app = make_app()
from PySide6.QtCore import QTimer
from labapp.ui.starting import show_home
home = show_home(Path(sys.argv[2]), Path(sys.argv[2]) / "private")
def painted():
    print((time.time() - began) * 1000, "torch" in sys.modules, flush=True)
    home.close()
    app.quit()
# A zero timer fires when the events that were due, the first paint among them, are handled.
QTimer.singleShot(0, painted)
app.exec()
"""


def _help() -> float:
    began = time.perf_counter()
    subprocess.run(
        (sys.executable, "-m", "labapp", "--help"), check=True, stdout=subprocess.DEVNULL
    )
    return (time.perf_counter() - began) * 1000


def _home() -> float:
    with tempfile.TemporaryDirectory() as data:
        done = subprocess.run(
            (sys.executable, "-c", _HOME, str(time.time()), data),
            check=True,
            capture_output=True,
            text=True,
            env={"QT_QPA_PLATFORM": "offscreen", **os.environ},
        )
    milliseconds, torch = done.stdout.split()
    if torch == "True":
        raise SystemExit("torch was loaded before the first paint")
    return float(milliseconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name, measure in (("labapp --help", _help), ("moderator window painted", _home)):
        measure()  # once for the disk
        times = np.array([measure() for _ in range(options.n)])
        rows.append(
            {
                "what": name,
                "n": options.n,
                "median_ms": round(float(np.median(times)), 1),
                "p95_ms": round(float(np.percentile(times, 95)), 1),
                "max_ms": round(float(times.max()), 1),
            }
        )
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(
            f"{row['what']:26} n {row['n']}  median {row['median_ms']} ms  "
            f"p95 {row['p95_ms']} ms  max {row['max_ms']} ms"
        )


if __name__ == "__main__":
    main()
