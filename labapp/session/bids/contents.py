"""The files that one session gives to a bundle: those that are made of its journal, and its own.

The cards of a session's models are those of this installation, only if they are the session's. The
pictures kept with a session are checked to be those that were shown, each named by its hash, and
the manifests beside its study those it was planned with.

De-identified copies: what is withheld and what is kept, and how dates are moved.

Rule: of every payload, numbers, true/false and null are kept; text is kept only if its
field is declared as the program's or the study's own words (`labapp.record.events.registry.Word`).
Anything else, also in kinds that do not exist yet, becomes `WITHHELD`.

Answers to questionnaires go by what their items declare, `identifying: yes` or `no`, in the file
of the instrument as the session used it. Where nothing is declared ratings are kept, and written
answers, choices and numbers on a slider are not: a number may be an age, and a choice a gender.
An answer to an item that is not known is not kept either, nor one to an item that is asked only
after certain answers which are not kept, nor that it was not asked: it would tell them. A withheld
text becomes `WITHHELD`; any other withheld answer is dropped. What somebody wrote beside an option
is always withheld.

Dates: every date of a participant is moved by the same number of days, which is kept in the lab's
private folder and nowhere in the bundle. Times of day and all intervals stay as they were. The
clock of a sound card, which on Linux counts the seconds since 1970, begins at 0 in each file.

The path of the pointer is kept in trials only: elsewhere it leads to the answers that were given.

The hash chain of a de-identified journal is made again over the rows as exported. Keeping the
original hashes would undo the work: someone who has the hash before and after a withheld answer
can try the few answers there are until the hash fits. The lab holds the original journal and can
make the same copy again to prove where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.analysis.deviations import Trail, breaks_of, clock_words, describe_stall
from labapp.analysis.rows import SessionRecords
from labapp.base.clock import NS
from labapp.base.errors import BundleError, ModelError, RecordError
from labapp.coding.annotations.bundling import bundle_annotations
from labapp.coding.annotations.video_files import (
    LIST,
    VIDEOS,
    PlacedVideo,
    encode_bundled_list,
    video_tree,
)
from labapp.models.explanations import package as classifier_card
from labapp.models.representations import card, package
from labapp.models.training.files import read_bytes
from labapp.record.audio.alignment import fit_segment
from labapp.record.audio.recorded_sound import WavSamples
from labapp.record.events import GENESIS, Event, Payload
from labapp.record.events.lifecycle import (
    ClockChanged,
    DecoderWarmed,
    DeviationNoted,
    FlagAdded,
    LslClock,
    NoteAdded,
    NoteCorrected,
    PartEnded,
    PartStarted,
    PauseExplained,
    PointerMoved,
    ProgramStalled,
    Prompt,
    SegmentEnded,
    SegmentStarted,
    SessionPaused,
    SessionPlanned,
    SessionResumed,
    StimuliStored,
)
from labapp.record.events.registry import Pauses, payload_text
from labapp.record.events.remote import Afar
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from labapp.record.events.voice import AudioBlock, AudioGap, AudioStarted, SpeechSimulated
from labapp.record.journal.arrow import parquet_bytes
from labapp.record.journal.flac import FLAC, cannot_be_flac, flac_name, write_flac
from labapp.record.journal.layout import (
    ANNOTATIONS,
    AUDIO,
    BUNDLE_VERSION,
    CLOCK_FIT,
    DATES_MOVED,
    ENVIRONMENT,
    FLAC_BUNDLE_VERSION,
    JOURNAL_PARQUET,
    MANIFEST,
    SESSION,
    SOURCEDATA,
    STIMULI,
    STUDY,
    FolderName,
)
from labapp.record.journal.read import Row, payloads, plausible
from labapp.record.journal.record import AudioFile, Record
from labapp.session.bids.folder import BundleFolder, Table, hash_stream, json_text
from labapp.session.bids.tasks import (
    COMMON,
    SEQ,
    WORKING,
    OpenRow,
    task_timeline,
    tasks_of,
    trial_columns,
)
from labapp.session.runner import days_of
from labapp.study.instruments import Instrument, Item
from labapp.study.instruments.asking import is_withheld
from labapp.study.instruments.dont_know import DONT_KNOW
from labapp.study.loading import decode_text
from labapp.study.plugins import registry
from labapp.study.plugins.bids import SESSION_LABEL, Cells, Column, TaskRows, seconds

_PIECE = 1 << 18
"""Frames of sound that are encoded at once."""


class BundleTarget(Protocol):
    """What takes the files of a bundle: the folder that it grows in, or a comparison with one."""

    @property
    def files(self) -> Collection[str]:
        """The names of the files so far."""
        ...

    def add_text(self, name: str, text: str) -> None: ...

    def add_stream(self, name: str, source: IO[bytes]) -> None: ...


def deidentify_record(
    record: Record, instruments: Mapping[str, Instrument], private: Path
) -> Record:
    """The record with its journal reduced, its dates moved and its rows chained again.

    instruments: the session's, by id; private: where the lab keeps by how many days the dates of a
    participant are moved. Raises BundleError, DataFolderError.
    """
    days = 0 if record.dates_moved else days_of(private, record.study, record.participant)
    return replace(
        record,
        rows=redact(record.rows, instruments, days),
        name=move_folder_name(record.name, days),
        deidentified=True,
        dates_moved=True,
    )


def has_sound(record: Record) -> bool:
    """Whether a session has sound to give: a bundle may have left it out."""
    there = record.kind == "session" or any(map(record.tree.has, _sounds(record)))
    return bool(record.audio) and there


def _sounds(record: Record) -> set[str]:
    return {sound.file for sound in record.audio if sound.file.startswith(f"{AUDIO}/")}


def add_tables(bundle: BundleTarget, record: Record, version: str, *, audio: bool) -> None:
    """The files that are made of a session's journal: its BIDS tables with the pictures that they
    name, and where its sound lies in time; `audio`: whether the bundle has its sound.

    version: of labapp, if the session does not say one.
    """
    events = list(record.payloads())
    stem = f"{record.name.bids}/beh/{record.name.bids.replace('/', '_')}_task"
    versions = dict.fromkeys(segment.app_version for segment in record.segments)
    about = {
        "StimulusPresentation": {
            "SoftwareName": "labapp",
            "SoftwareVersion": ", ".join(versions) or version,
        }
    }
    told = registry.instructing()
    shown: list[str] = []
    for part in registry.read_known_parts(record.planned.plan):
        if part.measures:
            break
        if part.part in told:
            shown += [f"{STUDY}/{name}" for name in part.documents()]
    texts = (decode_text(record.tree.read(name)) for name in shown if record.tree.has(name))
    instructions = "\n\n".join(texts)
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
    words = "What happened in the session around its tasks, with the moderator's events."
    course = {"TaskName": SESSION_LABEL, "TaskDescription": words}
    _add_table(bundle, f"{stem}-{SESSION_LABEL}_events", session_timeline(events), course | about)
    if audio:
        place = f"{SOURCEDATA}/{record.name.bids}"
        bundle.add_text(f"{place}/{CLOCK_FIT}", json_text(clock_fits(record)))


def _add_pictures(bundle: BundleTarget, record: Record, task: TaskRows) -> None:
    """The pictures that a task's tables name, each once a bundle."""
    for name, file in task.pictures().items():
        if f"{STIMULI}/{name}" not in bundle.files:
            with record.tree.open(file) as source:
                bundle.add_stream(f"{STIMULI}/{name}", source)


