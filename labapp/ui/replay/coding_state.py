"""What is being coded: units, marks and words, the current unit, and what is shown of them.

It draws nothing. The window tells it what is heard, and shows what its signals say.

A rater's marks are kept by id and by unit, so that what a key changes costs the same however many
there are.

Also what the list of units shows of a session (words, chips, and the facts of a unit), who codes
and how, and what coding asks of the player.

Units made and moved by hand: begun and ended by a key, split, merged, frozen.

Frozen units stay as they are: what is done to them is a proposal to the person who froze them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from labapp.base.clock import NS
from labapp.base.errors import LabappError
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.ledger import new_id
from labapp.coding.annotations.model import (
    SPEAKERS,
    Blinding,
    Doubt,
    Mark,
    RaterMarks,
    Round,
    Speaker,
    Text,
    Unit,
)
from labapp.coding.annotations.units import UnitsFile
from labapp.session.replay.lanes import Lane
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator.wording import short_time
from labapp.ui.replay.coding_files import CodingFiles
from labapp.ui.replay.units_list import CodeChip, UnitRow

if TYPE_CHECKING:
    from labapp.ui.replay.coding import Coding
    from labapp.ui.replay.controller import ReplayController


MS = 1_000_000


class CodingState(QObject):
    """What is being coded.

    Signals
    -------
    units_changed() : units were made, moved or taken away.
    rows_changed(frozenset of str) : the rows of units with these ids are to be drawn anew.
    marks_changed() : marks were given or taken away.
    current_changed() : another unit is the current one.
    state_changed() : tier, focused code, status, mode or what is saved.
    redacted(RedactionReport) : a stretch is not heard or read any more.
    said(str) : something to tell in a line.
    problem(LabappError) : something went wrong.
    """

    units_changed = Signal()
    rows_changed = Signal(object)
    marks_changed = Signal()
    current_changed = Signal()
    state_changed = Signal()
    redacted = Signal(object)
    said = Signal(str)
    problem = Signal(object)

    def __init__(
        self, files: CodingFiles, lanes: Iterable[Lane] = (), parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.files = files
        self.request = files.request
        self.settings = Settings()
        self.codebook: Codebook = files.codebook
        self.marks = MarkIndex(files.own)
        self.moves = DialMoves.of(lanes)
        self.mode: Literal["code", "segment"] = "code"
        self.tier = self.codebook.tiers[0].name
        self.focused = ""
        self.queue: frozenset[str] | None = None
        self.recoding = False
        self.replaced: Mapping[str, Sequence[Mark]] = {}
        self.assigned = files.assigned()
        self._transport: ReplayController | None = None
        self._current: str | None = None
        self._reached_ns = -1
        self._from_ns = 0
        self._stop_ns: int | None = None
        self._advanced_to: str | None = None
        self.others: Mapping[str, RaterMarks] = {}
        """The codings of other raters that may be seen: those that are done, once the own is."""
        self._foreign = MarkIndex()
        self._set_units(files.units)
        self._show_others()
        if self.assigned is not None and len(self.assigned) < len(self.units):
            self.queue = self.assigned
        self._stay_in_queue()
        due = [unit for unit in self.units if self._in_queue(unit)]
        if due:
            first = next((unit for unit in due if not self.marks.coded(unit.id)), due[0])
            self._current = first.id

    def attempt(self, change: Callable[[], object]) -> bool:
        """Change the files and return whether this was done; a refusal is shown."""
        try:
            change()
        except LabappError as error:
            self.problem.emit(error)
            return False
        return True

    # --- what there is ----------------------------------------------------------------------------

    @property
    def current(self) -> Unit | None:
        return self._by_id.get(self._current or "")

    @property
    def blind(self) -> frozenset[str]:
        """What is not shown: nothing any more once the coding is locked."""
        return frozenset(self.request.blind)

    @property
    def status(self) -> str:
        """The status of this rater's coding: draft, done or locked."""
        return self.files.status

    @property
    def active(self) -> Tier:
        """The tier whose codes the keys give."""
        tier = self.codebook.tier(self.tier)
        assert tier is not None
        return tier

    def unit(self, unit_id: str) -> Unit | None:
        return self._by_id.get(unit_id)

    def text(self, unit: str) -> Text | None:
        return self.files.texts.get(unit)

    def veiled(self, unit: Unit) -> bool:
        """Whether a unit is still to come for a rater who is not shown the future."""
        return (
            "future" in self.blind
            and unit.t0_ns > self._reached_ns
            and unit.id != self._current
            and not self.marks.coded(unit.id)
            and self.mode == "code"
        )

    def row(self, unit: Unit) -> UnitRow:
        """A unit as the list shows it."""
        text, others = self.text(unit.id), self._foreign.of_unit(unit.id)
        chips = [chip(mark, self.codebook) for mark in self._list_visible_marks(unit.id)]
        chips += [chip(mark, self.codebook, foreign=True) for mark in others]
        words = "" if text is None else text.text
        time, veiled = short_time(unit.t0_ns), self.veiled(unit)
        return UnitRow(unit, time, words, tuple(chips), doubtful(text), veiled)

    def _list_visible_marks(self, unit: str) -> list[Mark]:
        """The own marks of a unit; in recoding those of older versions may be hidden, else those
        of units that were there before are shown, too."""
        own = self.marks.of_unit(unit)
        if not self.recoding:
            return own
        if self.settings.show_old:
            before = (self.marks.get(mark.id) for mark in self.replaced.get(unit, ()))
            return [*own, *(mark for mark in before if mark is not None)]
        return [mark for mark in own if mark.codebook == self.codebook.sha256]

    def rows(self) -> list[UnitRow]:
        """All units as the list shows them; of a queue those that are in it."""
        queue = self.queue
        return [self.row(unit) for unit in self.units if queue is None or unit.id in queue]

    def facts(self) -> str:
        """The length of the current unit, the dials that moved in it, in how many steps, and why
        its words may be invented; nothing of dials where none ever moved, as in a pack, which does
        not have them, and nothing of its outcome."""
        unit = self.current
        if unit is None:
            return ""
        seconds = number(f"{(unit.t1_ns - unit.t0_ns) / NS:.1f}")
        parts = [f"{seconds} s"]
        if steps := self.moves.within(unit.t0_ns, unit.t1_ns):
            moved = sorted(set(steps))
            dials = ", ".join(str(dial + 1) for dial in moved)
            several = len(moved) > 1
            parts.append(tr("coding.dials", dials=dials) if several else tr("coding.dial", n=dials))
            parts.append(counted(len(steps), "coding.steps"))
        elif self.moves.times:
            parts.append(tr("coding.no_dial"))
        doubt = "" if self.veiled(unit) else warning(self.text(unit.id))
        return " · ".join(filter(None, (*parts, doubt)))

    def to_code(self) -> list[Unit]:
        """The participant's units, and where they were drawn, those of this rater alone."""
        return [
            unit
            for unit in self.units
            if unit.speaker == "participant" and (self.assigned is None or unit.id in self.assigned)
        ]

    def progress(self) -> tuple[int, int]:
        """How many units that are to be coded have a code, and how many there are."""
        own = self.to_code()
        return sum(self.marks.coded(unit.id) for unit in own), len(own)

    def open_spans(self) -> dict[str, Mark]:
        """Spans that have begun and not ended, by their code."""
        return {mark.code: mark for mark in self.marks.begun}

    # --- moving about -----------------------------------------------------------------------------

    def set_transport(self, transport: ReplayController) -> None:
        """The player that is asked to play."""
        self._transport = transport

    def now_ns(self) -> int:
        """The session time of what is heard; while it plays, less the rater's reaction time."""
        if self._transport is None:
            return 0 if self.current is None else self.current.t0_ns
        now = self._transport.now_ns()
        return self._find_meant_time(now) if self._transport.playing else now

    def _find_meant_time(self, t_ns: int) -> int:
        """What a key is about while the sound plays: what was heard a reaction time ago, and
        nothing from before the place where the rater began to listen."""
        assert self._transport is not None
        loop = self._transport.loop
        begun = max(self._from_ns, loop[0]) if loop is not None else self._from_ns
        return max(t_ns - self.settings.reaction_ms * MS, min(begun, t_ns))

    def heard(self, t_ns: int) -> None:
        """The sound has come so far: the current unit goes with it."""
        self._reach(t_ns)
        self._from_ns = min(self._from_ns, t_ns)
        if self._transport is None or not self._transport.playing:
            return
        if self._stop_ns is not None and self._transport.loop is None:
            if t_ns >= self._stop_ns:
                self._stop_ns = None
                self._transport.pause()
            return
        at = self._find_meant_time(t_ns)
        if (unit := self._unit_at(at)) is not None and unit.t0_ns <= at < unit.t1_ns:
            self._become(unit.id)

    def follow(self, t_ns: int) -> None:
        """The playhead goes to a session time at once, whatever sent it there: the unit there
        becomes the current one, so that a key never codes another one than what is looked at."""
        self._reach(t_ns)
        self._from_ns = t_ns
        unit = self._unit_at(t_ns)
        if self._stop_ns is not None and (unit is None or unit.id != self._current):
            self._stop_ns = None
        if unit is not None:
            self._become(unit.id)

    def _unit_at(self, t_ns: int) -> Unit | None:
        """The unit at a session time, of those that are gone through: the current one where it is
        heard there, else the last that is, else the one before, or the first."""
        now = self.current
        if now is not None and now.t0_ns <= t_ns < now.t1_ns and self._in_queue(now):
            return now
        due = [unit for unit in self.units if self._in_queue(unit)]
        begun = due[: bisect_right(due, t_ns, key=lambda unit: unit.t0_ns)]
        here = (unit for unit in reversed(begun) if t_ns < unit.t1_ns)
        if (covering := next(here, None)) is not None:
            return covering
        return begun[-1] if begun else next(iter(due), None)

    def go_to(self, unit: str, *, play: bool = True) -> None:
        """Make a unit the current one and play it."""
        self._advanced_to = None
        target = self._by_id.get(unit)
        if target is None:
            return
        self._become(unit)
        self._reach(target.t0_ns)
        if self._transport is not None:
            if play and self.settings.play_units:
                self._play(target)
            else:
                self._transport.seek(target.t0_ns)
                self._become(unit)  # of units that begin together, the one that was asked for

    def seek(self, t_ns: int) -> None:
        if self._transport is not None:
            self._transport.seek(t_ns)

    def step(self, by: int) -> bool:
        """Go to the next unit, or to the previous one; False if there is none."""
        units = [unit for unit in self.units if self._in_queue(unit)]
        place = next((i for i, unit in enumerate(units) if unit.id == self._current), None)
        if place is None:
            now = self.now_ns()
            place = bisect_right([unit.t0_ns for unit in units], now) - (1 if by > 0 else 0)
        if not 0 <= place + by < len(units):
            return False
        self.go_to(units[place + by].id)
        return True

    @property
    def playing(self) -> bool:
        return self._transport is not None and self._transport.playing

    def choose(self, unit: str) -> None:
        """Make a unit the current one, and leave the playhead where it is."""
        if unit in self._by_id:
            self._become(unit)

    def enter_segmenting(self) -> None:
        """Let Enter begin and end units."""
        self.mode = "segment"
        self.rows_changed.emit(frozenset(self._by_id))
        self.state_changed.emit()

    def set_reaction(self, by_ms: int) -> None:
        """Change the reaction time that is taken off, within 0 and 500 ms."""
        ms = min(max(self.settings.reaction_ms + by_ms, 0), MOST_REACTION_MS)
        self.settings.reaction_ms = ms
        self.said.emit(tr("coding.reaction_time", ms=ms))
        self.state_changed.emit()

    def set_queue(self, units: frozenset[str] | None, *, recoding: bool = False) -> None:
        """Show these units alone and go through them; None: all. recoding: they were coded under an
        older definition, or are in the place of others."""
        self.queue, self.recoding = units, recoding
        self._stay_in_queue()
        self.units_changed.emit()
        self.state_changed.emit()

    def refresh(self) -> None:
        """Units, marks or codebook may be others: draw everything anew."""
        self.codebook = self.files.codebook
        if self.codebook.tier(self.tier) is None:
            self.tier = self.codebook.tiers[0].name
        self.marks.become(self.files.own)
        self._set_units(self.files.units)
        self.units_changed.emit()
        self.marks_changed.emit()
        self.state_changed.emit()

    def again(self) -> None:
        """Play the current unit from its beginning."""
        if self.current is not None and self._transport is not None:
            self._play(self.current)

    def _play(self, unit: Unit) -> None:
        """Play a unit, and stop at its end."""
        assert self._transport is not None
        self._transport.seek_and_play(unit.t0_ns)
        self._stop_ns = unit.t1_ns
        self._become(unit.id)  # of units that begin together, the one that was asked for

    def toggle(self) -> None:
        """Play, beyond the unit that was played alone; or pause."""
        self._stop_ns = None
        if self._transport is not None:
            self._transport.toggle()

    def _in_queue(self, unit: Unit) -> bool:
        return self.queue is None or unit.id in self.queue

    def _become(self, unit: str) -> None:
        before, self._current = self._current, unit
        if before != unit:
            self.rows_changed.emit(frozenset({before, unit} - {None}))
            self.current_changed.emit()

    def _reach(self, t_ns: int) -> None:
        if t_ns <= self._reached_ns:
            return
        before, self._reached_ns = self._reached_ns, t_ns
        if "future" in self.blind:
            first, last = (bisect_right(self._begins, t) for t in (before, t_ns))
            if fresh := frozenset(unit.id for unit in self.units[first:last]):
                self.rows_changed.emit(fresh)

    # --- tiers and codes --------------------------------------------------------------------------

    def step_tier(self, by: int) -> None:
        """Let the keys give codes of the next tier, or of the previous one."""
        names = [tier.name for tier in self.codebook.tiers]
        self.choose_tier(names[(names.index(self.tier) + by) % len(names)])

    def choose_tier(self, name: str) -> None:
        """Let the keys give codes of this tier."""
        if name != self.tier and self.codebook.tier(name) is not None:
            self.tier = name
            self.state_changed.emit()

    def focus(self, code: str) -> None:
        """Show the definition of this code."""
        if code != self.focused:
            self.focused = code
            self.state_changed.emit()

    def _show_others(self) -> None:
        self.others = self.files.others() if self.status != "draft" else {}
        people = [rater for rater in self.others.values() if not rater.machine]
        self._foreign = MarkIndex(mark for rater in people for mark in rater.marks)

    def _set_units(self, units: tuple[Unit, ...]) -> None:
        self.units = units
        self._by_id = {unit.id: unit for unit in units}
        self._begins = [unit.t0_ns for unit in units]
        before, self.assigned = self.assigned, self.files.assigned()
        if self.queue is not None and self.queue == before:
            self.queue = self.assigned
        self._stay_in_queue()

    def _stay_in_queue(self) -> None:
        """The current unit is one of those that are gone through."""
        if (now := self.current) is None or not self._in_queue(now):
            near = self._unit_at(0 if self._transport is None else self.now_ns())
            self._current = None if near is None else near.id


