"""What was achieved in a session, whether it counts in the analysis, and what it earned.

The events are folded and the study's rules applied. The session decides at its end and records the
decision; the analysis computes it again only for a session without an end, or of a version that did
not record it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import InclusionDecided, PartEnded, PartSkipped, PaymentComputed
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.rules import Incentive, Inclusion, to_the_cent


@dataclass(frozen=True, slots=True)
class Tally:
    """What was achieved so far. trials: by id of its part and its number what each
    trial came to, as its task says (`TaskType.scored`); outcomes: how each part ended, by its id.

    A part that begins again counts from nothing: its former answers are kept in the journal only.
    """

    trials: Mapping[tuple[str, int], Mapping[str, Any]] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)

    def apply(self, event: Event, payload: Payload) -> Tally:
        """The tally after an event; `payload` is its typed payload."""
        part = event.part_id
        if part is None:
            return self
        if event.kind in ("part.started", "part.restarted"):
            return Tally(
                {trial: came_to for trial, came_to in self.trials.items() if trial[0] != part},
                {name: outcome for name, outcome in self.outcomes.items() if name != part},
            )
        if isinstance(payload, PartEnded):
            return replace(self, outcomes={**self.outcomes, part: payload.outcome})
        if isinstance(payload, PartSkipped):
            return replace(self, outcomes={**self.outcomes, part: "skipped"})
        score = registry.scored().get(event.kind)
        if score is None or event.trial is None or (came_to := score(payload)) is None:
            return self
        return replace(self, trials={**self.trials, (part, event.trial): came_to})

    def of(self, part: str) -> dict[int, Mapping[str, Any]]:
        """What the trials of a part came to, by their numbers."""
        return {trial[1]: came_to for trial, came_to in self.trials.items() if trial[0] == part}


class Achieved(NamedTuple):
    """A tally in figures.

    Attributes
    ----------
    solved, correct : questions of stages, practice not counted.
    practice_asked, practice_correct : questions of the single-dimension task's practice, as planned
        and of these answered rightly.
    stages_skipped : stages and practices that the moderator ended.
    photos : judged in stages.
    above_chance : of each scored question about them, the photos answered rightly beyond the number
        that guessing gets right, none where it is less, added up.
    stimuli : masked pictures of stages that got a response.

    Notes
    -----
    Which task gives which is the task's to say (`TaskType.achieved`).
    """

    solved: int = 0
    correct: int = 0
    practice_asked: int = 0
    practice_correct: int = 0
    stages_skipped: int = 0
    photos: int = 0
    above_chance: float = 0.0
    stimuli: int = 0


def achieved(parts: Sequence[PlannedPart], tally: Tally) -> Achieved:
    """What a participant achieved; parts: of the plan.

    A question of the plan counts as asked even if it never was, so that a practice that the
    moderator skipped is not answered rightly.
    """
    sums: dict[str, Fraction] = dict.fromkeys(Achieved._fields, Fraction(0))
    for part in parts:
        for name, value in registry.task_type_of(part).achieved(part, tally.of(part.id)).items():
            sums[name] += value
        # Of a questionnaire that the moderator skipped only the answers are missing.
        sums["stages_skipped"] += part.has_trials and tally.outcomes.get(part.id) == "skipped"
    above_chance = float(sums.pop("above_chance"))
    return Achieved(**{name: int(value) for name, value in sums.items()}, above_chance=above_chance)


def decide(
    rules: Inclusion, achieved: Achieved, *, completed: bool, withdrawn: bool = False
) -> InclusionDecided:
    """The study's rules, on what was achieved. completed: the plan was gone through to its end.

    A participant who withdraws is excluded, whatever the study says.
    """
    broken = {
        "completed": rules.completed and not (completed and achieved.stages_skipped == 0),
        "practice_correct": (
            rules.practice_correct and achieved.practice_correct < achieved.practice_asked
        ),
        "min_solved": achieved.solved < rules.min_solved,
        "withdrawn": withdrawn,
    }
    failed = tuple(name for name, fails in broken.items() if fails)
    return InclusionDecided(not failed, failed, achieved._asdict())


def earned(paid: Incentive, achieved: Achieved) -> PaymentComputed:
    """The base and the bonus for what was achieved so far.

    Whoever ends early has earned the same way; a study file says nothing of that, and what is paid
    then is the lab's decision.
    """
    bonus = paid.bonus(achieved.solved, achieved.correct, achieved.above_chance)
    total = to_the_cent((paid.base, 1), (bonus, 1))
    return PaymentComputed(
        paid.currency,
        paid.base,
        bonus,
        total,
        achieved.solved,
        achieved.correct,
        achieved.photos,
        achieved.above_chance,
    )