def _add_table(bundle: BundleTarget, name: str, table: Table, facts: Mapping[str, Any]) -> None:
    bundle.add_text(f"{name}.tsv", table.text())
    bundle.add_text(f"{name}.json", table.sidecar(**facts))


def add_sourcedata(
    bundle: BundleFolder, record: Record, *, audio: bool, videos: Sequence[PlacedVideo] = ()
) -> None:
    """The session itself: journal, study, environment, pictures, annotations; audio: with its
    sound; videos: those that go with it."""
    place = f"{SOURCEDATA}/{record.name.bids}"
    redacted = record.redacted
    # Only what the journal names (of the study its hash, which was compared before): nothing that
    # somebody put into the session's folder can slip out.
    named = list_stored_pictures(record) | (_sounds(record) if audio else set())
    flac = audio and bundle.sound == FLAC
    for name in record.tree.names():
        if flac and name in _sounds(record):
            _add_flac(bundle, place, record, name)
        elif name.startswith(f"{STUDY}/") or name in named:
            with record.tree.open(name) as source:
                bundle.add_stream(f"{place}/{name}", source)
    environment = record.environment
    if redacted:
        environment = [{"segment": e.get("segment"), **redact_environment(e)} for e in environment]
    bundle.add_text(f"{place}/{ENVIRONMENT}", json_text(environment))
    bundle.add_bytes(f"{place}/{JOURNAL_PARQUET}", parquet_bytes(record.rows))
    annotations = bundle_annotations(record)
    if videos:
        annotations[LIST] = encode_bundled_list(videos)
    for name, content in annotations.items():
        bundle.add_bytes(f"{place}/{ANNOTATIONS}/{name}", content)
    files = [f"{VIDEOS}/{placed.video.file}" for placed in videos]
    for placed, name in zip(videos, files, strict=True):
        with video_tree(record).open(placed.video.file) as source:
            bundle.add_stream(f"{place}/{ANNOTATIONS}/{name}", source)
    facts = {
        "bundle_version": FLAC_BUNDLE_VERSION if flac else BUNDLE_VERSION,
        "folder": str(record.name),
        "study": record.study,
        "state": record.state,
        **({"withdrawn": record.withdrawn} if record.withdrawn else {}),
        **({"decision": record.decision.to_json()} if record.decision else {}),
        **({"move": record.move.to_json()} if record.move else {}),
        **({"tags": list(record.tags)} if record.tags else {}),
        **({"merged": [each.to_json() for each in record.merged]} if record.merged else {}),
        "deidentified": redacted,
        **({"dates": DATES_MOVED} if record.dates_moved else {}),
        "sound": audio,
        **({"sound_format": FLAC} if flac else {}),
        "chain": "made at export" if redacted else "of the recording",
        "events": len(record.rows),
        "head": record.rows[-1].hash,
        **({"annotations": sorted([*annotations, *files])} if annotations else {}),
        "model_cards": add_model_cards(bundle, record),
    }
    bundle.add_text(f"{place}/{SESSION}", json_text(facts))


