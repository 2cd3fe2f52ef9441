"""The studies that trials with real events play are still in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base import resources
from labapp.session.gate import gate
from scripts import concept_hands, trial_keyboard, trial_questions

SHIPPED = sorted(path.stem for path in (resources.assets() / "studies").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_without_sound_is_in_order(name: str, tmp_path: Path) -> None:
    gate(trial_questions.without_sound(name, tmp_path))


def test_the_study_of_the_keyboard_is_in_order(tmp_path: Path) -> None:
    gate(trial_keyboard.study(tmp_path))


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("concept-repair")])
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_short_study_of_concepts_is_in_order(name: str, language: str, tmp_path: Path) -> None:
    gate(concept_hands.study(tmp_path, name, language))
