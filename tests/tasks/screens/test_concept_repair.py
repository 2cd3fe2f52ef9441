"""The screens of concept repair on a real session: by mouse, by keyboard, and as a screen reader is
told them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from labapp.base.clock import FakeClock
from labapp.base.resources import assets
from labapp.models.stimuli import library
from labapp.models.stimuli.manifest import Concept
from labapp.record.events.commands import Pause, Resume
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.concept_repair.events import Foretell, PickAnswer, SetConcept, UndoChange
from labapp.tasks.concept_repair.plan import PlannedClass, Repair
from labapp.tasks.concept_repair.screen.board import GOOD_BAR, MOST_CARD, WORDS, AnswerCard
from labapp.tasks.concept_repair.screen.repair import GridScreen, RepairScreen
from labapp.tasks.concept_repair.screen.switches import ConceptSwitch
from labapp.ui import theme
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import Strings
from tests.helpers import concepts
from tests.helpers.hands import key
from tests.helpers.reach import out_of_reach
from tests.helpers.rooms import Room, skip_to
from tests.ui.hearing import heard
from tests.ui.keys import click, focus, places, press

SIZES = ((900, 560), (911, 512), (960, 540), (1366, 768), (1280, 720), (1920, 1080))
"""Logical pixels: the least that a window can have, 1366 x 768 at 150 %, 1920 x 1080 at 200 %, and
the usual ones."""
OFF, AS_IT_IS, ON = 1, 2, 3
"""Places of a switch's options, from 1, where `on` stands on the right."""
RIGHTWARDS = {"left": "right", "links": "rechts", "small": "large", "klein": "groß"}
"""Words that belong on the left, and what belongs on the right of each."""
Open = Callable[..., tuple[Room, ParticipantWindow, Any]]


@pytest.fixture
def stage(
    open_room: Callable[..., Room],
    open_window: Callable[..., ParticipantWindow],
    qapp: QApplication,
    tmp_path: Path,
) -> Open:
    """A room and its window, on a small screen, at the first picture of the stage, or at the
    grid."""

    def open_one(
        part: str = "stage-1", clock: Any = None, stimuli: str | None = None, **stages: Any
    ) -> Any:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        shipped = None if stimuli is None else library.load(assets() / "stimuli" / stimuli)
        made = shipped or concepts.write(folder / "sets")
        study = concepts.write_study(folder / "study", made, **stages)
        room = open_room(study, **({} if clock is None else {"clock": clock}))
        window = open_window(room, part)
        window.showNormal()
        window.resize(1366, 768)
        window.activateWindow()
        qapp.processEvents()
        return room, window, window.screen_shown

    return open_one


def trial_of(room: Room) -> Repair:
    trial: Repair = room.runner.state.part_state.trial
    return trial


def payloads(room: Room, kind: str) -> list[dict[str, Any]]:
    return [payload for name, payload in room.events if name == kind]


def focused(widget: QWidget) -> bool:
    """Whether it takes the keys."""
    return focus() is widget


def shown(window: QWidget) -> str:
    """Every word of the labels on the screen, and every name that a screen reader is told."""
    labels = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    told = [w.accessibleName() for w in window.findChildren(QWidget) if w.isVisible()]
    return "\n".join((*labels, *told))


def test_a_click_sets_a_concept_and_the_bars_follow(stage: Open) -> None:
    room, _, screen = stage()
    before = trial_of(room)
    assert (
        screen.says.text() == f"The model says: {screen.part.repaired.class_(before.answer).name}"
    )
    assert [switch.index for switch in screen.switches.switches] == [1] * 4
    click(screen.switches.switches[3], ON)
    trial = trial_of(room)
    assert trial.states == (0, 0, 0, 2)
    assert payloads(room, "concept.set")[-1]["device"] == "mouse"
    assert screen.switches.switches[3].index == ON - 1
    assert screen.card.shares == trial.probabilities
    assert screen.card.former == before.probabilities
    assert not screen.undo.isHidden()
    QTest.mouseClick(screen.undo, Qt.MouseButton.LeftButton)
    assert trial_of(room).states == before.states
    assert payloads(room, "concept.undone")[-1]["device"] == "mouse"
    assert screen.card.former == ()


