"""What bringing in a file of another tool changes: told before it is done, then done at once.

What of a file is here already, what differs, and what is new.

Things meet by their ids if the file's stamp says that they went out from here, else by what they
are and when: to the file's precision. A three-way comparison tells what was changed in the other
tool from what was changed here since: the latter stays.

Units and their words in a file of another tool, beside those of the session.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from labapp.base.messages import Message
from labapp.base.reading.values import Budget
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import new_id
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import Mark, Round, SessionAnnotations, Text, Unit, time_text
from labapp.coding.annotations.texts import TextsFile, correct_text, is_redacted
from labapp.coding.annotations.units import UnitsFile
from labapp.coding.exchange.gathering import FileClock
from labapp.coding.exchange.incoming import map_row
from labapp.coding.exchange.model import (
    SPEECH,
    Annotation,
    Arrival,
    Format,
    Sheet,
    Thing,
    Utterance,
    digest,
    digest_of_unit,
)

What = Literal[
    "mark added", "mark moved", "mark recoded", "mark changed", "mark removed", "mark cut",
    "unit made", "unit changed", "unit removed", "unit proposed", "text written",
]  # fmt: skip
UnitChange = tuple[str, tuple[str, ...], tuple[Unit, ...]]
"""What it is, which ids go, and what comes; see `labapp.coding.annotations.model.Proposal`."""


@dataclass(frozen=True, slots=True)
class ImportStep:
    """One thing that is changed.

    Attributes
    ----------
    t0_ns, t1_ns : session time, as it will be; of what goes, as it was.
    about : of a mark its tier and code, of a unit its speaker, of a text its words.
    before : what differed before, in words; empty for what is new.
    id : of the mark or unit.
    """

    what: What
    t0_ns: int
    t1_ns: int
    about: str
    before: str = ""
    id: str = ""

    def __str__(self) -> str:
        begin, end = time_text(self.t0_ns, 3), time_text(self.t1_ns, 3)
        time = begin if self.t0_ns == self.t1_ns else f"{begin}–{end}"
        was = f"  (was {self.before})" if self.before else ""
        return f"{self.what:13}  {time}  {self.about}{was}"

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "what": self.what,
            "t0_s": self.t0_ns / 1e9,
            "t1_s": self.t1_ns / 1e9,
            "about": self.about,
            "before": self.before,
            "id": self.id,
        }


@dataclass(frozen=True)
class ImportPlan:
    """What bringing in a file changes.

    Attributes
    ----------
    times : whose time the file has, in words, and why.
    units : of frozen units each becomes a proposal.
    freeze : whether the units are made now, and frozen.
    unchanged : how many marks are in the file as they are here.
    lost : what is not brought over, each in words.
    """

    file: str
    sha256: str
    format: str
    session: str
    rater: str
    times: tuple[str, ...]
    codebook: Codebook
    new_codebook: bool
    round: Round
    put: tuple[Mark, ...] = ()
    removed: tuple[str, ...] = ()
    units: tuple[UnitChange, ...] = ()
    freeze: bool = False
    texts: tuple[Text, ...] = ()
    steps: tuple[ImportStep, ...] = ()
    unchanged: int = 0
    lost: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is changed."""
        return not (self.put or self.removed or self.units or self.texts)

    @property
    def source(self) -> dict[str, str]:
        """As files of annotations say where changes came from: no name, which may be a person's."""
        return {"sha256": self.sha256, "format": self.format}

    def summary(self) -> str:
        """How much is changed, in a line."""
        parts = []
        for what, count in Counter(step.what for step in self.steps).items():
            noun, did = what.split()
            parts.append(f"{count} {noun if count == 1 else noun + 's'} {did}")
        same = "1 mark as it is" if self.unchanged == 1 else f"{self.unchanged} marks as they are"
        return ", ".join([*parts, same])

    def lines(self) -> list[str]:
        """For people."""
        told = [f"{self.file} → {self.session}, marks of {self.rater}", *self.times]
        if self.new_codebook:
            codes = ", ".join(code.id for code in self.codebook.codes)
            told.append(f"The study has no codebook, so one is made from the codes {codes}.")
        if self.freeze:
            told.append("The units are frozen, because they are coded.")
        told += [str(step) for step in self.steps]
        told += [f"not brought over: {why}" for why in self.lost]
        return [*told, f"{self.summary()}."]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "format": self.format,
            "session": self.session,
            "rater": self.rater,
            "times": list(self.times),
            "codebook": self.codebook.id,
            "new_codebook": self.new_codebook,
            "freeze": self.freeze,
            "steps": [step.to_json() for step in self.steps],
            "unchanged": self.unchanged,
            "lost": list(self.lost),
        }


