"""What a study file may say of unmasking, and the parts of a plan that unmask pictures.

Source: paper 004, sections 3.4 and 3.5: every image with every method is a sequence; the sequences
stand in random order, the masks inside one always ascend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from labapp.base.documents import Strict, faults_at
from labapp.base.errors import StimuliError
from labapp.models.stimuli import masked_pictures, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Fill, Manifest, Photo, Sign
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking
from labapp.study import conditions
from labapp.study.adapting import AdaptiveStages, plan_tracks, spell_out
from labapp.study.adaptive import AnyRule
from labapp.study.planner import Planner
from labapp.study.stages import StimulusStages
from labapp.study.stimulus_stages import (
    IncompatibleStimuliError,
    PredictMasked,
    check_kind,
    fitting,
    photos_of,
    set_of,
)
from labapp.tasks.unmasking.plan import (
    KeyboardRule,
    PlannedMask,
    PlannedSequence,
    ResponseButton,
    Unmasked,
    UnmaskingPart,
)


class MaskSizes(Strict):
    """Percentages of pixels shown, spaced logarithmically; see
    `labapp.models.stimuli.masked_pictures.sizes`.

    Attributes
    ----------
    smallest : the smallest percentage.
    largest : the largest percentage.
    count : the number of sizes.
    """

    smallest: float = Field(default=5, gt=0, le=100)
    largest: float = Field(default=60, gt=0, le=100)
    count: int = Field(default=10, ge=1, le=100)

    @model_validator(mode="after")
    def _distinct(self) -> MaskSizes:
        if self.largest <= self.smallest and self.count > 1:
            raise ValueError(
                f"largest is {self.largest:g}, but it must be more than {self.smallest:g}"
            )
        masked_pictures.sizes(self.smallest, self.largest, self.count)
        return self


class Breaks(Strict):
    """Breaks inside the stage.

    Attributes
    ----------
    every : the number of sequences between two breaks.
    text : what is shown during the break.
    at_least_s : seconds during which only the moderator can continue.
    """

    every: int = Field(ge=1, le=1000)
    text: str = "texts/{language}/unmasking-break.md"
    at_least_s: float = Field(default=0.0, ge=0, le=3600)


class UnmaskingStages(AdaptiveStages, StimulusStages):
    """The unmasking task (paper 004): every image of a set with every method, each a sequence of
    masks that show more and more of it.

    Attributes
    ----------
    methods : of the set; without it all.
    masks : percentages of pixels shown, spaced (smallest, largest, count) or listed.
    fill : what masked pixels become: the `mean` of the pictures, `black`, `grey` or `white`.
    sign : whether pixels are ranked by their score (`signed`) or only by its size (`absolute`).
    order : of the sequences: as listed, or by lot for each participant.
    question : above the buttons; by default the window's own.
    class_names : the label of each class's button (default: the set's names).
    buttons : in the set's order, or turned round for every second participant.
    keys : one key per button, and the last for "I don't know" (default: F, J and Space with two
        classes, digits with more).
    size_px : longer side of the picture in logical pixels (96 an inch); it is shown in whole blocks
        of the display's own, so as near below as these allow.
    blank_ms : milliseconds between two stimuli.
    keyboard_away : what becomes of a stimulus during which the participant's keyboard was away: it
        is marked (`mark`), or shown again as a new attempt (`repeat`).
    breaks : breaks inside the stage; without it none.
    example : the text before the example sequence, which is that of the set's correct_example;
        without it there is no example.
    example_method : the method of the example; by default the first.
    """

    task: Literal["unmasking"]
    methods: tuple[str, ...] = Field(default=(), max_length=50)
    masks: MaskSizes | tuple[float, ...] = MaskSizes()
    fill: Fill = "mean"
    sign: Sign = "signed"
    order: Literal["as_listed", "random"] = "random"
    question: str | None = None
    class_names: dict[str, str] = Field(default_factory=dict)
    buttons: Literal["as_listed", "counterbalanced"] = "as_listed"
    keys: tuple[str, ...] = ()
    size_px: int = Field(default=384, ge=48, le=2000)
    blank_ms: int = Field(default=0, ge=0, le=10_000)
    keyboard_away: KeyboardRule = "mark"
    breaks: Breaks | None = None
    example: str | None = None
    example_method: str | None = None
    think_aloud: bool = False

    @property
    def percents(self) -> tuple[float, ...]:
        """Percentages of pixels shown, ascending."""
        if isinstance(self.masks, MaskSizes):
            return masked_pictures.sizes(self.masks.smallest, self.masks.largest, self.masks.count)
        return self.masks

    def texts(self) -> tuple[str, ...]:
        breaks = () if self.breaks is None else (self.breaks.text,)
        return (*(() if self.example is None else (self.example,)), self.intro, *breaks)

    @model_validator(mode="after")
    def _of_an_example(self) -> UnmaskingStages:
        if self.example_method is not None and self.example is None:
            raise ValueError("example_method only with an example; give its text, too")
        return self

    def levels(self) -> tuple[float, ...]:
        return self.percents

    @model_validator(mode="after")
    def _without_breaks(self) -> UnmaskingStages:
        if self.adaptive is not None and self.breaks is not None:
            what = (
                "found breaks in an adaptive stage, for which it is unknown how many sequences it "
            )
            what += "has; allowed: two stages and a break between them"
            raise faults_at({("breaks",): what})
        return self

    @field_validator("masks")
    @classmethod
    def _ascending(cls, masks: MaskSizes | tuple[float, ...]) -> MaskSizes | tuple[float, ...]:
        return masked_pictures.ascending(masks) if isinstance(masks, tuple) else masks


NAMED_KEYS = ("Space", "Left", "Right", "Up", "Down")
"""Keys a study can name besides letters and digits: others leave the screen, or hold it."""


class UnmaskingStage:
    """A stimulus set as one study unmasks it, for one participant.

    number: of its set; predict_masked: asks the explained model; turned: whether the classes'
    buttons stand the other way round. Raises IncompatibleStimuliError for what does not fit
    together.
    """

    def __init__(
        self,
        stages: UnmaskingStages,
        stimulus_set: StimulusSet,
        number: int,
        predict_masked: PredictMasked,
        *,
        turned: bool,
    ) -> None:
        check_kind(stimulus_set, "unmasking", "scores")
        self.stages, self.stimulus_set = stages, stimulus_set
        self.predict_masked = predict_masked
        manifest = stimulus_set.manifest
        methods = _methods(stages, manifest)
        self.photos = photos_of(stimulus_set, number)
        scored = [(photo, method) for photo in self.photos for method in methods]
        self.example = None if stages.example is None else _example(stages, manifest, methods)
        grid = _grid(stimulus_set, [*scored, *([] if self.example is None else [self.example])])
        for low, high in pairwise(stages.percents):
            pixels = masked_pictures.pixels(low, grid[0] * grid[1])
            if pixels == masked_pictures.pixels(high, grid[0] * grid[1]):
                raise IncompatibleStimuliError(
                    "masks",
                    f"{low:g} % and {high:g} % of {grid[1]} x {grid[0]} scores are the same "
                    f"{pixels} pixels",
                    "Space the masks wider.",
                )
        self.buttons = _buttons(stages, manifest, turned=turned)
        self.unmasked = _make_unmasked(stages, stimulus_set, number, methods, grid)

    def sequences(self) -> tuple[PlannedSequence, ...]:
        """Every image with every method, as the set and the study list them."""
        return tuple(
            self._sequence(photo, method)
            for photo in self.photos
            for method in self.unmasked.methods
        )

    def _sequence(self, photo: Photo, method: str) -> PlannedSequence:
        shared = self.unmasked
        wanted = Masking(shared.percents, shared.fill, shared.sign)
        outputs = self.predict_masked(self.stimulus_set, wanted, photo, method)
        ref = (shared.stimuli, photo.id, method, shared.fill, shared.sign)
        rows, columns = shared.grid
        return PlannedSequence(
            image=photo.id,
            picture=photo.photo,
            method=method,
            truth=photo.truth,
            prediction=photo.prediction,
            logits=photo.logits,
            masks=tuple(
                PlannedMask(
                    percent=percent,
                    pixels=masked_pictures.pixels(percent, rows * columns),
                    picture=str(MaskedRef(*ref, percent)),
                    logits=tuple(logits),
                )
                for percent, logits in zip(
                    shared.percents, outputs or ((),) * len(shared.percents), strict=True
                )
            ),
        )

    def values(self, words: Mapping[str, str]) -> dict[str, str]:
        """What the texts around the task may say in braces. words: of the window, by key."""
        methods, masks = self.unmasked.methods, self.unmasked.percents
        sequences = len(self.photos) * len(methods)
        rule = self.rule
        most = 0 if rule is None else rule.trials * len(methods) * max(len(rule.starts), 1)
        return {
            "stimuli": str(most or sequences * len(masks)),
            "sequences": str(sequences),
            "images": str(len(self.photos)),
            "methods": str(len(methods)),
            "masks": str(len(masks)),
            "question": self.stages.question or words.get("unmasking_question", ""),
            "classes": ", ".join(button.name for button in self.buttons[:-1]),
        }

    def _make_shared_fields(self) -> dict[str, Any]:
        stages = self.stages
        return {
            "question": stages.question or "",
            "buttons": self.buttons,
            "size_px": stages.size_px,
            "blank_ms": stages.blank_ms,
            "keyboard_away": stages.keyboard_away,
            "think_aloud": stages.think_aloud,
        }

    def practice(self, part_id: str, number: int, of: int) -> UnmaskingPart | None:
        """The example as a part; number, of: of the stage it stands before."""
        if self.example is None:
            return None
        example = self._sequence(*self.example)
        # The example may be of a method that the stage leaves out; its part must name it all the
        # same, or nobody could read the plan.
        names = {method.id: method.name for method in self.stimulus_set.manifest.methods}
        methods = self.unmasked.methods | {example.method: names[example.method]}
        return UnmaskingPart(
            id=part_id,
            title="Example",
            role="practice",
            number=number,
            of=of,
            unmasked=self.unmasked.model_copy(update={"methods": methods}),
            sequences=(example,),
            first=0,
            total=len(example.masks),
            **self._make_shared_fields(),
        )

    @property
    def rule(self) -> AnyRule | None:
        """The rule of an adaptive stage, with everything spelled out. Raises
        IncompatibleStimuliError for one that does not fit the classes."""
        rule = self.stages.adaptive
        if rule is None:
            return None
        todo = "Declare a different guess, lapse or target."
        return spell_out(
            rule,
            self.unmasked.percents,
            len(self.unmasked.classes),
            lambda key, what: IncompatibleStimuliError(f"adaptive.{key}", what, todo),
        )

    def blocks(
        self,
        sequences: Sequence[PlannedSequence],
        number: int,
        of: int,
        purpose: tuple[int, *tuple[str, ...]],
    ) -> tuple[UnmaskingPart, ...]:
        """The stage in blocks, between which breaks belong; number, of: of the stage; purpose: of
        the draw in which order tracks take turns."""
        tracks = None
        if self.rule is not None:
            items = {
                method: tuple(n for n, each in enumerate(sequences, 1) if each.method == method)
                for method in self.unmasked.methods
            }
            tracks = plan_tracks(self.rule, self.unmasked.percents, items, *purpose)
        breaks, masks = self.stages.breaks, len(self.unmasked.percents)
        every = len(sequences) if breaks is None else breaks.every
        starts = range(0, len(sequences), every)
        out = []
        for block, start in enumerate(starts, start=1):
            part_id, title = f"stage-{number}", f"Stage {number}"
            if len(starts) > 1:
                part_id, title = f"{part_id}-block-{block}", f"Stage {number}, block {block}"
            part = UnmaskingPart(
                id=part_id,
                title=title,
                role="stage",
                number=number,
                of=of,
                unmasked=self.unmasked,
                sequences=tuple(sequences[start : start + every]),
                first=start * masks,
                total=len(sequences) * masks if tracks is None else tracks.most,
                adaptive=tracks,
                **self._make_shared_fields(),
            )
            out.append(part)
        return tuple(out)


def plan_unmasking(place: int, planner: Planner) -> UnmaskingStage:
    """The pictures that are unmasked at a place of the flow, worked out once."""
    key = ("unmasking", place)
    if key not in planner.memory:
        item, scope = planner.flow[place]
        stages = item.task_stages()
        assert isinstance(stages, UnmaskingStages)
        turned = stages.buttons == "counterbalanced" and planner.number % 2 == 0
        with fitting(stages, planner):
            stimuli, number = set_of(stages, scope, planner)
            planner.memory[key] = UnmaskingStage(
                stages, stimuli, number, planner.predict_masked, turned=turned
            )
    unmasking: UnmaskingStage = planner.memory[key]
    return unmasking


def purpose_at(place: int, planner: Planner, drawn: str) -> tuple[int, *tuple[str, ...]]:
    """The seed of a draw for a place of the flow, and what it is for."""
    return (planner.seed, planner.study.id, planner.participant, f"unmasking {place}", drawn)


def sequences_at(place: int, planner: Planner) -> tuple[PlannedSequence, ...]:
    """The sequences of an unmasking stage, in the participant's order."""
    showing = plan_unmasking(place, planner)
    with fitting(showing.stages, planner):
        sequences = showing.sequences()
    if showing.stages.order == "as_listed":
        return sequences
    return conditions.shuffled(sequences, *purpose_at(place, planner, "sequences"))