def test_a_picture_by_keyboard_alone(stage: Open) -> None:
    room, window, screen = stage()
    switches = screen.switches.switches
    assert focused(switches[0])
    press(Qt.Key.Key_3)
    assert focused(switches[2])
    press(Qt.Key.Key_Right)
    assert trial_of(room).states == (0, 0, 2, 0)
    press(Qt.Key.Key_Left)  # straight to off, over nothing
    assert [p["to"] for p in payloads(room, "concept.set")] == [2, 1]
    press(Qt.Key.Key_Down)
    assert focused(switches[3])
    press(Qt.Key.Key_Up, Qt.Key.Key_0)
    assert trial_of(room).states == (0, 0, 0, 0)
    press(Qt.Key.Key_Backspace)
    assert trial_of(room).states == (0, 0, 1, 0)
    assert {p["device"] for k, p in room.events if "device" in p} == {"keyboard"}
    while not focused(window.bottom.right):
        press(Qt.Key.Key_Tab)
    press(Qt.Key.Key_Return)
    assert trial_of(room).number == 2
    assert focused(switches[0])


def test_its_keys_work_after_a_double_click_on_done(stage: Open) -> None:
    room, window, screen = stage()
    switches = screen.switches.switches
    QTest.mouseClick(window.bottom.right, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(window.bottom.right, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(window.bottom.right, Qt.MouseButton.LeftButton)
    window.bottom.right.setFocus()  # where the second half of a double click leaves it
    assert trial_of(room).number == 2
    press(Qt.Key.Key_Right)
    assert trial_of(room).states == (2, 0, 0, 0)
    for place in (window.bottom.right, window.bottom.left, window):
        place.setFocus()
        press(Qt.Key.Key_3)
        assert focused(switches[2])
        place.setFocus()
        press(Qt.Key.Key_Left)
        assert trial_of(room).states == (2, 0, 1, 0)
        place.setFocus()
        press(Qt.Key.Key_Backspace)
        assert trial_of(room).states == (2, 0, 0, 0)


def test_a_held_key_and_keys_with_control_do_nothing(stage: Open) -> None:
    room, _, screen = stage()
    for _ in range(5):
        key(Qt.Key.Key_Right, again=True)
    QTest.keyClick(
        screen.switches.switches[0].entrance(), Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier
    )
    QTest.keyClick(
        screen.switches.switches[0].entrance(), Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier
    )
    assert trial_of(room).history == ()
    assert focused(screen.switches.switches[0])


def test_giving_up_is_the_last_stop_and_never_has_the_focus_by_itself(stage: Open) -> None:
    room, window, screen = stage()
    assert window.bottom.foot.leaves
    window.bottom.left.click()
    assert payloads(room, "repair.ended")[-1]["how"] == "gave_up"
    assert focused(screen.switches.switches[0])


def test_a_change_is_foretold_before_it_is_shown(stage: Open) -> None:
    room, window, screen = stage(foresee="all")
    before = trial_of(room)
    press(Qt.Key.Key_Right)
    assert trial_of(room).phase == "foretelling"
    assert focused(screen.card)
    assert "%" not in "".join(option.accessibleName() for option in screen.card.options)
    assert all(switch.locked for switch in screen.switches.switches)
    assert screen.switches.switches[0].index == ON - 1  # what was chosen, and not what is so
    assert not any(button.isEnabled() for button in screen.sure)
    assert window.bottom.foot.note == "First choose what the model will say."
    press(Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_End)
    assert trial_of(room).picked == ""
    assert screen.card.index == len(screen.card.options) - 1
    window.bottom.right.click()
    assert trial_of(room).number == 1
    assert focused(screen.sure[0])
    press(Qt.Key.Key_Tab, Qt.Key.Key_Return)
    (told,) = payloads(room, "answer.foretold")
    assert told == {"answer": "", "sure": False, "device": "keyboard"}
    assert trial_of(room).states == (2, 0, 0, 0)
    assert focused(screen.switches.switches[0])
    assert screen.card.former == before.probabilities
    assert not any(button.isVisible() for button in screen.sure)


def test_a_given_change_is_foretold_and_looked_at(stage: Open) -> None:
    room, window, screen = stage(instruction="foresight", foresee="all")
    assert focused(screen.card)
    assert "set to" in screen.title.text()
    assert not window.bottom.left.isVisible()
    press(Qt.Key.Key_Down)
    QTest.mouseClick(screen.sure[0], Qt.MouseButton.LeftButton)
    assert payloads(room, "answer.foretold")[-1]["device"] == "mouse"
    assert focused(window.bottom.right)
    assert all(switch.locked for switch in screen.switches.switches)
    press(Qt.Key.Key_Return)
    assert trial_of(room).number == 2
    assert focused(screen.card)


def test_an_audit_says_what_is_not_confirmed_yet(stage: Open) -> None:
    room, window, screen = stage(instruction="audit")
    foot = window.bottom.foot
    assert (foot.note, foot.warn) == ("Still to set: size, side, height, shape", False)
    click(screen.switches.switches[0], OFF)
    click(screen.switches.switches[2], ON)
    assert [label.text() for label in screen.switches.numbers] == ["✓1", "2", "✓3", "4"]
    window.bottom.right.click()
    assert trial_of(room).number == 1
    assert window.bottom.foot.warn
    assert [label.text() for label in screen.switches.numbers] == ["✓1", "▸2", "✓3", "▸4"]
    assert focused(screen.switches.switches[1])
    click(screen.switches.switches[1], OFF)
    click(screen.switches.switches[3], OFF)
    assert window.bottom.foot.ready
    window.bottom.right.click()
    assert trial_of(room).number == 2
    assert [label.text() for label in screen.switches.numbers] == ["1", "2", "3", "4"]


def test_the_grid_is_ticked_by_mouse_and_by_arrow_keys(stage: Open) -> None:
    room, window, screen = stage("stage-1-grid")
    assert isinstance(screen, GridScreen)
    grid = screen.grid
    assert focused(grid)
    assert grid.pairs[grid._at] == (0, 1)
    press(Qt.Key.Key_Down)  # over the diagonal
    assert grid.pairs[grid._at] == (2, 1)
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right, control)
    assert grid.pairs[grid._at] == (2, 1)  # with a command key it is somebody else's
    press(Qt.Key.Key_Space, Qt.Key.Key_Right, Qt.Key.Key_Return)
    assert room.runner.state.part_state.trial.ticked == {(2, 1), (2, 3)}
    press(Qt.Key.Key_Space)
    click(grid, grid.pairs.index((0, 3)) + 1)
    assert room.runner.state.part_state.trial.ticked == {(2, 1), (0, 3)}
    assert [p["device"] for p in payloads(room, "grid.ticked")] == [*["keyboard"] * 3, "mouse"]
    assert grid.options[grid.pairs.index((0, 3))].isChecked()
    told = heard(grid.options[0])
    assert (told.name, told.group) == (
        "Setting size also changes side",
        "Which switch also changes something else?",
    )
    window.bottom.right.click()
    assert room.runner.part is None or room.runner.part.id != "stage-1-grid"


def test_arrow_keys_come_back_to_the_grid_from_a_button(stage: Open) -> None:
    _, window, screen = stage("stage-1-grid")
    window.bottom.right.setFocus()
    press(Qt.Key.Key_Down)
    assert focused(screen.grid)
    assert screen.grid.pairs[screen.grid._at] == (2, 1)


def test_a_grid_is_not_passed_over_without_an_answer(stage: Open) -> None:
    room, window, screen = stage("stage-1-grid")
    assert isinstance(screen, GridScreen)
    foot = window.bottom.foot
    assert (foot.ready, foot.warn) == (False, False)
    assert foot.note == "First tick a field, or say that no switch changes anything else."
    window.bottom.right.click()
    assert window.bottom.foot.warn
    assert room.runner.part is not None
    assert room.runner.part.id == "stage-1-grid"
    assert focused(screen.grid)
    press(Qt.Key.Key_Space, Qt.Key.Key_Tab, Qt.Key.Key_Space)
    assert screen.nothing.options[0].isChecked()
    trial = room.runner.state.part_state.trial
    assert (trial.ticked, trial.nothing) == (frozenset(), True)
    assert [(p["on"], p["device"]) for p in payloads(room, "grid.nothing")] == [(True, "keyboard")]
    assert window.bottom.foot.ready
    window.bottom.right.click()
    assert room.runner.part is None or room.runner.part.id != "stage-1-grid"


def test_nothing_shifts_from_state_to_state(stage: Open, qapp: QApplication) -> None:
    _, _, screen = stage(foresee="all")

    def where() -> dict[QWidget, Any]:
        qapp.processEvents()
        return {w: at for w, at in places(screen).items() if w not in screen.sure}

    first = where()
    press(Qt.Key.Key_Right)
    assert where() == first
    press(Qt.Key.Key_Down, Qt.Key.Key_Tab, Qt.Key.Key_Return)
    assert where() == first


def test_targets_are_as_large_as_a_finger_needs(stage: Open) -> None:
    _, window, screen = stage(foresee="all")
    for size in SIZES:
        window.resize(*size)
        for switch in screen.switches.switches:
            assert min(switch.box(0).height(), switch.box(0).width()) >= 44
        for button in (screen.undo, *screen.sure):
            assert button.height() >= 44
        assert screen.card.box(0).height() >= 34


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "stages",
    [{}, {"foresee": "all"}, {"instruction": "audit"}],
    ids=["repair", "foresee", "audit"],
)
def test_everything_can_be_reached_at_every_size(
    stage: Open, qapp: QApplication, stages: dict[str, Any], language: str
) -> None:
    room, window, screen = stage(language=language, **stages)
    room.runner.send(SetConcept(1, 2, "mouse"))
    for part in ("stage-1", "stage-1-grid"):
        skip_to(room, part)
        for size in SIZES:
            window.resize(*size)
            for _ in range(6):
                qapp.processEvents()
            assert out_of_reach(window) == [], (part, size)
            assert not window.body.horizontalScrollBar().maximum(), (part, size)
            if part == "stage-1" and not stages.get("foresee"):
                low = screen.card.mapTo(window, screen.card.rect().bottomLeft()).y()
                assert low < window.bottom.y(), "the names are always in view"
            if size[0] > 1200 and part == "stage-1":
                assert not window.body.verticalScrollBar().maximum(), size
                assert screen.picture.width() >= 320


