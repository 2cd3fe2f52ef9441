"""The console while pictures are unmasked: what is on the screen, and what was answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base.clock import FakeClock
from labapp.base.report.labels import Labels
from labapp.record.events import Event
from labapp.record.events.commands import Next, Pause, Resume
from labapp.study import loading, planner
from labapp.study.plugins.machine import LATE_NS
from labapp.tasks.unmasking.beside import Masks
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.moderator import Stimuli, TimedResponse, UnmaskingWords
from labapp.tasks.unmasking.plan import DONT_KNOW, UnmaskingPart
from labapp.ui.language import speak
from labapp.ui.moderator import wording
from labapp.ui.moderator.console import AHEAD_NS, SECOND_TICKS, ConsoleWindow
from labapp.ui.moderator.sessions_page import SessionCard
from labapp.ui.moderator.state.console import TimelineState, WorkTime, rows_of
from labapp.ui.moderator.study_page import stages_of
from labapp.ui.moderator.timeline_view import TimelineView
from labapp.ui.theme import LIGHT
from tests.helpers.rooms import Room
from tests.helpers.unmasking import made, unmasking_part, write_unmasking_study

MS = 1_000_000
BLANK_MS = 500


class Watched:
    """A console beside a session of masked pictures, whose screen is played by hand."""

    def __init__(self, room: Room, clock: FakeClock, *, blind: bool = False) -> None:
        self.room, self.clock, self.runner = room, clock, room.runner
        self.console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None, blind=blind)
        self.console.resize(1366, 768)
        self.console.show()
        room.session.begin()
        self.refresh()

    @property
    def part(self) -> UnmaskingPart:
        assert isinstance(self.runner.part, UnmaskingPart)
        return self.runner.part

    @property
    def mirror(self):
        return self.console.mirror

    @property
    def told(self) -> str:
        """What stands beside the participant's screen."""
        return self.console.mirror.facts.text

    @property
    def masks(self) -> Masks:
        made = self.mirror.facts.findChild(Masks)
        assert isinstance(made, Masks)
        return made

    def refresh(self) -> None:
        self.console.refresh()

    def read(self) -> None:
        """Go through the texts, and the breaks, before the next pictures."""
        while not isinstance(self.runner.part, UnmaskingPart):
            self.clock.advance(5)
            self.runner.send(Next())
        self.refresh()

    def paint(self) -> None:
        trial = self.runner.state.part_state.trial
        self.clock.set_ns(max(self.clock.now_ns(), trial.due_ns))
        self.runner.send(StimulusPainted(self.clock.now_ns(), "flush", 16.7))
        self.refresh()

    def answer(self, *responses: int, after_ms: int = 812) -> None:
        for response in responses:
            self.paint()
            self.clock.set_ns(self.clock.now_ns() + after_ms * MS)
            self.runner.send(Respond(response, "key", self.clock.now_ns(), "event"))
        self.refresh()

    def marks(self) -> list[str]:
        return [cell.mark for cell in self.masks.cells]

    def blocks(self) -> list[tuple[str, str | None]]:
        return [(one.label, one.outcome) for one in self.console.state.timeline.trials]


Watch = Callable[..., Watched]


@pytest.fixture
def watch(open_room: Callable[..., Room], tmp_path: Path) -> Watch:
    def open_one(*, blind: bool = False, **stages) -> Watched:
        stages = {"blank_ms": BLANK_MS, "order": "as_listed", **stages}
        study = write_unmasking_study(tmp_path / "study", made(tmp_path), **stages)
        clock = FakeClock()
        return Watched(open_room(study, clock=clock), clock, blind=blind)

    return open_one


def right(part: UnmaskingPart, trial: int) -> int:
    sequence, _ = part.stimulus(*part.at(trial))
    return [button.of for button in part.buttons].index(sequence.truth) + 1