OPEN_NS = 1
"""The length of a span that has begun and not ended: so it is saved at once, and a crash does not
take its beginning."""


class MarkIndex:
    """Marks by what they are looked up by."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self._by_id: dict[str, Mark] = {}
        self._by_unit: defaultdict[str, dict[str, Mark]] = defaultdict(dict)
        self.counts: Counter[str] = Counter()
        """How often each code was given, by its id."""
        self._coded: Counter[tuple[str, str]] = Counter()
        self._tiers: defaultdict[str, dict[str, Mark]] = defaultdict(dict)
        self._versions: Counter[str] = Counter()
        self._begun: dict[str, Mark] = {}
        for mark in marks:
            self.put(mark)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, mark_id: str) -> bool:
        return mark_id in self._by_id

    @property
    def all(self) -> Collection[Mark]:
        """Every mark, in the order in which they were first given."""
        return self._by_id.values()

    def of_tier(self, tier: str) -> Collection[Mark]:
        return self._tiers[tier].values()

    def version(self, tier: str) -> int:
        """Counts the changes of a tier's marks."""
        return self._versions[tier]

    @property
    def tiers(self) -> Collection[str]:
        """The tiers that have marks, or had."""
        return tuple(self._tiers)

    @property
    def begun(self) -> Collection[Mark]:
        """Spans that have begun and not ended."""
        return self._begun.values()

    def get(self, mark_id: str) -> Mark | None:
        return self._by_id.get(mark_id)

    def of_unit(self, unit: str) -> list[Mark]:
        """The marks on a unit, in the order in which they were given."""
        known = self._by_unit.get(unit)
        return list(known.values()) if known else []

    def coded(self, unit: str, tier: str = "") -> bool:
        """Whether a unit has a mark, or one of that tier."""
        if tier:
            return self._coded[unit, tier] > 0
        return bool(self._by_unit.get(unit))

    def put(self, mark: Mark) -> frozenset[str]:
        """Add a mark, or put it in the place of the one of its id. Gives the units concerned."""
        before = self._by_id.get(mark.id)
        touched = self.remove(mark.id, forget=before is not None and before.unit != mark.unit)
        self._by_id[mark.id] = mark
        self.counts[mark.code] += 1
        self._tiers[mark.tier][mark.id] = mark
        self._versions[mark.tier] += 1
        if mark.unit is not None:
            self._by_unit[mark.unit][mark.id] = mark
            self._coded[mark.unit, mark.tier] += 1
            touched |= {mark.unit}
        elif mark.t1_ns - mark.t0_ns == OPEN_NS:
            self._begun[mark.id] = mark
        return touched

    def remove(self, mark_id: str, *, forget: bool = True) -> frozenset[str]:
        """Take a mark away. Gives the units concerned."""
        mark = self._by_id.get(mark_id)
        if mark is None:
            return frozenset()
        if forget:
            del self._by_id[mark_id]
        self.counts[mark.code] -= 1
        del self._tiers[mark.tier][mark_id]
        self._versions[mark.tier] += 1
        if mark.unit is None:
            self._begun.pop(mark_id, None)
            return frozenset()
        self._coded[mark.unit, mark.tier] -= 1
        if forget:
            del self._by_unit[mark.unit][mark_id]
        return frozenset({mark.unit})

    def become(self, marks: Iterable[Mark]) -> frozenset[str]:
        """Hold exactly these marks. Gives the units concerned; after an undo these are few."""
        wanted = {mark.id: mark for mark in marks}
        touched: set[str] = set()
        for mark_id in [known for known in self._by_id if known not in wanted]:
            touched |= self.remove(mark_id)
        for mark_id, mark in wanted.items():
            if self._by_id.get(mark_id) is not mark and self._by_id.get(mark_id) != mark:
                touched |= self.put(mark)
        return frozenset(touched)


