"""Questionnaires on the participant's screen."""

from labapp.ui.participant.questionnaire.screen import QuestionnaireScreen

__all__ = ["QuestionnaireScreen"]
