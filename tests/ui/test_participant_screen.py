"""What every screen of a part does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from labapp.ui.participant.screen import Screen


def test_a_screen_keeps_its_state_when_the_session_goes_on(qtbot: Any) -> None:
    """It is laid out again, in the console's mirror too, before the next one takes its place."""
    session: Any = SimpleNamespace(part="first", part_state="its state")
    screen = Screen(session, session.part)
    qtbot.addWidget(screen)
    assert screen.state == "its state"
    session.part_state = "its next state"
    assert screen.state == "its next state"
    session.part, session.part_state = "second", "another's state"
    assert screen.state == "its next state"
