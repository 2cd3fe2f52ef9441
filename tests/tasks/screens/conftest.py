"""Screens of tasks stand in the participant's window, as those of all."""

from tests.ui.conftest import _nothing_left, _nothing_remembered, open_room, open_window

__all__ = ["_nothing_left", "_nothing_remembered", "open_room", "open_window"]
