"""Small studies that together have every kind of part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PIL import Image

from tests.helpers import concepts as helpers
from tests.helpers.hint_study import shorter
from tests.helpers.judging import made_for, write_judging_study
from tests.helpers.single import write_single_study
from tests.helpers.unmasking import made, write_unmasking_study

DIALS = """\
id: dials
title: Dials, a break and an interview
version: 1
unnamed_texts: shipped
flow:
  - consent: shipped:consent
  - questionnaire: shipped:demographics
  - tutorial: reconstruction
  - practice: circles
  - stages:
      {task: reconstruction, models: [sinelines/gt], trials: 3, skip: always, labels: editable}
  - break: shipped:consent
  - stages: {task: reconstruction, marks: true, models: [circles/gt], trials: 2, skip: always}
  - questionnaire: shipped:comments
  - interview: shipped:interview
    questions: {en: ["What did you look for?", "What was hard?"]}
  - debrief: shipped:debrief
"""


def dials(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "dials.yaml"
    path.write_text(DIALS)
    return path


def single(folder: Path) -> Path:
    return write_single_study(folder, practice=True, lines=["questions_per_dimension: 1"])


def photos(folder: Path) -> Path:
    found = made_for(folder / "sets", "heatmap-distinction")
    return write_judging_study(folder, "heatmap-distinction", found, warm_up=True)


def paths(folder: Path) -> Path:
    found = made_for(folder / "sets", "path-first-step")
    return write_judging_study(folder, "path-first-step", found)


def masked(folder: Path) -> Path:
    return write_unmasking_study(folder, made(folder / "sets"), blank_ms=20)


def switches(folder: Path) -> Path:
    made_set = helpers.write(folder / "sets", 2)
    return helpers.write_study(folder, made_set, foresee="half", examples=True)


def awkward(folder: Path) -> Path:
    """The example with staircases, a check, a picture and a sound, and an item of every kind."""
    from tests.tasks.screens.test_item_kinds import CASES, instrument_of

    last = "  - questionnaire: hindsight\n"
    path = shorter(
        folder,
        (last, f"  - questionnaire: kinds\n{last}"),
        # Two quick models: of the others there are hundreds of movements.
        ("[sinelines/gt, sinelines/vae, sinelines/ae]", "[sinelines/gt, circles/gt]"),
        (
            "sinelines/ae: 1, sinelines/vae: -0.5, sinelines/gt: -0.5",
            "circles/gt: 1, sinelines/gt: -1",
        ),
        ("  sinelines/vae: VAE\n  sinelines/ae: Autoencoder\n", ""),
    )
    (path.parent / "instruments" / "kinds.yaml").write_text(instrument_of(*CASES))
    Image.new("RGB", (300, 120), "olive").save(path.parent / "pictures" / "map.png")
    return path


SMALL: dict[str, Callable[[Path], Path]] = {
    "dials": dials,
    "single": single,
    "photos": photos,
    "paths": paths,
    "masked": masked,
    "switches": switches,
    "awkward": awkward,
}
