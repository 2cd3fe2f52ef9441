"""What questionnaires ask and how they are scored, for the tables: the items with their words,
ranges and conditions, and which items each scale is made of.

The words are those of the session's own copy of the questionnaire; the scales are those of its
plan, so that they are there where the copy is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from labapp.analysis.answered import study_document
from labapp.analysis.column import Column, number, text, whole, yes
from labapp.analysis.questionnaires import AnswerRecord
from labapp.analysis.task_records import Row
from labapp.analysis.walk import Parts
from labapp.base import resources
from labapp.base.errors import StudyError
from labapp.record.journal.layout import STUDY
from labapp.record.journal.record import Record
from labapp.study.conditions import listed as listed_values
from labapp.study.instruments import Instrument
from labapp.study.instruments.asking import kind_of
from labapp.study.instruments.scoring import declared
from labapp.study.plugins.part import Questionnaire

INSTRUMENT = (
    text("study", "id of the study"),
    text("instrument", "id of the questionnaire"),
    whole("instrument_version", "its version"),
)
ITEMS = (
    *INSTRUMENT,
    text("title", "what stands above the questionnaire, as participants read it"),
    text("language", "language of the words"),
    whole("listed", "place in the questionnaire as its file lists it, from 1"),
    text("item", "id of the item"),
    text("kind", "kind of item: scale, statement, slider, choice, choices, written, or another's"),
    text("text", "what participants read, in full"),
    text("heading", "the short heading above it"),
    number("low", "the lowest number that can be answered"),
    number("high", "the highest number that can be answered"),
    text("answers", "what stands at the numbers, or the options by their ids (JSON)"),
    text("reversed_in", "the scores that count it the other way round, with ; between them"),
    yes("once_a_stage", "it is asked once for each stage, with {stage} for its number"),
    yes("required", "nobody goes on without an answer"),
    text("check", "of an attention check the answers that pass it, with ; between them"),
    text("only_if", "for whom it is asked (JSON); empty: for everybody"),
    yes("identifying", "its answers can tell who somebody is"),
)
"""A row an item of a questionnaire that was asked, in each language."""
SCALES = (
    *INSTRUMENT,
    text("score", "name of the score"),
    text("rule", "how it is made of the items: mean or sum"),
    whole("n_items", "how many items it has"),
    whole("enough", "how many of them must be answered"),
    whole("listed", "place of the item in the score, from 1"),
    text("item", "id of the item"),
    yes("reversed", "it counts the other way round: low + high minus the answer"),
    number("low", "the lowest number that can be answered"),
    number("high", "the highest number that can be answered"),
    number("moved", "what is added to each answer as it counts"),
    number("times", "what the mean or sum is multiplied by"),
)
"""A row an item of each score that is a mean or sum of ratings."""
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


def item_rows(instruments: Iterable[Instrument], language: str) -> Iterator[Row]:
    """The items of questionnaires, as they are listed."""
    for instrument in instruments:
        scores = instrument.scores if isinstance(instrument.scores, dict) else {}
        for listed, item in enumerate(instrument.items, start=1):
            low, high = item.bounds() or (None, None)
            only_if = {name: listed_values(takes) for name, takes in item.only_if.items()}
            turned = [name for name, score in scores.items() if item.id in score.reverse]
            yield {
                "instrument": instrument.id,
                "instrument_version": instrument.version,
                "title": instrument.title or None,
                "language": language,
                "listed": listed,
                "item": item.id,
                "kind": kind_of(item),
                "text": item.text or item.title,
                "heading": item.name or None,
                "low": low,
                "high": high,
                "answers": _json(item.answer_words()),
                "reversed_in": ";".join(turned) or None,
                "once_a_stage": item.repeat is not None,
                "required": item.required,
                "check": ";".join(map(str, item.right_cells())) or None,
                "only_if": _json(only_if),
                "identifying": item.withheld,
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
        scoring = declared(asked.scoring)
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
