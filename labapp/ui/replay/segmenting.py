"""Units made and moved by hand: begun and ended by a key, split, merged, frozen.

Frozen units stay as they are: what is done to them is a proposal to whoever froze them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject

from labapp.base.errors import LabappError
from labapp.coding.annotations.editing import new_id
from labapp.coding.annotations.model import SPEAKERS, Speaker, Text, Unit
from labapp.coding.annotations.units import UnitsFile
from labapp.ui.language import N_, tr
from labapp.ui.replay.coding_state import MS, divided, merged

if TYPE_CHECKING:
    from labapp.ui.replay.coding import Coding

Boundary = Literal["begin", "end"]
NUDGE_NS = 50 * MS
SPEAKER_NAMES = {
    "participant": N_("word.participant"),
    "moderator": N_("word.moderator"),
    "other": N_("word.somebody_else"),
}


class Segmenting(QObject):
    """What is done to the units of a coding."""

    def __init__(self, coding: Coding) -> None:
        super().__init__(coding)
        self._coding = coding
        self.begun_ns: int | None = None
        """Where a unit has begun that has not ended yet, in session time."""
        self.speaker: Speaker = "participant"

    def begin_or_end(self) -> None:
        """Begin a unit at the playhead, or end the one that has begun."""
        coding = self._coding
        now = max(0, coding.now_ns())
        if self.begun_ns is None:
            self.begun_ns = now
            coding.said.emit(tr("segmenting.begun"))
            coding.state_changed.emit()
            return
        t0, t1 = sorted((self.begun_ns, now))
        self.begun_ns = None
        if t0 == t1:
            coding.said.emit(tr("segmenting.no_length"))
            coding.state_changed.emit()
            return
        reaction = coding.settings.reaction_ms if coding.playing else 0
        unit = Unit(new_id(), t0, t1, self.speaker, "hand", reaction)
        if self._change(lambda file: file.put(unit)):
            coding.choose(unit.id)

    def leave(self) -> None:
        """Forget a unit that has begun and not ended."""
        self.begun_ns = None

    def split(self) -> None:
        """Make two units of the current one, at the playhead."""
        unit = self._coding.current
        if unit is not None:
            at = self._coding.now_ns()
            made = self._change(lambda file: file.split(unit.id, at))
            if isinstance(made, tuple):
                self._coding.choose(made[1].id)
                if (text := self._coding.text(unit.id)) is not None and text.text:
                    self._write(divided(text, made[0].id, made[1].id, at))

    def merge(self) -> None:
        """Make one unit of the current one and the next of the same speaker."""
        unit = self._coding.current
        if unit is None:
            return
        units = self._coding.units
        later = units[units.index(unit) + 1 :]
        following = next((other for other in later if other.speaker == unit.speaker), None)
        if following is None:
            self._coding.said.emit(tr("segmenting.no_next"))
            return
        made = self._change(lambda file: file.merge(unit.id, following.id))
        if isinstance(made, Unit):
            self._coding.choose(made.id)
            texts = [self._coding.text(each.id) for each in (unit, following)]
            if (text := merged(texts, made.id)) is not None:
                self._write((text,))

    def _write(self, texts: Sequence[Text]) -> None:
        """The words go with the units that they were said in."""
        if self._coding.attempt(lambda: self._coding.files.put_texts(*texts)):
            self._coding.drawn("texts", frozenset(text.unit for text in texts))

    def boundary_here(self, which: Boundary) -> None:
        """Move a boundary of the current unit to the playhead."""
        unit = self._coding.current
        if unit is not None:
            self.move_boundary(unit.id, which, self._coding.now_ns())

    def nudge(self, which: Boundary, by_ns: int) -> None:
        """Move a boundary of the current unit by a little."""
        unit = self._coding.current
        if unit is not None:
            at = unit.t0_ns if which == "begin" else unit.t1_ns
            self.move_boundary(unit.id, which, at + by_ns)

    def move_boundary(self, unit_id: str, which: Boundary, t_ns: int) -> None:
        begin, end = (t_ns, None) if which == "begin" else (None, t_ns)
        self._change(lambda file: file.move(unit_id, begin, end))

    def remove(self) -> None:
        unit = self._coding.current
        if unit is not None:
            self._change(lambda file: file.remove(unit.id))

    def next_speaker(self) -> None:
        """Say that somebody else speaks in the current unit: participant, moderator, other."""
        unit = self._coding.current
        if unit is not None:
            place = (SPEAKERS.index(unit.speaker) + 1) % len(SPEAKERS)
            self.set_speaker(SPEAKERS[place])  # type: ignore[arg-type]

    def set_speaker(self, speaker: Speaker) -> None:
        """Say who speaks in the current unit, and in those that are made next."""
        coding, unit = self._coding, self._coding.current
        if coding.mode == "segment":
            self.speaker = speaker
        if unit is not None and unit.speaker != speaker and self.begun_ns is None:
            changed = replace(unit, speaker=speaker)
            self._change(lambda file: file.put(changed))
        coding.said.emit(tr("segmenting.speaker", who=tr(SPEAKER_NAMES[speaker])))

    def freeze(self, *, confirmed: bool = False) -> None:
        """Let the units be coded; confirmed: whether all of them have the right speaker."""
        coding = self._coding
        if coding.files.frozen:
            coding.said.emit(tr("segmenting.proposals"))
            return
        try:
            if confirmed:
                coding.files.units_file.confirm_speakers()
            coding.files.units_file.freeze()
            coding.files.open_marks()
        except LabappError as error:
            coding.problem.emit(error)
            return
        coding.leave_segmenting()
        coding.said.emit(tr("segmenting.frozen"))

    def settle(self, accept: bool) -> None:
        """Accept or decline the oldest proposal."""
        coding = self._coding
        try:
            file = coding.files.units_file
            if not file.proposals:
                coding.said.emit(tr("segmenting.none_proposed"))
                return
            file.settle(file.proposals[0].id, accept)
            coding.files.open_marks()
        except LabappError as error:
            coding.problem.emit(error)
            return
        coding.refresh()

    def _change(self, change: Callable[[UnitsFile], object]) -> object | None:
        """Change the units; None where it was refused. What is done to frozen ones waits."""
        coding = self._coding
        frozen = coding.files.frozen
        try:
            made = change(coding.files.units_file)
        except LabappError as error:
            coding.problem.emit(error)
            return None
        coding.drawn("units", frozenset())
        if frozen:
            by = coding.files.segmentation.by
            coding.said.emit(tr("segmenting.proposed_to", who=by))
            return None
        return made if made is not None else True
