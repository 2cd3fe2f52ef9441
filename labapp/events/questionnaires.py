"""Kinds of questionnaires: answers as they are given, and as they are left."""

from __future__ import annotations

from typing import Any

from labapp.events.registry import Payload, kind


@kind("response.changed", durable=True)
class ResponseChanged(Payload):
    """An answer to an item of a questionnaire was given or changed; the last one counts. value: the
    number of a rating; a written answer's text, as it was when it was kept; or the ids of the
    chosen options, as `chosen`, with what was written beside one of them, as `described`."""

    instrument: str
    item: str
    value: Any


@kind("questionnaire.submitted", durable=True)
class QuestionnaireSubmitted(Payload):
    """The participant left a questionnaire with these answers by item."""

    instrument: str
    instrument_version: int
    answers: dict[str, Any]