DOUBTS: Mapping[Doubt, str] = {
    "repeated": N_("coding.doubt.repeated"),
    "unsure": N_("coding.doubt.unsure"),
    "quiet": N_("coding.doubt.quiet"),
}
DOUBTFUL = 0.5
"""Words of which a recogniser was less sure are dotted."""


@dataclass(frozen=True, slots=True)
class DialMoves:
    """When dials moved. times: session times in nanoseconds, in order; dials: which dial, from 0,
    at each of them."""

    times: tuple[int, ...] = ()
    dials: tuple[int, ...] = ()

    @classmethod
    def of(cls, lanes: Iterable[Lane]) -> DialMoves:
        """Those of a session's lanes, of every task with dials."""
        moves = [lane for lane in lanes if lane.kind == "moves"]
        times = [int(t_ns) for lane in moves for t_ns in lane.times]
        return cls(tuple(times), tuple(int(dial) for lane in moves for dial in lane.values))

    def within(self, t0_ns: int, t1_ns: int) -> tuple[int, ...]:
        """The dials that moved in a stretch, once for each step."""
        return self.dials[bisect_left(self.times, t0_ns) : bisect_left(self.times, t1_ns)]


def doubtful(text: Text | None) -> frozenset[int]:
    """The places of words of which a recogniser was not sure; all of a text that may be invented,
    until a person has read it."""
    if text is None:
        return frozenset()
    if text.doubts and not text.reviewed:
        return frozenset(range(len(text.text.split())))
    if len(text.words) != len(text.text.split()):
        return frozenset()
    return frozenset(
        place
        for place, word in enumerate(text.words)
        if word.probability is not None and word.probability < DOUBTFUL
    )