def test_a_picture_its_truth_and_its_answers(watch):
    watched = watch()
    watched.read()
    part = watched.part
    assert part.role == "practice"
    watched.answer(0, 0, 0)
    watched.read()
    part = watched.part
    sequence, mask = part.stimulus(*part.at(1))
    watched.paint()
    assert watched.console.mirror.shown.isVisibleTo(watched.console.mirror)
    assert watched.console.mirror.title.full() == "Stage 1 · picture 1 of 24"
    named = {button.of: button.name for button in part.buttons}
    assert watched.told.splitlines() == [
        "5\N{NO-BREAK SPACE}% visible",
        f"Correct: {named[sequence.truth]}",
        f"Predicted: {named[sequence.prediction]}",
        f"Picture: {sequence.image}",
        f"Method: {part.unmasked.methods[sequence.method]}",
        "No answer yet",
    ]
    assert watched.mirror.shown.picture.screen.field.shown == mask.picture
    assert watched.marks() == ["current", "todo", "todo"]
    watched.answer(DONT_KNOW)
    assert watched.told.endswith("Last answer: don’t know, after 812\N{NO-BREAK SPACE}ms")
    wanted = right(part, 2)
    watched.answer(3 - wanted, after_ms=1204)
    wrong = part.buttons[2 - wanted].name
    assert watched.told.endswith(f"Last answer: {wrong} ✗, after 1,204\N{NO-BREAK SPACE}ms")
    assert watched.marks() == ["unsure", "wrong", "current"]
    watched.answer(right(part, 3))
    assert " ✓" in watched.told
    assert watched.marks() == ["current", "todo", "todo"]
    assert watched.masks.accessibleName().startswith("5\N{NO-BREAK SPACE}% now; 15")


def test_a_picture_that_the_model_has_wrong_says_so(watch):
    watched = watch(example=None)
    watched.read()
    part, said = watched.part, []
    while watched.runner.part is part:
        watched.paint()
        said.append("(wrong)" in watched.told)
        watched.answer(1)
    planned = [part.stimulus(*part.at(trial))[0] for trial in range(1, part.trials + 1)]
    assert said == [one.truth != one.prediction for one in planned]
    assert any(said)


def test_the_field_is_empty_in_the_blank(watch):
    watched = watch(example=None)
    watched.read()
    watched.answer(1)
    assert watched.told.startswith("Blank\n")
    assert watched.mirror.shown.picture.screen.field.shown is None
    watched.paint()
    assert "visible" in watched.told.splitlines()[0]
    assert watched.mirror.shown.picture.screen.field.shown is not None


def test_a_picture_that_does_not_come_is_told(watch):
    watched = watch(example=None)
    watched.read()
    watched.answer(1)
    watched.clock.set_ns(watched.runner.state.part_state.trial.due_ns + LATE_NS + 1)
    for _ in range(SECOND_TICKS):  # it is looked at once a second, for nothing happens
        watched.refresh()
    assert watched.told.startswith("Not on the screen\n")
    watched.paint()
    assert "visible" in watched.told.splitlines()[0]


def test_a_blind_moderator_is_not_told_the_method(watch):
    watched = watch(example=None, blind=True)
    watched.read()
    watched.paint()
    assert "Method" not in watched.told
    names = watched.part.unmasked.methods.values()
    assert not any(name in watched.told for name in names)
    assert not any(word in watched.told for word in ("Correct", "Predicted"))
    watched.mirror.unblind()
    watched.mirror.show_facts()
    watched.refresh()
    assert "Method: " in watched.told


def test_a_pause_takes_the_picture_away_and_it_is_shown_again(watch):
    watched = watch(example=None)
    watched.read()
    watched.answer(1)
    watched.paint()
    watched.runner.send(Pause("break"))
    watched.refresh()
    assert watched.told.startswith("Paused\n")
    watched.clock.advance(30)
    watched.runner.send(Resume("moderator"))
    watched.answer(2, 1)
    assert watched.blocks()[0] == ("Sequence 1 of 8", "answered")
    assert len(watched.blocks()) == 1
    assert watched.room.count("stimulus.shown") == 4
    watched.paint()
    assert watched.blocks()[-1] == ("Sequence 2 of 8", None)


def test_the_plan_counts_pictures_over_the_blocks(watch):
    watched = watch(breaks={"every": 3, "text": "rest.md"})
    rows = [view.row for view in watched.console.plan.list.views]
    assert [(row.title, row.detail) for row in rows] == [
        ("Example", ""),
        ("Stage 1, block 1", "1–9"),
        ("Break", ""),
        ("Stage 1, block 2", "10–18"),
        ("Break", ""),
        ("Stage 1, block 3", "19–24"),
    ]
    watched.read()
    watched.answer(1, 1, 1)
    watched.read()
    watched.answer(*[1] * 9)
    watched.read()
    watched.answer(1, 2)
    watched.refresh()
    views = watched.console.plan.list.views
    assert [view.state for view in views] == ["done", "done", "done", "current", "todo", "todo"]
    assert views[3].progress == "12 / 24"
    assert watched.console.mirror.title.full() == "Stage 1, block 2 · picture 12 of 24"
    # The answers of the block before are not those of this one.
    given = {1: "right", 2: "wrong"}[right(watched.part, 1)]
    assert watched.marks()[0] == given
    assert watched.marks()[2] == "current"