SHIPPED = ("dsprites-four-cbm", "shapes-graded-logits-8", "birds-cbm-logits")
"""Four concepts and eight classes, six and twelve, six and sixteen."""


@pytest.mark.parametrize(
    ("stimuli", "language"),
    [(SHIPPED[0], "de"), (SHIPPED[1], "de"), (SHIPPED[2], "de"), (SHIPPED[2], "en")],
)
def test_nothing_of_a_timed_picture_is_scrolled_to(
    stage: Open, qapp: QApplication, stimuli: str, language: str
) -> None:
    """Whatever the set, its words and the window: everything is in view, nothing lies over
    anything, what is pressed can be hit and what is read is written out."""
    room, window, screen = stage(stimuli=stimuli, language=language, foresee="all")
    for size in SIZES[1:]:
        window.resize(*size)
        for foretelling in (False, True):
            if foretelling:
                room.runner.send(SetConcept(1, 2, "mouse"))
            for _ in range(6):
                qapp.processEvents()
            assert not window.body.verticalScrollBar().maximum(), size
            assert not window.body.horizontalScrollBar().maximum(), size
            assert out_of_reach(window) == [], size
            assert overlaps(screen.board) == [], size
            if screen.card.form.boxes:
                assert ": dark" in screen.board.keys.text().replace("Die dunkle", "dark")
                assert screen.board.keys.isVisible(), size
        room.runner.send(PickAnswer("", "mouse"))
        room.runner.send(Foretell(True, "mouse"))
        room.runner.send(UndoChange("mouse"))
        for _ in range(6):
            qapp.processEvents()
        assert screen.picture.width() >= (320 if size[0] > 1200 else 160)
        assert screen.card.box(0).height() >= (34 if size[0] > 1200 else 20)
        for switch in screen.switches.switches:
            assert min(switch.box(0).height(), switch.box(0).width()) >= 44
        assert screen.card.width() >= screen.card.needed_width(screen.card.form)


