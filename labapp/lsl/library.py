"""Loads liblsl, when a session is to send its events and not before."""

from __future__ import annotations

from types import ModuleType

from labapp.errors import LslError
from labapp.messages import Message

INSTALL = 'python -m pip install "labapp[lsl]"'


def load() -> ModuleType:
    """The `pylsl` module.

    Raises
    ------
    LslError : it is not installed, or its library liblsl cannot be loaded.
    """
    try:
        import pylsl
    except ModuleNotFoundError as error:
        raise LslError(
            Message("lsl_missing"),
            safe="Everything else works.",
            todo=f"Install it: {INSTALL}",
        ) from error
    except (ImportError, OSError, RuntimeError) as error:
        # Its own explanation has several lines; the first says what is wrong.
        raise LslError(
            Message("lsl_library", error=(str(error).splitlines() or [""])[0].strip()),
            safe="Everything else works.",
            todo="It needs Windows, macOS, or a Linux with glibc 2.35 (Ubuntu 22.04, Debian 12) "
            f"or newer. Install it again: {INSTALL}",
        ) from error
    module: ModuleType = pylsl
    return module


def problem() -> LslError | None:
    """Why nothing can be sent; None where it can."""
    try:
        load()
    except LslError as error:
        return error
    return None
