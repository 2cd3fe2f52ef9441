"""What the moderator's windows say of the tasks that judge explanations."""

from __future__ import annotations

from collections.abc import Sequence

from labapp.plugins.part import PlannedPart
from labapp.tasks.judging.plan import JudgingPart, WarmUpPart
from labapp.ui.language import tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import PartWords


class JudgingWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        return method_and_set(part) if isinstance(part, JudgingPart) else ""

    def facts(self, parts: Sequence[PlannedPart]) -> str:
        return "".join(facts_judged(part) for part in parts if isinstance(part, JudgingPart))

    def noun(self, part: PlannedPart, number: int) -> str:
        if isinstance(part, WarmUpPart):
            return tr("Exercise {number}", number=number)
        return tr("Photo {number}", number=number)


def method_and_set(part: JudgingPart) -> str:
    """What a stage that judges explanations is about."""
    return tr("{method}, set {number}", method=part.explained.method, number=part.set)


def facts_judged(part: JudgingPart) -> str:
    """What is known of a stage that judges explanations, in one line."""
    explained = part.explained
    facts = [
        tr("stimulus set {id}", id=explained.stimuli),
        tr("{n} photos", n=len(part.photos)),
        tr("the model is right in {percent}", percent=wording.percent(explained.accuracy / 100)),
    ]
    if explained.colour_map:
        facts.append(tr("colours: {name}", name=explained.colour_map))
    if part.labels:
        facts.append(tr("the true class is told"))
    return "  ·  ".join(facts)
