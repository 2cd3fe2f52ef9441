"""The parts of a plan that judge explanations, from a stimulus set, a study and its words.

Source: paper 003, section 3 and appendix A.

Rows are shuffled where species are told apart (3.2, figure A13). Where a
prediction is judged, figures A10 and A14 say that they stand by descending similarity and appendix
A that they are shuffled: both can be had. Steps of a path keep their order.

What a study file may say of the tasks that judge explanations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from labapp.base.errors import StudyError
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import ColourMap, Manifest, Photo, Row, Scale
from labapp.study import conditions
from labapp.study.adapting import AdaptiveStages, plan_tracks
from labapp.study.adaptive.tracks import Tracks
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.item import FlowOf, Item
from labapp.study.stages import StimulusStages
from labapp.study.stimulus_stages import (
    IncompatibleStimuliError,
    check_kind,
    fitting,
    photos_of,
    set_of,
)
from labapp.tasks.judging.plan import (
    KIND_OF,
    ExplainedModel,
    JudgingPart,
    JudgingTask,
    MethodPart,
    PlannedFinal,
    PlannedPhoto,
    PlannedRow,
    Rows,
    options_of,
)


class MethodItem(Item):
    """The introduction to the method of the study's judging stages, with their worked examples.

    Attributes
    ----------
    method : the file of its text. `![](correct)`, `![](incorrect)`, `![](preview)` and `![](tree)`
        in it are replaced by the worked examples, the task and the tree of the stimulus set.
    """

    key: ClassVar[str] = "method"
    method: str

    def texts(self) -> tuple[str, ...]:
        return (self.method,)

    def problems(self, study: FlowOf) -> Iterator[str]:
        judges = any(isinstance(item.task_stages(), JudgingStages) for item in study.items)
        if study.whole and not judges:
            yield "method only with stages in which explanations are judged; there are none"


class WarmUpItem(Item):
    """Exercises with a decision tree over fruits, before the studies of a tree of prototypes.

    Attributes
    ----------
    warm_up : which one: `fruits`.
    intro : its text; without it the one that is named like the exercises.
    """

    key: ClassVar[str] = "warm_up"
    warm_up: Literal["fruits"]
    intro: str | None = None

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/warm-up-{self.warm_up}.md",)


class JudgingStages(AdaptiveStages, StimulusStages):
    """A task that judges explanations: the photos of one set, one after another (paper 003).

    Attributes
    ----------
    labels : whether the true class is shown; only for heatmap-distinction.
    marks : whether its distinguishing marks are shown below its name (published: only the name).
    order : the order of the photos: as listed in the set, or random for each participant.
    rows : of prototypes where a prediction is judged: `sorted`, the most similar first (figures A10
        and A14), or `shuffled` (appendix A); where classes are told apart, they always are.
    colour_map : the colour map of heatmaps (default: the published one for their scale).
    description : the description of the task, which can be opened at any time.
    time_limit_min : minutes after which the stage ends (default: no limit).
    """

    task: JudgingTask
    set: int | str = "{set}"
    labels: bool = False
    marks: bool = False
    order: Literal["as_listed", "random"] = "random"
    rows: Rows | None = None
    colour_map: ColourMap | None = None
    description: str
    time_limit_min: float | None = Field(default=None, gt=0, le=600)

    def texts(self) -> tuple[str, ...]:
        return (*super().texts(), self.description)

    @property
    def earns(self) -> frozenset[str]:
        return frozenset({"per_above_chance"})

    @property
    def row_order(self) -> Rows:
        return self.rows or ("sorted" if self.task == "prototype-agreement" else "shuffled")

    @field_validator("rows")
    @classmethod
    def _of_predictions(cls, rows: Rows | None, info: ValidationInfo) -> Rows | None:
        if rows is not None and info.data.get("task") != "prototype-agreement":
            raise ValueError("only for prototype-agreement, because other tasks have a fixed order")
        return rows

    @field_validator("marks")
    @classmethod
    def _below_labels(cls, marks: bool, info: ValidationInfo) -> bool:
        if marks and not info.data.get("labels"):
            raise ValueError("true only with labels: true, because they are shown below the labels")
        return marks

    @field_validator("labels")
    @classmethod
    def _of_heatmaps(cls, labels: bool, info: ValidationInfo) -> bool:
        if labels and info.data.get("task") != "heatmap-distinction":
            raise ValueError(
                "true only for heatmap-distinction, because in other tasks it is the answer"
            )
        return labels


Order = Callable[[tuple[PlannedPhoto, ...]], tuple[PlannedPhoto, ...]]
"""Photos in the order this participant meets them."""
COLOUR_MAPS: dict[Scale, tuple[ColourMap, ...]] = {
    "positive": ("jet", "inferno", "cividis"),
    "signed": ("rdbu_r", "puor_r"),
    "ready": ("jet", "rdbu_r", "inferno", "cividis", "puor_r"),
}
"""The colour maps that suit a scale, the published one first."""


def colour_map_of(stages: JudgingStages, scale: Scale | None) -> ColourMap | None:
    """The colour map of the heatmaps, which texts speak of too; None if there are none.

    Raises IncompatibleStimuliError for one that hides the sign, or gives one to what has none.
    """
    if scale is None:
        return None
    suited = COLOUR_MAPS[scale]
    if stages.colour_map is not None and stages.colour_map not in suited:
        raise IncompatibleStimuliError(
            "colour_map",
            f"{stages.colour_map} is not suitable for heatmaps that are {scale}",
            f"Use one of: {', '.join(suited)}.",
        )
    return stages.colour_map or suited[0]


@dataclass(frozen=True)
class Showing:
    """A stimulus set as one study shows it. words: of the participant's window, by key."""

    stages: JudgingStages
    stimulus_set: StimulusSet
    words: Mapping[str, str]

    def say(self, key: str) -> str:
        """A word of the participant's window."""
        try:
            return self.words[key]
        except KeyError as error:
            raise StudyError(
                f"The participant's window has no words in {key!r}.",
                todo="Add them to the study's participant.yaml, as in the English file.",
            ) from error

    def explained(self) -> ExplainedModel:
        """What the parts share. Raises IncompatibleStimuliError, see `check_kind`."""
        manifest, task = self.stimulus_set.manifest, self.stages.task
        check_kind(self.stimulus_set, task, KIND_OF[task])
        chosen = colour_map_of(self.stages, manifest.scale)
        ready = chosen is None or manifest.scale == "ready"
        # So that nobody is led by what they know of the names (paper 003, appendix A).
        by_number = manifest.kind in ("prototypes", "path")
        number_of = self.say(
            "judging_species" if manifest.classes_are == "species" else "judging_class"
        )
        return ExplainedModel(
            stimuli=manifest.id,
            manifest_sha256=self.stimulus_set.sha256,
            kind=manifest.kind,
            method=manifest.method.name,
            classifier=manifest.method.classifier,
            classifier_sha256=manifest.method.sha256,
            accuracy=manifest.method.accuracy,
            classes_are=manifest.classes_are,
            invented=manifest.invented,
            names={
                class_.id: number_of.format(number=number) if by_number else class_.name
                for number, class_ in enumerate(manifest.classes, start=1)
            },
            marks={
                class_.id: class_.marks
                for class_ in manifest.classes
                if class_.marks and self.stages.marks
            },
            scale=manifest.scale,
            colour_map="" if ready or chosen is None else chosen,
            tree=manifest.tree,
        )

    def photos(self, number: int, shuffle: Shuffle) -> tuple[PlannedPhoto, ...]:
        """The photos of a set, in the order of the set. Raises IncompatibleStimuliError if there
        is no such set, or a photo lacks what the task asks about."""
        manifest = self.stimulus_set.manifest
        photos = photos_of(self.stimulus_set, number)
        for photo in photos:
            if lacking := lacks(self.stages.task, photo, manifest):
                raise IncompatibleStimuliError(
                    "stimuli",
                    f"the photo {photo.id} of the stimulus set {manifest.id} has {lacking}, "
                    f"about which {self.stages.task} asks",
                    "Use a set that was made for this task.",
                )
        task, order = self.stages.task, self.stages.row_order
        return tuple(plan_photo(task, photo, manifest, shuffle, order) for photo in photos)

    def example(self, photo: Photo | None) -> PlannedPhoto | None:
        """A worked example: with all its rows, the most similar first."""
        if photo is None:
            return None
        return plan_photo(self.stages.task, photo, self.stimulus_set.manifest, None)

    def values(self, explained: ExplainedModel) -> dict[str, str]:
        """Values about the method and the set that texts around the task can use in braces."""
        manifest = self.stimulus_set.manifest
        colours = colour_map_of(self.stages, manifest.scale)
        right, wrong = manifest.correct_example, manifest.incorrect_example
        return {
            "method": explained.method,
            "accuracy": f"{explained.accuracy:.1f}",
            "classes": str(len(manifest.classes)),
            "things": self.say(f"judging_things_{manifest.classes_are}"),
            **{
                name: "" if colours is None else self.say(f"judging_{name}_{colours}")
                for name in ("hot", "cold", "scale_text")
            },
            "right_example": "" if right is None else explained.names[right.truth],
            "wrong_example": "" if wrong is None else explained.names[wrong.truth],
            "wrong_prediction": "" if wrong is None else explained.names[wrong.prediction],
            "row_order": self.say(f"judging_rows_{self.stages.row_order}"),
        }


