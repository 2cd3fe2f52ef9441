"""A photo of a stimulus set as a plan has it: its prototypes looked up, its rows in their order.

Source: paper 003. Rows are shuffled where species are told apart (3.2, figure A13). Where a
prediction is judged, figures A10 and A14 say that they stand by descending similarity and appendix
A that they are shuffled: both can be had. Steps of a path keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from labapp.stimuli.manifest import Manifest, Photo, Row
from labapp.tasks.judging.plan import JudgingTask, PlannedFinal, PlannedPhoto, PlannedRow, Rows

Shuffle = Callable[[Sequence[PlannedRow], str], tuple[PlannedRow, ...]]
"""Rows in a seeded order; the text names what it is for."""


def lacks(task: JudgingTask, photo: Photo, manifest: Manifest) -> str:
    """What a photo lacks of what a task shows; empty where it has all."""
    chosen_from = task in ("heatmap-distinction", "prototype-distinction")
    if chosen_from and not {photo.truth, photo.prediction} <= set(photo.options):
        return "no options with truth and prediction among them"
    if task == "heatmap-distinction":
        return "" if len(photo.heatmaps) == len(photo.options) else "no heatmap for every option"
    if task == "path-distinction":
        final = photo.final
        return "" if final and photo.truth in final.classes else "no final steps to its true class"
    of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    if task.startswith("path"):
        return "" if photo.rows else "no steps"
    there = {of[row.prototype] for row in photo.rows}
    wanted = set(photo.options) if task == "prototype-distinction" else {photo.prediction}
    missing = wanted - there
    return f"no rows of {', '.join(sorted(missing))}" if missing else ""


def planned_photo(
    task: JudgingTask,
    photo: Photo,
    manifest: Manifest,
    shuffle: Shuffle | None,
    order: Rows = "sorted",
) -> PlannedPhoto:
    """A photo as the plan has it; without `shuffle` a worked example, of which all is told.

    order: of the rows where a prediction is judged.
    """
    rows = _rows(photo, manifest)
    if task == "prototype-agreement":
        rows = tuple(row for row in rows if row.of == photo.prediction)
        if shuffle is not None and order == "shuffled":
            rows = shuffle(rows, f"{photo.id} {photo.prediction}")
    elif task == "prototype-distinction":
        grouped: list[PlannedRow] = []
        for option in photo.options:
            own = tuple(row for row in rows if row.of == option)
            grouped += own if shuffle is None else shuffle(own, f"{photo.id} {option}")
        rows = tuple(grouped)
    elif task == "path-distinction" and shuffle is not None and photo.final is not None:
        # What is left to the participant is not told by the path before it.
        first = photo.final.first.prototype
        place = next((n for n, row in enumerate(rows) if row.prototype == first), len(rows))
        rows = rows[:place]
    return PlannedPhoto(
        id=photo.id,
        photo=photo.photo,
        truth=photo.truth,
        prediction=photo.prediction,
        options=photo.options,
        heatmaps=photo.heatmaps,
        rows=rows,
        final=_final(photo, manifest) if task == "path-distinction" else None,
        first_wrong=photo.first_wrong,
        strengths=photo.strengths,
        facts=photo.facts,
    )


def _rows(photo: Photo, manifest: Manifest) -> tuple[PlannedRow, ...]:
    """All rows: steps of a path as they come, others most similar first within their class."""
    if manifest.kind != "prototypes":
        return tuple(_row(row, manifest) for row in photo.rows)
    ranked: list[PlannedRow] = []
    planned = [_row(row, manifest) for row in photo.rows]
    for of in dict.fromkeys(row.of for row in planned):
        own = [row for row in planned if row.of == of]
        if all(row.rank is not None for row in own):
            own.sort(key=lambda row: row.rank or 0)
        elif all(row.similarity is not None for row in own):
            own.sort(key=lambda row: -(row.similarity or 0.0))
        ranked += [
            row.model_copy(update={"rank": row.rank or place})
            for place, row in enumerate(own, start=1)
        ]
    return tuple(ranked)


def _row(row: Row, manifest: Manifest) -> PlannedRow:
    prototype = next(
        candidate for candidate in manifest.prototypes if candidate.id == row.prototype
    )
    return PlannedRow(
        prototype=prototype.id,
        of=prototype.of,
        photo=prototype.photo,
        box=prototype.box,
        crop=prototype.crop,
        region=row.region,
        region_crop=row.crop,
        similarity=row.similarity,
        rank=row.rank,
        present=row.present,
    )


def _final(photo: Photo, manifest: Manifest) -> PlannedFinal | None:
    if (final := photo.final) is None:
        return None
    return PlannedFinal(
        first=_row(final.first, manifest),
        absent=_row(final.absent, manifest),
        present=_row(final.present, manifest),
        classes=final.classes,
    )
