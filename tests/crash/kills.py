"""Kills sessions at random moments, goes on with them, and measures what was lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from labapp.record.journal.layout import JOURNAL
from labapp.record.journal.read import Row, check_journal, read_rows
from labapp.session.resuming import recover
from tests.record.audio.fakes import RATE

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Loss:
    """What one kill cost. after_s: real time since the program began its run; events and kinds:
    appended and not on disk; events_s: from the first of them to the kill; sound_s: from the last
    frame in the file to the kill, None when no sound was recorded yet."""

    after_s: float
    last_kind: str
    events: int
    kinds: tuple[str, ...]
    events_s: float
    sound_s: float | None


@dataclass
class Story:
    """A session from its beginning to its end: what was acknowledged, and each kill's loss."""

    path: Path
    losses: list[Loss] = field(default_factory=list)
    acknowledged: dict[int, str] = field(default_factory=dict)
    segments: int = 0


@dataclass
class Run:
    """What a child said before it ended."""

    path: Path | None = None
    done: bool = False
    appended: dict[int, tuple[str, int]] = field(default_factory=dict)
    durable: list[int] = field(default_factory=list)
    sound_ns: int | None = None
    began_ns: int = 0
    killed_ns: int | None = None

    def take(self, line: bytes) -> None:
        word, *rest = json.loads(line)
        match word, rest:
            case "folder", [path]:
                self.path = Path(path)
            case "append", [seq, kind, at]:
                self.appended[seq] = (kind, at)
            case "durable", [seq]:
                self.durable.append(seq)
            case "sound", [at, _]:
                self.sound_ns = at
            case "done", []:
                self.done = True


def run_child(arguments: list[str], kill_after_s: float | None) -> Run:
    """Run a session until it ends, or kill it so long after its first event is on disk."""
    run = Run(began_ns=time.perf_counter_ns())
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.child", *arguments],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert child.stdout is not None
    try:
        with child.stdout as lines:
            pipe = lines.fileno()
            rest = b""
            deadline: float | None = None
            while True:
                if deadline is None and kill_after_s is not None and run.durable:
                    deadline = time.perf_counter() + kill_after_s
                if deadline is not None and run.killed_ns is None:
                    if (left := deadline - time.perf_counter()) <= 0:
                        run.killed_ns = time.perf_counter_ns()
                        os.kill(child.pid, signal.SIGKILL)
                    elif not _readable(pipe, left):
                        continue
                data = os.read(pipe, 1 << 16)
                if not data:
                    break
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    run.take(line)
        child.wait(30)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    if run.killed_ns is None:
        assert child.returncode == 0, f"the session failed with status {child.returncode}"
        assert run.done
    return run


def _readable(pipe: int, seconds: float) -> bool:
    import select

    return bool(select.select([pipe], [], [], seconds)[0])


def tell(
    data: Path,
    participant: str,
    kills: list[float],
    pace: str,
    tone: bool = True,
    study: str = "study.yaml",
) -> Story:
    """One session of a study file beside this one, killed after each of these times (s after its
    run's first stored event), then left to complete. Fails where anything acknowledged is missing
    or the session is not whole."""
    story: Story | None = None
    for kill_after_s in [*kills, None]:
        more = [] if story is None else [str(story.path)]
        run = run_child([str(data), participant, pace, study, *more], kill_after_s)
        assert run.path is not None
        story = story or Story(run.path)
        story.segments += 1
        story.acknowledged |= {seq: run.appended[seq][0] for seq in run.durable}
        if run.killed_ns is not None:
            _after_kill(story, run)
        _nothing_acknowledged_is_missing(story)
        if tone:
            _sound_is_what_was_heard(story.path)
        if run.done:
            break
    assert story is not None
    return story


def _after_kill(story: Story, run: Run) -> None:
    assert run.killed_ns is not None
    recovered = recover(story.path)
    assert not recovered.finished or run.done or "session.completed" in kinds_of(story.path)
    assert recover(story.path).lines()[1:3] == recovered.lines()[1:3], "again changes nothing"
    stored = {row.seq: row.kind for row in read_rows(story.path)}
    lost = [seq for seq in run.appended if seq not in stored]
    assert lost == sorted(run.appended)[len(run.appended) - len(lost) :], "only the last ones"
    first = min((run.appended[seq][1] for seq in lost), default=run.killed_ns)
    story.losses.append(
        Loss(
            after_s=(run.killed_ns - run.began_ns) / 1e9,
            last_kind=recovered.last_kind,
            events=len(lost),
            kinds=tuple(sorted({run.appended[seq][0] for seq in lost})),
            events_s=max(0.0, (run.killed_ns - first) / 1e9),
            sound_s=_sound_lost_s(story, run),
        )
    )


def _sound_lost_s(story: Story, run: Run) -> float | None:
    path = story.path / "audio" / f"segment-{story.segments:02d}.wav"
    if run.sound_ns is None or not path.is_file():
        return None
    assert run.killed_ns is not None
    frames = soundfile.info(path).frames
    return max(0.0, (run.killed_ns - run.sound_ns) / 1e9 - frames / RATE)


def kinds_of(path: Path) -> list[str]:
    return [row.kind for row in read_rows(path)]


def _nothing_acknowledged_is_missing(story: Story) -> None:
    stored: dict[int, Row] = {row.seq: row for row in read_rows(story.path)}
    for seq, kind in story.acknowledged.items():
        assert seq in stored, f"event {seq} ({kind}) was acknowledged and is not there"
        assert stored[seq].kind == kind
    assert check_journal(story.path) == [], (story.path / JOURNAL, check_journal(story.path))


def _sound_is_what_was_heard(path: Path) -> None:
    """Every frame is the tone's, from its first on."""
    for file in sorted((path / "audio").glob("*.wav")):
        samples: np.ndarray[Any, np.dtype[np.int16]]
        samples, rate = soundfile.read(file, dtype="int16")
        assert rate == RATE
        frames = np.arange(len(samples))
        wave = (9000 * np.sin(2 * np.pi * 400 / RATE * frames)).astype("<i2")
        np.testing.assert_array_equal(samples, wave, err_msg=str(file))
