"""The parts of a plan that judge explanations, from a stimulus set, a study and its words.

Source: paper 003, section 3 and appendix A and C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labapp.errors import StudyError
from labapp.stimuli.library import StimulusSet
from labapp.stimuli.manifest import Manifest, Photo, Row, Scale
from labapp.study.judging import (
    KIND_OF,
    ColourMap,
    Exercise,
    Explained,
    JudgingPart,
    JudgingTask,
    MethodPart,
    PlannedFinal,
    PlannedPhoto,
    PlannedRow,
    WarmUpPart,
)
from labapp.study.stages import JudgingStages

StimuliOf = Callable[[str], StimulusSet]
"""A stimulus set by its id or folder."""
Order = Callable[[tuple[PlannedPhoto, ...]], tuple[PlannedPhoto, ...]]
"""Photos in the order this participant meets them."""
Shuffle = Callable[[Sequence[PlannedRow], str], tuple[PlannedRow, ...]]
"""Rows in a seeded order; the text names what it is for."""

COLOUR_MAPS: dict[Scale, tuple[ColourMap, ...]] = {
    "positive": ("jet", "inferno", "cividis"),
    "signed": ("rdbu_r", "puor_r"),
    "ready": ("jet", "rdbu_r", "inferno", "cividis", "puor_r"),
}
"""The colour maps that suit a scale, the published one first."""

NAMED_BY_NUMBER = frozenset({"prototypes", "path"})
"""Kinds in which classes are told by number, so that nobody is led by what they know of the names
(paper 003, appendix A)."""


class Unfit(ValueError):
    """A stimulus set that a study cannot show. about: the key of `stages` that says so."""

    def __init__(self, about: str, what: str, todo: str) -> None:
        super().__init__(what)
        self.about, self.todo = about, todo


def colour_map_of(stages: JudgingStages, scale: Scale | None) -> ColourMap | None:
    """The colour map of the heatmaps, which texts speak of too; None where there are none.

    Raises Unfit for one that hides the sign, or gives one to what has none.
    """
    if scale is None:
        return None
    suited = COLOUR_MAPS[scale]
    if stages.colour_map is not None and stages.colour_map not in suited:
        raise Unfit(
            "colour_map",
            f"{stages.colour_map} does not suit heatmaps that are {scale}",
            f"Use one of: {', '.join(suited)}.",
        )
    return stages.colour_map or suited[0]


@dataclass(frozen=True)
class Showing:
    """A stimulus set as one study shows it. words: of the participant's window, by key."""

    stages: JudgingStages
    found: StimulusSet
    words: Mapping[str, str]

    def _word(self, key: str) -> str:
        if key not in self.words:
            raise StudyError(
                f"The participant's window has no words for {key!r}.",
                todo="Add them to the study's participant.yaml; the English file shows what it "
                "says.",
            )
        return self.words[key]

    def explained(self) -> Explained:
        """What the parts share. Raises Unfit for a set of another kind than the task needs."""
        manifest, needed = self.found.manifest, KIND_OF[self.stages.task]
        if manifest.kind != needed:
            raise Unfit(
                "stimuli",
                f"the task {self.stages.task} needs {needed}, and the stimulus set "
                f"{manifest.id} has {manifest.kind}",
                "Name a set of that kind, or another task.",
            )
        chosen = colour_map_of(self.stages, manifest.scale)
        ready = chosen is None or manifest.scale == "ready"
        by_number = manifest.kind in NAMED_BY_NUMBER
        called = "species" if manifest.classes_are == "species" else "class"
        number_of = self._word(f"judging_{called}")
        return Explained(
            stimuli=manifest.id,
            manifest_sha256=self.found.sha256,
            kind=manifest.kind,
            method=manifest.method.name,
            classifier=manifest.method.classifier,
            classifier_sha256=manifest.method.sha256,
            accuracy=manifest.method.accuracy,
            classes_are=manifest.classes_are,
            invented=manifest.invented,
            names={
                one.id: number_of.format(number=number) if by_number else one.name
                for number, one in enumerate(manifest.classes, start=1)
            },
            marks={one.id: one.marks for one in manifest.classes if one.marks},
            scale=manifest.scale,
            colour_map="" if ready or chosen is None else chosen,
            tree=manifest.tree,
        )

    def photos(self, number: int, shuffle: Shuffle) -> tuple[PlannedPhoto, ...]:
        """The photos of a set, in the order of the set. Raises Unfit where there is no such set,
        or a photo lacks what the task asks about."""
        manifest = self.found.manifest
        photos = manifest.of_set(number)
        if not photos:
            there = ", ".join(map(str, manifest.sets)) or "none"
            raise Unfit(
                "set",
                f"the stimulus set {manifest.id} has no set {number}; there are: {there}",
                "Correct the number, or the variable under `assignment`.",
            )
        for photo in photos:
            if lacking := lacks(self.stages.task, photo, manifest):
                raise Unfit(
                    "stimuli",
                    f"the photo {photo.id} of the stimulus set {manifest.id} has {lacking}, which "
                    f"{self.stages.task} asks about",
                    "Use a set made for this task.",
                )
        return tuple(planned_photo(self.stages.task, photo, manifest, shuffle) for photo in photos)

    def example(self, photo: Photo | None) -> PlannedPhoto | None:
        """A worked example: with all its rows, the most similar first."""
        if photo is None:
            return None
        return planned_photo(self.stages.task, photo, self.found.manifest, None)

    def values(self, explained: Explained) -> dict[str, str]:
        """What the texts around the task may say in braces of the method and the set."""
        manifest = self.found.manifest
        colours = colour_map_of(self.stages, manifest.scale)
        right, wrong = manifest.correct_example, manifest.incorrect_example
        return {
            "method": explained.method,
            "accuracy": f"{explained.accuracy:.1f}",
            "classes": str(len(manifest.classes)),
            "things": self._word(f"judging_things_{manifest.classes_are}"),
            **{
                name: "" if colours is None else self._word(f"judging_{name}_{colours}")
                for name in ("hot", "cold", "scale_text")
            },
            "right_example": "" if right is None else explained.names[right.truth],
            "wrong_example": "" if wrong is None else explained.names[wrong.truth],
            "wrong_prediction": "" if wrong is None else explained.names[wrong.prediction],
        }


