"""The beginning of the program: a splash if the moderator's window opens, then the commands.

What is imported before the splash makes a person wait, so the commands are imported after it.
"""

from __future__ import annotations

import gc
import sys

from labapp.base import splash


def main() -> None:
    """The entry point of `labapp`."""
    if splash.opens_window(sys.argv[1:]):
        splash.begin()
    from labapp.cli.main import main as run_command

    try:
        run_command()
    finally:
        gc.freeze()  # Python would end with looking for garbage everywhere: half a second
