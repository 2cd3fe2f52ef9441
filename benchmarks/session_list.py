"""What the list of sessions costs the home: `python -m benchmarks.session_list [--sessions 2000]`.

Makes that many finished sessions of four studies, shows the home's lists, and measures how long the
windows' thread is held: by the handlers of a refresh, and by the longest time in which a timer of
1 ms could not fire. Besides how long a reading takes in its own thread, and what reading every
journal anew would take, as the home did before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from labapp.record.journal.decisions import add_comment
from labapp.record.journal.layout import JOURNAL
from labapp.record.journal.sessions import list_sessions
from labapp.ui.moderator.home import HomeView
from labapp.ui.researcher.controller import Researcher
from labapp.ui.session_lists import SessionLists
from tests.helpers.golden import golden_builder

STUDIES = 4
REFRESHES = 20


def make(root: Path, count: int) -> Path:
    """Sessions with journals only: the list looks at nothing else."""
    builder = golden_builder()
    builder.sounds.clear()
    builder.study_files = None
    builder.rows = [row for row in builder.rows if row[2].payload.kind != "audio.block"]
    journal = builder.write(root / "seed") / JOURNAL
    for number in range(count):
        day = f"2026{1 + number // 28 % 12:02d}{1 + number % 28:02d}"
        name = f"sub-P01_ses-{number}_{day}T{number // 336 % 24:02d}{number % 60:02d}00Z"
        folder = root / "data" / f"study-{number % STUDIES}" / name
        folder.mkdir(parents=True)
        shutil.copyfile(journal, folder / JOURNAL)
    return root / "data"


class Heart:
    """A timer of 1 ms; the longest time between two beats is how long the thread was held."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.timeout.connect(self._beat)
        self._timer.start(1)

    def _beat(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now

    def begin(self) -> None:
        self.longest, self._last = 0.0, time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000)
    count = parser.parse_args().sessions
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        data = make(Path(folder), count)
        began = time.perf_counter()
        list_sessions(data)
        print(f"{count} sessions, every journal read anew: {time.perf_counter() - began:.2f} s")
        view = HomeView()
        view.resize(1366, 768)
        view.show()
        parent = QObject()
        researcher = Researcher(view.results, parent)
        lists = SessionLists(data, Path(folder) / "private", view, researcher, parent)
        held: list[float] = []
        show = lists._show

        def measured(*arguments: object, **more: object) -> None:
            before = time.perf_counter()
            show(*arguments, **more)  # type: ignore[arg-type]
            held.append(time.perf_counter() - before)

        lists._show = measured  # type: ignore[method-assign]
        lists.show_study("study-0")
        view.pages.setCurrentIndex(1)
        heart = Heart()
        for what, change, times in (
            ("first", lambda: None, 1),
            ("nothing changed", lambda: None, REFRESHES),
            (
                "one remark more",
                lambda: add_comment(next((data / "study-1").iterdir()), "tired"),
                REFRESHES,
            ),
        ):
            spans, gaps = [], []
            held.clear()
            for _ in range(times):
                change()
                heart.begin()
                began = time.perf_counter()
                done: list[bool] = []
                connection = lists.changed.connect(lambda done=done: done.append(True))
                lists.refresh()
                while not done:
                    application.processEvents()
                for _ in range(20):
                    application.processEvents()
                lists.changed.disconnect(connection)
                spans.append(time.perf_counter() - began)
                gaps.append(heart.longest)
            print(
                f"{what:16} in its thread {statistics.median(spans) * 1e3:7.1f} ms; windows' "
                f"thread, handlers: median {statistics.median(held) * 1e3:5.2f}, longest "
                f"{max(held) * 1e3:5.2f} ms; longest without a turn: median "
                f"{statistics.median(gaps) * 1e3:5.1f}, longest {max(gaps) * 1e3:5.1f} ms"
            )
        lists.close()
        researcher.close()


if __name__ == "__main__":
    main()
