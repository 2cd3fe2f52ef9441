"""The moderator's screens in German, whose words are longer, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.study.loading import find
from labapp.ui import language
from scripts import screens_moderator, screens_unmasking_console
from scripts.screens_moderator import Shot
from tests.helpers.beside import put_beside
from tests.helpers.languages import translated


def shots(folder: Path) -> Iterator[Shot]:
    study = put_beside(folder) / "quickstart.yaml"
    study.write_text(find("quickstart").read_text("utf-8"), "utf-8")
    language.speak("de")
    try:
        for name, window in screens_moderator.shots(folder, str(translated(study, "de"))):
            yield f"de-{name}", window
        small = screens_unmasking_console.small(folder / "unmasking")
        for name, window in screens_unmasking_console.console(folder / "unmasking-data", small):
            yield f"de-{name}", window
        for name, window in screens_unmasking_console.home(small):
            yield f"de-{name}", window
    finally:
        language.speak(language.ENGLISH)
