"""The report's section on who counts: retention, overall and by condition (paper 000, 5.2.2).

The report's section on recruitment: who stayed, how long it took, what an hour was paid, and who
took part, beside what a paper prints of it.

The paper's values stand there where the study file says which published study it repeats
(`replicates`), and nowhere else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from labapp.analysis.declared import read_declared
from labapp.analysis.inclusion import BY_HAND, RULES, variables
from labapp.analysis.participation import (
    TablePerson,
    TableSession,
    flow_figure,
    list_failed_rules,
    people_of,
)
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import PrintedValue, Profile, profiles
from labapp.analysis.wording import list_rules, meanings_of_rules, rule_names
from labapp.base.naming import natural
from labapp.base.report.labels import labelled
from labapp.base.report.listing import NONE, records, sentence
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    decimal,
    heading,
    paragraph,
    table,
    two_lines,
)
from labapp.study.design import Declared
from labapp.study.when import names

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
    yield heading(3, "Inclusion", f"{anchor}-who")
    if (flow := flow_figure(participants, study, withdrawn=withdrawn)) is not None:
        yield flow.html(anchor)
    yield paragraph(
        f"Included: {_count_included(recruited)} of {count(len(recruited), 'participant')} "
        f"({_percent(recruited)} %). Metrics and questionnaires are for the included sessions; "
        "the tables contain all sessions, with the column included."
    )
    if gone := sum(all(each.row is None for each in person.sessions) for person in recruited):
        yield paragraph(
            f"Withdrew (counted here, but not in any table): {count(gone, 'participant')}.", "quiet"
        )
    declared = [row["declared"] for row in rows if isinstance(row.get("declared"), str)]
    words = rule_names(declared)
    meanings = meanings_of_rules(declared)
    if failed := _count_failed(recruited):
        yield table(
            ("Rule not met", "What that means", "Participants"),
            [
                (Verbatim(words.get(name, name)), meanings.get(name) or NONE, n)
                for name, n in failed.items()
            ],
            numeric=(2,),
            caption="These participants were excluded. Those who broke several rules appear "
            "in several rows.",
        )
    for rule, factors in _rules_by_condition(rows).items():
        told = sentence(
            "flow.differential", rule=words.get(rule, rule), factors=list(map(labelled, factors)),
            excluded=rule in failed,
        )  # fmt: skip
        yield paragraph(told, "note")
    if by_hand := [row for row in rows if row["decided_by_hand"]]:
        yield table(
            ("Participant", "Session", "Decided by hand", "Rules not met", "Reason"),
            [_decision(row, words) for row in by_hand],
            caption="A decision overrides the rules.",
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
                    _count_included(some),
                    _percent(some),
                    Verbatim(
                        "; ".join(
                            f"{words.get(rule, rule)}: {n}"
                            for rule, n in _count_failed(some).items()
                        )
                    ),
                )
                for (name, value), some in groups.items()
            ],
            numeric=(2, 3, 4),
            caption="People who were assigned several conditions appear in several rows." * several,
        )


def _rules_by_condition(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The study's rules of exclusion that depend on factors between participants, with these."""
    rules: dict[str, list[str]] = {}
    for text in dict.fromkeys(row.get("declared") for row in rows):
        declared = read_declared(text) if isinstance(text, str) else Declared()
        factors = {} if declared.design is None else declared.design.between
        for name, rule in declared.exclude.items():
            if own := [at for at in (*names(rule.only_if), *names(rule.when)) if at in factors]:
                rules[name] = list(dict.fromkeys(own))
    return rules


def _decision(row: Row, words: Mapping[str, str]) -> tuple[object, ...]:
    """What was decided about a session by hand, and why. words: what rules are called."""
    failed = str(row["excluded_because"] or "").split(", ")
    rules = ", ".join(rule for rule in failed if rule != BY_HAND)
    return (
        Verbatim(row["participant"]),
        Verbatim(row["session"]),
        row["decided_by_hand"],
        list_rules(rules, words),
        Verbatim(row["decision_reason"] or ""),
    )


