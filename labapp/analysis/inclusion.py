"""Whether one session counts, what was achieved in it, and what it earned: a fold over its events.

What the session decided at its end is taken as it is, unless the participant withdrew later. A
session without a decision was recorded by an older program, or has not come to its end; it is
judged by the default rule: it was completed.

Also which of a study's own rules of exclusion a session fails, judged by the rows of its tables, so
that anyone who has the tables can work out the same.

An answer that was not given, or that a de-identified copy withholds, fails no rule; what the
session decided at its end stands beside what is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import Any

from labapp.analysis.declared import own_rules
from labapp.analysis.task_records import Row
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PaymentComputed,
    SessionCompleted,
    SessionEnded,
    SessionPlanned,
    SessionReopened,
)
from labapp.record.journal.decisions import Decision
from labapp.study.design import SKIPPED, SOLVED, ExcludeRule, Level
from labapp.study.inclusion import Achieved, Inclusion, Tally, decide, sum_achievements
from labapp.study.instruments.asking import own_name
from labapp.study.measures import is_called
from labapp.study.plugins import registry
from labapp.study.when import settle

WITHDRAWN = "withdrawn"
BY_HAND = "by_hand"
SESSIONS = "sessions"
RULES = {
    "completed": "the session was not completed, or the moderator skipped one of its stages",
    "practice_correct": "a practice question was not answered correctly",
    "min_solved": "too few questions were solved",
    WITHDRAWN: "the participant withdrew",
    BY_HAND: "the researcher excluded the session, with a reason",
    SESSIONS: "the participant has not completed as many sessions as the study needs",
}
"""Why a session may not count in any study, and what that means."""


def rule_words(declared: Iterable[str]) -> dict[str, str]:
    """What it means not to meet each rule: those of every study, then the studies' own.

    declared: JSON of what studies declare (`labapp.analysis.declared.format_declaration`).
    """
    return RULES | own_rules(declared)


_KINDS = (
    *("session.planned", "session.completed", "session.ended", "session.reopened"),
    *("inclusion.decided", "payment.computed"),
    *("part.started", "part.restarted", "part.ended", "part.skipped", "part.left_out"),
)
NOT_VARIABLES = frozenset({"number", "models", "stimuli", "sets", "manifests"})
"""Entries of an assignment that are no variables of the study."""
SLOT = "slot"
"""The place of a participant in a declared design, which its other entries tell in full."""


@dataclass(frozen=True, slots=True)
class InclusionStatus:
    """Whether a session counts, what was achieved in it, and what was earned.

    failed: names of the rules that are not met, also if a decision by hand lets the session
    count all the same; decision: that decision, None if there is none; payment: None in a study
    that pays nothing, and where the session has no end.
    """

    included: bool
    failed: tuple[str, ...]
    achieved: Achieved
    payment: PaymentComputed | None
    decision: Decision | None = None

    @property
    def reason(self) -> str:
        """Of the decision by hand; empty without one."""
        return "" if self.decision is None else self.decision.reason

    def decided(self, decision: Decision | None) -> InclusionStatus:
        """The same after a decision by hand, which stands over the rules. Who withdrew does not
        count whatever was decided."""
        if decision is None:
            return self
        failed = self.failed if decision.included else (*self.failed, BY_HAND)
        included = decision.included and WITHDRAWN not in failed
        return replace(self, included=included, failed=failed, decision=decision)

    def failing(self, rules: Iterable[str]) -> InclusionStatus:
        """The same if the session fails rules that the study itself declares."""
        failed = tuple(dict.fromkeys((*self.failed, *rules)))
        return replace(self, included=self.included and failed == self.failed, failed=failed)


def inclusion_kinds() -> frozenset[str]:
    """The kinds of events that `fold_inclusion_status` looks at; others may be left out."""
    return frozenset((*_KINDS, *registry.list_score_readers()))


def fold_inclusion_status(
    events: Iterable[tuple[Event, Payload]], *, withdrawn: bool = False
) -> InclusionStatus:
    """Whether one session counts, and what was achieved and earned in it.

    events: all of the session, its plan first. withdrawn: whether the participant withdrew, even if
    only after the session decided.
    """
    left_later = withdrawn
    tally, plan = Tally(), tuple[Mapping[str, Any], ...]()
    decided: InclusionDecided | None = None
    payment: PaymentComputed | None = None
    completed = False
    for event, payload in events:
        tally = tally.apply(event, payload)
        match payload:
            case SessionPlanned():
                plan = payload.plan
            case InclusionDecided():
                decided = payload
            case PaymentComputed():
                payment = payload
            case SessionCompleted():
                completed = True
            case SessionEnded():
                withdrawn = withdrawn or bool(payload.withdrawal)
            case SessionReopened():
                decided = payment = None
                completed, withdrawn = False, left_later
    totals = sum_achievements([registry.read_part(row) for row in plan], tally)
    if decided is None:
        decided = decide(Inclusion(), totals, completed=completed, withdrawn=withdrawn)
    failed = tuple(decided.failed)
    if withdrawn and WITHDRAWN not in failed:
        failed = (*failed, WITHDRAWN)
    return InclusionStatus(decided.included and not withdrawn, failed, totals, payment)


def conditions(assignment: Mapping[str, Any]) -> str:
    """The variables of an assignment for people, such as `dimensions: 5; condition: a, b`."""
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in variables(assignment))


def variables(assignment: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The variables of an assignment: one value of those by number, the drawn cells of another."""
    return [
        (name, [str(item) for item in (value if isinstance(value, list | tuple) else [value])])
        for name, value in sorted(assignment.items())
        if name not in NOT_VARIABLES and not (name == SLOT and isinstance(value, list | tuple))
    ]


