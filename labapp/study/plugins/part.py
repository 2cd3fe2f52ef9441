"""The base of every part of a plan: what the session asks of any of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from labapp.base.documents import Strict
from labapp.models.representations.space import Chart, LatentSpace
from labapp.study.adaptive.tracks import Tracks
from labapp.study.when import Condition

Dimensions = tuple[dict[str, Any], ...]
"""A latent space as rows of `LatentSpace.to_json`."""


class StimuliRef(NamedTuple):
    """A stimulus set that a part shows. sha256: of its manifest; name: its id or folder."""

    sha256: str
    name: str


@dataclass(frozen=True)
class Target:
    """A dial state that the participant is to find, from another one.

    Attributes
    ----------
    model : id of the model.
    sampling : how states like these two are drawn, see `labapp.study.conditions`.
    distance : how pictures are compared, see `labapp.models.representations.distance`.
    alignment : from which on they count as aligned, 0-1.
    skip_after_s : seconds after which a question can be skipped; None if no skip waits for it.
    """

    model: str
    sampling: Literal["held_out", "prior", "uniform"]
    distance: str
    alignment: float
    skip_after_s: float | None


class Snapshot(NamedTuple):
    """What a question that is done by dials came to at a moment.

    t_ns: working time; z: dial state; direction: -1, 0 (none, or a discrete dial) or +1.
    """

    t_ns: int
    z: tuple[float, ...]
    dimension: int | None
    direction: int
    alignment: float
    error_sum: float
    error_mean: float


class Questionnaire(NamedTuple):
    """What a part asks that is a questionnaire.

    instrument: its id; about: id of the part it asks about, None for the whole session; scoring:
    what it declares of its scores; per_stage: its items that are asked once for each stage, with
    the stage's number behind `_`; about_person: whether it asks who the participant is; kinds: by
    item the kinds that the plan names; checks: its attention checks, by item the cells of the
    answers that pass them; items: what was asked, in the order of the session, empty for as listed.
    """

    instrument: str
    about: str | None
    scoring: str | dict[str, Any] | None
    per_stage: tuple[str, ...]
    about_person: bool
    kinds: Mapping[str, str]
    checks: Mapping[str, tuple[str | int | float | bool, ...]] = {}
    items: tuple[str, ...] = ()


class Kept(Strict):
    """What a plan keeps. Fields that came later are left out where they say nothing, so that it is
    written as it always was."""

    @model_serializer(mode="wrap")
    def _without_empty(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialise(self)
        later = ("levels", "only_if", "named", "chart", "adaptive")
        return {key: value for key, value in fields.items() if value or key not in later}


class PlannedPart(Kept):
    """One part of a session: a text, a questionnaire, a stage of a task.

    Parts are kept in the first event of a session as plain values; `part` says of which kind each
    is, and the registry knows the class by it.

    Attributes
    ----------
    part : the kind, unique among all task types.
    id : unique in the plan; events and tables name the part by it.
    title : what the moderator's windows call it, in English.
    levels : by factor of the study's design that is met within participants, the level that the
        part is of; the model of a stage is told by the stage itself.
    only_if : the answers without which it is left out (see `labapp.study.when`); empty: none.
    named : what conditions call its results; empty if none can name them.
    """

    timed: ClassVar[bool] = False
    """Whether reaction times are measured, so that nothing may come between its trials."""
    rests: ClassVar[bool] = False
    """Whether the participant rests: no duration counts it, and the moderator can end it."""
    has_trials: ClassVar[bool] = False
    """Whether it consists of trials, see `TrialsPart`."""
    consents: ClassVar[bool] = False
    """Whether the participant is asked for consent here."""

    part: str
    id: str
    title: str
    levels: dict[str, str] = Field(default_factory=dict)
    only_if: Condition = Field(default_factory=dict)
    named: str = ""

    introduces: ClassVar[bool] = False
    """Whether it is a text that belongs to the stage or the practice right behind it."""
    talks: ClassVar[bool] = False
    """Whether the participant is recorded talking with the moderator."""
    leads_elsewhere: ClassVar[bool] = False
    """Whether the participant leaves the window for it, such as for a browser: that the window has
    no keyboard meanwhile is no deviation."""
    asks_model: ClassVar[bool] = False
    """Whether a model is asked about its pictures when it is planned, which can take a while."""

    @classmethod
    def migrated(cls, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row of a plan, possibly written by an older version, as this version writes it."""
        return row

    def signed_document(self) -> str | None:
        """SHA-256 of the text that the participant signs here by a name or a drawing, which are
        stored apart; None if nothing is signed."""
        return None

    ordered: ClassVar[str] = ""
    """What it shows in an order of each participant's own, in the plural; empty for nothing."""

    def order(self) -> tuple[str, ...]:
        """Names of what `ordered` says, in their order."""
        return ()

    def target(self) -> Target | None:
        """The start and the target of its questions; None if they have no target."""
        return None

    def belongs_to(self) -> str | None:
        """Id of the part that it asks about; None if it is independent of other parts."""
        return None

    def questionnaire(self) -> Questionnaire | None:
        """The questionnaire that it asks; None for any other part."""
        return None

    def guide(self) -> tuple[str, ...]:
        """Questions that the moderator asks in it, in their order."""
        return ()

    @property
    def measures(self) -> bool:
        """Whether it is a stage, i.e. measures something that an interruption would spoil."""
        return False

    def trial_count(self) -> int:
        """How many trials it has, or may have where a rule chooses them; 0 for a part without."""
        return 0

    @property
    def chooses(self) -> bool:
        """Whether a rule chooses its trials, and their number, based on the answers."""
        return False

    def asks_to_think_aloud(self) -> bool:
        """Whether the participant is to think aloud in it."""
        return False

    def stage_place(self) -> tuple[int, int] | None:
        """The number of the stage, from 1, and the total, if participants see them; None if it is
        neither a stage nor a practice, or if they are not shown."""
        return None

    @property
    def without_keyboard(self) -> bool:
        """Whether a trial is interrupted while the participant does not have the keyboard."""
        return False

    @property
    def picture_px(self) -> int | None:
        """Logical pixels of the longer side of a picture whose size matters, for example because
        everyone must see it at the same size; None if it may be as large as the window allows."""
        return None

    @property
    def solvable(self) -> int:
        """How many of its trials count in studies that include people by questions solved."""
        return 0

    @property
    def solved_by(self) -> str:
        """The rule by which its questions count as solved, if this depends on the model."""
        return ""

    text_pictures: ClassVar[frozenset[str]] = frozenset()
    """What texts of it may name like pictures, as `![](correct)`."""

    def documents(self) -> Iterator[str]:
        """Names of the texts of the study that it shows."""
        if "document" in type(self).model_fields:
            yield getattr(self, "document")  # noqa: B009 (a field of the subclass)

    def filled(self) -> Collection[str]:
        """The names in braces that are filled in in these texts."""
        return getattr(self, "values", ())

    @property
    def lasts_s(self) -> float:
        """Its minimum duration in seconds, whatever the participant does."""
        return 0.0

    def dials(self) -> Iterator[tuple[str, Dimensions]]:
        """The models that must be there to show the part: of each its id and its dimensions."""
        return iter(())

    def models(self) -> Iterator[str]:
        """Ids of these models."""
        return (model for model, _ in self.dials())

    def classifiers(self) -> Iterator[tuple[str, str | None]]:
        """The classifiers whose predictions it asks about: of each its id and the hash of its
        weights."""
        return iter(())

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        """The stimulus sets that it shows pictures of."""
        return iter(())

    def stored_pictures(self) -> Iterator[str]:
        """Names of the pictures of these sets that a session keeps, in the order they come."""
        return iter(())