def _add_flac(bundle: BundleFolder, place: str, record: Record, name: str) -> None:
    """A sound file as FLAC. Half a sample at its end, which a crash can leave, is no sound; a file
    without any sound stays as it is."""
    stated = next(sound.nominal_rate for sound in record.audio if sound.file == name)
    try:
        samples = WavSamples(record.tree.open(name))
    except OSError as error:
        raise _not_as_flac(record, name, str(error)) from error
    with closing(samples):
        rate = samples.form.rate or stated  # 0: the header of a killed run was never written
        if why := cannot_be_flac(rate):
            raise _not_as_flac(record, name, why)
        if rate != stated:
            raise _not_as_flac(
                record,
                name,
                f"its header says {rate} frames a second, but the journal says {stated}",
            )
        if samples.size:
            pieces = _pieces(record, name, samples)
            bundle.add_written(
                f"{place}/{flac_name(name)}", lambda target: write_flac(pieces, rate, target)
            )
            return
    with record.tree.open(name) as source:
        bundle.add_stream(f"{place}/{name}", source)


def _pieces(record: Record, name: str, samples: WavSamples) -> Iterator[NDArray[np.int16]]:
    """The sound of a file from its beginning to its end."""
    for first in range(0, samples.size, _PIECE):
        piece = samples[first : first + _PIECE]
        if len(piece) < min(_PIECE, samples.size - first):
            raise _not_as_flac(
                record, name, f"it can be read only up to frame {first + len(piece)}"
            )
        yield piece


def _not_as_flac(record: Record, name: str, why: str) -> BundleError:
    return BundleError(
        f"{name} of {record.name} cannot be converted to FLAC: {why}.",
        safe="No bundle was made, and the session folder was not touched.",
        todo="Check the session with `labapp sessions verify`, or export it with --sound wav.",
    )


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


ABSENT = "not installed here at export"
OTHER = "the model installed at export is a different version"


def add_model_cards(bundle: BundleFolder, record: Record) -> dict[str, str]:
    """Add the cards of the plan's models; what is said of each, by its id.

    A session knows the hashes of its decoders' cards; if it has none, equal dials must do. Of
    explained classifiers it knows the hash of the weights.
    """
    hashes = read_card_hashes(record)
    states = {
        model: (card.CARD, *_decoder_now(model, dimensions, hashes.get(model)))
        for model, dimensions in decoders_of(record).items()
    }
    for model, weights in classifiers_of(record).items():
        states[model] = (classifier_card.CARD, *_classifier_now(model, weights))
    for model, (file, _, content) in states.items():
        name = f"{SOURCEDATA}/models/{model}/{file}"
        if content is not None and name not in bundle.files:
            bundle.add_bytes(name, content)
    return {model: state for model, (_, state, _) in states.items()}


def _decoder_now(
    model: str, dimensions: list[dict[str, Any]], stated: str | None
) -> tuple[str, bytes | None]:
    """What is said of a decoder's card, and its content if it is the session's; stated: its
    hash."""
    state = ABSENT
    try:
        for folder in package.places(model):
            content = read_bytes(folder / card.CARD)
            if _dials(folder, content) != dimensions:
                state = "the model installed at export has different sliders"
            elif stated and sha256(content).hexdigest() != stated:
                state = OTHER
            else:
                return "included", content
    except ModelError:
        pass
    return state, None


@lru_cache(maxsize=64)
def _dials(folder: Path, content: bytes) -> list[dict[str, Any]]:
    """Of the card in a folder, read once while its content is this: sessions of a study have the
    same models. Raises ModelError."""
    return card.read(folder).space.to_json()


