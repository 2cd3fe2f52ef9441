"""A record's files are the same ones in a folder and in a zip archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from labapp.record.journal.layout import FolderTree, Tree, ZipTree

FILES = (
    "data/sub-P01/ses-1/a.json",
    "data/sub-P01/ses-1/audio/b.wav",
    "data/sub-P02/ses-2/a.json",
    "data/sub-P03/stray.txt",
    "data/other/ses-1/a.json",
    "sub-P04/ses-1/a.json",
)


@pytest.fixture(params=["folder", "zip"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    root = tmp_path / "bundle"
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "data/sub-P05/ses-1").mkdir(parents=True)
    if request.param == "folder":
        return FolderTree(root)
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        for name in FILES:
            archive.write(root / name, f"bundle/{name}")
    return ZipTree(tmp_path / "bundle.zip", "bundle/")


def test_folders_that_hold_something_are_found(tree: Tree) -> None:
    assert tree.folders("data/sub-*/*") == ["data/sub-P01/ses-1", "data/sub-P02/ses-2"]
    assert tree.folders("sub-*") == ["sub-P04"]
    assert tree.folders("nothing/*") == []


def test_names_and_contents_are_the_same(tree: Tree) -> None:
    assert tree.names() == sorted(FILES)
    assert tree.below("data/sub-P01").names() == ["ses-1/a.json", "ses-1/audio/b.wav"]
    assert tree.read(FILES[0]) == FILES[0].encode()