def overlaps(board: QWidget) -> list[tuple[str, str]]:
    """The pairs of a board's widgets that lie over each other."""
    shown = [w for w in board.children() if isinstance(w, QWidget) and w.isVisible()]
    return [
        (type(a).__name__, type(b).__name__)
        for a, b in combinations(shown, 2)
        if a.geometry().intersects(b.geometry())
    ]


def test_a_window_that_grows_and_shrinks_again_looks_as_before(
    stage: Open, qapp: QApplication
) -> None:
    _, window, screen = stage(stimuli=SHIPPED[-1])

    def where(size: tuple[int, int]) -> Any:
        window.resize(*size)
        for _ in range(6):
            qapp.processEvents()
        return places(screen)

    small = where((911, 512))
    assert where((1920, 1080)) != small
    assert where((911, 512)) == small


def test_marks_are_boxes_where_their_words_need_more_room(stage: Open, qapp: QApplication) -> None:
    """A box stands for each switch, with a mark on the side that the class needs; what they mean
    is written below."""
    _, window, screen = stage(stimuli=SHIPPED[-1])
    for size, boxes in (((1920, 1080), False), ((1024, 768), True)):
        window.resize(*size)
        for _ in range(6):
            qapp.processEvents()
        assert screen.card.form.boxes is boxes
        assert ("1 to 6: dark" in screen.board.keys.text()) is boxes
        assert screen.board.keys.isVisible()
        told = [option.accessibleName() for option in screen.card.options]
        assert told[0].startswith("Farrow's tamber: crest, wing spots, straight beak")


