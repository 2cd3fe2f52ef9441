"""What the moderator's windows say of a survey of another tool."""

from __future__ import annotations

from typing import Any

from labapp.study.plugins.machine import PartMachine
from labapp.tasks.survey.machine import SurveyPart
from labapp.ui.language import N_, tr
from labapp.ui.moderator.wording import PartWords

WAYS = {
    "button": N_("survey.by_button"),
    "qr-code": N_("survey.by_code"),
    "both": N_("survey.by_both"),
}
SHORT = {
    "button": N_("survey.button"),
    "qr-code": N_("survey.code"),
    "both": N_("survey.button_or_code"),
}


class SurveyWords(PartWords[SurveyPart]):
    panel = "labapp.tasks.survey.beside:SurveyPanel"

    def progress(self, part: SurveyPart, machine: PartMachine[Any], state: Any) -> str:
        return tr("survey.opened_word") if state.opened else ""

    def detail(self, part: SurveyPart, *, blind: bool) -> str:
        return tr(SHORT[part.open_with])