def test_a_sequence_is_one_block_of_the_timeline(watch):
    watched = watch(example=None)
    watched.read()
    version = watched.console.state.timeline.version
    watched.answer(*[1] * 7)
    line = watched.console.state.timeline
    assert watched.blocks() == [
        ("Sequence 1 of 8", "answered"),
        ("Sequence 2 of 8", "answered"),
        ("Sequence 3 of 8", None),
    ]
    assert line.version - version == 5  # three beginnings and two ends, not fourteen
    view = watched.console.timeline.view
    assert isinstance(view, TimelineView)
    text = view._block_text(line.trials[0])
    assert text.startswith("Sequence 1 of 8: 0:0")
    assert text.endswith(", answered")


def event(kind: str, trial: int | None = None, **payload) -> Event:
    return Event(1, 1, 0, "", "system", kind, 1, "stage-1", trial, 1, payload)


SHOWN = {"painted_ns": 5, "shown_by": "flush", "refresh_ms": None}
GIVEN = {"device": "mouse", "timed_by": "event"}


def test_a_stage_that_begins_again_has_no_answers():
    stimuli, work = Stimuli(), WorkTime()
    drawn = {"sequence": 1, "mask": 2, "image": "p00", "method": "middle", "percent": 10.0}
    drawn |= {"truth": "disc", "prediction": "disc", "due_ns": 0}
    stimuli.apply(event("stimulus.drawn", 1, **drawn)._replace(part_id="stage-2"), work)
    for trial in (1, 2):
        stimuli.apply(event("stimulus.drawn", trial, **drawn), work)
        stimuli.apply(event("stimulus.shown", trial, **SHOWN), work)
        given = {"response": 1, "input_ns": 7 + trial, **GIVEN}
        stimuli.apply(event("response.given", trial, **given), work)
    other = event("response.given", 1, response=0, input_ns=9, **GIVEN)._replace(part_id="stage-2")
    stimuli.apply(event("stimulus.shown", 1, **SHOWN)._replace(part_id="stage-2"), work)
    stimuli.apply(other, work)
    assert stimuli.responses == {
        ("stage-1", 1): TimedResponse(1, 3, 1, 2),
        ("stage-1", 2): TimedResponse(1, 4, 1, 2),
        ("stage-2", 1): TimedResponse(0, 4, 1, 2),
    }
    stimuli.apply(event("part.restarted", attempt=2)._replace(part_id="stage-2"), work)
    assert list(stimuli.responses) == [("stage-1", 1), ("stage-1", 2)]
    assert stimuli.last is None
    stimuli.apply(event("part.restarted", attempt=2), work)
    assert stimuli.responses == {}


