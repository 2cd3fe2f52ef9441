"""A coding as lanes of the timeline: a lane a tier, one's own first, then those of others."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.annotations.model import Mark
from labapp.ui.replay.coding import Coding
from labapp.ui.replay.timeline_rows import CodeItem, CodeLane


class CodingLanes:
    """Makes the lanes of a coding; what did not change is made once."""

    def __init__(self, coding: Coding) -> None:
        self._coding = coding
        self._items: dict[str, tuple[Mark, CodeItem]] = {}
        self._made: dict[str, tuple[int, CodeLane]] = {}
        self._version = ""

    def lanes(self) -> list[CodeLane]:
        """All codes that may be seen."""
        coding = self._coding
        if self._version != coding.codebook.sha256:
            self._items.clear()
            self._made.clear()
            self._version = coding.codebook.sha256
        titles = {tier.name: tier.title for tier in coding.codebook.tiers}
        names = dict.fromkeys((*titles, *coding.marks.tiers))
        lanes = [self._lane(name, titles.get(name, name)) for name in names]
        for name, rater in coding.others.items():
            for tier in coding.codebook.tiers:
                marks = [mark for mark in rater.marks if mark.tier == tier.name]
                if marks:
                    items = _ordered(self._item(mark) for mark in marks)
                    lanes.append(CodeLane(tier.title, items, name))
        return lanes

    def _lane(self, tier: str, title: str) -> CodeLane:
        """The own codes of a tier."""
        version = self._coding.marks.version(tier)
        known = self._made.get(tier)
        if known is not None and known[0] == version:
            return known[1]
        lane = CodeLane(title, _ordered(map(self._item, self._coding.marks.of_tier(tier))))
        self._made[tier] = (version, lane)
        return lane

    def _item(self, mark: Mark) -> CodeItem:
        known = self._items.get(mark.id)
        if known is not None and known[0] is mark:
            return known[1]
        code = self._coding.codebook.code(mark.code)
        label = mark.code if code is None else code.name
        colour = "#57606A" if code is None else code.colour
        item = CodeItem(mark.t0_ns, mark.t1_ns, label, colour, mark.id, mark.memo)
        self._items[mark.id] = (mark, item)
        return item


def _ordered(items: Iterable[CodeItem]) -> list[CodeItem]:
    return sorted(items, key=lambda item: item.t0_ns)
