"""The pages around the masked pictures, from consent to debrief, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.record.events.commands import Next
from labapp.study.loading import find
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.unmasking.plan import UnmaskingPart
from scripts.screens_participant import Shot, opened
from scripts.screens_unmasking import painted, step, until
from tests.helpers.beside import put_beside
from tests.helpers.languages import translated
from tests.helpers.rooms import skip_to

GERMAN = {
    "question: Which emotion is shown in the image?": "question: Welches Gefühl zeigt das Bild?",
    "{anger: anger, happiness: happiness}": "{anger: Ärger, happiness: Freude}",
    'currency: "$"': 'currency: "€"',
}
"""What a lab changes in its German copy of the study."""


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        study = put_beside(folder) / f"{language}.yaml"
        text = find("unmasking-faces").read_text()
        if language == "de":
            for english, german in GERMAN.items():
                assert english in text
                text = text.replace(english, german)
        text = text.replace("      think_aloud: false", "      breaks: {every: 10}")
        study.write_text(text)
        yield from pages(folder / f"{language}-data", translated(study, language), language)


def pages(folder: Path, study: Path, name: str) -> Iterator[Shot]:
    """Every page of the study, in order, with two of its pictures."""
    with opened(folder, study=study) as (room, window):
        screen = window.screen_shown
        assert isinstance(screen, ConsentScreen)
        yield f"v01-{name}-consent", window
        room.session.give_consent("A Participant")
        number = 1
        for part in room.runner.machine.parts[1:]:
            if room.runner.part is None or room.runner.part.id != part.id:
                skip_to(room, part.id)
            number += 1
            if isinstance(part, UnmaskingPart):
                until(room, window, lambda: painted(room))
                step(room, window, 9 if part.role == "practice" else 5)
            yield f"v{number:02d}-{name}-{part.id}", window
            if part.id == "text-1":
                room.runner.send(Next())
                yield f"v{number:02d}-{name}-{part.id}-second", window