class OpenFiles(Protocol):
    """The files of annotations that a plan changes, each opened when it is asked for."""

    @property
    def units_file(self) -> UnitsFile:
        """Raises AnnotationError."""

    @property
    def texts_file(self) -> TextsFile:
        """Raises AnnotationError."""

    @property
    def marks_file(self) -> MarksFile:
        """Raises AnnotationError while units are not frozen, and codes are given to them."""


def apply(plan: ImportPlan, files: OpenFiles) -> list[str]:
    """Do what a plan says; a codebook that it makes is there by now. Raises AnnotationError: a file
    is open elsewhere, or cannot be so; what was done before in other files is taken back. Returns
    `units`, `texts` and `marks`: which files were changed, in this order, one step each."""
    # All are opened before anything is changed; marks, which need frozen units, behind those.
    units = files.units_file if plan.units else None
    texts = files.texts_file if plan.texts else None
    marks = files.marks_file if (plan.put or plan.removed) and not plan.freeze else None
    done: list[tuple[str, MarksFile | UnitsFile | TextsFile]] = []
    try:
        if units is not None:
            units.bring_in(plan.units, plan.source, freeze=plan.freeze)
            done.append(("units", units))
        if texts is not None:
            texts.put_all(plan.texts, plan.source)
            done.append(("texts", texts))
        if plan.put or plan.removed:
            marks = files.marks_file if marks is None else marks
            marks.bring_in(plan.put, plan.removed, plan.source)
            done.append(("marks", marks))
    except BaseException:
        for _, file in reversed(done):
            file.undo()
        raise
    return [name for name, _ in done]


MOMENT_NS = 1_000_000
"""A format without points has stretches of a millisecond in their place."""
ALIKE = 0.5
"""Of the longer of two stretches, how much they share at least to be the same one moved."""


class Ruler:
    """Compares times of a file. precision_ns: what its format rounds to."""

    def __init__(self, precision_ns: int) -> None:
        self.tolerance = precision_ns // 2 + 1
        self.moment = MOMENT_NS if precision_ns >= MOMENT_NS else self.tolerance

    def same(self, a_ns: int, b_ns: int) -> bool:
        """Whether two times are one to the file's precision."""
        return abs(a_ns - b_ns) <= self.tolerance

    def same_stretch(self, a: Utterance | Annotation, b: Utterance | Annotation) -> bool:
        """Whether two stretches or points are one to the file's precision."""
        both_short = max(a.t1_ns - a.t0_ns, b.t1_ns - b.t0_ns) <= self.moment + self.tolerance
        return self.same(a.t0_ns, b.t0_ns) and (both_short or self.same(a.t1_ns, b.t1_ns))


def overlap(a: Utterance | Annotation, b: Utterance | Annotation) -> float:
    """How much of the longer of two stretches they share, from 0 to 1."""
    shared = min(a.t1_ns, b.t1_ns) - max(a.t0_ns, b.t0_ns)
    longer = max(a.t1_ns - a.t0_ns, b.t1_ns - b.t0_ns)
    return shared / longer if shared > 0 and longer > 0 else 0.0


