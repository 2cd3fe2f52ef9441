"""`labapp export`: checked sessions become one bundle, in one of the formats (`Exporter`).

The BIDS dataset that `labapp export` writes: a bundle that stands on its own.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from labapp import __version__
from labapp.analysis.questionnaires import instruments_of
from labapp.base.clock import utc_text
from labapp.base.discovery import Catalogue, load
from labapp.base.errors import BundleError, LabappError, UsageError
from labapp.base.messages import Message
from labapp.base.parallel.processes import gc_paused
from labapp.base.report.page import count
from labapp.base.resources import private_root
from labapp.coding.annotations.bundling import leaving_annotations
from labapp.coding.annotations.model import SessionAnnotations
from labapp.coding.annotations.redacting import redact_tree
from labapp.coding.annotations.store import annotations_of, is_annotated
from labapp.coding.annotations.video_files import PlacedVideo, explain_withholding, videos_of
from labapp.record.journal.flac import FLAC, WAV
from labapp.record.journal.layout import FLAC_BUNDLE_VERSION, MANIFEST, SOURCEDATA, STUDY
from labapp.record.journal.opening import (
    brief_record,
    count_withdrawn,
    find_withdrawn,
    is_session,
    iter_records,
    places,
)
from labapp.record.journal.read import check_chain, readable
from labapp.record.journal.record import Record
from labapp.session.bids.contents import (
    add_sourcedata,
    deidentify_record,
    has_sound,
    split_manifests,
)
from labapp.session.bids.derived import README, TABLE_FORMAT, DerivedFiles, packages
from labapp.session.bids.folder import BundleFolder, create_bundle, manifest_text, refuse_existing
from labapp.session.exports import clear
from labapp.study.instruments import Instrument
from labapp.study.loading import files_digest

BIDS = "bids"


@dataclass(frozen=True)
class ExportedSession:
    """A session that may be exported.

    It is not running, its journal is as it was written, its study folder is the one it was planned
    with, and its participant did not withdraw.

    Attributes
    ----------
    record : the session. A de-identified one (`record.redacted`) has nothing in its rows any more
        that was withheld; its folder still has it. Its sound is read from `record.tree`, where
        redacted stretches are silent.
    instruments : its questionnaires by id, in the session's language.
    sound : whether it has sound that belongs into the export.
    unshared : whether it has sound that was asked for and that the participant does not let out.
    videos : its videos that belong into the export; their files are in
        `labapp.coding.annotations.video_files.video_tree`.
    """

    record: Record
    instruments: Mapping[str, Instrument]
    sound: bool
    unshared: bool
    videos: tuple[PlacedVideo, ...] = ()

    def annotations(self) -> SessionAnnotations:
        """The units, texts and marks of the session as they may leave the lab: no redacted word,
        and of a de-identified session nothing that is withheld. Raises AnnotationError: a file of
        them is damaged."""
        return leaving_annotations(self.record)


class Exporter(ABC):
    """A format. A package brings one by an entry point of the group `labapp.exporters` that names
    an instance; `labapp export --format NAME` writes it.

    What surrounds it is the same for all: sessions are checked and, if that is asked, reduced
    before it sees them; the folder is written beside its place and put there whole, or not at all.
    """

    name: ClassVar[str]
    """What it is called on the command line."""
    sounds: ClassVar[tuple[str, ...]] = (WAV,)
    """The formats that it can write sound in: what `BundleFolder.sound` can say."""

    @abstractmethod
    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        """Write the files of an export. Raises BundleError: something cannot be written in this
        format.

        Parameters
        ----------
        sessions : all of one study, each once; read as they are asked for: one is in memory.
        folder : takes the files, by their names in the export.
        audio : whether sound was asked for.
        """


def _load_shipped() -> tuple[Exporter, ...]:
    return (
        load("labapp.session.bids.export:BIDS_DATASET"),
        load("labapp.session.bids.psychds:PSYCH_DS"),
    )


EXPORTERS: Catalogue[Exporter] = Catalogue(
    "labapp.exporters", "an exporter", Exporter, _load_shipped
)


def exporter(name: str) -> Exporter:
    """The exporter of a name. Raises UsageError, which lists them."""
    if name not in EXPORTERS:
        raise UsageError(
            f"There is no format {name!r} to export to.",
            safe="No bundle was made.",
            todo=f"Use one of: {', '.join(EXPORTERS)}; or install the package that provides it "
            "(labapp plugins list shows what is installed).",
        )
    return EXPORTERS[name]


Progress = Callable[[int, int, str], None]
"""Called with the sessions done, the sessions given and the name of the one that follows."""

_log = logging.getLogger(__name__)


def export(
    sessions: Sequence[Path],
    out: Path,
    *,
    zip: bool = False,  # noqa: A002 - the name of the option
    deidentify: bool = False,
    audio: bool | None = None,
    withdrawn: bool = False,
    private: Path | None = None,
    format: str | Exporter = BIDS,  # noqa: A002 - the name of the option
    sound: str = WAV,
    progress: Progress | None = None,
) -> Path:
    """Write a bundle of sessions (their folders, or a folder of these; or bundles to be reduced
    further) and return its path.

    out: the bundle's folder; with `zip` its archive, `.zip` added if it is missing.
    deidentify: withhold what identifies people and move all dates (see bundle.redaction). audio:
    with sound; if that is not said, with sound unless the bundle is de-identified, for a voice
    identifies. withdrawn: sessions too whose participants withdrew and let the data be kept, which
    are left out otherwise.
    private: the lab's private folder, the usual one if it is None; a de-identified copy keeps
    there by how many days it moved the dates of each participant. format: see `exporter`, or one
    itself. sound: the format of the sound files.

    The bundle is written beside its place and renamed at the end. Nothing in a session folder is
    touched; the export is noted in `exports.jsonl` beside it before it begins and when it is done.

    Raises
    ------
    ExportExists : there is something at the place of the bundle.
    BundleError : a session is running, not whole or to be deleted, two have the same labels, or
        they are of different studies; the disk is full or cannot be written.
    DataFolderError : others could read the private folder.
    RecordError : a session cannot be read.
    AnnotationError : its annotations cannot be read, or redacted sound has no place in time.
    UsageError : nobody knows the format, or it has no such sound.
    """
    how = exporter(format) if isinstance(format, str) else format
    if sound not in how.sounds:
        raise UsageError(
            f"The format {how.name} cannot have sound as {sound!r}.",
            safe="No bundle was made.",
            todo=f"Choose one of these for the sound: {', '.join(how.sounds)}; or export to "
            "another format.",
        )
    if zip and out.suffix != ".zip":
        out = out.with_name(out.name + ".zip")
    if not sessions:
        raise BundleError("No session to export was given.", todo="Give at least one session.")
    audio = not deidentify if audio is None else audio
    if sound != WAV and not audio:
        raise UsageError(
            f"The sound was requested as {sound!r}, but this export has no sound.",
            safe="No bundle was made.",
            todo="Leave --sound out, or include the sound (--with-audio with --deidentify).",
        )
    places_found = [place for path in sessions for place in places(path)]
    folders = [place for place in places_found if is_session(place)]
    facts = {"deidentified": deidentify, "audio": audio, "format": how.name, "sound": sound}
    _clear(folders)  # before anything is refused: the killed export may have been whole
    refuse_existing(out)
    _refuse_together(places_found, withdrawn)
    gone = {
        (study, each.participant)
        for study, withdrew in find_withdrawn(folders).items()
        for each in withdrew
        if not (withdrawn and each.kept)
    }
    with create_bundle(out, folders, facts, zipped=zip) as bundle, gc_paused():
        bundle.sound = sound
        bundled = [place for place in places_found if place not in folders]
        bundle.withdrew = len(gone) + count_withdrawn(bundled)
        records = _records(places_found, withdrawn, progress)
        secret = private_root(private) if deidentify else None
        _write(how, _prepare_sessions(records, secret, bundle, audio=audio), bundle, audio=audio)
    return out


def _clear(folders: Sequence[Path]) -> None:
    """Take away what killed exports of the same studies left."""
    for study in dict.fromkeys(folder.resolve().parent for folder in folders):
        try:
            for removed in clear(study):
                _log.warning("Removed what a killed export had left behind: %s", removed)
        except LabappError as error:
            _log.warning("%s", error)


def _prepare_sessions(
    records: Iterable[Record], private: Path | None, folder: BundleFolder, *, audio: bool
) -> Iterator[ExportedSession]:
    """Each session as an exporter may have it. private: the lab's private folder where the bundle
    is to be de-identified, else None."""
    for record in records:
        with readable(record.source):
            _refuse(record)
            instruments = instruments_of(record)
            # Read before anything is reduced: what is damaged, or of another session, is refused.
            redactions = annotations_of(record).redactions if is_annotated(record) else ()
            videos = videos_of(record)
            if audio and redactions and has_sound(record) and record.may("share_audio"):
                record = replace(record, tree=redact_tree(record, redactions))
            if private is not None:
                record = deidentify_record(record, instruments, private)
            # A session took place before its export: the day of that says something of its own.
            folder.undated |= record.redacted
            sounds, shared = audio and has_sound(record), record.may("share_audio")
            why = explain_withholding(record, sound=audio, redacted=bool(redactions))
            if videos and why:
                _log.warning("The video of %s is left out: %s.", record.name, why)
            given = ExportedSession(
                record, instruments, sounds and shared, sounds and not shared, () if why else videos
            )
        yield given


def _write(
    how: Exporter, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
) -> None:
    """Let an exporter write; if one of an installed package fails, the error names it."""
    try:
        how.write(sessions, folder, audio=audio)
    except (LabappError, OSError):
        raise
    except Exception as error:
        if type(how).__module__.startswith("labapp."):
            raise
        raise BundleError(
            f"The exporter {how.name!r} of an installed package failed: "
            f"{type(error).__name__}: {error}.",
            safe="The sessions are untouched, and the unfinished bundle was removed.",
            todo="Report it to its authors. `labapp plugins list` shows the package.",
        ) from error


def _records(paths: Sequence[Path], withdrawn: bool, progress: Progress | None) -> Iterator[Record]:
    left: list[Record] = []
    given = 0
    for index, path in enumerate(paths):
        if progress is not None:
            progress(index, len(paths), path.name)
        for record in iter_records(path):
            if record.withdrawn == "delete":
                raise BundleError(
                    f"The participant of {record.name} withdrew and wants the data deleted.",
                    safe="No bundle was made.",
                    todo=f"Delete them: labapp sessions withdraw {record.name} --delete",
                )
            if record.withdrawn and not withdrawn:
                left.append(record)
                continue
            given += 1
            yield record
    if progress is not None:
        progress(len(paths), len(paths), "")
    if left:
        names = ", ".join(str(record.name) for record in left)
        people = len({record.participant for record in left})
        if not bool(given):
            raise BundleError(
                f"Everybody in this selection withdrew, but their data were kept: {names}.",
                safe="No bundle was made.",
                todo="If your consent form covers it, export them with --withdrawn.",
            )
        _log.warning(
            "Left out because they withdrew, although their data were kept: %s of %s: %s. If "
            "your consent form covers it, `labapp export --withdrawn` exports them, too.",
            count(len(left), "session"),
            count(people, "participant"),
            names,
        )


def _refuse(record: Record) -> None:
    """Raises BundleError when the record cannot go into a bundle."""
    if record.running:
        raise BundleError(
            f"The session {record.name} is running, and a running session cannot be exported.",
            safe="The session continues, and no bundle was made.",
            todo="Export it when it has ended.",
        )
    if record.other_labels:
        who = {"participant": record.participant, "session": record.session}
        raise BundleError(
            Message("renamed", folder=str(record.name), **who),
            safe="No bundle was made, and the session folder was not touched.",
            todo="Export it then. Two data folders whose participants have the same labels "
            "cannot be merged; export each separately.",
        )
    if broken := check_chain(record.rows):
        raise BundleError(
            f"The journal of {record.name} was changed or damaged after it was written: {broken}.",
            safe="No bundle was made, and the session folder was not touched.",
            todo="Check it with `labapp sessions verify`.",
        )
    files, problems = split_manifests(record)
    if problems or (files and files_digest(files) != record.planned.study_sha256):
        raise BundleError(
            f"The folder {STUDY} of {record.name} is not as it was when the session was "
            "planned: files were added, changed or removed.",
            safe="No bundle was made, and the session folder was not touched.",
            todo=f"It contains {', '.join(sorted(record.study_files()))}. Move out what does not "
            "belong there, and then export the session.",
        )


def _refuse_together(paths: Sequence[Path], withdrawn: bool) -> None:
    """Raises BundleError if these cannot go into one bundle, before anything of it is made: of
    each session in a folder only what says whose it is is read."""
    known: dict[tuple[str, str], tuple[str, bool]] = {}
    for path in paths:
        with readable(str(path)):
            for record in [brief_record(path)] if is_session(path) else iter_records(path):
                if record.withdrawn and not withdrawn:
                    continue
                if known:
                    _refuse_beside(record, known)
                elif record.pilot:
                    _log.warning(
                        "These are pilots, which `labapp analyze` accepts only with --pilot."
                    )
                who = record.name.participant, record.name.session
                known[who] = record.study, record.pilot


def _refuse_beside(record: Record, known: Mapping[tuple[str, str], tuple[str, bool]]) -> None:
    (study, pilot), name = next(iter(known.values())), record.name
    if record.study != study:
        what = f"{name} belongs to the study {record.study}, but others belong to {study}."
        todo = "Make one bundle per study."
    elif record.pilot != pilot:
        what = (
            "Some of these sessions are pilots and some are not, but a bundle contains only "
            "one kind."
        )
        todo = "Export the pilots separately."
    elif (name.participant, name.session) in known:
        who = f"Participant {name.participant}, session {name.session}"
        what = f"{who} was given twice ({record.source})."
        todo = "Give each session once; a bundle cannot contain two sessions with the same name."
    else:
        return
    raise BundleError(what, safe="No bundle was made.", todo=todo)


class BidsDataset(Exporter):
    """Sessions as a BIDS dataset, with all that labapp needs to read them again."""

    name = BIDS
    sounds = (WAV, FLAC)

    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        derived = DerivedFiles(folder, __version__)
        unshared: list[str] = []
        order: list[str] = []
        for given in sessions:
            record = given.record
            with readable(record.source):
                derived.add(record, given.instruments, audio=given.sound)
                add_sourcedata(folder, record, audio=given.sound, videos=given.videos)
                derived.shown |= bool(given.videos)
                derived.flac |= given.sound and folder.sound == FLAC
                if given.unshared:
                    unshared.append(record.name.bids)
                order.append(record.name.bids)
        derived.finish()
        derived.withdrew = folder.withdrew
        folder.add_text(README, derived.readme(audio=audio, unshared=unshared))
        made_with = packages()
        facts = {
            **({"bundle_version": FLAC_BUNDLE_VERSION} if derived.flac else {}),
            "labapp": __version__,
            **({} if derived.reduced else {"created": utc_text(datetime.now(UTC))}),
            "study": derived.study,
            "deidentified": derived.reduced,
            "sound": derived.heard,
            "table_format": TABLE_FORMAT,
            **({"packages": made_with} if made_with else {}),
            **({"withdrawn": folder.withdrew} if folder.withdrew else {}),
            "sessions": order,
        }
        folder.add_text(f"{SOURCEDATA}/{MANIFEST}", manifest_text(facts, folder.files))


BIDS_DATASET = BidsDataset()
