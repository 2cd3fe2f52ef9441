"""The kind of the interview: what was asked, and when."""

from __future__ import annotations

from labapp.events.moderation import GuideQuestion
from labapp.events.registry import kind


@kind("interview.question_asked", durable=True)
class QuestionAsked(GuideQuestion):
    """The moderator asked a question of the interview's guide."""

    question: int
    text: str
