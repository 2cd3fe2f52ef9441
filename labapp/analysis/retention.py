"""The report's section on who counts: retention, overall and by condition (paper 000, 5.2.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from labapp.analysis.inclusion import BY_HAND, RULES, rule_words, variables
from labapp.analysis.participation import flow_figure
from labapp.analysis.people import TablePerson, TableSession, failed_of, people_of
from labapp.naming import natural
from labapp.report.formats import count, decimal
from labapp.report.language import Verbatim
from labapp.report.listing import records
from labapp.report.page import Html, heading, paragraph, table, two_lines

Row = dict[str, Any]


def retention(
    participants: pd.DataFrame, study: str, anchor: str, withdrawn: Sequence[TableSession] = ()
) -> Iterator[Html]:
    """Included of recruited people, beneath the flow of who took part; who did not agree to take
    part was not recruited. anchor: prefix of the page's ids; withdrawn: see `flow_of`."""
    rows = records(participants)
    everybody = people_of(rows, withdrawn)
    recruited = [person for person in everybody if person.state != "declined"]
    if not recruited:
        return
    yield heading(3, "Who counts", f"{anchor}-who")
    if (flow := flow_figure(participants, study, withdrawn=withdrawn)) is not None:
        yield flow.html(anchor)
    yield paragraph(
        f"Included: {_included(recruited)} of {count(len(recruited), 'participant')} "
        f"({_percent(recruited)} %). Metrics and questionnaires are of the included ones; "
        "the tables hold all, with the column included."
    )
    if gone := sum(all(each.row is None for each in person.sessions) for person in recruited):
        yield paragraph(
            f"Withdrew and counted here, but in no table: {count(gone, 'participant')}.", "quiet"
        )
    words = rule_words(row["declared"] for row in rows if isinstance(row.get("declared"), str))
    if failed := _failed(recruited):
        yield table(
            ("Rule not met", "What that means", "Participants"),
            [(Verbatim(name), words.get(name, Verbatim(name)), n) for name, n in failed.items()],
            numeric=(2,),
            caption="Of the participants who do not count. One who does not meet several rules is "
            "in the row of each.",
        )
    if by_hand := [row for row in rows if row["decided_by_hand"]]:
        yield table(
            ("Participant", "Session", "Decided by hand", "Rules not met", "Reason"),
            [_decision(row) for row in by_hand],
            caption="A decision stands over the rules.",
        )
    if len(recruited) < len(everybody):
        declined = len(everybody) - len(recruited)
        yield paragraph(f"Did not agree to take part and are not counted: {declined}.", "quiet")
    groups = _by_condition(recruited)
    if groups:
        in_groups = sum(map(len, groups.values()))
        several = in_groups > len(recruited) * len({name for name, _ in groups})
        yield table(
            (
                "Variable",
                "Condition",
                "Recruited",
                "Included",
                two_lines("Retention", "%"),
                "Not included because",
            ),
            [
                (
                    name,
                    value,
                    len(some),
                    _included(some),
                    _percent(some),
                    Verbatim(", ".join(f"{rule} {n}" for rule, n in _failed(some).items())),
                )
                for (name, value), some in groups.items()
            ],
            numeric=(2, 3, 4),
            caption="Somebody with several drawn conditions is in the row of each." * several,
        )


def _decision(row: Row) -> tuple[object, ...]:
    """What was decided about a session by hand, and why."""
    failed = str(row["excluded_because"] or "").split(", ")
    rules = [rule for rule in failed if rule and rule != BY_HAND]
    return (
        Verbatim(row["participant"]),
        Verbatim(row["session"]),
        row["decided_by_hand"],
        Verbatim(", ".join(rules)),
        Verbatim(row["decision_reason"] or ""),
    )


def _included(some: Sequence[TablePerson]) -> int:
    return sum(person.state == "included" for person in some)


def _percent(some: Sequence[TablePerson]) -> str:
    return decimal(100 * _included(some) / len(some), 0)


def _failed(some: Sequence[TablePerson]) -> dict[str, int]:
    """How many people did not meet each rule, in the order of the rules."""
    out = (person for person in some if person.state != "included")
    counts = Counter(name for person in out for name in failed_of(person))
    return {name: counts[name] for name in (*RULES, *sorted(counts.keys() - RULES)) if counts[name]}


def _by_condition(some: Sequence[TablePerson]) -> dict[tuple[str, str], list[TablePerson]]:
    """People by variable and its value or drawn cell, by name; who withdrew, by the place they
    had."""
    result: dict[tuple[str, str], list[TablePerson]] = {}
    gone = []
    for person in some:
        row = next((each.row for each in person.sessions if each.row is not None), None)
        if row is None:
            gone.append(person)
            continue
        for name, values in variables(json.loads(row["assignment"])):
            for value in values:
                result.setdefault((name, value), []).append(person)
    for person in gone:
        had = {piece for each in person.sessions for cell in each.cells for piece in _pieces(cell)}
        for (name, value), those in result.items():
            if had & {value, f"{name}: {value}"}:
                those.append(person)
    return dict(sorted(result.items(), key=lambda item: tuple(map(natural, item[0]))))


def _pieces(cell: str) -> list[str]:
    """The levels of a cell, `hint: with`, or the cell itself."""
    return [cell, *cell.split(" #")[0].split(", ")]
