"""The one segmentation of a session: its file, folded and open for work.

Units are frozen before anybody codes them, so that all raters code the same ones. From then on a
change is a proposal, which the person who froze them accepts or declines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError
from labapp.base.messages import Message
from labapp.coding.annotations.ledger import (
    IMPORTED,
    WHY,
    EditedFile,
    Entry,
    Line,
    body_of,
    in_order,
    new_id,
    record_from,
    switch_in,
    text_in,
)
from labapp.coding.annotations.marks import TOMBSTONE
from labapp.coding.annotations.model import DETECTOR, Proposal, Segmentation, Unit

OPENED = "units.opened"
PUT = "unit.put"
REMOVED = "unit.removed"
FROZEN = "units.frozen"
PROPOSED = "change.proposed"
SETTLED = "change.settled"
SPEAKERS = "speakers.said"


class UnitsFold:
    """The units in a session's file.

    Attributes
    ----------
    gone : ids of units that are not there any more; none is used again.
    by : who froze them, or worked on them last.
    speakers_by : who said that the speakers of the units are right; empty if nobody did.
    """

    def __init__(self) -> None:
        self.speakers_by = ""
        self.units: dict[str, Unit] = {}
        self.gone: set[str] = set()
        self.frozen = False
        self.by = ""
        self.proposals: dict[str, Proposal] = {}
        self.opened: Mapping[str, Any] = {}

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError."""
        if line.kind == PUT:
            unit = record_from(Unit, line.body)
            in_order(unit.t0_ns, unit.t1_ns - 1)
            self.units[unit.id] = unit
            self.gone.discard(unit.id)  # its removal was undone
        elif line.kind == REMOVED:
            name = text_in(line.body, "id")
            self.units.pop(name, None)
            self.gone.add(name)
        elif line.kind == FROZEN:
            self.frozen = switch_in(line.body, "frozen")
            self.by = text_in(line.body, "by")
        elif line.kind == SPEAKERS:
            self.speakers_by = text_in(line.body, "by")
        elif line.kind == PROPOSED:
            proposal = replace(record_from(Proposal, line.body), utc=line.utc)
            for unit in proposal.put:
                in_order(unit.t0_ns, unit.t1_ns - 1)
            self.proposals[proposal.id] = proposal
        elif line.kind == SETTLED:
            switch_in(line.body, "accepted")
            self.proposals.pop(text_in(line.body, "id"), None)
        elif line.kind == OPENED:
            by = text_in(line.body, "by")
            self.by = self.by if self.frozen else by
            self.opened = line.body
        elif line.kind not in (TOMBSTONE, IMPORTED):
            raise ValueError("it was written by a newer version of labapp")

    def take(self, units: Sequence[Unit], by: str) -> None:
        """Take in units that no file has, frozen if there are any: a simulation's."""
        if units:
            self.units = {unit.id: unit for unit in units}
            self.frozen, self.by = True, by

    def segmentation(self) -> Segmentation:
        """Everything as a record."""
        units = sorted(self.units.values(), key=lambda unit: (unit.t0_ns, unit.t1_ns, unit.id))
        waiting = tuple(self.proposals.values())
        return Segmentation(tuple(units), self.frozen, self.by, waiting, self.speakers_by)


