"""An export killed anywhere leaves nothing that the log, and a withdrawal, do not know of."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from labapp.base import durable
from labapp.base.errors import BundleError, SessionBusy
from labapp.record.journal.layout import EXPORTS, LOCK
from labapp.record.journal.sessions import exports_of
from labapp.session import exports
from labapp.session.bids import folder as bundle_folder
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.withdrawal import withdraw
from tests.helpers.journals import golden_session

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child that is killed is forked")


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(function: Callable[..., object], times: int = 1) -> Callable[..., object]:
    """The function, and death once it was called so often."""
    calls = 0

    def called(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        result = function(*arguments, **named)
        if calls == times:
            die()
        return result

    return called


STEPS: dict[str, tuple[object, str, Callable[[Callable[..., object]], Callable[..., object]]]] = {
    "noted": (exports, "_note", after),
    "hidden folder made": (exports.access, "own_folder", after),
    "first file written": (bundle_folder.BundleFolder, "add_bytes", after),
    "half written": (bundle_folder.BundleFolder, "add_bytes", lambda f: after(f, 12)),
    "sound copied": (bundle_folder.BundleFolder, "add_stream", after),
    "before it has its name": (Path, "rename", lambda _: die),
    "once it has its name": (Path, "rename", after),
    "before it is noted as done": (exports.shutil, "rmtree", after),
    "done": (exports, "_note", lambda f: after(f, 2)),
}
AFTER = ("once it has its name", "before it is noted as done", "done")
"""When the bundle stands in its place."""


def killed(step: str, session: Path, out: Path, zipped: bool = False) -> None:
    """An export in a child that is killed at a step."""
    child = os.fork()
    if child == 0:
        try:
            holder, name, dying = STEPS[step]
            if zipped and name == "rename":
                holder, name = os, "link"  # how a file gets its name, over nothing
            setattr(holder, name, dying(getattr(holder, name)))
            export([session], out, zip=zipped)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"it was not killed: {step} does not happen"


def test_a_bundle_that_stands_is_noted_whatever_comes_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = golden_session(tmp_path / "data")
    out = tmp_path / "out" / "bundle"

    def failing(path: Path) -> None:
        if path == out.parent:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(durable, "sync_folder", failing)
    with pytest.raises(BundleError, match="was written, but the disk did not confirm it"):
        export([session], out)
    assert out.is_dir()
    assert exports_of(session) == (str(out),)


def left(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir()) if out.parent.exists() else []


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_withdrawal_finds_what_a_killed_export_left(
    tmp_path: Path, step: str, zipped: bool
) -> None:
    session = golden_session(tmp_path / "data")
    out = tmp_path / "out" / ("bundle.zip" if zipped else "bundle")
    killed(step, session, out, zipped)
    listed = (str(out),) if step in AFTER else ()
    assert exports_of(session) == listed
    done = withdraw(session, tmp_path / "private", delete=True)
    assert done.exported == listed
    assert left(out) == ([out.name] if step in AFTER else []), "no hidden folder with data"
    if listed:
        assert verify(out).ok
        assert str(out) in " ".join(done.lines())


@pytest.mark.parametrize("step", ["half written", "before it is noted as done"])
def test_the_next_export_takes_it_away_and_notes_what_became_of_it(
    tmp_path: Path, step: str
) -> None:
    session = golden_session(tmp_path / "data")
    out = tmp_path / "out" / "bundle"
    killed(step, session, out)
    export([session], tmp_path / "out" / "second")
    there = ["bundle", "second"] if step in AFTER else ["second"]
    assert left(out) == there
    assert [Path(bundle).name for bundle in exports_of(session)] == there
    log = [json.loads(line) for line in (session.parent / EXPORTS).read_text().splitlines()]
    last = {Path(entry["bundle"]).name: entry["state"] for entry in log}
    assert last == {"bundle": "done" if step in AFTER else "given up", "second": "done"}


def test_what_a_running_export_writes_is_left_alone(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    out = tmp_path / "out" / "bundle"
    killed("half written", session, out)
    (hidden,) = out.parent.glob(".bundle.*")
    with FileLock(hidden / LOCK):
        assert exports.clear(session.parent) == []
        with pytest.raises(SessionBusy, match="are being written to"):
            withdraw(session, tmp_path / "private", delete=True)
    assert session.is_dir()
    assert exports.clear(session.parent) == [hidden]


def test_no_folder_is_removed_because_a_log_says_so(tmp_path: Path) -> None:
    """Only one that an export makes: beside the bundle, hidden, and called like it."""
    session = golden_session(tmp_path / "data")
    mine = tmp_path / "mine"
    mine.mkdir()
    for hidden, bundle in ((mine, tmp_path / "bundle"), (mine, mine), ("\0", "\0"), (7, None)):
        entry = {
            "export": str(hidden),
            "state": "begun",
            "bundle": str(bundle),
            "hidden": hidden if isinstance(hidden, int) else str(hidden),
            "sessions": [session.name],
        }
        with (session.parent / EXPORTS).open("a") as file:
            file.write(json.dumps(entry) + "\n")
    assert exports.clear(session.parent) == []
    assert mine.is_dir()
