"""Interviews as a task type, and how a simulated participant answers."""

from __future__ import annotations

from collections.abc import Iterator

from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.plugins.simulated import Actor
from labapp.tasks.interview.events import AskQuestion, EndInterview
from labapp.tasks.interview.machine import InterviewItem, InterviewPart, InterviewTask


class Interview(TaskType[InterviewPart]):
    name = "interview"
    own_words = ("interview*", "consent_interview*")
    parts = (InterviewPart,)
    screens = "labapp.tasks.interview.screen:InterviewScreen"
    actors = "labapp.tasks.interview.task:Interviewee"
    moderator = "labapp.tasks.interview.moderator:InterviewWords"
    told_elsewhere = ("interview.question_asked",)
    items = (InterviewItem,)
    course = "labapp.tasks.interview.bids:COURSE"

    def plan(
        self, item: InterviewItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[InterviewPart]:
        yield InterviewPart(
            id=planner.new_id("interview", numbered=True),
            title="Interview",
            document=planner.text(item.interview, scope),
            questions=item.guide(planner.study.language),
        )

    def machine(self, part: InterviewPart, index: int, context: MachineContext) -> InterviewTask:
        return InterviewTask(part, index)

    def summary(self, part: InterviewPart) -> str:
        guide = f"a guide of {len(part.questions)} questions" if part.questions else "no guide"
        return f"{guide}, until the moderator ends it"


TASK = Interview()


class Interviewee(Actor[InterviewPart]):
    """Nobody moderates: each question is asked once, and then the interview is over."""

    def act(self) -> None:
        asked = len(self.state.asked)
        ask = asked < len(self.part.questions)
        command = AskQuestion(asked + 1) if ask else EndInterview()
        self.participant.send(command, self.participant.pace.read_s)