class UnitsFile(EditedFile):
    """The segmentation of a session, open for work."""

    OPENED = OPENED

    def __init__(
        self, path: Path, by: str, *, fold: UnitsFold, checked: Callable[[], None] | None = None
    ) -> None:
        self.by = self.who = by
        self._units = fold
        self._segmentation: Segmentation | None = None
        super().__init__(path, fold, checked)

    def _inverse(self, kind: str, body: Mapping[str, Any]) -> Sequence[Entry] | None:
        if kind == IMPORTED:
            return ()
        if kind == SPEAKERS:
            return ((SPEAKERS, {"by": self._units.speakers_by}),)
        if kind == PROPOSED:
            return ((SETTLED, {"id": body.get("id"), "accepted": False, "by": self.by}),)
        if kind == SETTLED and body.get(WHY) and not body.get("accepted"):
            return ()  # a proposal was taken back
        if kind not in (PUT, REMOVED):
            return None
        before = self._units.units.get(str(body.get("id")))
        if before is not None:
            return ((PUT, body_of(before)),)
        return ((REMOVED, {"id": str(body.get("id"))}),) if kind == PUT else ()

    @property
    def segmentation(self) -> Segmentation:
        """The units as they are now."""
        if self._segmentation is None:
            self._segmentation = self._units.segmentation()
        return self._segmentation

    @property
    def units(self) -> tuple[Unit, ...]:
        """In order of time."""
        return self.segmentation.units

    @property
    def frozen(self) -> bool:
        """Whether they may be coded."""
        return self._units.frozen

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """Changes that wait, oldest first."""
        return tuple(self._units.proposals.values())

    def take_in(self, units: Iterable[Unit]) -> None:
        """Write units that the journal of a simulated session has, frozen as they are there."""
        entries: list[Entry] = [(PUT, body_of(unit)) for unit in units]
        self._append([*entries, (FROZEN, {"frozen": True, "by": self.by})])

    def put(self, unit: Unit) -> Proposal | None:
        """Add a unit, or change the one of that id; frozen ones by a proposal. Raises
        AnnotationError: it has no length, its id was used before, or the same speaker has a unit
        there."""
        what = "move" if unit.id in self._units.units else "add"
        return self._change(what, (), (unit,))

    def put_all(self, units: Iterable[Unit]) -> Proposal | None:
        """Add units as one change. Raises AnnotationError as `put`."""
        return self._change("add", (), tuple(units))

    def bring_in(
        self,
        changes: Iterable[tuple[str, Sequence[str], Sequence[Unit]]],
        source: Mapping[str, Any],
        *,
        freeze: bool = False,
    ) -> None:
        """Change units as one change, as a file of another tool has them; frozen ones by a proposal
        each. changes: what each is, see `labapp.coding.annotations.model.Proposal`, which ids go,
        and what comes. Raises AnnotationError if the units cannot be so; nothing was changed
        then."""
        entries: list[Entry] = [(IMPORTED, dict(source))]
        inverse: list[Entry] = []
        if self.frozen:
            for what, removed, put in changes:
                entry, taken_back = self._proposing(what, removed, put, source.get("format", ""))
                entries.append(entry)
                inverse.append(taken_back)
        else:
            wanted = tuple(changes)
            gone = tuple(name for _, removed, _ in wanted for name in removed)
            come = tuple(unit for _, _, put in wanted for unit in put)
            self._check(gone, come)
            entries[1:], inverse = self._changes(gone, come, IMPORTED)
            if freeze:
                entries.append((FROZEN, {"frozen": True, "by": self.by}))
                inverse.insert(0, (FROZEN, {"frozen": False, "by": self.by}))
        self._do(entries, inverse)

    def remove(self, unit_id: str) -> Proposal | None:
        """Take a unit away; a frozen one by a proposal. Raises AnnotationError."""
        self._unit(unit_id)
        return self._change("remove", (unit_id,), ())

    def split(self, unit_id: str, at_ns: int) -> tuple[Unit, Unit]:
        """Split a unit into two, with their own ids; for a frozen unit, this is a proposal. Raises
        AnnotationError if there is no such unit, or the time does not lie inside it."""
        unit = self._unit(unit_id)
        if not unit.t0_ns < at_ns < unit.t1_ns:
            raise AnnotationError(Message("unit_split_outside"))
        first = replace(unit, id=new_id(), t1_ns=at_ns, origin="hand")
        second = replace(unit, id=new_id(), t0_ns=at_ns, origin="hand")
        self._change("split", (unit_id,), (first, second))
        return first, second

    def merge(self, first_id: str, second_id: str) -> Unit:
        """Make one unit of two; of frozen ones this is a proposal. Raises AnnotationError."""
        first, second = self._unit(first_id), self._unit(second_id)
        if first_id == second_id:
            raise AnnotationError(Message("unit_merged_with_itself"))
        if first.speaker != second.speaker:
            raise AnnotationError(
                Message("unit_merged_speakers"), todo=Message("unit_merged_speakers_todo")
            )
        begin, end = min(first.t0_ns, second.t0_ns), max(first.t1_ns, second.t1_ns)
        unit = Unit(new_id(), begin, end, first.speaker, "hand")
        self._change("merge", (first_id, second_id), (unit,))
        return unit

    def move(self, unit_id: str, t0_ns: int | None = None, t1_ns: int | None = None) -> Unit:
        """Move the boundaries of a unit; of a frozen one this is a proposal. Raises
        AnnotationError."""
        unit = self._unit(unit_id)
        moved = replace(
            unit,
            t0_ns=unit.t0_ns if t0_ns is None else t0_ns,
            t1_ns=unit.t1_ns if t1_ns is None else t1_ns,
            origin="hand",
        )
        if (moved.t0_ns, moved.t1_ns) != (unit.t0_ns, unit.t1_ns):
            self._change("move", (), (moved,))
        return moved

    def freeze(self) -> None:
        """Let the units be coded; from now on they change only by accepted proposals.

        Raises AnnotationError if there are none.
        """
        if self.frozen:
            return
        if not self._units.units:
            raise AnnotationError(
                Message("units_none_to_freeze"), todo=Message("units_none_to_freeze_todo")
            )
        self._append([(FROZEN, {"frozen": True, "by": self.by})])
        self._undo.clear()
        self._redo.clear()

    def confirm_speakers(self) -> None:
        """Say that every unit has the right speaker as it is; this may be said of frozen units."""
        if self._units.speakers_by != self.by:
            self._do([(SPEAKERS, {"by": self.by})], [(SPEAKERS, {"by": self._units.speakers_by})])

    def _proposing(
        self, what: str, removed: Sequence[str], put: Sequence[Unit], reason: str
    ) -> tuple[Entry, Entry]:
        """The line that proposes a change of frozen units, and the one that takes it back. Raises
        AnnotationError if it cannot be."""
        self._check(removed, put)
        proposal = Proposal(new_id(), what, tuple(removed), tuple(put), self.by, reason)
        taken_back = {"id": proposal.id, "accepted": False, "by": self.by}
        return (PROPOSED, body_of(proposal)), (SETTLED, taken_back)

    def settle(self, proposal_id: str, accept: bool) -> None:
        """Accept or decline a change. The person who froze the units may do so, or anybody if
        nobody looked at them before. Raises AnnotationError: somebody else froze them, there is no
        such proposal, or it does not fit any more."""
        self._refuse_others("accept or decline changes of the units")
        proposal = self._units.proposals.get(proposal_id)
        if proposal is None:
            raise AnnotationError(
                Message("proposal_unknown", proposal=repr(proposal_id)),
                todo=Message("proposal_unknown_todo"),
            )
        entries: list[Entry] = []
        if accept:
            self._check(proposal.removed, proposal.put)
            entries, _ = self._changes(proposal.removed, proposal.put, f"proposal {proposal.id}")
        entries.append((SETTLED, {"id": proposal_id, "accepted": accept, "by": self.by}))
        self._append(entries)

    def _change(self, what: str, removed: Sequence[str], put: Sequence[Unit]) -> Proposal | None:
        if self.frozen:
            entry, taken_back = self._proposing(what, removed, put, "")
            self._do([entry], [taken_back])
            return self._units.proposals[entry[1]["id"]]
        self._check(removed, put)
        why = what if what in ("split", "merge") else ""
        self._do(*self._changes(removed, put, why))
        return None

    def _changes(
        self, removed: Sequence[str], put: Sequence[Unit], why: str
    ) -> tuple[list[Entry], list[Entry]]:
        """The lines of a change, and those that take it back."""
        because = {WHY: why} if why else {}
        entries: list[Entry] = [(REMOVED, {"id": name, **because}) for name in removed]
        entries += [(PUT, {**body_of(unit), **because}) for unit in put]
        inverse: list[Entry] = []
        for unit in put:
            before = self._units.units.get(unit.id)
            inverse.append((REMOVED, {"id": unit.id}) if before is None else (PUT, body_of(before)))
        inverse += [(PUT, body_of(self._units.units[name])) for name in removed]
        return entries, inverse

    def _check(self, removed: Sequence[str], put: Sequence[Unit]) -> None:
        """Raises AnnotationError if the units could not be so."""
        for name in removed:
            self._unit(name)
        changed = {unit.id for unit in put}
        others = (
            unit for unit in self._units.units.values() if unit.id not in {*removed, *changed}
        )
        for unit in put:
            if not 0 <= unit.t0_ns < unit.t1_ns:
                raise AnnotationError(
                    Message("unit_empty", begin=unit.t0_ns / 1e9, end=unit.t1_ns / 1e9),
                    todo=Message("end_before_beginning_todo"),
                )
            if unit.id in self._units.gone:
                raise AnnotationError(Message("unit_id_used", unit=repr(unit.id)))
        by_speaker: dict[str, list[Unit]] = {}
        for unit in sorted((*others, *put), key=lambda u: (u.t0_ns, u.t1_ns)):
            same = by_speaker.setdefault(unit.speaker, [])
            if same and unit.t0_ns < same[-1].t1_ns and {unit.id, same[-1].id} & changed:
                raise AnnotationError(
                    Message("units_overlap", at=unit.t0_ns / 1e9),
                    todo=Message("units_overlap_todo"),
                )
            same.append(unit)

    def _unit(self, unit_id: str) -> Unit:
        unit = self._units.units.get(unit_id)
        if unit is None:
            raise AnnotationError(Message("unit_unknown", unit=repr(unit_id)))
        return unit

    def _changed(self) -> None:
        self._segmentation = None

    def _refuse_others(self, what: str) -> None:
        if self.frozen and self._units.by not in (self.by, DETECTOR):
            raise AnnotationError(
                f"Only {self._units.by}, who froze them, can {what}.", todo=f"Ask {self._units.by}."
            )