def _count_included(some: Sequence[TablePerson]) -> int:
    return sum(person.state == "included" for person in some)


def _percent(some: Sequence[TablePerson]) -> str:
    return decimal(100 * _count_included(some) / len(some), 0)


def _count_failed(some: Sequence[TablePerson]) -> dict[str, int]:
    """How many people did not meet each rule, in the order of the rules."""
    out = (person for person in some if person.state != "included")
    counts = Counter(name for person in out for name in list_failed_rules(person))
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
        had = {
            piece
            for each in person.sessions
            for cell in each.cells
            for piece in [cell, *cell.split(" #")[0].split(", ")]
        }
        for (name, value), those in result.items():
            if had & {value, f"{name}: {value}"}:
                those.append(person)
    return dict(sorted(result.items(), key=lambda item: tuple(map(natural, item[0]))))


Printed = Sequence[PrintedValue]
PERCENTILES = ((80, "percentile_80"), (95, "percentile_95"))


def recruitment(tables: Tables) -> Iterator[Html]:
    """Everything on recruitment of one study; tables: its rows, all sessions."""
    sessions = tables.participants
    recruited = sessions[sessions["outcome"] != "declined"]
    included = recruited[recruited["included"]]
    of, printed = find_printed(sessions)
    if len(recruited):
        yield from _show_retention(recruited, printed, of.published_name, tables.withdrawn)
    if len(included):
        yield from _show_durations(included, printed)
        yield from _people(tables.answers, included, printed)
    for source, note in dict.fromkeys((row.source, row.note) for row in printed if row.note):
        yield paragraph(f"About the paper's values ({source}): {note}.", "quiet")


def find_printed(sessions: pd.DataFrame) -> tuple[Profile[Any], Printed]:
    """What a paper prints of the recruitment of the study that these sessions repeat, and who knows
    it; nothing if they repeat several."""
    repeated = sessions[["replicates_paper", "replicates_study"]].dropna().drop_duplicates()
    if len(repeated) == 1:
        paper, study = (str(cell) for cell in repeated.iloc[0])
        for profile in profiles():
            if values := profile.printed(paper, study):
                return profile, values
    return Profile(), ()


def _show_retention(
    recruited: pd.DataFrame,
    printed: Printed,
    published_name: Callable[[str], str],
    withdrawn: Sequence[TableSession],
) -> Iterator[Html]:
    """Retention by what sessions were of: their task and, if each saw one model, the model. Of
    people whose data were deleted the model is not known, and the task if there is only one."""
    one_task = recruited["tasks"].nunique() == 1
    rows: list[tuple[object, ...]] = []
    for task, some in recruited.groupby("tasks", sort=True):
        name = str(task)
        rate = _format_printed_share(printed, "retention", name, "")
        rows.append(_make_retention_row(name or NONE, some, rate, withdrawn if one_task else ()))
        models = some["models"].dropna()
        if models.str.contains(", ").any() or models.nunique() < 2:
            continue
        for model, own in some.groupby("models", sort=True):
            text = _format_printed_share(printed, "retention", name, published_name(str(model)))
            rows.append(_make_retention_row(f"{task}, {model}", own, text))
    if any(row[-1] != NONE for row in rows) or len(rows) > 1:
        yield heading(3, "Retention by task")
        yield _beside(
            ("Task", "Recruited", "Included", two_lines("Retention", "%")),
            rows,
            "Included, out of all.",
        )


def _make_retention_row(
    name: str, some: pd.DataFrame, text: str, withdrawn: Sequence[TableSession] = ()
) -> tuple[object, ...]:
    everybody = people_of(records(some), withdrawn)
    return name, len(everybody), _count_included(everybody), _percent(everybody), text


def _format_printed_share(printed: Printed, quantity: str, task: str, model: str) -> str:
    """The share that the paper prints, in percent."""
    for row in printed:
        if (row.quantity, row.measure, row.task, row.model) == (quantity, "share", task, model):
            return decimal(100 * (row.value or 0.0), 0)
    return NONE


