"""MNIST's files: read, divided, and refused when they are something else."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import DatasetError
from labapp.models.datasets import mnist
from tests.helpers import digits

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


def _cut(content: bytes) -> bytes:
    return content[:-1]


def _longer(content: bytes) -> bytes:
    return content + b"\0"


def _other_kind(content: bytes) -> bytes:
    return b"\0\0\x08\x02" + content[4:]


def _fewer_claimed(content: bytes) -> bytes:
    return content[:4] + b"\0\0\0\x05" + content[8:]


@pytest.mark.parametrize("name", [IMAGES, LABELS])
@pytest.mark.parametrize("spoil", [_cut, _longer, _other_kind, _fewer_claimed])
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
