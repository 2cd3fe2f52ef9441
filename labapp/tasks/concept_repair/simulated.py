"""How a simulated participant goes through concept repair, and what it says meanwhile.

Who repairs concepts without being a person: what a simulated participant sees, expects and does.

It sees of a picture what people see: the concepts, rightly or wrongly, the rule card, and what the
model believes and answers. What a change does to other concepts it learns, if at all, from the
changes that it made itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np

from labapp.base.clock import NS
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON, is_predicted_on, set_to
from labapp.record.events.commands import Command, Next
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.person import (
    BLAMES_MODEL,
    EXPECTS,
    GOES_ROUND,
    GUESSES,
    SEES_LEAK,
    SURPRISED,
    Experience,
)
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Actor, SimulatedParticipant, TrialKey
from labapp.tasks.concept_repair.events import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import (
    SAME,
    TASK,
    ConceptChange,
    ConceptGridPart,
    ConceptRepairPart,
    Grid,
    PlannedItem,
    Repair,
    rules_of,
)

LOOKS = 3.0
"""Decisions' time that a picture, or what a change did, is looked at (ours)."""


def eyesight_of(participant: SimulatedParticipant) -> Eyesight:
    """How well a participant sees, as set for the simulation."""
    sees: Eyesight = participant.options.get(TASK, Eyesight())
    return sees


def get_learnt(participant: SimulatedParticipant, stage: str) -> Learnt:
    learnt: Learnt = participant.memory.setdefault((TASK, stage), Learnt())
    return learnt


