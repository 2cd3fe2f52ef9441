"""Every error a person can meet, in one tree.

LabappError                  what happened, what is safe, what to do next
├── UsageError               the command line was wrong (exit status 2)
├── StudyError               a study, text or instrument file is missing or wrong
├── StimuliError             a stimulus set is missing or wrong, or a picture of it
├── DatasetError             the files of a data set are missing, damaged or others
├── ModelError               a model package is missing, foreign, corrupt or not safe to open
├── MetricError              a representation cannot be scored from the numbers given
├── RatingError              a rater's file of dial names is missing, wrong or of another analysis
├── SetupError               the machine lacks something (display, library, screen)
├── SessionError             a session cannot be made, opened or continued
│   ├── ParticipantTaken     the participant already has a session in this study
│   ├── StudyFull            every condition has the participants it needs
│   ├── SessionBusy          another process holds the session
│   └── DataFolderError      the data folder cannot be written, or is full
├── JournalError             an event could not be stored
│   └── JournalFull          ... because the disk is full
├── RecordError              a journal or bundle cannot be read, or is not what was written
├── AudioError               sound cannot be recorded
│   ├── NoMicrophone         there is no (such) microphone
│   └── DeviceGone           the microphone vanished while recording
├── ProgramError             labapp itself made a mistake; its details are in a file
└── BundleError              an export is refused or a bundle is not whole
    └── ExportExists         the target exists: an export never overwrites

Each message answers the three questions a moderator has with a participant waiting.
"""

from __future__ import annotations


class LabappError(Exception):
    """An expected failure, told in three parts.

    Parameters
    ----------
    what : what happened, as one sentence.
    safe : what is safe (usually the data recorded so far).
    todo : what to do next.
    """

    exit_status = 1

    def __init__(self, what: str, *, safe: str = "Nothing was changed.", todo: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.safe = safe
        self.todo = todo

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.safe, self.todo) if part)


class UsageError(LabappError):
    exit_status = 2


class StudyError(LabappError):
    pass


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


class AudioError(LabappError):
    pass


class NoMicrophone(AudioError):
    pass


class DeviceGone(AudioError):
    pass


class ProgramError(LabappError):
    pass


class BundleError(LabappError):
    pass


class ExportExists(BundleError):
    pass
