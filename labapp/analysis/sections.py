"""The sections of the report on one study."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis import figures, figures_alignment
from labapp.analysis.calibration_section import calibration
from labapp.analysis.columns import CALIBRATION_METRICS, METRICS, SINGLE_METRICS, Metric
from labapp.analysis.course import true_date
from labapp.analysis.deviations import MEANINGS
from labapp.analysis.findings import Findings
from labapp.analysis.formats import clock, count, decimal, either
from labapp.analysis.judging import sections as judging_sections
from labapp.analysis.labels import sections as label_sections
from labapp.analysis.listing import NONE, limited, records, spread
from labapp.analysis.methods import methods
from labapp.analysis.notes_section import notes_section
from labapp.analysis.page import Html, figure, heading, paragraph, table, text, two_lines
from labapp.analysis.quality import quality
from labapp.analysis.questionnaire_sections import questionnaires
from labapp.analysis.reconstruction import sections as model_sections
from labapp.analysis.reconstruction.changes import unit
from labapp.analysis.reconstruction.drawings import Drawings
from labapp.analysis.reconstruction.groups import TASKS as COMPARED
from labapp.analysis.recruitment import recruitment
from labapp.analysis.retention import retention
from labapp.analysis.tables import Tables
from labapp.analysis.unmasking import sections as unmasking_sections
from labapp.tasks.judging.recorded import TASKS as JUDGING
from labapp.tasks.reconstruction.recorded import CALIBRATION
from labapp.tasks.reconstruction.recorded import TASK as RECONSTRUCTION
from labapp.tasks.unmasking.recorded import PART as UNMASKING

SHOWN_SESSIONS = 12
"""Small multiples are drawn for so many sessions of a study; the tables hold the others."""
SHOWN_QUESTIONS = 130
"""They are drawn for fewer sessions where these have more questions than this together: a panel
takes some 20 ms to draw."""
NOT_PUBLISHED = {
    r"mnist8k/.+": "trained on 8,000 digits of MNIST, not on 60,000 as in the paper.",
    r"dsprites/(ae|vae|gt)": "trained on pictures that labapp drew, not on the official ones.",
}
"""Shipped models named like the paper's that are others, by their ids. Nothing is said of others,
imported (dsprites/published-gt) or trained at full length (mnist/ae5, dsprites/ae-full)."""
METRICS_OF = {RECONSTRUCTION: METRICS, CALIBRATION: CALIBRATION_METRICS}
"""Of the tasks in which pictures are aligned; all others ask about single dimensions."""


def study(tables: Tables, name: str, anchor: str, found: Findings) -> Iterator[Html]:
    """Everything about one study; tables: its rows; anchor: prefix of the page's ids; found: what
    the sessions of all studies say that count."""
    own = tables.participants
    yield heading(2, f"Study {name}", anchor)
    versions = sorted({str(number) for number in own["study_version"].dropna()})
    files = sorted({str(sha)[:12] for sha in own["study_sha256"]})
    yield paragraph(
        f"{'Version' if len(versions) == 1 else 'Versions'} {', '.join(versions)} of the study "
        f"file (SHA-256 {', '.join(f'{sha}…' for sha in files)}). "
        f"Completed: {int(own['complete'].sum())} of {count(len(own), 'session')}."
    )
    yield heading(3, "Methods, as the sessions tell them")
    of_models = [one for one in found.models if one.group.study == name]
    yield paragraph(methods(tables, name, of_models))
    yield heading(3, "Sessions")
    yield sessions(own)
    yield from retention(own)
    yield from recruitment(tables)
    counted = tables.included()
    if counted.stages.empty and not tables.stages.empty:
        yield paragraph("No session counts, so there are no metrics here.")
    yield from model_sections.overview(of_models)
    apart = counted.stages["task"].isin([*JUDGING, UNMASKING])
    for task, stages in counted.stages[~apart].groupby("task", sort=True):
        reconstructs, aligns = task == RECONSTRUCTION, task in METRICS_OF
        # What a study does not ask (SEQ, in a calibration) is no empty column.
        known = METRICS_OF.get(str(task), SINGLE_METRICS)
        metrics = [one for one in known if stages[one.column].notna().any()] or known
        yield heading(3, "Metrics by model" if reconstructs else f"Metrics by model, {task}")
        yield from comparability(stages)
        drawn = Drawings(found.drawn.get((name, str(task)), {}), anchor)
        yield from drawn.metrics()
        if task in COMPARED:
            yield from model_sections.of_task(str(task), of_models)
        else:
            yield summary(stages, metrics)
            yield by_model(stages, f"{anchor}-{task}", metrics)
        yield from drawn.differences()
        yield from changes(stages, metrics)
        yield from drawn.changes()
        if not aligns:
            yield by_dimension(counted.trials[counted.trials["task"] == task])
            yield from drawn.dimensions()
    yield from judging_sections.of_study(name, found.judged)
    yield from unmasking_sections.of_study(name, found.unmasked, anchor)
    yield from calibration(counted, anchor)
    yield from questions(tables, anchor)
    yield from questionnaires(counted, anchor)
    yield from label_sections.of_study(name, found.labels)
    yield from notes_section(tables.notes, len(own))
    yield heading(3, "Deviations and data quality")
    yield quality(own)
    yield from deviations(tables.deviations, len(own))


def comparability(stages: pd.DataFrame) -> Iterator[Html]:
    """Which models are not those of the published study, though named like them."""
    models = sorted({str(model) for model in stages["model"]})
    for ids, why in NOT_PUBLISHED.items():
        found = [model for model in models if re.fullmatch(ids, model)]
        if found:
            yield paragraph(
                f"{', '.join(found)}: {why} The published tables (Table 2 and those after it) are "
                "of other models: where they stand beside ours, they are for orientation.",
                "note",
            )


def _began(utc: str) -> str:
    return f"{utc[:10] if true_date(utc) else 'date moved,'} {utc[11:16]}"


def sessions(participants: pd.DataFrame) -> Html:
    """Who took part, in which order, and what was recorded."""
    rows = [
        (
            row["participant"],
            row["session"],
            _began(row["started_utc"]),
            Html("<br>".join(text(model) for model in row["models"].split(", "))),
            _outcome(row),
            clock(row["duration_s"]),
            f"{row['n_pauses']} ({clock(row['paused_s'])})" if row["n_pauses"] else "none",
            f"{row['n_gaps']} ({clock(row['gap_s'])})" if row["n_gaps"] else "none",
            _sound(row),
            row["n_deviations"],
        )
        for row in records(participants)
    ]
    names = (
        "Participant",
        "Session",
        "Began, UTC",
        "Models in order",
        "Outcome",
        two_lines("Working time", "min:s"),
        two_lines("Pauses", "number (min:s)"),
        two_lines("Interruptions", "number (min:s)"),
        two_lines("Sound", "min:s"),
        "Deviations",
    )
    return limited(names, rows, numeric=(5, 6, 7, 9))


def _outcome(row: dict[str, Any]) -> object:
    said = row["outcome"].replace("_", " ")
    why = row["excluded_because"]
    facts = (row["ended_reason"], why and f"not included: {why}", row["simulated"] and "simulated")
    more = "; ".join(fact for fact in facts if fact)
    return two_lines(said, more) if more else said


def _sound(row: dict[str, Any]) -> object:
    if row["sound_s"] <= 0:
        why = row["no_sound_because"]
        return two_lines("none", why) if why else "none"
    lost = row["sound_lost_s"]
    return two_lines(clock(row["sound_s"]), f"{lost:.1f} s lost" if lost else "nothing lost")


def summary(stages: pd.DataFrame, metrics: Sequence[Metric] = METRICS) -> Html:
    """Mean, sd and median of every metric by model."""
    rows = []
    for model, some in stages.groupby("model", sort=True):
        cells: list[object] = [model, len(some)]
        for metric in metrics:
            values = some[metric.column].dropna().to_numpy(dtype=float) * metric.factor
            cells.append(spread(values, metric.decimals))
        rows.append(cells)
    names = [
        "Model",
        two_lines("Stages", "n"),
        *(two_lines(metric.title, metric.unit) for metric in metrics),
    ]
    return table(
        names,
        rows,
        numeric=range(1, 2 + len(metrics)),
        caption="Mean ± sd over participants; below it the median and n.",
    )


def by_model(stages: pd.DataFrame, name: str, metrics: Sequence[Metric]) -> Html:
    """The figure of a task whose models are not compared by tests; name: prefix of its ids."""
    drawing = figures.by_model(stages, name, metrics)
    return figure(
        drawing.svg,
        drawing.label,
        "One point a participant; grey lines join a participant's stages. Thick line: median; "
        f"diamond: mean; box: quartiles, from {figures.BOX_FROM} values on. n: stages with a "
        "value. Error AUC is summed over the questions of a stage.",
    )


def by_dimension(trials: pd.DataFrame) -> Html:
    """Correctness of single-dimension questions by dial (Figure 7), over all that were answered."""
    counted = trials[(trials["role"] == "stage") & ~trials["excluded"] & trials["correct"].notna()]
    rows = []
    for (model, dial, name), some in counted.groupby(
        ["model", "dimension", "dimension_name"], sort=True
    ):
        right = some["correct"].to_numpy(dtype=float)
        error = float(np.sqrt(right.mean() * (1 - right.mean()) / right.size))
        said = f"{decimal(100 * right.mean(), 0)} ± {decimal(100 * error, 0)}"
        rows.append((model, dial, name, right.size, said))
    return table(
        ("Model", "Dial", "Name", two_lines("Questions", "n"), two_lines("Correct", "% ± SE")),
        rows,
        numeric=(1, 3, 4),
        caption="Correctness by dial over all questions; SE: binomial standard error.",
    )


def changes(stages: pd.DataFrame, shown: Sequence[Metric]) -> Iterator[Html]:
    """First against last questions, where stages are long enough."""
    if not (stages["change_questions"] > 0).any():
        return
    metrics = [metric for metric in shown if f"change_{metric.column}" in stages]
    rows = []
    for model, some in stages.groupby("model", sort=True):
        cells: list[object] = [model]
        for metric in metrics:
            values = some[f"change_{metric.column}"].dropna().to_numpy(dtype=float)
            cells.append(_changed(values * metric.factor, metric.decimals))
        rows.append(cells)
    sizes = sorted({int(n) for n in stages["change_questions"] if n > 0})
    yield heading(3, "Change over questions")
    yield table(
        ["Model", *(two_lines(one.title, unit(one)) for one in metrics)],
        rows,
        numeric=range(1, 1 + len(metrics)),
        caption=f"Mean over participants of last minus first {either(sizes)} "
        f"{'question' if sizes == [1] else 'questions'}; below it the median and n.",
    )


def _changed(values: NDArray[np.float64], decimals: int) -> object:
    """Mean change with its sign, below it the median and n."""
    if values.size == 0:
        return NONE
    mean, median = (
        decimal(float(one), decimals, sign=True) for one in (values.mean(), np.median(values))
    )
    return two_lines(mean, f"median {median}, n = {values.size}")


def questions(tables: Tables, anchor: str) -> Iterator[Html]:
    """Small multiples of the alignment, a figure a session."""
    chosen = (tables.trials["role"] == "stage") & tables.trials["task"].isin(list(METRICS_OF))
    trials = tables.trials[chosen]
    groups = list(trials.groupby(["participant", "session"], sort=True))
    if not groups:
        return
    yield heading(3, "Alignment over time, question by question")
    yield paragraph(
        "Dashed: the alignment asked for. Dot: solved; diamond: marked; cross: skipped; square: "
        "cut off. The time axis is the same along a row.",
        "quiet",
    )
    ends = accumulate(len(own) for _, own in groups)
    n = max(1, min(SHOWN_SESSIONS, sum(end <= SHOWN_QUESTIONS for end in ends)))
    for number, ((participant, session), own) in enumerate(groups[:n]):
        study = str(own["study"].iloc[0])
        taken = tables.snapshots_of(study, str(participant), str(session))
        drawing = figures_alignment.alignment(own, taken, f"{anchor}-q{number}")
        who = f"Participant {participant}, session {session}"
        yield figure(drawing.svg, f"{drawing.label}. {who}", who)
    if len(groups) > n:
        yield paragraph(f"{len(groups) - n} more sessions are in the table snapshots.", "quiet")


def deviations(found: pd.DataFrame, n_sessions: int) -> Iterator[Html]:
    """How often each kind happened, and every single one."""
    if found.empty:
        yield paragraph("No deviation was recorded.")
        return
    counted = []
    for kind, some in found.groupby("kind"):
        seconds = float(some["duration_s"].sum())
        where = some.groupby(["participant", "session"]).ngroups
        name = two_lines(str(kind).replace("_", " "), MEANINGS[str(kind)])
        counted.append((name, len(some), where, decimal(seconds, 1) if seconds else NONE))
    counted.sort(key=lambda row: -row[1])
    yield table(
        ("Kind", "Times", two_lines("Sessions", f"of {n_sessions}"), two_lines("Together", "s")),
        counted,
        numeric=(1, 2, 3),
    )
    yield limited(
        (
            "Participant",
            "Session",
            two_lines("At", "min:s of session time"),
            "Part",
            "Question",
            "Kind",
            two_lines("Lasted", "s"),
            "Detail",
        ),
        [
            (
                row["participant"],
                row["session"],
                clock(row["session_s"]),
                row["stage"] or NONE,
                row["trial"] or NONE,
                row["kind"].replace("_", " "),
                NONE if row["duration_s"] is None else decimal(row["duration_s"], 1),
                row["detail"] or "",
            )
            for row in records(found)
        ],
        numeric=(2, 4, 6),
    )
