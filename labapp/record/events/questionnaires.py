"""Kinds of questionnaires: answers as they are given, and as they are left."""

from __future__ import annotations

from typing import Any

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Whole, Word


@kind("response.changed", durable=True)
class ResponseChanged(Payload):
    """An answer to an item of a questionnaire was given or changed; the last one counts.

    Attributes
    ----------
    instrument, item : the ids of both.
    value : the number of a rating; a written answer's text, as it was when it was kept; or the ids
        of the chosen options, as `chosen`, with what was written beside one of them, as
        `described`.
    """

    instrument: Word
    item: Word
    value: Any


@kind("questionnaire.submitted", durable=True)
class QuestionnaireSubmitted(Payload):
    """The participant left a questionnaire with these answers.

    Attributes
    ----------
    instrument, instrument_version : the questionnaire's id and version.
    answers : by item, as in response.changed.
    not_asked : the items that their conditions left out, in the order of the questionnaire; what
        was answered in one of them before is not among the answers. Left out where there are none.
    """

    instrument: Word
    instrument_version: Whole
    answers: dict[str, Any]
    not_asked: tuple[Word, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Without what most questionnaires have nothing of: as it always was."""
        fields = super().as_dict()
        if not self.not_asked:
            del fields["not_asked"]
        return fields
