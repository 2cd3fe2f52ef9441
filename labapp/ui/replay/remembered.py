"""What the replay window remembers: its size, its divisions, and how it plays."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QGuiApplication

from labapp.errors import LabappError
from labapp.ui.remembered import read_choices, write_choices
from labapp.ui.replay.controller import USUAL_BACK_S

FILE = "replay.json"
WINDOW = "replay window"
MOST_PLACES = 200
"""Sessions of which it is remembered where they were left."""


@dataclass(frozen=True)
class ReplayChoices:
    """The last choices in a replay window.

    Attributes
    ----------
    geometry, rows, columns : as Qt keeps them, in base64: of the window, of the timeline's height,
        of the picture's width. Empty for the usual.
    back_s : how far resuming goes back, in seconds.
    dark : `light` or `dark`; empty for what the system says.
    video : whether the video of a session that has one is shown.
    shown : as `columns`: of the picture's size beside the video's.
    places : by the names of session folders the session time in ns at which they were left.
    """

    geometry: str = ""
    rows: str = ""
    columns: str = ""
    back_s: float = USUAL_BACK_S
    dark: str = ""
    video: bool = True
    shown: str = ""
    places: dict[str, int] = field(default_factory=dict)

    def with_place(self, session: str, t_ns: int) -> dict[str, int]:
        """The places after a session was left at a time; the oldest ones give way."""
        others = {name: place for name, place in self.places.items() if name != session}
        return dict(list({session: t_ns, **others}.items())[:MOST_PLACES])


def read() -> tuple[ReplayChoices, LabappError | None]:
    """The last choices, or the usual ones and why the last ones are not used."""
    try:
        return read_choices(FILE, ReplayChoices(), WINDOW, _check), None
    except LabappError as error:
        return ReplayChoices(), error


def _check(choices: ReplayChoices) -> None:
    if not all(type(place) is int for place in choices.places.values()):
        raise ValueError("'places' is not as expected")


def write(choices: ReplayChoices) -> None:
    """Keep the choices for the next start. Raises DataFolderError."""
    write_choices(FILE, choices, WINDOW)


def is_dark(choice: str) -> bool:
    """Whether the window is dark: as chosen (`ReplayChoices.dark`), else as the system is."""
    if choice:
        return choice == "dark"
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def packed(state: QByteArray) -> str:
    """What Qt says of a window or its divisions, as it is kept in the choices."""
    return base64.b64encode(state.data()).decode("ascii")


def unpacked(text: str) -> QByteArray:
    """What was packed; nothing for any other text."""
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except ValueError:
        return QByteArray()
