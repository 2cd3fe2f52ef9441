"""The official file of 3dshapes: read row by row, refused when it is another."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.models.datasets.concepts import shapes
from labapp.models.datasets.concepts.rows import ConceptSplit

SIZES = (2, 2, 3, 2, 2, 3)
"""A grid like the published one, small enough to be written here."""
INDICES = np.stack(np.unravel_index(np.arange(144), SIZES), axis=1).astype(np.int64)


def write(path: Path, **changed: Any) -> Path:
    images = np.random.default_rng(0).integers(0, 256, (144, 64, 64, 3), dtype=np.uint8)
    content = {"images": images, "labels": INDICES * 0.1 - 3.0, **changed}
    with h5py.File(path, "w") as file:
        for name, values in content.items():
            if values is not None:
                file.create_dataset(name, data=values, compression="gzip", compression_opts=1)
    return path


def test_pictures_come_in_the_order_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "_BLOCK", 10)
    path = write(tmp_path / shapes.NAME)
    rows = np.array([143, 0, 17, 18, 9, 10, 0])
    pictures, sha256 = shapes.read(path, rows, INDICES)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(pictures, file["images"][:][rows])
    assert len(sha256) == 64
    part = shapes.ShapesFile(pictures, INDICES[rows].astype(np.float64))
    x = part.instances(np.array([1, 3]))
    assert x.shape == (2, 3, 64, 64)
    assert x.dtype == np.float32
    np.testing.assert_array_equal(x[1][2], pictures[3][:, :, 2] / np.float32(255))
    np.testing.assert_array_equal(part.factors(np.array([2])), INDICES[[17]])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"labels": None}, "labels"),
        ({"labels": INDICES[:, ::-1] * 1.0}, "not match the published grid"),
        ({"labels": INDICES[:-1] * 1.0}, "must have shape"),
        ({"images": np.zeros((144, 64, 64), np.uint8)}, "must have shape"),
        ({"images": np.zeros((144, 64, 64, 3), np.float32)}, "must be uint8"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    path = write(tmp_path / "other.h5", **changed)
    with pytest.raises(DatasetError, match=told):
        shapes.read(path, np.array([0]), INDICES)


def test_no_file_and_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / shapes.NAME
    with pytest.raises(DatasetError, match="There is no"):
        shapes.read(path, np.array([0]), INDICES)
    path.write_bytes(b"no HDF5")
    with pytest.raises(DatasetError, match="cannot be read"):
        shapes.read(path, np.array([0]), INDICES)


def test_without_h5py_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / shapes.NAME)
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "h5py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DatasetError, match=r"pip install h5py"):
        shapes.read(path, np.array([0]), INDICES)


def test_a_task_from_a_file_of_the_published_size(tmp_path: Path) -> None:
    # Chunks that are never written take no room: 6 GB of pictures in 6 MB. One picture has content.
    path = tmp_path / shapes.NAME
    rendered = shapes.shapes(0)
    row = 17
    grid_row = np.ravel_multi_index(
        [
            np.abs(v - f).argmin()
            for v, f in zip(shapes.VALUES, factors_of(rendered, row), strict=True)
        ],
        shapes.SIZES,
    )
    with h5py.File(path, "w") as file:
        images = file.create_dataset(
            "images", (shapes.COUNT, 64, 64, 3), np.uint8, chunks=(500, 64, 64, 3)
        )
        images[grid_row, 5, 6] = (51, 102, 255)
        every = shapes.grid_factors(np.arange(shapes.COUNT))
        file.create_dataset("labels", data=every, compression="gzip", compression_opts=1)
    split = shapes.shapes(0, official=path)
    assert split.origin == "official"
    assert list(split.files) == [shapes.NAME]
    np.testing.assert_array_equal(split.train.labels_of, rendered.train.labels_of)
    np.testing.assert_array_equal(factors_of(split, row), factors_of(rendered, row))
    picture, other = split.train.instances(np.array([row, row + 1]))
    np.testing.assert_allclose(picture[:, 5, 6], [0.2, 0.4, 1.0], atol=1e-6)
    assert other.sum() == 0


def factors_of(split: ConceptSplit, row: int) -> NDArray[np.float64]:
    return split.train.factors(np.array([row]))[0]
