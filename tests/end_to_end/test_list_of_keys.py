"""F1 by real key events of an X server: the list comes up, and every other key stays where it
was."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.studies import write_study
from tests.recipes.test_task_by_keys import PATIENCE_S, happened, x_server

ROOT = Path(__file__).resolve().parents[2]
SHOWN = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from labapp.ui.controller import SessionController
from labapp.ui.qtapp import make_app
from labapp.ui.starting import RunOptions, open_new

app, folder = make_app(), Path(sys.argv[1])
options = RunOptions(
    data=folder / "data", private=folder / "private", audio="off", windowed=True
)
shown = SessionController(open_new(sys.argv[2], "P01", "1", options), options)
shown.closed.connect(app.exit)
shown.start()
log = (folder / "log").open("w")
last = [None]
def look():
    state = shown.console.keys.isVisible()
    if state != last[0]:
        last[0] = state
        print(state, file=log, flush=True)
timer = QTimer()
timer.timeout.connect(look)
timer.start(20)
app.exec()
"""


@pytest.mark.timeout(300)
def test_the_list_is_shown_and_the_keys_stay_the_participants(tmp_path: Path) -> None:
    study, data = write_study(tmp_path / "study", "sinelines/gt"), tmp_path / "data"
    with x_server() as display:
        environment = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": str(ROOT),
            "LABAPP_SETTINGS": str(tmp_path / "settings"),
        }
        program = subprocess.Popen(
            [sys.executable, "-c", SHOWN, str(tmp_path), str(study)], env=environment
        )

        def x(*arguments: str) -> None:
            subprocess.run(["xdotool", *arguments], env=environment, check=True, timeout=PATIENCE_S)

        def until(condition: Callable[[], bool], what: str) -> None:
            late = time.monotonic() + PATIENCE_S
            while not condition():
                assert program.poll() is None, "the program ended"
                assert time.monotonic() < late, what
                time.sleep(0.05)

        def states() -> list[str]:
            log = tmp_path / "log"
            return log.read_text().split() if log.exists() else []

        def moved() -> int:
            return len(happened(data, "dial.moved"))

        try:
            until(lambda: bool(happened(data, "window.shown")), "no window was shown")
            x("search", "--sync", "--onlyvisible", "--name", "^A study for tests", "windowfocus")
            until(lambda: bool(happened(data, "part.started")), "no part began")
            for _ in range(20):  # through the text before the stage, to a dial
                if moved():
                    break
                x("key", "Return")
                x("key", "Tab", "Right")
                time.sleep(0.2)
            assert moved()
            assert states() == ["False"]
            x("key", "F1")
            until(lambda: states()[-1] == "True", "the list did not come up")
            before = moved()
            x("key", "Right", "Right")
            until(lambda: moved() >= before + 2, "the dial did not move")
            x("key", "F1")
            until(lambda: states()[-1] == "False", "the list did not go")
        finally:
            program.terminate()
            program.wait(timeout=PATIENCE_S)
    assert not [
        given for given in happened(data, "keyboard.given") if given.get("to") == "moderator"
    ]
