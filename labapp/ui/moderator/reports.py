"""What other layers tell in English, in forms that can be translated where it is shown.

Journals and the sound recorder say the same whoever sits at the console, so that the data of one
study read alike. A sentence that has none of these forms is shown as it came.
"""

from __future__ import annotations

from labapp.ui.language import N_, told, tr
from labapp.ui.moderator.wording import ENDS, PAUSE_REASONS, PAUSED

REASONS = (
    *ENDS,
    N_("consent not stored"),
    N_("the end was taken back"),
    N_("the microphone could not be opened"),
    N_("the study records no sound"),
    N_("the session began without sound"),
    N_("the session clock does not run at the speed of sound (--speed)"),
    N_("switched off (--audio off)"),
)
"""Why a session paused or ended, or has no sound."""

FINDINGS = (
    N_("the disk does not answer"),
    N_("Only {size} MB free: {minutes} min of sound"),
    N_("{size} free"),
    N_("one in a hundred takes {ms} ms or more"),
    N_("Sound cannot be written: {error}"),
    N_("The sound library PortAudio could not be loaded: {error}."),
    N_("The sound system could not be started: {error}."),
    N_("The sound devices could not be listed: {error}."),
    N_("The microphone {name} could not be opened: {problem}."),
    N_("The microphone {name} did not answer."),
    N_("Microphone lost: {reason}"),
    N_("the device ended the recording"),
    N_("no sound arrived for {seconds} s"),
    N_("the sound server no longer knows our recording"),
    N_("the recording from {source} ended"),
    N_("{source} is gone; the sound server moved the recording to {other}"),
    N_("{device} gives no sound"),
    N_("{screen} removed"),
    N_("{screen} added"),
    N_("segment {number} began"),
    N_("attempt {number}"),
    N_("On a network drive ({kind}): a session can be damaged there. Record on a local disk."),
    N_("Consent could not be stored in the private folder {folder} ({why})."),
)
"""Details of alarms and deviations, and what is wrong with the microphone."""

WITHDRAWAL = (
    N_("{folder}: withdrawn, its data are {kept}."),
    N_("kept"),
    N_("deleted"),
    N_("The signed consent was deleted."),
    N_("Free again: {cells}."),
    N_("Removed what a killed export had left: {paths}."),
    N_("Bundles that still hold it: {paths}"),
    N_("Other sessions of the participant: {folders}."),
    N_("{file} cannot be read ({error}): exports are not known"),
    N_("{file}, line {number}: damaged; what it says of an export is not known"),
)
"""What a withdrawal did (`labapp.session.withdrawal`)."""

KNOWN = (*REASONS, *FINDINGS, *WITHDRAWAL)

GAPS = {
    "overflow": N_("the computer was too slow"),
    "queue": N_("the computer was too slow"),
    "stalled": N_("the sound stood still"),
    "write_failed": N_("it could not be written"),
    "device_lost": N_("the microphone was gone"),
    "reopened": N_("the microphone was opened anew"),
}


def reported(text: str) -> str:
    """A reason, a detail of an alarm or deviation, or a problem of the microphone."""
    return told(text, KNOWN)


def pause_reason(reason: str) -> str:
    """Why a session paused; empty where nobody said."""
    if reason in PAUSE_REASONS:
        return tr(PAUSE_REASONS[reason])
    return "" if reason == PAUSED else reported(reason)


def gap(cause: str) -> str:
    """Why sound was lost."""
    return tr(GAPS.get(cause, cause))