class Pairs:
    """What arrived, paired with what is here.

    Attributes
    ----------
    of : from places in what arrived to places in what is here.
    """

    def __init__(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        ours: Callable[[str], bool],
        budget: Budget,
    ) -> None:
        """Pair by ids. ours: whether an id that a file has is one that went out from here. budget:
        for how often things are compared, which raises TooMuch."""
        self._budget = budget
        self.of: dict[int, int] = {}
        self._taken: set[int] = set()
        places = {thing.id: place for place, thing in enumerate(here)}
        for number, thing in enumerate(arrived):
            place = places.get(thing.id) if thing.id and ours(thing.id) else None
            if place is not None and place not in self._taken:
                self._pair(number, place)

    def _pair(self, number: int, place: int) -> None:
        self.of[number] = place
        self._taken.add(place)

    def by(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        fits: Callable[[Thing, Thing], bool],
        ruler: Ruler,
        skip: Iterable[int] = (),
    ) -> None:
        """Pair what is left and fits, and is at the same times."""
        skipped = set(skip)
        begins = sorted((thing.t0_ns, place) for place, thing in enumerate(here))
        at = [begin for begin, _ in begins]
        for number, thing in enumerate(arrived):
            if number in self.of or number in skipped:
                continue
            first = bisect_left(at, thing.t0_ns - ruler.tolerance)
            last = bisect_right(at, thing.t0_ns + ruler.tolerance)
            self._budget.compare(last - first)
            for _, place in begins[first:last]:
                other = here[place]
                if place in self._taken or not ruler.same_stretch(thing, other):
                    continue
                if fits(thing, other):
                    self._pair(number, place)
                    break

    def by_overlap(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        fits: Callable[[Thing, Thing], bool],
        skip: Iterable[int] = (),
    ) -> None:
        """Pair the remaining items that fit and overlap in time, the largest overlap first."""
        skipped = set(skip)
        # By how long they are, in powers of two: of what is half as long, or twice, no pair shares
        # most of its time. So one that is long is not compared with all that are short.
        sizes: dict[int, list[tuple[int, int]]] = {}
        for place, other in enumerate(here):
            if place not in self._taken and other.t1_ns > other.t0_ns:
                size = (other.t1_ns - other.t0_ns).bit_length()
                sizes.setdefault(size, []).append((other.t0_ns, place))
        for begins in sizes.values():
            begins.sort()
        shares = []
        for number, thing in enumerate(arrived):
            length = thing.t1_ns - thing.t0_ns
            if number in self.of or number in skipped or length <= 0:
                continue
            for size in range(length.bit_length() - 1, length.bit_length() + 2):
                begins = sizes.get(size, [])
                first = bisect_left(begins, (thing.t0_ns - (1 << size), 0))
                last = bisect_left(begins, (thing.t1_ns, 0))
                self._budget.compare(last - first)
                for _, place in begins[first:last]:
                    share = overlap(thing, here[place])
                    if share >= ALIKE and fits(thing, here[place]):
                        shares.append((-share, number, place))
        for _, number, place in sorted(shares):
            if number not in self.of and place not in self._taken:
                self._pair(number, place)

    def alone(self, here: Sequence[Thing]) -> list[Thing]:
        """What is here and did not arrive."""
        return [thing for place, thing in enumerate(here) if place not in self._taken]


class Before:
    """What things were like when a file went out. were: digests by ids."""

    def __init__(self, were: Mapping[str, str], brought_in: Iterable[str] = ()) -> None:
        """brought_in: ids of what came from a file before: what a later one says of it holds."""
        self._were = were
        self._free = frozenset(brought_in)

    def has_changed_here(self, own_id: str, now: str) -> bool:
        """Whether something was changed here since, other than by a file."""
        return own_id in self._were and own_id not in self._free and self._were[own_id] != now

    def has_changed_there(self, own_id: str, arrived: str) -> bool:
        """Whether something was changed in the other tool."""
        return self._were.get(own_id) != arrived


ORIGIN = "import"


@dataclass(frozen=True, slots=True)
class _Change:
    """A unit as it would be, or one that would go. before: None for a new one."""

    unit: Unit
    before: Unit | None
    gone: bool = False

    @property
    def reach(self) -> tuple[int, int]:
        """Session time that it touches."""
        ends = [self.unit] if self.before is None else [self.unit, self.before]
        return min(u.t0_ns for u in ends), max(u.t1_ns for u in ends)


