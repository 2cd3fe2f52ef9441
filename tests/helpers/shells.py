"""Presses Tab in a real shell, in a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

START: Mapping[str, Sequence[str]] = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("setsid", "--ctty", "fish", "--no-config", "-i"),
}
SET_UP = {
    "bash": 'PS1="> "; source FILE',
    "zsh": 'PS1="> "; autoload -Uz compinit; compinit -u -D; source FILE',
    "fish": "function fish_prompt; echo '> '; end; source FILE",
}
PATIENCE_S = 60.0
READY = "ready-to-type"


class Shell:
    """A shell in which labapp is completed, in an empty folder.

    Parameters
    ----------
    name : bash, zsh or fish.
    folder : where it runs; gets `labapp`, the lines of its completion, and is its home.
    environment : what it has besides, such as where the sessions are.
    """

    def __init__(self, name: str, folder: Path, environment: Mapping[str, str]) -> None:
        binaries = folder / "bin"
        binaries.mkdir()
        program = binaries / "labapp"
        code = "from labapp.cli.main import main; main()"
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
        program.chmod(0o755)
        variables = {
            **os.environ,
            **environment,
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(folder),
            "TERM": "xterm",
        }
        lines = folder / "completion"
        with lines.open("w") as file:
            subprocess.run((program, "completion", name), stdout=file, env=variables, check=True)
        inside, self._there = pty.openpty()
        self._terminal = inside
        self._process = subprocess.Popen(
            START[name],
            stdin=self._there,
            stdout=self._there,
            stderr=self._there,
            env=variables,
            cwd=folder,
            start_new_session=name != "fish",
        )
        self.screen = ""
        self._type(SET_UP[name].replace("FILE", str(lines)) + f"; echo {READY[:5]}''{READY[5:]}\r")
        self._until(READY)

    def tab(self, typed: str, expected: str) -> None:
        """Type the beginning of a line, press Tab, and wait until the screen has what is expected.
        Raises TimeoutError."""
        self._type("\x15" + typed + "\t")
        self._until(expected)
        self._type("\x15")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        os.close(self._there)

    def _type(self, text: str) -> None:
        self.screen = ""
        os.write(self._terminal, text.encode())

    def _until(self, expected: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while expected not in re.sub(
            r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][0B]?|[\x07\b]", "", self.screen
        ):
            left = end - time.monotonic()
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, left))
            if not ready:
                raise TimeoutError(f"{expected!r} did not come: {self.screen!r}")
            self.screen += os.read(self._terminal, 65536).decode(errors="replace")
