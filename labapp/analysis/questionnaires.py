"""Answers to questionnaires, and their scores as the plan declares them: folds over the events of
one session, and the rows of the two tables.

What questionnaires ask and how they are scored, for the tables: the items with their words,
ranges and conditions, and which items each scale is made of.

The words are those of the session's own copy of the questionnaire; the scales are those of its
plan, so that they are there where the copy is not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from labapp.analysis.answered import study_document
from labapp.analysis.column import Column, number, text, whole, yes
from labapp.analysis.inclusion import GivenAnswer, values_of
from labapp.analysis.task_records import Parts, Row
from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import StudyError
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import PageTurned, PartStarted
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import (
    CheckAnswered,
    QuestionnaireSubmitted,
    ResponseChanged,
    SoundPlayed,
)
from labapp.record.journal.layout import STUDY
from labapp.record.journal.record import Record
from labapp.study import when
from labapp.study.conditions import as_tuple as listed_values
from labapp.study.instruments import Instrument
from labapp.study.instruments.dont_know import is_unknown
from labapp.study.instruments.instrument import Score, as_answered, resolve_scoring
from labapp.study.instruments.items import check_cell
from labapp.study.instruments.kinds import by_parts, cells_of, form_of, kind_of
from labapp.study.plugins.part import Questionnaire

PASSED, FAILED = "passed", "failed"
"""What became of an attention check."""


@dataclass(slots=True)
class AnswerRecord:
    """One item as answered in one part. first and value are the first response and the one that
    counts; times are working seconds since the questionnaire was shown, but response_s, which is
    from the appearance of the item's page to the first response; attempts: how often a
    comprehension check was judged; plays: how often the item's sound was started, and heard whether
    it was heard to its end, None if it has none; changes counts the responses after the first;
    asked is False of an item that its conditions left out as the questionnaire was submitted: no
    value of it counts, and it may have no response."""

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
    attempts: int | None = None
    response_s: float | None = None
    plays: int | None = None
    heard: bool | None = None


@dataclass(slots=True)
class _Sheet:
    shown_ns: int = 0
    page_ns: int = 0
    answers: dict[tuple[str, str], AnswerRecord] = field(default_factory=dict)
    sounds: dict[tuple[str, str], dict[str, tuple[int, bool]]] = field(default_factory=dict)


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
            sheets.setdefault(event.part_id, _Sheet(working, working))
        elif isinstance(payload, PageTurned) and event.part_id in sheets:
            sheets[event.part_id].page_ns = working
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
                    response_s=(working - sheet.page_ns) / NS,
                )
            else:
                known.value, known.last_s = payload.value, at_s
                known.changes += 1
        elif isinstance(payload, SoundPlayed):
            sheet = sheets.setdefault(event.part_id, _Sheet(working))
            of_item = sheet.sounds.setdefault((payload.instrument, payload.item), {})
            heard = of_item.get(payload.option, (0, False))[1] or payload.action == "end"
            of_item[payload.option] = (payload.play, heard)
        elif isinstance(payload, CheckAnswered):
            sheet = sheets.setdefault(event.part_id, _Sheet(working))
            if (checked := sheet.answers.get((payload.instrument, payload.item))) is not None:
                checked.attempts = payload.attempt
        elif isinstance(payload, QuestionnaireSubmitted):
            sheet = sheets.setdefault(event.part_id, _Sheet(working))
            _submit(sheet, event.part_id, payload, (working - sheet.shown_ns) / NS)
    for sheet in sheets.values():
        for key, of_item in sheet.sounds.items():
            if (heard_of := sheet.answers.get(key)) is not None:
                heard_of.plays = sum(plays for plays, _ in of_item.values())
                heard_of.heard = all(was_heard for _, was_heard in of_item.values())
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
        scoring = resolve_scoring(asked.scoring)
        if scoring is None or part_id not in submitted:
            continue
        given: dict[str, Any] = {}
        for answer in submitted[part_id]:
            given |= by_parts(answer.item, answer.value, asked.kinds.get(answer.item, ""))
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
            value = score.weigh(scores[part_id], _weights(scores, score, parts, about))
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
        for base, about in (_locate_item(part_id, name, parts),)
    ]


def _locate_item(part_id: str, item: str, parts: Parts) -> tuple[str, str | None]:
    """An item by its id in the questionnaire, and the part that it asks about; None for the whole
    session. One that is asked once a stage has the stage's number behind its id."""
    asked = parts.questionnaires.get(part_id)
    if asked is None:
        return item, None
    base, _, number = item.rpartition("_")
    if base in asked.per_stage and number.isdigit() and int(number) in parts.stages:
        return base, parts.stages[int(number)][0].id
    return item, asked.about


