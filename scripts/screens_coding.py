"""Coding for screenshots.py: the page *Coding*, its windows, and the coding window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.coding.annotations.codebook import codebooks_of, read
from labapp.coding.annotations.model import Mark
from labapp.coding.annotations.rounds import StudyDisagreements, study_status
from labapp.coding.annotations.settlements import Disagreement
from labapp.coding.annotations.simulated import leave_codebooks
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.coding.exchange.speakers import speakers_of
from labapp.record.journal.opening import open_record
from labapp.session.replay.lanes import retrieve
from labapp.session.simulation.simulation_job import simulate_study
from labapp.ui import language, theme
from labapp.ui.moderator.home import CODING, HomeWindow
from labapp.ui.replay.codebook_editor import CodebookEditor
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import open_coding_window
from labapp.ui.researcher.coding_forms import (
    RatersForm,
    ReelForm,
    SettleForm,
    SpeakersForm,
    VideosForm,
)
from scripts.screens_moderator import on_screen, ready_home


def shots(folder: Path) -> Iterator[tuple[str, QWidget]]:
    """Every window in which coding goes on, but for the replay, in both languages."""
    yield from windows(folder / "en")
    language.speak("de")
    try:
        for name, window in windows(folder / "de"):
            yield f"de-{name}", window
    finally:
        language.speak(language.ENGLISH)


def windows(folder: Path) -> Iterator[tuple[str, QWidget]]:
    sessions = simulate_study(
        "quickstart", 3, "understanding", folder / "data", 1, thinks_aloud=True
    )
    study = sessions[0].parent
    leave_codebooks(study)
    book = read(study / "codebook.yaml")
    codes = [code.id for code in book.given(book.tiers[0].name)]
    for session in sessions[:2]:
        units = annotations_of(open_record(session)).segmentation.units
        for number, rater in enumerate(("anna", "ben")):
            with open_marks(session, rater, book) as marks:
                for place, unit in enumerate(units):
                    marks.give(codes[(place * (1 + number)) % len(codes)], unit=unit.id)
                marks.set_status("done" if rater == "anna" else "draft")
    rows = list(study_status(study))
    home = on_screen(ready_home())
    assert isinstance(home, HomeWindow)
    home.view.tabs[CODING].click()
    page = home.view.coding
    page.set_studies([study.name], study.name)
    page.rater.setText("anna")
    page.set_sessions(rows)
    yield "coding-page", home
    page.raters_menu.click()
    yield "coding-page-menu", home
    page.set_working(True)
    page.bar.set_share(0.4)
    page.tabs[1].click()
    page.units.model.codebook = book
    page.units.show_stretches(retrieve(study))
    page.units.table.selectRow(0)
    yield "coded-units", home
    home.close()
    raters = RatersForm(theme.LIGHT, study)
    raters.set_sessions(rows)
    raters._ask_lock()
    speakers = SpeakersForm(theme.LIGHT, sessions[0], "anna")
    speakers._show(speakers_of(sessions[0]))
    settle = SettleForm(theme.LIGHT, study, "anna", codebooks_of(study))
    unit = annotations_of(open_record(sessions[0])).segmentation.units[0]

    def mark(rater: str, code: str) -> tuple[Mark, ...]:
        tier = book.tiers[0].name
        return (Mark("m", rater, tier, code, unit.t0_ns, unit.t1_ns, unit.id),)

    marks_ = {"anna": mark("anna", codes[0]), "ben": mark("ben", codes[1])}
    times = (unit.t0_ns, unit.t1_ns)
    difference = Disagreement(sessions[0].name, book.tiers[0].name, *times, unit.id, marks_)
    settle._show(StudyDisagreements((difference,), ((sessions[1].name, "it is open."),)))
    videos = VideosForm(theme.LIGHT, sessions[0], "anna")
    reel = ReelForm(theme.LIGHT, study, retrieve(study).stretches, book)
    reel.set_running(True)
    reel.bar.set_share(0.3)
    editor = CodebookEditor(theme.LIGHT, study)
    for name, form in (
        *(("raters", raters), ("speakers", speakers), ("settle", settle), ("videos", videos)),
        *(("reel", reel), ("codebook", editor)),
    ):
        form.show_form()
        yield name, form
        form.close()
    window = open_coding_window(sessions[2], CodingRequest("anna"))
    window.window.open(0)
    yield "coding-window", window.window
    window.window.close()