def _classifier_now(model: str, stated: str | None) -> tuple[str, bytes | None]:
    """The same of a classifier; stated: the hash of its weights."""
    state = ABSENT
    try:
        for folder in package.places(model, card=classifier_card.CARD):
            state = OTHER
            if classifier_card.read(folder).weights_sha256 == stated:
                return "included", read_bytes(folder / classifier_card.CARD)
    except ModelError:
        pass
    return state, None


def read_card_hashes(record: Record) -> dict[str, str]:
    """The hash of each decoder's card, as the session noted it; empty if there was no card."""
    rows = [row for row in record.rows if row.kind == DecoderWarmed.kind]
    return {
        payload.model: payload.card_sha256
        for _, payload in payloads(rows)
        if isinstance(payload, DecoderWarmed)
    }


def decoders_of(record: Record) -> dict[str, list[dict[str, Any]]]:
    """The dimensions of each decoder of the plan."""
    parts = registry.read_known_parts(record.planned.plan)
    return {model: list(dials) for part in parts for model, dials in part.dials()}


def classifiers_of(record: Record) -> dict[str, str | None]:
    """The hash of the weights of each classifier that the plan explains."""
    parts = registry.read_known_parts(record.planned.plan)
    return {model: sha256 for part in parts for model, sha256 in part.classifiers()}


_MANIFEST = re.compile(rf"{STIMULI}/[^/]+/{re.escape(MANIFEST)}")


def list_stored_pictures(record: Record) -> set[str]:
    """The files of the pictures that the journal says were kept, in the session's folder."""
    files: set[str] = set()
    for _, payload in payloads([row for row in record.rows if row.kind == StimuliStored.kind]):
        assert isinstance(payload, StimuliStored)
        files |= {f"{STIMULI}/{name}" for name in payload.files.values()}
    return files


def check_stimuli(record: Record) -> tuple[int, list[str]]:
    """How many pictures were checked, and what is wrong, by the file's name in the folder.

    A file has to be there for every picture that the journal says was kept, and to have the
    SHA-256 it is named by; a file that the journal does not name does not belong there. Hidden
    files in a session's folder are told of by `facts_check.check_folder`.
    """
    stored = list_stored_pictures(record)
    there = {
        name
        for name in record.tree.names()
        if name.startswith(f"{STIMULI}/")
        and (record.kind == "bundle" or not PurePosixPath(name).name.startswith("."))
    }
    problems = [f"{name}: missing" for name in sorted(stored - there)]
    problems += [f"{name}: not mentioned in the journal" for name in sorted(there - stored)]
    for name in sorted(stored & there):
        with record.tree.open(name) as stream:
            right = hash_stream(stream).sha256 == PurePosixPath(name).stem
        if not right:
            problems.append(f"{name}: not the picture that was shown (SHA-256)")
    return len(stored & there), problems


def split_manifests(record: Record) -> tuple[dict[str, bytes], list[str]]:
    """The files of the study itself, and what is wrong with the manifests of stimulus sets that lie
    beside them as `stimuli/ID/manifest.json`; they are no part of the study's hash."""
    files = record.study_files()
    copied = {name: files.pop(name) for name in tuple(files) if _MANIFEST.fullmatch(name)}
    if not files:  # there is no copy of the study, which its hash tells
        return files, []
    wanted = {
        f"{STIMULI}/{stimuli.name}/{MANIFEST}": stimuli.sha256
        for part in registry.read_known_parts(record.planned.plan)
        for stimuli in part.stimulus_sets()
    }
    problems = [f"{name}: missing" for name in sorted(wanted.keys() - copied)]
    problems += [f"{name}: not mentioned in the plan" for name in sorted(copied.keys() - wanted)]
    problems += [
        f"{name}: not the one with which the session was planned (SHA-256)"
        for name in sorted(wanted.keys() & copied)
        if sha256(copied[name]).hexdigest() != wanted[name]
    ]
    return files, problems


KILLED = "killed"
"""Outcome of a run that came to no orderly end."""