def list_given_answers(answers: Sequence[AnswerRecord], parts: Parts) -> Iterator[GivenAnswer]:
    """The submitted answers as rules of exclusion judge them, by the ids of the questionnaire."""
    for answer in answers:
        if answer.submitted_s is None:
            continue
        part = parts.questionnaires.get(answer.part)
        kind = "" if part is None else part.kinds.get(answer.item, "")
        item, _ = _locate_item(answer.part, answer.item, parts)
        for name, cell in _values_by_part(cells_of(answer.value, kind)).items():
            yield GivenAnswer(answer.instrument, _join(item, name), values_of(cell))


def _weights(
    scores: Mapping[str, Mapping[str, float]], score: Score, parts: Parts, about: str | None
) -> Mapping[str, float]:
    """The weights for scores about a stage; empty if they were not asked."""
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


def _values_by_part(cells: Row) -> Row:
    """The values of an answer by the ids of its parts; under the empty name of an item that has
    one value."""
    return {"": cells.get("")} if "" in cells or not cells else cells


def _join(item: str, part: str) -> str:
    return f"{item}_{part}" if part else item


def answer_rows(answer: AnswerRecord, parts: Parts, listed: Sequence[str] = ()) -> Iterator[Row]:
    """The columns of the table of answers, a row for each value of an answer. listed: the items as
    the questionnaire lists them."""
    part = parts.questionnaires.get(answer.part)
    kind = "" if part is None else part.kinds.get(answer.item, "")
    cells, first_cells = cells_of(answer.value, kind), cells_of(answer.first, kind)
    row = _answer_row(answer, parts, part, kind, listed)
    for name in dict.fromkeys((*_values_by_part(cells), *_values_by_part(first_cells))):
        if not name and len(cells.keys() | first_cells.keys()) and "" not in cells | first_cells:
            continue  # of several values each has its row
        value, value_text = _number_or_text(cells, answer.value, name)
        first, first_text = _number_or_text(first_cells, answer.first, name)
        yield row | {
            "item": _join(answer.item, name),
            "value": value,
            "value_text": value_text,
            "dont_know": is_unknown(answer.value),
            "touched": cells.get("touched"),
            "described": cells.get("described") or None,
            "first_value": first,
            "first_value_text": first_text,
        }


def _answer_row(
    answer: AnswerRecord, parts: Parts, part: Questionnaire | None, kind: str, listed: Sequence[str]
) -> Row:
    """What the rows of an answer have in common, and room for the value."""
    order = (part and part.items) or listed
    return {
        "stage": answer.part,
        **_about(_locate_item(answer.part, answer.item, parts)[1], parts),
        "instrument": answer.instrument,
        "instrument_version": answer.instrument_version,
        "about_person": part and part.about_person,
        "item": answer.item,
        "place": order.index(answer.item) + 1 if answer.item in order else None,
        "kind": form_of(answer.value, kind),
        "value": None,
        "value_text": None,
        "asked": answer.asked,
        "check": _judge_check(answer, part),
        "check_attempts": answer.attempts,
        "plays": answer.plays,
        "heard": answer.heard,
        "dont_know": None,
        "touched": None,
        "described": None,
        "first_value": None,
        "first_value_text": None,
        "changes": answer.changes,
        "response_s": answer.response_s,
        "first_s": answer.first_s,
        "last_s": answer.last_s,
        "submitted_s": answer.submitted_s,
        "submitted": answer.submitted_s is not None,
    }