def test_a_class_without_rules_keeps_its_words(qapp: QApplication) -> None:
    concept = Concept(id="size", name="size", off="large", on="small")
    classes = [PlannedClass(id=name, name=name, marks="large") for name in ("a", "b")]
    card = AnswerCard(
        classes,
        [concept],
        Strings({"concept_answers": "names", "concept_same": "{name}"}),
        theme.LIGHT,
        foretells=False,
    )
    assert card.forms == (WORDS,)


def test_long_words_take_nothing_from_the_picture(stage: Open, monkeypatch: Any) -> None:
    """They stand in two lines, and each option is as wide as its own column needs."""
    _, _, screen = stage()
    before = screen.switches.needed_width(False), screen.picture.width()
    long = {"off": "square or ellipse", "on": "heart"}
    last = len(concepts.CONCEPTS) - 1
    monkeypatch.setattr(
        concepts, "CONCEPTS", (*concepts.CONCEPTS[:last], {**concepts.CONCEPTS[last], **long})
    )
    _, window, screen = stage()
    assert (
        screen.switches.needed_width(False) <= before[0] + 80
    )  # each of the three would need 90 more in one line
    assert screen.picture.width() >= 400
    assert out_of_reach(window) == []


def test_long_marks_take_nothing_from_the_bars(stage: Open, monkeypatch: Any) -> None:
    long = [{**each, "off": f"{each['name']} from blue to pink"} for each in concepts.CONCEPTS]
    monkeypatch.setattr(concepts, "CONCEPTS", tuple(long))
    _, window, screen = stage()
    assert screen.card.needed_width(WORDS, GOOD_BAR) > MOST_CARD
    assert screen.card.width() >= screen.card.needed_width(WORDS, GOOD_BAR)
    assert out_of_reach(window) == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("folder", sorted((assets() / "stimuli").glob("*/answers.npy")))
