from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.session.remote.linked import Network, SharedSession, wait_for_threads


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Callable[..., SharedSession]]:
    """Opens sessions that others can join; ends them, and whatever they began, after the test."""
    shared: list[SharedSession] = []

    def open_one(**more: Any) -> SharedSession:
        shared.append(SharedSession(tmp_path / f"shared-{len(shared)}", **more))
        return shared[-1]

    yield open_one
    for session in shared:
        session.close()
    wait_for_threads()


@pytest.fixture
def network() -> Iterator[Callable[[int], Network]]:
    """Makes networks to a port."""
    networks: list[Network] = []

    def make(to: int) -> Network:
        networks.append(Network(to))
        return networks[-1]

    yield make
    for each in networks:
        each.close()
