"""Surveys of another tool as a task type, and how a simulated participant passes them."""

from __future__ import annotations

from collections.abc import Iterator

from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.plugins.simulated import Actor
from labapp.tasks.survey.events import FinishSurvey, OpenSurvey
from labapp.tasks.survey.machine import (
    SurveyItem,
    SurveyMachine,
    SurveyPart,
    of_session,
    of_variables,
)

OPENED_BY = {
    "button": "opened with a button on this computer",
    "qr-code": "opened with a QR code on the participant's phone",
    "both": "opened with a button on this computer or a QR code on the participant's phone",
}


class Survey(TaskType[SurveyPart]):
    name = "survey"
    own_words = ("survey*",)
    parts = (SurveyPart,)
    screens = "labapp.tasks.survey.screen:SurveyScreen"
    actors = "labapp.tasks.survey.task:SurveyRespondent"
    moderator = "labapp.tasks.survey.moderator:SurveyWords"
    told_elsewhere = ("survey.shown", "survey.opened", "survey.returned")
    items = (SurveyItem,)
    course = "labapp.tasks.survey.bids:COURSE"

    def plan(
        self, item: SurveyItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[SurveyPart]:
        yield SurveyPart(
            id=planner.new_id("survey", numbered=True),
            title="Survey",
            document=planner.text(item.survey, scope),
            link=of_variables(item.link, scope),
            open_with=item.open_with,
        )

    def machine(self, part: SurveyPart, index: int, context: MachineContext) -> SurveyMachine:
        return SurveyMachine(part, index, of_session(part.link, context.planned))

    def summary(self, part: SurveyPart) -> str:
        return f"{OPENED_BY[part.open_with]}: {part.link}"


TASK = Survey()


class SurveyRespondent(Actor[SurveyPart]):
    """Opens nothing, and says that it has finished: no survey gets answers of a simulation."""

    def act(self) -> None:
        pace = self.participant.pace.read_s
        if self.part.open_with != "qr-code" and not (self.state.opened or self.state.failed):
            self.participant.send(OpenSurvey(opened=False), pace)
        else:
            self.participant.send(FinishSurvey(), pace)