class UnitsIn:
    """Finds what a file changes of the units and texts of a session. making: whether the session
    has no units yet, and those of the file become its units."""

    def __init__(
        self,
        annotations: SessionAnnotations,
        rater: str,
        form: Format,
        end_ns: int,
        ever: frozenset[str] = frozenset(),
        *,
        allowed: bool,
        budget: Budget,
        words_only: bool = False,
    ) -> None:
        """ever: ids of all units that the session ever had. allowed: whether the participant agreed
        to a transcript. budget: see `labapp.coding.exchange.plan.Pairs`.
        words_only: put words that come without a unit of theirs into the units here."""
        self._budget = budget
        self._annotations, self._rater = annotations, rater
        self._ruler, self._end_ns, self._allowed = Ruler(form.precision_ns), end_ns, allowed
        self._units = {unit.id: unit for unit in annotations.segmentation.units}
        self._frozen = annotations.segmentation.frozen
        self._changes: list[_Change] = []
        self._unwritten, self._ever = 0, ever
        self._words_only = words_only and bool(self._units)
        self._put_into: dict[str, list[str]] = {}
        self._made: dict[str, tuple[Unit, str | None]] = {}
        self._spoken: dict[str, set[str]] = {}
        self._by_speaker: dict[str, list[Unit]] = {}
        for unit in sorted(self._units.values(), key=lambda unit: unit.t0_ns):
            self._by_speaker.setdefault(unit.speaker, []).append(unit)
        self.making = False
        self.texts: list[Text] = []
        self.steps: list[ImportStep] = []
        self.lost: list[Message] = []
        self._stretches: list[tuple[Utterance, str]] = []
        self._begins: list[int] = []

    def meet(self, arrival: Arrival, clock: FileClock, sheet: Sheet) -> None:
        """Take in what a file holds of a sound, or session."""
        arrived, here = arrival.utterances, sheet.utterances
        stamp = arrival.stamp
        ours = set(stamp.units) if stamp else set()
        self._stretches, self._begins = [(u, u.id or "") for u in here], []
        for known in here:
            self._spoken.setdefault(known.id or "", {digest(known.text)})
        if self._words_only:
            for utterance in arrived:
                self._into_unit(utterance, clock)
            return
        pairs = Pairs(arrived, here, ours.__contains__, self._budget)
        pairs.by(arrived, here, _same_speaker, self._ruler)
        pairs.by(arrived, here, _same_words, self._ruler)
        pairs.by_overlap(arrived, here, _same_speaker)
        moved = (unit.id for unit in self._units.values() if unit.origin == ORIGIN)
        times = Before(
            dict(zip(stamp.units, stamp.units_were, strict=False)) if stamp else {}, moved
        )
        read = (t.unit for t in self._annotations.texts.values() if t.origin == ORIGIN)
        words = Before(
            dict(zip(stamp.units, stamp.texts_were, strict=False)) if stamp else {}, read
        )
        for number, utterance in enumerate(arrived):
            place = pairs.of.get(number)
            if place is None:
                self._new(utterance, clock, ours)
                continue
            known = here[place]
            if utterance.voice is not None:  # the file does not know better
                utterance = replace(utterance, speaker=known.speaker)
            self._stretches.append((utterance, known.id or ""))
            self._spoken[known.id or ""].add(digest(utterance.text))
            self._move_unit(utterance, known, clock, times)
            self._update_text(utterance, known, words)
        for known in pairs.alone(here):
            if known.id in ours and known.id is not None:
                self._remove_missing(known, times)

    def unit_at(self, t0_ns: int, t1_ns: int) -> str | None:
        """The id of the unit at a stretch of the file's time, in the file or here; None if there
        is none."""
        if len(self._begins) != len(self._stretches):
            self._stretches.sort(key=lambda pair: pair[0].t0_ns)
            self._begins = [utterance.t0_ns for utterance, _ in self._stretches]
        tolerance = self._ruler.tolerance
        first = bisect_left(self._begins, t0_ns - tolerance)
        last = bisect_left(self._begins, t0_ns + tolerance + 1)
        self._budget.compare(last - first)
        for utterance, name in self._stretches[first:last]:
            if self._ruler.same(utterance.t1_ns, t1_ns):
                return name
        return None

    def _new(self, utterance: Utterance, clock: FileClock, ours: set[str]) -> None:
        begin, end = clock.to_session(utterance.t0_ns), clock.to_session(utterance.t1_ns)
        where = _where(utterance, begin, end)
        if begin < -self._ruler.tolerance or end > self._end_ns + self._ruler.tolerance:
            self._lose(where, "outside_session")
            return
        if utterance.id in ours and utterance.id in self._ever:
            self._lose(where, "unit_gone_here")
            return
        if end <= begin:
            self._lose(where, "unit_no_length")
            return
        unit = Unit(new_id(), max(0, begin), min(end, self._end_ns), utterance.speaker, ORIGIN)
        self._changes.append(_Change(unit, None))
        self._made[unit.id] = unit, utterance.voice
        self._spoken[unit.id] = {digest(utterance.text)}
        self._stretches.append((utterance, unit.id if not self._frozen else ""))
        if utterance.text.strip():
            self._write(unit, utterance.text, "")

    def _into_unit(self, utterance: Utterance, clock: FileClock) -> None:
        """Keep words for the unit that they share most time with; of a speaker whom the file does
        not name, for anybody's."""
        begin, end = clock.to_session(utterance.t0_ns), clock.to_session(utterance.t1_ns)
        shares: list[tuple[int, str]] = []
        for speaker, own in self._by_speaker.items():
            if utterance.voice is None and speaker != utterance.speaker:
                continue
            first = bisect_left(own, begin, key=lambda unit: unit.t1_ns)
            last = bisect_left(own, end, key=lambda unit: unit.t0_ns)
            self._budget.compare(max(0, last - first))
            shares += [(min(u.t1_ns, end) - max(u.t0_ns, begin), u.id) for u in own[first:last]]
        share, own_id = max(shares, key=lambda pair: pair[0], default=(0, ""))
        if share > 0:
            self._put_into.setdefault(own_id, []).append(utterance.text)
        elif any(u.t0_ns < end and begin < u.t1_ns for u in self._units.values()):
            self._lose(_where(utterance, begin, end), "words_without_unit")
        else:  # nobody's words are lost: a unit of its own, which waits where they are frozen
            self._new(utterance, clock, set())

    def keep_words(self, annotations: Iterable[Annotation], clock: FileClock) -> None:
        """Take the words beside codes for those of their units, if these have none."""
        for annotation in annotations:
            own_id = self.unit_at(annotation.t0_ns, annotation.t1_ns) or ""
            spoken, words = self._spoken.get(own_id, set()), digest(annotation.text)
            if not annotation.text.strip() or words in spoken:
                continue
            made = self._made.get(own_id)
            unit = made[0] if made is not None else self._units.get(own_id)
            if unit is not None and spoken <= {digest("")}:
                self._write(unit, annotation.text, "")
                spoken.add(words)
                continue
            begin, end = clock.to_session(annotation.t0_ns), clock.to_session(annotation.t1_ns)
            where = _where(annotation, begin, end)
            why = "words_without_unit" if unit is None else "words_with_others"
            what = Message("left_what", what=where, why=quote_text(annotation.text))
            self._lose(what, why)

    def _move_unit(
        self, utterance: Utterance, known: Utterance, clock: FileClock, before: Before
    ) -> None:
        own_id = known.id or ""
        unit = self._units[own_id]
        same_begin = self._ruler.same(utterance.t0_ns, known.t0_ns)
        same_end = self._ruler.same(utterance.t1_ns, known.t1_ns)
        if same_begin and same_end and utterance.speaker == known.speaker:
            return
        if before.has_changed_here(own_id, digest_of_unit(known)):
            if before.has_changed_there(own_id, digest_of_unit(utterance)):
                self.lost.append(Message("unit_moved_here", at=_clock(unit.t0_ns)))
            return
        fresh = replace(
            unit,
            t0_ns=unit.t0_ns if same_begin else clock.to_session(utterance.t0_ns),
            t1_ns=unit.t1_ns if same_end else clock.to_session(utterance.t1_ns),
            speaker=utterance.speaker,
            origin=ORIGIN,
        )
        if not 0 <= fresh.t0_ns < fresh.t1_ns <= self._end_ns:
            self._lose(_place(utterance), "outside_session")
            return
        self._changes.append(_Change(fresh, unit))

    def _update_text(self, utterance: Utterance, known: Utterance, before: Before) -> None:
        if digest(utterance.text) == digest(known.text):
            return
        unit = self._units[known.id or ""]
        if before.has_changed_here(unit.id, digest(known.text)):
            if before.has_changed_there(unit.id, digest(utterance.text)):
                self.lost.append(Message("unit_words_here", at=_clock(unit.t0_ns)))
            return
        self._write(unit, utterance.text, known.text)

    def _write(self, unit: Unit, text: str, before: str) -> None:
        if not self._allowed:
            self._unwritten += 1
            return
        if is_redacted(unit.t0_ns, unit.t1_ns, self._annotations.redactions):
            self.lost.append(Message("unit_words_redacted", at=_clock(unit.t0_ns)))
            return
        known = self._annotations.texts.get(unit.id)
        fresh = correct_text(known, unit.id, text, self._rater, ORIGIN)
        self.texts.append(replace(fresh, reviewed=False))
        self.steps.append(
            ImportStep(
                "text written",
                unit.t0_ns,
                unit.t1_ns,
                quote_text(text),
                quote_text(before),
                unit.id,
            )
        )

    def _remove_missing(self, known: Utterance, before: Before) -> None:
        unit = self._units[known.id or ""]
        if before.has_changed_here(unit.id, digest_of_unit(known)):
            self.lost.append(Message("unit_gone_there", at=_clock(unit.t0_ns)))
        else:
            self._changes.append(_Change(unit, unit, gone=True))

    # --- all of it -------------------------------------------------------------------------------

    def changes(self) -> list[UnitChange]:
        """The changes that can be, those that touch each other as one."""
        for own_id, texts in self._put_into.items():
            unit, words = self._units[own_id], "\n".join(text for text in texts if text.strip())
            if self._spoken.get(own_id, set()) <= {digest("")}:
                self._write(unit, words, "")
            elif digest(words) not in self._spoken[own_id]:
                self._lose(Message("words_of_unit", at=_clock(unit.t0_ns)), "words_with_others")
        if self._unwritten:
            self.lost.append(Message("units_unwritten", n=self._unwritten))
        self.making = bool(self._changes) and not self._units
        made: list[UnitChange] = []
        refused: set[str] = set()
        beside = _Beside(self._units.values())
        for group in _groups(self._changes):
            overlapping = beside.overlapping(group)
            if overlapping and len(group) > 1 and not self._frozen:
                kept: list[_Change] = []
                for change in group:  # of units that are made, those that fit beside each other
                    if beside.fits(change):
                        kept.append(change)
                    else:
                        self._refuse(change, refused)
                group, overlapping = kept, False
            if overlapping:
                for change in group:
                    self._refuse(change, refused)
                continue
            gone = tuple(change.unit.id for change in group if change.gone)
            put = tuple(change.unit for change in group if not change.gone)
            made.append((_what(group), gone, put))
            self.steps += [self._step(change) for change in group]
        voices = Counter(
            voice for own_id, (_, voice) in self._made.items() if own_id not in refused
        )
        for voice, count in voices.items():
            if voice is not None:
                row = map_row(voice, f"{SPEECH}moderator")
                which = "voice_unknown" if voice else "voice_unsaid"
                self.lost.append(Message(which, n=count, name=repr(voice), row=row))
        if refused and self._units:
            self.lost.append(Message("units_over_units", n=len(refused)))
        if refused:
            self.texts = [text for text in self.texts if text.unit not in refused]
            self.steps = [
                step for step in self.steps if step.what != "text written" or step.id not in refused
            ]
        return made

    def _refuse(self, change: _Change, refused: set[str]) -> None:
        unit = change.unit
        if change.before is None:
            refused.add(unit.id)
        begin, end = _clock(unit.t0_ns), _clock(unit.t1_ns)
        speaker = _speaker(unit)
        self.lost.append(Message("unit_overlaps", speaker=speaker, begin=begin, end=end))

    def _lose(self, what: str, why: str) -> None:
        """why: the code of a message."""
        self.lost.append(Message("left_what", what=what, why=Message(why)))

    def _step(self, change: _Change) -> ImportStep:
        unit, before = change.unit, change.before
        what = "unit made" if before is None else "unit changed"
        if change.gone:
            what = "unit removed"
        if self._frozen:
            what = "unit proposed"
        was: str = ""
        if change.gone:
            was = Message("step_to_go")
        elif before is not None:
            begin, end = _clock(before.t0_ns), _clock(before.t1_ns)
            was = Message("step_unit", begin=begin, end=end, speaker=_speaker(before))
        about = unit.speaker
        return ImportStep(what, unit.t0_ns, unit.t1_ns, about, was, unit.id)  # type: ignore[arg-type]