ENDED_BY_PARTICIPANT = frozenset({SOLVED, SKIPPED, "answered"})
"""The outcomes of questions that the participant ended, and whose time is therefore a response."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer as it is judged. values: its number or text, or each option that was chosen."""

    instrument: str
    item: str
    values: tuple[str | float, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What rules are judged by. trials, stages, scores: rows of the tables of these names;
    interrupted_s: seconds that were lost to stops of the program; failed_checks: attention checks
    that were failed; variables: of the study, as the participant has them."""

    given: Sequence[GivenAnswer]
    scores: Sequence[Row]
    trials: Sequence[Row]
    stages: Sequence[Row]
    interrupted_s: float
    failed_checks: int = 0
    variables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, Any]:
        """What conditions can name, each with its values."""
        known: dict[str, Any] = dict(self.variables)
        for each in self.given:
            name = own_name(each.instrument, each.item)
            known[name] = (*known.get(name, ()), *each.values)
        return known


def find_failed_rules(rules: Mapping[str, ExcludeRule], judged: Judged) -> tuple[str, ...]:
    """The names of the rules that are failed, in the order of the study."""
    return tuple(name for name, rule in rules.items() if _fails(rule, judged))


def values_of(cell: Any) -> tuple[str | float, ...]:
    """An answer's cell (`cells_of`) as it is judged: options that were chosen one by one."""
    if cell is None or cell == "":
        return ()
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return (float(cell),)
    return tuple(str(cell).split(";"))


def response_times(trials: Iterable[Row]) -> Iterator[float]:
    """Seconds to the response of every question of stages that counts and that the participant
    ended, with the keyboard at hand."""
    for row in trials:
        if row["role"] != "stage" or row["excluded"] or row["keyboard_away"]:
            continue
        if row["outcome"] not in ENDED_BY_PARTICIPANT:
            continue
        seconds = row.get("response_s")
        seconds = row.get("duration_s") if seconds is None else seconds
        if seconds is not None:
            yield float(seconds)


def completion_rate(stages: Iterable[Row]) -> float | None:
    """The share of questions that were solved, 0 to 1: the mean of the stages' rates."""
    rates = [float(rate) for row in stages if (rate := row.get("completion_rate")) is not None]
    return fmean(rates) if rates else None


def _fails(rule: ExcludeRule, judged: Judged) -> bool:
    if rule.only_if and settle(rule.only_if, judged.known) is not True:
        return False
    if rule.when:
        return settle(rule.when, judged.known) is True
    if rule.item is not None:
        answers = [
            each for each in judged.given if is_called(rule.item, each.instrument, each.item)
        ]
        return any(_of_answer(rule, answer.values) for answer in answers)
    if rule.score is not None:
        rows = (
            r for r in judged.scores if is_called(rule.score or "", r["instrument"], r["score"])
        )
        return any(_beyond(rule, (row["value"],)) for row in rows)
    if rule.interrupted_s_above is not None:
        return judged.interrupted_s > rule.interrupted_s_above
    if rule.failed_checks_above is not None:
        return judged.failed_checks > rule.failed_checks_above
    if rule.completion_rate_below is not None:
        rate = completion_rate(judged.stages)
        return rate is not None and rate < rule.completion_rate_below
    times = list(response_times(judged.trials))
    if not times:
        return False
    if rule.median_response_s_below is not None:
        return median(times) < rule.median_response_s_below
    assert rule.median_response_s_above is not None
    return median(times) > rule.median_response_s_above


def _of_answer(rule: ExcludeRule, values: Sequence[str | float]) -> bool:
    if not values:
        return False
    if rule.answer is not None:
        return any(same(level, value) for level in _levels(rule.answer) for value in values)
    if rule.answer_not is not None:
        allowed = _levels(rule.answer_not)
        return not all(any(same(level, value) for level in allowed) for value in values)
    return _beyond(rule, values)


def _beyond(rule: ExcludeRule, values: Iterable[Any]) -> bool:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    below, above = rule.below, rule.above
    return any(
        (below is not None and number < below) or (above is not None and number > above)
        for number in numbers
    )


def _levels(levels: Level | tuple[Level, ...]) -> tuple[Level, ...]:
    return levels if isinstance(levels, tuple) else (levels,)


def same(level: Level, value: str | float) -> bool:
    """Whether an answer is the one that a study file writes, as a number or as a text."""
    wanted, answered = _number(level), _number(value)
    if wanted is not None and answered is not None:
        return wanted == answered
    return str(level) == str(value)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