class TrialsPart(PlannedPart):
    """A part that consists of trials: a stage, or the practice before one.

    adaptive: the tracks by which a rule chooses what comes next; None if all is planned.
    """

    has_trials: ClassVar[bool] = True
    role: Literal["stage", "practice"]
    adaptive: Tracks | None = None

    if TYPE_CHECKING:

        @property
        def number(self) -> int:
            """Of a stage: its number, from 1. The blocks of a stage share it."""

        @property
        def task(self) -> str:
            """What the tables call what is done in it."""

        @property
        def model(self) -> str:
            """Id of what it asks about: a model, or a stimulus set."""

        @property
        def trials(self) -> int:
            """How many trials it has."""

        @property
        def time_limit_s(self) -> float | None:
            """Seconds of working time after which it ends; None for no limit."""

        @property
        def think_aloud(self) -> bool:
            """Whether the participant is to think aloud."""

    @property
    def measures(self) -> bool:
        return self.role == "stage"

    def trial_count(self) -> int:
        return self.trials

    @property
    def chooses(self) -> bool:
        return self.adaptive is not None

    def asks_to_think_aloud(self) -> bool:
        return self.think_aloud


def with_trials(parts: Iterable[PlannedPart]) -> list[TrialsPart]:
    """The stages and practices among the parts of a plan."""
    return [part for part in parts if isinstance(part, TrialsPart)]


