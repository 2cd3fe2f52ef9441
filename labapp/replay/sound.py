"""The sound of a recorded session, from its folder or from a bundle."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from labapp.audio import cached
from labapp.audio.recorded_sound import (
    RecordedSound,
    SoundSpan,
    Stretch,
    placed_files,
    restored,
    stored,
)
from labapp.journal.record import Record
from labapp.journal.rows import Row, payloads
from labapp.reading.files import MIB

__all__ = ["SessionSound", "SoundSpan"]

_LARGEST = 16 * MIB


class SessionSound(RecordedSound):
    """The sound of a session; see `RecordedSound` for what can be asked of it.

    Where its files lie in time is kept in the cache: reading and fitting 50,000 time marks takes
    longer than all else.

    Parameters
    ----------
    record : of a session with or without sound: a de-identified bundle has none as a rule, and then
        everything is a gap.
    silenced : iterable of (int, int)
        Stretches of session time in ns that are not to be heard, such as those of redactions.
    """

    def __init__(self, record: Record, silenced: Iterable[Stretch] = ()) -> None:
        rows = [row for row in record.rows if row.kind.startswith("audio.")]
        last_ns = max((row.t_ns for row in record.rows), default=0)
        key = cached.place("sounds", f"{_digest(rows)}.json")
        known = cached.get(key, _LARGEST) if rows else None
        placed = restored(known) if known is not None else None
        new = placed is None
        if placed is None:
            placed = placed_files(payload for _, payload in payloads(rows))
        super().__init__(record.tree.open, (), last_ns, silenced, placed=placed)
        if new and placed and (content := stored(placed)) is not None:
            cached.put(key, content)


def _digest(rows: Sequence[Row]) -> str:
    """Of all that the journal says of the sound."""
    hashed = hashlib.sha256()
    for row in rows:
        hashed.update(f"{row.kind}\0{row.v}\0{row.payload}\n".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()
