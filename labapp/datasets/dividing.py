"""Pictures divided into training, validation and test, class by class, and groups kept whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labapp.datasets.split import Float64, Int64
from labapp.errors import DatasetError

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
    picture; else as nearly as the groups allow.

    Parameters
    ----------
    labels : class of each picture, from 0. groups : whose pictures they are. names : of the
        classes. source : where they come from, for the message.

    Raises
    ------
    DatasetError : a class would be missing from a part.
    """
    classes = np.asarray(labels, np.int64)
    counts = np.bincount(classes, minlength=len(names))
    if (counts < len(PARTS)).any():
        few = int(counts.argmin())
        raise _too_few(source, f"{names[few]} has {counts[few]} picture(s)")
    wanted = _wanted(counts, shares)
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


def _wanted(counts: Int64, shares: Shares) -> Float64:
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
        todo="Each class needs pictures in training, validation and test, of different persons "
        "where group_by is given: add some, or change the shares in the recipe.",
    )
