"""Processes that do long work: one that is lost is told, and none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children
from pathlib import Path

import pytest

from labapp.base.errors import SetupError
from labapp.base.parallel.processes import cores, processes


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


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, ValueError])
def test_after_an_error_nobody_waits_for_what_was_begun(error: type[BaseException]) -> None:
    begun: list[Future[None]] = []

    def broken_off() -> None:
        with processes(1) as pool:
            begun.append(pool.submit(time.sleep, 600))
            while not begun[0].running():
                time.sleep(0.01)
            raise error

    with pytest.raises(error):
        broken_off()
    assert isinstance(begun[0].exception(), BrokenProcessPool)
    assert not active_children()


KILLED = """
import os, signal, time
from labapp.base.parallel.processes import processes
if __name__ == "__main__":
    with processes(2) as pool:
        pool.submit(time.sleep, 600)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_they_end_with_the_process_that_asked(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    # They hold its output, which so comes to an end with them.
    killed = [sys.executable, str(script)]
    ended = subprocess.run(killed, capture_output=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL


def test_at_least_one_core() -> None:
    assert cores() >= 1