def warning(text: Text | None) -> str:
    """Why the text of a unit may be invented; empty if nothing says so, or a person read it."""
    if text is None or not text.doubts or text.reviewed:
        return ""
    return tr("coding.doubt", why=", ".join(tr(DOUBTS[why]) for why in text.doubts))


def code_name(codebook: Codebook | None, code_id: str, value: int | None = None) -> str:
    """A code's name, with its value; its id where the codebook does not have it."""
    code = None if codebook is None else codebook.code(code_id)
    name = code_id if code is None else code.name
    return name if value is None else f"{name} {value}"


def chip(mark: Mark, codebook: Codebook, *, foreign: bool = False) -> CodeChip:
    code = codebook.code(mark.code)
    return CodeChip(
        code_name(codebook, mark.code, mark.value),
        "" if code is None else code.colour,
        memo=bool(mark.memo),
        foreign=foreign,
        old=mark.codebook != codebook.sha256 and not foreign and bool(mark.codebook),
    )


def split_text(text: Text, first: str, second: str, at_ns: int) -> tuple[Text, Text]:
    """The words of a unit that is split at a session time; where it is not known when they were
    said, all stay with the first part."""
    tokens = text.text.split()
    timed = len(tokens) == len(text.words)
    count = sum(word.t0_ns < at_ns for word in text.words) if timed else len(tokens)
    saved = text.words if timed else ()
    return (
        replace(text, unit=first, text=" ".join(tokens[:count]), words=saved[:count]),
        replace(text, unit=second, text=" ".join(tokens[count:]), words=saved[count:]),
    )


