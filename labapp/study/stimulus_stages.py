"""The stimulus sets that the stages of a flow show to one participant, every choice made once.

A stage that judges explanations, or unmasks pictures, stands at one place of the flow; the texts
and questionnaires around it tell of it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from labapp.documents import parse_yaml
from labapp.errors import StudyError
from labapp.stimuli.library import StimulusSet
from labapp.study import assignment, conditions
from labapp.study.conditions import Scope
from labapp.study.explained import Judged, Showing, StimuliOf, Unfit
from labapp.study.flow import Item, StagesItem, placed_items
from labapp.study.judging import PlannedPhoto, PlannedRow
from labapp.study.loading import LoadedStudy
from labapp.study.stages import JudgingStages, UnmaskingStages
from labapp.study.unmasked import Unmasking
from labapp.study.unmasking import OutputsOf, PlannedSequence

MOST_DIGITS = 9
"""Of the number of a set. Python reads no more than 4,300, and says so with an error of its own."""


class StimulusStages:
    """flow: the participant's, with the variables at each item; number and participant: who it is;
    stimuli_of, outputs_of: see `planner.realise`."""

    def __init__(
        self,
        loaded: LoadedStudy,
        flow: Sequence[tuple[Item, Scope]],
        participant: str,
        number: int,
        seed: int,
        stimuli_of: StimuliOf,
        outputs_of: OutputsOf,
    ) -> None:
        self.loaded = loaded
        self.study = loaded.study
        self.flow = flow
        self.participant = participant
        self.number = number
        self.seed = seed
        self.stimuli_of = stimuli_of
        self.outputs_of = outputs_of
        self._judged: dict[int, Judged] = {}
        self._unmasked: dict[int, Unmasking] = {}

    def judged_near(self, place: int, *, ahead: bool) -> Judged | None:
        """What an item of the flow tells of: the stage ahead of it or, for what follows a stage,
        the one before it; where there is none on that side, the nearest on the other."""
        at = [
            index
            for index, (item, _) in enumerate(self.flow)
            if isinstance(item, StagesItem) and isinstance(item.stages, JudgingStages)
        ]
        before, behind = [i for i in at if i <= place][-1:], [i for i in at if i > place][:1]
        near = behind + before if ahead else before + behind
        return self.judged_at(near[0]) if near else None

    def judged_at(self, place: int) -> Judged:
        """The stage at a place of the flow, with every choice made."""
        if place not in self._judged:
            item, scope = self.flow[place]
            assert isinstance(item, StagesItem)
            assert isinstance(item.stages, JudgingStages)
            self._judged[place] = self._judge(item.stages, scope, f"judging {place}")
        return self._judged[place]

    def _judge(self, stages: JudgingStages, scope: Scope, purpose: str) -> Judged:
        draws = (self.seed, self.study.id, self.participant, purpose)

        def rows(some: Sequence[PlannedRow], of: str) -> tuple[PlannedRow, ...]:
            return assignment.shuffled(some, *draws, "rows", of)

        def order(photos: tuple[PlannedPhoto, ...]) -> tuple[PlannedPhoto, ...]:
            if stages.order == "as_listed":
                return photos
            return assignment.shuffled(photos, *draws, "photos")

        with self.fitting(stages):
            found, number = self._set_of(stages, scope)
            return Judged.of(Showing(stages, found, self.loaded.words), number, rows, order)

    def unmasked_at(self, place: int) -> Unmasking:
        """The pictures that are unmasked at a place of the flow."""
        if place not in self._unmasked:
            item, scope = self.flow[place]
            assert isinstance(item, StagesItem)
            assert isinstance(item.stages, UnmaskingStages)
            stages = item.stages
            turned = stages.buttons == "counterbalanced" and self.number % 2 == 0
            with self.fitting(stages):
                found, number = self._set_of(stages, scope)
                self._unmasked[place] = Unmasking.of(
                    stages, found, number, self.outputs_of, turned=turned
                )
        return self._unmasked[place]

    def sequences_at(self, place: int) -> tuple[PlannedSequence, ...]:
        """The sequences of an unmasking stage, in the participant's order."""
        showing = self.unmasked_at(place)
        with self.fitting(showing.stages):
            sequences = showing.sequences()
        if showing.stages.order == "as_listed":
            return sequences
        purpose = (self.study.id, self.participant, f"unmasking {place}", "sequences")
        return assignment.shuffled(sequences, self.seed, *purpose)

    def told_at(self, place: int) -> dict[str, str]:
        """What a text may say of the unmasking stage it stands before, or else behind."""
        at = [
            index
            for index, (item, _) in enumerate(self.flow)
            if isinstance(item, StagesItem) and isinstance(item.stages, UnmaskingStages)
        ]
        near = [index for index in at if index >= place][:1] or at[-1:]
        return self.unmasked_at(near[0]).values(self.loaded.words) if near else {}

    def _set_of(
        self, stages: JudgingStages | UnmaskingStages, scope: Scope
    ) -> tuple[StimulusSet, int]:
        """The stimulus set of stages, and the number of the set in it."""
        number = conditions.fill(str(stages.set), scope)
        found = self.stimuli_of(conditions.fill(stages.stimuli, scope))
        if not number.isdecimal() or len(number) > MOST_DIGITS:
            raise Unfit("set", f"{number[:40]!r} is no number of a set", "Give a whole number.")
        return found, int(number)

    @contextmanager
    def fitting(self, stages: JudgingStages | UnmaskingStages) -> Iterator[None]:
        """A set that the stages cannot show is refused with the line that asks for it."""
        try:
            yield
        except Unfit as unfit:
            raise StudyError(
                f"{self.loaded.path}, line {self._line(stages, unfit.about)}, {unfit.about}: "
                f"{unfit}.",
                todo=unfit.todo,
            ) from unfit

    def _line(self, stages: JudgingStages | UnmaskingStages, key: str) -> int:
        """The line in the study file of what stages say, or of the stages where they do not."""
        path = self.loaded.path
        located = parse_yaml(path, self.loaded.files[path.name])
        for place, item in placed_items(self.study.flow):
            if isinstance(item, StagesItem) and item.stages is stages:
                return located.line((*place, "stages", key))
        return 1
