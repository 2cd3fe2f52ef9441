"""A lab's own pictures: what is read, how it is divided, and every way it can be wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from labapp.base.errors import DatasetError
from labapp.models.datasets import folder as folders
from labapp.models.datasets.folder import Folder, Shares
from tests.helpers import picture_folder


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return picture_folder.make(tmp_path / "pictures")


def read(path: Path, **settings: Any) -> Folder:
    said: dict[str, Any] = {
        "size": 48,
        "channels": 1,
        "shares": Shares(validation=0.25, test=0.25),
        "seed": 1,
    }
    return folders.read(path, **said | settings)


def test_pictures_are_cut_to_their_middle_and_brought_to_size(pictures: Path) -> None:
    found = read(pictures, size=96)
    assert found.names == ("anger", "happiness")
    for rows in (found.train, found.validation, found.test):
        for at in range(0, len(rows), 5):
            with Image.open(pictures / rows.files[at]) as image:
                whole = np.asarray(image, np.uint8)
            np.testing.assert_array_equal(rows.pictures[at, 0], whole[:, 10:106])
    small = read(pictures)
    assert small.train.files == found.train.files
    means = found.train.instances(np.arange(3)).reshape(3, 1, 48, 2, 48, 2).mean(axis=(3, 5))
    assert np.abs(small.train.instances(np.arange(3)) - means).max() <= 0.5 / 255 + 1e-6
    assert read(pictures, channels=3).train.pictures.shape[1:] == (3, 48, 48)


def test_each_class_is_divided_by_its_shares_and_the_seed(pictures: Path) -> None:
    found = read(pictures)
    assert found.counts == {
        "train": {"anger": 12, "happiness": 12},
        "validation": {"anger": 6, "happiness": 6},
        "test": {"anger": 6, "happiness": 6},
    }
    parts = [set(rows.files) for rows in (found.train, found.validation, found.test)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 48
    for rows in (found.train, found.validation, found.test):
        said = [found.names[k] for k in rows.labels(np.arange(len(rows)))]
        assert said == [file.split("/")[0] for file in rows.files]
    assert read(pictures).test.files == found.test.files
    assert read(pictures, seed=2).test.files != found.test.files


def test_nobody_is_in_two_parts_where_names_say_who_it_is(pictures: Path) -> None:
    def persons(found: Folder) -> list[set[str]]:
        parts = (found.train, found.validation, found.test)
        return [{file.split("/")[1].split("_")[0] for file in rows.files} for rows in parts]

    train, validation, test = persons(read(pictures, by_prefix=True))
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert (len(train), len(validation), len(test)) == (6, 3, 3)
    mixed, _, tested = persons(read(pictures))
    assert mixed & tested, "without persons, their pictures are spread"


def test_the_hash_is_of_the_pictures_and_of_what_they_are_called(pictures: Path) -> None:
    before = read(pictures).sha256
    assert read(pictures, seed=2, size=64).sha256 == before
    moved = pictures.with_name("moved")
    shutil.copytree(pictures, moved)
    (moved / ".DS_Store").write_bytes(b"x")
    (moved / "anger" / "Thumbs.db").write_bytes(b"x")
    (moved / "README.txt").write_text("about them", encoding="utf-8")
    assert read(moved).sha256 == before
    first = next((moved / "anger").glob("*.png"))
    Image.new("L", (100, 100), 90).save(first)
    assert read(moved).sha256 != before


def test_classes_can_be_chosen_and_put_in_order(pictures: Path) -> None:
    shutil.copytree(pictures / "anger", pictures / "fear")
    assert read(pictures).names == ("anger", "fear", "happiness")
    assert read(pictures, names=("happiness", "anger")).names == ("happiness", "anger")


@pytest.mark.parametrize("kind", ["png", "jpg", "tiff", "bmp"])
def test_the_usual_kinds_of_pictures_are_read(tmp_path: Path, kind: str) -> None:
    found = read(picture_folder.make(tmp_path / kind, persons=4, each=1, kind=kind))
    assert len(found.train) == 4


def test_deep_grey_and_transparency_become_what_is_seen(tmp_path: Path) -> None:
    root = picture_folder.make(tmp_path / "kinds", persons=4, each=1)
    for path in root.glob("*/*"):
        path.unlink()
    clear = Image.new("RGBA", (60, 60), (0, 0, 0, 0))
    for name in ("anger", "happiness"):
        for k in range(4):
            if name == "anger":
                deep = np.full((60, 60), 257 * 100, np.uint16)
                Image.fromarray(deep).save(root / name / f"{k}.png")
            else:
                clear.save(root / name / f"{k}.png")
    found = read(root)
    assert (found.train.pictures[found.train.classes == 0] == 100).all()
    assert (found.train.pictures[found.train.classes == 1] == 255).all()


def _pages(path: Path) -> None:
    first = Image.new("L", (60, 60))
    first.save(path / "anger" / "pages.tif", save_all=True, append_images=[first])


@pytest.mark.parametrize(
    ("spoil", "settings", "said"),
    [
        (shutil.rmtree, {}, "cannot be read"),
        (lambda p: shutil.rmtree(p / "anger"), {}, "needs two classes"),
        (lambda p: [shutil.rmtree(f) for f in p.iterdir()], {}, "0 folder"),
        (lambda p: shutil.rmtree(p / "anger") or (p / "anger").mkdir(), {}, "anger has 0 picture"),
        (lambda _: None, {"names": ("anger", "joy")}, "no folder joy"),
        (lambda p: (p / "loose.png").write_bytes(b"x"), {}, "belong to no class: loose.png"),
        (lambda p: (p / "anger" / "notes.txt").write_text("x"), {}, "notes.txt is no picture"),
        (lambda p: (p / "anger" / "more").mkdir(), {}, "more is no picture"),
        (lambda p: (p / "anger" / "bad.png").write_bytes(b"\x89PNG"), {}, "bad.png is not a read"),
        (lambda p: (p / "anger" / "cut.png").write_bytes(_cut(p)), {}, "cut.png is not a read"),
        (lambda p: Image.new("L", (40, 90)).save(p / "anger" / "s.png"), {}, "40 × 90 pixels"),
        (_pages, {}, "pages.tif .* several pages"),
        (
            lambda p: Image.new("L", (60, 60)).save(p / "anger" / "me.png"),
            {"by_prefix": True},
            "me.png does not begin with a person",
        ),
    ],
)
def test_what_is_wrong_is_named(
    pictures: Path, spoil: Callable[[Path], object], settings: dict[str, Any], said: str
) -> None:
    spoil(pictures)
    with pytest.raises(DatasetError, match=said) as refused:
        read(pictures, **settings)
    assert refused.value.todo
    assert str(pictures) in refused.value.what


def _cut(root: Path) -> bytes:
    """The first half of a picture."""
    content = next((root / "happiness").glob("*.png")).read_bytes()
    return content[: len(content) // 2]


def test_too_few_persons_for_three_parts_are_refused(tmp_path: Path) -> None:
    root = picture_folder.make(tmp_path / "two", persons=2, each=6)
    assert len(read(root).train) == 12
    with pytest.raises(DatasetError, match="is left for"):
        read(root, by_prefix=True)
