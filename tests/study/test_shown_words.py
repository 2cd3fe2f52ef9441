"""Which words of the participant's window a study can show: a translation needs these and no
others."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

import labapp
from labapp.study import loading, words
from labapp.study.loading import WORDS, asset, load
from labapp.study.plugins import registry
from tests.helpers.beside import put_beside

PACKAGE = Path(labapp.__file__).parent
EVERYWHERE = ("ui", "study", "tasks/pages", "tasks/questionnaire")
"""Rooms whose screens any study can show."""


@cache
def keys() -> tuple[str, ...]:
    return tuple(words.shipped_words(WORDS, "en"))


@cache
def code(room: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((PACKAGE / room).rglob("*.py")))


@cache
def asked(room: str) -> str:
    """What code of a room asks for words with: `words("key")`, or one of several."""
    calls = r"(?:words|_words|strings|self)\(\s*([^()]*(?:\([^()]*\)[^()]*)*)\)"
    return "\n".join(re.findall(calls, code(room)))


def asks(room: str, key: str) -> bool:
    return f'"{key}"' in asked(room)


def claims() -> Iterator[tuple[str, str]]:
    for task in registry.task_types():
        for key in keys():
            if any(fnmatchcase(key, pattern) for pattern in task.own_words):
                yield type(task).__module__.split(".")[2], key


def test_no_task_claims_a_word_that_every_study_shows() -> None:
    shown = {key for _, key in claims() if any(asks(room, key) for room in EVERYWHERE)}
    # The console's consent form as a PDF, and what it says of an interview, stand in ui.
    assert {key for key in shown if not key.startswith("consent_")} == set()


def test_a_word_that_tasks_alone_ask_for_is_claimed_by_each_of_them() -> None:
    claimed = set(claims())
    rooms = [
        path.name
        for path in sorted((PACKAGE / "tasks").iterdir())
        if path.is_dir() and f"tasks/{path.name}" not in EVERYWHERE
    ]
    for key in keys():
        if not any(asks(room, key) for room in EVERYWHERE):
            for room in rooms:
                if asks(f"tasks/{room}", key):
                    assert (room, key) in claimed


@pytest.mark.parametrize("name", [path.stem for path in loading.shipped()])
def test_a_study_needs_a_part_of_the_words(name: str) -> None:
    shown = words.shown(load(name).study, WORDS)
    assert 40 < len(shown) < len(keys()) - 100
    assert ("judging_photo" in shown) == ("distinction" in name or "agreement" in name)
    assert ("mark_far" in shown) == (name == "calibration")
    assert "consent_use_video_required" not in shown


def test_the_quick_start_needs_its_own() -> None:
    shown = words.shown(load("quickstart").study, WORDS)
    assert {"overlay", "consent_name", "paused_title"} <= set(shown)
    for other in ("unmasking_", "judging_", "single_", "interview", "break", "consent_draw_"):
        assert not [key for key in shown if key.startswith(other)]
    assert len(shown) < 90, "of 300 words that all screens have"


def test_every_word_of_the_tasks_is_shown_by_some_shipped_study() -> None:
    """None falls between two kinds of stages. No shipped study has a break or a
    survey, or asks for all uses."""
    studies = [load(path.stem).study for path in loading.shipped()]
    shown = {key for study in studies for key in words.shown(study, WORDS)}
    assert [
        key
        for key in keys()
        if key not in shown and not key.startswith(("consent_", "break", "survey"))
    ] == []


def test_words_of_other_studies_are_not_missed(tmp_path: Path) -> None:
    study = put_beside(tmp_path) / "mine.yaml"
    text = (
        asset("studies/quickstart.yaml").read_text("utf-8").replace("language: en", "language: fr")
    )
    study.write_text(f"{text}\nfallback_language: en\n", "utf-8")
    shutil.copytree(tmp_path / "texts/en", tmp_path / "texts/fr")
    file = tmp_path / "texts/fr/participant.yaml"
    english = words.shipped_words(WORDS, "en")
    shown = words.shown(load("quickstart").study, WORDS)
    values = {key: sorted(words.fields_of(english[key])) for key in shown}
    rows = [f"{key}: '{key} {' '.join(f'{{{v}}}' for v in values[key])}'" for key in shown]
    file.write_text("\n".join(rows), "utf-8")
    loaded = load(study)
    assert list(words.mistakes(loaded)) == []
    assert words.in_fallback(loaded) == {}
    assert words.words_of(loaded).keys() == english.keys()