def _judge_check(answer: AnswerRecord, part: Questionnaire | None) -> str | None:
    """Whether a check was passed; None of anything else, and before it is submitted."""
    if part is None or answer.item not in part.checks or answer.submitted_s is None:
        return None
    cell = check_cell(cells_of(answer.value, part.kinds.get(answer.item, "")))
    return PASSED if cell in part.checks[answer.item] else FAILED


def judge_checks(answers: Sequence[AnswerRecord], parts: Parts) -> list[str]:
    """The outcome of every attention check that was submitted."""
    told = (_judge_check(answer, parts.questionnaires.get(answer.part)) for answer in answers)
    return [passed for passed in told if passed is not None]


def _number_or_text(cells: Row, answer: Any, name: str) -> tuple[float | None, str | None]:
    """A value of an answer by its name; an answer with cells that the table has no column for is
    told whole."""
    value = cells.get(name)
    whole = not name and bool(cells.keys() - {"", "touched", "described"})
    number: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if whole:
        return number, json.dumps(answer, ensure_ascii=False)
    if number is not None or value is None:
        return number, None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return None, text or None


INSTRUMENT = (
    text("study", "id of the study"),
    text("instrument", "id of the questionnaire"),
    whole("instrument_version", "its version"),
)
ITEMS = (
    *INSTRUMENT,
    text("title", "title above the questionnaire, as participants read it"),
    text("language", "language of the words"),
    whole("listed", "place in the questionnaire as its file lists it, from 1"),
    text("item", "id of the item"),
    text("kind", "kind of item, as its questionnaire says"),
    text("text", "what participants read, in full"),
    text("heading", "the short heading above it"),
    number("low", "the lowest number that can be answered"),
    number("high", "the highest number that can be answered"),
    text("answers", "labels of the numbers, or the options by their ids (JSON)"),
    text("reversed_in", "the scores in which it is reverse-scored, separated by ;"),
    yes("once_a_stage", "it is asked once for each stage, with {stage} for its number"),
    yes("required", "participants cannot continue without an answer"),
    text("check", "for an attention check: the answers that pass it, separated by ;"),
    whole("attempts", "how often a comprehension check may be answered"),
    text("only_if", "for whom it is asked (JSON); empty: for everybody"),
    yes("identifying", "its answers may identify people"),
    text("tags", "the tags that the questionnaire gives it, separated by ;"),
)
"""One row per item of a questionnaire that was asked, in each language."""
SCALES = (
    *INSTRUMENT,
    text("score", "name of the score"),
    text("rule", "how it is computed from the items: mean or sum"),
    whole("n_items", "how many items it has"),
    whole("enough", "how many of them must be answered"),
    whole("listed", "place of the item in the score, from 1"),
    text("item", "id of the item"),
    yes("reversed", "it is reverse-scored: low + high minus the answer"),
    number("low", "the lowest number that can be answered"),
    number("high", "the highest number that can be answered"),
    number("moved", "number added to each answer"),
    number("times", "what the mean or sum is multiplied by"),
)
"""One row per item of each score that is a mean or sum of ratings."""
TABLES: Mapping[str, tuple[Column, ...]] = {"items": ITEMS, "scales": SCALES}


def instruments_of(record: Record) -> dict[str, Instrument]:
    """The instruments in the record's study folder, by id, in the session's language."""
    folder = f"{STUDY}/instruments/"
    names = [name for name in record.tree.names() if name.startswith(folder)]
    language = record.planned.language
    # In which participants read what was not translated.
    fallback = study_document(record).get("fallback_language") if names else None
    fallback = fallback if isinstance(fallback, str) else None
    read = [_instrument(name, record.tree.read(name), language, fallback) for name in names]
    return {instrument.id: instrument for instrument in read}