@dataclass(frozen=True)
class Judged:
    """What a participant judges in one place of the flow, and what the texts around it may say."""

    showing: Showing
    explained: Explained
    set: int
    photos: tuple[PlannedPhoto, ...]
    values: dict[str, str]

    @classmethod
    def of(cls, showing: Showing, number: int, shuffle_rows: Shuffle, order: Order) -> Judged:
        """With the set of this number; order: puts the photos into their order."""
        explained = showing.explained()
        photos = order(showing.photos(number, shuffle_rows))
        values = showing.values(explained) | {
            "photos": str(len(photos)),
            "options": str(max(len(photo.options) for photo in photos) or 4),
            "chance": chance(showing.stages.task, photos),
        }
        return cls(showing, explained, number, photos, values)

    def method(self, part_id: str, document: str) -> MethodPart:
        """The introduction to the method."""
        stages, manifest = self.showing.stages, self.showing.found.manifest
        return MethodPart(
            id=part_id,
            title="Method",
            document=document,
            task=stages.task,
            explained=self.explained,
            labels=stages.labels,
            correct=self.showing.example(manifest.correct_example),
            incorrect=self.showing.example(manifest.incorrect_example),
            values=self.values,
        )

    def stage(self, number: int, of: int, description: str) -> JudgingPart:
        """The stage itself."""
        stages = self.showing.stages
        return JudgingPart(
            id=f"stage-{number}",
            title=f"Stage {number}",
            number=number,
            of=of,
            task=stages.task,
            explained=self.explained,
            set=self.set,
            labels=stages.labels,
            photos=self.photos,
            description=description,
            values=self.values,
            time_limit_s=None if stages.time_limit_min is None else stages.time_limit_min * 60,
            think_aloud=stages.think_aloud,
        )


def chance(task: JudgingTask, photos: Sequence[PlannedPhoto]) -> str:
    """What random guessing gets right, in percent."""
    if task == "path-distinction":
        return "25"
    if task.endswith("distinction"):
        return f"{100 / max(len(photo.options) for photo in photos):g}"
    return "50"


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
    of = {one.id: one.of for one in manifest.prototypes}
    if task.startswith("path"):
        return "" if photo.rows else "no steps"
    there = {of[row.prototype] for row in photo.rows}
    wanted = set(photo.options) if task == "prototype-distinction" else {photo.prediction}
    missing = wanted - there
    return f"no rows of {', '.join(sorted(missing))}" if missing else ""


def planned_photo(
    task: JudgingTask, photo: Photo, manifest: Manifest, shuffle: Shuffle | None
) -> PlannedPhoto:
    """A photo as the plan has it; without `shuffle` a worked example, of which all is told."""
    rows = _rows(photo, manifest)
    if task == "prototype-agreement":
        rows = tuple(row for row in rows if row.of == photo.prediction)
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
    prototype = next(one for one in manifest.prototypes if one.id == row.prototype)
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


class _Fruits(NamedTuple):
    """A drawing of fruits, and how the tree judged it."""

    picture: str
    steps: tuple[str, ...]
    prediction: str
    truth: str
    first_wrong: int | None


WORKED = _Fruits("yellow-skinny-3", ("colour_yellow", "shape_skinny"), "E", "E", None)
EXERCISES = (
    _Fruits("yellow-round-4", ("colour_green", "count_many"), "B", "D", 1),
    _Fruits("green-round-2", ("colour_green", "count_few"), "A", "A", None),
)
"""The tree asks for the colour: red leads to Fruit C, green to the count (at most three: A, more:
B), yellow to the shape (round: D, skinny: E). Paper 003, appendix C and its pages."""


def warm_up(part_id: str, document: str) -> WarmUpPart:
    """The exercises with fruits. Pictures are named by colour, shape and number of the fruits."""

    def exercise(number: int, one: _Fruits) -> Exercise:
        return Exercise(
            id=f"exercise-{number}",
            picture=one.picture,
            steps=one.steps,
            prediction=one.prediction,
            truth=one.truth,
            first_wrong=one.first_wrong,
        )

    return WarmUpPart(
        id=part_id,
        title="Warm-up",
        document=document,
        worked=exercise(0, WORKED),
        exercises=tuple(exercise(n, one) for n, one in enumerate(EXERCISES, start=1)),
    )
