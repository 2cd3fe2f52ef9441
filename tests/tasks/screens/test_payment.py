"""What the participant is told of the payment: after consent, and on the last page."""

from __future__ import annotations

import pytest

from labapp.record.events.commands import Next
from labapp.tasks.pages.screen import PagesScreen
from tests.helpers.languages import translated
from tests.helpers.rooms import skip_to, solve
from tests.helpers.studies import write_study

PAID = """\
incentive: {text: "texts/{language}/incentive-bonus.md", base: 3.75, per_solved: 0.15}
flow:
  - consent: texts/{language}/consent.md
"""
DEBRIEF = "  - debrief: texts/{language}/debrief.md\n"


def shown(window, qapp) -> str:
    qapp.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, PagesScreen)
    return screen.text.toPlainText()


@pytest.mark.parametrize(
    ("language", "offer", "base_only", "with_bonus"),
    [
        ("en", "$0.15 is added", "Your payment: $3.75", "$3.90 ($3.75 and a bonus of $0.15)"),
        ("de", "kommen $0,15 hinzu", "Ihre Vergütung: $3,75", "$3,90 ($3,75 und ein Bonus"),
    ],
)
@pytest.mark.parametrize("solves", [False, True])
def test_the_payment_is_told(
    open_room, open_window, qapp, tmp_path, language, offer, base_only, with_bonus, solves
):
    study = write_study(tmp_path, "sinelines/gt")
    study.write_text(study.read_text().replace("flow:\n", PAID) + DEBRIEF)
    room = open_room(translated(study, language))
    window = open_window(room)
    skip_to(room, "incentive")
    told = shown(window, qapp)
    assert offer in told
    assert "{" not in told
    assert "0.00" not in told
    assert len(told.splitlines()) == 4, "nothing of answers: there are no such questions"
    skip_to(room, "stage-1")
    if solves:
        solve(room)
        room.runner.send(Next())
    skip_to(room, "debrief")
    assert (with_bonus if solves else base_only) in shown(window, qapp)
    room.runner.send(Next())
    assert room.last("payment.computed")["total"] == (3.9 if solves else 3.75)


def test_a_study_that_pays_nothing_tells_nothing(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "debrief")
    assert "payment" not in shown(window, qapp)
