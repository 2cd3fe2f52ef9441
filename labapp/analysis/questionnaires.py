"""Answers to questionnaires, and their scores as the plan declares them: folds over the events of
one session, and the rows of the two tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labapp.analysis.inclusion import Given, values_of
from labapp.analysis.task_records import Row
from labapp.analysis.walk import Parts
from labapp.base.clock import NS
from labapp.record.events import Event, Payload
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import PartStarted
from labapp.record.events.questionnaires import QuestionnaireSubmitted, ResponseChanged
from labapp.study.instruments.asking import cells_of, form_of
from labapp.study.instruments.scoring import Score, as_answered, declared
from labapp.study.plugins.part import Questionnaire

PASSED, FAILED = "passed", "failed"
"""What became of an attention check."""


@dataclass(slots=True)
class AnswerRecord:
    """One item as answered in one part. first and value are the first response and the one that
    counts; times are working seconds since the questionnaire was shown; changes counts the
    responses after the first; asked is False of an item that its conditions left out as the
    questionnaire was submitted: no value of it counts, and it may have no response."""

    part: str
    instrument: str
    item: str
    first: Any
    value: Any
    first_s: float | None
    last_s: float | None
    changes: int = 0
    instrument_version: int | None = None
    submitted_s: float | None = None
    asked: bool = True


@dataclass(slots=True)
class _Sheet:
    shown_ns: int = 0
    answers: dict[tuple[str, str], AnswerRecord] = field(default_factory=dict)


def fold_answers(events: Iterable[tuple[Event, Payload]]) -> list[AnswerRecord]:
    """Every item that was answered, submitted or not, in the order of the first responses; behind
    them the others that were not asked."""
    pauses = Pauses()
    sheets: dict[str, _Sheet] = {}
    for event, payload in events:
        pauses = pauses.apply(event)
        if event.part_id is None:
            continue
        working = pauses.working_ns(event.t_ns)
        if isinstance(payload, PartStarted):
            sheets.setdefault(event.part_id, _Sheet(working))
        elif isinstance(payload, ResponseChanged):
            sheet = sheets.setdefault(event.part_id, _Sheet(working))
            at_s = (working - sheet.shown_ns) / NS
            key = (payload.instrument, payload.item)
            if (known := sheet.answers.get(key)) is None:
                sheet.answers[key] = AnswerRecord(
                    event.part_id,
                    payload.instrument,
                    payload.item,
                    payload.value,
                    payload.value,
                    at_s,
                    at_s,
                )
            else:
                known.value, known.last_s = payload.value, at_s
                known.changes += 1
        elif isinstance(payload, QuestionnaireSubmitted):
            sheet = sheets.setdefault(event.part_id, _Sheet(working))
            _submit(sheet, event.part_id, payload, (working - sheet.shown_ns) / NS)
    return [answer for sheet in sheets.values() for answer in sheet.answers.values()]


def _submit(sheet: _Sheet, part: str, payload: QuestionnaireSubmitted, at_s: float) -> None:
    for item, value in payload.answers.items():
        answer = sheet.answers.setdefault(
            (payload.instrument, item),
            AnswerRecord(part, payload.instrument, item, value, value, at_s, at_s),
        )
        answer.value = value
        answer.instrument_version = payload.instrument_version
        answer.submitted_s = at_s
    for item in payload.not_asked:
        left_out = sheet.answers.setdefault(
            (payload.instrument, item),
            AnswerRecord(part, payload.instrument, item, None, None, None, None),
        )
        left_out.value, left_out.asked = None, False
        left_out.instrument_version = payload.instrument_version


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One score of one submitted questionnaire; about: the part it asks about, None for the whole
    session; declared: its rule; None for an answer as it is."""

    part: str
    about: str | None
    instrument: str
    instrument_version: int | None
    score: str
    value: float
    declared: Score | None


def fold_scores(
    answers: Sequence[AnswerRecord], parts: Parts, at_least: int | None = None
) -> list[ScoreRecord]:
    """The scores of every submitted questionnaire, in the order of the plan. at_least: how
    many items of a scale the study wants answered.

    A weighted mean stands with the scores that it weighs: by weights about the same stage, or else
    by those about the whole session.
    """
    submitted: dict[str, list[AnswerRecord]] = {}
    for answer in answers:
        if answer.submitted_s is not None:
            submitted.setdefault(answer.part, []).append(answer)
    declarations: dict[str, Mapping[str, Score]] = {}
    scores: dict[str, dict[str, float]] = {}
    for part_id, asked in parts.questionnaires.items():
        scoring = declared(asked.scoring)
        if scoring is None or part_id not in submitted:
            continue
        given = {answer.item: answer.value for answer in submitted[part_id]}
        if isinstance(scoring, str):
            rated = {item: value for item, value in given.items() if item not in asked.checks}
            declarations[part_id], scores[part_id] = {}, as_answered(rated)
            continue
        declarations[part_id] = scoring
        values = {name: score.of(given, at_least) for name, score in scoring.items()}
        scores[part_id] = {name: value for name, value in values.items() if value is not None}
    for part_id, scoring in declarations.items():
        for name, score in scoring.items():
            about = parts.questionnaires[part_id].about
            value = score.weighed(scores[part_id], _weights(scores, score, parts, about))
            if value is not None:
                scores[part_id][name] = value
    return [
        ScoreRecord(
            part_id,
            about,
            parts.questionnaires[part_id].instrument,
            submitted[part_id][0].instrument_version,
            base,
            value,
            declarations[part_id].get(name),
        )
        for part_id, values in scores.items()
        for name, value in values.items()
        for base, about in (_asked(part_id, name, parts),)
    ]


