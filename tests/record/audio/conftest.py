from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.waiting import wait_for_threads
from tests.record.audio.disk import Disk
from tests.sound import microphone, sound_server

__all__ = ["microphone", "sound_server"]


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Every thread of the recording ends with it."""
    yield
    wait_for_threads(lambda thread: thread.name.startswith("labapp-sound"))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk that sound is written to; `disk.room = 0` fills it."""
    stand_in = Disk()
    monkeypatch.setattr("labapp.record.audio.capture.os.write", stand_in.write)
    return stand_in
