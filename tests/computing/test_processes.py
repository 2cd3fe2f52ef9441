"""Processes that do long work: one that is lost is told, and none is left."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from labapp.computing.processes import cores, processes
from labapp.errors import SetupError


def test_processes_work_and_none_is_left() -> None:
    with processes(2) as pool:
        assert list(pool.map(abs, (-1, 2, -3))) == [1, 2, 3]
        assert pool.submit(os.getpid).result() != os.getpid()
    assert not active_children()


def test_ctrl_c_is_for_the_process_that_asked() -> None:
    with processes(1) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def test_a_process_that_is_killed_is_told() -> None:
    with (
        pytest.raises(SetupError, match="ended before its work was done") as told,
        processes(1, safe="Nothing was changed.") as pool,
    ):
        pool.submit(os.abort).result()
    assert told.value.safe == "Nothing was changed."
    assert "--workers 1" in told.value.todo


def test_at_least_one_core() -> None:
    assert cores() >= 1
