"""Runs commands of labapp in this process, as tests of the command line do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.cli.main import main

Run = Callable[..., tuple[int, str, str]]
"""Runs a command: (status, standard output, standard error)."""


@pytest.fixture
def labapp(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Runs `labapp …` in the test's folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["labapp", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run