def stages_of(parts: Iterable[PlannedPart]) -> dict[int, list[TrialsPart]]:
    """The stages of a plan by their numbers, of each its blocks."""
    stages: dict[int, list[TrialsPart]] = {}
    for part in with_trials(parts):
        if part.measures:
            stages.setdefault(part.number, []).append(part)
    return stages


def introduces(parts: Sequence[PlannedPart], index: int) -> bool:
    """Whether a part is a text that introduces a stage or practice."""
    if not parts[index].introduces or index + 1 == len(parts):
        return False
    following = parts[index + 1]
    return following.has_trials or (
        following.stage_place() is not None and introduces(parts, index + 1)
    )


def sections_of(parts: Sequence[PlannedPart]) -> tuple[range, ...]:
    """The plan in sections, as places in it: a stage or practice with the texts before it, its
    blocks and the questionnaires about it; every other part alone."""
    sections: list[range] = []
    begin = 0
    while begin < len(parts):
        stage = begin
        while introduces(parts, stage):
            stage += 1
        sections.append(range(begin, _end_of(parts, stage)))
        begin = sections[-1].stop
    return tuple(sections)


def section_of(parts: Sequence[PlannedPart], index: int) -> range:
    """The section that a part belongs to."""
    return next(section for section in sections_of(parts) if index in section)


def _end_of(parts: Sequence[PlannedPart], first: int) -> int:
    """The place behind the last part that belongs to the stage or practice at a place."""
    core, end = parts[first], first + 1
    if not isinstance(core, TrialsPart):
        return end
    ids = {core.id}
    for place in range(first + 1, len(parts)):
        part = parts[place]
        if isinstance(part, TrialsPart):
            if not (core.measures and part.measures and part.number == core.number):
                break
            ids.add(part.id)
            end = place + 1
        elif part.belongs_to() in ids:
            end = place + 1
        elif not (part.rests or introduces(parts, place)):
            break
    return end


class Drawing(Kept):
    """What draws instances of a model.

    chart: the limits of the y axis of a series, where they are not the published ones.
    """

    chart: Chart | None = None


class RepresentationPart(Drawing, TrialsPart):
    """A stage, or a practice, that asks about a representation.

    number, of: the stage's number, from 1, among how many; model: id of the model; dimensions: its
    latent space as `LatentSpace.to_json` rows, so that a journal can be read without the model.
    """

    number: int
    of: int
    model: str
    dimensions: Dimensions

    @field_validator("dimensions")
    @classmethod
    def _make_space(cls, dimensions: Dimensions) -> Dimensions:
        try:
            LatentSpace.from_json(dimensions)
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"these are not valid sliders: {error!r}") from error
        return dimensions

    @cached_property
    def space(self) -> LatentSpace:
        """The latent space of the model."""
        return LatentSpace.from_json(self.dimensions)

    def dials(self) -> Iterator[tuple[str, Dimensions]]:
        yield self.model, self.dimensions

    def stage_place(self) -> tuple[int, int]:
        return self.number, self.of
