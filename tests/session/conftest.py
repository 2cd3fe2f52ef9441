from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.record.events.commands import ConfirmSkip, SkipStage
from labapp.session.opening import OpenSession
from tests.helpers.disks import SmallDisk, small_disk
from tests.helpers.waiting import PATIENCE_S, wait_for_threads
from tests.session.sessions import opened, settle


@pytest.fixture(autouse=True)
def no_thread_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every thread of a session ends with it. In the folders below, other packages have threads."""
    if request.path.parent != Path(__file__).parent:
        yield
        return
    before = set(threading.enumerate())
    yield
    wait_for_threads(lambda thread: thread not in before and thread.is_alive())


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", monkeypatch) as made:
        yield made


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., OpenSession]]:
    """Opens and begins sessions; closes them after the test. commit_timeout_s: from the part on;
    until then it waits for the disk, while which virtual time would run away."""
    sessions: list[OpenSession] = []

    def open_one(
        part: str = "consent", *, commit_timeout_s: float = PATIENCE_S, **more: Any
    ) -> OpenSession:
        session = opened(tmp_path / str(len(sessions)), **more)
        sessions.append(session)
        session.begin()
        if part != "consent":
            session.give_consent("Somebody")
        settle(session)
        while session.runner.part is not None and session.runner.part.id != part:
            session.runner.send(SkipStage())
            settle(session)
            session.runner.send(ConfirmSkip())
            settle(session)
        session.runner.commit_timeout_s = commit_timeout_s
        return session

    yield open_one
    for session in sessions:
        session.close("test over")