@dataclass(frozen=True)
class PhotoAllocation:
    """The photos that a participant judges at one place of the flow, and what texts may say."""

    showing: Showing
    explained: ExplainedModel
    set: int
    photos: tuple[PlannedPhoto, ...]
    values: dict[str, str]
    tracks: Tracks | None = None

    @classmethod
    def of(
        cls, showing: Showing, number: int, shuffle_rows: Shuffle, order: Order
    ) -> PhotoAllocation:
        """With the set of this number; order: puts the photos into their order. Raises
        IncompatibleStimuliError where there are fewer photos than a rule may ask for: one that
        comes again is remembered."""
        explained, task = showing.explained(), showing.stages.task
        photos = order(showing.photos(number, shuffle_rows))
        options = options_of(task, photos)
        tracks, rule = None, showing.stages.adaptive
        if rule is not None:
            if rule.trials > len(photos):
                raise IncompatibleStimuliError(
                    "adaptive.trials",
                    f"found {rule.trials}, but set {number} has {len(photos)} photos",
                    "Ask for no more than that, or use a larger set.",
                )
            items = {explained.method: tuple(range(1, len(photos) + 1))}
            tracks = plan_tracks(rule, showing.stages.levels(), items, 0)
        values = showing.values(explained) | {
            "photos": (
                str(len(photos))
                if tracks is None
                else showing.say("up_to").format(number=tracks.most)
            ),
            "options": str(options),
            "chance": f"{100 / options:g}" if task.endswith("distinction") else "50",
        }
        return cls(showing, explained, number, photos, values, tracks)

    def method(self, part_id: str, document: str) -> MethodPart:
        stages, manifest = self.showing.stages, self.showing.stimulus_set.manifest
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
            rows=stages.row_order,
            photos=self.photos,
            description=description,
            values=self.values,
            time_limit_s=None if stages.time_limit_min is None else stages.time_limit_min * 60,
            think_aloud=stages.think_aloud,
            adaptive=self.tracks,
        )


