"""Every error a person can meet, in one tree.

LabappError                  what happened, what is safe, what to do next
├── UsageError               the command line was wrong (exit status 2)
├── StudyError               a study, text or instrument file is missing or wrong
├── StimuliError             a stimulus set is missing or wrong, or a picture of it
├── DatasetError             the files of a data set are missing, damaged or others
├── ModelError               a model package is missing, foreign, corrupt or not safe to open
├── MetricError              a representation cannot be scored from the numbers given
├── RatingError              a rater's file of dial names is missing, wrong or of another analysis
├── AgreementError           a table of ratings is missing, wrong or not fit to be compared
├── SetupError               the machine lacks something (display, library, screen)
├── SessionError             a session cannot be made, opened or continued
│   ├── ParticipantTaken     the participant already has a session in this study
│   ├── StudyFull            every condition has the participants it needs
│   ├── SessionBusy          another process holds the session
│   └── DataFolderError      the data folder cannot be written, or is full
├── JournalError             an event could not be stored
│   └── JournalFull          ... because the disk is full
├── RecordError              a journal or bundle cannot be read, or is not what was written
├── AnnotationError          units, text, codes or a codebook cannot be read, written or used
│   ├── AnnotationsBusy      another window holds the file
│   └── ExchangeError        a file of another tool cannot be read, written or brought in
├── TranscriptionError       speech cannot be written down: no engine, no model
│   └── NoConsent            ... because the participant did not agree
├── MergeError               a file of answers cannot be merged into a study
├── VideoError               a video cannot be read, placed or kept
├── AudioError               sound cannot be recorded
│   ├── NoMicrophone         there is no (such) microphone
│   └── DeviceGone           the microphone vanished while recording
├── LslError                 events cannot be sent over the Lab Streaming Layer
├── ProgramError             labapp itself made a mistake; its details are in a file
└── BundleError              an export is refused or a bundle is not whole
    └── ExportExists         the target exists: an export never overwrites

Each message answers the three questions a moderator has with a participant waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labapp.base.messages import Message


@dataclass(frozen=True, order=True)
class Fault:
    """One mistake in a file that somebody wrote.

    Attributes
    ----------
    file : its path; empty where none is known.
    line : from 1; 0 where none is known.
    key : where in the document, as `flow[2].stages.trials`; empty where it is in no key.
    what : what is wrong, and what would be allowed.
    todo : what to do.
    """

    file: str
    line: int
    key: str
    what: str
    todo: str = field(default="", compare=False)

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        where = ", ".join(filter(None, (place, self.key)))
        return f"{where}: {self.what}" if where else self.what


class LabappError(Exception):
    """An expected failure, told in three parts.

    Parameters
    ----------
    what : what happened, as one sentence.
    safe : what is safe (usually the data recorded so far); None means that nothing was changed.
    todo : what to do next.
    faults : the mistakes in files that it tells of, where it does.
    """

    exit_status = 1

    def __init__(
        self,
        what: str,
        *,
        safe: str | None = None,
        todo: str = "",
        faults: Sequence[Fault] = (),
    ) -> None:
        super().__init__(what)
        self.what = what
        self.safe = Message("nothing_changed") if safe is None else safe
        self.todo = todo
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.safe, self.todo) if part)


class UsageError(LabappError):
    exit_status = 2


class StudyError(LabappError):
    @classmethod
    def at(cls, file: Path | str, line: int | None, key: str, what: str, todo: str) -> StudyError:
        """One mistake in a file. key: where in the document; empty for a text."""
        fault = Fault(str(file), line or 0, key, what, todo)
        return cls(f"{fault}.", todo=todo, faults=(fault,))

    @classmethod
    def together(cls, errors: Iterable[LabappError]) -> StudyError:
        """Several as one that tells every mistake once, by file and line. A single one stays as it
        is."""
        distinct = list({str(error): error for error in errors}.values())
        if len(distinct) == 1 and isinstance(distinct[0], StudyError):
            return distinct[0]
        faults = sorted({fault for error in distinct for fault in faults_of(error)})
        lines = [f"  {fault}" for fault in faults]
        return cls(
            f"{len(faults)} mistakes:\n" + "\n".join(lines),
            todo="\n".join(dict.fromkeys(filter(None, (fault.todo for fault in faults)))),
            faults=faults,
        )


class StimuliError(LabappError):
    pass


class DatasetError(LabappError):
    """The files of a data set are missing, damaged or not what they should be."""


class ModelError(LabappError):
    pass


class MetricError(LabappError):
    pass


class RatingError(LabappError):
    pass


class AgreementError(LabappError):
    pass


class SetupError(LabappError):
    pass


class SessionError(LabappError):
    pass


class ParticipantTaken(SessionError):
    pass


class StudyFull(SessionError):
    pass


class SessionBusy(SessionError):
    pass


class DataFolderError(SessionError):
    pass


class JournalError(LabappError):
    pass


class JournalFull(JournalError):
    pass


class RecordError(LabappError):
    pass


class AnnotationError(LabappError):
    pass


class AnnotationsBusy(AnnotationError):
    pass


class ExchangeError(AnnotationError):
    pass


class TranscriptionError(LabappError):
    pass


class NoConsent(TranscriptionError):
    pass


class MergeError(LabappError):
    pass


class VideoError(LabappError):
    pass


class AudioError(LabappError):
    pass


class NoMicrophone(AudioError):
    pass


class DeviceGone(AudioError):
    pass


class LslError(LabappError):
    pass


class ProgramError(LabappError):
    pass


class BundleError(LabappError):
    pass


class ExportExists(BundleError):
    pass


def faults_of(error: LabappError) -> tuple[Fault, ...]:
    """The mistakes that an error tells of; itself as one where it names no file."""
    return error.faults or (Fault("", 0, "", error.what.rstrip("."), error.todo),)
