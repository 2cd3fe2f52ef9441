"""The splash: shown before everything else, the trial of the display, and gone with its program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.base import splash
from tests.helpers.waiting import wait_for

BEGINS = """
import sys
from labapp.base import splash
splash.begin()
print(splash._shown[0].pid, splash.wait_for_display(20.0), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A display of Qt's own, without a screen that anybody sees."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(splash, "has_display", lambda: True)
    yield
    splash.end()


def is_running(pid: int) -> bool:
    """Whether a process is there, and not only its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("arguments", "opens"),
    [
        ((), True),
        (("--data", "sessions"), True),
        (("--data=sessions", "--private", "names"), True),
        (("run", "quickstart"), False),
        (("--data", "sessions", "run"), False),
        (("--help",), False),
        (("--version",), False),
    ],
)
def test_it_is_for_the_moderators_window(arguments: tuple[str, ...], opens: bool) -> None:
    assert splash.opens_window(arguments) is opens


def test_without_a_display_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert not splash.has_display()
    splash.begin()
    assert not splash.is_begun()
    monkeypatch.setenv("DISPLAY", ":0")
    assert splash.has_display()
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert not splash.has_display(), "the windows are drawn elsewhere"


def test_it_says_that_the_display_answers_and_ends(display: None) -> None:
    splash.begin()
    splash.begin()
    (shown,) = splash._shown
    assert splash.wait_for_display(20.0) is None
    assert is_running(shown.pid)
    splash.end()
    splash.end()
    assert not is_running(shown.pid)
    assert not splash.is_begun()


def test_a_display_that_does_not_answer_is_no_crash(
    display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "")
    monkeypatch.setenv("DISPLAY", ":987")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    splash.begin()
    why = splash.wait_for_display(20.0)
    assert why is not None
    assert "could not connect to display" in why
    assert not splash.is_begun()


def test_one_that_says_nothing_is_waited_for_no_longer(
    display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splash, "CODE", "import time; time.sleep(60)")
    splash.begin()
    assert splash.wait_for_display(0.2) == "no answer in 0.2 s"
    assert not splash.is_begun()


def test_it_goes_with_its_program_however_that_ends(display: None) -> None:
    code = BEGINS.replace("splash.begin()", "splash.has_display = lambda: True\nsplash.begin()")
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        pid, why = program.stdout.readline().split()
        assert why == "None"
        assert is_running(int(pid))
        os.kill(program.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(int(pid)))
