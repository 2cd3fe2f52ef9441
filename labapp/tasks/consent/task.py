"""Consent as a task type, and how a simulated participant consents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.plugins.simulated import Actor
from labapp.tasks.consent.machine import ConsentItem, ConsentPart, ConsentTask


class Consent(TaskType[ConsentPart]):
    name = "consent"
    own_words = ("consent_*", "decline_*")
    parts = (ConsentPart,)
    screens = "labapp.tasks.consent.screen:ConsentScreen"
    actors = "labapp.tasks.consent.task:Signer"
    told_elsewhere = ("consent.given", "consent.declined")
    items = (ConsentItem,)
    course = "labapp.tasks.consent.bids:COURSE"

    def shows_word(self, item: ConsentItem, key: str) -> bool:
        if key.startswith("consent_interview"):
            return False
        form = item.consent
        asked = {f"consent_use_{use}_{how}" for use, how in form.items.items()}
        if key.startswith(("consent_use_", "consent_missing_use")):
            return key in asked or (bool(asked) and key == "consent_missing_use")
        drawn = ("consent_draw_", "consent_name_instead", "consent_missing_drawn")
        return form.sign == "drawn" or not key.startswith(drawn)

    def plan(
        self, item: ConsentItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[ConsentPart]:
        form = item.consent
        document = planner.text(form.text, scope)
        yield ConsentPart(
            id="consent",
            title="Consent",
            document=document,
            document_sha256=hashlib.sha256(planner.loaded.files[document]).hexdigest(),
            sign=form.sign,
            items=form.items,
        )

    def machine(self, part: ConsentPart, index: int, context: MachineContext) -> ConsentTask:
        return ConsentTask(part, index)


TASK = Consent()


class Signer(Actor[ConsentPart]):
    def act(self) -> None:
        self.participant.consent()
        self.participant.later(self.participant.pace.read_s)
