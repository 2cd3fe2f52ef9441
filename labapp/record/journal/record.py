"""One recorded session, read the same way from a session folder and from a bundle.

Also what a journal says about the session as a whole: its runs, its sound, its pauses and its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labapp.base.errors import RecordError
from labapp.base.reading.values import json_value
from labapp.record.events import Event, Payload, lifecycle
from labapp.record.events.lifecycle import Agreement, BlindingSet, SessionPlanned, SessionReopened
from labapp.record.events.registry import KINDS, Pauses, kinds_of
from labapp.record.events.voice import AudioBlock, AudioGap, AudioOff, AudioStarted, AudioStopped
from labapp.record.journal.decisions import Decision, Move, decisions, moves, tags, withdrawal_of
from labapp.record.journal.layout import ENVIRONMENT, STUDY, FolderName, Tree
from labapp.record.journal.merged import Merged, of_session
from labapp.record.journal.read import Row, payloads, plausible

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Record:
    """A session as recorded.

    kind: what it was read from; name: of the session folder; source: path of the session folder or
    bundle, for messages; tree: its files (`audio/…`, `study/…`, `environment.json`); rows: the
    journal; state: complete, ended_early, interrupted (no orderly end), or running (held by a
    process right now); bundled_withdrawal: what a bundle says of a withdrawal (see `withdrawn`);
    bundled_decision: of a decision by hand (see `decision`); bundled_move: of a move between the
    study and its pilots (see `move`); bundled_tags: of tags (see `tags`); bundled_merged: of
    answers of other tools (see `merged`);
    deidentified, dates_moved: whether it is a de-identified copy, and its dates are not the true
    ones.
    """

    kind: Literal["session", "bundle"]
    source: str
    name: FolderName
    tree: Tree
    rows: Sequence[Row]
    running: bool = False
    bundled_withdrawal: str = ""
    bundled_decision: Decision | None = None
    bundled_move: Move | None = None
    bundled_tags: tuple[str, ...] = ()
    bundled_merged: tuple[Merged, ...] = ()
    deidentified: bool = False
    dates_moved: bool = False

    def __post_init__(self) -> None:
        if not self.rows or not isinstance(self._first, SessionPlanned):
            raise RecordError(
                f"The journal of {self.source} does not begin with the session's plan.",
                safe="It was only read; nothing was changed.",
                todo="If the program was killed while the session was being created, the "
                "session is empty, so start a new one.",
            )

    @cached_property
    def _first(self) -> Payload:
        return next(payloads(self.rows[:1]))[1]

    @property
    def planned(self) -> SessionPlanned:
        """The first event: study, assignment and the realised plan."""
        assert isinstance(self._first, SessionPlanned)
        return self._first

    @property
    def withdrawn(self) -> str:
        """Keep or delete if the participant withdrew, in the session or later; else empty."""
        withdrawal = self.course.withdrawal
        if self.kind == "session":
            return withdrawal_of(Path(self.source), withdrawal)
        return self.bundled_withdrawal or withdrawal

    @property
    def decision(self) -> Decision | None:
        """What was decided by hand about whether the session counts; None if nothing was. A
        de-identified copy withholds the reason, which a person wrote, and the time."""
        if self.kind == "session":
            folder = Path(self.source)
            decision = decisions(folder.parent).get(folder.name)
        else:
            decision = self.bundled_decision
        if decision is None or not self.redacted:
            return decision
        return Decision(decision.included, "")

    @property
    def move(self) -> Move | None:
        """That it was recorded as a pilot and moved into the study, or back, and why; None if it
        is as it was recorded. A de-identified copy withholds the reason and the time."""
        if self.kind == "session":
            folder = Path(self.source)
            move = moves(folder.parent).get(folder.name)
        else:
            move = self.bundled_move
        return Move(move.pilot, "") if move is not None and self.redacted else move

    @property
    def tags(self) -> tuple[str, ...]:
        """The words that people gave it; none in a de-identified copy, for a person wrote them."""
        if self.redacted:
            return ()
        if self.kind == "session":
            folder = Path(self.source)
            return tags(folder.parent).get(folder.name, ())
        return self.bundled_tags

    @property
    def merged(self) -> tuple[Merged, ...]:
        """The answers of other tools that were merged; of a de-identified copy those that may be
        shared. Raises RecordError."""
        merged = self.bundled_merged
        if self.kind == "session":
            merged = of_session(Path(self.source))
        if not self.redacted:
            return merged
        reduced = (each.deidentified() for each in merged)
        return tuple(each for each in reduced if each.columns)

    @property
    def pilot(self) -> bool:
        """Whether it is a trial run, kept apart from the study."""
        return self.planned.pilot if (move := self.move) is None else move.pilot

    @property
    def participant(self) -> str:
        return self.planned.participant

    @property
    def session(self) -> str:
        return self.planned.session

    @property
    def study(self) -> str:
        return self.planned.study

    @property
    def other_labels(self) -> str:
        """Empty, or whose session the journal says it is, if the folder's name says another."""
        if (self.name.participant, self.name.session) == (self.participant, self.session):
            return ""
        return f"belongs to participant {self.participant}, session {self.session}"

    def events(self) -> Iterator[Event]:
        """Every event in the journal's order."""
        return (event for event, _ in self.payloads())

    def payloads(self) -> Iterator[tuple[Event, Payload]]:
        """Every event with its typed payload, old versions migrated.

        Raises RecordError: one cannot be read, or does not fit the plan and those before it.
        """
        return plausible(payloads(self.rows))

    @cached_property
    def course(self) -> Outline:
        """The outline without the blocks of its sound, one a second: most who open a record ask for
        no more, and reading those of an hour takes as long as all else."""
        rows = (row for row in self.rows if row.kind != AudioBlock.kind)
        return outline(rows, max(row.t_ns for row in self.rows))

    @cached_property
    def outline(self) -> Outline:
        """Segments, sound files, pauses and the end, folded once."""
        return outline(self.rows)

    @property
    def state(self) -> State:
        state = self.course.state
        return "running" if self.running and state == "interrupted" else state

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.outline.segments

    @property
    def audio(self) -> tuple[AudioFile, ...]:
        """Sound files as the journal knows them; a bundle may have left the sound out."""
        return self.outline.audio

    def may(self, use: str) -> bool:
        """Whether the participant's consent allows a use of the data: they agreed to it, or the
        consent form did not ask about it by itself (see `labapp.study.consent.Use`)."""
        return self.course.agreed.get(use, True)

    @property
    def working_s(self) -> float:
        """Length without pauses and gaps, in seconds."""
        return self.outline.working_ns / 1e9

    @cached_property
    def redacted(self) -> bool:
        """Whether the record is a de-identified copy."""
        return self.deidentified or any(row.redacted for row in self.rows)

    @cached_property
    def environment(self) -> list[dict[str, Any]]:
        """environment.json: an entry a segment. Empty when the session ended before it was written.

        Raises RecordError when it is not JSON.
        """
        if not self.tree.has(ENVIRONMENT):
            return []
        why = "it is not a list of objects"
        try:
            entries = json_value(self.tree.read(ENVIRONMENT))
            if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
                return entries
        except ValueError as error:
            why = str(error)
        raise RecordError(
            f"{ENVIRONMENT} of {self.source} is damaged ({why}).",
            safe="The journal is not affected and has the same information.",
            todo="Run `labapp sessions verify` on it.",
        )

    def study_files(self) -> dict[str, bytes]:
        """The study as used: relative name -> content."""
        below = self.tree.below(STUDY)
        return {name: below.read(name) for name in below.names()}

    @cached_property
    def table(self) -> pa.Table:
        """The journal as an Arrow table: the columns of `layout.COLUMNS` and `redacted`."""
        from labapp.record.journal.arrow import table_of

        return table_of(self.rows)


