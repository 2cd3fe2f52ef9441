"""The files that one session gives to a bundle: those that are made of its journal, and its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol

from labapp.analysis.rows import SessionRecords
from labapp.annotations.bundling import bundled_annotations
from labapp.annotations.video_files import LIST, VIDEOS, PlacedVideo, bundled_list, video_tree
from labapp.audio.alignment import fit_segment
from labapp.bids.folder import BundleFolder
from labapp.bids.model_cards import add_model_cards
from labapp.bids.redaction import moved_name, redact, redact_environment
from labapp.bids.session_timeline import session_timeline
from labapp.bids.stimuli_check import kept_pictures
from labapp.bids.task_timeline import task_timeline
from labapp.bids.tasks import tasks_of, trial_columns
from labapp.bids.tsv import Table, json_text
from labapp.errors import RecordError
from labapp.events import Event
from labapp.events.voice import AudioBlock, AudioGap, AudioStarted
from labapp.journal.arrow import parquet_bytes
from labapp.journal.layout import (
    ANNOTATIONS,
    AUDIO,
    BUNDLE_VERSION,
    CLOCK_FIT,
    DATES_MOVED,
    ENVIRONMENT,
    JOURNAL_PARQUET,
    SESSION,
    SOURCEDATA,
    STIMULI,
    STUDY,
)
from labapp.journal.outline import AudioFile
from labapp.journal.record import Record
from labapp.plugins import registry
from labapp.plugins.bids import SESSION_LABEL, TaskRows
from labapp.session.shifts import days_of
from labapp.study.instruments import Instrument
from labapp.study.loading import decoded


class Target(Protocol):
    """What takes the files of a bundle: the folder that it grows in, or a comparison with one."""

    @property
    def files(self) -> Collection[str]:
        """The names of the files so far."""
        ...

    def add_text(self, name: str, text: str) -> None: ...

    def add_stream(self, name: str, source: IO[bytes]) -> None: ...


SESSION_DESCRIPTION = "The course of the session around its tasks, with the moderator's events."


def deidentified(record: Record, instruments: Mapping[str, Instrument], private: Path) -> Record:
    """The record with its journal reduced, its dates moved and its rows chained anew.

    instruments: the session's, by id; private: where the lab keeps by how many days the dates of a
    participant are moved. Raises BundleError, DataFolderError.
    """
    days = 0 if record.dates_moved else days_of(private, record.study, record.participant)
    return replace(
        record,
        rows=redact(record.rows, instruments, days),
        name=moved_name(record.name, days),
        deidentified=True,
        dates_moved=True,
    )


def has_sound(record: Record) -> bool:
    """Whether a session has sound to give: a bundle may have left it out."""
    there = record.kind == "session" or any(map(record.tree.has, _sounds(record)))
    return bool(record.audio) and there


def _sounds(record: Record) -> set[str]:
    return {sound.file for sound in record.audio if sound.file.startswith(f"{AUDIO}/")}


def add_tables(bundle: Target, record: Record, version: str, *, audio: bool) -> None:
    """The files that are made of a session's journal: its BIDS tables with the pictures that they
    name, and where its sound lies in time; `audio`: whether the bundle has its sound.

    version: of labapp, where the session does not say one.
    """
    events = list(record.payloads())
    stem = f"{record.name.bids}/beh/{record.name.bids.replace('/', '_')}_task"
    about = {"StimulusPresentation": _software(record, version)}
    instructions = _instructions(record)
    tasks = tasks_of(record)
    records = SessionRecords.of(events, str(record.name))
    recorded, factors = records.rows(), records.factors
    for files in tasks:
        described = {"TaskName": files.name, "TaskDescription": files.description}
        if instructions:
            described["Instructions"] = instructions
        task = files.rows(files, record)
        _add_pictures(bundle, record, task)
        rows = [
            row | task.question(row) for row in recorded[files.table] if row["stage"] in task.plan
        ]
        columns = trial_columns(files, (factors.declared,))
        trials = Table(columns, [row | task.question(row) for row in rows])
        _add_table(bundle, f"{stem}-{files.label}_beh", trials, described)
        timeline = task_timeline(events, task, factors)
        _add_table(bundle, f"{stem}-{files.label}_events", timeline, described | about)
    course = {"TaskName": SESSION_LABEL, "TaskDescription": SESSION_DESCRIPTION}
    _add_table(bundle, f"{stem}-{SESSION_LABEL}_events", session_timeline(events), course | about)
    if audio:
        place = f"{SOURCEDATA}/{record.name.bids}"
        bundle.add_text(f"{place}/{CLOCK_FIT}", json_text(clock_fits(record)))


def _add_pictures(bundle: Target, record: Record, task: TaskRows) -> None:
    """The pictures that a task's tables name, each once a bundle."""
    for name, file in task.pictures().items():
        if f"{STIMULI}/{name}" not in bundle.files:
            with record.tree.open(file) as source:
                bundle.add_stream(f"{STIMULI}/{name}", source)


