"""Every kind of questionnaire items, untouched and answered, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.record.events.commands import Next
from labapp.tasks.questionnaire.machine import Answer
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.rooms import make_runner
from tests.tasks.screens.test_item_kinds import CASES, write_study

Shot = tuple[str, QWidget]


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        study = write_study(folder / language, language=language, per_page=1)
        room = make_runner(folder / language / "room", study, scheduler=QtScheduler)
        window = ParticipantWindow(
            Bridge(room.runner),
            room.loaded,
            strings_of(room.loaded),
            room.loaded.study.presentation,
            room.session.give_consent,
        )
        room.session.begin()
        window.open_on()
        try:
            for number, (kind, case) in enumerate(CASES.items(), start=1):
                name = f"k{number:02d}-{kind}-{language}"
                yield f"{name}-untouched", window
                room.runner.send(Answer(f"i_{kind}", case.answer))
                yield f"{name}-answered", window
                room.runner.send(Next())
        finally:
            window.close_for_good()
            room.session.close("pictures taken")
