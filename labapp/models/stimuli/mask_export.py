"""Writes every masked picture of a set as a file, for a model that labapp cannot run.

masked.csv           a line for each, its logits to be filled in; `stimuli import` reads it
METHOD/PHOTO-5.png   the picture as people see it
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.base.errors import StimuliError
from labapp.base.text_tables import write_csv
from labapp.models.stimuli import library, masked_pictures
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.masking import MaskedRef, Masking
from labapp.models.stimuli.sources import COLUMNS

TABLE = "masked.csv"


def write(stimulus_set: StimulusSet, masking: Masking, folder: Path) -> int:
    """Write all masked pictures, those of the example too, and the table, into a new folder, whole
    or not at all. How many there are. Raises StimuliError: the set has no scores, a file of it is
    missing or damaged, or the folder exists or cannot be written."""
    if (kind := stimulus_set.manifest.kind) != "scores":
        raise StimuliError(
            f"The stimulus set {stimulus_set.id} is of the kind {kind}: it has no scores "
            "by which pictures are masked.",
            todo="Name a set whose kind is scores.",
        )
    rows: list[dict[str, str]] = []
    with library.new_folder(folder) as draft:
        for ref in _refs(stimulus_set, masking):
            # A folder a method: ids may have - in them, and two pictures must not have one name.
            name = f"{ref.method}/{ref.photo}-{ref.percent:g}.png"
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_bytes(masked_pictures.png(stimulus_set, ref))
            rows.append(
                {
                    "photo": ref.photo,
                    "method": ref.method,
                    "percent": f"{ref.percent:g}",
                    "fill": ref.fill,
                    "sign": ref.sign,
                    "file": name,
                }
            )
        with (draft / TABLE).open("x", encoding="utf-8", newline="") as file:
            columns = COLUMNS[TABLE]
            write_csv(file, columns, ([row.get(name) for name in columns] for row in rows))
    return len(rows)


def _refs(stimulus_set: StimulusSet, masking: Masking) -> Iterator[MaskedRef]:
    manifest = stimulus_set.manifest
    examples = (manifest.correct_example, manifest.incorrect_example)
    for photo in (*manifest.photos, *filter(None, examples)):
        for method in photo.scores:
            for percent in masking.percents:
                yield MaskedRef(
                    stimulus_set.id, photo.id, method, masking.fill, masking.sign, percent
                )