@lru_cache(maxsize=64)
def _instrument(name: str, content: bytes, language: str, fallback: str | None) -> Instrument:
    """Read once: the sessions of a study all have the same files.

    Where a session was recorded before items declared whether they identify, and its instrument
    has the items of the shipped one word for word, the shipped declarations hold.
    """
    instrument = Instrument.parse(Path(name), content, language, fallback)
    shipped = resources.assets() / "instruments" / f"{instrument.id}.yaml"
    if not shipped.is_file() or all(item.identifying is not None for item in instrument.items):
        return instrument
    try:
        declares = Instrument.parse(shipped, shipped.read_bytes(), language, fallback).items
    except StudyError:  # a language of the study's own
        return instrument
    undeclared = tuple(item.model_copy(update={"identifying": None}) for item in declares)
    same = undeclared == instrument.items
    return instrument.model_copy(update={"items": declares}) if same else instrument


def _list_values(condition: Mapping[str, Any]) -> dict[str, Any]:
    """A condition with every value in a list."""
    made: dict[str, Any] = {}
    for name, wanted in condition.items():
        if name in (when.ANY, when.ALL):
            made[name] = [_list_values(each) for each in wanted]
        elif name == when.NOT:
            made[name] = _list_values(wanted)
        else:
            made[name] = wanted if isinstance(wanted, Mapping) else listed_values(wanted)
    return made


def item_rows(instruments: Iterable[Instrument], language: str) -> Iterator[Row]:
    """The items of questionnaires, as they are listed."""
    for instrument in instruments:
        scores = instrument.scores if isinstance(instrument.scores, dict) else {}
        for listed, item in enumerate(instrument.items, start=1):
            only_if = _list_values(item.only_if)
            for part in item.parts():
                low, high = (
                    None if math.isinf(end) else end for end in part.bounds() or (math.inf,) * 2
                )
                turned = [name for name, score in scores.items() if part.id in score.reverse]
                yield {
                    "instrument": instrument.id,
                    "instrument_version": instrument.version,
                    "title": instrument.title or None,
                    "language": language,
                    "listed": listed,
                    "item": part.id,
                    "kind": kind_of(item),
                    "text": part.text or part.title,
                    "heading": part.name or None,
                    "low": low,
                    "high": high,
                    "answers": _json(part.answer_words()),
                    "reversed_in": ";".join(turned) or None,
                    "once_a_stage": item.repeat is not None,
                    "required": item.required,
                    "check": ";".join(map(str, item.right_cells())) or None,
                    "attempts": item.comprehension and item.comprehension.attempts,
                    "only_if": _json(only_if),
                    "identifying": item.withheld,
                    "tags": ";".join(item.tags) or None,
                }


def _json(content: Mapping[str, object]) -> str | None:
    return json.dumps(content, ensure_ascii=False) if content else None


def scale_rows(
    answers: Iterable[AnswerRecord], parts: Parts, at_least: int | None
) -> Iterator[Row]:
    """The means and sums that the submitted questionnaires declare, item by item. at_least: how
    many items the study wants answered (`Score.enough`)."""
    submitted: dict[str, tuple[Questionnaire, int]] = {}
    for answer in answers:
        asked, version = parts.questionnaires.get(answer.part), answer.instrument_version
        if asked is not None and version is not None:
            submitted.setdefault(asked.instrument, (asked, version))
    for instrument, (asked, version) in submitted.items():
        scoring = resolve_scoring(asked.scoring)
        for name, score in scoring.items() if isinstance(scoring, Mapping) else ():
            if score.numbers is None or not (score.mean or score.sum):
                continue
            for listed, item in enumerate(score.ratings, start=1):
                yield {
                    "instrument": instrument,
                    "instrument_version": version,
                    "score": name,
                    "rule": score.rule_name,
                    "n_items": len(score.ratings),
                    "enough": score.enough(at_least),
                    "listed": listed,
                    "item": item,
                    "reversed": item in score.reverse,
                    "low": float(score.numbers[0]),
                    "high": float(score.numbers[1]),
                    "moved": float(score.ends[0] - score.numbers[0]),
                    "times": score.times,
                }
