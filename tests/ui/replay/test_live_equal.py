"""The replayed screen is the one that was live: pixel for pixel, whatever the order of seeking.

Masked are the focus ring, the caret and what lies under the pointer, which no journal holds.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from labapp.base.errors import LabappError
from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.ui.participant.view import Bridge
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.replay.picture import PastWindow, still
from labapp.ui.strings import strings_of
from tests.helpers.sample import sample
from tests.session.sessions import virtual_session

SHARES = {
    "quickstart": 0.3,
    "calibration": 0.3,
    "synthetic-crowd": 0.2,
    "mnist-think-aloud": 0.3,
    "protopnet-distinction": 0.3,
    "prototree-distinction": 0.3,
    "gradcam-distinction-labels": 0.3,
    "concept-forecast": 0.05,
}
"""How many of the moments of a session are looked at."""
FEW = ("quickstart", "protopnet-distinction", "mnist-think-aloud")


def pixels(image: QImage) -> NDArray[np.uint8]:
    """Height x width x 3."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    whole = np.frombuffer(image.constBits(), np.uint8)
    return whole.reshape(image.height(), image.width(), 4)[..., :3].copy()


@pytest.mark.parametrize("study", sample(list(SHARES), FEW))
def test_the_replayed_screen_is_the_one_that_was_live(
    study: str, tmp_path: Path, qapp: QApplication
) -> None:
    session, scheduler, loaded, label = virtual_session(study, tmp_path)
    runner = session.runner
    bridge = Bridge(runner)
    window = ParticipantWindow(
        bridge,
        loaded,
        strings_of(loaded),
        loaded.study.presentation,
        session.give_consent,
    )
    window.resize(1366, 768)
    window.show()
    session.begin()
    driver = Driver(
        runner,
        session.give_consent,
        "understanding",
        session.planned.seed,
        label,
        FAST,
        paints=True,
        language=session.planned.language,
    )
    driver.start()
    rng = random.Random(study)
    seen = []

    def look() -> bool:
        if rng.random() < SHARES[study] and not runner.finished:
            for _ in range(4):
                qapp.processEvents()
                window.looks.look()
            window.setFocus()
            qapp.processEvents()
            seen.append((runner.clock.now_ns(), runner.state, pixels(window.grab().toImage())))
        return runner.finished

    scheduler.run(look)
    driver.stop()
    window.close_for_good()
    window.deleteLater()
    session.close("over")
    assert len(seen) > 20
    rng.shuffle(seen)
    with History(open_record(session.folder.path)) as history:
        past = PastWindow(history)
        for t_ns, state, live in seen:
            assert history.state_at(t_ns) == state
            past.show_time(t_ns)
            picture = pixels(past.draw(past.picture.window.size(), 1.0).toImage())
            assert picture.shape == live.shape
            differing = int(np.any(picture != live, axis=2).sum())
            assert differing == 0, f"{differing} pixels at {t_ns / 1e9:.3f} s"
        past.close()
        assert history.problems == ()
        # The same picture every time, of a window of any size.
        middle = (history.begin_ns + history.end_ns) // 2
        assert still(history, middle) == still(history, middle)


def test_a_screen_that_cannot_be_made_says_so_and_the_rest_goes_on(
    tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the model of that name is another one by now, with other dials."""
    session = simulate_at_scale("quickstart", 1, "understanding", tmp_path / "data", 1)[0]
    with History(open_record(session)) as history:
        part = next(
            event.t_ns for event, payload in history.events if payload.moved_dial() is not None
        )
        model = next(iter(history.decoders))
        space = replace(
            history.decoders[model].space, dimensions=history.decoders[model].space.dimensions[:1]
        )
        for decoder in history.decoders.values():
            monkeypatch.setattr(type(decoder), "space", space)
        past = PastWindow(history)
        past.show_time(part)
        assert "does not match" in past.problem
        past.draw(past.picture.window.size(), 1.0)
        with pytest.raises(LabappError, match="does not match"):
            still(history, part)
        past.show_time(history.begin_ns)
        assert past.problem == ""
        past.close()