SESSION_TYPES = {
    "segment": "A run of the program on this session.",
    "part": "A part of the plan: consent, tutorial, practice, stage, questionnaire, break, "
    "interview, debrief.",
    "part.restarted": "A stage that was interrupted began again with its first question; value is "
    "the attempt at it.",
    "part.skipped": "A part was skipped before it began: the moderator skipped its stage or "
    "continued at a later part, or the part asks about a skipped stage.",
    "part.left_out": "A part was not shown because of earlier answers, as the study says.",
    "quota.counted": "How many people fell under a quota of the study before the session.",
    "quota.met": "The participant falls under a quota of the study, according to their answers.",
    "pause": "The session was paused; text says why.",
    "break": "A break in the plan; the session was paused. The row of its part has its outcome.",
    "gap": "From the end of a run that was killed to the moment the session continued.",
    "program.stalled": "Something froze for more than a second: value says what (program, "
    "computer, or recorder of the sound); text says what happened to that time. The "
    "duration does not include sleep of the computer, but text does.",
    "clock.changed": "The computer's date and time were changed; value is the number of seconds.",
    "page.turned": "A page of a text or questionnaire is on the screen; value counts from 0.",
    "note.added": "A moderator's note, from its first key; value is the session time in s at "
    "which it was saved (Enter).",
    "deviation.noted": "A deviation from the study, as the moderator wrote it down, from its "
    "first key; value is the session time in s at which it was saved (Enter).",
    "note.corrected": "The text of a note, deviation, flag, prompt or question was corrected; "
    "without text, it was removed. Value is the seq of what is corrected. Onset is the "
    "first key.",
    "blinding.set": "The console hides (true) or names (false) the representations to the "
    "moderator.",
    "flag.added": "A moderator's flag; value is its number, text its meaning.",
    "prompt.given": "The moderator prompted the participant.",
    "alarm.raised": "An alarm for the moderator; text is its code and detail.",
    "alarm.cleared": "The alarm with this code was over.",
    "remote.opened": "Other computers can join the session from here on.",
    "remote.closed": "No other computer can join or follow the session any more.",
    "remote.joined": "Somebody joined from another computer, or rejoined after a broken link; "
    "value is their number, text what they may do.",
    "remote.left": "Somebody left at another computer; value is their number, text why.",
    "remote.refused": "Somebody tried to join with a wrong code; value is the number of wrong "
    "attempts.",
    "remote.clock": "How well the clock of another computer agrees with the session's; value is "
    "the number of the person at it, text the largest error in s.",
    "moderator.changed": "Somebody else moderates the session from here on; value is their "
    "number if they are at another computer, and empty for the session's own; text says why.",
    "screen.changed": "A screen was removed or added.",
    "window.focus": "The participant's window gained (true) or lost (false) the keyboard.",
    "window.shown": "The participant's window appeared, or its size or screen changed; text is "
    "its width and height in logical pixels, value the number of the display's pixels per "
    "logical one.",
    "keyboard.given": "Keyboard input moved; value is to whom (moderator, participant), text why.",
    "close.requested": "The participant tried to close the window; nothing was closed.",
    "close.withdrawn": "The participant who tried to close the window continued; working time "
    "was stopped since close.requested, in sessions that have these rows.",
    "text.sound_played": "A sound or video in a text was started, paused or played to its end; "
    "value is where in it, in seconds; text is its file, play or pause or end, and which play it "
    "is.",
    "skip.requested": "A question (text: trial) was skipped by the participant, or a part "
    "(text: part) by the moderator; it could be undone, and working time was stopped.",
    "skip.taken_back": "The skip was undone: the question or part continued.",
    "skip.confirmed": "The skip was not undone.",
    "session.reopened": "The end was undone before the console was closed; value is its seq.",
    "speech.simulated": "A simulated participant said something; text is its words.",
    "audio.started": "A sound file was opened; text is its name.",
    "audio.off": "The session is recorded without sound; text says why.",
    "audio.state": "The level says: heard, silent, zeros or clipping.",
    "audio.gap": "Sound was lost and filled with silence; value is the number of frames.",
    "audio.device_lost": "The microphone was gone.",
    "audio.device_back": "The microphone was back.",
    "audio.stopped": "A sound file was closed; text is its name.",
    "lsl.opened": "The events are sent over the Lab Streaming Layer; text is the source_id that "
    "marks a recording of the streams as this session's.",
    "lsl.clock": "The same moment on both clocks; value is the onset on the clock of the Lab "
    "Streaming Layer, in s.",
    "lsl.off": "The events should be sent over the Lab Streaming Layer, but are not; text says "
    "why.",
    "session.completed": "Every part of the plan was completed.",
    "session.ended": "The session was ended early; text says why; value says what should happen "
    "to the data of a participant who withdrew: keep or delete.",
}
WITHOUT_ROW = frozenset(
    {
        *("session.planned", "environment.recorded", "participant.simulated", "decoder.warmed"),
        *("inclusion.decided", "payment.computed", "stimuli.kept", "audio.block", "pointer.moved"),
        *("session.paused", "pause.explained", "session.resumed"),
        *("segment.ended", "part.ended"),
        *("screen.page", "screen.scrolled", "screen.enlarged"),
        "remote.asked",
    }
)
"""The kinds of labapp's own that other rows or other files of a bundle tell of, and those that only
say how a screen was looked at. Any other that nobody has a row for has one, with its fields."""


