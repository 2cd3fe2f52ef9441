"""Which screen a part of the plan has."""

from __future__ import annotations

from functools import cache

from labapp import discovery
from labapp.plugins import registry
from labapp.plugins.part import PlannedPart
from labapp.ui.participant.screen import Screen, Setting


def make_screen(setting: Setting, part: PlannedPart) -> Screen:
    """The screen of a part for which everything is ready."""
    return screen_class(registry.task_type_of(part).screen(part))(setting, part)


@cache
def screen_class(where: str) -> type[Screen]:
    """The class of a screen by `module:Class`. Raises TypeError where that is no screen."""
    screen = discovery.load(where)
    if not (isinstance(screen, type) and issubclass(screen, Screen)):
        raise TypeError(f"{where} is no screen of the participant's window")
    return screen
