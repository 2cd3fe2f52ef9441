"""What the report has of reconstruction, with and without a target (paper 000). What the marks and
times of calibrations suggest is worked out in `labapp.analysis.calibration`.

The section of the report on names of dials (paper 000, Tables 1 and A.4).

Files beside the report: the sheet for raters, and the tables as a page of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate, groupby
from math import isclose
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from labapp import __version__
from labapp.analysis.calibration import Suggestion, separation, skip_after_s
from labapp.analysis.columns import Metric
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport, metrics_by_model
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    heading,
    join_parts,
    page,
    paragraph,
    render,
    supplement,
    table,
    two_lines,
)
from labapp.coding.agreement.measure import DRAWS
from labapp.models.representations.card import dataset_of
from labapp.tasks.reconstruction.plan import CALIBRATION, TASK
from labapp.tasks.reconstruction.report.labels.sheet import (
    HELP,
    INSTRUCTIONS,
    LABEL_TABLES,
    SHEET,
    TEXT,
    DialEffects,
    LabelledModel,
    LabelResults,
    Name,
    check_files,
    count_covered,
    coverage,
    find,
    frames,
    quote,
)

if TYPE_CHECKING:
    import pandas as pd

    from labapp.base.report.drawing import ReportFigure


AGREED = " ✓"
LITTLE = "little effect"

_Both = tuple[LabelledModel, DialEffects]


def of_study(study: str, result: LabelResults) -> Iterator[Html]:
    """Nothing if no dial was named."""
    if study not in result.studies:
        return
    models = result.of_study(study)
    yield heading(3, "Names given to sliders")
    repeats = any(model.published for model, _ in models)
    yield paragraph(
        ("As in Tables 1 and A.4 of Ross et al. (2021): the" if repeats else "The")
        + " names that sliders had at the end of their stage, in the sessions that count. The "
        "names are in random order."
    )
    if provenance := _provenance([model for model, _ in models]):
        yield paragraph(provenance, "note")
    for line in legend(study, result):
        yield paragraph(line, "quiet")
    for sliders, some in groupby(models, key=lambda pair: pair[0].sliders):
        yield names_table(list(some), result, f"Models with {count(sliders, 'slider')}.")
    for plate in result.drawn[study]:
        yield plate.html("names")
    yield models_table(models, result)
    if repeats:
        yield paragraph(TEXT, "quiet")
        others = [m.model for m, _ in models if (p := m.published) and not p.same_model]
        if others:
            yield paragraph(
                f"{', '.join(others)}: these are not the paper's models or participants; the "
                "published numbers are for orientation only.",
                "quiet",
            )


def _provenance(models: Sequence[LabelledModel]) -> str:
    """Whose names these are, where programs are among those who could give them."""
    programs = frozenset[str]().union(*(model.programs for model in models))
    if not programs:
        return ""
    met = frozenset[str]().union(*(model.met for model in models))
    of = "All" if programs == met else f"{len(programs)} of {len(met)}"
    return (
        f"{of} participants here are simulated: programs, not people. A program names a slider "
        "after what it saw the slider change, with a word from a short list. These names, and "
        "how well raters agree on them, only test the analysis and say nothing about people."
    )


def legend(study: str, result: LabelResults) -> Iterator[str]:
    """How to read the marks of the tables, and how far raters agree."""
    yield from _raters(result)
    models = result.of_study(study)
    if any(effects.of for _, effects in models):
        from labapp.models.representations import effects as measured

        yield (
            "Effect: the mean distance d(x, x') between pictures with the slider at its "
            f"{measured.LOW}th and its {measured.HIGH}th percentile (for a choice, between all "
            f"pairs of its values), with the other sliders set as in {measured.ROWS} held-out "
            "instances; divided by that of the model's strongest slider. Grey and marked: below "
            f"{measured.LITTLE:.0%}. This threshold is ours, not the paper's."
        )
    for model, effects in models:
        if effects.why_not:
            yield (
                f"{model.model}: the effect of its sliders is not known here, so none is grey. "
                f"Reason: {effects.why_not}."
            )
    yield (
        "Named by: participants who named the slider, out of those who saw the model (its "
        "coverage). A name that was removed does not count."
    )
    if hidden := result.withheld.get(study):
        yield (
            f"Left out: {count(hidden, 'participant')} with only a de-identified copy, which "
            "contains no names."
        )


def _raters(result: LabelResults) -> Iterator[str]:
    if not result.ratings:
        yield (
            f"Nobody has rated yet which names are consistent. Raters can do so with {SHEET}, "
            "next to this page."
        )
        return
    bold = f"Bold, underlined and with {AGREED.strip()}: names that "
    if len(result.ratings) == 1:
        yield (
            f"{bold}one rater ({result.ratings[0].rater}) calls consistent between participants. "
            "With one rater, agreement cannot be computed."
        )
        return
    who = ", ".join(rating.rater for rating in result.ratings)
    every = "both raters" if len(result.ratings) == 2 else f"all {len(result.ratings)} raters"
    yield (
        f"{bold}{every} ({who}) call consistent between participants; where they disagree, the "
        "number of raters is given. The paper: “labels experimenters identified as consistent "
        "between participants” (Table 1)."
    )
    both = result.agreement
    if both is None or both.percent is None:
        yield "No slider was named by two participants, so raters have nothing to compare."
        return
    text = f"The raters say the same of {decimal(both.percent, 0)} % of {count(both.n, 'name')} "
    text += "that another participant's name stands beside. "
    if both.kappa is None:
        yield f"{text}{both.name} is undefined: {both.why_not}."
        return
    text += f"{both.name} = {decimal(both.kappa, 2)}"
    if both.low is None or both.high is None:
        yield f"{text}, with no interval: it is undefined in most bootstrap draws."
        return
    left_out = f", {both.undefined} of them without a kappa left out" if both.undefined else ""
    yield (
        f"{text}, 95 % interval {decimal(both.low, 2)} to {decimal(both.high, 2)} (percentiles "
        f"of {DRAWS:,} bootstrap draws of names{left_out}; names of one slider are related, so "
        "it may be too narrow)."
    )


def names_table(models: Sequence[_Both], result: LabelResults, caption: str) -> Html:
    """One row per dial, with its effect, its coverage and its names; models one below the other."""
    return render(
        "labapp.tasks.reconstruction.report.labels:names.html",
        models=[_model(*both, result) for both in models],
        caption=caption,
        little=LITTLE,
        agreed=AGREED,
        nothing=NONE,
    )


def _model(model: LabelledModel, effects: DialEffects, result: LabelResults) -> dict[str, object]:
    known = effects.of or [None] * len(model.dials)
    dials = [
        {
            "title": dial.title,
            "little": effect is not None and effect.little,
            "share": NONE if effect is None else _effect_percent(effect.share),
            "by": f"{len(dial.people)}, {decimal(100 * coverage(model, dial), 0)} %",
            "names": [_name(name, result) for name in dial.names],
        }
        for dial, effect in zip(model.dials, known, strict=True)
    ]
    return {"name": model.model, "n": len(model.met), "dials": dials}


def _effect_percent(share: float) -> str:
    """In per cent; what is not quite nothing is not shown as nothing."""
    return "< 1" if 0 < share < 0.005 else decimal(100 * share, 0)


def _name(name: Name, result: LabelResults) -> dict[str, object]:
    """votes: how many raters call it consistent, where they differ."""
    said = [rating.says[name.id] for rating in result.ratings]
    votes = f"{sum(said)} of {len(said)} raters" if len(set(said)) > 1 else ""
    return {"text": quote(name.text), "agreed": result.consistent(name), "votes": votes}


def models_table(models: Sequence[_Both], result: LabelResults) -> Html:
    """Who named anything at all, and how many dials most participants named."""
    theirs = any(model.published for model, _ in models)
    rows = []
    for model, _ in models:
        met = len(model.met)
        named = f"{len(model.people)} of {met}, {decimal(100 * len(model.people) / met, 0)} %"
        cells: list[object] = [model.model, named, f"{count_covered(model)} of {len(model.dials)}"]
        if theirs:
            paper = model.published
            cells.insert(2, f"{paper.named_any} %" if paper else NONE)
            cells.append(f"{paper.covered} of {len(paper.names)}" if paper else NONE)
        cells.append(sum(len(dial.names) for dial in model.dials))
        if theirs:
            cells.append(sum(paper.names) if paper else NONE)
        if result.ratings:
            cells.append(sum(result.n_consistent(dial) or 0 for dial in model.dials))
        rows.append(cells)
    paper_says: list[object] = [two_lines("Paper", "D = 5 and 10")] if theirs else []
    counted: list[object] = [two_lines("Paper", "n = 5")] if theirs else []
    names = [
        "Model",
        two_lines("Named at least one slider", "participants, %"),
        *paper_says,
        two_lines("Sliders with a coverage", "of 80 % or more"),
        *counted,
        "Names",
        *counted,
        *(["Consistent names"] if result.ratings else []),
    ]
    return table(
        names,
        rows,
        numeric=range(1, len(names)),
        caption="Coverage by model."
        + " Paper: values of the model with the same name, from the paper's text (named at least "
        "one slider) or counted in its tables." * theirs,
    )


PAGE = "label_tables.html"
NAMES = (SHEET, HELP, PAGE)
"""Every file that `write` makes."""


def write(result: LabelResults, out: Path, made: datetime | None = None) -> list[Path]:
    """The files, where any dial was named. Nothing is overwritten; raises OSError."""
    if result.sheet is None:
        return []
    contents = {
        SHEET: result.sheet.text(),
        HELP: INSTRUCTIONS.format(sheet=SHEET),
        PAGE: tables_page(result, made or datetime.now(UTC)),
    }
    for name, content in contents.items():
        with (out / name).open("x", encoding="utf-8", newline="") as file:
            file.write(content)
    return [out / name for name in contents]


def tables_page(result: LabelResults, made: datetime) -> str:
    """The tables of names alone, to be copied or printed."""
    studies = result.studies
    title = f"Names given to sliders: {', '.join(studies)}"
    when = paragraph(f"Written {made:%Y-%m-%d %H:%M} UTC.", "quiet")
    header = join_parts([heading(1, title), when])
    body = join_parts(
        part
        for study in studies
        for part in (heading(2, f"Study {study}"), *of_study(study, result))
    )
    footer = paragraph(f"Analysed with labapp {__version__}.", "quiet")
    return page(title, header, body, footer)


DEFINITIONS = {
    "Completion rate": (
        "Questions solved, divided by the questions planned for the stage. Questions that could "
        "not be asked before the time limit count as not solved. If the moderator skipped the "
        "stage, or it was not finished, the denominator is the number of questions that count."
    ),
    "Response time": (
        "Seconds from when the pictures appear to the click on Next or Skip; mean over the "
        "stage's questions that ended with such a click. The moment of alignment is in the "
        "table trials."
    ),
    "Active time": (
        "Like response time, but a stretch without activity counts for at most the "
        "stage's inactivity limit (3 s unless the study sets another). The column "
        "active_s_as_published has the time as the application of Ross et al. 2021 counted it."
    ),
    "Calibration": (
        "Questions without a target, in which the participant marks “far away” and “close "
        "enough”. The alignment at each mark is in the table “marks”. These questions have no "
        "completion rate, and marks on questions that do not count are left out."
    ),
    "Slide distance": (
        "Total movement of the sliders in full slider widths, mean per question. A change of a "
        "discrete dimension counts as 1."
    ),
    "Error AUC": (
        "Integral over time of the squared difference between the participant's picture and the "
        "target, summed (not averaged) over all questions of the stage. The difference is "
        "constant between snapshots, and idle time is included. “Sum” adds the squared "
        "differences over the pixels (sum of squares × s, the unit of the tables of Ross et al. "
        "2021); “mean” averages them (mean of squares × s, as their text says)."
    ),
    "Snapshots": (
        "Snapshots are derived from the recorded movements: one at the start of the question, "
        "one when a slider has changed and at least 100 ms have passed, one immediately when "
        "the active slider or its direction changes, one at alignment, and one at the end of the "
        "question."
    ),
    "Names of sliders": (
        "The last name of each slider in a stage, in sessions that count; a name that was "
        "removed does not count. Coverage: participants who named the slider divided by "
        "participants who saw the model. Consistent: every rater says that the name agrees with "
        "another participant's. Kappa is computed over the names that could be compared with "
        "another participant's. Effect of a slider: mean distance of the study, over held-out "
        "instances, between the pictures at its 5th and 95th percentile (for a choice, between "
        "all pairs of values), as a share of the model's strongest slider. Below 5 % we say "
        "that it has little effect. All of it is in the tables label_names, label_dials, "
        "label_models and label_agreement."
    ),
}


class ReconstructionReport(TaskReport[LabelResults]):
    """Its findings are the names of dials."""

    def suggested(self, counted: Tables) -> Sequence[Suggestion]:
        return suggestions(counted.trials, counted.marks)

    activities: ClassVar = {
        TASK: "reconstructed target pictures by moving sliders",
        CALIBRATION: "moved sliders without a target mark and indicated when they were far away "
        "and when they were close enough",
    }
    tasks = (TASK, CALIBRATION)
    definitions = DEFINITIONS
    tables = LABEL_TABLES
    files = NAMES

    def check_ratings(self, ratings: Sequence[Path]) -> None:
        check_files(ratings)

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> LabelResults:
        return find(counted, ratings)

    def frames(self, findings: LabelResults) -> Mapping[str, pd.DataFrame]:
        return frames(findings)

    def sections(self, study: ReportedStudy, findings: LabelResults) -> Iterator[Html]:
        yield from metrics_by_model(study, CALIBRATION, CALIBRATION_METRICS)
        yield from calibration(study.counted, study.anchor)
        yield from supplement(courses(study.counted, study.anchor))
        yield from of_study(study.name, findings)

    def methods(self, study: ReportedStudy, findings: LabelResults) -> Iterator[str]:
        """By which distances the models' pictures were compared, where these differ."""
        dials = study.tables.small()["dials"]
        own = dials[dials["study"] == study.name].drop_duplicates(["model", "distance"])
        if own["distance"].nunique() < 2:
            return
        by = own.groupby("distance", sort=True)["model"].agg(", ".join)
        told = "; ".join(f"{distance}: {models}" for distance, models in by.items())
        yield (
            f"For some models ({told}), a distance measure of their own decided whether a "
            "question was solved. A difference between these models in completion rate or "
            "response time may therefore come from the measures."
        )

    def plates(self, counted: Tables, findings: LabelResults) -> Sequence[ReportFigure]:
        return [plate for drawn in findings.drawn.values() for plate in drawn]

    def write(self, findings: LabelResults, folder: Path) -> None:
        write(findings, folder)

    def defined(self, counted: Tables, findings: LabelResults) -> Mapping[str, str]:
        calibrated = not counted.marks.empty
        there = {"Calibration": calibrated, "Active time": calibrated}
        there |= {"Names of sliders": bool(findings.models)}
        return {name: text for name, text in DEFINITIONS.items() if there.get(name, True)}

    def asked(self, trials: pd.DataFrame) -> str:
        """The alignment that solved a question, where questions are solved."""
        targets = sorted({float(target) for target in trials["target_alignment"].dropna()})
        if not targets:
            return ""
        percents = " and ".join(map(_percent, targets))
        return f"; a question counted as solved at an alignment of {percents} %"


