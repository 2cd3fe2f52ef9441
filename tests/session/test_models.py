"""Warm decoders: which of them are still those of their files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.models.representations.package import files_of
from labapp.session.pictures import WarmDecoders, load_warm
from tests.helpers.formulas import formula_decoder

MINE = "sinelines/mine"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of a model of one's own."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    shutil.copytree(resources.models() / "sinelines" / "ae", tmp_path / MINE)
    card = tmp_path / MINE / "model.yaml"
    card.write_text(card.read_text("utf-8").replace("sinelines/ae", MINE), "utf-8")
    return tmp_path / MINE


def flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def flip_secretly(path: Path) -> None:
    """As long as before, and said to be written when it was before."""
    state = path.stat()
    flip_last_byte(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def exchange(path: Path) -> None:
    draft = path.with_name("draft")
    shutil.copy(path, draft)
    flip_last_byte(draft)
    draft.replace(path)


@pytest.mark.parametrize("change", [flip_last_byte, flip_secretly, exchange, Path.unlink])
def test_a_change_of_any_file_is_noticed(folder: Path, change: Callable[[Path], None]) -> None:
    warm = load_warm([MINE, "sinelines/gt"], "cpu")
    files = files_of(MINE)
    assert {path.name for path in files} == {path.name for path in folder.iterdir()}
    for path in files:
        whole = path.read_bytes()
        assert warm.unchanged() == warm
        change(path)
        left = warm.unchanged()
        assert left.decoders.keys() == left.files.keys() == {"sinelines/gt"}
        assert [times.model for times in left.warmed] == ["sinelines/gt"]
        path.write_bytes(whole)


def test_a_file_written_anew_with_the_same_content_changes_nothing(folder: Path) -> None:
    warm = load_warm([MINE], "cpu")
    for path in files_of(MINE):
        path.write_bytes(path.read_bytes())
    assert warm.unchanged().decoders[MINE] is warm.decoders[MINE]


def test_one_loaded_anew_stands_in_the_place_of_the_other(folder: Path) -> None:
    warm = load_warm([MINE, "sinelines/gt"], "cpu")
    flip_card = folder / "model.yaml"
    flip_card.write_text(flip_card.read_text("utf-8") + "\n", "utf-8")
    fresh = load_warm([MINE], "cpu")
    both = warm.with_others(fresh)
    assert both.decoders[MINE] is fresh.decoders[MINE]
    assert sorted(times.model for times in both.warmed) == ["sinelines/gt", MINE]
    assert both.unchanged() == both


def test_one_that_was_read_from_no_files_stays() -> None:
    warm = WarmDecoders({"nowhere/there": formula_decoder("sinelines/gt")}, [])
    assert warm.unchanged() == warm