def _asked(part_id: str, item: str, parts: Parts) -> tuple[str, str | None]:
    """An item by its id in the questionnaire, and the part that it asks about; None for the whole
    session. One that is asked once a stage has the stage's number behind its id."""
    asked = parts.questionnaires.get(part_id)
    if asked is None:
        return item, None
    base, _, number = item.rpartition("_")
    if base in asked.per_stage and number.isdigit() and int(number) in parts.stages:
        return base, parts.stages[int(number)][0].id
    return item, asked.about


def given_answers(answers: Sequence[AnswerRecord], parts: Parts) -> Iterator[Given]:
    """The submitted answers as rules of exclusion judge them, by the ids of the questionnaire."""
    for answer in answers:
        if answer.submitted_s is None:
            continue
        part = parts.questionnaires.get(answer.part)
        kind = "" if part is None else part.kinds.get(answer.item, "")
        item, _ = _asked(answer.part, answer.item, parts)
        yield Given(answer.instrument, item, values_of(cells_of(answer.value, kind).get("")))


def _weights(
    scores: Mapping[str, Mapping[str, float]], score: Score, parts: Parts, about: str | None
) -> Mapping[str, float]:
    """The weights for scores about a stage; empty where they were not asked."""
    wanted = set(score.weighted.values())
    for place in (about, None):
        for part_id, asked in parts.questionnaires.items():
            weights = scores.get(part_id, {})
            if asked.about == place and wanted <= weights.keys():
                return weights
    return {}


def _about(about: str | None, parts: Parts) -> Row:
    stage = parts.with_trials.get(about) if about is not None else None
    return {"about": about, "model": None if stage is None else stage.model}


def score_row(score: ScoreRecord, parts: Parts) -> Row:
    """The columns of the table of scores."""
    rule = score.declared
    return {
        "stage": score.part,
        **_about(score.about, parts),
        "instrument": score.instrument,
        "instrument_version": score.instrument_version,
        "score": score.score,
        "value": score.value,
        "low": None if rule is None else rule.low,
        "high": None if rule is None else rule.high,
        "meaning": "the answer as it is" if rule is None else rule.meaning,
    }


def answer_row(answer: AnswerRecord, parts: Parts, listed: Sequence[str] = ()) -> Row:
    """The columns of the table of answers. listed: the items as the questionnaire lists them."""
    part = parts.questionnaires.get(answer.part)
    kind = "" if part is None else part.kinds.get(answer.item, "")
    cells, first_cells = cells_of(answer.value, kind), cells_of(answer.first, kind)
    value, value_text = _number_or_text(cells, answer.value)
    first, first_text = _number_or_text(first_cells, answer.first)
    order = (part and part.items) or listed
    return {
        "stage": answer.part,
        **_about(_asked(answer.part, answer.item, parts)[1], parts),
        "instrument": answer.instrument,
        "instrument_version": answer.instrument_version,
        "about_person": part and part.about_person,
        "item": answer.item,
        "place": order.index(answer.item) + 1 if answer.item in order else None,
        "kind": form_of(answer.value, kind),
        "value": value,
        "value_text": value_text,
        "asked": answer.asked,
        "check": _passed(answer, part),
        "touched": cells.get("touched"),
        "described": cells.get("described") or None,
        "first_value": first,
        "first_value_text": first_text,
        "changes": answer.changes,
        "first_s": answer.first_s,
        "last_s": answer.last_s,
        "submitted_s": answer.submitted_s,
        "submitted": answer.submitted_s is not None,
    }


def _passed(answer: AnswerRecord, part: Questionnaire | None) -> str | None:
    """Whether an attention check was passed; None of anything else, and before it is submitted."""
    if part is None or answer.item not in part.checks or answer.submitted_s is None:
        return None
    cell = cells_of(answer.value, part.kinds.get(answer.item, "")).get("")
    return PASSED if cell in part.checks[answer.item] else FAILED


def passed_checks(answers: Sequence[AnswerRecord], parts: Parts) -> list[str]:
    """What became of every attention check that was submitted."""
    told = (_passed(answer, parts.questionnaires.get(answer.part)) for answer in answers)
    return [passed for passed in told if passed is not None]


def _number_or_text(cells: Row, answer: Any) -> tuple[float | None, str | None]:
    """The value of an answer; one with cells that the table has no column for is told whole."""
    value = cells.get("")
    whole = bool(cells.keys() - {"", "touched", "described"})
    number: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if whole:
        return number, json.dumps(answer, ensure_ascii=False)
    if number is not None or value is None:
        return number, None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return None, text or None
