"""What a bundle has of the interview."""

from __future__ import annotations

from labapp.record.events.lifecycle import NoteCorrected
from labapp.study.plugins.bids import CourseRow
from labapp.tasks.interview.events import QuestionAsked

COURSE = (
    CourseRow(
        QuestionAsked.kind,
        "The moderator asked a question of the interview's guide; value is its number, text its "
        "words.",
        lambda payload: {"value": payload.question, "text": payload.text},
        behind=NoteCorrected.kind,
    ),
)
