"""A withdrawal that is killed at any step is gone on with by asking again, and leaves nothing."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from labapp.record.journal.decisions import add_comment, withdrawals
from labapp.record.journal.sessions import list_sessions
from labapp.session import runner
from labapp.session.folder import list_taken_labels
from labapp.session.private import consents
from labapp.session.withdrawal import withdraw
from tests.session.sessions import begin_session

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child that is killed is forked")

TOUCHES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect"}


def killed(home: Path, number: int) -> bool:
    """Withdraw the session of a copy in a child that is killed before the `number`-th thing it does
    to the disk; whether it did so many."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal count
            if event in TOUCHES and str(home) in os.fsdecode(str(arguments[0])):
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            withdraw(next(home.glob("data/quickstart/sub-P01*")), home / "private", delete=True)
        except BaseException:  # noqa: BLE001 - the child must not go on as a test
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.timeout(120)
def test_a_withdrawal_killed_at_any_step_is_gone_on_with(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    for participant in ("P01", "P02"):
        session = begin_session(whole, participant=participant)
        session.give_consent(f"Name of {participant}")
        session.close("interrupted")
        add_comment(session.folder.path, f"Remark on {participant}")
        runner.days_of(whole / "private", "quickstart", participant)
    path = next(whole.glob("data/quickstart/sub-P01*"))
    number = 1
    while True:
        home = tmp_path / str(number)
        shutil.copytree(whole, home)
        was_killed = killed(home, number)
        study = home / "data" / "quickstart"
        assert list_taken_labels(home / "data", "quickstart").keys() == {"P01", "P02"}
        listed = {line.participant for line in list_sessions(home / "data")}
        assert listed == {"P01", "P02"} or "sub-P01" in str(withdrawals(study))
        if (study / path.name).exists() or any(study.glob(".withdrawn-*")):
            withdraw(study / path.name, home / "private", delete=True)
        assert list(withdrawals(study)) == [path.name]
        assert [record.participant for record in consents(home / "private", "quickstart")] == [
            "P02"
        ]
        with closing(sqlite3.connect(home / "private" / "quickstart.sqlite")) as connection:
            assert connection.execute("SELECT participant FROM shift").fetchall() == [("P02",)]
        files = [file for file in home.rglob("*") if file.is_file()]
        assert not [file for file in files if "sub-P01" in str(file)]
        for mark in (b"Remark on P01", b"Name of P01"):
            assert not [file for file in files if mark in file.read_bytes()], mark
        shutil.rmtree(home)
        if not was_killed:
            break
        number += 1
    assert number > 15
