"""What other layers say in English, translated where it is shown.

Journals and the sound recorder say the same whoever sits at the console, so that the data of one
study read alike. Sentences with values in them are messages (`labapp.messages`); those without any
stand here. Any other text is shown as it came, and so are sentences with values in journals that
were written before these had codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.messages import decoded
from labapp.ui.language import N_, tr, translate_message
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
    N_("the participant did not agree to a sound recording"),
    N_("the disk does not answer"),
    N_("the device ended the recording"),
    N_("the sound server no longer knows our recording"),
    N_("The signed consent was deleted."),
)
"""Why a session paused or ended, or has no sound, and what else lower layers say without a value.
"""

GAPS = {
    "overflow": N_("the computer was too slow"),
    "queue": N_("the computer was too slow"),
    "stalled": N_("the sound stood still"),
    "write_failed": N_("it could not be written"),
    "device_lost": N_("the microphone was gone"),
    "reopened": N_("the microphone was opened anew"),
}


def detail_of(payload: Mapping[str, Any]) -> str:
    """The text of an event (`detail` or `reason`), translated."""
    text = str(payload.get("detail", payload.get("reason", "")))
    return translate_message(decoded(text, payload.get("message")))


def pause_reason(reason: str) -> str:
    """Why a session paused; empty where nobody said."""
    if reason in PAUSE_REASONS:
        return tr(PAUSE_REASONS[reason])
    return "" if reason == PAUSED else tr(reason)


def gap(cause: str) -> str:
    """Why sound was lost."""
    return tr(GAPS.get(cause, cause))
