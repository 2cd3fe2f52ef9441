"""Masked pictures of a set, made from a picture and its score file.

Writes every masked picture of a set as a file, for a model that labapp cannot run.

masked.csv           a line for each, its logits to be filled in; `stimuli import` reads it
METHOD/PHOTO-5.png   the picture as people see it

Pictures of which only the pixels that an explanation ranks highest are shown, and heatmaps in
colour over their photo.

Source: paper 004, section 3.4: scores rank the pixels, and the percentages shown are spaced
logarithmically, 5 to 60 in ten steps, because sensation follows the logarithm of the stimulus. What
masked pixels become and whether the sign of a score counts is not published: both are settings, and
are written down with every session.

As in their authors' code, GradCAM is shown as half photo and half colour, and BagNet as colours
that the photo's edges darken by a quarter. All heatmaps of a photo are on one scale already, so
none is rescaled here by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.base.reading.tables import write_csv
from labapp.base.resources import assets
from labapp.models.datasets.split import Float32, Int64
from labapp.models.stimuli import library, pictures, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import ColourMap, Fill, Logits, Manifest, Photo, Scale, Sign
from labapp.models.stimuli.pictures import UInt8
from labapp.models.stimuli.sources import COLUMNS

Bool = NDArray[np.bool_]

PREFIX = "masked:"
TIES = 20180801
"""Seed of the order among pixels of equal score, the same for all pictures of a size."""
FILLS: dict[str, Fill] = {fill: fill for fill in ("mean", "black", "grey", "white")}
SIGNS: dict[str, Sign] = {sign: sign for sign in ("signed", "absolute")}
"""By what they are called."""


@dataclass(frozen=True, slots=True)
class Masking:
    """percents: of the pixels that are shown, ascending."""

    percents: tuple[float, ...]
    fill: Fill = "mean"
    sign: Sign = "signed"


@dataclass(frozen=True, slots=True)
class MaskedRef:
    """A masked picture by name: photo and method of a set, and how it is masked."""

    stimuli: str
    photo: str
    method: str
    fill: Fill
    sign: Sign
    percent: float

    def __str__(self) -> str:
        parts = (self.stimuli, self.photo, self.method, self.fill, self.sign, f"{self.percent:g}")
        return PREFIX + ":".join(parts)

    @classmethod
    def of(cls, ref: str) -> MaskedRef:
        """Back from its name. Raises ValueError if it is none."""
        parts = ref.removeprefix(PREFIX).split(":")
        if not is_masked(ref) or len(parts) != 6:
            raise ValueError(f"{ref!r} is not the name of a masked picture")
        stimuli, photo, method, fill, sign, percent = parts
        if fill not in FILLS or sign not in SIGNS:
            raise ValueError(f"{ref!r} is not the name of a masked picture")
        share = float(percent)
        if not 0 < share <= 100:
            raise ValueError(f"{ref!r} does not show a percentage above 0 and up to 100")
        return cls(stimuli, photo, method, FILLS[fill], SIGNS[sign], share)


def is_masked(ref: str) -> bool:
    return ref.startswith(PREFIX)


def sizes(smallest: float = 5, largest: float = 60, count: int = 10) -> tuple[float, ...]:
    """Percentages of pixels shown: `count` values spaced logarithmically, rounded down to whole
    percents as published (paper 004, 3.4). Raises ValueError if two would be the same.

    >>> sizes()
    (5.0, 6.0, 8.0, 11.0, 15.0, 19.0, 26.0, 34.0, 45.0, 60.0)
    """
    spaced = np.geomspace(smallest, largest, count)
    # What is a whole number but for rounding stays it.
    percents = tuple(float(value) for value in np.floor(spaced + 1e-9))
    if len(set(percents)) < len(percents) or percents[0] <= 0:
        raise ValueError(
            f"{count} masks from {smallest:g} to {largest:g} % are not distinct whole percents"
        )
    return percents


def ascending(percents: Sequence[float]) -> tuple[float, ...]:
    """Percentages of pixels shown as somebody lists them. Raises ValueError unless they lie above
    0, up to 100, ascend, and have at most six digits, by which masked pictures are named."""
    if not percents or not all(0 < percent <= 100 for percent in percents):
        raise ValueError("percentages must be above 0 and at most 100")
    if list(percents) != sorted(set(percents)):
        raise ValueError(
            "the percentages must be in ascending order, so that more and more is shown"
        )
    if finer := [percent for percent in percents if float(f"{percent:g}") != percent]:
        raise ValueError(
            f"{finer[0]!r} has more than six digits, the most that the name of a "
            "masked picture can have"
        )
    return tuple(percents)


def ranking(scores: NDArray[np.floating], sign: Sign = "signed") -> Int64:
    """Pixels by falling score: int64, shape (rows * columns,), flat indices. `scores`: real
    numbers, shape (rows, columns). Ties are broken by one fixed permutation."""
    flat = np.asarray(scores, np.float64).reshape(-1)
    values = np.abs(flat) if sign == "absolute" else flat
    return np.lexsort((_permutation(flat.size), -values))


@lru_cache(maxsize=8)
def _permutation(size: int) -> Int64:
    order: Int64 = np.random.default_rng(TIES).permutation(size)
    order.flags.writeable = False
    return order


def pixels(percent: float, size: int) -> int:
    """How many of `size` pixels a percentage shows: rounded, at least one."""
    return max(1, round(size * percent / 100))


def first(ranked: Int64, percent: float, shape: tuple[int, ...]) -> Bool:
    """The first pixels of a ranking: bool, of that shape."""
    chosen = np.zeros(ranked.size, np.bool_)
    chosen[ranked[: pixels(percent, ranked.size)]] = True
    return chosen.reshape(shape)


def level(fill: Fill, mean: Sequence[float] | None) -> UInt8:
    """The value of masked pixels: uint8, shape (1,) or (3,). `mean`: of the set's pictures, from 0
    to 1; needed only for `mean` (ValueError)."""
    if fill == "mean":
        if mean is None:
            raise ValueError("the stimulus set does not state its mean level")
        return np.array([round(share * 255) for share in mean], np.uint8)
    return np.array([{"black": 0, "grey": 128, "white": 255}[fill]], np.uint8)


def apply_mask(picture: UInt8, mask: Bool, fill: UInt8) -> UInt8:
    """A picture with all but the pixels of a mask filled: uint8, shape as `picture`.

    picture : (height, width) or (height, width, 3); `mask`: (rows, columns), of which height and
    width are whole multiples (ValueError); `fill`: see `level`.
    """
    rows, columns = mask.shape
    height, width = picture.shape[:2]
    if height % rows or width % columns:
        raise ValueError(
            f"a picture of {width} x {height} pixels has no whole blocks for {columns} x {rows} "
            "scores"
        )
    blocks = mask.repeat(height // rows, 0).repeat(width // columns, 1)
    if picture.ndim == 2 and fill.size != 1:
        raise ValueError("a grey picture has one level")
    out = picture.copy()
    out[~blocks] = fill if picture.ndim == 3 else fill[0]
    return out


EDGE_ALPHA = 0.25
GRAIN = 2.5
"""Medians of a picture's gradient that grain alone seldom exceeds: one pixel in 76 if it is
evenly spread both ways (a Rayleigh distribution)."""


@lru_cache(maxsize=1)
def _tables() -> dict[str, UInt8]:
    tables = json.loads((assets() / "colour_maps.json").read_text("utf-8"))
    return {
        name: np.frombuffer(bytes.fromhex("".join(rows)), np.uint8).reshape(256, 3)
        for name, rows in tables.items()
    }


def table(colour_map: ColourMap) -> UInt8:
    """The colours of 0 to 255: uint8, shape (256, 3). 128 is 0 of a signed heatmap."""
    return _tables()[colour_map]


def overlay(photo: UInt8, heat: UInt8, scale: Scale, colour_map: ColourMap) -> UInt8:
    """A photo and one of its heatmaps as one picture: uint8, shape of `photo`.

    Parameters
    ----------
    photo : shape (height, width, 3).
    heat : shape (h, w) or (h, w, 3), of any size; grey unless `scale` is "ready".
    scale : "positive": 0 to 255 is 0 to 1; "signed": -1 to 1; "ready": `heat` is what is shown.
    """
    height, width = photo.shape[:2]
    if scale == "ready":
        return _as_bytes(enlarge_bilinear(heat.astype(np.float32), height, width))
    grey = heat if heat.ndim == 2 else heat[..., 0]
    values = enlarge_bilinear(grey.astype(np.float32), height, width)
    colours: UInt8 = table(colour_map).take(_as_bytes(values), axis=0)
    if scale == "positive":
        # Half and half, rounded to the even number.
        total = photo.astype(np.uint16) + colours
        return np.asarray(((total >> 1) + ((total & 3) == 3)).astype(np.uint8))
    alpha = EDGE_ALPHA * edges(photo)[..., None]
    return _as_bytes((1 - alpha) * colours)


def enlarge_bilinear(values: Float32, height: int, width: int) -> Float32:
    """Values between those of a coarser grid, bilinear; the grid's cells cover the picture.
    `values`: shape (h, w) or (h, w, c). float32, shape (height, width) or (height, width, c)."""
    return _along(_along(values, height, 0), width, 1)


def _along(values: Float32, pixels: int, axis: int) -> Float32:
    """Values between those of the cells along one axis, so many of them.

    Not a product of matrices: on a busy machine its threads wait 100 ms for each other.
    """
    cells = values.shape[axis]
    at = ((np.arange(pixels) + 0.5) * cells / pixels - 0.5).clip(0, cells - 1)
    low = np.minimum(at.astype(np.intp), max(cells - 2, 0))
    shape = [1] * values.ndim
    shape[axis] = pixels
    share = (at - low).astype(np.float32).reshape(shape)
    here, next_ = values.take(low, axis), values.take(np.minimum(low + 1, cells - 1), axis)
    return np.asarray((1 - share) * here + share * next_)


def edges(photo: UInt8) -> Float32:
    """How much of an edge each pixel is: float32 0 to 1, shape (height, width).

    Sobel's gradient of the smoothed grey picture; the strongest twentieth counts in full, and what
    the grain of the picture comes to (`GRAIN`) for nothing: it would darken a heatmap all over.
    """
    red, green, blue = (photo[..., n].astype(np.float32) for n in range(3))
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    for _ in range(2):
        grey = _smooth(grey)
    padded = np.pad(grey, 1, mode="edge")
    across = padded[:, 2:] - padded[:, :-2]
    across = across[:-2] + 2 * across[1:-1] + across[2:]
    down = padded[2:] - padded[:-2]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    strength = np.hypot(across, down)
    ranks = [round(share * (strength.size - 1)) for share in (0.5, 0.95)]
    median, strong = np.partition(strength, ranks, axis=None)[ranks].tolist()
    grain = GRAIN * median
    full = max(strong, 2 * grain)
    if full <= 0:
        return np.zeros_like(strength)
    return np.asarray(((strength - grain) / (full - grain)).clip(0, 1))


def _smooth(grey: Float32) -> Float32:
    """Each pixel with its neighbours, 1 : 2 : 1 both ways."""
    padded = np.pad(grey, 1, mode="edge")
    across = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return np.asarray((across[:-2] + 2 * across[1:-1] + across[2:]) / 16)


def _as_bytes(values: Float32) -> UInt8:
    return np.rint(values).clip(0, 255).astype(np.uint8)


def find_recorded_outputs(
    stimuli: StimulusSet, masking: Masking, photo: Photo, method: str
) -> Sequence[Logits]:
    """The outputs that the set records for a masked photo; none unless it has them for every
    mask."""
    by_percent = {
        mask.percent: mask.logits
        for mask in photo.masked
        if (mask.method, mask.fill, mask.sign) == (method, masking.fill, masking.sign)
    }
    if not set(masking.percents) <= by_percent.keys():
        return ()
    return tuple(by_percent[percent] for percent in masking.percents)


def picture(stimulus_set: StimulusSet, ref: MaskedRef) -> UInt8:
    """A masked picture: uint8, shape (height, width) if the photo is grey, else (height, width,
    3). Raises StimuliError: the set has no such photo or method, a file is missing or damaged, or
    the picture has no whole blocks for the scores."""
    if ref.stimuli != stimulus_set.id:
        raise StimuliError(
            f"{str(ref)!r} is a masked picture of the set {ref.stimuli!r}, "
            f"not of {stimulus_set.id!r}.",
            todo="Choose a picture of this set.",
        )
    photo = photo_of(stimulus_set.manifest, ref.photo)
    file = photo.scores.get(ref.method)
    if file is None:
        methods = ", ".join(photo.scores) or "none"
        raise StimuliError(
            f"The photo {ref.photo!r} of {stimulus_set.id} has no scores of the method "
            f"{ref.method!r}.",
            todo=f"Choose one of its methods: {methods}.",
        )
    scores = score_files.read(stimulus_set.folder, file)
    written = pictures.file_stamp(stimulus_set.folder, file, score_files.SCORES)
    ranked = _rank_pixels(stimulus_set.folder, file, written, ref.sign)
    try:
        fill_level = level(ref.fill, stimulus_set.manifest.mean_level)
        mask = first(ranked, ref.percent, scores.shape)
        return apply_mask(_native(stimulus_set.folder, photo.photo), mask, fill_level)
    except ValueError as error:
        raise StimuliError(
            f"The photo {ref.photo!r} of {stimulus_set.id} cannot be masked: {error}.",
            todo="`labapp stimuli check` shows what is missing in the set.",
        ) from error


def png(stimulus_set: StimulusSet, ref: MaskedRef) -> bytes:
    """A masked picture as a PNG file, 8 bits a channel. Raises as `picture` does."""
    return pictures.png(picture(stimulus_set, ref), optimize=False)


def file_stamps(stimulus_set: StimulusSet, photo: Photo, method: str) -> tuple[object, ...]:
    """What changes when the files of a masked photo are written again, or are others of the same
    names. Raises StimuliError if one is missing."""
    folder = stimulus_set.folder
    whole = () if pictures.is_bird(photo.photo) else pictures.file_stamp(folder, photo.photo)
    scores = pictures.file_stamp(folder, photo.scores[method], score_files.SCORES)
    return (folder, *whole, *scores)


def photo_of(manifest: Manifest, name: str) -> Photo:
    """A photo of a set, a worked example too. Raises StimuliError if there is none."""
    examples = (manifest.correct_example, manifest.incorrect_example)
    for photo in (*manifest.photos, *examples):
        if photo is not None and photo.id == name:
            return photo
    raise StimuliError(
        f"The stimulus set {manifest.id} has no photo {name!r}.",
        todo="`labapp stimuli check` and the set's manifest.json list the photos.",
    )


@lru_cache(maxsize=128)
def _rank_pixels(folder: Path, ref: str, written: tuple[int, int], sign: Sign) -> Int64:
    return ranking(score_files.read(folder, ref), sign)


def _native(folder: Path, ref: str) -> UInt8:
    if pictures.is_bird(ref):
        return pictures.paint_bird(ref)
    return _decode_picture(folder, ref, pictures.file_stamp(folder, ref))


@lru_cache(maxsize=64)
def _decode_picture(folder: Path, ref: str, written: tuple[int, int]) -> UInt8:
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
            f"The stimulus set {stimulus_set.id} is of the kind {kind}, so it has no scores for "
            "masking pictures.",
            todo="Choose a set of the kind scores.",
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
