"""A made session of any length for timelines: sound in memory, lanes, units and codes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.coding.annotations.model import Unit
from labapp.session.replay.lanes import Lane, LaneItem
from labapp.study.plan import PagesPart
from labapp.study.plugins.part import PlannedPart
from labapp.ui.replay.timeline_rows import CodeItem, CodeLane

MIN = 60 * NS
COLOURS = ("#3366CC", "#1B7F5C", "#7B4FB5", "#8A6D00", "#B35900", "#AA1F63")
NAMES = ("explore", "has a goal", "at random", "names a dial", "uncertain", "insight")
Peaks = tuple[NDArray[np.int16], NDArray[np.int16]]


class MemoryPeaks:
    """Sound that is made: an extreme every 10 ms, and coarser ones four to one above it."""

    step_ns = NS // 100

    def __init__(self, end_ns: int, units: list[Unit], seed: int = 1) -> None:
        draw = np.random.default_rng(seed)
        count = end_ns // self.step_ns + 1
        t_ns = np.arange(count) * self.step_ns
        heights = draw.uniform(0.002, 0.006, count)
        for unit in units:
            inside = slice(unit.t0_ns // self.step_ns, unit.t1_ns // self.step_ns)
            s = t_ns[inside] / NS
            syllables = 0.5 + 0.5 * np.sin(2 * np.pi * 1.1 * s) * np.sin(2 * np.pi * 0.31 * s)
            heights[inside] = 0.35 * syllables * draw.uniform(0.6, 1.0, s.size)
        levels = [(heights * 32767).astype(np.int16)]
        while levels[-1].size > 2000:
            last = levels[-1]
            levels.append(np.maximum.reduceat(last, np.arange(0, last.size, 4)))
        self._levels = levels
        self.asked = 0

    def between(self, t0_ns: int, t1_ns: int, columns: int) -> Peaks:
        self.asked += columns
        edges = np.linspace(t0_ns, t1_ns, columns + 1) / self.step_ns
        level = 0
        while level + 1 < len(self._levels) and (edges[1] - edges[0]) > 4 ** (level + 1):
            level += 1
        heights = self._levels[level]
        at = np.clip((edges / 4**level).astype(np.int64), 0, heights.size - 1)
        ends = np.maximum(at[1:], at[:-1] + 1)
        high = np.maximum.reduceat(
            heights, np.c_[at[:-1], np.minimum(ends, heights.size - 1)].ravel()
        )
        return (-(0.9 * high[::2])).astype(np.int16), high[::2]


def made_units(end_ns: int, seed: int = 2) -> list[Unit]:
    """Speech of 1 to 6 s with rests between; now and then the moderator's."""
    draw = np.random.default_rng(seed)
    units, at = [], 2 * NS
    while at < end_ns - 10 * NS:
        length = int(draw.uniform(1, 6) * NS)
        speaker = "moderator" if draw.random() < 0.08 else "participant"
        units.append(Unit(f"u{len(units)}", at, at + length, speaker))  # type: ignore[arg-type]
        at += length + int(draw.uniform(0.4, 4) * NS)
    return units


def made_codes(units: list[Unit], count: int, seed: int = 3) -> list[CodeLane]:
    """So many codes: on units, on free stretches that overlap, points, and another rater's."""
    draw = np.random.default_rng(seed)
    end_ns = units[-1].t1_ns
    on_units = [_code(u.t0_ns, u.t1_ns, i % 4) for i, u in enumerate(units) if i % 5]
    rest = max(0, count - 2 * len(on_units))
    begins = np.sort(draw.integers(0, end_ns - 10 * NS, rest))
    lengths = (draw.exponential(3, rest) * NS).astype(np.int64)
    free = [
        _code(int(t0), int(t0) + (0 if i % 3 == 0 else int(length)), 4 + i % 2)
        for i, (t0, length) in enumerate(zip(begins, lengths, strict=True))
    ]
    return [
        CodeLane("Strategy", on_units),
        CodeLane("Affect", free),
        CodeLane("Strategy", on_units, rater="ben"),
    ]


def _code(t0_ns: int, t1_ns: int, kind: int) -> CodeItem:
    return CodeItem(t0_ns, t1_ns, NAMES[kind], COLOURS[kind], f"m{t0_ns}")


def made_parts() -> dict[str, PlannedPart]:
    """The parts of its plan."""
    titles = ("Consent", "Tutorial", "Stage 1", "Stage 2")
    return {
        f"p{i}": PagesPart(part="text", id=f"p{i}", title=title, document="d")
        for i, title in enumerate(titles)
    }


def made_lanes(end_ns: int, moves: int = 20_000, seed: int = 4) -> list[Lane]:
    """Parts with trials, moves, an alignment, marks of the moderator, a pause and lost sound."""
    draw = np.random.default_rng(seed)
    tutorial, stage = end_ns // 20, end_ns // 8
    half = (stage + end_ns) // 2
    cuts = np.linspace(stage, end_ns, 41).astype(np.int64).tolist()
    trials = [
        LaneItem("trial", a, b - NS, "", "p2" if a < half else "p3", 1 + i % 20, "solved", i)
        for i, (a, b) in enumerate(pairwise(cuts))
    ]
    parts = [
        LaneItem("part", a, b, "", f"p{i}", outcome="completed")
        for i, (a, b) in enumerate(
            ((0, tutorial), (tutorial, stage), (stage, half), (half, end_ns))
        )
    ]
    times = np.sort(draw.integers(stage, end_ns, moves))
    dials = (np.sin(times / (7 * NS)) * 2.49 + 2.5).astype(np.float32) // 1
    share = np.clip((times - stage) % (cuts[1] - cuts[0]) / (cuts[1] - cuts[0]), 0, 1)
    value = np.clip(share + draw.normal(0, 0.03, moves), 0, 1).astype(np.float32)
    value[np.r_[np.diff(share) < 0, True]] = np.nan
    lost = stage + 40 * NS
    return [
        Lane(
            "sound",
            "spans",
            (
                LaneItem("recorded", 0, end_ns),
                LaneItem("lost", lost, lost + 4 * NS, "overflow"),
                LaneItem("silent", lost + 10 * NS, lost + 14 * NS),
            ),
        ),
        Lane(
            "pauses",
            "spans",
            (
                LaneItem(
                    "pause", lost + 25 * NS, lost + 33 * NS, payload={"reason": "technical problem"}
                ),
            ),
        ),
        Lane("screen", "spans", tuple(sorted([*parts, *trials], key=lambda i: i.t0_ns))),
        Lane("dials", "moves", (), times, dials),
        Lane("alignment", "curve", (), times, value),
        Lane("prompts", "points", _points("prompt.given", "Please keep talking", lost - 20 * NS)),
        Lane(
            "flags",
            "points",
            tuple(
                LaneItem("flag.added", t, t, "insight", payload={"number": 1})
                for t in (lost + 7 * NS, lost + 55 * NS)
            ),
        ),
        Lane(
            "notes",
            "points",
            _points("note.added", "Says that the third dial does nothing", lost + 16 * NS),
        ),
        Lane("alarms", "points", _points("skip.taken_back", "", lost + 2 * NS)),
    ]


def _points(kind: str, text: str, t_ns: int) -> tuple[LaneItem, ...]:
    return (LaneItem(kind, t_ns, t_ns, text),)
