"""A rater who is blind reads no name of a model or condition, whatever the program has to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.errors import AnnotationsBusy, LabappError, ModelError
from labapp.base.messages import Message
from labapp.session.replay import history
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.ui import language
from labapp.ui.language import speak
from labapp.ui.replay.coding_window import CodingWindow
from labapp.ui.replay.exchange_panel import PlanLine
from tests.helpers.coded_session import SECOND
from tests.helpers.sample import sample

TEXTS = (
    "text", "toolTip", "statusTip", "whatsThis", "accessibleName", "accessibleDescription",
    "windowTitle", "placeholderText", "full", "toPlainText",
)  # fmt: skip


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model of the session is on this computer."""

    def load(model: str, *args: object, **how: object) -> object:
        raise ModelError(f"There is no model {model} in /models/{model}/card.json.")

    monkeypatch.setattr(history, "load_package", load)


@pytest.fixture
def opened(
    open_coding: Callable[..., CodingWindow], no_models: None, qtbot: QtBot
) -> Callable[..., CodingWindow]:
    def open_(*blind: str) -> CodingWindow:
        coding = open_coding(blind=blind)
        qtbot.waitUntil(lambda: coding.window.filled)
        models = coding.window.session.history.decoders
        for model in models:
            with pytest.raises(ModelError):
                models[model]
        coding.window._tell_of_history()
        return coding

    return open_


def texts_of(window: QWidget) -> list[str]:
    """Everything that a window and its widgets say, shown or to be asked for."""
    found: list[str] = []
    for widget in [window, *window.findChildren(QWidget)]:
        for name in TEXTS:
            said = getattr(widget, name, None)
            if callable(said):
                found.append(str(said()))
            elif isinstance(said, str):
                found.append(said)
        if isinstance(widget, QListWidget):
            rows = [widget.item(row) for row in range(widget.count())]
            found += [text for row in rows for text in (row.text(), row.toolTip())]
    return found


def names_in(coding: CodingWindow) -> set[str]:
    """What is to be hidden of the study quickstart: its models, and the parts of their ids."""
    models = set(coding.window.session.history.decoders)
    assert models
    return models | {model.split("/")[-1] for model in models}


def every_notice(coding: CodingWindow, name: str) -> Iterator[str]:
    """Says, one after the other, everything that this window can be made to say with a name in it:
    yields what was tried."""
    window = coding.window
    error = LabappError(f"{name} is gone.", safe=f"{name} stays.", todo=f"Get {name} again.")
    said = Message("pictures_of_another", model=name)
    yield "pictures that cannot be shown"
    window.show_error(error)
    yield "an error"
    window.show_error(AnnotationsBusy(f"/models/{name}/annotations is open."))
    yield "an error that stays"
    coding.coding.problem.emit(LabappError(said))
    yield "an error of coding"
    window._tell_of_sound(language.translate_message(f"No sound: {name}"))
    yield "no sound"
    window.session.history.problem = f"The study of {name} cannot be read."
    window._tell_of_history()
    window.picture.update()
    yield "no screen"
    window.picture._past and window.picture._past._give_up(language.translate_message(name))
    yield "a screen that failed"
    coding.exchange._show_exported  # noqa: B018 (what it tells goes through the same words)
    coding.panel.set_lines(
        [PlanLine(language.tr("exchange.missing"), "", language.translate_message(said))],
        language.in_words(error),
    )
    coding.panel.show()
    yield "exchange"
    items = (
        LaneItem("alarm.raised", SECOND, SECOND, payload={"alarm": "x", "detail": f"{name}: slow"}),
        LaneItem(
            "deviation.noted", 2 * SECOND, 2 * SECOND, text=f"{name} failed", payload={"a": 1}
        ),
        LaneItem("anything", 3 * SECOND, 3 * SECOND, text=name),
    )
    window.set_lanes([*window.lanes, Lane("alarms", "points", items)])
    yield "what happened"


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_a_blind_rater_reads_no_name(opened: Callable[..., CodingWindow], spoken: str) -> None:
    speak(spoken)
    coding = opened("names", "outcomes", "future")
    QApplication.processEvents()
    hidden = names_in(coding)
    names = sorted(set(coding.window.session.history.decoders))
    for name in sample(names, names[:1]):
        for what in every_notice(coding, name):
            QApplication.processEvents()
            told = texts_of(coding.window)
            if what == "what happened":  # nothing else is told by the timeline
                line = coding.window.timeline
                told += [line.describe(x, y) for x in range(0, 1300, 20) for y in range(0, 320, 12)]
            past = coding.window.picture._past
            told.append("" if past is None else past.problem)
            named = re.compile(rf"(?<!\w)({'|'.join(hidden)})(?!\w)", re.IGNORECASE)
            leaks = [text for text in told if named.search(text)]
            assert not leaks, (what, leaks[:3])
    assert any(language.tr("word.hidden") in text for text in texts_of(coding.window))


def test_a_rater_who_may_see_names_reads_them(opened: Callable[..., CodingWindow]) -> None:
    coding = opened()
    QApplication.processEvents()
    notice = coding.window.notices.text.text()
    assert any(model in notice for model in coding.window.session.history.decoders)
    assert "(hidden)" not in notice


def test_names_are_said_again_once_the_window_is_closed(
    opened: Callable[..., CodingWindow],
) -> None:
    coding = opened("names")
    model = next(iter(coding.window.session.history.decoders))
    assert model not in language.translate_message(Message("pictures_of_another", model=model))
    coding.window.close()
    assert model in language.translate_message(Message("pictures_of_another", model=model))


def test_a_sentence_of_the_program_stays_whole() -> None:
    """A condition may be called like any word: the words of the program itself are no name."""
    language.hide_names(["fast", "model", "pictures", "x"])
    try:
        said = language.tr("pictures.failed", model="fast/model")
        assert said == "The pictures of (hidden)/(hidden) could not be created."
        assert language.hide_names_in("/study/fast/intro.md") == "/study/(hidden)/intro.md"
        assert language.hide_names_in("faster models") == "faster models"
    finally:
        language.hide_names(())
