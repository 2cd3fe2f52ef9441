"""A lab's own pictures: a folder for each class, divided class by class into training, validation
and test so that no person is in two parts.

    pictures/
      anger/       S005_001_00000011.png, ...
      happiness/   S010_006_00000015.png, ...

Everything is read at once: a picture that cannot be used is reported before training begins, and
all counts and hashes are of one state of the folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import DatasetError
from labapp.base.reading import arrays
from labapp.base.reading import files as reading
from labapp.models.datasets.painter import average_blocks
from labapp.models.datasets.split import Float32, Float64, Int64, PartName

if TYPE_CHECKING:
    from PIL.Image import Image


FORMATS = ("PNG", "JPEG", "TIFF", "BMP")
SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
LARGEST_BYTES = 40 * reading.MIB
UNSEEN = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""What file managers leave behind."""


@dataclass(frozen=True, slots=True, eq=False)
class FolderRows:
    """Pictures of one part: `pictures` uint8 (n, channels, size, size), `classes` int64 (n,) from
    0, `files` relative to the folder."""

    pictures: NDArray[np.uint8]
    classes: Int64
    files: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.pictures.shape[-1])

    def __len__(self) -> int:
        return len(self.classes)

    def instances(self, rows: Int64) -> Float32:
        return self.pictures[rows].astype(np.float32) / np.float32(255)

    def labels(self, rows: Int64) -> Int64:
        return self.classes[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """The three parts, the names of the classes, and the SHA-256 over all names and pictures."""

    train: FolderRows
    validation: FolderRows
    test: FolderRows
    names: tuple[str, ...]
    sha256: str

    @property
    def counts(self) -> dict[PartName, dict[str, int]]:
        """Pictures of each class in each part."""
        parts: dict[PartName, FolderRows] = {
            "train": self.train,
            "validation": self.validation,
            "test": self.test,
        }
        return {
            part: {name: int((rows.classes == k).sum()) for k, name in enumerate(self.names)}
            for part, rows in parts.items()
        }


def read(
    folder: Path,
    *,
    size: int,
    channels: int,
    shares: Shares,
    seed: int,
    names: Sequence[str] | None = None,
    by_prefix: bool = False,
) -> Folder:
    """The pictures in the folders of a folder, divided.

    A picture is cut to a square about its middle, made grey where `channels` is 1, and brought to
    `size` pixels by averaging areas. Crop pictures to what matters beforehand. Raises DatasetError:
    the folder is missing, has fewer than two classes, a class has too few pictures or persons, or
    something in it is no picture that can be used; the message names it.

    Parameters
    ----------
    names : the classes that are read, in the order they are numbered; by default all folders in
        the order of the alphabet.
    by_prefix : whether a file's name up to its first `_` says whose picture it is; then nobody is
        in two parts.
    """
    files_of_class = files_of(folder, names)
    labels, files, hashes, taken = [], [], hashlib.sha256(), []
    for number, (name, paths) in enumerate(files_of_class.items()):
        for path in paths:
            content, picture = pixels(path, size=size, channels=channels)
            hashes.update(f"{name}/{path.name}\0".encode())
            hashes.update(hashlib.sha256(content).digest())
            labels.append(number)
            files.append(f"{name}/{path.name}")
            taken.append(picture)
    groups = [_prefix(folder / file) if by_prefix else file for file in files]
    parts = divide_rows(labels, groups, tuple(files_of_class), shares, seed, folder)
    images, classes = np.stack(taken), np.array(labels, np.int64)

    def part(rows: Int64) -> FolderRows:
        return FolderRows(images[rows], classes[rows], tuple(files[row] for row in rows))

    train, validation, test = (part(rows) for rows in parts)
    return Folder(train, validation, test, tuple(files_of_class), hashes.hexdigest())


def files_of(folder: Path, names: Sequence[str] | None) -> Mapping[str, list[Path]]:
    """The picture files of each class, in the order of their names."""
    try:
        inside = sorted(path for path in folder.iterdir() if not _hidden(path))
    except OSError as error:
        raise DatasetError(
            f"The folder of pictures {folder} cannot be read: {error.strerror}.",
            todo="Check the path: it must contain a folder of pictures for each class.",
        ) from error
    loose = [path.name for path in inside if path.is_file() and path.suffix.lower() in SUFFIXES]
    if loose:
        raise DatasetError(
            f"{folder} contains pictures that belong to no class: {', '.join(loose[:3])}.",
            todo="Put each picture into the folder of its class.",
        )
    there = {path.name: path for path in inside if path.is_dir()}
    wanted = list(there) if names is None else list(names)
    if missing := [name for name in wanted if name not in there]:
        raise DatasetError(
            f"{folder} has no folder {', '.join(missing)}; it has {', '.join(there) or 'none'}.",
            todo="Correct `classes` in the recipe, or the name of the folder.",
        )
    if len(wanted) < 2:
        raise DatasetError(
            f"{folder} has {len(wanted)} folder(s) of pictures, but a classifier needs "
            "at least two.",
            todo="Make a folder for each class and put its pictures into it.",
        )
    return {name: _pictures(there[name]) for name in wanted}


def _pictures(folder: Path) -> list[Path]:
    inside = sorted(path for path in folder.iterdir() if not _hidden(path))
    for path in inside:
        if not path.is_file() or path.suffix.lower() not in SUFFIXES:
            raise DatasetError(
                f"{path} is not a picture: {', '.join(SUFFIXES)} are allowed.",
                todo="Move it out of the folder. Each picture must be directly in the folder "
                "of its class.",
            )
    return inside


def _prefix(path: Path) -> str:
    """The person that a picture shows, from the name of its file."""
    before, line, _ = path.name.partition("_")
    if not before or not line:
        raise DatasetError(
            f"The name of {path} does not begin with a person and `_`.",
            todo="Name every picture PERSON_..., or leave group_by out of the recipe.",
        )
    return before


def _hidden(path: Path) -> bool:
    return path.name.startswith(".") or path.name.lower() in UNSEEN


def pixels(path: Path, *, size: int, channels: int) -> tuple[bytes, NDArray[np.uint8]]:
    """A file's content, and its picture: uint8, shape (channels, size, size).

    The largest square about the middle, turned as the camera says; what is transparent is white;
    grey is ITU-R 601 luma, and grey of 16 bits becomes 8. Raises DatasetError: it cannot be read,
    is no picture of the `FORMATS`, has several pages or far too many pixels, or is smaller than
    `size`.
    """
    try:
        content = reading.content(path, LARGEST_BYTES)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise _refuse_picture(path, why, "Check it and its permissions.") from error
    try:
        image = arrays.decode_image(content, FORMATS)
    except ValueError as error:
        why = f"is not a readable {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file: {error}"
        raise _refuse_picture(path, why, "Save the right picture again on its own.") from error
    whole = _square(image, channels)
    if whole.shape[-1] < size:
        raise _refuse_picture(
            path,
            f"is {image.width} × {image.height} pixels, which is less than the {size} that the "
            "network sees",
            "Use a larger picture, or a smaller `size` in the recipe.",
        )
    return content, average_blocks(whole[None], size)[0]


def _square(image: Image, channels: int) -> NDArray[np.uint8]:
    """The middle of a picture: uint8, shape (channels, side, side)."""
    from PIL import Image as images

    if image.mode.startswith("I"):
        deep = np.asarray(image).clip(0, 65_535)
        image = images.fromarray((deep // 257).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = images.alpha_composite(images.new("RGBA", image.size, "white"), image)
    image = image.convert("L" if channels == 1 else "RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    cut = np.asarray(image.crop((left, top, left + side, top + side)), np.uint8)
    return cut[None] if channels == 1 else np.ascontiguousarray(cut.transpose(2, 0, 1))


def _refuse_picture(path: Path, why: str, todo: str) -> DatasetError:
    return DatasetError(f"The picture {path} {why}.", todo=todo)


PARTS = ("training", "validation", "test")


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the pictures of each class; the rest is learned from."""

    validation: float
    test: float


def divide_rows(
    labels: Sequence[int],
    groups: Sequence[str],
    names: Sequence[str],
    shares: Shares,
    seed: int,
    source: Path,
) -> tuple[Int64, Int64, Int64]:
    """Rows to learn from, to choose by and to test on, each ascending.

    Each group goes as a whole to the part that lacks most of what is in it, the largest first and
    those of a size by chance. Where every picture is a group of its own, the shares are kept to the
    picture; else as nearly as the groups allow. Raises DatasetError: a class would be missing from
    a part.

    Parameters
    ----------
    labels : class of each picture, from 0. groups : whose pictures they are. names : of the
        classes. source : where they come from, for the message.
    """
    classes = np.asarray(labels, np.int64)
    counts = np.bincount(classes, minlength=len(names))
    if (counts < len(PARTS)).any():
        few = int(counts.argmin())
        raise _too_few(source, f"{names[few]} has {counts[few]} picture(s)")
    wanted = _count_wanted(counts, shares)
    members: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    keys = sorted(members)
    # Uniform numbers alone, sorted here: numpy may change how it shuffles; see `split.divide`.
    chance = np.random.Generator(np.random.PCG64(seed)).random(len(keys))
    order = sorted(range(len(keys)), key=lambda k: (-len(members[keys[k]]), chance[k]))
    lacking = wanted.astype(np.float64)
    rows: tuple[list[int], list[int], list[int]] = ([], [], [])
    for k in order:
        mine = members[keys[k]]
        has = np.bincount(classes[mine], minlength=len(names))
        part = int((has * lacking / wanted).sum(1).argmax())
        lacking[part] -= has
        rows[part].extend(mine)
    for part, chosen in enumerate(rows):
        held = np.bincount(classes[chosen], minlength=len(names))
        if (held == 0).any():
            none = names[int(held.argmin())]
            raise _too_few(source, f"no picture of {none} is left for {PARTS[part]}")
    train, validation, test = (np.array(sorted(chosen), np.int64) for chosen in rows)
    return train, validation, test


def _count_wanted(counts: Int64, shares: Shares) -> Float64:
    """Pictures of each class in each part, at least one: shape (3, classes)."""
    held = [
        np.maximum(np.floor(counts * share + 0.5), 1) for share in (shares.validation, shares.test)
    ]
    rest = counts - held[0] - held[1]
    # Where the two leave nothing, the larger gives one up; there are three pictures or more.
    for k in np.flatnonzero(rest < 1):
        while rest[k] < 1:
            held[int(held[1][k] >= held[0][k])][k] -= 1
            rest[k] += 1
    return np.stack([rest, *held])


def _too_few(source: Path, why: str) -> DatasetError:
    return DatasetError(
        f"The pictures in {source} cannot be divided: {why}.",
        todo="Each class needs pictures in training, validation and test; with group_by, these "
        "must be of different people. Add some, or change the shares in the recipe.",
    )
