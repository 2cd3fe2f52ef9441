"""MNIST: handwritten digits from the IDX files of LeCun, Cortes and Burges, read from a folder.

The files are not shipped: a folder with `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`
(and, for the full data set, their `train-` companions), gzipped or not, must be given for training.
Hashes are those of the unpacked contents, because the same file can be gzipped in several ways.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.base.reading import files
from labapp.models.datasets.split import Float32, Float64, Int64, Split, divide

SIZE = 28
CLASSES = 10
NAMES = ("digit",)

Part = Literal["t10k", "train"]
COUNTS: dict[Part, int] = {"t10k": 10_000, "train": 60_000}

_IMAGES, _LABELS = 0x803, 0x801
_SAFE = "Nothing was trained or written."


@dataclass(frozen=True, slots=True)
class DigitRows:
    """Digits kept as bytes, uint8 of shape (n, 28, 28), with their labels, uint8 of shape (n,)."""

    pictures: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.labels)

    def instances(self, rows: Int64) -> Float32:
        """Pictures with 0 black (paper) and 1 white (ink)."""
        return self.pictures[rows].astype(np.float32) / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        return self.labels[rows].astype(np.float64)[:, None]


def read(folder: Path, part: Part) -> DigitRows:
    """The digits of one part. Raises DatasetError: a file is missing, or not the published one."""
    return _read(folder, part)[0]


def _read(folder: Path, part: Part) -> tuple[DigitRows, dict[str, str]]:
    """The digits of one part, and the hashes of its two files by name."""
    hashes: dict[str, str] = {}
    pictures = _idx(
        folder, f"{part}-images-idx3-ubyte", _IMAGES, (COUNTS[part], SIZE, SIZE), hashes
    )
    labels = _idx(folder, f"{part}-labels-idx1-ubyte", _LABELS, (COUNTS[part],), hashes)
    if int(labels.max()) >= CLASSES:
        raise DatasetError(
            f"The labels of MNIST in {folder} go up to {int(labels.max())}; digits end at 9.",
            safe=_SAFE,
            todo="Get a fresh copy of the file.",
        )
    return DigitRows(pictures, labels), hashes


def split_test_digits(folder: Path, *, held_out: int, seed: int) -> Split:
    """The 10,000 digits of the test files, divided; the paper trains on the other 60,000. Raises
    DatasetError as `read`, ValueError when `held_out` leaves nothing on one side."""
    digits, hashes = _read(folder, "t10k")
    train, held = divide(len(digits), held_out, seed)
    return Split(
        train=DigitRows(digits.pictures[train], digits.labels[train]),
        held=DigitRows(digits.pictures[held], digits.labels[held]),
        factor_names=NAMES,
        generative=False,
        files=hashes,
    )


def split_all(folder: Path) -> Split:
    """As published: 60,000 digits to train on, 10,000 held out. Raises DatasetError as `read`."""
    train, of_train = _read(folder, "train")
    held, of_held = _read(folder, "t10k")
    return Split(
        train=train, held=held, factor_names=NAMES, generative=False, files=of_train | of_held
    )


def _idx(
    folder: Path, name: str, magic: int, shape: tuple[int, ...], hashes: dict[str, str]
) -> NDArray[np.uint8]:
    """One IDX file: a big-endian header of magic number and sizes, then bytes; hashed into
    `hashes`."""
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise DatasetError(
            f"There is no {name} (or {name}.gz) in {folder}.",
            safe=_SAFE,
            todo="Put the four IDX files of MNIST into one folder and name it with --data.",
        )
    length = 4 * (1 + len(shape)) + int(np.prod(shape))
    try:
        with files.open_file(path) as file:
            stream = gzip.open(file) if path.suffix == ".gz" else file  # noqa: SIM115
            content = stream.read(length + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{path} cannot be read: {error}.", safe=_SAFE, todo="Get a fresh copy of the file."
        ) from error
    header = np.frombuffer(content[: 4 * (1 + len(shape))], ">u4")
    if len(content) != length or [int(n) for n in header] != [magic, *shape]:
        raise DatasetError(
            f"{path} is not MNIST's {name}: its header or its size differs "
            f"({shape[0]} entries are expected).",
            safe=_SAFE,
            todo="Get a fresh copy of the file.",
        )
    hashes[name] = hashlib.sha256(content).hexdigest()
    return np.frombuffer(content, np.uint8, offset=4 * (1 + len(shape))).reshape(shape)
