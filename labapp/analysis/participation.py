"""Who took part and who is analysed: the counts of a flow diagram as reports of trials print it
(CONSORT 2010), and its drawing.

Each person is counted once, however many sessions they came for: if several reasons keep them
out, under the first of them in the order of `flow_of`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import pandas as pd

from labapp.analysis.declared import DECLARED, PREFIX, read_declared
from labapp.analysis.inclusion import BY_HAND, SESSIONS, WITHDRAWN
from labapp.analysis.wording import rule_names
from labapp.base.report.listing import records
from labapp.study.people import Person, SessionState, Visits, people

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from labapp.base.report.drawing import ReportFigure

AWAITED = "awaited"
"""Why somebody is not analysed who has not had all sessions yet."""
UNSAID = ""
"""Why a session does not count that names no rule."""
FIRST = (WITHDRAWN, "completed", BY_HAND)
"""Reasons before all others; then those that every study has, then the study's own."""
MOST_CELLS, ACROSS, GUTTER_IN = 12, 4, 0.16
"""So many cells have a box of their own, and so many stand beside each other; inches at the left
for the line to further rows of them."""
_OTHERS = {AWAITED: "Sessions still to come", UNSAID: "No reason was recorded"}


@dataclass(frozen=True)
class Arm:
    """The people who were assigned to one cell of the factors between participants. reasons: see
    `Flow`."""

    reasons: Mapping[str, int]
    analysed: int

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())

    @property
    def assigned(self) -> int:
        return self.left_out + self.analysed


@dataclass(frozen=True)
class Flow:
    """How many people went which way. reasons: by reason, in words, how many are not analysed for
    it; arms: by cell of the factors between participants those whose cell is known, empty if
    there is none."""

    began: int
    declined: int
    reasons: Mapping[str, int]
    analysed: int
    arms: Mapping[str, Arm]

    @property
    def recruited(self) -> int:
        return self.began - self.declined

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())

    @property
    def unassigned(self) -> Mapping[str, int]:
        """Of those who are not analysed, who are in no arm."""
        return Counter(self.reasons) - sum(
            (Counter(arm.reasons) for arm in self.arms.values()), Counter()
        )


def flow_of(participants: pd.DataFrame, withdrawn: Sequence[TableSession] = ()) -> Flow:
    """The counts of one study; participants: its rows of that table, all sessions; withdrawn: its
    sessions of people who withdrew, which are in no table."""
    rows = records(participants)
    texts = (row.get(DECLARED.name) for row in rows)
    words = rule_names(text for text in texts if isinstance(text, str))
    known = [*FIRST, *(name for name in words if name not in (*FIRST, SESSIONS)), SESSIONS]
    counts: Counter[tuple[str, str]] = Counter()  # by cell and reason
    analysed: Counter[str] = Counter()
    states: Counter[str] = Counter()
    factors = [str(name) for name in participants if str(name).startswith(PREFIX)]
    for person in people_of(rows, withdrawn):
        states[person.state] += 1
        # Of people who withdrew, copies do not know the cell.
        known_rows = (each.row for each in person.sessions if person.state != "withdrawn")
        row = next(filter(None, known_rows), {})
        levels = (row.get(name) for name in factors)
        cell = ", ".join(level for level in levels if isinstance(level, str))
        if person.state == "included":
            analysed[cell] += 1
        elif person.state == "awaited":
            counts[cell, AWAITED] += 1
        elif person.state != "declined":
            failed = list_failed_rules(person) or [UNSAID]
            why = min(failed, key=known.index) if set(failed) <= set(known) else failed[0]
            counts[cell, why] += 1
    met = {why for _, why in counts}
    order = [*known, AWAITED]
    listed = [*(name for name in order if name in met), *sorted(met - set(order))]

    def told(cells: Iterable[str]) -> dict[str, int]:
        sums = {name: sum(counts[cell, name] for cell in cells) for name in listed}
        return {_OTHERS.get(name) or words.get(name, name): n for name, n in sums.items() if n}

    cells = sorted({*analysed, *(cell for cell, _ in counts)})
    return Flow(
        states.total(),
        states["declined"],
        told(cells),
        states["included"],
        {cell: Arm(told([cell]), analysed[cell]) for cell in cells if cell},
    )


def flow_figures(
    participants: pd.DataFrame, withdrawn: Sequence[TableSession] = ()
) -> Iterator[ReportFigure]:
    """The drawing of each study; participants: that table, all sessions; withdrawn: see `flow_of`,
    of all studies."""
    studies = [str(study) for study in sorted(participants["study"].unique())]
    for study in studies:
        name = "flow" if len(studies) == 1 else f"flow-{study}"
        left = [each for each in withdrawn if each.study == study]
        figure = flow_figure(participants[participants["study"] == study], study, name, left)
        if figure is not None:
            yield figure