def _percent(share: float) -> str:
    value = 100 * share
    return decimal(value, 0 if isclose(value, round(value), abs_tol=1e-9) else 1)


REPORT = ReconstructionReport()


SHOWN_SESSIONS = 12
"""Small multiples are drawn for so many sessions of a study; the tables hold the others."""
SHOWN_QUESTIONS = 130
"""They are drawn for fewer sessions where these have more questions than this together: a panel
takes some 20 ms to draw."""


def courses(tables: Tables, anchor: str) -> Iterator[Html]:
    """Small multiples of the alignment, one figure per session that counts."""
    chosen = (tables.trials["role"] == "stage") & tables.trials["task"].isin([TASK, CALIBRATION])
    trials = tables.trials[chosen]
    groups = list(trials.groupby(["participant", "session"], sort=False))
    if not groups:
        return
    from labapp.tasks.reconstruction.report.figures_alignment import alignment

    yield heading(4, "Alignment over time, question by question")
    yield paragraph(
        "Dashed: the required alignment. Dot: solved; diamond: marked; cross: skipped; square: "
        "cut off. The time axis is the same along a row.",
        "quiet",
    )
    ends = accumulate(len(own) for _, own in groups)
    n = max(1, min(SHOWN_SESSIONS, sum(end <= SHOWN_QUESTIONS for end in ends)))
    for number, ((participant, session), own) in enumerate(groups[:n]):
        study = str(own["study"].iloc[0])
        taken = tables.snapshots_of(study, str(participant), str(session))
        drawing = alignment(own, taken, f"{anchor}-q{number}")
        who = f"Participant {participant}, session {session}"
        yield drawing.html(who, f". {who}")
    if len(groups) > n:
        yield paragraph(f"{len(groups) - n} more sessions are in the table snapshots.", "quiet")


