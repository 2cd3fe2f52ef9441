"""The report's section on who counts: retention, overall and by condition (paper 000, 5.2.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from labapp.analysis.inclusion import BY_HAND, RULES, rule_words, variables
from labapp.analysis.participation import flow_figure
from labapp.report.formats import count, decimal
from labapp.report.language import Verbatim
from labapp.report.listing import records
from labapp.report.page import Html, heading, paragraph, table, two_lines

Row = dict[str, Any]


def retention(participants: pd.DataFrame, study: str, anchor: str) -> Iterator[Html]:
    """Included of recruited sessions, beneath the flow of who took part; who did not agree to take
    part was not recruited. anchor: prefix of the page's ids."""
    everybody = records(participants)
    recruited = [row for row in everybody if row["outcome"] != "declined"]
    if not recruited:
        return
    yield heading(3, "Who counts", f"{anchor}-who")
    if (flow := flow_figure(participants, study)) is not None:
        yield flow.html(anchor)
    included = sum(row["included"] for row in recruited)
    yield paragraph(
        f"Included: {included} of {count(len(recruited), 'session')} "
        f"({_percent(recruited)} %). Metrics and questionnaires are of the included ones; "
        "the tables hold all, with the column included."
    )
    words = rule_words(row["declared"] for row in recruited if isinstance(row.get("declared"), str))
    if failed := _failed(recruited):
        yield table(
            ("Rule not met", "What that means", "Sessions"),
            [(Verbatim(name), words.get(name, Verbatim(name)), n) for name, n in failed.items()],
            numeric=(2,),
            caption="Of the sessions that do not count. One that does not meet several rules is in "
            "the row of each.",
        )
    if by_hand := [row for row in recruited if row["decided_by_hand"]]:
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
        in_groups = sum(len(rows) for rows in groups.values())
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
                    len(rows),
                    sum(row["included"] for row in rows),
                    _percent(rows),
                    Verbatim(", ".join(f"{rule} {n}" for rule, n in _failed(rows).items())),
                )
                for (name, value), rows in groups.items()
            ],
            numeric=(2, 3, 4),
            caption="A session with several drawn conditions is in the row of each." * several,
        )


def _decision(row: Row) -> tuple[object, ...]:
    """What was decided about a session by hand, and why."""
    rules = [rule for rule in _rules(row) if rule != BY_HAND]
    return (
        Verbatim(row["participant"]),
        Verbatim(row["session"]),
        row["decided_by_hand"],
        Verbatim(", ".join(rules)),
        Verbatim(row["decision_reason"] or ""),
    )


def _percent(rows: Sequence[Row]) -> str:
    return decimal(100 * sum(row["included"] for row in rows) / len(rows), 0)


def _failed(rows: Sequence[Row]) -> dict[str, int]:
    """How many sessions did not meet each rule, in the order of the rules."""
    counts = Counter(name for row in rows if not row["included"] for name in _rules(row))
    return {name: counts[name] for name in (*RULES, *sorted(counts.keys() - RULES)) if counts[name]}


def _rules(row: Row) -> list[str]:
    return row["excluded_because"].split(", ") if row["excluded_because"] else []


def _by_condition(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Sessions by variable and its value or drawn cell, by name."""
    result: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        for name, values in variables(json.loads(row["assignment"])):
            for value in values:
                result.setdefault((name, value), []).append(row)
    return dict(sorted(result.items(), key=lambda item: _natural(item[0])))


def _natural(key: tuple[str, str]) -> tuple[str, float, str]:
    """5 before 10, and words after numbers."""
    name, value = key
    try:
        return name, float(value), value
    except ValueError:
        return name, float("inf"), value