def test_a_stage_that_begins_again_begins_its_blocks_again():
    line, work = TimelineState((unmasking_part(),)), WorkTime()
    for second, one in enumerate(
        (
            event("part.started", index=0),
            event("stimulus.shown", 1),
            event("trial.ended", 1, outcome="answered"),
            event("stimulus.shown", 2),
            event("part.restarted", attempt=2),
            event("stimulus.shown", 1),
        )
    ):
        timed = one._replace(seq=second + 1, t_ns=second * 1000 * MS)
        work.apply(timed)
        line.apply(timed, work)
    assert [(one.start_ns // MS, one.end_ns) for one in line.trials] == [
        (1000, 4000 * MS),
        (5000, None),
    ]


def test_a_picture_that_is_left_out_ends_its_block():
    line, work = TimelineState((unmasking_part(),)), WorkTime()
    ended = event("trial.ended", 1, outcome="stage_skipped")
    for one in (event("part.started", index=0), event("stimulus.shown", 1), ended):
        line.apply(one, work)
    assert [(one.label, one.outcome) for one in line.trials] == [
        ("Sequence 1 of 2", "stage_skipped")
    ]


def test_the_console_waits_while_a_picture_is_about_to_appear(watch):
    watched = watch(example=None)
    watched.read()
    watched.answer(1)
    console, clock = watched.console, watched.clock
    due = watched.runner.state.part_state.trial.due_ns
    assert due == clock.now_ns() + BLANK_MS * MS
    assert not console.stands_aside()
    clock.set_ns(due - AHEAD_NS + 1)
    assert console.stands_aside()
    clock.set_ns(due + LATE_NS - 1)
    assert console.stands_aside()
    clock.set_ns(due + LATE_NS)
    assert not console.stands_aside()  # its window is covered: it may never come


def test_the_console_waits_no_longer_once_it_is_painted_or_paused(watch):
    watched = watch(example=None)
    watched.read()
    watched.answer(1)
    watched.clock.set_ns(watched.runner.state.part_state.trial.due_ns)
    assert watched.console.stands_aside()
    watched.runner.send(Pause("break"))
    assert not watched.console.stands_aside()
    watched.runner.send(Resume("moderator"))
    watched.paint()
    assert not watched.console.stands_aside()


@pytest.mark.parametrize("think_aloud", [True, False])
def test_silence_matters_only_where_they_think_aloud(watch, think_aloud):
    watched = watch(example=None, think_aloud=think_aloud)
    watched.read()
    assert watched.console._talking() == think_aloud
    assert watched.console.voice.prompts.isHidden() != think_aloud


def test_nothing_is_decoded_and_the_console_says_so(watch):
    watched = watch()
    watched.read()
    watched.paint()
    watched.console.refresh()
    assert watched.console.voice.facts["slowest"].full() == "none"


def test_the_home_tells_what_the_stage_is_made_of(tmp_path, qapp):
    breaks = {"every": 3, "text": "rest.md"}
    study = write_unmasking_study(tmp_path / "study", made(tmp_path), breaks=breaks, blank_ms=500)
    plan = planner.realise(loading.load(study), "P01", space_of=lambda model: pytest.fail(model))
    ((title, facts),) = stages_of(plan.parts)
    assert title == "tiny-scores, set 1: Middle, Edge"
    assert facts.split("  ·  ") == [
        "4 images × 2 methods × 3 masks = 24 pictures",
        "5, 15, 45 % of the pixels visible",
        "the rest at the average picture’s brightness",
        "pixels ranked by their score",
        "the model is right in 75.0\N{NO-BREAK SPACE}%",
        "500\N{NO-BREAK SPACE}ms blank between two pictures",
        "in 3 blocks",
        "keys: F disc, J ring, Space don’t know",
    ]
    card = SessionCard(LIGHT)
    card.set_plan(plan.parts)
    assert card.order.text() == "1\N{NO-BREAK SPACE}tiny-scores, set 1: Middle, Edge"
    labels = Labels({"tiny-scores, set 1: Middle, Edge": "Scores", "with": "With hint"})
    card.set_plan(plan.parts, drawn=["with #3"], label=labels.put)
    assert card.order.text().startswith("1\N{NO-BREAK SPACE}Scores\n")
    assert "condition: With hint #3." in card.order.text()
    card.blind.setChecked(True)
    assert card.order.text() == "1 stage, hidden while blind"
    card.deleteLater()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fill": "black"}, "the rest black"),
        ({"fill": "grey"}, "the rest grey"),
        ({"fill": "white"}, "the rest white"),
        ({"sign": "absolute"}, "pixels ranked by the absolute value of their score"),
    ],
)
def test_every_way_of_masking_is_told(changes, said):
    part = unmasking_part()
    part = part.model_copy(update={"unmasked": part.unmasked.model_copy(update=changes)})
    assert said in UnmaskingWords().facts([part])
    assert "blank" not in UnmaskingWords().facts([part])


def test_one_block_needs_no_numbers():
    part = unmasking_part()
    assert UnmaskingWords().detail(part, blind=False) == ""
    (row,) = rows_of((part,))
    assert (row.title, row.detail) == ("Stage 1", "")


def test_titles_of_blocks_are_translated():
    speak("de")
    assert wording.part_title("Stage 1, block 2") == "Block 2, Abschnitt 1"
    assert wording.part_title("Example") == "Beispiel"