def _methods(stages: UnmaskingStages, manifest: Manifest) -> dict[str, str]:
    """The methods that are shown and their names, in the order the study lists them."""
    known = {method.id: method.name for method in manifest.methods}
    chosen = stages.methods or tuple(known)
    for method in chosen:
        _check_there(method, known, "method", "methods", manifest)
        if chosen.count(method) > 1:
            raise IncompatibleStimuliError(
                "methods", f"{method} is listed twice", "List each method once."
            )
    return {method: known[method] for method in chosen}


def _check_there(
    name: str, known: Collection[str], kind: str, key: str, manifest: Manifest
) -> None:
    """kind: what is named, in words; key: of the study file."""
    if name not in known:
        raise IncompatibleStimuliError(
            key,
            f"the stimulus set {manifest.id} has no {kind} {name!r}; there are: {', '.join(known)}",
            f"Correct the {kind}'s id.",
        )


def _example(
    stages: UnmaskingStages, manifest: Manifest, methods: Iterable[str]
) -> tuple[Photo, str]:
    photo = manifest.correct_example
    if photo is None:
        raise IncompatibleStimuliError(
            "example",
            f"the stimulus set {manifest.id} has no correct_example to show",
            "Add one, or leave the example out.",
        )
    method = stages.example_method or next(iter(methods))
    known = [each.id for each in manifest.methods]
    _check_there(method, known, "method", "example_method", manifest)
    return photo, method


