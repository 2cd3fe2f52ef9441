"""A stage that begins again comes up afresh in the participant's window."""

from __future__ import annotations

from pathlib import Path

from labapp.record.events import Source
from labapp.record.events.commands import Resume
from labapp.session import opening
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.skips import skip_question
from tests.session.sessions import surroundings, trial_of
from tests.session.test_interrupted import at
from tests.session.test_resume import drop


def test_the_first_question_of_the_new_attempt_is_shown(qapp, tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-1")
    skip_question(killed.runner)
    around = surroundings(tmp_path, make_scheduler=QtScheduler)
    session = opening.resume(drop(killed), lambda loaded, models: around)
    runner = session.runner
    bridge = Bridge(runner)
    loaded = session.loaded
    window = ParticipantWindow(
        bridge, loaded, strings_of(loaded), loaded.study.presentation, session.give_consent
    )
    try:
        session.begin()
        window.open_on()
        qapp.processEvents()
        assert window.covered, "everybody waits for the person who resumes"
        runner.send(Resume("on"), Source.MODERATOR)
        qapp.processEvents()
        assert not window.covered
        screen = window.screen_shown
        assert isinstance(screen, ReconstructionScreen)
        assert screen.head().question == "Question 1 of 3"
        trial = trial_of(session)
        assert (trial.number, trial.attempt) == (1, 2)
        shown = [row.control.shown for row in screen.dials.rows]
        assert shown == list(trial.z_start)
        assert trial.started_ns is not None
    finally:
        window.close_for_good()
        window.deleteLater()
        session.close("test over")
        bridge.deleteLater()
        runner.scheduler.deleteLater()