State = Literal["complete", "ended_early", "interrupted", "running"]

_KINDS = (
    "session.planned",
    "segment.ended",
    *sorted(KINDS),
    "blinding.set",
    "inclusion.decided",
    "audio.started",
    "audio.off",
    "audio.gap",
    "audio.stopped",
)


def brief_kinds() -> tuple[str, ...]:
    """The kinds an outline needs; audio.block besides for the sound's blocks."""
    return (*_KINDS, *kinds_of(Agreement))


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the program on the session; times in ns of session time.

    gap_from_ns: end of the run before, null in the first; ended: reason of its orderly end, null
    when the run was killed.
    """

    number: int
    started_ns: int
    utc: str
    app_version: str
    study_sha256: str
    gap_from_ns: int | None
    last_ns: int
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """A pause, a break of the plan, or the gap after a crash; end_ns is null while it is open."""

    kind: Literal["pause", "break", "gap"]
    start_ns: int
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class AudioFile:
    """A sound file as the journal knows it. frames: on disk by the last block; lost_frames: filled
    with silence; stopped_at: frames in it when it was closed, null when the run was killed."""

    file: str
    segment: int
    started_ns: int
    device: str
    host_api: str
    nominal_rate: int
    channels: int
    subtype: str
    blocks: tuple[AudioBlock, ...] = ()
    lost_frames: int = 0
    stopped_at: int | None = None

    @property
    def stopped(self) -> bool:
        """Whether it was closed in an orderly way."""
        return self.stopped_at is not None

    @property
    def frames(self) -> int:
        return self.blocks[-1].frames if self.blocks else 0


@dataclass(frozen=True, slots=True)
class Outline:
    """Folded from the journal; last_ns and working_ns at its last event. withdrawal: keep or delete
    if the participant withdrew in the session, and what is to become of the data. agreed:
    whether the participant agreed to each use of the data that was asked one by one. blind: whether
    the console hid the representations from the beginning, null if the journal does not say;
    unblinded_ns: session time from which it named them to one who was blind; not_counted: the rules
    of the study for which the session does not count."""

    segments: tuple[Segment, ...] = ()
    audio: tuple[AudioFile, ...] = ()
    silent_because: str | None = None
    pauses: tuple[PauseRecord, ...] = ()
    state: State = "interrupted"
    reason: str | None = None
    withdrawal: str = ""
    last_ns: int = 0
    working_ns: int = 0
    agreed: Mapping[str, bool] = field(default_factory=dict)
    blind: bool | None = None
    unblinded_ns: int | None = None
    not_counted: tuple[str, ...] = ()

    @property
    def gap_ns(self) -> int:
        """Time between a crash and the resumed session."""
        return sum((p.end_ns or self.last_ns) - p.start_ns for p in self.pauses if p.kind == "gap")

    @property
    def lost_frames(self) -> int:
        return sum(sound.lost_frames for sound in self.audio)

    @property
    def lost_s(self) -> float:
        """Seconds of sound that were filled with silence."""
        return sum(sound.lost_frames / sound.nominal_rate for sound in self.audio)


def outline(rows: Iterable[Row], last_ns: int = 0) -> Outline:
    """Fold the journal; other kinds than an outline's may be left out.

    last_ns: session time of the last event, if `rows` does not hold it. Raises RecordError for
    rows that cannot be read.
    """
    wanted = {*brief_kinds(), "audio.block"}
    folded = []
    for row in rows:
        last_ns = max(last_ns, row.t_ns)
        if row.kind in wanted:
            folded.append(row)
    summary = Outline()
    working = Pauses()
    blocks: dict[str, list[AudioBlock]] = {}
    for event, payload in payloads(folded):
        working = working.apply(event)
        if isinstance(payload, AudioBlock):  # one a second: a tuple for each would take too long
            blocks.setdefault(payload.file, []).append(payload)
        else:
            summary = _apply(summary, event, payload)
    if blocks:
        heard = (replace(a, blocks=tuple(blocks.get(a.file, ()))) for a in summary.audio)
        summary = replace(summary, audio=tuple(heard))
    if summary.segments:
        last = replace(summary.segments[-1], last_ns=last_ns)
        summary = replace(summary, segments=(*summary.segments[:-1], last))
    return replace(summary, last_ns=last_ns, working_ns=working.working_ns(last_ns))


def _apply(outline: Outline, event: Event, payload: Payload) -> Outline:
    match payload:
        case lifecycle.SegmentStarted():
            return _segment(outline, event, payload)
        case lifecycle.SegmentEnded():
            last = replace(outline.segments[-1], ended=payload.reason)
            return replace(outline, segments=(*outline.segments[:-1], last))
        case lifecycle.SessionPaused() if not _open(outline):
            kind: Literal["pause", "break"] = "pause" if event.part_id is None else "break"
            return replace(outline, pauses=(*outline.pauses, PauseRecord(kind, event.t_ns)))
        case lifecycle.SessionResumed() if _open(outline):
            closed = replace(outline.pauses[-1], end_ns=event.t_ns)
            return replace(outline, pauses=(*outline.pauses[:-1], closed))
        case Agreement():
            return replace(outline, agreed=payload.uses)
        case BlindingSet():
            return _blinding(outline, event, payload)
        case lifecycle.InclusionDecided():
            return replace(outline, not_counted=tuple(payload.failed))
        case lifecycle.SessionCompleted():
            return replace(outline, state="complete")
        case lifecycle.SessionEnded():
            left = payload.withdrawal
            return replace(outline, state="ended_early", reason=payload.reason, withdrawal=left)
        case SessionReopened():
            return replace(outline, state="interrupted", reason=None, withdrawal="", not_counted=())
        case AudioStarted():
            new = AudioFile(
                payload.file,
                event.segment,
                event.t_ns,
                payload.device,
                payload.host_api,
                payload.nominal_rate,
                payload.channels,
                payload.subtype,
            )
            return replace(outline, audio=(*outline.audio, new), silent_because=None)
        case AudioOff():
            return replace(outline, silent_because=payload.reason)
        case AudioGap() | AudioStopped():
            return replace(
                outline, audio=tuple(_apply_sound_event(sound, payload) for sound in outline.audio)
            )
    return outline


def _blinding(outline: Outline, event: Event, payload: BlindingSet) -> Outline:
    if event.segment == 1 and outline.blind is None:
        return replace(outline, blind=payload.blind)
    if outline.blind and not payload.blind and outline.unblinded_ns is None:
        return replace(outline, unblinded_ns=event.t_ns)
    return outline


def _open(outline: Outline) -> bool:
    return bool(outline.pauses) and outline.pauses[-1].end_ns is None


def _segment(outline: Outline, event: Event, payload: lifecycle.SegmentStarted) -> Outline:
    segments = outline.segments
    if segments and payload.gap_from_ns is not None:
        segments = (*segments[:-1], replace(segments[-1], last_ns=payload.gap_from_ns))
    new = Segment(
        payload.segment,
        event.t_ns,
        payload.utc,
        payload.app_version,
        payload.study_sha256,
        payload.gap_from_ns,
        event.t_ns,
    )
    pauses = outline.pauses
    if payload.gap_from_ns is not None and not _open(outline):
        pauses = (*pauses, PauseRecord("gap", payload.gap_from_ns))
    return replace(outline, segments=(*segments, new), pauses=pauses)


def _apply_sound_event(sound: AudioFile, payload: AudioGap | AudioStopped) -> AudioFile:
    if sound.file != payload.file:
        return sound
    if isinstance(payload, AudioGap):
        return replace(sound, lost_frames=sound.lost_frames + payload.frames)
    return replace(sound, stopped_at=payload.frames)
