"""The researcher's page of the home, for screenshots.py: without sessions, with all sorts of them,
with results that the command computed, and after a failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from labapp.record.journal.sessions import list_sessions
from labapp.session.simulation.simulation_job import simulate_study
from labapp.ui import language
from labapp.ui.language import tr
from labapp.ui.moderator.home import RESULTS, HomeWindow
from labapp.ui.researcher.controller import Researcher
from scripts.screens_moderator import on_screen, ready_home

PARTICIPANTS = 6


def shots(folder: Path) -> Iterator[tuple[str, QWidget]]:
    window = ready_home()
    page = window.view.results
    researcher = Researcher(page)
    researcher.set_sessions([])
    window.view.tabs[RESULTS].click()
    yield "r01-results-empty", on_screen(window)

    simulate_study("quickstart", PARTICIPANTS, "mixture", folder / "data", 1)
    lines = list_sessions(folder / "data")
    researcher.set_sessions(lines)
    researcher.set_shown(True)
    yield "r02-results-analysing", _settled(window)
    _wait(researcher)
    yield "r03-results", _settled(window)
    page.tabs[1].click()
    yield "r04-results-figures", _settled(window)

    page.tabs[0].click()
    researcher.set_shown(False)
    researcher.set_sessions(
        [
            replace(lines[0], state="damaged", problem="The journal is not an SQLite database."),
            replace(lines[1], withdrawn="keep"),
            replace(lines[2], state="interrupted", exported=("exports/quickstart.zip",)),
            replace(lines[3], state="running"),
            *lines[4:],
        ]
    )
    page.sessions.selectRow(2)
    page.set_about(
        f"{lines[0].id}: the journal was changed or damaged after it was written "
        "(event 12: its hash is another).",
        "alarm",
    )
    yield "r05-results-all-sorts", _settled(window)

    broken = folder / "data" / "quickstart" / lines[0].id / "journal.sqlite"
    broken.write_bytes(broken.read_bytes()[:4000])
    researcher.set_sessions([replace(line, events=line.events + 1) for line in lines])
    researcher.set_shown(True)
    _wait(researcher)
    yield "r06-results-failed", _settled(window)

    page.set_about("")
    for name, study, strategy in (
        ("r07-results-judged", "gradcam-distinction", "explanation"),
        ("r08-results-unmasked", "unmasking-faces", "explanation"),
    ):
        researcher.set_shown(False)
        simulate_study(study, 2, strategy, folder / study, 1)
        researcher.set_sessions(list_sessions(folder / study))
        researcher.set_shown(True)
        _wait(researcher)
        yield name, _settled(window)
    yield from _forms(researcher, "")
    researcher.close()
    yield from _german(folder / "gradcam-distinction")


def _forms(researcher: Researcher, before: str) -> Iterator[tuple[str, QWidget]]:
    """The windows for a deposit and for answers from elsewhere, also with an error."""
    researcher.open_deposit()
    assert researcher.form is not None
    yield f"{before}r10-deposit", researcher.form
    researcher.form.requested.emit(["deposit", "nowhere", "--out", "deposit"])
    _wait_for_form(researcher)
    yield f"{before}r11-deposit-refused", researcher.form
    researcher.open_merge()
    yield f"{before}r12-merge", researcher.form


def _wait_for_form(researcher: Researcher) -> None:
    while researcher.form is not None and not researcher.form.go.isEnabled():
        QApplication.processEvents()


def _german(data: Path) -> Iterator[tuple[str, QWidget]]:
    """In German, whose words are longer."""
    language.speak("de")
    try:
        window = on_screen(ready_home())
        assert isinstance(window, HomeWindow)
        researcher = Researcher(window.view.results)
        researcher.set_sessions(list_sessions(data))
        window.view.tabs[RESULTS].click()
        researcher.set_shown(True)
        _wait(researcher)
        yield "de-r03-results", _settled(window)
        yield from _forms(researcher, "de-")
        researcher.close()
    finally:
        language.speak(language.ENGLISH)


def _wait(researcher: Researcher) -> None:
    while researcher.page.analyse.text() != tr("results.analyse"):
        QApplication.processEvents()


def _settled(window: HomeWindow) -> HomeWindow:
    for _ in range(20):
        QApplication.processEvents()
    return window
