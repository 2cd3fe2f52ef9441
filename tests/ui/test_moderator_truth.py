"""What the console says of a session is so: how it ended, and which sound there is."""

from __future__ import annotations

import numpy as np

from labapp.analysis.inclusion import RULES
from labapp.record.events.lifecycle import InclusionDecided, SessionCompleted
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.console import Sound
from tests.ui.desk import HEARD, Desk


def test_a_session_that_counts_is_complete(desk: Desk) -> None:
    counted = InclusionDecided(True, (), {})
    desk.room.runner.emit(counted)
    desk.room.runner.emit(SessionCompleted())
    desk.wait(1)
    assert desk.console.state.not_counted == ()
    desk.room.runner.emit(InclusionDecided(False, ("min_solved", "practice_correct"), {}))
    desk.wait(1)
    assert desk.console.state.not_counted == ("min_solved", "practice_correct")
    assert set(wording.NOT_COUNTED) == set(RULES), "every rule has words"


def test_only_a_voice_that_is_recorded_is_drawn(desk: Desk) -> None:
    """Before consent a microphone is open for the checklist, and nothing is kept of it."""
    voice = desk.console.timeline.view.voice

    def loud() -> bool:
        return any(peak > 0 for peak in voice._peaks)

    def drawn() -> int:
        """How many bins of the newest stretch have a line."""
        return int(np.isfinite(voice._line(0, len(voice._peaks))[1]).sum())

    desk.console._level_source = lambda: HEARD
    desk.console.state.sound = Sound()
    desk.wait(2)
    assert not loud()
    assert not drawn(), "not even a flat line"
    desk.console.state.sound = Sound("a microphone", "ALSA", 48_000)
    desk.wait(2)
    assert loud()
    assert 0 < drawn() < len(voice._peaks)
