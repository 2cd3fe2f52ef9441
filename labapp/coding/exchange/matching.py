"""What of a file is here already, what differs, and what is new.

Things meet by their ids where the file's stamp says that they went out from here, else by what they
are and when: to the file's precision. A three-way comparison tells what was changed in the other
tool from what was changed here since: the latter stays.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

from labapp.base.reading.values import Budget
from labapp.coding.exchange.model import Annotation, Thing, Utterance

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
        """Pair what is left, fits and shares most of its time, what shares most first."""
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

    def changed_here(self, own_id: str, now: str) -> bool:
        """Whether something was changed here since, other than by a file."""
        return own_id in self._were and own_id not in self._free and self._were[own_id] != now

    def changed_there(self, own_id: str, arrived: str) -> bool:
        """Whether something was changed in the other tool."""
        return self._were.get(own_id) != arrived
