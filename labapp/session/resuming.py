"""Whether an interrupted session may be gone on with: its plan, study, models and program.

After a crash: what is there, what was lost, and how to make it whole again.

Nothing is ever deleted. SQLite replays its own write-ahead log on the next open; the hash chain
then says whether the journal is what was written; the sound files' headers are brought in line
with their length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from labapp import __version__
from labapp.base.clock import NS, SessionClock, boot_ns
from labapp.base.errors import LabappError, ModelError, RecordError, SessionError
from labapp.base.reading import files
from labapp.record.audio.recorded_sound import repair_wav, tail
from labapp.record.events import Event, payload_of
from labapp.record.events.lifecycle import (
    ClockChanged,
    DecoderWarmed,
    EnvironmentRecorded,
    ProgramStalled,
    SegmentStarted,
    SessionPlanned,
)
from labapp.record.events.voice import AudioBlock, AudioStarted
from labapp.record.journal.decisions import withdrawal_of
from labapp.record.journal.layout import JOURNAL, STUDY, study_files_of
from labapp.record.journal.read import check_rows, missing_packages, read_rows
from labapp.session import environment
from labapp.session.folder import SessionFolder
from labapp.session.heartbeat import CHANGED_S
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import registry


def forbids_resume(path: Path) -> bool:
    """Whether the study of a session forbids to resume it, by the copy in its folder. A study
    that cannot be read forbids nothing here: `resume` tells what is wrong with it."""
    try:
        file = _study_file(path, path.parent.name)
        if b"when_interrupted" not in files.content(file):  # most say nothing: the home asks often
            return False
        return loading.load(file, recorded=True).study.when_interrupted == "block"
    except (LabappError, OSError):
        return False


def make_blocked_error(path: Path, study: str) -> SessionError:
    """The error for a session that its study does not let go on."""
    return SessionError(
        f"{path.name} was interrupted, but its study {study} does not allow such a session to "
        "be resumed (when_interrupted: block).",
        safe="What was recorded is kept and can be exported as it is.",
        todo="Start a session with another participant; this one does not occupy a place in the "
        "study.",
    )


def study_of(home: SessionFolder, past: Sequence[Event]) -> tuple[SessionPlanned, LoadedStudy]:
    """The plan of a session and the study as it was copied into the session's folder.

    Raises SessionError for a session that is over, and for a study that was changed.
    """
    planned = payload_of(past[0]) if past else None
    if not isinstance(planned, SessionPlanned):
        raise SessionError(
            f"{home.path.name} contains no plan, because it was interrupted while it was being "
            "created.",
            safe="Nothing had been recorded.",
            todo="Start the session again; the empty folder will then be removed.",
        )
    if wish := withdrawal_of(home.path, withdrawal(past)):
        deleted = f"Delete the data: labapp sessions withdraw {home.path.name} --delete. Then start"
        raise SessionError(
            f"The participant of {home.path.name} withdrew; the session cannot be resumed.",
            safe="It is unchanged. Exports leave it out unless you add --withdrawn."
            if wish == "keep"
            else "It is unchanged. The participant asked for the data to be deleted.",
            todo=f"{'Start' if wish == 'keep' else deleted} a session with the next participant.",
        )
    if is_finished(past):
        raise SessionError(
            f"{home.path.name} is finished, so there is nothing to resume.",
            safe="It is complete.",
            todo="Export it, or start a new session.",
        )
    _check_tasks(home.path, planned, past)
    return planned, load_recorded_study(home.path, planned)


def _check_tasks(session: Path, planned: SessionPlanned, past: Sequence[Event]) -> None:
    """Raises SessionError if the plan has parts that nobody here knows."""
    unknown = [kind for row in planned.plan if not registry.knows(kind := str(row.get("part")))]
    if not unknown:
        return
    raise SessionError(
        f"{session.name} has parts of the kind {unknown[0]!r}, which is unknown to labapp and "
        f"to the installed packages. {_missing(past)}".strip(),
        safe="What was recorded is untouched.",
        todo="Install the package, then continue the session; `labapp plugins list` shows what "
        "is installed.",
    )


def _missing(past: Sequence[Event]) -> str:
    """The packages that a session was recorded with and that are not here, as a sentence."""
    environments = [event.payload for event in past if event.kind == EnvironmentRecorded.kind]
    return missing_packages(environments[-1]) if environments else ""


@contextmanager
def missing_packages_named(past: Sequence[Event]) -> Iterator[None]:
    """If a model cannot be loaded in this block, list the missing packages that the session had,
    since one of them may provide its decoder. Raises ModelError."""
    try:
        yield
    except ModelError as error:
        if missing := _missing(past):
            raise ModelError(f"{error.what} {missing}", safe=error.safe, todo=error.todo) from error
        raise


def load_recorded_study(session: Path, planned: SessionPlanned) -> LoadedStudy:
    """The study as the session folder keeps it. Raises SessionError if it is another by now."""
    loaded = loading.load(_study_file(session, planned.study), planned.language, recorded=True)
    if loaded.sha256 != planned.study_sha256:
        raise SessionError(
            f"The study folder of {session.name} is not the one with which the session began.",
            safe="What was recorded is untouched.",
            todo="Put the original files back into its study folder, or export the session as "
            "it is.",
        )
    return loaded


def _study_file(session: Path, study: str) -> Path:
    folder = session / STUDY
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    files = study_files_of(names)
    if len(files) != 1:
        raise SessionError(
            f"The study file of {session.name} ({study}) is missing from its study folder.",
            safe="What was recorded is untouched.",
            todo="Put it back, or export the session as it is.",
        )
    return folder / files[0]


def check_version(past: Sequence[Event], accept_version: bool) -> None:
    """Raises SessionError when another version of labapp began the session."""
    versions = [e.payload["app_version"] for e in past if e.kind == "segment.started"]
    if versions and versions[-1] != __version__ and not accept_version:
        raise SessionError(
            f"This session was begun with labapp {versions[-1]}, but this is {__version__}.",
            safe="It is untouched.",
            todo="Resume it with that version, or use --accept-version to continue with this one.",
        )


def check_models(
    past: Sequence[Event], warmed: Sequence[DecoderWarmed], accept_version: bool
) -> None:
    """Raises SessionError when a model is not the one with which the session began."""
    models = {e.payload["model"]: e.payload for e in past if e.kind == "decoder.warmed"}
    for now in warmed:
        before = models.get(now.model, {})
        stated = before.get("card_sha256")
        if stated and now.card_sha256 and stated != now.card_sha256 and not accept_version:
            raise SessionError(
                f"The model {now.model} is not the one with which this session was begun.",
                safe="The session is untouched.",
                todo="Restore the former model, or use --accept-version to continue with this one.",
            )
        computed, computes = _describe_backend(before), _describe_backend(asdict(now))
        if before.get("backend") and computed != computes and not accept_version:
            raise SessionError(
                f"When this session was begun, the model {now.model} was computed by "
                f"{computed}. Here it is {computes}, whose pictures may differ slightly.",
                safe="The session is untouched. Its recorded alignments are data and are not "
                "computed again by any version.",
                todo="Resume it on the computer where it was begun, or with that version. You "
                "can also use --accept-version to continue with this one; this is "
                "recorded in the session.",
            )


def _describe_backend(warmed: Mapping[str, Any]) -> str:
    """What computes a decoder, where and in which version, in words."""
    return " ".join(str(warmed.get(key)) for key in ("backend", "backend_version", "device"))


class Continued(NamedTuple):
    """The clock of a run that goes on with a session; gap_by: what says how long the gap before it
    was (see `SegmentStarted`); changed: the time of day was set meanwhile, as far as is known."""

    clock: SessionClock
    gap_by: str
    changed: ClockChanged | None


def continue_clock(
    past: Sequence[Event],
    speed: float,
    *,
    boot_id: str | None = None,
    boot_clock_ns: Callable[[], int] = boot_ns,
    time_of_day: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Continued:
    """A clock that goes on after the last event, at least 1 ns later.

    How long the gap was, the computer's own clock says, where the computer was not started again;
    else the time of day, and nobody where that runs back. UTC never does.
    """
    last, before = past[-1], datetime.fromisoformat(past[-1].utc)
    wall_s = (time_of_day() - before).total_seconds()
    known_s = sum(e.payload["by_s"] for e in past if e.kind == ClockChanged.kind)
    zero_ns = _zero_of(past, environment.boot_id() if boot_id is None else boot_id)
    if zero_ns is None:
        passed_ns, gap_by, certain = round(wall_s * NS), "wall", False
        changed_s = min(0.0, wall_s)
    else:
        passed_ns, gap_by, certain = boot_clock_ns() - zero_ns - last.t_ns, "monotonic", True
        changed_s = wall_s - passed_ns / NS - known_s
    passed_ns = max(1, passed_ns)
    utc = before + timedelta(microseconds=passed_ns / 1000)
    set_by = abs(changed_s) > CHANGED_S
    changed = ClockChanged(round(changed_s, 3), certain) if set_by else None
    return Continued(SessionClock(last.t_ns + passed_ns, speed, utc), gap_by, changed)


def _zero_of(past: Sequence[Event], boot_id: str) -> int | None:
    """What the computer's own clock showed at session time 0 by the last run, with the sleep that
    it noticed; None if the computer was started again, or nothing is known."""
    slept_ns = 0
    for event in reversed(past):
        if event.kind == ProgramStalled.kind:
            slept_ns += int(event.payload.get("asleep_ns", 0))
        elif event.kind == SegmentStarted.kind:
            zero_ns, same = event.payload.get("boot_ns"), event.payload["boot_id"] == boot_id
            return int(zero_ns) + slept_ns if same and zero_ns is not None else None
    return None


@dataclass(frozen=True)
class Recovery:
    """What `recover` found. finished: nothing to resume; sound: a line for each repaired file."""

    path: Path
    events: int
    last_kind: str
    length_s: float
    finished: bool
    sound: Sequence[str] = field(default_factory=tuple)

    def lines(self) -> list[str]:
        """The report for people."""
        state = "finished" if self.finished else "interrupted; it can be resumed"
        return [
            f"{self.path.name}: {state}.",
            f"{self.events} events are safe; the hash chain holds.",
            f"The last one ({self.last_kind}) is at {self.length_s:.1f} s.",
            *self.sound,
        ]


def recover(path: Path) -> Recovery:
    """Check and repair an interrupted session; calling it again changes nothing more.

    Raises SessionBusy while the session is open, RecordError when the journal is damaged.
    """
    home = SessionFolder(path)
    home.require_journal()
    lock = home.lock()
    try:
        events = read_verified_events(home.path)
        sound = repair_sound(home.path, events)
    finally:
        lock.release()
    last = events[-1]
    return Recovery(path, len(events), last.kind, last.t_ns / 1e9, is_finished(events), sound)


def tails(folder: Path, events: Sequence[Event]) -> tuple[AudioBlock, ...]:
    """Blocks for the sound that earlier runs left behind the last one, so that the journal of a
    resumed session covers all of it. A file that is missing or too short has none."""
    result = []
    for started, blocks in _sound_files(events):
        end = max((block.frames for block in blocks), default=0)
        if (block := tail(folder / started.file, started.file, end)) is not None:
            result.append(block)
    return tuple(result)


def _sound_files(events: Sequence[Event]) -> Iterator[tuple[AudioStarted, list[AudioBlock]]]:
    payloads = [payload_of(event) for event in events if event.kind.startswith("audio.")]
    for started in (payload for payload in payloads if isinstance(payload, AudioStarted)):
        blocks = (payload for payload in payloads if isinstance(payload, AudioBlock))
        yield started, [block for block in blocks if block.file == started.file]


def repair_sound(folder: Path, events: Sequence[Event]) -> tuple[str, ...]:
    """Make every sound file of the session whole; a line for each, for people."""
    lines = []
    for started, blocks in _sound_files(events):
        try:
            report = repair_wav(folder / started.file, started.nominal_rate, blocks)
        except RecordError as error:
            lines.append(f"{started.file}: {error.what}")
            continue
        seconds = report.frames / started.nominal_rate
        state = "whole" if report.whole else "DAMAGED"
        done = "header repaired" if report.changed else "nothing to repair"
        lines.append(f"{started.file}: {seconds:.1f} s of sound, {state}, {done}.")
        if report.missing:
            lines.append(f"{started.file}: {report.missing / started.nominal_rate:.2f} s missing.")
        lines += [f"{started.file}: the block at frame {f} is damaged." for f in report.damaged]
    return tuple(lines)


def read_verified_events(folder: Path) -> list[Event]:
    """All events of a session folder, in order.

    Raises RecordError when there is none, when one is missing, or when the hash chain is broken:
    a session is only continued on a record that is whole.
    """
    rows = read_rows(folder)
    if not rows:
        raise RecordError(
            f"The journal of {folder.name} contains no events, because it was interrupted while "
            "it was being created.",
            safe="Nothing had been recorded.",
            todo="Start the session again; the empty folder will then be removed.",
        )
    events: list[Event] = []
    if problems := check_rows(
        rows, JOURNAL, lambda pairs: events.extend(event for event, _ in pairs)
    ):
        raise RecordError(
            f"The journal of {folder.name} was changed or damaged after it was written: "
            f"{problems[0]}.",
            safe="Nothing was changed, and the events before it are intact.",
            todo=f"Keep the folder, and examine it with: labapp sessions verify {folder.name}",
        )
    return events


def withdrawal(events: Sequence[Event]) -> str:
    """What the participant who withdrew said of the data at the session's end, keep or delete;
    empty if nobody withdrew then."""
    wish = ""
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            wish = str(event.payload.get("withdrawal", ""))
    return wish


def is_finished(events: Sequence[Event]) -> bool:
    """Whether the session came to an end, planned or early."""
    ended = False
    for event in events:
        if event.kind in ("session.completed", "session.ended", "session.reopened"):
            ended = event.kind != "session.reopened"
    return ended
