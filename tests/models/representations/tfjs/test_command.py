"""`labapp models import-tfjs` as a person types it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.models.representations import load_package
from tests.models.representations.tfjs import published

MAIN = "from labapp.cli.main import main; main()"
WITHOUT_TORCH = f"""
import atexit, sys
atexit.register(lambda: print("torch" if "torch" in sys.modules else "no torch"))
{MAIN}
"""


def run(cwd: Path, *arguments: str, code: str = MAIN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, "models", "import-tfjs", *arguments],
        cwd=cwd,
        env=os.environ | {"LABAPP_MODELS": str(cwd / "mine")},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return published.write(tmp_path / "vae", published.sinelines().tensors, published.config(64))


def test_it_says_what_it_made_and_where(source: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "vae", "--out", "made", code=WITHOUT_TORCH)
    assert done.stdout.splitlines() == [
        "id: sinelines/published-vae (sinelines-mlp, 5 sliders)",
        "model: made",
        "no torch",
    ]
    assert (done.returncode, done.stderr) == (0, "")
    assert load_package(tmp_path / "made", "cpu").id == "sinelines/published-vae"


def test_without_an_output_folder_it_joins_the_users_models(source: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "vae/decoder_web", "--id", "sinelines/theirs")
    folder = tmp_path / "mine/sinelines/theirs"
    assert f"model: {folder}" in done.stdout
    assert (folder / "model.yaml").is_file()
    again = run(tmp_path, "vae", "--id", "sinelines/theirs")
    assert again.returncode == 3
    assert "never overwritten" in again.stderr


def test_a_refusal_is_a_message_and_not_a_traceback(source: Path, tmp_path: Path) -> None:
    (source / "decoder_web/group1-shard1of1.pb").unlink()
    done = run(tmp_path, "vae", "--out", "made")
    assert (done.returncode, done.stdout) == (3, "")
    assert "lacks group1-shard1of1.pb" in done.stderr
    assert "Nothing was changed." in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "made").exists()
