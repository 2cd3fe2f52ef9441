"""What a study file may say of questionnaires."""

from __future__ import annotations

from typing import ClassVar

from labapp.study.plugins.item import Item


class QuestionnaireItem(Item):
    """A questionnaire.

    Attributes
    ----------
    questionnaire : its id: a file of that name in `instruments/` beside the study, or a shipped
        one.
    above : a text above the questions. It may hold {method}, {accuracy} and, behind a task that
        judges explanations, what the participant achieved in it.
    """

    key: ClassVar[str] = "questionnaire"
    questionnaire: str
    above: str | None = None

    def texts(self) -> tuple[str, ...]:
        return () if self.above is None else (self.above,)

    def instruments(self) -> tuple[str, ...]:
        return (self.questionnaire,)
