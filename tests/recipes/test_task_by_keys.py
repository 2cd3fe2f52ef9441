"""The recipe's task in its real window on an X server: real key presses, and no mouse."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.helpers.installed import ROOT
from tests.helpers.recipes import Recipe

TOOLS = ("Xvfb", "xdotool")
PATIENCE_S = 120.0
SHOWN = """
import sys
from pathlib import Path
from labapp.ui.controller import SessionController
from labapp.ui.qtapp import make_app
from labapp.ui.starting import RunOptions, open_new

app, folder = make_app(), Path(sys.argv[1])
options = RunOptions(
    data=folder / "data", private=folder / "private", audio="off", windowed=True
)
shown = SessionController(open_new("picture-rating", "P01", "1", options), options)
shown.closed.connect(app.exit)
shown.start()
app.exec()
"""


@contextmanager
def x_server() -> Iterator[str]:
    """The name of a display that nobody else uses."""
    for tool in TOOLS:
        assert shutil.which(tool), f"{tool} is missing: the set-up of the tests installs it"
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1366x768x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        yield f":{os.read(read, 16).decode().strip()}"
    finally:
        os.close(read)
        server.terminate()
        server.wait(timeout=20)


def happened(data: Path, kind: str) -> list[dict[str, object]]:
    """The events of a kind so far, in the one session of a data folder."""
    try:
        (journal,) = data.rglob("journal.sqlite")
        with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
            asked = "SELECT payload FROM events WHERE kind = ? ORDER BY seq"
            return [json.loads(payload) for (payload,) in connection.execute(asked, (kind,))]
    except (ValueError, sqlite3.OperationalError):  # not there yet
        return []


@pytest.mark.timeout(600)
def test_every_question_is_answered_by_keys_alone(tmp_path: Path) -> None:
    recipe = Recipe("task", tmp_path, run=lambda arguments: "")
    recipe.write_files()
    site, data = recipe.install("picture-rating"), tmp_path / "data"
    with x_server() as display:
        environment = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": f"{site}:{ROOT}",
            "LABAPP_SETTINGS": str(tmp_path / "settings"),
        }
        program = subprocess.Popen([sys.executable, "-c", SHOWN, str(tmp_path)], env=environment)

        def x(*arguments: str) -> None:
            subprocess.run(["xdotool", *arguments], env=environment, check=True, timeout=PATIENCE_S)

        def until(kind: str, times: int) -> None:
            late = time.monotonic() + PATIENCE_S
            while len(happened(data, kind)) < times:
                assert program.poll() is None, "the program ended"
                assert time.monotonic() < late, f"{kind} happened less than {times} times"
                time.sleep(0.05)

        try:
            until("window.shown", 1)
            x("search", "--sync", "--onlyvisible", "--name", "^Rate pictures", "windowfocus")
            x("key", "Return")
            for question in range(1, 11):
                until("rating.shown", question)
                x("key", str(1 + question % 7))
                until("rating.chosen", question)
                x("key", "Tab", "Return")
                until("trial.ended", question)
        finally:
            program.terminate()
            program.wait(timeout=PATIENCE_S)
    chosen = happened(data, "rating.chosen")
    assert [answer["rating"] for answer in chosen] == [1 + number % 7 for number in range(1, 11)]
    assert {answer["device"] for answer in chosen} == {"keyboard"}
