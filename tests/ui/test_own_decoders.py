"""Decoders of a lab's own in real windows: grey and in colour, small and large, and series with
limits of their own; what is painted is what the decoder made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from benchmarks.onnx_decoders import write
from labapp.models.representations.package import load_package
from labapp.models.representations.recipe import Task
from labapp.record.events.commands import Next
from labapp.tasks.reconstruction.events import MoveDial
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.tasks.single_dimension.screen import SingleDimensionScreen
from labapp.ui.moderator.mirror import ScreenMirror
from labapp.ui.widgets.dial import SeriesView
from labapp.ui.widgets.segments import ImageView

SHAPES = {"own/grey": (8, 8), "own/colours": (64, 64, 3), "own/large": (256, 256, 3)}
SIZES = [(900, 500), (1366, 768)]
TASK = Task(distance="dsprites", target_alignment=1, skip_after_s=5)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lab's own models."""
    folder = tmp_path / "models"
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


def study(folder: Path, task: str, model: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(
        f"id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\n"
        f"flow: [{{stages: {{{task}, models: [{model}]}}}}]\n"
    )
    return path


def painted(view: ImageView) -> np.ndarray:
    """The view's picture on the screen, levels (rows, columns, 3)."""
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    where = view.target_rect()
    left, top = round(where.left()), round(where.top())
    inside = pixels[top : top + round(where.height()), left : left + round(where.width())]
    return inside[..., 2::-1].astype(float)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("model", SHAPES)
def test_the_screen_shows_what_the_decoder_made(
    model, size, own, tmp_path, open_room, open_window, qapp
):
    write(own, model, SHAPES[model], task=TASK)
    decoder = load_package(model)
    path = study(tmp_path, "task: reconstruction, trials: 1", model)
    room = open_room(path, decoders={model: load_package(model)})
    window = open_window(room)
    room.runner.send(Next())
    window.resize(*size)
    qapp.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    for value in (0.5, -1.0):
        room.runner.send(MoveDial(1, value, "mouse"))
        qapp.processEvents()
        z = room.runner.state.part_state.trial.z
        made = decoder.decode(decoder.space.encode(z)[None])[0]
        view = screen.pictures.own
        assert isinstance(view, ImageView)
        assert view.width() <= size[0] / 2
        shown = painted(view)
        blocks = len(shown) // len(made) or 1
        if blocks * len(made) == len(shown):  # magnified by a whole number: exact
            expected = made.repeat(blocks, axis=0).repeat(blocks, axis=1)
            expected = expected if expected.ndim == 3 else expected[..., None].repeat(3, axis=2)
            assert np.abs(shown - expected * 255).max() <= 1
        else:
            assert shown.mean(axis=(0, 1)) == pytest.approx(made.mean(axis=(0, 1)) * 255, abs=4)
    screen.pictures.toggle.changed.emit(1)
    qapp.processEvents()
    assert screen.pictures.front is screen.pictures.both
    assert painted(screen.pictures.both).std() > 1
    mirror = ScreenMirror(window.session)
    mirror.resize(320, 200)
    mirror.show()
    mirror.follow()
    assert mirror.grab().toImage().width() >= 320
    mirror.close_picture()
    mirror.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("visualisation", ["traversals", "exemplars"])
@pytest.mark.parametrize("model", ["own/large", "own/colours"])
def test_examples_fit_beside_a_question(
    model, visualisation, size, own, tmp_path, open_room, open_window, qapp
):
    write(own, model, SHAPES[model], dimensions=2)
    task = f"task: single-dimension, visualisation: {visualisation}"
    room = open_room(study(tmp_path, task, model), decoders={model: load_package(model)})
    window = open_window(room)
    room.runner.send(Next())
    window.resize(*size)
    qapp.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, SingleDimensionScreen)
    wide, high = screen.sheet.cell
    assert wide == high
    if size == SIZES[1] or model == "own/colours":
        assert screen.sheet.width() <= size[0]
    image = screen.sheet.grab().toImage()
    colours = {image.pixel(x, image.height() // 2) for x in range(0, image.width(), 3)}
    assert len(colours) > 30


def test_a_series_is_drawn_within_the_limits_on_its_card(
    own, tmp_path, open_room, open_window, qapp
):
    model = "own/series"
    write(own, model, (32,), task=TASK)
    path = study(tmp_path, "task: reconstruction, trials: 1, overlay_at_start: true", model)
    room = open_room(path, decoders={model: load_package(model)})
    window = open_window(room)
    room.runner.send(Next())
    window.resize(1366, 768)
    qapp.processEvents()
    screen = window.screen_shown
    view = screen.pictures.both
    assert isinstance(view, SeriesView)
    ends = view.points(np.array([-3.0, 0.0, 3.0], dtype=np.float32))
    assert [round(point.y()) for point in ends] == [view.height() - 1, view.height() // 2, 1]
    part = room.runner.part
    assert part.chart == (-3, 3)
    assert part.model_dump(mode="json")["chart"] == [-3.0, 3.0]
