"""Pictures of a study are painted while the home is on the screen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from labapp.base.errors import StimuliError
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking
from labapp.ui import home as home_module
from labapp.ui import session_lists
from labapp.ui.home import HomeController
from labapp.ui.session_lists import PictureWarmer
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.unmasking import made, write_unmasking_study

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

    monkeypatch.setattr(session_lists, "ThreadPoolExecutor", Soon)
    warmer.want(BIRDS)
    qtbot.waitUntil(lambda: warmer.done >= 2, timeout=30_000)
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
def home(
    no_microphone: None,
    open_home: Callable[..., HomeController],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> HomeController:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    return open_home()


def test_start_waits_for_the_pictures(home: HomeController, qtbot: QtBot, tmp_path: Path) -> None:
    view = home.view
    home.choose_study(str(write_judging_study(tmp_path, "prototype-agreement")))
    rows = view.ready.rows
    assert not rows["pictures"].isHidden()
    assert rows["decoders"].isHidden()
    assert "They are being made ready" in rows["pictures"].text.text()
    assert not view.ready.start_button.isEnabled()
    qtbot.waitUntil(lambda: "are there" in rows["pictures"].text.text(), timeout=30_000)
    qtbot.waitUntil(view.ready.start_button.isEnabled, timeout=30_000)
    home.choose_study("quickstart")
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
    home: HomeController, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def outputs(found: StimulusSet, masking: Masking, photo: Photo, method: str) -> list[Logits]:
        asked.append((photo.id, method))
        return [(0.0, 1.0)] * len(masking.percents)

    monkeypatch.setattr(home_module, "predict_masked", outputs)
    study = write_unmasking_study(tmp_path / "study", made(tmp_path / "set"))
    home.choose_study(str(study))
    view = home.view
    qtbot.waitUntil(view.ready.start_button.isEnabled, timeout=30_000)
    assert len(asked) == len(set(asked)) == 1 + 8
