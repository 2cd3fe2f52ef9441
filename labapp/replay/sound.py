"""The sound of a recorded session, from its folder or from a bundle."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.audio.recorded_sound import RecordedSound, SoundSpan, Stretch
from labapp.journal.record import Record
from labapp.journal.rows import payloads

__all__ = ["SessionSound", "SoundSpan"]


class SessionSound(RecordedSound):
    """The sound of a session; see `RecordedSound` for what can be asked of it.

    Parameters
    ----------
    record : Record
        Of a session with or without sound: a de-identified bundle has none as a rule, and then
        everything is a gap.
    silenced : iterable of (int, int)
        Stretches of session time in ns that are not to be heard, such as those of redactions.
    """

    def __init__(self, record: Record, silenced: Iterable[Stretch] = ()) -> None:
        sounds = (row for row in record.rows if row.kind.startswith("audio."))
        events = (payload for _, payload in payloads(sounds))
        last_ns = max((row.t_ns for row in record.rows), default=0)
        super().__init__(record.tree.open, events, last_ns, silenced)
