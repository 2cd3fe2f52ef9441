"""What the moderator's windows say of a questionnaire.

Who a participant is, is between them and the record: of an item whose answers can tell it (see
`withheld` in `labapp.study.instruments.items`) only whether it is answered, never how.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from labapp.study.instruments import Item, Rating, dont_know
from labapp.study.plan import QuestionnairePart
from labapp.study.plugins.machine import PartMachine
from labapp.tasks.questionnaire.machine import QuestionnaireState, QuestionnaireTask
from labapp.ui.language import tr
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

SHORT = 4
"""An instrument's id of at most so many characters is an abbreviation that people know."""


class QuestionnaireWords(PartWords[QuestionnairePart]):
    def progress(self, part: QuestionnairePart, machine: PartMachine[Any], state: Any) -> str:
        return (
            part.instrument.upper() if len(part.instrument) <= SHORT else tr("questionnaire.asked")
        )

    def beside(
        self, part: QuestionnairePart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        task = session.task
        assert isinstance(task, QuestionnaireTask)
        yield Fact(part.title, "strong")
        for line in sheet_lines(task, session.part_state):
            yield Fact(line, "secondary")


SAID_CHARACTERS = 60


def sheet_lines(task: QuestionnaireTask, sheet: QuestionnaireState) -> list[str]:
    """The questions on the current page, below a line that shows the progress."""
    ids, pages = task.asked(sheet).ids, task.pages_asked(sheet)
    asked = [item for item in task.instrument.items if item.id in ids]
    items = [
        task.worded(sheet, item, withholds=True)
        for item in task.instrument.pages[sheet.page]
        if item.id in ids
    ]
    done = sum(dont_know.answered(item, sheet.answers.get(item.id)) for item in asked)
    head = tr("questionnaire.answered", done=done, all=len(asked))
    if len(pages) > 1:
        place = tr("questionnaire.page", number=pages.index(sheet.page) + 1, all=len(pages))
        head = f"{head} · {place}"
    lines = [head]
    if any(item.withheld for item in items):
        lines.append(tr("questionnaire.identifying_hidden"))
    return [*lines, *(f"{i.title}   {_format_answer(i, sheet.answers.get(i.id))}" for i in items)]


def _format_answer(item: Item, value: Any) -> str:
    """An answer on one line, or only that there is one."""
    if not dont_know.answered(item, value):
        return "–"
    if item.withheld:
        return "✓"
    if isinstance(item, Rating) and not dont_know.is_unknown(value):
        if item.first:
            text = tr("task.value_of_last", value=value, last=item.last)
        else:
            text = tr("questionnaire.value_of_range", value=value, last=item.last)
        return text.replace(" ", "\N{NO-BREAK SPACE}")
    text = " ".join(dont_know.say(item, value).split())
    return text if len(text) <= SAID_CHARACTERS else f"{text[:SAID_CHARACTERS]}…"
