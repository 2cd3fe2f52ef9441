"""How long a participant waits between two photos: from Next to the next one painted, and from an
answer to its mark, in the real window drawn offscreen.

    python benchmarks/judged_photos.py [--studies gradcam-distinction,…] [--turns 3] [--json]

Every photo of the participant's set, in a fresh session each turn, so that no picture is in memory
beforehand. Milliseconds; run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

STUDIES = (
    "gradcam-distinction",
    "bagnet-distinction",
    "protopnet-distinction",
    "protopnet-agreement",
    "prototree-distinction",
    "prototree-agreement",
)
SIZE = (1366, 768)


def waits(study: str, folder: Path) -> Iterator[tuple[str, float]]:
    """The waits of one session, in ms: `photo` from Next, `answer` from an answer."""
    from PySide6.QtWidgets import QApplication

    from labapp.record.events.commands import Next
    from labapp.tasks.judging.events import Judge
    from labapp.tasks.judging.plan import applies
    from scripts.screens_judging import begun
    from scripts.screens_participant import opened

    with opened(folder, study=study) as (room, window):
        window.resize(*SIZE)
        begun(room, window)
        window.grab()

        def painted(command: Judge | Next) -> float:
            began = time.perf_counter()
            room.runner.send(command)
            QApplication.processEvents()
            window.grab()
            return (time.perf_counter() - began) * 1000

        task = room.runner.machine.tasks[room.runner.state.index]
        while (part := room.runner.part) is not None and part.id == "stage-1":
            for question in task.questions(room.runner.state.part_state.trial):
                if applies(question, room.runner.state.part_state.trial.answers):
                    yield "answer", painted(Judge(question.id, question.first, "mouse"))
            last = room.runner.state.part_state.trial.number == part.trials
            waited = painted(Next())
            if not last:
                yield "photo", waited


def measure(study: str, turns: int) -> dict[str, dict[str, float]]:
    """Median, p95 and p99 of each wait, and how many there were."""
    times_of: dict[str, list[float]] = {"photo": [], "answer": []}
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as folder:
            for what, ms in waits(study, Path(folder)):
                times_of[what].append(ms)
    return {
        what: {
            "n": len(times),
            "median_ms": round(float(np.median(times)), 1),
            "p95_ms": round(float(np.percentile(times, 95)), 1),
            "p99_ms": round(float(np.percentile(times, 99)), 1),
        }
        for what, times in times_of.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", default=",".join(STUDIES), help="ids, with commas")
    parser.add_argument("--turns", type=int, default=3, help="sessions of each study")
    parser.add_argument("--json", action="store_true", help="one JSON value and nothing else")
    asked = parser.parse_args()
    from PySide6.QtWidgets import QApplication

    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")
    by_study = {study: measure(study, asked.turns) for study in asked.studies.split(",")}
    if asked.json:
        print(json.dumps(by_study))
        return
    for study, by_wait in by_study.items():
        for what, row in by_wait.items():
            print(f"{study:24} {what:7} " + "  ".join(f"{k} {v:g}" for k, v in row.items()))


if __name__ == "__main__":
    main()
