"""What of a study's own rules of exclusion does not fit its questionnaires and tasks, or would let
nobody or everybody fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from labapp.documents import dotted
from labapp.errors import StudyError
from labapp.study.design import ExcludeRule, Place, is_called
from labapp.study.flow import items_of
from labapp.study.instruments.items import Item
from labapp.study.instruments.scoring import declared
from labapp.study.loading import LoadedStudy
from labapp.study.plan import Plan

OF_EVERY_STUDY = frozenset({"completed", "practice_correct", "min_solved", "withdrawn", "by_hand"})
"""Reasons that labapp itself gives, and that no rule of a study can be called."""
Limits = tuple[float, float]


def exclusion_faults(loaded: LoadedStudy, plans: Sequence[Plan]) -> Iterator[StudyError]:
    """Every mistake in the rules, with its line. plans: of every condition."""
    asked = {name for item in items_of(loaded.study.flow) for name in item.instruments()}
    unread = asked - loaded.instruments.keys()
    for name, rule in loaded.study.exclude.items():
        at: Place = ("exclude", name)
        if name in OF_EVERY_STUDY:
            yield _fault(loaded, at, f"{name!r} is a reason that every study has", "Rename it.")
        of_answers = (rule.item, rule.score, rule.failed_checks_above)
        if unread and any(criterion is not None for criterion in of_answers):
            continue  # what cannot be read is told where it stands, and may have what is named
        if rule.item is not None:
            yield from _item(loaded, at, rule, rule.item)
        elif rule.score is not None:
            yield from _score(loaded, at, rule, rule.score)
        else:
            yield from _task(loaded, at, rule, plans)


def _item(loaded: LoadedStudy, at: Place, rule: ExcludeRule, measure: str) -> Iterator[StudyError]:
    items = {
        (instrument.id, item.id): item
        for instrument in loaded.instruments.values()
        for item in instrument.items
    }
    named = [item for (of, name), item in items.items() if is_called(measure, of, name)]
    if not named:
        known = ", ".join(dict.fromkeys(name for _, name in items)) or "none"
        what = f"no questionnaire of the flow has an item {measure!r}; there are: {known}"
        yield _fault(loaded, (*at, "item"), what, "Name one of these.")
        return
    if rule.below is not None or rule.above is not None:
        limits = [item.bounds() for item in named]
        yield from _limit(loaded, at, rule, measure, limits)
        return
    key = "answer" if rule.answer is not None else "answer_not"
    given = getattr(rule, key)
    for level in given if isinstance(given, tuple) else (given,):
        if not any(_possible(item, level) for item in named):
            what = f"{level!r} is no answer to {measure}; possible are: {_answers(named[0])}"
            yield _fault(loaded, (*at, key), what, "Give one of these.")


def _score(loaded: LoadedStudy, at: Place, rule: ExcludeRule, measure: str) -> Iterator[StudyError]:
    scores: dict[tuple[str, str], Limits | None] = {}
    for instrument in loaded.instruments.values():
        scoring = declared(instrument.planned_scores())
        if isinstance(scoring, str):
            scores |= {(instrument.id, item.id): item.bounds() for item in instrument.items}
        elif scoring is not None:
            scores |= {
                (instrument.id, name): (
                    -inf if score.low is None else score.low,
                    inf if score.high is None else score.high,
                )
                for name, score in scoring.items()
            }
    limits = [known for (of, name), known in scores.items() if is_called(measure, of, name)]
    if not limits:
        known = ", ".join(dict.fromkeys(name for _, name in scores)) or "none"
        what = f"no questionnaire of the flow has a score {measure!r}; there are: {known}"
        yield _fault(loaded, (*at, "score"), what, "Name one of these.")
        return
    yield from _limit(loaded, at, rule, measure, limits)


def _limit(
    loaded: LoadedStudy,
    at: Place,
    rule: ExcludeRule,
    measure: str,
    limits: Sequence[Limits | None],
) -> Iterator[StudyError]:
    """A limit for what is no number, or that nobody, or everybody, is beyond."""
    key = "below" if rule.below is not None else "above"
    numbers = [known for known in limits if known is not None]
    if not numbers:
        what = f"{measure} has no number that could be {key} another"
        yield _fault(loaded, (*at, key), what, "Use `answer` or `answer_not` with its options.")
        return
    low, high = min(known[0] for known in numbers), max(known[1] for known in numbers)
    limit = getattr(rule, key)
    nobody = limit <= low if key == "below" else limit >= high
    everybody = limit > high if key == "below" else limit < low
    if nobody or everybody:
        who = "nobody" if nobody else "everybody"
        what = f"{who} would fail: {measure} goes from {low:g} to {high:g}"
        yield _fault(loaded, (*at, key), what, "Give a number between these.")


def _task(
    loaded: LoadedStudy, at: Place, rule: ExcludeRule, plans: Sequence[Plan]
) -> Iterator[StudyError]:
    (key,) = rule.model_fields_set
    if key == "interrupted_s_above":
        return
    if key == "failed_checks_above":
        yield from _checks(loaded, (*at, key), rule.failed_checks_above or 0, plans)
        return
    parts = [part for plan in plans for part in plan.parts if part.measures]
    if not parts:
        yield _fault(loaded, (*at, key), "the flow has no stages with questions", "Leave it out.")
    elif key == "completion_rate_below" and not any(part.solvable for part in parts):
        what = "no stage of the flow has questions that can be solved"
        yield _fault(loaded, (*at, key), what, "Leave it out.")


def _checks(
    loaded: LoadedStudy, at: Place, limit: int, plans: Sequence[Plan]
) -> Iterator[StudyError]:
    """More failed checks than are asked of anybody."""
    asked = [
        sum(len(sheet.checks) for part in plan.parts if (sheet := part.questionnaire()) is not None)
        for plan in plans
    ]
    most = max(asked, default=0)
    items = (item for instrument in loaded.instruments.values() for item in instrument.items)
    if not most and any(item.right is not None for item in items):
        return  # asked in a session that is not the first
    if not most:
        what = "no questionnaire of the flow has an attention check"
        yield _fault(loaded, at, what, "Give an item `check: …`, its right answer.")
    elif limit >= most:
        what = f"nobody would fail: attention checks that are asked: {most}"
        yield _fault(loaded, at, what, "Give a smaller number.")


def _possible(item: Item, level: object) -> bool:
    bounds, options = item.bounds(), item.offered()
    if options:
        return str(level) in options
    if bounds is None:
        return True
    try:
        number = float(str(level))
    except ValueError:
        return False
    return number.is_integer() and bounds[0] <= number <= bounds[1]


def _answers(item: Item) -> str:
    bounds = item.bounds()
    if bounds is not None:
        return f"whole numbers from {bounds[0]} to {bounds[1]}"
    return ", ".join(item.offered()) or "any text"


def _fault(loaded: LoadedStudy, place: Place, what: str, todo: str) -> StudyError:
    return StudyError.at(loaded.path, loaded.located.line(place), dotted(place), what, todo)
