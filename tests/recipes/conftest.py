"""Following the recipes of docs/recipes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from labapp.cli.main import main
from tests.helpers.recipes import Command, Recipe
from tests.helpers.undrawn import undrawn as undrawn

Follow = Callable[[str], AbstractContextManager[Recipe]]


def command_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Carries out commands of labapp in a folder, with data folders of its own."""
    monkeypatch.chdir(folder)
    for variable in ("DATA", "PRIVATE", "MODELS", "STIMULI", "CACHE"):
        monkeypatch.setenv(f"LABAPP_{variable}", str(folder / variable.lower()))

    def run(arguments: list[str]) -> str:
        monkeypatch.setattr(sys, "argv", ["labapp", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert ended.value.code == 0, out + err
        return out

    return run


@pytest.fixture
def follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Follow:
    """Follows a recipe, by its name, in a folder and with data folders of its own."""
    run = command_of(tmp_path, monkeypatch, capsys)
    return lambda name: Recipe(name, tmp_path, run).followed()
