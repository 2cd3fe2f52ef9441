"""Answers to questionnaires: a fold over the events of one session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from labapp.clock import NS
from labapp.events import Body, Event
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartStarted
from labapp.tasks.questionnaire.events import QuestionnaireSubmitted, ResponseChanged


@dataclass(slots=True)
class AnswerRecord:
    """One item as answered in one part. first and value are the first response and the one that
    counts; times are working seconds since the questionnaire was shown; changes counts the
    responses after the first."""

    part: str
    instrument: str
    item: str
    first: Any
    value: Any
    first_s: float
    last_s: float
    changes: int = 0
    instrument_version: int | None = None
    submitted_s: float | None = None


@dataclass(slots=True)
class _Sheet:
    shown_ns: int = 0
    answers: dict[tuple[str, str], AnswerRecord] = field(default_factory=dict)


def fold_answers(events: Iterable[tuple[Event, Body]]) -> list[AnswerRecord]:
    """Every item that was answered, submitted or not, in the order of the first responses."""
    pauses = Pauses()
    sheets: dict[str, _Sheet] = {}
    for event, body in events:
        pauses = pauses.apply(event)
        if event.stage is None:
            continue
        working = pauses.working_ns(event.t_ns)
        if isinstance(body, PartStarted):
            sheets.setdefault(event.stage, _Sheet(working))
        elif isinstance(body, ResponseChanged):
            sheet = sheets.setdefault(event.stage, _Sheet(working))
            _respond(sheet, event.stage, body, (working - sheet.shown_ns) / NS)
        elif isinstance(body, QuestionnaireSubmitted):
            sheet = sheets.setdefault(event.stage, _Sheet(working))
            _submit(sheet, event.stage, body, (working - sheet.shown_ns) / NS)
    return [answer for sheet in sheets.values() for answer in sheet.answers.values()]


def _respond(sheet: _Sheet, part: str, body: ResponseChanged, at_s: float) -> None:
    key = (body.instrument, body.item)
    if (known := sheet.answers.get(key)) is None:
        sheet.answers[key] = AnswerRecord(
            part, body.instrument, body.item, body.value, body.value, at_s, at_s
        )
    else:
        known.value, known.last_s = body.value, at_s
        known.changes += 1


def _submit(sheet: _Sheet, part: str, body: QuestionnaireSubmitted, at_s: float) -> None:
    for item, value in body.answers.items():
        answer = sheet.answers.setdefault(
            (body.instrument, item),
            AnswerRecord(part, body.instrument, item, value, value, at_s, at_s),
        )
        answer.value = value
        answer.instrument_version = body.instrument_version
        answer.submitted_s = at_s