def flow_figure(
    participants: pd.DataFrame,
    study: str,
    name: str = "flow",
    withdrawn: Sequence[TableSession] = (),
) -> ReportFigure | None:
    """The drawing of one study; None if nobody took part. name: of its files; withdrawn: see
    `flow_of`."""
    from labapp.base.report.drawing import ReportFigure  # matplotlib is slow to load

    flow = flow_of(participants, withdrawn)
    if not flow.began:
        return None
    figure = _draw_flow(flow)
    figure.set_label(f"Flow of participants of {study}")
    return ReportFigure(
        name,
        figure,
        f"Flow of participants: began {flow.began}, recruited {flow.recruited}, "
        f"not analysed {flow.left_out}, analysed {flow.analysed}",
        "People who are not analysed are counted once, under the first reason that applies. The "
        "numbers count participants, excluding pilots.",
    )


def _draw_flow(flow: Flow) -> Figure:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from labapp.base.figure_style import figure_width, points_of, style
    from labapp.base.report.page import say

    width, points = figure_width(), points_of(9)
    line = points * 1.35 / 72
    gap = 2.2 * line

    def lines(text: str, wide: float) -> list[str]:
        return wrap(text, max(8, int(wide * 72 / (points * 0.56)) - 2)) or [""]

    def count(text: str, n: int, wide: float) -> list[str]:
        return lines(f"{say(text)}: n = {n}", wide)

    def left_out(reasons: Mapping[str, int], wide: float, what: str = "Not analysed") -> list[str]:
        told = count(what, sum(reasons.values()), wide)
        for reason, n in reasons.items():
            told += lines(f"{say(reason)}:\u00a0{n}", wide)
        return told

    main, side = 0.44 * width, 0.48 * width
    arms = list(flow.arms.items()) if len(flow.arms) <= MOST_CELLS else []
    trunk = [count("Participants who began", flow.began, main)]
    beside: list[list[str]] = []
    if flow.declined:
        beside.append(count("Did not agree to take part", flow.declined, side))
    if arms:
        told = count("Randomised", flow.recruited, main)
        if flow.unassigned:
            told += left_out(flow.unassigned, main, "Not analysed, condition unknown")
        trunk.append(told)
    else:
        if flow.declined:
            trunk.append(count("Recruited", flow.recruited, main))
        if flow.left_out:
            beside.append(left_out(flow.reasons, side))
        trunk.append(count("Analysed", flow.analysed, main))
    across = min(len(arms), ACROSS if width > 6 else 2) or 1
    left = GUTTER_IN if len(arms) > across else 0.0  # a line goes down there to further rows
    wide = main if len(arms) == 1 else (width - left - 0.06 - (across - 1) * 0.1) / across
    excluded = any(arm.left_out for _, arm in arms)
    boxes = [
        [
            [*lines(say(cell), wide), *count("Assigned", arm.assigned, wide)],
            *([left_out(arm.reasons, wide)] if excluded else []),
            count("Analysed", arm.analysed, wide),
        ]
        for cell, arm in arms
    ]
    rows = [boxes[at : at + across] for at in range(0, len(boxes), across)]

    def high(text: list[str]) -> float:
        return (len(text) + 0.9) * line

    height = 0.1 + sum(map(high, trunk))
    height += sum(max(gap, high(each) + 0.8 * line) for each in beside)
    height += gap * (len(trunk) - 1 - len(beside))
    talls = [[max(map(high, same)) for same in zip(*row, strict=True)] for row in rows]
    height += sum(sum(heights) + gap * len(heights) for heights in talls)
    with mpl.rc_context(style()):
        figure = Figure(figsize=(width, height))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set(xlim=(0, width), ylim=(height, 0))
        ax.axis("off")
        middle, top = main / 2 + 0.03, 0.05
        for number, text in enumerate(trunk):
            _box(ax, 0.03, top, main, high(text), text, points)
            bottom = top + high(text)
            if number == len(trunk) - 1:
                break
            step = max(gap, high(beside[number]) + 0.8 * line) if number < len(beside) else gap
            _arrow(ax, (middle, bottom), (middle, bottom + step))
            if number < len(beside):
                at = bottom + step / 2
                tall = high(beside[number])
                _arrow(ax, (middle, at), (width - side - 0.03, at))
                _box(ax, width - side - 0.03, at - tall / 2, side, tall, beside[number], points)
            top = bottom + step
        begin = (middle, bottom)
        for row, heights in zip(rows, talls, strict=True):
            split = bottom + gap / 2
            lefts = [0.03 + left + place * (wide + 0.1) for place in range(len(row))]
            middles = [at + wide / 2 for at in lefts]
            _line(ax, begin, (begin[0], split))
            joined = [*middles, begin[0], *([left / 2] if left else [])]
            _line(ax, (min(joined), split), (max(joined), split))
            begin = (left / 2, split)
            for at, centre, stacked in zip(lefts, middles, row, strict=True):
                above, top = split, bottom + gap
                for text, room in zip(stacked, heights, strict=True):
                    _arrow(ax, (centre, above), (centre, top))
                    _box(ax, at, top, wide, room, text, points)
                    above = top + room
                    top = above + gap
            bottom += sum(heights) + gap * len(heights)
    return figure


