"""The participant's screens in German, whose words are longer, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.study.loading import find
from labapp.tasks.reconstruction.events import ToggleOverlay
from scripts.screens_participant import Shot, opened, quickstart, skipping
from scripts.screens_single_dimension import answer
from tests.helpers.beside import put_beside
from tests.helpers.languages import translated
from tests.helpers.packages import ring_model
from tests.helpers.rooms import skip_to
from tests.helpers.single import write_single_study
from tests.helpers.studies import ring_decoder, write_study


def shots(folder: Path) -> Iterator[Shot]:
    study = put_beside(folder) / "quickstart.yaml"
    study.write_text(find("quickstart").read_text())
    for name, window in quickstart(folder / "quickstart", translated(study, "de")):
        yield f"de-{name}", window
    yield from reconstruction(folder / "reconstruction")
    for name, window in skipping(folder / "skipping", "de"):
        yield f"de-{name}", window
    for visualisation in ("traversals", "exemplars"):
        yield from single(folder / visualisation, visualisation)


def reconstruction(folder: Path) -> Iterator[Shot]:
    """The screens with most words: eleven named dials; T seconds announced, and an overlay."""
    model = "mnist8k/ss10"
    study = translated(write_study(folder / "mnist", model, labels="editable"), "de")
    decoders = {model: ring_decoder(model, 10, 10)}
    with opened(folder / "mnist", study=study, decoders=decoders) as (room, window):
        skip_to(room, "stage-1")
        yield "de-p20-mnist-11-dials", window
        room.runner.send(ToggleOverlay(True))
        yield "de-p21-mnist-overlay", window
    model = "dsprites/ae"
    study = translated(
        write_study(folder / "dsprites", model, skip="after", skip_after_s=7.5), "de"
    )
    decoders = {model: ring_decoder(model, 5)}
    with opened(folder / "dsprites", study=study, decoders=decoders) as (room, window):
        skip_to(room, "stage-1")
        yield "de-p23-dsprites", window


def single(folder: Path, visualisation: str) -> Iterator[Shot]:
    """A question of two lines above a picture."""
    model = "mnist8k/ss5"
    study = translated(write_single_study(folder, [model], visualisation), "de")
    decoders = {model: ring_model(model, 5, 10)}
    with opened(folder / "data", study=study, decoders=decoders) as (room, window):
        skip_to(room, "stage-1")
        screen = window.screen_shown
        assert screen is not None
        screen.right()
        yield f"de-s09-{visualisation}-missing", window
        answer(room, right=False)
        yield f"de-s10-{visualisation}-wrong", window
