"""*Help*: the documentation in the browser."""

from __future__ import annotations

from collections.abc import Callable

from labapp.documentation import first_page
from labapp.errors import LabappError, SetupError
from labapp.ui.outside import open_outside


def open_documentation(show_error: Callable[[LabappError], None]) -> None:
    """Open the first page; show_error is told where there is none, or no program for it."""
    try:
        open_outside(first_page(), lambda sentence: show_error(SetupError(sentence)))
    except SetupError as error:
        show_error(error)