def _box(
    ax: Axes, left: float, top: float, wide: float, tall: float, text: list[str], points: float
) -> None:
    from matplotlib.patches import Rectangle

    from labapp.base.figure_style import SECONDARY
    from labapp.base.report.drawing import SAID

    ax.add_patch(Rectangle((left, top), wide, tall, fill=False, edgecolor=SECONDARY, linewidth=0.8))
    ax.text(
        left + 0.5 * points / 72,
        top + tall / 2,
        "\n".join(text),
        fontsize=points,
        verticalalignment="center",
        linespacing=1.25,
        label=SAID,
    )


def _arrow(ax: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    from labapp.base.figure_style import SECONDARY

    look = {"arrowstyle": "-|>", "color": SECONDARY, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, begin, arrowprops=look)


def _line(ax: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    from labapp.base.figure_style import SECONDARY

    ax.plot(*zip(begin, end, strict=True), color=SECONDARY, linewidth=0.8)


@dataclass(frozen=True, slots=True)
class TableSession:
    """A session as the table of participants has it, or as a withdrawal names it, of which there is
    no row. cells: the places that were freed."""

    participant: str
    session: str
    state: SessionState
    row: Mapping[str, Any] | None = None
    study: str = ""
    cells: tuple[str, ...] = ()

    @property
    def failed(self) -> list[str]:
        """The rules for which it does not count."""
        if self.row is None:
            return [WITHDRAWN]
        return [name for name in str(self.row["excluded_because"] or "").split(", ") if name]


TablePerson = Person[TableSession]


def state_of(row: Mapping[str, Any]) -> SessionState:
    """What became of a session, by its own."""
    failed = str(row["excluded_because"] or "").split(", ")
    if row["outcome"] == "declined":
        return "declined"
    if WITHDRAWN in failed:
        return "withdrawn"
    if row["included"] or SESSIONS in failed:  # which holds of what would count by itself
        return "included"
    if BY_HAND in failed or row["outcome"] == "completed":
        return "excluded"
    return "open" if row["outcome"] == "unfinished" else "ended"


def people_of(
    rows: Sequence[Mapping[str, Any]], withdrawn: Iterable[TableSession] = ()
) -> list[TablePerson]:
    """The people of one study. rows: of its table of participants; withdrawn: sessions that are in
    no table."""
    latest = max(rows, key=_version, default={})
    text = latest.get(DECLARED.name)
    visits = Visits.of(read_declared(text).design if isinstance(text, str) else None)
    there = sorted(rows, key=lambda row: str(row.get("started_utc") or ""))
    sessions = [
        TableSession(str(row["participant"]), str(row.get("session", "1")), state_of(row), row)
        for row in there
    ]
    return people([*sessions, *withdrawn], visits)


def list_failed_rules(person: TablePerson) -> list[str]:
    """The rules for which a person does not count, each once."""
    return list(dict.fromkeys(name for each in person.sessions for name in each.failed))


def _version(row: Mapping[str, Any]) -> tuple[int, str]:
    version = row.get("study_version")
    return (0 if version is None else int(version), str(row.get("started_utc") or ""))


def mark_counted_people(participants: pd.DataFrame) -> pd.DataFrame:
    """The table of participants, in which a session counts only if its participant does."""
    included = list(participants["included"])
    because = list(participants["excluded_because"])
    keys = (map(str, participants[key]) for key in ("study", "participant", "session"))
    places = {who: at for at, who in enumerate(zip(*keys, strict=True))}
    for _, own in participants.groupby("study", sort=False):
        for person in people_of(records(own)):
            if person.state == "included":
                continue
            why = WITHDRAWN if person.state == "withdrawn" else SESSIONS
            for session in person.sessions:
                if session.row is not None and session.state == "included":
                    at = places[str(session.row["study"]), person.participant, session.session]
                    included[at] = False
                    because[at] = ", ".join([*session.failed, why])
    given = {"included": included, "excluded_because": because}
    kinds = participants.dtypes
    return participants.assign(
        **{name: pd.Series(of, participants.index, kinds[name]) for name, of in given.items()}
    )


def out_of_order(participants: pd.DataFrame) -> list[dict[str, Any]]:
    """A deviation for each session that was held before an earlier one of its study."""
    out = []
    for study, own in participants.groupby("study", sort=False):
        for person in people_of(records(own)):
            had: list[str] = []
            for each in person.sessions:
                if skipped := person.visits.skipped(each.session, had):
                    who = {"study": study, "participant": person.participant}
                    detail = f"before session {', '.join(skipped)}"
                    out.append(
                        {**who, "session": each.session, "kind": "session_order", "session_s": 0.0}
                        | {"detail": detail}
                    )
                had.append(each.session)
    return out