def session_columns(others: dict[str, str] | None = None) -> tuple[Column, ...]:
    """The columns of the session's events.tsv; others: types of rows that only this session has."""
    types = list(SESSION_TYPES.items())
    for row in registry.course_rows().values():
        names = [name for name, _ in types]
        place = names.index(row.behind) + 1 if row.behind in names else len(types)
        types.insert(place, (row.kind, row.meaning))
    return (
        *COMMON,
        Column("trial_type", "What happened.", levels=dict(types) | (others or {})),
        Column("stage", "Id of the part of the plan to which it belongs."),
        WORKING,
        Column("outcome", "How the part or run ended; n/a if no end was recorded."),
        Column("source", "Who caused it: participant, moderator, observer, system or simulated."),
        Column("value", "A number or answer, see trial_type."),
        Column("text", "Words, on one line, see trial_type."),
        SEQ,
    )


def session_timeline(events: Iterable[tuple[Event, Payload]]) -> Table:
    """The rows of the session, by their onset. events: of the whole session, with payloads."""
    fold = _Fold()
    placed: dict[str | None, frozenset[str]] = {}
    none: frozenset[str] = frozenset()
    for event, payload in events:
        if isinstance(payload, SessionPlanned):
            of_kind = {
                part: files.placed for files in registry.task_files() for part in files.parts
            }
            placed = {str(row["id"]): of_kind.get(row["part"], none) for row in payload.plan}
        # Most of a journal is movements and pictures, of which the files of their task tell.
        if event.kind not in placed.get(event.part_id, none):
            fold.take(event, payload)
    rows = sorted(fold.rows, key=lambda row: (row["at"], row["seq"]))
    return Table(session_columns(fold.others), rows)


class _Fold:
    def __init__(self) -> None:
        self.rows: list[Cells] = []
        self.others: dict[str, str] = {}
        self._of_tasks = registry.course_rows()
        self._pauses = Pauses()
        self._trail, self._afar = Trail(), Afar()
        self._open: dict[str, OpenRow] = {}
        self._breaks: frozenset[str] = frozenset()
        self._running: str | None = None

    def take(self, event: Event, payload: Payload) -> None:
        was_paused = self._pauses.paused
        self._trail.apply(event, payload)
        self._pauses = self._pauses.apply(event)
        self._afar.apply(event, payload)
        # What the moderator marked at another computer belongs to the moment of the key.
        marks = isinstance(payload, FlagAdded | Prompt)
        at_ns = self._afar.time_ns(event) if marks else event.t_ns
        match payload:
            case SegmentStarted():
                gap_from = payload.gap_from_ns
                if gap_from is not None:
                    self._close("segment", gap_from, KILLED)
                    if not was_paused:
                        self._begin("pause", "gap", event, gap_from)
                self._begin("segment", "segment", event, event.t_ns)
            case SegmentEnded():
                self._close("segment", event.t_ns, payload.reason)
            case SessionPlanned():
                self._breaks = breaks_of(payload)
            case SessionPaused() if not was_paused:
                kind = "break" if self._running in self._breaks else "pause"
                self._begin("pause", kind, event, event.t_ns, text=payload.reason)
            case PauseExplained():
                if (pause := self._open.get("pause")) is not None:
                    pause.cells["text"] = payload.reason
            case SessionResumed():
                self._close("pause", event.t_ns, None)
            case PartStarted():
                self._running = event.part_id
                self._begin("part", "part", event, event.t_ns)
            case PartEnded():
                self._close("part", event.t_ns, payload.outcome)
            case NoteAdded() | DeviationNoted() | NoteCorrected():
                # Written while somebody talked: it belongs to the moment it was begun in.
                began_ns = payload.typing_began_ns
                row = self._add(event.kind, event, began_ns, duration="0", **_words(event))
                row["stage"] = self._trail.at(began_ns)[0]
            case ProgramStalled():
                lasts = seconds(payload.duration_ns)
                words = {"value": payload.who, "text": describe_stall(payload)}
                self._add(event.kind, event, payload.from_ns, duration=lasts, **words)
            case ClockChanged():
                by = seconds(round(payload.by_s * NS))
                words = {"value": by, "text": clock_words(payload)}
                self._add(event.kind, event, event.t_ns, duration="0", **words)
            case SpeechSimulated():
                lasts = seconds(payload.t1_ns - payload.t0_ns)
                self._add(event.kind, event, payload.t0_ns, duration=lasts, text=payload.text)
            case LslClock():
                value = repr(payload.lsl_s)
                self._add(event.kind, event, payload.session_ns, duration="0", value=value)
            case _ if event.kind in self._of_tasks:
                cells = self._of_tasks[event.kind].cells(payload)
                self._add(event.kind, event, at_ns, duration="0", **cells)
            case _ if event.kind in SESSION_TYPES:
                self._add(event.kind, event, at_ns, duration="0", **_words(event))
            case _ if event.kind not in WITHOUT_ROW:
                meaning = " ".join((type(payload).__doc__ or "").split())
                self.others[event.kind] = f"{meaning} Text is its fields as JSON."
                fields = payload_text(event.payload)
                self._add(event.kind, event, event.t_ns, duration="0", text=fields)

    def _add(self, trial_type: str, event: Event, t_ns: int, **cells: Any) -> Cells:
        row = {
            "at": t_ns,
            "onset": seconds(t_ns),
            "trial_type": trial_type,
            "stage": event.part_id,
            "source": self._afar.source(event),
            "seq": event.seq,
            **cells,
        }
        self.rows.append(row)
        return row

    def _begin(self, slot: str, trial_type: str, event: Event, t_ns: int, **cells: Any) -> None:
        row = self._add(trial_type, event, t_ns, **cells)
        self._open[slot] = OpenRow(row, t_ns, self._pauses.working_ns(t_ns))

    def _close(self, slot: str, t_ns: int, outcome: str | None) -> None:
        if (lasting := self._open.pop(slot, None)) is not None:
            lasting.close(t_ns, self._pauses.working_ns(t_ns), outcome)


