"""Starts of a session that are killed at every step, one after another.

    python -m tests.crash.starting FOLDER STUDY

Start number n is made in FOLDER/n by a process of its own, which is killed before the n-th thing it
does to the disk (a file or folder made, opened, renamed or removed, a lock taken); the last one
comes through. Prints a JSON list a start: its number and what it was killed before, null at last.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from labapp.record.events import Source
from labapp.record.events.commands import Next
from tests.session.sessions import begin_session, settle

TOUCHES = frozenset(
    {
        "open",
        "os.mkdir",
        "os.rename",
        "os.remove",
        "os.rmdir",
        "sqlite3.connect",
        "fcntl.flock",
        "fcntl.lockf",
    }
)
PATIENCE_S = 60


def start(folder: Path, study: str, kill_before: int, tell: int) -> None:
    """One start, in a process that may be killed."""
    signal.alarm(PATIENCE_S)
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event not in TOUCHES:
            return
        if not event.startswith("fcntl") and str(folder) not in os.fsdecode(str(arguments[0])):
            return
        count += 1
        if count == kill_before:
            os.write(tell, event.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    session = begin_session(folder, study=study)
    settle(session)
    session.runner.send(Next(), Source.PARTICIPANT)
    settle(session)
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, study: str) -> None:
    number, event = 0, "begin"
    while event:
        number += 1
        home = Path(folder) / str(number)
        home.mkdir(parents=True)
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            start(home, study, number, writes)
        os.close(writes)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, f"start {number} ended with {status}"
        event = os.read(reads, 100).decode()
        os.close(reads)
        print(json.dumps([number, event or None]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
