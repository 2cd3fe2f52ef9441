"""Sentences that lower layers say of what happens, as a code and values.

Journals, logs and commands have them in English. A window in another language says the same from
the code and the values, which events carry beside the English text (see `MessagePayload`).
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Self

FORMS: Mapping[str, str] = {
    "disk_free": "{size} {unit} free",
    "pictures_slow": "one in a hundred takes {ms} ms or more",
    "sound_disk_low": "Only {size} MB free: {minutes} min of sound",
    "sound_not_written": "Sound cannot be written: {error}",
    "sound_library": "The sound library PortAudio could not be loaded: {error}.",
    "sound_system": "The sound system could not be started: {error}.",
    "sound_devices": "The sound devices could not be listed: {error}.",
    "speaker_not_opened": "The sound output could not be opened ({problem}).",
    "speaker_none": "This computer has no sound output.",
    "speaker_no_answer": "The sound output did not answer.",
    "speaker_lost": "The sound output is gone.",
    "speaker_stalled": "The sound output takes no sound.",
    "sound_file_missing": "The sound file {file} is not there",
    "sound_file_unreadable": "The sound file {file} cannot be read: {why}",
    "sound_file_other": (
        "The sound file {file} is not the recorded one: it has {rate} Hz, not {recorded}"
    ),
    "sound_file_no_time": "The sound file {file} has no place in time: {why}",
    "sound_file_cut": "The sound file {file} ends {seconds} s too early",
    "sound_file_longer": (
        "The sound file {file} goes on for {seconds} s after its end; that is not played"
    ),
    "microphone_not_opened": "The microphone {name} could not be opened: {problem}.",
    "microphone_no_answer": "The microphone {name} did not answer.",
    "microphone_lost": "Microphone lost: {reason}",
    "microphone_stalled": "no sound arrived for {seconds} s",
    "microphone_ended": "the recording from {source} ended",
    "microphone_moved": "{source} is gone; the sound server moved the recording to {other}",
    "microphone_dead": "{device} gives no sound",
    "lsl_missing": "The package pylsl is not installed: events cannot be sent over LSL.",
    "lsl_library": "The library liblsl could not be loaded: {error}",
    "lsl_streams": "The LSL streams could not be opened: {error}",
    "lsl_failed": "Events are not sent over LSL any more: {error}",
    "lsl_not_again": "This run was begun without LSL; runs before it sent their events",
    "network_drive": (
        "On a network drive ({kind}): a session can be damaged there. Record on a local disk."
    ),
    "consent_not_stored": "Consent could not be stored in the private folder {folder} ({why}).",
    "withdrawn_kept": "{folder}: withdrawn, its data are kept.",
    "withdrawn_deleted": "{folder}: withdrawn, its data are deleted.",
    "withdrawn_cells": "Free again: {cells}.",
    "withdrawn_cleared": "Removed what a killed export had left: {paths}.",
    "withdrawn_bundles": "Bundles that still hold it: {paths}",
    "withdrawn_annotations": "Its units, texts and codes were deleted.",
    "withdrawn_handed_out": "What was handed out still holds something of it: {files}",
    "withdrawn_sent": (
        "Its events were sent over LSL; where recordings of the source {source} lie is not known."
    ),
    "handed_out_unreadable": "What was handed out of it is not known: {why}",
    "withdrawn_others": "Other sessions of the participant: {folders}.",
    "decided_excluded": "{folder}: excluded by hand. Its data stay; its place is free again.",
    "decided_included": "{folder}: counts, by a decision by hand.",
    "decided_over_rules": "It counts although it does not meet: {rules}.",
    "decided_before": "Before, it was {verdict} by hand{why}. The former decision is kept.",
    "decided_bundles": "Bundles made of it before say nothing of this: {paths}",
    "exports_unreadable": "{file} cannot be read ({error}): exports are not known",
    "exports_damaged": ("{file}, line {number}: damaged; what it says of an export is not known"),
}
"""The English sentences by their codes. A code keeps its meaning and the names of its values: it
stands in journals. The words can be bettered."""

Value = str | int | float


class Message(str):
    """One of these sentences in English, which still knows its code and values.

    Attributes
    ----------
    code : str
        Of `FORMS`.
    values : dict
        By name numbers, texts, and sentences within this one.
    """

    code: str
    values: dict[str, Value]

    def __new__(cls, code: str, /, **values: Value) -> Self:
        """Raises KeyError for a code or a value that there is not."""
        text = FORMS[code].format(**{name: _english(value) for name, value in values.items()})
        message = super().__new__(cls, text)
        message.code, message.values = code, values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.code, self.values)

    @property
    def form(self) -> str:
        """The sentence with names in place of its values."""
        return FORMS[self.code]


def _again(code: str, values: Mapping[str, Value]) -> Message:
    return Message(code, **values)


def _english(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else f"{value:g}"


def coded(text: str) -> dict[str, Any]:
    """Code and values of a message, as plain values; nothing of any other text."""
    if not isinstance(text, Message):
        return {}
    values = {
        name: coded(value) if isinstance(value, Message) else value
        for name, value in text.values.items()
    }
    return {"code": text.code, "values": values}


def decoded(text: str, stored: Any) -> str:
    """The message whose code and values were stored beside a text; the text itself where they do
    not say the same, as in journals of earlier versions, or in other words of this one."""
    message = _message(stored, 0)
    return text if message is None or message != text else message


def _message(stored: Any, depth: int) -> Message | None:
    code, values = (
        (stored.get("code"), stored.get("values")) if isinstance(stored, dict) else (None, None)
    )
    if not isinstance(code, str) or code not in FORMS or not isinstance(values, dict) or depth > 3:
        return None
    if {name for _, name, *_ in Formatter().parse(FORMS[code]) if name} != values.keys():
        return None
    read: dict[str, Value] = {}
    for name, value in values.items():
        inner = _message(value, depth + 1) if isinstance(value, dict) else value
        if not isinstance(inner, str | int | float):
            return None
        read[name] = inner
    return Message(code, **read)
