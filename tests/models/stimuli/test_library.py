"""Stimulus sets are found by id or folder and read; what cannot be read is refused by name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from labapp.base.errors import StimuliError
from labapp.models.stimuli import library
from tests.helpers import stimuli


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_a_set_is_read_from_its_folder(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    assert made.id == f"tiny-{name}"
    assert made.manifest.sets == (1, 2)
    assert made.manifest.correct_example is not None
    assert made.manifest.correct_example.correct
    assert made.manifest.incorrect_example is not None
    assert not made.manifest.incorrect_example.correct
    content = (made.folder / "manifest.json").read_bytes()
    assert made.sha256 == hashlib.sha256(content).hexdigest()


def test_an_own_set_is_found_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path))
    made = stimuli.write(tmp_path, "heatmaps")
    assert library.load("tiny-heatmaps") == made
    assert made.folder in library.set_folders()
    with pytest.raises(StimuliError, match="no stimulus set 'tiny-maps'") as found:
        library.load("tiny-maps")
    assert "tiny-heatmaps" in found.value.todo
    (tmp_path / "tiny-heatmaps").rename(tmp_path / "other")
    with pytest.raises(StimuliError, match="calls itself 'tiny-heatmaps'"):
        library.load("other")


def test_an_id_of_a_shipped_and_of_an_own_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = stimuli.write(tmp_path / "shipped", "heatmaps")
    own = stimuli.write(tmp_path / "own", "heatmaps")
    monkeypatch.setattr(library, "shipped_folder", lambda: tmp_path / "shipped")
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    with pytest.raises(StimuliError, match="names two stimulus sets") as refused:
        library.load("tiny-heatmaps")
    assert str(shipped.folder) in refused.value.what
    assert str(own.folder) in refused.value.what
    assert library.load(own.folder) == own


def test_an_id_is_not_a_folder_where_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    own = stimuli.write(tmp_path / "own", "heatmaps")
    other = stimuli.write(tmp_path / "here", "heatmaps")
    monkeypatch.chdir(tmp_path / "here")
    assert library.find("tiny-heatmaps") == own.folder
    assert library.find("./tiny-heatmaps").resolve() == other.folder
    assert library.find(Path("tiny-heatmaps")).resolve() == other.folder
    own.folder.rename(tmp_path / "gone")
    assert library.find("tiny-heatmaps").resolve() == other.folder


def test_a_folder_of_tables_is_told_to_be_imported_first(tmp_path: Path) -> None:
    (tmp_path / library.HEADER).write_text("{}")
    with pytest.raises(StimuliError, match="is made of tables") as told:
        library.find(tmp_path)
    assert f"labapp stimuli import {tmp_path}" in told.value.todo


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"id": 1,\n oops}', "line 2: not readable as JSON"),
        (b'{"id": "a", "id": "b"}', "the key 'id' is given twice"),
        ('{\n"id": "Säge"}'.encode("latin-1"), "line 2: this is not UTF-8 text (byte 0xe4)"),
        (b"[" * 100_000, "not readable as JSON"),
        (b"{}", "id: missing"),
        (b'{"photoz": 1}', "photoz: unknown key"),
        (b"[]", "the file: found []"),
    ],
)
def test_unreadable_manifests_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(StimuliError) as found:
        library.load(tmp_path)
    assert said in found.value.what
    assert found.value.todo


def test_faults_name_the_photo_by_its_id(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "prototype-agreement")

    with pytest.raises(StimuliError) as found:
        stimuli.edited(made, lambda m: m["photos"][1]["rows"][0].update(similarity="far"))
    assert "photos[p01].rows[0].similarity: found 'far'" in found.value.what


def test_the_key_that_was_meant_is_told(tmp_path: Path) -> None:
    (tmp_path / library.MANIFEST).write_text('{"license": "MIT", "xyz": 1}')
    with pytest.raises(StimuliError) as told:
        library.load(tmp_path)
    assert "license: unknown key (did you mean 'licence'?)" in told.value.what
    assert "xyz: unknown key\n" in f"{told.value.what}\n"


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    path = made.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8-sig")
    assert library.load(made.folder).manifest == made.manifest
