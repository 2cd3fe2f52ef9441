"""How a simulated participant consents."""

from __future__ import annotations

from labapp.study.plugins.simulated import Actor
from labapp.tasks.consent.plan import ConsentPart


class Signer(Actor[ConsentPart]):
    def act(self) -> None:
        self.participant.consent()
        self.participant.later(self.participant.pace.read_s)
