"""Who took part and who is analysed: the counts of a flow diagram as reports of trials print it
(CONSORT 2010), and its drawing.

Each person is counted once, however many sessions they came for: where several reasons keep them
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
class Flow:
    """How many people went which way. reasons: by reason, in words, how many are not analysed for
    it; cells: of those analysed, by cell of the factors between participants, empty where there is
    none."""

    began: int
    declined: int
    reasons: Mapping[str, int]
    analysed: int
    cells: Mapping[str, int]

    @property
    def recruited(self) -> int:
        return self.began - self.declined

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())


def flow_of(participants: pd.DataFrame, withdrawn: Sequence[TableSession] = ()) -> Flow:
    """The counts of one study; participants: its rows of that table, all sessions; withdrawn: its
    sessions of people who withdrew, which are in no table."""
    rows = records(participants)
    texts = (row.get(DECLARED.name) for row in rows)
    words = rule_names(text for text in texts if isinstance(text, str))
    known = [*FIRST, *(name for name in words if name not in (*FIRST, SESSIONS)), SESSIONS]
    counts: Counter[str] = Counter()
    cells: Counter[str] = Counter()
    states: Counter[str] = Counter()
    factors = [str(name) for name in participants if str(name).startswith(PREFIX)]
    for person in people_of(rows, withdrawn):
        states[person.state] += 1
        if person.state == "included":
            row = next(each.row for each in person.sessions if each.row is not None)
            levels = [str(row[name]) for name in factors if isinstance(row[name], str)]
            if levels:
                cells[", ".join(levels)] += 1
        elif person.state == "awaited":
            counts[AWAITED] += 1
        elif person.state != "declined":
            failed = list_failed_rules(person) or [UNSAID]
            counts[min(failed, key=known.index) if set(failed) <= set(known) else failed[0]] += 1
    order = [*known, AWAITED]
    listed = [*(name for name in order if counts[name]), *sorted(counts.keys() - set(order))]
    return Flow(
        states.total(),
        states["declined"],
        {_OTHERS.get(name) or words.get(name, name): counts[name] for name in listed},
        states["included"],
        dict(sorted(cells.items())),
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
    """The drawing of one study; None where nobody took part. name: of its files; withdrawn: see
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
        "numbers are of participants, excluding pilots.",
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

    main, side = 0.44 * width, 0.48 * width
    trunk = [[*lines(say("Participants who began"), main), f"n = {flow.began}"]]
    beside: list[list[str]] = []
    if flow.declined:
        beside.append([*lines(say("Did not agree to take part"), side), f"n = {flow.declined}"])
        trunk.append([*lines(say("Recruited"), main), f"n = {flow.recruited}"])
    if flow.left_out:
        told = [*lines(say("Not analysed"), side), f"n = {flow.left_out}"]
        for reason, n in flow.reasons.items():
            told += lines(f"{say(reason)}: {n}", side)
        beside.append(told)
    trunk.append([*lines(say("Analysed"), main), f"n = {flow.analysed}"])
    cells = list(flow.cells.items()) if len(flow.cells) <= MOST_CELLS else []
    across = min(len(cells), ACROSS if width > 6 else 2) or 1
    left = GUTTER_IN if len(cells) > across else 0.0  # a line goes down there to further rows
    wide = main if len(cells) == 1 else (width - left - 0.06 - (across - 1) * 0.1) / across
    boxes = [[*lines(cell, wide), f"n = {n}"] for cell, n in cells]
    rows = [boxes[at : at + across] for at in range(0, len(boxes), across)]

    def high(text: list[str]) -> float:
        return (len(text) + 0.9) * line

    height = 0.1 + sum(map(high, trunk))
    height += sum(max(gap, high(each) + 0.8 * line) for each in beside)
    height += gap * (len(trunk) - 1 - len(beside))
    height += sum(max(map(high, row)) + gap for row in rows)
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
        for row in rows:
            tall, split = max(map(high, row)), bottom + gap / 2
            lefts = [0.03 + left + place * (wide + 0.1) for place in range(len(row))]
            middles = [at + wide / 2 for at in lefts]
            _line(ax, begin, (begin[0], split))
            joined = [*middles, begin[0], *([left / 2] if left else [])]
            _line(ax, (min(joined), split), (max(joined), split))
            for at, centre, text in zip(lefts, middles, row, strict=True):
                _arrow(ax, (centre, split), (centre, bottom + gap))
                _box(ax, at, bottom + gap, wide, tall, text, points)
            begin, bottom = (left / 2, split), bottom + gap + tall
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
    """The table of participants, in which a session counts only where its participant does."""
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