def _add_table(bundle: Target, name: str, table: Table, facts: Mapping[str, Any]) -> None:
    bundle.add_text(f"{name}.tsv", table.text())
    bundle.add_text(f"{name}.json", table.sidecar(**facts))


def _software(record: Record, version: str) -> dict[str, str]:
    versions = dict.fromkeys(segment.app_version for segment in record.segments)
    return {"SoftwareName": "labapp", "SoftwareVersion": ", ".join(versions) or version}


def _instructions(record: Record) -> str:
    """The texts shown before the first stage, with their placeholders."""
    told = registry.instructing()
    shown: list[str] = []
    for part in registry.known_parts(record.planned.plan):
        if part.measures:
            break
        if part.part in told:
            shown += [f"{STUDY}/{name}" for name in part.documents()]
    texts = (decoded(record.tree.read(name)) for name in shown if record.tree.has(name))
    return "\n\n".join(texts)


def add_sourcedata(
    bundle: BundleFolder, record: Record, *, audio: bool, videos: Sequence[PlacedVideo] = ()
) -> None:
    """The session itself: journal, study, environment, pictures, annotations; audio: with its
    sound; videos: those that go with it."""
    place = f"{SOURCEDATA}/{record.name.bids}"
    redacted = record.redacted
    # Only what the journal names (of the study its hash, which was compared before): nothing that
    # somebody put into the session's folder can slip out.
    named = kept_pictures(record) | (_sounds(record) if audio else set())
    for name in record.tree.names():
        if name.startswith(f"{STUDY}/") or name in named:
            with record.tree.open(name) as source:
                bundle.add_stream(f"{place}/{name}", source)
    environment = record.environment
    if redacted:
        environment = [{"segment": e.get("segment"), **redact_environment(e)} for e in environment]
    bundle.add_text(f"{place}/{ENVIRONMENT}", json_text(environment))
    bundle.add_bytes(f"{place}/{JOURNAL_PARQUET}", parquet_bytes(record.rows))
    annotations = bundled_annotations(record)
    if videos:
        annotations[LIST] = bundled_list(videos)
    for name, content in annotations.items():
        bundle.add_bytes(f"{place}/{ANNOTATIONS}/{name}", content)
    files = [f"{VIDEOS}/{placed.video.file}" for placed in videos]
    for placed, name in zip(videos, files, strict=True):
        with video_tree(record).open(placed.video.file) as source:
            bundle.add_stream(f"{place}/{ANNOTATIONS}/{name}", source)
    facts = {
        "bundle_version": BUNDLE_VERSION,
        "folder": str(record.name),
        "study": record.study,
        "state": record.state,
        **({"withdrawn": record.withdrawn} if record.withdrawn else {}),
        **({"decision": record.decision.to_json()} if record.decision else {}),
        **({"move": record.move.to_json()} if record.move else {}),
        "deidentified": redacted,
        **({"dates": DATES_MOVED} if record.dates_moved else {}),
        "sound": audio,
        "chain": "made at export" if redacted else "of the recording",
        "events": len(record.rows),
        "head": record.rows[-1].hash,
        **({"annotations": sorted([*annotations, *files])} if annotations else {}),
        "model_cards": add_model_cards(bundle, record),
    }
    bundle.add_text(f"{place}/{SESSION}", json_text(facts))


def clock_fits(record: Record) -> list[dict[str, Any]]:
    """A fit for each sound file, for audio/clock.json.

    offset_s: session time of frame 0; session time of a frame = offset_s + frame / fitted_rate.
    residual_ms: median absolute distance of the time marks from the line.
    """
    kinds = (AudioStarted.kind, AudioBlock.kind, AudioGap.kind)
    events = [row.event() for row in record.rows if row.kind in kinds]
    return [_fit(sound, events) for sound in record.audio]


def _fit(sound: AudioFile, events: Sequence[Event]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "file": sound.file,
        "segment": sound.segment,
        "frames": sound.frames,
        "lost_frames": sound.lost_frames,
        "nominal_rate": sound.nominal_rate,
    }
    try:
        fit = fit_segment(events, sound.file)
    except RecordError as error:
        return entry | {"fitted_rate": None, "reason": error.what}
    return entry | {
        "fitted_rate": round(fit.rate, 6),
        "offset_s": round(fit.offset_ns / 1e9, 9),
        "residual_ms": round(fit.residual_ms, 6),
        "anchors": fit.n_anchors,
        "used_nominal": fit.used_nominal,
        "reason": fit.reason,
    }
