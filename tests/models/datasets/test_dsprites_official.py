"""The official file: read without opening anything pickled, refused when it is another."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.models.datasets import dsprites
from labapp.models.datasets.dsprites import FactorGrid

SMALL = FactorGrid((3, 2, 4, 3, 2))
"""A grid like the published one but of 144 rows, so that a whole file can be written here."""

Arrays = dict[str, NDArray[Any]]


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


def arrays() -> Arrays:
    """What the published file holds, for the small grid; colour comes first."""
    rows = np.arange(SMALL.count)
    return {
        "imgs": dsprites.pictures(SMALL.factors(rows)).astype(np.uint8),
        "latents_classes": np.insert(SMALL.indices(rows), 0, 0, axis=1),
        "latents_values": np.insert(SMALL.factors(rows), 0, 1.0, axis=1),
    }


def write(path: Path, content: Arrays) -> Path:
    np.savez_compressed(path, **content)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / dsprites.OFFICIAL


def test_pictures_and_factors_come_back_row_by_row(path: Path) -> None:
    content = arrays()
    whole = dsprites.read(write(path, content), SMALL)
    rows = np.array([143, 0, 77, 0])
    x = whole.instances(rows)
    assert len(whole) == 144
    assert x.dtype == np.float32
    assert np.array_equal(x, content["imgs"][rows])
    assert np.array_equal(whole.factors(rows), content["latents_values"][rows, 1:])


def test_a_part_counts_its_own_rows(path: Path) -> None:
    content = arrays()
    part = dsprites.read(write(path, content), SMALL).part(np.array([5, 10, 20]))
    assert len(part) == 3
    assert np.array_equal(part.instances(np.array([2, 1])), content["imgs"][[20, 10]])
    assert np.array_equal(part.factors(np.array([2])), content["latents_values"][[20], 1:])


def test_pickled_metadata_is_left_alone(path: Path, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = np.array(Trap(sprung), dtype=object)
    dsprites.read(write(path, arrays() | {"metadata": trap}), SMALL)
    assert not sprung.exists()
    with pytest.raises(DatasetError, match="imgs"):
        dsprites.read(write(path, arrays() | {"imgs": trap}), SMALL)
    assert not sprung.exists()


def _twice_as_bright(content: Arrays) -> None:
    content["imgs"] *= 2


def _of_another_type(content: Arrays) -> None:
    content["imgs"] = content["imgs"].astype(np.float32)


def _one_row_short(content: Arrays) -> None:
    content["imgs"] = content["imgs"][1:]


def _by_columns(content: Arrays) -> None:
    content["imgs"] = np.asfortranarray(content["imgs"])


def _without_pictures(content: Arrays) -> None:
    del content["imgs"]


def _x_and_y_exchanged(content: Arrays) -> None:
    content["latents_classes"] = content["latents_classes"][:, [0, 1, 2, 3, 5, 4]]


def _rotation_in_degrees(content: Arrays) -> None:
    content["latents_values"][:, 3] *= 180 / np.pi


def _without_colour(content: Arrays) -> None:
    content["latents_values"] = content["latents_values"][:, 1:]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_twice_as_bright, "values other than 0 and 1"),
        (_of_another_type, "must be uint8"),
        (_one_row_short, r"\(143, 64, 64\)"),
        (_by_columns, "must be uint8"),
        (_without_pictures, "no array imgs"),
        (_x_and_y_exchanged, "latents_classes"),
        (_rotation_in_degrees, "latents_values"),
        (_without_colour, r"\(144, 6\)"),
    ],
)
def test_another_file_is_refused(path: Path, change: Callable[[Arrays], None], said: str) -> None:
    content = arrays()
    change(content)
    with pytest.raises(DatasetError, match=said) as refused:
        dsprites.read(write(path, content), SMALL)
    assert refused.value.todo


def test_the_small_file_is_not_taken_for_the_published_one(path: Path) -> None:
    with pytest.raises(DatasetError, match="737280"):
        dsprites.split(held_out=10, seed=1, official=write(path, arrays()))


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(DatasetError, match=dsprites.OFFICIAL):
        dsprites.split(held_out=10, seed=1, official=path)


def test_a_file_that_is_no_archive_is_refused(path: Path) -> None:
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(DatasetError, match="cannot be read"):
        dsprites.read(path, SMALL)


def test_an_interrupted_download_is_refused(path: Path) -> None:
    content = write(path, arrays()).read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match="cannot be read"):
        dsprites.read(path, SMALL)


@pytest.mark.parametrize("name", ["imgs", "latents_classes", "latents_values"])
def test_a_flipped_bit_is_noticed(path: Path, name: str) -> None:
    # Stored without compression and with a bit flipped that leaves the values allowed.
    np.savez(path, **arrays())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo(f"{name}.npy")
    content = bytearray(path.read_bytes())
    end = entry.header_offset + entry.file_size
    content[end if name == "imgs" else end - 8] ^= 1
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="CRC"):
        dsprites.read(path, SMALL)


@pytest.mark.parametrize("name", ["imgs", "latents_classes", "latents_values"])
def test_an_array_that_ends_early_or_late_is_refused(path: Path, name: str) -> None:
    content = write(path, arrays())
    for change, said in ((lambda b: b[:-1], "too early"), (lambda b: b + b"\0", "longer")):
        other = content.with_name("other.npz")
        with zipfile.ZipFile(content) as source, zipfile.ZipFile(other, "w") as target:
            for entry in source.namelist():
                body = source.read(entry)
                target.writestr(entry, change(body) if entry == f"{name}.npy" else body)
        with pytest.raises(DatasetError, match=said):
            dsprites.read(other, SMALL)


@pytest.mark.parametrize(
    "header", [b"{[[[[[[[", b"[" * 4_000, b"{1: 2}  ", b"\xff" * 8, b"  1\n 2  "], ids=range(5)
)
def test_a_header_that_is_no_header_is_refused(path: Path, header: bytes) -> None:
    magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("latents_classes.npy", magic + header)
    with pytest.raises(DatasetError, match="header of latents_classes"):
        dsprites.read(path, SMALL)
