"""Masked pictures of a set, made from a picture and its score file.

Writes every masked picture of a set as a file, for a model that labapp cannot run.

masked.csv           a line for each, its logits to be filled in; `stimuli import` reads it
METHOD/PHOTO-5.png   the picture as people see it
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from labapp.base.errors import StimuliError
from labapp.base.reading.tables import write_csv
from labapp.models.datasets.split import Int64
from labapp.models.stimuli import library, masking, pictures, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Manifest, Photo, Sign
from labapp.models.stimuli.masking import MaskedRef, Masking
from labapp.models.stimuli.pictures import UInt8
from labapp.models.stimuli.sources import COLUMNS


def picture(stimulus_set: StimulusSet, ref: MaskedRef) -> UInt8:
    """A masked picture: uint8, shape (height, width) where the photo is grey, else (height, width,
    3). Raises StimuliError: the set has no such photo or method, a file is missing or damaged, or
    the picture has no whole blocks for the scores."""
    if ref.stimuli != stimulus_set.id:
        raise StimuliError(
            f"{str(ref)!r} is a masked picture of the set {ref.stimuli!r}, "
            f"not of {stimulus_set.id!r}.",
            todo="Name a picture of this set.",
        )
    photo = photo_of(stimulus_set.manifest, ref.photo)
    file = photo.scores.get(ref.method)
    if file is None:
        methods = ", ".join(photo.scores) or "none"
        raise StimuliError(
            f"The photo {ref.photo!r} of {stimulus_set.id} has no scores of the method "
            f"{ref.method!r}.",
            todo=f"Name one of its methods: {methods}.",
        )
    scores = score_files.read(stimulus_set.folder, file)
    written = pictures.file_stamp(stimulus_set.folder, file, score_files.SCORES)
    ranked = _ranked(stimulus_set.folder, file, written, ref.sign)
    try:
        level = masking.level(ref.fill, stimulus_set.manifest.mean_level)
        mask = masking.first(ranked, ref.percent, scores.shape)
        return masking.masked(_native(stimulus_set.folder, photo.photo), mask, level)
    except ValueError as error:
        raise StimuliError(
            f"The photo {ref.photo!r} of {stimulus_set.id} cannot be masked: {error}.",
            todo="`labapp stimuli check` says what the set lacks.",
        ) from error


def png(stimulus_set: StimulusSet, ref: MaskedRef) -> bytes:
    """A masked picture as a PNG file, 8 bits a channel. Raises as `picture` does."""
    return pictures.png(picture(stimulus_set, ref), optimize=False)


def file_stamps(stimulus_set: StimulusSet, photo: Photo, method: str) -> tuple[object, ...]:
    """What changes when the files of a masked photo are written again, or are others of the same
    names. Raises StimuliError where one is missing."""
    folder = stimulus_set.folder
    whole = () if pictures.is_bird(photo.photo) else pictures.file_stamp(folder, photo.photo)
    scores = pictures.file_stamp(folder, photo.scores[method], score_files.SCORES)
    return (folder, *whole, *scores)


def photo_of(manifest: Manifest, name: str) -> Photo:
    """A photo of a set, a worked example too. Raises StimuliError where there is none."""
    examples = (manifest.correct_example, manifest.incorrect_example)
    for photo in (*manifest.photos, *examples):
        if photo is not None and photo.id == name:
            return photo
    raise StimuliError(
        f"The stimulus set {manifest.id} has no photo {name!r}.",
        todo="`labapp stimuli check` and the set's manifest.json say which there are.",
    )


@lru_cache(maxsize=128)
def _ranked(folder: Path, ref: str, written: tuple[int, int], sign: Sign) -> Int64:
    return masking.ranking(score_files.read(folder, ref), sign)


def _native(folder: Path, ref: str) -> UInt8:
    if pictures.is_bird(ref):
        return pictures.paint_bird(ref)
    return _decoded(folder, ref, pictures.file_stamp(folder, ref))


@lru_cache(maxsize=64)
def _decoded(folder: Path, ref: str, written: tuple[int, int]) -> UInt8:
    pixels = pictures.native(pictures.content_of(folder, ref), ref)
    pixels.flags.writeable = False
    return pixels


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
            (draft / name).write_bytes(png(stimulus_set, ref))
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