def _words(event: Event) -> Cells:
    payload = event.payload
    match event.kind:
        case "page.turned":
            return {"value": payload["page"]}
        case "note.added" | "deviation.noted":
            return {"value": seconds(event.t_ns), "text": payload["text"]}
        case "note.corrected":
            return {"value": payload["seq"], "text": payload["text"] or None}
        case "blinding.set":
            return {"value": payload["blind"]}
        case "session.ended":
            return {"value": payload.get("withdrawal") or None, "text": payload["reason"]}
        case "part.restarted":
            return {"value": payload["attempt"]}
        case "flag.added":
            return {"value": payload["number"], "text": payload["meaning"]}
        case "alarm.raised":
            return {"text": f"{payload['code']}: {payload['detail']}"}
        case "screen.changed":
            return {"value": payload["screens_left"], "text": payload["change"]}
        case "window.focus":
            return {"value": payload["focused"]}
        case "window.shown":
            size = f"{payload['width']} x {payload['height']}"
            return {"value": payload["ratio"], "text": size}
        case "keyboard.given":
            return {"value": payload["to"], "text": payload["why"]}
        case "text.sound_played":
            played = f"{payload['sound']} {payload['action']} {payload['play']}"
            return {"value": payload["at_s"], "text": played}
        case "audio.gap":
            return {"value": payload["frames"], "text": payload["cause"]}
        case "session.reopened":
            return {"value": payload["seq"]}
        case "remote.joined":
            return {"value": payload["member"], "text": payload["role"]}
        case "remote.left" | "moderator.changed":
            return {"value": payload["member"], "text": payload["why"]}
        case "remote.refused":
            return {"value": payload["attempts"], "text": payload["role"]}
        case "remote.clock":
            return {"value": payload["member"], "text": seconds(payload["error_ns"])}
    named = ("text", "reason", "code", "state", "file", "how", "device", "what", "source_id")
    return {"text": next((payload[name] for name in named if name in payload), None)}


WITHHELD = "[withheld]"

KEPT_ENVIRONMENT = frozenset({"labapp", "python", "system", "libraries", "plugins"})
"""Entries of environment.json (and of environment.recorded) whose text is kept."""


def redact(rows: Sequence[Row], instruments: Mapping[str, Instrument], days: int = 0) -> list[Row]:
    """The rows of a de-identified journal, marked if they were reduced, chained again.

    instruments: the session's, by id; days: by which its dates are moved back. Raises BundleError
    for a date that is none.
    """
    out = []
    previous = GENESIS
    clocks: dict[str, float] = {}
    for row, (event, payload) in zip(rows, plausible(payloads(rows)), strict=True):
        reduced = redact_payload(row.kind, event.payload, instruments)
        if row.kind == SegmentStarted.kind and isinstance(reduced.get("utc"), str):
            reduced["utc"] = move_time(reduced["utc"], days)
        elif isinstance(payload, AudioBlock):
            # On a clock that is 0 at the first of the file.
            for _, adc_s, _ in payload.anchors[:1]:
                clocks.setdefault(payload.file, adc_s)
            reduced["anchors"] = [
                [frame, adc_s - clocks[payload.file], captured_ns]
                for frame, adc_s, captured_ns in payload.anchors
            ]
        elif isinstance(payload, PointerMoved) and event.trial is None:
            reduced |= {"t_ms": [], "x": [], "y": []}
        if reduced != event.payload:
            row = row._replace(payload=payload_text(reduced), redacted=True)
        row = row._replace(utc=move_time(row.utc, days))
        previous = row.compute_hash(previous)
        out.append(row._replace(hash=previous))
    return out


