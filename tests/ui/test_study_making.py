"""Studies at the home: made, previewed, and their conditions drawn."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typer.testing import CliRunner

from labapp.base.errors import Fault, SetupError, StimuliError, StudyFull, TargetExists, UsageError
from labapp.cli.main import app
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking
from labapp.record.events.commands import Next, SkipStage
from labapp.session.condition_assignment import preview
from labapp.session.overview import next_free
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import WORDS, load
from labapp.study.words import list_shown_words
from labapp.ui import background, fitting, language, starting, theme
from labapp.ui import home as home_module
from labapp.ui.home import HomeController
from labapp.ui.moderator.checklist import StudyChoice
from labapp.ui.moderator.home import STUDY, HomeWindow
from labapp.ui.moderator.study_page import NewStudy, StudyMaking
from labapp.ui.participant.window import WINDOWED
from labapp.ui.preview import (
    COLUMNS,
    THUMB,
    Preview,
    PreviewScreen,
    PreviewWindow,
    choose_cells,
    contact_sheet,
    open_preview,
    write_pictures,
)
from labapp.ui.qtapp import make_app
from labapp.ui.session_lists import PictureWarmer
from labapp.ui.starting import RunOptions, open_new
from labapp.ui.strings import Strings
from tests.helpers.drawn import drawn_study, ended, interrupted
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.questionnaires import written_study
from tests.helpers.unmasking import made, write_unmasking_study
from tests.session.test_slots import slotted
from tests.study.test_refusals import FAR_APART, faults, write
from tests.ui.quiet import restless_widgets


@pytest.fixture
def card(qtbot: QtBot) -> StudyMaking:
    make_app()
    made = StudyMaking(theme.LIGHT)
    qtbot.addWidget(made)
    made.set_sources([StudyChoice(name, name.title()) for name in ("quickstart", "mnist-crowd")])
    made.show()
    return made


def test_every_mistake_stands_in_place_with_its_line(card: StudyMaking, tmp_path: Path) -> None:
    told = faults(write(tmp_path, *FAR_APART[:3]))
    card.show_faults(told)
    assert card.check_result.isVisible()
    for fault in told:
        assert f"line {fault.line}, {fault.key}: {fault.what}" in card.check_result.text()
    card.show_faults((), "No problems were found in the study.")
    assert card.check_result.text() == "No problems were found in the study."
    card.show_faults(())
    assert not card.check_result.isVisible()


def test_a_new_study_and_a_copy_are_asked_for(
    card: StudyMaking, qtbot: QtBot, tmp_path: Path
) -> None:
    assert not card.copy.isEnabled(), "nothing is chosen"
    card.set_chosen("mnist-crowd")
    asked: list[NewStudy] = []
    card.new_requested.connect(asked.append)
    for button, source in ((card.new, "quickstart"), (card.copy, "mnist-crowd")):
        button.click()
        assert card.form.isVisible()
        assert card.source.currentText() == source.title()
        card.name.setText("mine")
        card.language.setText("fr")
        card.where.setText(str(tmp_path))
        card.make.click()
        assert asked[-1] == NewStudy("mine", source, "fr", tmp_path / "mine")
    card.cancel.click()
    assert not card.form.isVisible()
    card.new.click()
    QTest.keyClick(card.name, Qt.Key.Key_Escape)
    assert not card.form.isVisible()


def test_a_mistake_without_a_file_is_told_as_it_is(card: StudyMaking) -> None:
    card.show_faults([Fault("", 0, "", "there is no such study", "Give its path.")])
    assert card.check_result.text() == "there is no such study.\n    Give its path."


@pytest.mark.parametrize("language_", ["en", "de"])
def test_the_form_is_seen_whole_in_the_smallest_window(qtbot: QtBot, language_: str) -> None:
    make_app()
    language.speak(language_)
    window = HomeWindow()
    qtbot.addWidget(window)
    window.show()
    window.resize(*fitting.HOME)
    page = window.view.study
    page.making.set_sources([StudyChoice("quickstart", "Quick start: wavy lines")])
    window.view.pages.setCurrentWidget(page)
    window.view.tabs[STUDY].click()
    page.set_study(load("quickstart").study)
    page.set_plan([], "What is wrong with the study takes several lines. " * 9)
    page.making.new.click()
    shown = page.making.form
    assert not restless_widgets(), "what is laid out later would be cut off then"
    qtbot.waitUntil(lambda: shown.visibleRegion().boundingRect() == shown.rect())


def test_the_card_shows_what_would_be_drawn_and_when_all_is_done(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    loaded = drawn_study(tmp_path, cells="ab", draw=1)
    ended(loaded, tmp_path, "P01", "delete")
    home.choose_study(str(loaded.path))
    card = home.view.session
    assert card.participant.text() == "P02", "the label of whoever withdrew stays taken"
    (cell,) = preview(tmp_path / "data", loaded, "P02")
    assert f"Provisional condition: {cell}." in card.order.text()
    card.blind.setChecked(True)
    assert "Provisional condition" not in card.order.text()
    for participant in ("P02", "P03"):
        interrupted(loaded, tmp_path, participant)
    home.choose_study(str(loaded.path))
    assert card.plan_row().state == "missing"
    assert "drawn is full" in card.order.text()
    language.speak("de")
    try:
        home.choose_study(str(loaded.path))
        assert "drawn ist voll" in card.order.text()
    finally:
        language.speak("en")


def test_a_slot_is_shown_to_whoever_is_not_blind(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    loaded = slotted(tmp_path, per_cell=1)
    orders = set()
    card = home.view.session
    for participant in ("P01", "P02"):
        home.choose_study(str(loaded.path))
        (slot,) = preview(tmp_path / "data", loaded, participant)
        card.blind.setChecked(False)
        orders.add(card.order.text().splitlines()[0])
        assert f"Provisional condition: {slot}." in card.order.text()
        card.blind.setChecked(True)
        assert "hint" not in card.order.text()
        assert "sinelines" not in card.order.text()
        assert home._needed == ("sinelines/ae", "sinelines/gt", "sinelines/vae"), "in no order"
        interrupted(loaded, tmp_path, participant)
    assert len(orders) == 2
    home.choose_study(str(loaded.path))
    assert "drawn is full" in card.order.text()


def test_another_session_that_begins_meanwhile_is_no_hindrance(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, data = drawn_study(tmp_path, cells="ab", draw=1), tmp_path / "data"
    wanted = preview(data, loaded, "P01")
    labels = next_free(loaded, data, 40)[1:]
    other = next(label for label in labels if preview(data, loaded, label) == wanted)
    real = starting.session_dependencies
    loads: list[object] = []

    def slow(models: Any, *more: Any) -> Any:
        if not loads:
            interrupted(loaded, tmp_path, other)
        loads.append(models)
        return real(models, *more)

    monkeypatch.setattr(starting, "session_dependencies", slow)
    options = RunOptions(
        data=data, private=tmp_path / "private", audio="off", simulate="understanding"
    )
    opened = open_new(str(loaded.path), "P01", "1", options)
    assert set(opened.planned.assignment["condition"]).isdisjoint(wanted)
    assert len(loads) == 2
    with pytest.raises(StudyFull):
        open_new(str(loaded.path), "P39", "1", options)
    opened.close("test over")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def shown_preview(tmp_path: Path, temporary: Path, qtbot: QtBot) -> Iterator[Preview]:
    study = written_study(tmp_path / "study", break_s=30)
    with open_preview(load(study), None, None) as opened:
        yield opened
    assert not list(temporary.iterdir()), "nothing is left of it"


def test_every_screen_is_a_picture(shown_preview: Preview, tmp_path: Path) -> None:
    paths = write_pictures(shown_preview, tmp_path / "out")
    places, names = shown_preview.places, [path.name for path in paths]
    assert {place.file for place in places} < set(names)
    assert names[-3:] == ["session-paused.png", "session-completed.png", "contact-sheet.png"]
    assert len(set(names)) == len(names)
    parts = shown_preview.runner.machine.parts
    assert {place.part.id for place in places} == {part.id for part in parts}
    pages = [place for place in places if place.part.part == "questionnaire"]
    assert len(pages) > 1, "each page of a questionnaire"
    pictures = [QImage(str(path)) for path in paths]
    assert not any(picture.isNull() for picture in pictures)
    same = {bytes(picture.constBits()) for picture in pictures}
    assert len(same) == len(pictures), "and each is another"
    with pytest.raises(TargetExists, match="exists already"):
        write_pictures(shown_preview, tmp_path / "out")


def test_the_picture_of_a_page_that_scrolls_shows_all_of_it(
    tmp_path: Path, temporary: Path, qtbot: QtBot
) -> None:
    study = written_study(tmp_path / "study")
    long = "\n\n".join(f"Paragraph {number}." for number in range(60))
    (study.parent / "words.md").write_text(f"# Words\n\n{long}\n", "utf-8")
    with open_preview(load(study), None, None) as opened:
        paths = write_pictures(opened, tmp_path / "out")
        text = opened.places[0]
        assert opened.picture(text).height() > 2 * WINDOWED[1]
        assert opened.picture(text).width() == WINDOWED[0]
    sheet = QImage(str(paths[-1]))
    rows = -(-(len(paths) - 1) // COLUMNS)
    assert sheet.height() < rows * THUMB, "in which it is shown smaller"


def test_no_screen_shows_a_word_that_translations_do_not_need(
    tmp_path: Path, temporary: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    words_of = Strings.__call__

    def noted(strings: Strings, key: str, **values: object) -> str:
        asked.add(key)
        return words_of(strings, key, **values)

    monkeypatch.setattr(Strings, "__call__", noted)
    loaded = load("prototree-distinction")
    with open_preview(loaded, None, None) as opened:
        write_pictures(opened, tmp_path / "out")
    assert len(asked) > 80
    assert asked <= set(list_shown_words(loaded, WORDS))


def test_what_comes_up_inside_of_a_part_is_there_once(qapp: QApplication) -> None:
    with open_preview(load("quickstart"), None, None) as preview:
        stage = next(part for part in preview.runner.machine.parts if part.id == "stage-1")
        inside = [still for still in preview.stills if still.part is stage]
        after = {s.moment.after: s for s in inside if not s.moment.begins}
        assert set(after) == {"picture.decoded", "trial.solved", "skip.requested"}
        begun = [still.moment.trial for still in inside if still.moment.begins]
        assert begun == list(range(2, 6)), "the first question is the stage's own screen"
        solved, skipped = after["trial.solved"], after["skip.requested"]
        shown = preview.view_of(solved.moment)
        assert shown.part is stage
        assert shown.cover() is None
        assert shown.part_state.trial.solved
        assert preview.view_of(skipped.moment).takes_back, "the cover, too"
        number = f"{solved.moment.state.index + 1:02d}"
        assert solved.file == f"{number}-stage-1-trial-solved.png"
        twice = [preview.picture(solved) for _ in range(2)]
        assert twice[0] == twice[1]


def test_what_no_simulated_participant_gets_to_is_shown_by_the_window(
    shown_preview: Preview,
) -> None:
    shown_preview.course = Course(shown_preview.runner.machine)
    assert shown_preview.stills == ()
    last = shown_preview.places[-1]
    assert not shown_preview.picture(last).isNull()
    assert shown_preview.place == last


def test_who_was_right_and_who_was_wrong_are_both_told(qapp: QApplication) -> None:
    with open_preview(load("prototree-agreement"), None, None) as preview:
        parts = preview.runner.machine.parts
        warm_up = next(part for part in parts if part.part == "warm_up")
        told = [s for s in preview.stills if s.part is warm_up and s.moment.after == "photo.judged"]
        verdicts = [all(s.moment.state.part_state.trial.right.values()) for s in told]
        assert sorted(verdicts) == [False, True]
        preview.show(preview.places[-1])
        values = preview.window.session.result_values()
        assert any(values.values()), "texts tell how the parts before them went"


@pytest.fixture
def window(shown_preview: Preview, qtbot: QtBot) -> PreviewWindow:
    window = PreviewWindow(shown_preview)
    qtbot.addWidget(window)
    window.open()
    qtbot.waitExposed(window)
    return window


def _shows(window: PreviewWindow, preview: Preview, place: PreviewScreen) -> bool:
    screen = preview.window.screen_shown
    return (
        window.chosen == place
        and preview.place == place
        and window.shown.currentWidget() is window.tried
        and screen is not None
        and screen.planned is place.part
        and (place.part.rests or not preview.window.covered)
    )


def test_any_screen_can_be_chosen(
    window: PreviewWindow, shown_preview: Preview, qtbot: QtBot
) -> None:
    places = shown_preview.places
    for place in (places[-1], places[0], places[2], places[1]):
        window.choose(place)
        qtbot.waitUntil(partial(_shows, window, shown_preview, place))
    window.following.click()
    qtbot.waitUntil(partial(_shows, window, shown_preview, places[2]))
    window.back.click()
    qtbot.waitUntil(partial(_shows, window, shown_preview, places[1]))
    rows = [window.screens.topLevelItem(at) for at in range(window.screens.topLevelItemCount())]
    assert [row.text(0) for row in rows] == [*(p.title for p in places), "A pause", "The end"]
    window.choose(places[0])
    assert not window.back.isEnabled()
    window.screens.setCurrentItem(rows[-1])
    assert window.back.isEnabled()
    assert not window.following.isEnabled()


def test_a_moment_inside_of_a_part_is_looked_at_and_nothing_more(
    window: PreviewWindow, shown_preview: Preview, qtbot: QtBot
) -> None:
    inner = next(still for still in shown_preview.stills if still.part is not None)
    place = next(
        p for p in shown_preview.places if (p.part, p.page) == (inner.part, inner.moment.page)
    )
    window.choose(place)
    qtbot.waitUntil(partial(_shows, window, shown_preview, place))
    qtbot.keyClick(window.screens, Qt.Key.Key_Right)
    window.following.click()
    before = shown_preview.runner.state
    assert window.chosen == inner
    assert window.shown.currentWidget() is not window.tried
    assert "only look at" in window.told.text()
    picture = window.shown.currentWidget().grab().toImage()
    window.screens.setCurrentItem(window.screens.topLevelItem(len(shown_preview.places)))
    assert window.shown.count() == 2, "the one before is gone"
    assert window.shown.currentWidget().grab().toImage() != picture
    assert shown_preview.runner.state.part_state == before.part_state
    window.choose(place)
    qtbot.waitUntil(partial(_shows, window, shown_preview, place))
    assert window.shown.count() == 1


def test_the_list_follows_the_participants_own_way(
    window: PreviewWindow, shown_preview: Preview, qtbot: QtBot
) -> None:
    places = shown_preview.places
    for place in (next(place for place in places if place.pages > 1), places[0]):
        window.choose(place)
        qtbot.waitUntil(partial(_shows, window, shown_preview, place))
        shown_preview.runner.send(Next() if place.page else SkipStage())
        qtbot.waitUntil(lambda place=place: window.chosen != place)
        assert places.index(window.chosen) > places.index(place)
        assert shown_preview.place == window.chosen


def test_closing_the_list_ends_the_preview(window: PreviewWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closed):
        window.close()


def test_a_changed_file_is_noticed_and_shown_at_the_same_page(tmp_path: Path, qtbot: QtBot) -> None:
    study = tmp_path / "own" / "own.yaml"
    result = CliRunner().invoke(app, ["studies", "new", "own", "--out", str(study.parent)])
    assert result.exit_code == 0, result.output
    reread = partial(load, study)
    with open_preview(reread(), None, None) as preview:
        window = PreviewWindow(preview, reread)
        qtbot.addWidget(window)
        window.open()
        window.choose(preview.places[1])
        assert not window.reopen.isVisible()
        text = study.read_text()
        study.write_text(f"{text}nonsense: 1\n")
        qtbot.waitUntil(window.reopen.isVisible)
        window.reopen.click()
        assert "nonsense" in window.problem.text()
        assert window.isVisible(), "a mistake in the file ends no preview"
        room = window.screens.height()
        study.write_text(text + "".join(f"nonsense_{n}: 1\n" for n in range(40)))
        window.reopen.click()
        *_, last, _, todo = window.problem.text().splitlines()
        assert "nonsense_39" in last
        assert todo.startswith("Correct these lines")
        assert window.screens.height() >= room - 40, "many mistakes leave the list its room"
        study.write_text(text.replace("title: ", "title: Another ", 1))
        with qtbot.waitSignal(window.closed):
            window.reopen.click()
        before = window.reopened
        assert before is not None
        assert before.loaded.study.title.startswith("Another ")
    with open_preview(before.loaded, None, None) as preview:
        window = PreviewWindow(preview, reread)
        qtbot.addWidget(window)
        window.open(before)
        assert window.chosen == preview.places[1]
        assert "Another " in window.windowTitle()


def test_behind_the_last_screen_any_can_be_chosen_again(
    window: PreviewWindow, shown_preview: Preview, qtbot: QtBot
) -> None:
    first, last = shown_preview.places[0], shown_preview.places[-1]
    window.choose(last)
    qtbot.waitUntil(partial(_shows, window, shown_preview, last))
    shown_preview.runner.send(SkipStage())
    qtbot.waitUntil(lambda: shown_preview.place is None)
    window.choose(first)
    qtbot.waitUntil(partial(_shows, window, shown_preview, first))


def test_without_a_screen_the_preview_says_what_to_do() -> None:
    result = CliRunner().invoke(app, ["studies", "preview", "quickstart"])
    assert isinstance(result.exception, SetupError)
    assert "--out" in result.exception.todo


def test_a_condition_is_chosen_by_its_name() -> None:
    loaded = load("synthetic-crowd")
    assert choose_cells(loaded, "exemplars-dsprites") == ("exemplars-dsprites",)
    assert len(choose_cells(loaded, None)) == 1
    with pytest.raises(UsageError, match="1 of reconstruction-dsprites"):
        choose_cells(loaded, "nope")
    with pytest.raises(UsageError, match="draws no conditions"):
        choose_cells(load("quickstart"), "nope")


def test_a_study_is_read_in_another_language() -> None:
    assert load("quickstart", "de").study.language == "de"


def test_a_contact_sheet_has_room_for_all() -> None:
    image = QImage(64, 36, QImage.Format.Format_RGB32)
    image.fill(0)
    assert contact_sheet([(image, "one")]).width() < contact_sheet([(image, "a")] * 4).width()
    assert contact_sheet([(image, "a")] * 4).height() < contact_sheet([(image, "a")] * 5).height()


BIRDS = tuple(f"bird:7:test:{species}:0" for species in range(3))


@pytest.fixture
def warmer(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PictureWarmer]:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    made = PictureWarmer()
    yield made
    made.close()


def painted(tmp_path: Path) -> list[str]:
    return sorted(path.stem for path in (tmp_path / "cache").rglob("*.jpg"))


def test_they_are_painted_and_counted(warmer: PictureWarmer, qtbot: QtBot, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    warmer.changed.connect(lambda: seen.append((warmer.done, warmer.of)))
    warmer.want([*BIRDS, "heat.png"])
    qtbot.waitUntil(lambda: warmer.done == 4, timeout=30_000)
    assert seen[0] == (0, 3)
    assert seen == sorted(seen)
    assert seen[-1] == (4, 4)
    assert painted(tmp_path) == sorted(ref.replace(":", "-") for ref in BIRDS)


def test_pictures_that_are_all_there_already_are_all_counted(
    warmer: PictureWarmer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Soon(ThreadPoolExecutor):
        """Ready before anybody can ask to be told, as it is with painted pictures."""

        def submit(self, *args: Any, **more: Any) -> Future[Any]:
            future = super().submit(*args, **more)
            wait([future])
            return future

    monkeypatch.setattr(background, "ThreadPoolExecutor", Soon)
    warmer.want(BIRDS)
    qtbot.waitUntil(lambda: warmer.done >= 3, timeout=30_000)
    qtbot.wait(50)
    assert (warmer.done, warmer.of) == (3, 3)


def test_others_take_their_place(warmer: PictureWarmer, qtbot: QtBot, tmp_path: Path) -> None:
    warmer.want(BIRDS)
    warmer.want(BIRDS[:1])
    qtbot.waitUntil(lambda: warmer.done == 1, timeout=30_000)
    assert (warmer.done, warmer.of) == (1, 1)
    assert len(painted(tmp_path)) < len(BIRDS)


def test_a_picture_that_cannot_be_made_is_told(warmer: PictureWarmer, qtbot: QtBot) -> None:
    warmer.want(["bird:7:test:99:0"])
    qtbot.waitUntil(lambda: bool(warmer.problem), timeout=30_000)
    assert "names no bird" in warmer.problem


@pytest.fixture
def home_with_pictures(
    no_microphone: None,
    open_home: Callable[..., HomeController],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> HomeController:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    return open_home()


def test_start_waits_for_the_pictures(
    home_with_pictures: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    view = home_with_pictures.view
    home_with_pictures.choose_study(str(write_judging_study(tmp_path, "prototype-agreement")))
    rows = view.ready.rows
    assert not rows["pictures"].isHidden()
    assert rows["decoders"].isHidden()
    assert "Preparing the models" in rows["pictures"].text.text()
    assert not view.ready.start_button.isEnabled()
    qtbot.waitUntil(lambda: "are ready" in rows["pictures"].text.text(), timeout=30_000)
    qtbot.waitUntil(view.ready.start_button.isEnabled, timeout=30_000)
    home_with_pictures.choose_study("quickstart")
    assert rows["pictures"].isHidden()
    assert not rows["decoders"].isHidden()


def test_what_else_is_to_be_known_is_asked_in_the_thread(
    warmer: PictureWarmer, qtbot: QtBot
) -> None:
    asked: list[str] = []
    warmer.want(["masked-1", "masked-2"], lambda: asked.append(threading.current_thread().name))
    assert (warmer.done, warmer.of) == (0, 2)
    qtbot.waitUntil(lambda: warmer.done == 2, timeout=30_000)
    (name,) = asked
    assert name.startswith("pictures")


def test_an_answer_that_cannot_be_had_is_told(warmer: PictureWarmer, qtbot: QtBot) -> None:
    def another() -> None:
        raise StimuliError("The set was made with another model.")

    warmer.want(["masked-1"], another)
    qtbot.waitUntil(lambda: bool(warmer.problem), timeout=30_000)
    assert warmer.problem == "The set was made with another model."


def test_the_home_asks_the_model_of_masked_pictures_before_the_start(
    home_with_pictures: HomeController,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    def outputs(found: StimulusSet, masking: Masking, photo: Photo, method: str) -> list[Logits]:
        asked.append((photo.id, method))
        return [(0.0, 1.0)] * len(masking.percents)

    monkeypatch.setattr(home_module, "predict_masked", outputs)
    study = write_unmasking_study(tmp_path / "study", made(tmp_path / "set"))
    home_with_pictures.choose_study(str(study))
    view = home_with_pictures.view
    qtbot.waitUntil(view.ready.start_button.isEnabled, timeout=30_000)
    assert len(asked) == len(set(asked)) == 1 + 8