def _grid(stimulus_set: StimulusSet, scored: Iterable[tuple[Photo, str]]) -> tuple[int, int]:
    """Rows and columns of the scores, which all that is shown has alike: a percentage shows as many
    pixels everywhere."""
    grids: dict[tuple[int, int], str] = {}
    for photo, method in scored:
        try:
            rows, columns = score_files.read(stimulus_set.folder, photo.scores[method]).shape
        except StimuliError as error:
            raise IncompatibleStimuliError("stimuli", error.what.rstrip("."), error.todo) from error
        grids.setdefault((rows, columns), f"{photo.id} ({method})")
    if len(grids) > 1:
        (size, first), (other, second) = list(grids.items())[:2]
        raise IncompatibleStimuliError(
            "stimuli",
            f"the scores of the stimulus set {stimulus_set.id} differ in size: {first} has "
            f"{size[1]} x {size[0]}, but {second} has {other[1]} x {other[0]}",
            "Create the set again, with scores of the same size.",
        )
    return next(iter(grids))


def _make_unmasked(
    stages: UnmaskingStages,
    stimulus_set: StimulusSet,
    number: int,
    methods: dict[str, str],
    grid: tuple[int, int],
) -> Unmasked:
    manifest = stimulus_set.manifest
    try:
        level = masked_pictures.level(stages.fill, manifest.mean_level)
    except ValueError as error:
        raise IncompatibleStimuliError(
            "fill", str(error), "Choose another fill, or add the mean to the set."
        ) from error
    return Unmasked(
        stimuli=manifest.id,
        manifest_sha256=stimulus_set.sha256,
        set=number,
        classifier=manifest.method.classifier,
        classifier_sha256=manifest.method.sha256,
        accuracy=manifest.method.accuracy,
        classes=tuple(class_.id for class_ in manifest.classes),
        methods=methods,
        percents=stages.percents,
        fill=stages.fill,
        level=tuple(int(value) for value in level),
        sign=stages.sign,
        grid=grid,
        pool=manifest.pool,
    )