def move_time(utc: str, days: int) -> str:
    """A time as `labapp.base.clock` writes it, so many days earlier. Raises BundleError."""
    if not days:
        return utc
    try:
        return f"{date.fromisoformat(utc[:10]) - timedelta(days)}{utc[10:]}"
    except (ValueError, OverflowError) as error:
        raise BundleError(
            f"A time in the journal cannot be read as a date ({utc[:40]!r}).",
            safe="No bundle was made, and the session was not touched.",
            todo="Check it with `labapp sessions verify`.",
        ) from error


def move_folder_name(name: FolderName, days: int) -> FolderName:
    """The name of a session folder, so many days earlier. Raises BundleError."""
    dashed = f"{name.utc[:4]}-{name.utc[4:6]}-{name.utc[6:]}"
    return FolderName(name.participant, name.session, move_time(dashed, days).replace("-", ""))


def redact_payload(
    kind: str, payload: Mapping[str, Any], instruments: Mapping[str, Instrument]
) -> dict[str, Any]:
    """A payload without free text and without answers that identify somebody."""
    if kind == "environment.recorded":
        return {name: redact_environment(value) for name, value in payload.items()}
    fields = registry.collect_kept_text().get(kind, frozenset())
    reduced = {
        name: value if name in fields else withhold(value) for name, value in payload.items()
    }
    instrument = str(payload.get("instrument"))
    if kind == ResponseChanged.kind:
        reduced["value"] = _answer(instruments, instrument, payload["item"], payload["value"])
    elif kind == QuestionnaireSubmitted.kind and isinstance(payload["answers"], dict):
        answers = {
            item: _answer(instruments, instrument, item, value)
            for item, value in payload["answers"].items()
        }
        reduced["answers"] = {item: value for item, value in answers.items() if value is not None}
        left_out = reduced.pop("not_asked", ())
        if told := [
            i for i in left_out if _find_shared_item(instruments, instrument, i) is not None
        ]:
            reduced["not_asked"] = told
    return reduced


def _find_shared_item(
    instruments: Mapping[str, Instrument], instrument: str, item: object
) -> Item | None:
    """An item whose answers are kept; None for one that is withheld or not known."""
    try:
        if is_withheld(instruments, instrument, str(item)):
            return None
        return instruments[instrument].item(str(item))
    except KeyError:
        return None


def _answer(
    instruments: Mapping[str, Instrument], instrument: str, item: object, value: Any
) -> Any:
    """An answer as it is kept, `WITHHELD` for a text, None for another one that is not kept; see
    `labapp.study.instruments.items` for its form."""
    known = _find_shared_item(instruments, instrument, item)
    if known is None:
        return WITHHELD if isinstance(value, str) else None
    if "" in known.own_words:
        return value
    reduced = withhold(value)
    if isinstance(value, dict):
        reduced |= {name: value[name] for name in (known.own_words | {DONT_KNOW}) & value.keys()}
    return reduced


def redact_environment(environment: Any) -> Any:
    """An entry of environment.json: versions are kept, names of machines and devices are not."""
    if not isinstance(environment, dict):
        return withhold(environment)
    return {
        name: value if name in KEPT_ENVIRONMENT else withhold(value)
        for name, value in environment.items()
    }


def withhold(value: Any) -> Any:
    """The value with every text in it withheld; keys of objects stay, and that a text is empty (a
    name or a note that was taken back)."""
    if isinstance(value, str):
        return WITHHELD if value else value
    if isinstance(value, list):
        return [withhold(item) for item in value]
    if isinstance(value, dict):
        return {name: withhold(item) for name, item in value.items()}
    return value


AGREED_LIST = f"""\
* kept: session times and intervals, numbers, dial states, ratings, the participant's and session's
  labels, the study's own texts and pictures and the program's own codes;
* replaced by {WITHHELD}: notes, deviations as written down, names given to dials, prompts,
  meanings of flags, reasons of pauses, written answers, details of alarms, names of devices,
  screens and machines;
* dropped: answers chosen from a list or set on a slider, and the path of the pointer outside of
  trials, which leads to such answers. An item of a questionnaire that declares
  `identifying: no` in the study's files keeps its answers, one that declares `identifying: yes`
  loses them whatever its kind, and so does an item that is asked only after certain answers to
  such a one; what was written beside an option is always withheld;
* moved: every date, by a number of days that is the same for all sessions of a participant and is
  not in this bundle. Times of day and intervals are true; the years are not. The sound card's own
  clock, in the time marks of the sound (`anchors`), begins at 0 in each file;
* of what was said about a session after its end: units, codes and values are kept, and texts only
  where a person has read them against the sound; remarks on codes and reasons of what was settled
  are dropped, and raters are numbered. Codebooks keep their codes and lose examples, explanations
  and comments, unless one declares `identifying: no`;
* dropped: answers of the lab's own survey tool that were merged, with the link that leads there,
  but for the columns of which the lab says that they may be shared."""
"""The rule for people, in the README of the bundle."""
