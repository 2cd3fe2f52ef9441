"""The report's sections on questionnaires: scores by model, ratings, options chosen, written
answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.attention import is_check
from labapp.analysis.by_task import wide
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import TaskReport, reports
from labapp.analysis.titles import questionnaire_name
from labapp.base.report.listing import limited, records, spread
from labapp.base.report.page import Html, Verbatim, decimal, heading, paragraph, table, two_lines

WHOLE = "whole session"
SEQ = "seq"
TLX = (
    *("mental_demand", "physical_demand", "temporal_demand", "performance", "effort"),
    *("frustration", "raw_tlx", "weighted_tlx"),
)
FEW = 4
"""With more models than this a panel of the figure is twice as wide."""
NAMES = {
    "raw_tlx": "Raw TLX",
    "weighted_tlx": "Weighted TLX",
    "sus": "SUS",
    "seq": "SEQ",
    "pragmatic": "Pragmatic quality",
    "hedonic": "Hedonic quality",
}


def _elsewhere(told: Callable[[TaskReport[Any]], Iterable[str]]) -> set[str]:
    """What tasks' own sections tell of questionnaires."""
    return {name for report in reports() for name in told(report)}


def questionnaires(counted: Tables, anchor: str) -> Iterator[Html]:
    """Everything that was asked of the sessions that count; anchor: prefix of the page's ids."""
    scores = by_stage(counted)
    scores = scores[~((scores["score"] == SEQ) & (scores["of"] != WHOLE))]  # is with the metrics
    scores = scores[~scores["instrument"].isin(_elsewhere(lambda report: report.instruments))]
    answers = counted.answers[counted.answers["submitted"] & ~is_check(counted.answers)]
    if scores.empty and answers.empty:
        return
    for instrument, of_one in scores.groupby("instrument", sort=False):
        for task, some in of_one.groupby("task", sort=True):
            name = questionnaire_name(counted.items, str(instrument))
            yield heading(3, ", ".join(filter(None, (f"Questionnaire {name}", str(task)))))
            yield score_table(some)
            if set(some["score"]) & set(TLX) and not _drawn_by_model(counted, str(task), some):
                yield workload(some, "-".join(filter(None, (anchor, str(instrument), str(task)))))
    scored = set(counted.scores["instrument"])
    yield from rated(answers, scored)
    yield from chosen(counted.participants, answers, set(scores["instrument"]))
    yield from written(counted.participants, answers)


def _drawn_by_model(counted: Tables, task: str, scores: pd.DataFrame) -> bool:
    """Whether these ratings are of stages whose models are compared: their figure stands there."""
    tasks = {task} if task else set(counted.stages["task"])
    drawn = _elsewhere(lambda report: report.draws_workload)
    return tasks <= drawn and bool((scores["of"] != WHOLE).all())


def workload(scores: pd.DataFrame, name: str) -> Html:
    """The figure of NASA-TLX ratings; name: prefix of its ids."""
    from labapp.base.report import kit  # matplotlib is slow to load

    about = sorted(str(of) for of in scores["of"].unique())
    measured = [
        kit.StripPanel(
            _name(score),
            "0–100",
            wide(scores[scores["score"] == score], "of", "value", about),
            (0.0, 100.0),
        )
        for score in TLX
        if (scores["score"] == score).any()
    ]
    many = 4 if len(about) <= FEW else 2
    drawing = kit.strip_panels(measured, about, name, "Workload by model", many)
    return drawing.html(f"{kit.READ} 100 is most, of Performance: failure.")


def by_stage(counted: Tables) -> pd.DataFrame:
    """The scores with the columns `of`, the model of the stage asked about or the whole session,
    and `task`, that stage's task (empty where the sessions have one task only)."""
    stages = {}
    for row in records(counted.stages):
        stages[row["participant"], row["session"], row["stage"]] = (row["model"], row["task"])
    tasks = counted.stages["task"].nunique()
    rows = []
    for row in records(counted.scores):
        known = stages.get((row["participant"], row["session"], row["about"]))
        row["of"], row["task"] = known or (WHOLE, "")
        if tasks < 2:
            row["task"] = ""
        rows.append(row)
    return pd.DataFrame(rows, columns=[*counted.scores.columns, "of", "task"])