def allocate_photos(place: int, planner: Planner) -> PhotoAllocation:
    """What is judged at a place of the flow, with every choice made, once."""
    key = ("judging", place)
    if key not in planner.memory:
        planner.memory[key] = _allocate(place, planner)
    judged: PhotoAllocation = planner.memory[key]
    return judged


def _allocate(place: int, planner: Planner) -> PhotoAllocation:
    item, scope = planner.flow[place]
    stages = item.task_stages()
    assert isinstance(stages, JudgingStages)
    draws = (planner.seed, planner.study.id, planner.participant, f"judging {place}")

    def rows(some: Sequence[PlannedRow], of: str) -> tuple[PlannedRow, ...]:
        return conditions.shuffled(some, *draws, "rows", of)

    def order(photos: tuple[PlannedPhoto, ...]) -> tuple[PlannedPhoto, ...]:
        if stages.order == "as_listed":
            return photos
        return conditions.shuffled(photos, *draws, "photos")

    with fitting(stages, planner):
        stimuli, number = set_of(stages, scope, planner)
        showing = Showing(stages, stimuli, planner.loaded.words)
        return PhotoAllocation.of(showing, number, rows, order)


def method_near(item: MethodItem, scope: Scope, place: int, planner: Planner) -> PhotoAllocation:
    """The stage whose method an item introduces. Raises StudyError if there is none."""
    near = planner.nearest(place, JudgingStages, ahead=True)
    if near is not None:
        return allocate_photos(near, planner)
    listed = ", ".join(f"{name} = {value}" for name, value in scope.items())
    raise StudyError(
        f"{planner.loaded.path}: {item.method!r} introduces stages in which explanations are "
        f"judged, but with {listed or 'this flow'} there are none.",
        todo="Use the same only_if for the introduction as for the stages.",
    )


Shuffle = Callable[[Sequence[PlannedRow], str], tuple[PlannedRow, ...]]
"""Rows in a seeded order; the text names what it is for."""


def lacks(task: JudgingTask, photo: Photo, manifest: Manifest) -> str:
    """What a photo lacks of what a task shows; empty if it has all."""
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


def plan_photo(
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
        rows = tuple(takewhile(lambda row: row.prototype != first, rows))
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
    prototype = next(known for known in manifest.prototypes if known.id == row.prototype)
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
