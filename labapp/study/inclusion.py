"""Whether a session counts in the analysis: a fold over its events, and the study's rules on it.

The session decides with this at its end and writes the answer down; the analysis computes it again
only for a session that never came to an end, or that ended before sessions wrote it down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from labapp.events import Body, Event
from labapp.events.judging import PhotoJudged
from labapp.events.lifecycle import InclusionDecided, PartEnded
from labapp.events.single_dimension import AnswerGiven
from labapp.events.trials import TrialSolved
from labapp.events.unmasking import ResponseGiven
from labapp.study.judging import AGREEMENT, DISTINCTION, OUTPUT
from labapp.study.rules import Inclusion

Question = tuple[str, int]
"""The id of its part, and its number."""

BEGINS = frozenset({"part.started", "part.restarted"})
QUESTIONS = frozenset({"reconstruction", "single_dimension", "judging", "warm_up", "unmasking"})
"""Kinds of parts without which a session is not complete. Of a questionnaire that the moderator
skipped only the answers are missing."""
SCORED = (OUTPUT, DISTINCTION, AGREEMENT)
"""The questions about a photo that can be answered rightly by guessing: agreement in half of the
photos, the others in one of as many as there are classes to choose from."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was achieved so far. solved: reconstruction questions; correct: single-dimension
    questions answered rightly; judged: photo -> of its scored questions, whether the answer was
    right; outcomes: how each part ended, by its id; stimuli: masked pictures that got a response.

    A part that begins again counts from nothing: its former answers are kept in the journal only.
    """

    solved: frozenset[Question] = frozenset()
    correct: frozenset[Question] = frozenset()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    judged: Mapping[Question, Mapping[str, bool]] = field(default_factory=dict)
    stimuli: frozenset[Question] = frozenset()

    def apply(self, event: Event, body: Body) -> Tally:
        """The tally after an event; `body` is its typed body."""
        part = event.stage
        if part is None:
            return self
        if event.kind in BEGINS:
            return self._without(part)
        match body:
            case TrialSolved() if event.trial is not None:
                return replace(self, solved=self.solved | {(part, event.trial)})
            case AnswerGiven(correct=True) if event.trial is not None:
                return replace(self, correct=self.correct | {(part, event.trial)})
            case PhotoJudged() if event.trial is not None:
                scored = {name: body.right[name] for name in SCORED if name in body.right}
                return replace(self, judged={**self.judged, (part, event.trial): scored})
            case ResponseGiven() if event.trial is not None:
                return replace(self, stimuli=self.stimuli | {(part, event.trial)})
            case PartEnded():
                return replace(self, outcomes={**self.outcomes, part: body.outcome})
        return self

    def _without(self, part: str) -> Tally:
        return Tally(
            frozenset(question for question in self.solved if question[0] != part),
            frozenset(question for question in self.correct if question[0] != part),
            {name: outcome for name, outcome in self.outcomes.items() if name != part},
            {photo: right for photo, right in self.judged.items() if photo[0] != part},
            frozenset(stimulus for stimulus in self.stimuli if stimulus[0] != part),
        )


class Planned(NamedTuple):
    """What a part of the plan has to do with inclusion. role: stage, practice or nothing; options:
    the classes to choose from about a photo."""

    id: str
    kind: str
    role: str
    questions: int
    options: int = 4


def planned(rows: Sequence[Mapping[str, Any]]) -> tuple[Planned, ...]:
    """From the rows of `session.planned`."""
    return tuple(
        Planned(
            str(row["id"]),
            str(row["part"]),
            str(row.get("role", "")),
            len(row["asked"]) if "asked" in row else int(row.get("trials", 0)),
            _options(row),
        )
        for row in rows
    )


def _options(row: Mapping[str, Any]) -> int:
    """The classes to choose from: where the last two steps of a path are chosen, those at its four
    ends, whatever classes the set lists."""
    if row.get("task") == "path-distinction":
        return 4
    return max((len(photo["options"]) for photo in row.get("photos", ())), default=0) or 4


class Achieved(NamedTuple):
    """A tally in figures. solved, correct: questions of stages, practice not counted;
    practice_asked, practice_correct: questions of the single-dimension task's practice, as planned
    and of these answered rightly; stages_skipped: stages and practices that the moderator ended.
    photos: judged in stages; above_chance: of each scored question about them, the photos answered
    rightly beyond the number that guessing gets right, none where it is less, added up. stimuli:
    masked pictures of stages that got a response."""

    solved: int
    correct: int
    practice_asked: int
    practice_correct: int
    stages_skipped: int
    photos: int = 0
    above_chance: float = 0.0
    stimuli: int = 0


def achieved(plan: Sequence[Planned], tally: Tally) -> Achieved:
    """What a participant achieved. A question that was never asked counts as asked where the plan
    has it, so that a practice that the moderator skipped is not answered rightly."""
    stages = {part.id for part in plan if part.role == "stage"}
    practice = {
        part.id: part.questions
        for part in plan
        if part.kind == "single_dimension" and part.role == "practice"
    }
    needed = [part.id for part in plan if part.kind in QUESTIONS]
    return Achieved(
        sum(part in stages for part, _ in tally.solved),
        sum(part in stages for part, _ in tally.correct),
        sum(practice.values()),
        sum(part in practice for part, _ in tally.correct),
        sum(tally.outcomes.get(part) == "skipped" for part in needed),
        sum(part in stages for part, _ in tally.judged),
        float(sum(_above_chance(part, tally) for part in plan if part.role == "stage")),
        sum(part in stages for part, _ in tally.stimuli),
    )


def _above_chance(stage: Planned, tally: Tally) -> Fraction:
    """The photos of a stage answered rightly beyond what guessing gets right."""
    photos = [right for (part, _), right in tally.judged.items() if part == stage.id]
    beyond = Fraction(0)
    for question in SCORED:
        answers = [right[question] for right in photos if question in right]
        guessed = Fraction(len(answers), 2 if question == AGREEMENT else stage.options)
        beyond += max(Fraction(0), sum(answers) - guessed)
    return beyond


def decide(
    rules: Inclusion, found: Achieved, *, completed: bool, withdrawn: bool = False
) -> InclusionDecided:
    """The study's rules, on what was achieved. completed: the plan was gone through to its end.

    A participant who withdraws is excluded whatever the study says.
    """
    broken = {
        "completed": rules.completed and not (completed and found.stages_skipped == 0),
        "practice_correct": (
            rules.practice_correct and found.practice_correct < found.practice_asked
        ),
        "min_solved": found.solved < rules.min_solved,
        "withdrawn": withdrawn,
    }
    failed = tuple(name for name, fails in broken.items() if fails)
    return InclusionDecided(not failed, failed, found._asdict())
