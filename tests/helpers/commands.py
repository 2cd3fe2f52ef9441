"""Runs commands of labapp in this process, as tests of the command line do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.cli.main import main

Run = Callable[..., tuple[int, str, str]]
"""Runs a command with arguments: (status, output, error)."""


def runner(
    command: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
) -> Run:
    """Runs `labapp COMMAND …` in a folder."""
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["labapp", command, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run
