"""What the list of units shows of a session: words, chips, and the facts of a unit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from labapp.annotations.codebook import Codebook
from labapp.annotations.model import Doubt, Mark, Text, Unit
from labapp.replay.lanes import Lane
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.replay.units_list import Chip, UnitRow

SECOND_NS = 1_000_000_000
DOUBTS: Mapping[Doubt, str] = {
    "repeated": N_("the same again and again"),
    "unsure": N_("half of the words are unsure"),
    "quiet": N_("words where nobody is heard"),
}
DOUBTFUL = 0.5
"""Words of which a recogniser was less sure are dotted."""


def clock(t_ns: int) -> str:
    """A session time as minutes and seconds, or hours before them."""
    seconds = max(0, t_ns) // SECOND_NS
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours:
        return f"{hours}:{minutes:02}:{seconds % 60:02}"
    return f"{minutes}:{seconds % 60:02}"


@dataclass(frozen=True, slots=True)
class DialMoves:
    """When dials moved.

    Attributes
    ----------
    times : session times in nanoseconds, in order.
    dials : which dial, from 0, at each of them.
    """

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


def facts(unit: Unit, moves: DialMoves) -> str:
    """A unit's length, the dials that moved in it, and how many steps they made; nothing of dials
    where none ever moved, as in a pack, which does not have them."""
    seconds = number(f"{(unit.t1_ns - unit.t0_ns) / SECOND_NS:.1f}")
    parts = [f"{seconds} s"]
    steps = moves.within(unit.t0_ns, unit.t1_ns)
    if steps:
        dials = ", ".join(str(dial + 1) for dial in sorted(set(steps)))
        several = len(set(steps)) > 1
        parts.append(tr("dials {dials}", dials=dials) if several else tr("dial {n}", n=dials))
        parts.append(counted(len(steps), "{n} step", "{n} steps"))
    elif moves.times:
        parts.append(tr("no dial moved"))
    return " · ".join(parts)


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
    """Why the text of a unit may be invented; empty where nothing says so, or a person read it."""
    if text is None or not text.doubts or text.reviewed:
        return ""
    return tr("perhaps invented: {why}", why=", ".join(tr(DOUBTS[why]) for why in text.doubts))


def chip(mark: Mark, codebook: Codebook, *, foreign: bool = False) -> Chip:
    """A mark as a chip; a code that the codebook does not have goes by its id."""
    code = codebook.code(mark.code)
    name = mark.code if code is None else code.name
    if mark.value is not None:
        name = f"{name} {mark.value}"
    return Chip(
        name,
        "" if code is None else code.colour,
        memo=bool(mark.memo),
        foreign=foreign,
        old=mark.codebook != codebook.sha256 and not foreign and bool(mark.codebook),
    )


def unit_row(
    unit: Unit,
    text: Text | None,
    own: Sequence[Mark],
    others: Sequence[Mark],
    codebook: Codebook,
    *,
    veiled: bool,
) -> UnitRow:
    """A row of the list of units."""
    chips = [chip(mark, codebook) for mark in own]
    chips += [chip(mark, codebook, foreign=True) for mark in others]
    return UnitRow(
        unit,
        clock(unit.t0_ns),
        "" if text is None else text.text,
        tuple(chips),
        doubtful(text),
        veiled,
    )


def divided(text: Text, first: str, second: str, at_ns: int) -> tuple[Text, Text]:
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


def merged(texts: Sequence[Text | None], unit: str) -> Text | None:
    """The words of units that become one; None where there are none."""
    known = [text for text in texts if text is not None and text.text]
    if not known:
        return None
    words = tuple(word for text in known for word in text.words)
    return replace(known[0], unit=unit, text=" ".join(text.text for text in known), words=words)