def calibration(tables: Tables, anchor: str) -> Iterator[Html]:
    """Nothing if no question of a calibration was asked. anchor: prefix of the page's ids."""
    suggested = suggestions(tables.trials, tables.marks)
    if not suggested:
        return
    yield heading(3, "Calibration: how close is close enough")
    yield paragraph(
        "Suggested target alignment: the value that best separates the alignments marked “far "
        "away” from those marked “close enough”, halfway between the two neighbouring marks; "
        "epsilon is 1 minus this value. Separation: balanced accuracy, the mean of the share of "
        "far marks below it and the share of close marks above it (50 % is chance). T: the "
        "multiple of 5 s nearest to twice the median active time of the questions in which both "
        "were marked; active time is the time that is counted before Skip appears.",
        "quiet",
    )
    yield table(
        (
            "Data set",
            two_lines("Far away", "n, median"),
            two_lines("Close enough", "n, median"),
            two_lines("Target alignment", "%, interval"),
            two_lines("Epsilon", "0–1"),
            two_lines("Separation", "%"),
            two_lines("Questions", "n"),
            two_lines("Active time", "s, median"),
            two_lines("Duration", "s, median"),
            two_lines("T", "s"),
        ),
        [_row(suggestion) for suggestion in suggested],
        numeric=range(1, 10),
    )
    if shown := [suggestion for suggestion in suggested if suggestion.far or suggestion.close]:
        from labapp.tasks.reconstruction.report.figures_alignment import marks

        drawing = marks(shown, f"{anchor}-marks")
        yield drawing.html(
            "One point per mark, over all participants. Line: the suggested target alignment, "
            "in the middle of the grey interval."
        )


