"""Results of a study with labels, in light and dark, in English and German, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.record.journal.sessions import list_sessions
from labapp.session.simulation.simulation_job import simulate_study
from labapp.ui import language
from labapp.ui.moderator.home import RESULTS, HomeWindow
from labapp.ui.researcher.controller import Researcher
from scripts.screens_moderator import on_screen, ready_home
from scripts.screens_researcher import _settled, _wait

STUDY = Path(__file__).parents[1] / "examples" / "hint-study" / "hint-study.yaml"
PARTICIPANTS = 6


def shots(folder: Path) -> Iterator[tuple[str, QWidget]]:
    data = folder / "data"
    simulate_study(str(STUDY), PARTICIPANTS, "understanding=0.6,random=0.4", data)
    for code in ("en", "de"):
        language.speak(code)
        try:
            window = on_screen(ready_home())
            assert isinstance(window, HomeWindow)
            researcher = Researcher(window.view.results)
            researcher.set_sessions(list_sessions(data))
            window.view.tabs[RESULTS].click()
            researcher.set_shown(True)
            _wait(researcher)
            yield f"{code}-l1-results", _settled(window)
            bar = window.view.results.results.verticalScrollBar()
            bar.setValue(bar.maximum())
            yield f"{code}-l2-results-below", _settled(window)
            window.view.results.tabs[1].click()
            yield f"{code}-l3-figures", _settled(window)
            researcher.close()
        finally:
            language.speak(language.ENGLISH)
