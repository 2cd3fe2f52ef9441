"""Every error a person can meet, in one tree. Its class gives the exit status of a command.

LabappError                  what happened, what is safe, what to do next (exit status 1: not done)
├── UsageError               the command line was wrong (exit status 2)
├── NotFoundError            nothing here has the name that was given (exit status 2)
├── RefusedError             what was given cannot be taken (exit status 3)
│   ├── TargetExists         the file or folder to write exists: nothing is overwritten
│   ├── StudyError           a study, text or instrument file is missing or wrong
│   │   └── StudyNotFound    ... because no study has that name
│   ├── StimuliError         a stimulus set is missing or wrong, or a picture of it
│   │   └── StimuliNotFound  ... because no stimulus set has that name
│   ├── DatasetError         the files of a data set are missing, damaged or others
│   ├── ModelError           a model package is missing, foreign, corrupt or not safe to open
│   │   ├── ModelNotFound    ... because no model or recipe has that name
│   │   ├── DeviceMissing    ... because this machine cannot compute on the device (exit status 1)
│   │   └── TrainingFailed   training gave no model (exit status 1)
│   ├── MetricError          a representation cannot be scored from the numbers given
│   ├── RatingError          a rater's file of dial names is missing, wrong or of another analysis
│   ├── AgreementError       a table of ratings is missing, wrong or not fit to be compared
│   ├── RecordError          a journal or bundle cannot be read, or was changed or damaged
│   ├── AnnotationError      units, text, codes or a codebook cannot be read, written or used
│   │   ├── RaterRefused     nobody who codes can have that name (exit status 2)
│   │   ├── AnnotationsBusy  another window holds the file (exit status 1)
│   │   └── ExchangeError    a file of another tool cannot be read, written or brought in
│   ├── MergeError           a file of answers of another tool cannot be merged into a study
│   ├── VideoError           a video cannot be read, placed or kept
│   │   └── VideoNotFound    ... because the session has none of that name
│   └── BundleError          an export is refused or a bundle is not whole
│       └── ExportExists     the target exists: an export never overwrites
├── CheckFailed              a check found a fault
├── SetupError               the machine lacks something (display, library, screen)
├── SessionError             a session cannot be made, opened or continued
│   ├── ParticipantTaken     the participant already has a session in this study
│   ├── StudyFull            every condition has the participants it needs
│   ├── SessionBusy          another process holds the session
│   ├── DataFolderError      the data folder cannot be written, or is full
│   └── LabelRefused         a participant or session cannot have that label (exit status 2)
├── JournalError             an event could not be stored
│   └── JournalFull          ... because the disk is full
├── TranscriptionError       speech cannot be written down: no engine, no model
│   ├── SpeechModelNotFound  ... because nothing is where the model should be (exit status 2)
│   ├── SpeechModelRefused   ... because there is none in what was given (exit status 3)
│   └── NoConsent            ... because the participant did not agree
├── AudioError               sound cannot be recorded
│   ├── NoMicrophone         there is no (such) microphone
│   └── DeviceGone           the microphone vanished while recording
├── LslError                 events cannot be sent over the Lab Streaming Layer
└── ProgramError             labapp itself made a mistake; its details are in a file

Each message answers the three questions a moderator has with a participant waiting.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from labapp.base.messages import Message

DONE, NOT_DONE, WRONG_USAGE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit statuses of commands, explained in docs/guide/exit-codes.md."""
_MACHINE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY),
}
"""What stops the machine whatever it was given: a full disk, a folder without permission."""


@dataclass(frozen=True, order=True)
class Fault:
    """One mistake in a file that somebody wrote.

    Attributes
    ----------
    file : its path; empty if none is known.
    line : from 1; 0 if none is known.
    key : where in the document, as `flow[2].stages.trials`; empty if it is in no key.
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
    faults : the mistakes in files that it reports, if any.
    """

    code: ClassVar[int] = NOT_DONE

    def __init__(
        self, what: str, *, safe: str | None = None, todo: str = "", faults: Sequence[Fault] = ()
    ) -> None:
        super().__init__(what)
        self.what = what
        self.safe = Message("nothing_changed") if safe is None else safe
        self.todo = todo
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.safe, self.todo) if part)

    @property
    def exit_status(self) -> int:
        """That of its class. Where the machine failed, what was given is not to blame."""
        if isinstance(self.__cause__, OSError) and self.__cause__.errno in _MACHINE:
            return NOT_DONE
        return self.code


class UsageError(LabappError):
    code = WRONG_USAGE


class NotFoundError(LabappError):
    code = WRONG_USAGE


class RefusedError(LabappError):
    code = REFUSED


class TargetExists(RefusedError):
    pass


class CheckFailed(LabappError):
    pass


class StudyError(RefusedError):
    @classmethod
    def at(cls, file: Path | str, line: int | None, key: str, what: str, todo: str) -> StudyError:
        """One mistake in a file. key: where in the document; empty for a text."""
        fault = Fault(str(file), line or 0, key, what, todo)
        end = "" if what.endswith("?") else "."
        return cls(f"{fault}{end}", todo=todo, faults=(fault,))

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


class StudyNotFound(NotFoundError, StudyError):
    pass


class StimuliError(RefusedError):
    pass


class StimuliNotFound(NotFoundError, StimuliError):
    pass


class DatasetError(RefusedError):
    """The files of a data set are missing, damaged or not what they should be."""


class ModelError(RefusedError):
    pass


class ModelNotFound(NotFoundError, ModelError):
    pass


class DeviceMissing(ModelError):
    code = NOT_DONE


class TrainingFailed(ModelError):
    code = NOT_DONE


class MetricError(RefusedError):
    pass


class RatingError(RefusedError):
    pass


class AgreementError(RefusedError):
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
    @classmethod
    def unwritten(cls, what: str, out: Path, error: OSError, safe: str) -> DataFolderError:
        """What a command makes cannot be written to the folder that was named for it."""
        return cls(
            f"{what} could not be written to {out}: {error.strerror or error}.",
            safe=safe,
            todo="Free some space or choose another folder.",
        )


class LabelRefused(UsageError, SessionError):
    """A participant or a session cannot have that label in the study."""


class JournalError(LabappError):
    pass


class JournalFull(JournalError):
    pass


class RecordError(RefusedError):
    pass


class AnnotationError(RefusedError):
    pass


class RaterRefused(UsageError, AnnotationError):
    """Nobody who codes can have that name."""


class AnnotationsBusy(AnnotationError):
    code = NOT_DONE


class ExchangeError(AnnotationError):
    pass


class TranscriptionError(LabappError):
    pass


class SpeechModelRefused(RefusedError, TranscriptionError):
    """What was given is no speech model, or none that the engine can run."""


class SpeechModelNotFound(NotFoundError, TranscriptionError):
    pass


class NoConsent(TranscriptionError):
    pass


class MergeError(RefusedError):
    pass


class VideoError(RefusedError):
    pass


class VideoNotFound(NotFoundError, VideoError):
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


class BundleError(RefusedError):
    pass


class ExportExists(BundleError):
    pass


def faults_of(error: LabappError) -> tuple[Fault, ...]:
    """The mistakes that an error reports; the error itself as one if it names no file."""
    return error.faults or (Fault("", 0, "", error.what.rstrip("."), error.todo),)