def _show_durations(included: pd.DataFrame, printed: Printed) -> Iterator[Html]:
    """How long the sessions took that count, and what that makes an hour."""
    rows: list[tuple[object, ...]] = []
    compared = any(row.quantity in _TIMES for row in printed)
    for task, some in included.groupby("tasks", sort=True):
        minutes = some["duration_s"].to_numpy(dtype=float) / 60
        pay = some["payment_total"].dropna().to_numpy(dtype=float)
        currencies = some["payment_currency"].dropna().unique()
        earned = float(pay.mean()) if pay.size and len(currencies) == 1 else None
        points = [(float(minutes.mean()), "average")]
        points += [(float(np.percentile(minutes, q)), name) for q, name in PERCENTILES]
        cells: list[object] = [str(task) or NONE, minutes.size]
        for value, measure in points:
            ours = decimal(value, 1)
            if earned is not None and value > 0:
                ours += f" ({currencies[0]}{decimal(60 * earned / value, 2)} an hour)"
            paper = _format_printed_time(printed, str(task), measure)
            cells.append(two_lines(ours, paper) if compared else ours)
        rows.append(tuple(cells))
    paid = bool(included["payment_total"].notna().any()) or compared
    yield heading(3, "Duration and pay" if paid else "Duration")
    names = ("Mean", "80th percentile", "95th percentile")
    yield table(
        (
            "Task",
            two_lines("Sessions", "n"),
            *(two_lines(name, "min; the paper" if compared else "min") for name in names),
        ),
        rows,
        numeric=range(1, 2 + len(names)),
        caption="Working time of the sessions analysed, excluding pauses, and the resulting hourly "
        "pay (based on the mean payment)."
        if paid
        else "Working time of the sessions analysed, excluding pauses.",
    )


def _format_printed_time(printed: Printed, task: str, measure: str) -> str:
    said = {
        row.quantity: row.printed
        for row in printed
        if row.measure == measure and row.task in (task, "")
    }
    return (
        ", ".join(form.format(said[name]) for name, form in _TIMES.items() if name in said) or NONE
    )


_TIMES = {"duration": "{} min", "pay_per_hour": "${} an hour"}


def _people(answers: pd.DataFrame, included: pd.DataFrame, printed: Printed) -> Iterator[Html]:
    """What the paper says of who took part, beside the same shares here."""
    statements = [row for row in printed if ":" in row.quantity]
    known = included[~included["deidentified"]]
    whose = set(zip(known["participant"], known["session"], strict=True))
    given = answers[answers["submitted"] & answers["about_person"].fillna(value=False)]
    there = [who in whose for who in zip(given["participant"], given["session"], strict=True)]
    given = given[there]
    if not statements or given.empty:
        return
    rows: list[tuple[object, ...]] = []
    for row in statements:
        item, _, options = row.quantity.partition(":")
        chosen = given[given["item"] == item]["value_text"].dropna().str.split(";")
        wanted = set(options.split("+"))
        n = sum(not wanted.isdisjoint(of_one) for of_one in chosen)
        ours = f"{decimal(100 * n / len(chosen), 0)}" if len(chosen) else NONE
        text = options.replace("_", " ").replace("+", " or ")
        rows.append((f"{item}: {text}", n, len(chosen), ours, decimal(100 * (row.value or 0), 0)))
    yield heading(3, "Who took part, compared with the paper")
    yield _beside(
        ("Answer", two_lines("Chosen", "n"), two_lines("Answered", "n"), two_lines("Here", "%")),
        rows,
        "These are the people who answered, in sessions that count and are not de-identified.",
    )


def _beside(names: Sequence[object], rows: Sequence[Sequence[object]], caption: str) -> Html:
    """A table whose last column is the paper's, in percent, if that says anything."""
    if all(row[-1] == NONE for row in rows):
        return table(
            names, [row[:-1] for row in rows], numeric=range(1, len(names)), caption=caption
        )
    wide = (*names, two_lines("Paper", "%"))
    return table(wide, rows, numeric=range(1, len(wide)), caption=caption)
