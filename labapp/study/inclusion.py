"""What was achieved in a session, whether it counts in the analysis, and what it earned.

The events are folded and the study's rules applied. The session decides at its end and records the
decision; the analysis computes it again only for a session without an end, or of a version that did
not record it.

What a study file may say of who is included in the analysis, and of what is paid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

from pydantic import ConfigDict, Field

from labapp.base.documents import CURRENCY, Strict
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartLeftOut,
    PartSkipped,
    PaymentComputed,
)
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart

LEFT_OUT: Final = "left_out"
"""How a part ended that was not for the participant, by what was answered before."""


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
        if isinstance(payload, PartLeftOut):
            return replace(self, outcomes={**self.outcomes, part: LEFT_OUT})
        if isinstance(payload, PartSkipped):
            return replace(self, outcomes={**self.outcomes, part: "skipped"})
        if event.trial is None or (score := registry.list_score_readers().get(event.kind)) is None:
            return self
        if (came_to := score(payload)) is None:
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
        that guessing gets right, none if it is less, added up.
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


def sum_achievements(parts: Sequence[PlannedPart], tally: Tally) -> Achieved:
    """What a participant achieved; parts: of the plan.

    A question of the plan counts as asked even if it never was, so that a practice that the
    moderator skipped is not answered rightly; but not where its part was not for the participant.
    """
    sums: dict[str, Fraction] = dict.fromkeys(Achieved._fields, Fraction(0))
    for part in parts:
        if tally.outcomes.get(part.id) == LEFT_OUT:
            continue
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


def compute_payment(paid: Incentive, achieved: Achieved) -> PaymentComputed:
    """The base and the bonus for what was achieved so far.

    People who end early are paid by the same rules. A study file does not mention that; what is
    paid then is the lab's decision.
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


CENT = Decimal("0.01")


class Inclusion(Strict):
    """Who counts. Excluded sessions are kept and their place is filled again (paper 000, 5.2.2).

    Attributes
    ----------
    completed : only participants count who completed the session without a skipped stage or
        practice.
    practice_correct : only participants count who answered every practice question of a
        single-dimension task correctly.
    min_solved : only participants count who solved at least this number of reconstruction
        questions, over all stages.
    """

    completed: bool = True
    practice_correct: bool = False
    min_solved: int = Field(default=0, ge=0)


class Incentive(Strict):
    """The payment for taking part.

    Attributes
    ----------
    text : a text that is shown after consent, with {base}, {per_solved}, {per_correct} and
        {per_above_chance} in it, amounts in `currency`; a paragraph with an amount that the
        participant cannot earn is left out. Before photos that are judged {options} are the classes
        to choose from and {chance} what guessing gets right, in percent.
    currency : the sign or letters before amounts, such as $ or €.
    base : for taking part.
    per_solved : for a reconstruction question that was solved.
    per_correct : for a single-dimension question that was answered correctly, without practice.
    per_above_chance : for each photo that was answered correctly beyond the number that guessing
        would get right
        (paper 003, figures A11 to A13 and A15).
    """

    model_config = ConfigDict(allow_inf_nan=False)

    text: str
    currency: str = Field(default="$", max_length=5, pattern=CURRENCY)
    base: float = Field(default=0.0, ge=0)
    per_solved: float = Field(default=0.0, ge=0)
    per_correct: float = Field(default=0.0, ge=0)
    per_above_chance: float = Field(default=0.0, ge=0)

    def bonus(self, solved: int, correct: int, above_chance: float = 0.0) -> float:
        """What is paid beyond the base, to the cent; above_chance: see `inclusion.Achieved`."""
        return to_the_cent(
            (self.per_solved, solved),
            (self.per_correct, correct),
            (self.per_above_chance, above_chance),
        )

    def amount(self, value: float) -> str:
        """An amount for people, such as $3.75."""
        return amount(self.currency, value)


def to_the_cent(*counted: tuple[float, float]) -> float:
    """The sum of amounts, each so many times: of the decimals as they are written, half a cent
    rounded up, in the participant's favour."""
    exact = sum((Decimal(str(each)) * Decimal(str(times)) for each, times in counted), Decimal(0))
    return float(exact.quantize(CENT, ROUND_HALF_UP))


def amount(currency: str, value: float) -> str:
    """An amount for people, such as $3.75; $0.125 where a study pays by less than a cent."""
    exact = Decimal(str(value)).normalize()
    return f"{currency}{exact.quantize(CENT) if exact == exact.quantize(CENT) else exact:f}"
