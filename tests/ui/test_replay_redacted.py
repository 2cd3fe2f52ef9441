"""What is redacted is not heard in the replay window either."""

from __future__ import annotations

import threading
from pathlib import Path

from pytestqt.qtbot import QtBot

from labapp.annotations.redacting import redact
from labapp.clock import NS
from labapp.replay.sound import SessionSound
from labapp.ui.replay.session import open_session
from tests.helpers.journals import golden_session


def test_redacted_sound_is_silent_and_drawn_as_silence(tmp_path: Path, qtbot: QtBot) -> None:
    session = golden_session(tmp_path / "data")
    redact(session, 20 * NS, 24 * NS, "anna")
    before = threading.active_count()
    opened = open_session(session)
    try:
        sound = opened.player._source  # type: ignore[attr-defined]
        assert isinstance(sound, SessionSound)
        assert not sound.read(20 * NS, 4 * sound.rate).any()
        assert sound.read(24 * NS, sound.rate)[10:].any()
        assert opened.peaks is not None
        low, high = opened.peaks.between(21 * NS, 23 * NS, 8)
        assert not low.any()
        assert not high.any()
    finally:
        opened.close()
        qtbot.waitUntil(lambda: threading.active_count() == before, timeout=10_000)