def score_table(scores: pd.DataFrame) -> Html:
    """One instrument: a row a score, a column a model (or the whole session)."""
    columns = sorted(set(scores["of"]), key=lambda of: (of == WHOLE, of))
    rows: list[list[object]] = []
    for score, some in scores.groupby("score", sort=False):
        meaning = str(some["meaning"].iloc[0])
        name: object = two_lines(_name(str(score)), meaning)
        wide = (some["high"] - some["low"]).max() > 20
        cells = [spread(_values(some[some["of"] == of]), 1 if wide else 2) for of in columns]
        rows.append([name, *cells])
    return table(
        ["Score", *columns],
        rows,
        numeric=range(1, 1 + len(columns)),
        caption="Mean ± sd over participants; below it the median and n.",
    )


def _values(scores: pd.DataFrame) -> NDArray[np.float64]:
    """One value a participant: where a model had several stages, their mean."""
    one_each = scores.groupby(["participant", "session"])["value"].mean()
    return one_each.to_numpy(dtype=float)


def _name(score: str) -> str:
    return NAMES.get(score, score[:1].upper() + score[1:].replace("_", " "))


def rated(answers: pd.DataFrame, scored: set[str]) -> Iterator[Html]:
    """Answers with a number, of questionnaires that name no scoring; scored: those that name one.

    Who somebody is, is told in counts alone. Items that a task's own
    sections tell are left to these.
    """
    given = answers[answers["value"].notna()]
    given = given[~given["instrument"].isin(scored)]
    given = given[~given["item"].isin(_elsewhere(lambda report: report.items))]
    given = given[~given["about_person"].fillna(value=False)]
    if given.empty:
        return
    yield heading(3, "Ratings")
    by_model = given.assign(of=given["model"].where(given["model"].notna(), WHOLE))
    rows = [
        (instrument, item, of, spread(_values(some), 2))
        for (instrument, item, of), some in by_model.groupby(
            ["instrument", "item", "of"], sort=False
        )
    ]
    yield table(
        ("Instrument", "Item", "About", "Answer"),
        rows,
        numeric=(3,),
        caption="Mean ± sd over participants; below it the median and n. Numbers as answered.",
    )


def chosen(participants: pd.DataFrame, answers: pd.DataFrame, scored: set[str]) -> Iterator[Html]:
    """How often each option was chosen; scored: instruments whose scores say it already.

    What instruments ask about the person is told in counts alone, and not at all of
    de-identified sessions.
    """
    picked = answers[(answers["kind"] == "choice") & ~answers["instrument"].isin(scored)]
    about_people = picked["about_person"].fillna(value=False)
    known = _identified(participants, picked)
    for title, some in (
        ("Demographics", picked[about_people & known]),
        ("Options chosen", picked[~about_people]),
    ):
        if some.empty:
            continue
        yield heading(3, title)
        rows: list[tuple[object, ...]] = []
        for (instrument, item), given in some.groupby(["instrument", "item"], sort=False):
            options = given["value_text"].str.split(";").explode().value_counts()
            for option, n in sorted(
                options.items(), key=lambda entry: (-int(entry[1]), str(entry[0]))
            ):
                text = str(option).replace("_", " ")
                share = decimal(100 * int(n) / len(given), 0)
                rows.append((instrument, item, Verbatim(text), int(n), len(given), share))
        yield table(
            (
                "Instrument",
                "Item",
                "Option",
                two_lines("Chosen", "n"),
                two_lines("Answers", "n"),
                two_lines("Share", "% of answers"),
            ),
            rows,
            numeric=(3, 4, 5),
        )
        if title == "Demographics":
            yield paragraph("What was written beside an option is not shown here.", "quiet")


def _identified(participants: pd.DataFrame, answers: pd.DataFrame) -> NDArray[np.bool_]:
    """For each answer whether its session still has its identities."""
    sessions = zip(participants["participant"], participants["session"], strict=True)
    reduced = dict(zip(sessions, participants["deidentified"], strict=True))
    whose = zip(answers["participant"], answers["session"], strict=True)
    return np.array([not reduced[participant] for participant in whose], dtype=bool)


def written(participants: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Html]:
    """Comments and other texts, by participant; not those of instruments that ask about the person,
    nor of de-identified copies."""
    numbers = answers["value"].notna()
    texts = answers[(answers["kind"] != "choice") & ~numbers & answers["value_text"].notna()]
    texts = texts[_identified(participants, texts)]
    texts = texts[~texts["about_person"].fillna(value=False)]
    if texts.empty:
        return
    yield heading(3, "Written answers")
    yield limited(
        ("Participant", "Instrument", "Item", "About", "Answer"),
        [
            (
                row["participant"],
                row["instrument"],
                row["item"],
                row["model"] or WHOLE,
                Verbatim(row["value_text"]),
            )
            for row in records(texts)
        ],
    )