def merge_texts(texts: Sequence[Text | None], unit: str) -> Text | None:
    """The words of units that become one; None if there are none."""
    known = [text for text in texts if text is not None and text.text]
    if not known:
        return None
    words = tuple(word for text in known for word in text.words)
    return replace(known[0], unit=unit, text=" ".join(text.text for text in known), words=words)


MOST_REACTION_MS = 500


@dataclass(frozen=True, slots=True)
class CodingRequest:
    """Who codes, by what, and what they are not shown; codebook: the id of one of the study's,
    empty if there is only one."""

    rater: str
    codebook: str = ""
    round: Round = "independent"
    blind: tuple[Blinding, ...] = ("names", "outcomes", "future")


@dataclass
class Settings:
    """How coding goes.

    Attributes
    ----------
    advance : a code of an exclusive tier goes on to the next unit once this one was heard.
    play_units : going to a unit plays it.
    show_old : in recoding, codes of an older definition are shown.
    hold : spans hold while their key is held, instead of being begun and ended by it.
    reaction_ms : taken off the time of a key that begins or ends something while the sound plays,
        from 0 to 500.
    """

    advance: bool = True
    play_units: bool = True
    hold: bool = False
    show_old: bool = True
    reaction_ms: int = 200


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
                    self._write(split_text(text, made[0].id, made[1].id, at))

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
            if (text := merge_texts(texts, made.id)) is not None:
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
        """Change the units; None if it was refused. What is done to frozen ones waits."""
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
