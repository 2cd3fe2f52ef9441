"""The pictures of all windows can be drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/screenshots.py"
MODULES = sorted(path.stem.removeprefix("screens_") for path in SCRIPT.parent.glob("screens_*.py"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", MODULES)
def test_every_picture_of_a_module_is_drawn(module: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--module", module]
    command += ["--setting", "1366x768@100"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len([*tmp_path.glob("*.png")]) > 1
