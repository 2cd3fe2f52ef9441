"""Simulated participants who repair concepts of models that leak more and less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from labapp.analysis import Tables, load
from labapp.models.stimuli.library import StimulusSet
from labapp.session.simulation.simulation_job import simulate
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.tasks.concept_repair.simulated import Eyesight
from tests.helpers.concepts import TEXTS, write
from tests.session.sessions import surroundings

EXACT = Eyesight(sees=(1.0, 1.0), applies=1.0)
"""Nobody errs: what happens follows from strategy and model alone."""
LEAKS = {"pure": 1.0, "impure": 7.0}
"""By name of a set how much its model leaks."""


def sets(folder: Path, leaks: Mapping[str, float] = LEAKS) -> list[StimulusSet]:
    """A set a model."""
    return [
        write(folder, 4, each=6, natural=6, leak=leak, name=f"tiny-{name}")
        for name, leak in leaks.items()
    ]


def study(folder: Path, made: Sequence[StimulusSet], **stages: Any) -> LoadedStudy:
    """A study in which everybody meets two of the models, in balanced order."""
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    said: dict[str, Any] = {
        "task": "concept-repair",
        "stimuli": "{pictures}",
        "intro": "intro.md",
        "items": {"repair": 3, "control": 3, "natural": 3},
        "foresee": "half",
        "think_aloud": True,
    }
    document = {
        "id": "repaired",
        "title": "Repaired",
        "version": 1,
        "seed": 5,
        "recording": {"audio": "off"},
        "assignment": {
            "learner": {
                "draw": 2,
                "included": 10,
                "cells": {one.id: {"pictures": str(one.folder)} for one in made},
            }
        },
        "flow": [{"each": "learner", "flow": [{"stages": said | stages}]}],
    }
    path = folder / "repaired.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    return loading.load(path)


def sessions(
    folder: Path, loaded: LoadedStudy, strategies: Sequence[str], eyesight: Eyesight = EXACT
) -> list[Path]:
    """A session a strategy, by participants P01, P02 …"""
    return [
        simulate(
            loaded,
            f"P{number:02}",
            surroundings(folder),
            data=folder / "data",
            strategy=strategy,
            options={"concept-repair": eyesight},
            thinks_aloud=True,
        )
        for number, strategy in enumerate(strategies, start=1)
    ]


def cohort(folder: Path, strategies: Sequence[str], **stages: Any) -> Tables:
    """Their tables."""
    made = sets(folder / "sets")
    sessions(folder, study(folder / "study", made, **stages), strategies)
    return load(folder / "data")