def test_left_is_left_in_every_shipped_set(qapp: QApplication, folder: Path, language: str) -> None:
    """Eye, key, click, mirror and screen reader agree on what stands on which side."""
    words_of = yaml.safe_load(
        (assets() / "texts" / language / "participant.yaml").read_text("utf-8")
    )
    seen = []
    for known in library.load(folder.parent).manifest.concepts:
        concept = known.in_language(language)
        switch = ConceptSwitch(concept, Strings(words_of), theme.LIGHT)
        switch.set_form(False, switch.needed_widths(False))
        words = {1: concept.off, 2: concept.on}
        left, right = words[switch.states[0]], words[switch.states[2]]
        assert (left, right) in RIGHTWARDS.items() or not {left, right} & set(RIGHTWARDS)
        asked: list[int] = []
        switch.chosen.connect(lambda place, _device, into=asked: into.append(place))
        for arrow, place in ((Qt.Key.Key_Left, 0), (Qt.Key.Key_Right, 2)):
            QTest.keyClick(switch, arrow)
            state = switch.states[asked[-1]]
            switch.show_state(state, pending=False)
            assert (asked[-1], switch.index) == (place, place)
            told = heard(switch.options[place])
            assert (told.name, told.place) == ((left, right)[place == 2], place + 1)
            assert switch.middle_x(state) == switch.box(place).center().x()
            switch.show_state(0, pending=False)
        seen.append((left, right))
    if "side" in {known.id for known in library.load(folder.parent).manifest.concepts}:
        assert {("left", "right"), ("links", "rechts")} & set(seen)


def test_a_reversed_switch_records_what_its_words_mean(stage: Open, monkeypatch: Any) -> None:
    turned = [
        {**each, "right": "off"} if each["id"] == "side" else each for each in concepts.CONCEPTS
    ]
    monkeypatch.setattr(concepts, "CONCEPTS", tuple(turned))
    room, _, screen = stage()
    press(Qt.Key.Key_2, Qt.Key.Key_Left)
    assert screen.switches.switches[1].options[0].accessibleName() == "left"
    assert payloads(room, "concept.set")[-1]["to"] == 2  # "left" is its on, as ever
    assert trial_of(room).states[1] == 2
    assert screen.switches.switches[1].index == 0


def test_a_screen_reader_is_told_what_the_model_sees_and_says(stage: Open) -> None:
    room, _, screen = stage()
    item = screen.part.items[0]
    for switch, belief, concept in zip(
        screen.switches.switches, item.beliefs, screen.part.repaired.concepts, strict=True
    ):
        told = heard(switch.options[AS_IT_IS - 1])
        word = concept.on if belief >= 0.5 else concept.off
        sure = round(100 * max(belief, 1 - belief))
        assert told.name == f"as the model sees it: {word}, {sure} % certain"
        assert (told.group, told.place, told.of, told.checked) == (concept.name, 2, 3, True)
    trial = trial_of(room)
    for option, known, share in zip(
        screen.card.options, screen.part.repaired.classes, trial.probabilities, strict=True
    ):
        assert heard(option).name.startswith(f"{known.name}: {known.marks}, {100 * share:.0f}")
    assert heard(screen.picture).name == "Picture"


def test_the_time_stands_below_the_picture_and_stands_still_in_a_pause(stage: Open) -> None:
    clock = FakeClock()
    room, _, screen = stage(clock=clock)
    assert screen.time.text == "1:00 left for this picture"
    clock.advance(21.5)
    assert screen.time.text == "0:39 left for this picture"
    room.runner.send(Pause("phone"))
    clock.advance(30)
    room.runner.send(Resume("phone"))
    clock.advance(1)
    assert screen.time.text == "0:38 left for this picture"


def test_without_a_limit_no_time_is_shown(stage: Open) -> None:
    _, _, screen = stage(time_limit_s=None)
    assert screen.time is None


TITLE = "Correct what the model got wrong"


def secrets(part: PlannedPart) -> set[str]:
    """What participants must not read: names and numbers of the model."""
    repaired = part.repaired  # type: ignore[attr-defined]
    return {repaired.model, repaired.learner, *repaired.scores, "purity", "trap", "unrepairable"}


def test_nothing_of_the_model_or_the_truth_is_on_the_screen(stage: Open) -> None:
    room, window, screen = stage()
    assert isinstance(screen, RepairScreen)
    for _ in screen.part.items:
        room.runner.send(SetConcept(0, 2, "mouse"))
        words = shown(window).replace(TITLE, "").lower().split()
        assert not secrets(screen.part) & set(words)
        assert not {"correct", "right:", "wrong:"} & set(words)
        window.bottom.right.click()