class Repairing(Actor[ConceptRepairPart]):
    """Looks at a picture, and does one thing after the other with its concepts."""

    def __init__(self, part: ConceptRepairPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._repairer = Repairer(
            part,
            participant.strategy,
            participant.seed,
            eyesight_of(participant),
            get_learnt(participant, part.id),
        )
        self._trial: TrialKey | None = None
        self._tried: list[ConceptChange] = []
        self._noticed = 0

    def act(self) -> None:
        participant, trial = self.participant, self.state.trial
        if trial is None or trial.started_ns is None or trial.phase == "over":
            participant.later(participant.pace.stride_s)
            return
        if self._trial != (key := (self.part.id, trial.number, trial.attempt)):
            self._trial, self._tried, self._noticed = key, [], 0
            if participant.strategy in GUESSING:
                participant.think_aloud(GUESSES)
            participant.later(LOOKS * participant.pace.think_s)
            return
        surprised = len(trial.history) > self._noticed and self._notice(trial)
        self._noticed = len(trial.history)
        if surprised:  # what is said of it is said before anything else is done
            participant.later(participant.pace.stride_s)
            return
        command = self._repairer.next(trial, self._tried)
        looks = 1.0
        if isinstance(command, SetConcept):
            if self._repairer.item(trial).foresee:
                participant.think_aloud(EXPECTS, self._name(command.concept))
            self._tried.append(ConceptChange(command.concept, command.to))
            looks = LOOKS
        elif isinstance(command, UndoChange):
            participant.think_aloud(GOES_ROUND, self._name(trial.history[-1].concept))
            self._noticed -= 1
        elif isinstance(command, GiveUp):
            participant.think_aloud(BLAMES_MODEL)
        if isinstance(command, RepairDone | GiveUp):
            self._remember(trial)
        participant.send(command, looks * participant.pace.think_s)

    def _notice(self, trial: Repair) -> bool:
        """What the change that is new on the screen did, and what is said of that; whether it was
        another answer than expected."""
        participant = self.participant
        unexpected, moved = self._repairer.notice(trial)
        name = self._name(trial.history[-1].concept)
        if unexpected:
            participant.think_aloud(SURPRISED, name)
        if moved and participant.strategy == LEARNER:
            participant.think_aloud(SEES_LEAK, name)
        return unexpected

    def _name(self, concept: int) -> str:
        return self.part.repaired.concepts[concept].name

    def _remember(self, trial: Repair) -> None:
        """How a picture went that is about to end: what questionnaires ask about."""
        runner = self.participant.runner
        if self.part.role != "stage":
            return
        experience = self.participant.experience.setdefault(self.part.id, Experience())
        solved = trial.answer == self._repairer.look(trial).name
        experience.solved += solved
        experience.missed += not solved
        working = runner.state.pauses.working_ns(runner.clock.now_ns())
        experience.seconds.append((working - (trial.started_ns or 0)) / NS)
        experience.understanding = experience.success


class Ticking(Actor[ConceptGridPart]):
    """Ticks the pairs of the grid one after the other, or says that there are none."""

    def act(self) -> None:
        participant, grid = self.participant, self.state.trial
        if not isinstance(grid, Grid) or grid.started_ns is None or grid.outcome is not None:
            participant.later(participant.pace.stride_s)
            return
        if participant.strategy == LEARNER:  # what came with a change, by those who remember it
            wanted = get_learnt(participant, self.part.about).pairs()
        else:  # any now and then
            count = len(self.part.repaired.concepts)
            rng = generator(*participant.seed, self.part.id, "grid")
            lots = rng.random((count, count)) < eyesight_of(participant).ticks
            wanted = frozenset(pair for pair in permutations(range(count), 2) if lots[pair])
        left = sorted(wanted - grid.ticked)
        command: Command = Next()
        if left:
            command = TickPair(*left[0], DEVICE)
        elif not grid.ticked and not grid.nothing:
            command = TickNothing(DEVICE)
        participant.send(command, participant.pace.think_s)


ALL_KNOWING, CAREFUL, STUBBORN, MISLED = "oracle", "careful", "stubborn", "misled"
LEARNER, UNMOVED, RANDOM, CARELESS = "learner", "unmoved", "random", "careless"
TOLD = (ALL_KNOWING, ORACLE)
"""They see every concept rightly."""
GUESSING = (RANDOM, CARELESS)
MOST_GUESSES = 3
"""Changes that somebody who guesses makes in a picture (ours)."""


@dataclass(frozen=True, slots=True)
class Eyesight:
    """How well simulated participants see concepts and use the rule card; all numbers are ours.

    Attributes
    ----------
    sees : between which a participant's probability to see a concept rightly lies, one per concept.
    applies : probability to foretell by the rule card, and not any other name.
    sure_from : a concept seen with at least this probability is foretold with confidence.
    ticks : probability to tick a pair of the grid, of those who learnt of none.
    """

    sees: tuple[float, float] = (0.88, 1.0)
    applies: float = 0.9
    sure_from: float = 0.94
    ticks: float = 0.1


@dataclass
class Learnt:
    """What a participant noticed of one model. moved: by change the other concepts that came with
    it when it last mattered, and whether they were on then."""

    moved: dict[ConceptChange, dict[int, bool]] = field(default_factory=dict)

    def take(
        self, change: ConceptChange, moved: Mapping[int, bool], says: Mapping[int, bool]
    ) -> None:
        """Take in a change. moved: the concepts of which the answer says the opposite now; says:
        what it says of all concepts that it says something of. What should have come with the
        change, and did not, is forgotten."""
        known = self.moved.get(change, {})
        still = {other: on for other, on in known.items() if says.get(other, on) == on}
        self.moved[change] = {**still, **moved}

    def pairs(self) -> frozenset[tuple[int, int]]:
        return frozenset((made.concept, other) for made in self.moved for other in self.moved[made])


@dataclass(frozen=True)
class PictureLook:
    """What is seen of a picture.

    Attributes
    ----------
    seen : the concepts, as the participant takes them.
    sureness : the probability to see each rightly.
    name : the class that they make by the rule card; None if it has none for them.
    """

    seen: tuple[bool, ...]
    sureness: tuple[float, ...]
    name: str | None


class Repairer:
    """A simulated participant at one stage.

    Parameters
    ----------
    part : the stage.
    strategy : one of `labapp.session.simulation.names.REPAIRS_CONCEPTS`, or `CARELESS`.
    seed : see `SimulatedParticipant.seed`.
    eyesight : how well it sees.
    learnt : what it noticed of the model so far; it is added to.
    """

    def __init__(
        self,
        part: ConceptRepairPart,
        strategy: str,
        seed: tuple[int, *tuple[str, ...]],
        eyesight: Eyesight,
        learnt: Learnt,
    ) -> None:
        self.part = part
        # Everybody has learnt to repair with the perfect switches of the practice.
        self.strategy = CAREFUL if part.role == "practice" else strategy
        self.eyesight, self.learnt = eyesight, learnt
        self._seed = seed
        self._rules = rules_of(
            part.repaired.concepts, tuple(known.concepts for known in part.repaired.classes)
        )

    def _draws(self, trial: Repair, purpose: str) -> np.random.Generator:
        """Of a picture: the same in whatever order it is asked."""
        return generator(*self._seed, self.part.id, trial.number, trial.attempt, purpose)

    def look(self, trial: Repair) -> PictureLook:
        item = self.item(trial)
        count = len(item.concepts)
        if self.strategy in TOLD:
            sureness, seen = (1.0,) * count, item.concepts
        else:
            eyes = generator(*self._seed, "eyes")  # the same in all stages
            sureness = tuple(map(float, eyes.uniform(*self.eyesight.sees, count)))
            lots = self._draws(trial, "seen").random(count)
            pairs = zip(item.concepts, lots, sureness, strict=True)
            seen = tuple(there == bool(lot < p) for there, lot, p in pairs)
        return PictureLook(seen, sureness, self.named(seen))

    def item(self, trial: Repair) -> PlannedItem:
        return self.part.items[trial.number - 1]

    def named(self, concepts: Sequence[bool]) -> str | None:
        """The class that the rule card has for these concepts; None if it has none."""
        for class_, rule in zip(self.part.repaired.classes, self._rules, strict=True):
            if rule and all(concepts[place] == on for place, on in rule.items()):
                return class_.id
        return None

    def expected(self, trial: Repair, change: ConceptChange) -> str:
        """The answer that the rule card has after a change: the present one where the concepts
        then make no other class than now. Those who learn count what came with it before."""
        states = trial.states
        beliefs = self.item(trial).beliefs
        now = [
            is_predicted_on(p) if state == AS_IT_IS else state == ON
            for p, state in zip(beliefs, states, strict=True)
        ]
        then = list(now)
        concept, to = change
        then[concept] = is_predicted_on(beliefs[concept]) if to == AS_IT_IS else to == ON
        if self.strategy == LEARNER:
            for other, on in self.learnt.moved.get(change, {}).items():
                then[other] = on
        before, after = self.named(now), self.named(then)
        return trial.answer if after is None or after == before else after

    def foretold(self, trial: Repair) -> tuple[str, bool]:
        """What it says the model will answer to the chosen change (`SAME` for the present answer),
        and whether it is sure."""
        assert trial.pending is not None
        lots = self._draws(trial, f"foretell {len(trial.history)}")
        answer = self.expected(trial, trial.pending)
        classes = [class_.id for class_ in self.part.repaired.classes]
        if self.strategy == UNMOVED:
            return SAME, True
        if self.strategy in GUESSING:
            answer = classes[int(lots.integers(len(classes)))]
        elif self.strategy not in TOLD and lots.random() >= self.eyesight.applies:
            others = [name for name in classes if name != answer]
            answer = others[int(lots.integers(len(others)))]
        sure = self.look(trial).sureness[trial.pending.concept] >= self.eyesight.sure_from
        picked = SAME if answer == trial.answer else answer
        return picked, sure and self.strategy not in GUESSING

    def next(self, trial: Repair, tried: Sequence[ConceptChange]) -> Command:
        """The next thing that it does with a picture. trial: the picture as it stands; tried: what
        it changed, also where it took that back."""
        if trial.pending is not None:
            answer, sure = self.foretold(trial)
            return PickAnswer(answer, DEVICE) if trial.picked != answer else Foretell(sure, DEVICE)
        if self.part.instruction == "foresight":
            return RepairDone()
        if self._takes_back(trial, tried):
            return UndoChange(DEVICE)
        for change in self._list_wanted_changes(trial):
            if change not in tried and trial.states[change.concept] != change.to:
                return SetConcept(*change, DEVICE)
        if self.part.instruction == "audit" and trial.unset:
            # Whatever came of it: an audit ends when every concept is set.
            place = trial.unset[0]
            return SetConcept(place, set_to(self.look(trial).seen[place]), DEVICE)
        right = trial.answer == self.look(trial).name
        goes = right or self.part.instruction == "audit" or self.strategy in (STUBBORN, RANDOM)
        return RepairDone() if goes else GiveUp()

    def _takes_back(self, trial: Repair, tried: Sequence[ConceptChange]) -> bool:
        """Whether the last change is taken back: its answer was not the expected one. In an audit
        only the first time, for there all has to be set."""
        if self.strategy != MISLED or not trial.history or not tried:
            return False
        last, made = trial.history[-1], tried[-1]
        if last.concept != made.concept or trial.states[made.concept] != made.to:
            return False
        if self.part.instruction == "audit" and len(tried) > len(trial.states):
            return False
        return trial.answer != self.before(trial)

    def before(self, trial: Repair) -> str:
        """The answer that was expected of the last change."""
        step = trial.history[-1]
        states = list(trial.states)
        change = ConceptChange(step.concept, states[step.concept])
        states[step.concept] = step.state
        earlier = replace(trial, states=tuple(states), answer=step.answer)
        return self.expected(earlier, change)

    def _list_wanted_changes(self, trial: Repair) -> list[ConceptChange]:
        item, look = self.item(trial), self.look(trial)
        if self.strategy in GUESSING:
            lots = self._draws(trial, "guesses")
            every = lots.permutation(len(item.beliefs))
            most = len(every) if self.part.instruction == "audit" else MOST_GUESSES
            return [
                ConceptChange(int(place), int(lots.integers(OFF, ON + 1))) for place in every[:most]
            ]
        order = sorted(range(len(look.seen)), key=lambda place: -look.sureness[place])
        changes = [ConceptChange(place, set_to(look.seen[place])) for place in order]
        beliefs = [is_predicted_on(belief) for belief in item.beliefs]
        wrong = [made for made in changes if beliefs[made.concept] != look.seen[made.concept]]
        if self.part.instruction == "audit" or self.strategy == STUBBORN:
            return [*wrong, *(change for change in changes if change not in wrong)]
        if self.strategy not in TOLD and trial.answer == look.name:
            return []
        return wrong

    def notice(self, trial: Repair) -> tuple[bool, tuple[int, ...]]:
        """Take in what the last change did: whether the answer was another than expected, and which
        other concepts it now says the opposite of. To be called once a change."""
        step = trial.history[-1]
        change = ConceptChange(step.concept, trial.states[step.concept])
        unexpected = trial.answer != self.before(trial)
        repaired = self.part.repaired
        rule = repaired.class_(trial.answer).concepts
        says = {n: rule[known.id] for n, known in enumerate(repaired.concepts) if known.id in rule}
        moved = repaired.side_effects(step.concept, step.answer, trial.answer)
        self.learnt.take(change, {other: says[other] for other in moved}, says)
        return unexpected, moved
