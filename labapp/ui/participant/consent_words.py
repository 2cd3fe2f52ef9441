"""What a consent form says by itself, whatever the study's text says."""

from __future__ import annotations

from labapp.study.consent import Asked, Use
from labapp.ui.strings import Strings


def announced(
    words: Strings, items: dict[Use, Asked], *, interview: bool, sound: bool
) -> list[str]:
    """Paragraphs behind the study's text: that there will be an interview, and whether the voice is
    recorded in it. items: what is asked one by one; sound: whether the session records any."""
    if not interview:
        return []
    if not sound:
        return [words("consent_interview_unrecorded")]
    return [words("consent_interview_asked" if "audio" in items else "consent_interview")]