def _buttons(
    stages: UnmaskingStages, manifest: Manifest, *, turned: bool
) -> tuple[ResponseButton, ...]:
    """One a class, and "I don't know" as the last; keys go with the place, not the class."""
    names = {class_.id: class_.name for class_ in manifest.classes}
    for named in stages.class_names:
        _check_there(named, names, "class", "class_names", manifest)
    names |= {of: name.strip() for of, name in stages.class_names.items()}
    labels = list(names.values())
    if unclear := [name for name in labels if not name or labels.count(name) > 1]:
        raise IncompatibleStimuliError(
            "class_names",
            f"{unclear[0]!r} does not distinguish one button from the others",
            "Give every class a different name.",
        )
    ordered = list(names.items())
    if turned:
        ordered.reverse()
    *keys, last = _keys(stages, len(names) + 1)
    classes = [
        ResponseButton(of=of, name=name, key=key)
        for (of, name), key in zip(ordered, keys, strict=True)
    ]
    return (*classes, ResponseButton(of=None, name="", key=last))


def _keys(stages: UnmaskingStages, wanted: int) -> tuple[str, ...]:
    if not stages.keys:
        if wanted > 10:
            raise IncompatibleStimuliError(
                "keys",
                f"there are {wanted} buttons, which is more than there are digits",
                'Give a key for each class, followed by the one for "I don\'t know".',
            )
        return ("F", "J", "Space") if wanted == 3 else (*map(str, range(1, wanted)), "0")
    keys = tuple(_key(key) for key in stages.keys)
    if len(keys) != wanted or len(set(keys)) != len(keys):
        raise IncompatibleStimuliError(
            "keys",
            f"{wanted} different keys are needed, one per class and the last one for "
            f'"I don\'t know"; found {", ".join(stages.keys)}',
            "Give as many keys as there are buttons, each only once.",
        )
    return keys


def _key(text: str) -> str:
    """A key as Qt names it. Raises IncompatibleStimuliError for one that a study cannot have."""
    if len(text) == 1 and text.isascii() and text.isalnum():
        return text.upper()
    if (named := text.capitalize()) in NAMED_KEYS:
        return named
    raise IncompatibleStimuliError(
        "keys",
        f"{text!r} cannot be used as the key of a button",
        f"Use letters, digits, or one of: {', '.join(NAMED_KEYS)}.",
    )
