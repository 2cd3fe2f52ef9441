"""What the moderator's windows say of the task."""

from __future__ import annotations

from labapp.ui.moderator.wording import PartWords
from labapp_counterfactual.plan import CounterfactualPart


class CounterfactualWords(PartWords[CounterfactualPart]):
    def subject(self, part: CounterfactualPart) -> str:
        return part.model