def _row(suggestion: Suggestion) -> tuple[object, ...]:
    best = suggestion.separation
    target: object = NONE
    if best is not None:
        interval = f"{decimal(best.low * 100, 1)} to {decimal(best.high * 100, 1)}"
        target = two_lines(decimal(best.target * 100, 1), interval)
    return (
        suggestion.dataset,
        _marks(suggestion.far),
        _marks(suggestion.close),
        target,
        NONE if best is None else decimal(best.epsilon, 3),
        NONE if best is None else decimal(best.balanced_accuracy * 100, 0),
        suggestion.questions,
        NONE if suggestion.median_active_s is None else decimal(suggestion.median_active_s, 1),
        NONE if suggestion.median_duration_s is None else decimal(suggestion.median_duration_s, 1),
        NONE if suggestion.skip_after_s is None else suggestion.skip_after_s,
    )


def _marks(alignments: tuple[float, ...]) -> object:
    if not alignments:
        return 0
    middle = float(np.median(alignments)) * 100
    return two_lines(len(alignments), f"{decimal(middle, 1)} %")


def suggestions(trials: pd.DataFrame, marks: pd.DataFrame) -> list[Suggestion]:
    """By data set, from the tables of trials and marks; only what is not excluded counts.

    The times are those of questions left once both were marked: a skipped one says nothing of how
    long it takes.
    """
    counted = trials[(trials["task"] == CALIBRATION) & ~trials["excluded"]]
    marks = marks[~marks["excluded"]]
    result = []
    for dataset in sorted({dataset_of(model) for model in [*counted["model"], *marks["model"]]}):
        own = marks[marks["model"].map(dataset_of) == dataset]
        far, close = (
            tuple(own.loc[own["mark"] == mark, "alignment"].astype(float))
            for mark in ("far", "close")
        )
        done = counted[counted["model"].map(dataset_of) == dataset]
        done = done[done["outcome"] == "marked"]  # left once both were
        active, lasted = (list(done[name].astype(float)) for name in ("active_s", "duration_s"))
        result.append(
            Suggestion(
                dataset,
                far,
                close,
                separation(far, close),
                len(done),
                median(active) if active else None,
                median(lasted) if lasted else None,
                skip_after_s(active),
            )
        )
    return result


METRICS = (
    Metric("completion_rate", "Completion rate", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s per question"),
    Metric("slide_distance", "Slide distance", "slider widths per question", decimals=2),
    Metric("error_auc_sum", "Error AUC, sum", "sum of squares × s, per stage", by_dataset=True),
    Metric(
        "error_auc_mean",
        "Error AUC, mean",
        "mean of squares × s, per stage",
        decimals=2,
        by_dataset=True,
    ),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""

CALIBRATION_METRICS = METRICS[1:]
"""A calibration has no questions that are completed."""
