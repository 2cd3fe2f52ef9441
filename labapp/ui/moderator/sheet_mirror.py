"""The mirror of a questionnaire, in words: how far it is, and what is answered.

Who a participant is, is between them and the record: of an item whose answers can tell it (see
`withheld` in `labapp.study.instruments.items`) only whether it is answered, never how.
"""

from __future__ import annotations

from typing import Any

from labapp.study.instruments import Instrument, Item, Rating
from labapp.tasks.questionnaire.machine import QuestionnaireState
from labapp.ui.language import tr

SAID_CHARACTERS = 60


def sheet_lines(instrument: Instrument, sheet: QuestionnaireState) -> list[str]:
    """The page on the screen, a line an item, under a line that says how far it is."""
    pages = instrument.pages
    items = pages[sheet.page]
    done = sum(item.answered(sheet.answers.get(item.id)) for item in instrument.items)
    head = tr("Answered: {done} of {all}", done=done, all=len(instrument.items))
    if len(pages) > 1:
        place = tr("page {number} of {all}", number=sheet.page + 1, all=len(pages))
        head = f"{head} · {place}"
    lines = [head]
    if any(item.withheld for item in items):
        lines.append(tr("Answers that can tell who somebody is are not shown: ✓ is an answer."))
    return [*lines, "", *(f"{i.title}   {_said(i, sheet.answers.get(i.id))}" for i in items)]


def _said(item: Item, value: Any) -> str:
    """An answer on one line, or only that there is one."""
    if not item.answered(value):
        return "–"
    if item.withheld:
        return "✓"
    if isinstance(item, Rating):
        if item.first:
            said = tr("{value} of {last}", value=value, last=item.last)
        else:
            said = tr("{value} of 0 to {last}", value=value, last=item.last)
        return said.replace(" ", "\N{NO-BREAK SPACE}")
    said = " ".join(item.said(value).split())
    return said if len(said) <= SAID_CHARACTERS else f"{said[:SAID_CHARACTERS]}…"
