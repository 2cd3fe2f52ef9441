"""Twenty faults that somebody can make in a task, each planted where everything else is in order:
the kit names it, says what is wrong, and where to look."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labapp.study.plugins import registry
from labapp.testing import Unfit, check_task
from tests.helpers.installed import on_path, write_package

SOUND = Path(__file__).parent / "ordering"
STUDY = (
    "{id: short, title: Short, version: 1, unnamed_texts: shipped, "
    "flow: [{stages: {task: ordering, questions: 2}}]}"
)
DECIDE = "    def answer(self, question: Question, command: Command) -> Sequence[Payload]:\n"
SHOWS = "            card.setText(name)\n"
SEED = "        seed = planner.seed\n"

PLANTED: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "a screen that sends while it renders": (
        "screen",
        SHOWS,
        SHOWS + '        self.send(MoveCard(question.order[-1], 0, "mouse"))\n',
        ("OrderingScreen of 'stage-1' sends MoveCard while it is rendered", "only show the state"),
    ),
    "a screen that never shows the new order": (
        "screen",
        "zip(self.cards, question.order,",
        "zip(self.cards, self.part.orders[question.number - 1],",
        ("Nothing of MoveCard is seen in 'stage-1'", "`render_state` show it"),
    ),
    "a fold that ignores a move": (
        "task",
        "            order = moved(question.order, payload)\n",
        "            order = question.order\n",
        ("Nothing of MoveCard is seen in 'stage-1'", "Let the state hold what was answered"),
    ),
    "records that ignore a move": (
        "records",
        "                self.order = moved(self.order, payload)\n",
        "",
        (
            "The tables are the same when MoveCard is sent with another `",
            "the task's records give it to a column",
        ),
    ),
    "a move that hangs on the clock": (
        "task",
        "            case MoveCard(card, place, device) if card in question.order:\n",
        "            case MoveCard(card, place, device) if __import__('time').time() > 0:\n",
        ("`decide` reads the clock (time.time) when it is asked for MoveCard", "`now_ns`"),
    ),
    "no way by keyboard": (
        "screen",
        "        if event.key() in steps:\n",
        "        if event.key() == 0:\n",
        ("No key sends MoveCard in 'stage-1', wherever Tab leads to", "`take_key`"),
    ),
    "the keyboard lost after question 1": (
        "screen",
        '            self.wish = "content"\n',
        "",
        ("keys answer the first question at once, and not a later one", '`self.wish = "content"`'),
    ),
    "Next enabled too early": (
        "screen",
        "enabled=moved",
        "enabled=True",
        ("OrderingScreen of 'stage-1' can be pressed too early", "Give `enabled=False` in `foot`"),
    ),
    "Next never enabled": (
        "screen",
        "enabled=moved",
        "enabled=False",
        ("No key sends Next in 'stage-1'", "open the right button (`foot`)"),
    ),
    "left without an answer": (
        "task",
        "        return question.moves > 0\n",
        "        return True\n",
        ("can be left as answered before anything was answered", "`answered`"),
    ),
    "a pause counted into a response time": (
        "records",
        "                self.ended_ns = working\n",
        "                self.ended_ns = event.t_ns\n",
        ("A pause is counted into the column", "take the working time"),
    ),
    "session time in a column of its own": (
        "records",
        '        "response_s": attempt.since_start(attempt.ended_ns),\n',
        '        "response_s": (attempt.ended_session_ns - attempt.started_session_ns) / 1e9,\n',
        ("A pause is counted into the column 'response_s' of the table 'orders'", "`take`"),
    ),
    "excluded always false": (
        "records",
        '        "excluded": attempt.excluded_because is not None,\n',
        '        "excluded": False,\n',
        ("The column 'excluded' of the table 'orders' says False", "excluded_because is not None"),
    ),
    "a plan seeded by the clock": (
        "task",
        SEED,
        "        import time\n\n        seed = int(time.time())\n",
        ("The same participant is given another plan at another time (time.time)", "planner.seed"),
    ),
    "a plan without a seed": (
        "task",
        SEED,
        "        import random\n\n        seed = random.randrange(10**9)\n",
        ("The same participant is given another plan at another time", "planner.participant"),
    ),
    "a key that says it was the mouse": (
        "screen",
        '(event.key())], "keyboard")',
        '(event.key())], "mouse")',
        ("A key on the screen", "sends MoveCard with the device 'mouse'", "'keyboard' here"),
    ),
    "the mouse that says it was a key": (
        "screen",
        'self.wanted.emit(1, "mouse")',
        'self.wanted.emit(1, "keyboard")',
        ("The mouse on the screen", "sends MoveCard with the device 'keyboard'", "'mouse' here"),
    ),
    "a screen that remembers": (
        "screen",
        SHOWS,
        "            card.setText(card.text() + name)\n",
        ("shows something else when it is made again in the same state", "keep nothing in the"),
    ),
    "the same picture for every question": (
        "screen",
        SHOWS,
        "            card.setText(str(question.moves) + self.part.orders[0][0])\n",
        ("All questions of 'stage-1' look the same", "show the question of the state"),
    ),
    "a stage that cannot be skipped": (
        "task",
        DECIDE,
        "    def decide(self, state, command, now_ns):  # type: ignore[no-untyped-def]\n"
        '        if type(command).__name__ == "SkipStage":\n'
        "            return ()\n"
        "        return super().decide(state, command, now_ns)\n\n" + DECIDE,
        ("The moderator skips 'stage-1', and it does not end", "answer SkipStage"),
    ),
}
"""What is planted: in which module what is put in whose place, and what the sentence about it
says."""

TOGETHER = (
    (
        "records that ignore a move",
        "a pause counted into a response time",
        "a stage that cannot be skipped",
        "left without an answer",
    ),
    ("a screen that never shows the new order", "no way by keyboard", "Next enabled too early"),
    ("a screen that remembers", "a key that says it was the mouse"),
)
"""Faults that the kit finds in one go, as none hides another."""


def planted(tmp_path: Path, *names: str) -> tuple[Path, Path]:
    """The task as installed, with these faults planted, and a study."""
    site = write_package(tmp_path / "site", "broken", where="ordering.task")
    shutil.copytree(SOUND, site / "ordering")
    for name in names:
        module, old, new, _ = PLANTED[name]
        file = site / "ordering" / f"{module}.py"
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))
    study = tmp_path / "short.yaml"
    study.write_text(STUDY)
    return site, study


def test_it_is_in_order_as_it_stands(tmp_path: Path) -> None:
    """With the report that a task has which names none: it has no numbers of an order of cards."""
    site, study = planted(tmp_path)
    with on_path(site):
        check_task(registry.task_types()[-1], study, examples=3)


@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(tmp_path: Path, name: str) -> None:
    site, study = planted(tmp_path, name)
    with on_path(site), pytest.raises(Unfit) as unfit:
        check_task(registry.task_types()[-1], study, examples=1)
    assert len(unfit.value.sentences) <= 2, "a fault is named once"
    for words in PLANTED[name][3]:
        assert words in unfit.value.sentences[0]


@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize("names", TOGETHER)
def test_what_is_planted_together_is_found(tmp_path: Path, names: tuple[str, ...]) -> None:
    site, study = planted(tmp_path, *names)
    with on_path(site), pytest.raises(Unfit) as unfit:
        check_task(registry.task_types()[-1], study, examples=1)
    for name in names:
        told = PLANTED[name][3]
        sentences = unfit.value.sentences
        assert any(all(words in sentence for words in told) for sentence in sentences), name