class _Beside:
    """Where units of each speaker are, to see what fits beside them."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._places: dict[str, list[tuple[int, int]]] = {}
        for unit in units:
            self._places.setdefault(unit.speaker, []).append((unit.t0_ns, unit.t1_ns))
        for own in self._places.values():
            own.sort()

    def overlapping(self, group: Sequence[_Change]) -> bool:
        """Whether units of one speaker would overlap if all of the changes were made."""
        before = [change.before for change in group if change.before is not None]
        for unit in before:
            self._take(unit)
        put: list[Unit] = []
        fit = True
        for change in group:
            if not change.gone:
                fit = self._free(change.unit)
                if not fit:
                    break
                self._put(change.unit)
                put.append(change.unit)
        for unit in put:
            self._take(unit)
        for unit in before:
            self._put(unit)
        return not fit

    def fits(self, change: _Change) -> bool:
        """Whether a change can be made; it is made then."""
        if change.before is not None:
            self._take(change.before)
        if change.gone or self._free(change.unit):
            if not change.gone:
                self._put(change.unit)
            return True
        if change.before is not None:
            self._put(change.before)
        return False

    def _free(self, unit: Unit) -> bool:
        """Whether no unit of the speaker is there. Units of one speaker do not overlap each other:
        the nearest before says so of all before it."""
        own = self._places.get(unit.speaker, [])
        at = bisect_left(own, (unit.t1_ns, -1))
        return at == 0 or own[at - 1][1] <= unit.t0_ns

    def _put(self, unit: Unit) -> None:
        insort(self._places.setdefault(unit.speaker, []), (unit.t0_ns, unit.t1_ns))

    def _take(self, unit: Unit) -> None:
        own = self._places[unit.speaker]
        del own[bisect_left(own, (unit.t0_ns, unit.t1_ns))]


def _speaker(unit: Unit) -> Message:
    return Message(f"speaker_{unit.speaker}")


def _place(utterance: Utterance) -> str:
    return utterance.place or Message("place_speech")


def _where(thing: Utterance | Annotation, begin_ns: int, end_ns: int) -> Message:
    time = _clock(begin_ns) if begin_ns == end_ns else f"{_clock(begin_ns)}–{_clock(end_ns)}"
    return Message("place_timed", place=thing.place or Message("place_speech"), time=time)


def _same_words(a: Utterance, b: Utterance) -> bool:
    """Whether it is the same speech, though perhaps of somebody else by now; so it is where the
    file does not say who speaks."""
    return a.voice is not None or (bool(a.text.strip()) and digest(a.text) == digest(b.text))


def _same_speaker(a: Utterance, b: Utterance) -> bool:
    return a.speaker == b.speaker


def _groups(changes: Iterable[_Change]) -> Iterator[list[_Change]]:
    """Changes that touch each other, together; in order of time."""
    group: list[_Change] = []
    end = -1
    for change in sorted(changes, key=lambda change: change.reach):
        begin, stop = change.reach
        if group and begin >= end:
            yield group
            group, end = [], -1
        group.append(change)
        end = max(end, stop)
    if group:
        yield group


def _what(group: Sequence[_Change]) -> str:
    """See `labapp.coding.annotations.model.Proposal`."""
    if all(change.gone for change in group):
        return "remove"
    if all(change.before is None for change in group):
        return "add"
    if any(change.before is None for change in group):
        return "split"
    return "merge" if any(change.gone for change in group) else "move"


def _clock(t_ns: int) -> str:
    return time_text(t_ns, 3)


def quote_text(text: str) -> str:
    """A text as a line of a list has it."""
    words = " ".join(text.split())
    return f"“{words if len(words) <= 60 else words[:59] + '…'}”" if words else ""
