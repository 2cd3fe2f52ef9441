"""Questionnaires as a task type, and their part of a study file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from labapp.study import media
from labapp.study.conditions import Scope
from labapp.study.instruments.items import Sound
from labapp.study.plan import QuestionnairePart
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.tasks.questionnaire.machine import QuestionnaireTask


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


class Questionnaire(TaskType[QuestionnairePart]):
    name = "questionnaire"
    parts = (QuestionnairePart,)
    screens = "labapp.tasks.questionnaire.screen.questionnaire:QuestionnaireScreen"
    actors = "labapp.tasks.questionnaire.simulated:Respondent"
    moderator = "labapp.tasks.questionnaire.moderator:QuestionnaireWords"
    told_elsewhere = (
        "response.changed",
        "check.answered",
        "sound.played",
        "questionnaire.submitted",
    )
    items = (QuestionnaireItem,)
    course = "labapp.tasks.questionnaire.bids:COURSE"

    def plan(
        self, item: QuestionnaireItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[QuestionnairePart]:
        part_id = planner.new_id("questionnaire", numbered=True)
        yield planner.ask(item.questionnaire, part_id, None, place, item.above)

    def machine(
        self, part: QuestionnairePart, index: int, context: MachineContext
    ) -> QuestionnaireTask:
        instrument = context.loaded.instruments[part.instrument]
        files = context.loaded.files
        others = {
            name: context.loaded.instruments[of].part(own)
            for item in instrument.items
            for name in item.piped
            for of, dot, own in (name.partition("."),)
            if dot
        }

        def seconds(sound: Sound) -> float:
            return media.decode_sound(files[sound.file]).seconds

        return QuestionnaireTask(part, index, instrument, seconds, others)

    def line(self, part: QuestionnairePart) -> str:
        return f"Questionnaire {part.instrument}"


TASK = Questionnaire()
