"""How a simulated participant is interviewed."""

from __future__ import annotations

from labapp.study.plugins.simulated import Actor
from labapp.tasks.interview.events import AskQuestion, EndInterview
from labapp.tasks.interview.plan import InterviewPart


class Interviewee(Actor[InterviewPart]):
    """Nobody moderates: each question is asked once, and then the interview is over."""

    def act(self) -> None:
        asked = len(self.state.asked)
        ask = asked < len(self.part.questions)
        command = AskQuestion(asked + 1) if ask else EndInterview()
        self.participant.send(command, self.participant.pace.read_s)
