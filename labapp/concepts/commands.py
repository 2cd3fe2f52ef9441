"""What `labapp concepts stimuli` does: load the model and its task, build the set, write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.concepts import package, stimulus_sets
from labapp.concepts.stimulus_sets import NATURAL, BuiltSet
from labapp.errors import UsageError
from labapp.stimuli import importing, library
from labapp.stimuli.manifest import PATTERNS, SET_ID


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """A set that was built, and where it is. asked: pictures of each type that were asked for;
    warnings: what is probably a mistake, see `labapp.stimuli.check`."""

    folder: Path
    built: BuiltSet
    asked: dict[str, int]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.built.manifest.id,
            "folder": str(self.folder),
            "photos": len(self.built.manifest.photos),
            "chosen": self.built.chosen,
            "asked": self.asked,
            "chosen_from": self.built.manifest.chosen_from,
            "there": self.built.there,
            "shares": self.built.shares,
            "warnings": list(self.warnings),
        }

    def lines(self) -> list[str]:
        """For people: how many pictures of each type, also where there are fewer than asked."""
        wide = max(map(len, self.asked))
        lines = []
        for kind, wanted in self.asked.items():
            chosen = self.built.chosen[kind]
            few = ""
            if chosen < wanted:
                few = f"; {wanted} asked for, {self.built.there[kind]} among all test pictures"
            share = ""
            if kind != NATURAL:
                share = f" ({100 * self.built.shares[kind]:.1f} % of the pictures chosen from)"
            lines.append(f"{kind:{wide}}  {chosen}{share}{few}")
        return [
            f"chosen from {self.built.manifest.chosen_from}",
            *lines,
            *(f"warning: {warning}" for warning in self.warnings),
            f"stimuli: {self.folder}",
        ]


def build_stimuli(
    model: str,
    out: Path | None = None,
    set_id: str | None = None,
    *,
    items: str | None = None,
    seed: int = 0,
    pixels: int = stimulus_sets.PIXELS,
    title: str | None = None,
    every: bool = False,
    data_folder: Path | None = None,
) -> WrittenSet:
    """Build a set of a model and write it. items: see `stimulus_sets.counts_of`; every: choose from
    all test pictures, and not only from those that people can tell by eye.

    Raises
    ------
    UsageError : the id is none, or `items` says nothing known.
    ModelError, StimuliError, DatasetError : see `stimulus_sets.build`; the folder exists, or a
        shipped set has the id and `out` names no folder.
    """
    counts = dict(stimulus_sets.COUNTS) if items is None else stimulus_sets.counts_of(items)
    loaded = package.load(model)
    name = loaded.card.id.rpartition("/")[2] if set_id is None else set_id
    if not re.fullmatch(SET_ID, name):
        raise UsageError(
            f"{name!r} is no id of a set: {PATTERNS[SET_ID]}.",
            safe="Nothing was written.",
            todo="Give another with --id.",
        )
    if out is None:
        library.refuse_shipped(name)
    folder = library.own_folder() / name if out is None else out
    data = package.task_of(loaded.card, data_folder)
    built = stimulus_sets.build(
        loaded,
        data.split,
        name,
        seed=seed,
        counts=counts,
        pixels=pixels,
        title=title,
        every=every,
        options=(f" --id {set_id}" if set_id is not None else "")
        + (f" --data {data_folder.name}" if data_folder is not None else ""),
    )
    importing.write(folder, built.manifest, built.files)
    checked = importing.read_checked(folder)
    return WrittenSet(folder, built, counts, tuple(checked.warnings))
