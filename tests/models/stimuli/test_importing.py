"""A set made elsewhere is taken whole or not at all, and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, library
from tests.helpers import stimuli


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    return tmp_path / "own"


def test_a_set_is_taken_with_its_pictures_alone(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    (made.folder / "notes.txt").write_text("not part of the set")
    folder, found = importing.import_set(made.folder)
    assert folder == own / "tiny-heatmaps"
    assert found.warnings == []
    taken = library.load("tiny-heatmaps")
    assert taken.manifest == made.manifest
    names = {path.name for path in folder.iterdir()}
    assert names == {path.name for path in made.folder.iterdir()} - {"notes.txt"}
    for path in folder.glob("*.png"):
        assert path.read_bytes() == (made.folder / path.name).read_bytes()


def test_nothing_is_overwritten(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    folder, _ = importing.import_set(made.folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    stimuli.edited(made, lambda m: m.update(title="Another"))
    with pytest.raises(StimuliError, match="is a stimulus set 'tiny-heatmaps' already"):
        importing.import_set(made.folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_set_with_faults_leaves_nothing_behind(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    (made.folder / "heat-p00-1.png").unlink()
    with pytest.raises(StimuliError, match=r"cannot be shown \(1 fault\)"):
        importing.import_set(made.folder)
    assert not own.exists()
    with pytest.raises(StimuliError, match=r"neither manifest\.json nor set\.json"):
        importing.import_set(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    own.write_text("a file")
    with pytest.raises(StimuliError, match="cannot be written"):
        importing.import_set(made.folder)


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_a_manifest_comes_back_from_its_bytes(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    content = importing.manifest_text(made.manifest)
    assert library.parse(content, tmp_path / "manifest.json") == made.manifest
    assert importing.manifest_text(library.parse(content, tmp_path / "manifest.json")) == content
    assert len(content.splitlines()) > len(made.manifest.photos)
