"""A lab's own pictures and MNIST's files: read, divided, and refused."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from labapp.base.errors import DatasetError
from labapp.models.datasets import folder as folders
from labapp.models.datasets import mnist
from labapp.models.datasets.folder import Folder, Shares
from tests.helpers import digits, picture_folder


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
        (lambda p: shutil.rmtree(p / "anger"), {}, "needs at least two"),
        (lambda p: [shutil.rmtree(f) for f in p.iterdir()], {}, "0 folder"),
        (lambda p: shutil.rmtree(p / "anger") or (p / "anger").mkdir(), {}, "anger has 0 picture"),
        (lambda _: None, {"names": ("anger", "joy")}, "no folder joy"),
        (lambda p: (p / "loose.png").write_bytes(b"x"), {}, "belong to no class: loose.png"),
        (lambda p: (p / "anger" / "notes.txt").write_text("x"), {}, "notes.txt is not a picture"),
        (lambda p: (p / "anger" / "more").mkdir(), {}, "more is not a picture"),
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


OFFICIAL = Path(__file__).resolve().parents[4] / "shared/data/mnist"

IMAGES = "t10k-images-idx3-ubyte"

LABELS = "t10k-labels-idx1-ubyte"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("mnist")
    digits.write(where, "t10k", *digits.draw(10_000, seed=0), gzipped=True)
    return where


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("plain")
    digits.write(where, "t10k", *digits.draw(10_000, seed=0))
    return where


@pytest.fixture
def plain(written: Path, tmp_path: Path) -> Path:
    """Files that a test may spoil."""
    return Path(shutil.copytree(written, tmp_path / "plain"))


def test_gzipped_files_and_plain_ones_hold_the_same(folder: Path, plain: Path) -> None:
    gzipped, bare = mnist.read(folder, "t10k"), mnist.read(plain, "t10k")
    assert np.array_equal(gzipped.pictures, bare.pictures)
    assert np.array_equal(gzipped.labels, bare.labels)


def test_files_are_told_apart_by_their_contents_and_not_by_how_they_are_packed(
    folder: Path, plain: Path
) -> None:
    gzipped = mnist.split_test_digits(folder, held_out=2_000, seed=0).files
    assert gzipped == {
        name: hashlib.sha256((plain / name).read_bytes()).hexdigest()
        for name in ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    }
    assert mnist.split_test_digits(plain, held_out=2_000, seed=0).files == gzipped
    labels = plain / "t10k-labels-idx1-ubyte"
    content = bytearray(labels.read_bytes())
    content[-1] = (content[-1] + 1) % 10
    labels.write_bytes(content)
    other = mnist.split_test_digits(plain, held_out=2_000, seed=0).files
    assert [name for name in gzipped if gzipped[name] != other[name]] == [labels.name]


def test_pictures_are_floats_from_black_to_white_beside_their_labels(folder: Path) -> None:
    pictures, labels = digits.draw(10_000, seed=0)
    rows = mnist.read(folder, "t10k")
    chosen = np.array([9_999, 0, 17])
    x = rows.instances(chosen)
    assert (x.dtype, x.shape) == (np.float32, (3, 28, 28))
    np.testing.assert_allclose(x, pictures[chosen] / 255, atol=1e-7)
    assert np.array_equal(rows.factors(chosen), labels[chosen][:, None])


def test_the_test_digits_are_divided_the_same_way_for_ever(folder: Path) -> None:
    data = mnist.split_test_digits(folder, held_out=2_000, seed=0)
    assert (len(data.train), len(data.held)) == (8_000, 2_000)
    assert not data.generative
    pictures, _ = digits.draw(10_000, seed=0)
    # Written down when the shipped models were trained: other rows mean other data.
    for held, row in enumerate(FIRST_HELD_OUT):
        assert np.array_equal(data.held.instances(np.array([held]))[0] * 255, pictures[row])
    both = [data.train.instances(np.arange(8_000)), data.held.instances(np.arange(2_000))]
    assert {x.tobytes() for x in np.concatenate(both)} == {
        x.tobytes() for x in (pictures / np.float32(255)).astype(np.float32)
    }


FIRST_HELD_OUT = (2, 3, 11, 13, 15)


def test_all_digits_hold_the_test_files_out(tmp_path: Path) -> None:
    digits.write(tmp_path, "t10k", *digits.draw(10_000, seed=0))
    blank = np.zeros((60_000, 28, 28), np.uint8)
    digits.write(tmp_path, "train", blank, np.zeros(60_000, np.uint8))
    data = mnist.split_all(tmp_path)
    assert (len(data.train), len(data.held)) == (60_000, 10_000)
    assert sorted(data.files) == [
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
    ]


def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        mnist.read(tmp_path, "t10k")
    assert IMAGES in caught.value.what
    assert "--data" in caught.value.todo


def _cut_mnist(content: bytes) -> bytes:
    return content[:-1]


def _longer(content: bytes) -> bytes:
    return content + b"\0"


def _other_kind(content: bytes) -> bytes:
    return b"\0\0\x08\x02" + content[4:]


def _fewer_claimed(content: bytes) -> bytes:
    return content[:4] + b"\0\0\0\x05" + content[8:]


@pytest.mark.parametrize("name", [IMAGES, LABELS])
@pytest.mark.parametrize("spoil", [_cut_mnist, _longer, _other_kind, _fewer_claimed])
def test_another_file_is_refused(plain: Path, name: str, spoil: object) -> None:
    assert callable(spoil)
    path = plain / name
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DatasetError) as caught:
        mnist.read(plain, "t10k")
    assert name in caught.value.what
    assert caught.value.safe


def test_a_damaged_gzip_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in (IMAGES, LABELS):
        content = (folder / f"{name}.gz").read_bytes()
        (tmp_path / f"{name}.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match="cannot be read"):
        mnist.read(tmp_path, "t10k")


def test_labels_beyond_nine_are_refused(plain: Path) -> None:
    path = plain / LABELS
    path.write_bytes(path.read_bytes()[:-1] + b"\x0a")
    with pytest.raises(DatasetError, match="go up to 10"):
        mnist.read(plain, "t10k")


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason=f"the test digits are not at {OFFICIAL}")
def test_the_official_test_digits_are_read() -> None:
    rows = mnist.read(OFFICIAL, "t10k")
    assert rows.factors(np.arange(10))[:, 0].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert rows.instances(np.arange(10_000)).mean() == pytest.approx(0.1325, abs=1e-4)
