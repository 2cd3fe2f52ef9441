"""Following the recipes of docs/recipes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from labapp.cli.main import main
from tests.helpers.recipes import Recipe

Follow = Callable[[str], AbstractContextManager[Recipe]]


@pytest.fixture
def follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Follow:
    """Follows a recipe, by its name, in a folder and with data folders of its own."""
    monkeypatch.chdir(tmp_path)
    for variable in ("DATA", "PRIVATE", "MODELS", "STIMULI", "CACHE"):
        monkeypatch.setenv(f"LABAPP_{variable}", str(tmp_path / variable.lower()))

    def run(arguments: list[str]) -> str:
        monkeypatch.setattr(sys, "argv", ["labapp", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert ended.value.code == 0, out + err
        return out

    return lambda name: Recipe(name, tmp_path, run).followed()
