"""A rater's marks by id and by unit; what a key changes costs the same however many there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from labapp.annotations.model import Mark

OPEN_NS = 1
"""The length of a span that has begun and not ended: so it is saved at once, and a crash does not
take its beginning."""


class MarkIndex:
    """Marks by what they are looked up by."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self._by_id: dict[str, Mark] = {}
        self._by_unit: defaultdict[str, dict[str, Mark]] = defaultdict(dict)
        self._counts: Counter[str] = Counter()
        self._coded: Counter[tuple[str, str]] = Counter()
        self._free: dict[str, Mark] = {}
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
        """The marks of a tier."""
        return self._tiers[tier].values()

    def version(self, tier: str) -> int:
        """Counts the changes of a tier's marks."""
        return self._versions[tier]

    @property
    def tiers(self) -> Collection[str]:
        """The tiers that have marks, or had."""
        return tuple(self._tiers)

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each code was given, by its id."""
        return self._counts

    @property
    def begun(self) -> Collection[Mark]:
        """Spans that have begun and not ended."""
        return self._begun.values()

    @property
    def free(self) -> Collection[Mark]:
        """Spans and points of their own, on no unit."""
        return self._free.values()

    def get(self, mark_id: str) -> Mark | None:
        """The mark of that id."""
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
        self._counts[mark.code] += 1
        self._tiers[mark.tier][mark.id] = mark
        self._versions[mark.tier] += 1
        if mark.unit is not None:
            self._by_unit[mark.unit][mark.id] = mark
            self._coded[mark.unit, mark.tier] += 1
            touched |= {mark.unit}
        else:
            self._free[mark.id] = mark
            if mark.t1_ns - mark.t0_ns == OPEN_NS:
                self._begun[mark.id] = mark
        return touched

    def remove(self, mark_id: str, *, forget: bool = True) -> frozenset[str]:
        """Take a mark away. Gives the units concerned."""
        mark = self._by_id.get(mark_id)
        if mark is None:
            return frozenset()
        if forget:
            del self._by_id[mark_id]
        self._counts[mark.code] -= 1
        del self._tiers[mark.tier][mark_id]
        self._versions[mark.tier] += 1
        if mark.unit is None:
            self._free.pop(mark_id, None)
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
