"""What the questionnaires of a study of judged explanations say (paper 003, 5.1, 5.3, A1, A2).

Items as in the list of analyses: 8 the least accuracy of a black box at three risks, 9 how well the
model is thought to be understood, asked three times, 10 who took part and how long it took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.item_sections import not_touched
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.statistics import (
    WHO,
    PhotoGroup,
    add_remarks,
    of_quantity,
    pair_sessions,
    plain,
    result_of,
    summary,
)

UNDERSTANDING = "understanding"
"""Item that is asked after the introduction, after the task and after the results."""
RISK_ITEMS = {f"{risk}_risk": risk for risk in paper.RISKS}
EXPERIENCE, LEVEL = "ml_experience", "level_"
"""The item about machine learning, and what its options begin with, from level_1 to level_5."""
PERCENT, RATING, MINUTES = "%", "1-5", "min"
WHOLE = ["study", *WHO]


def of_opinions(counted: Tables, groups: Sequence[PhotoGroup]) -> list[Statistic]:
    """Every statistic of one study's questionnaires; groups: its own, which say what it is."""
    study = groups[0].study
    design = groups[0].design if len(groups) == 1 else ""
    own = counted.of_study(study)
    return [
        *trade_off(own, study, design, groups),
        *understanding(own, study, design),
        *durations(own, study, design, groups),
    ]


def _of(study: str, design: str, item: int, name: str, unit: str, key: str = "") -> Statistic:
    published = paper.find_published(design, key or name)
    return of_quantity(study, design, item, name, unit, "" if published is None else str(published))


def select_submitted(tables: Tables, item: str) -> pd.DataFrame:
    """The handed-in answers to an item, as they were asked."""
    answers = tables.answers
    return answers[(answers["item"] == item) & answers["submitted"]]


def least_accuracy(own: Tables, risk: str) -> pd.Series[float]:
    """By session, in percent; a slider that nobody touched is no answer."""
    answers = select_submitted(own, f"{risk}_risk")
    answers = answers[(answers["kind"] == "slider") & ~not_touched(answers)]
    return answers.groupby(WHOLE, sort=True)["value"].last()


def trade_off(
    own: Tables, study: str, design: str, groups: Sequence[PhotoGroup]
) -> Iterator[Statistic]:
    """Item 8, Figure 5 and Table A2: means as in the paper; ours: against the model's own
    accuracy, low against high risk, and of how many sliders nobody touched."""
    accuracies = {group.model_accuracy for group in groups}
    (accuracy,) = accuracies if len(accuracies) == 1 else (None,)
    for risk in paper.RISKS:
        least = least_accuracy(own, risk)
        values = plain(least)
        if not values.size:
            continue
        of = _least(study, design, risk)
        yield summary(of, values)
        if accuracy is not None:
            for test in (inference.one_sample, inference.signed_rank):
                yield result_of(of, values, test(values, accuracy), against=accuracy, ours=True)
        asked = select_submitted(own, f"{risk}_risk")
        share = 100.0 * not_touched(asked[asked["kind"] == "slider"]).astype(np.float64)
        name = f"least accuracy, {risk} risk, not answered"
        yield replace(summary(_of(study, design, 8, name, PERCENT), share, ours=True), sd=None)
    low, high = pair_sessions(least_accuracy(own, "low"), least_accuracy(own, "high"))
    if low.size:
        of = _least(study, design, "low")
        than = ("high risk", high)
        yield result_of(of, low, inference.paired_t(low, high), other=than, ours=True)
        yield result_of(of, low, inference.signed_rank(low - high), other=than, ours=True)


def _least(study: str, design: str, risk: str) -> Statistic:
    """With the accuracy of the model that the paper's value is to be seen against."""
    of = _of(study, design, 8, f"least accuracy, {risk} risk", PERCENT)
    model = paper.find_published(design, "model accuracy")
    return of if model is None else replace(of, published=f"{of.published} (model {model})")


def understandings(own: Tables) -> list[pd.Series[float]]:
    """The ratings by session after the introduction, the task and the results: the first, second
    and third time that the item was handed in. Sessions that were asked otherwise than three times
    say nothing of when, and are left out."""
    answers = select_submitted(own, UNDERSTANDING)
    answers = answers[answers["kind"] == "rating"]
    groups = answers.groupby(WHOLE, sort=True)
    asked = answers.assign(times=groups["value"].transform("size"), at=groups.cumcount())
    three = asked[asked["times"] == len(paper.UNDERSTANDING)]
    return [
        three[three["at"] == at].set_index(WHOLE)["value"] for at in range(len(paper.UNDERSTANDING))
    ]


def understanding(own: Tables, study: str, design: str) -> Iterator[Statistic]:
    """Item 9, Table A1: the three means, and whether the rating falls when the results are known:
    a two-sample t as (we think) in the paper; ours within sessions."""
    times = understandings(own)
    for name, series in zip(paper.UNDERSTANDING, times, strict=True):
        if values := list(plain(series)):
            yield summary(_of(study, design, 9, name, RATING), np.array(values))
    task, results = pair_sessions(times[1], times[2])
    if not task.size:
        return
    both = [paper.find_published(design, name) for name in paper.UNDERSTANDING[1:]]
    compared = paper.compare_published(*both, significant=False)
    compared = f"{compared}, {paper.DECREASE}" if design == paper.POOLED else compared
    of = of_quantity(study, design, 9, paper.UNDERSTANDING[1], RATING, compared)
    than = (paper.UNDERSTANDING[2].removeprefix("understanding "), results)
    yield result_of(of, task, inference.two_sample(task, results), other=than)
    yield result_of(of, task, inference.paired_t(task, results), other=than, ours=True)
    yield result_of(of, task, inference.signed_rank(task - results), other=than, ours=True)


def durations(
    own: Tables, study: str, design: str, groups: Sequence[PhotoGroup]
) -> Iterator[Statistic]:
    """Of item 10: working time of the sessions in minutes."""
    minutes = own.participants.loc[own.participants["included"], "duration_s"] / 60
    values = plain(minutes)
    if values.size:
        of = _of(study, design, 10, "duration", MINUTES)
        if own.participants["tasks"].dropna().str.contains(", ").any():
            of = replace(of, published="")  # the paper's sessions had one task
        why = " ".join(dict.fromkeys(filter(None, (group.length_sentence for group in groups))))
        yield summary(replace(of, published=add_remarks(of.published, *groups), why=why), values)


def people(counted: Tables, studies: str) -> Iterator[Statistic]:
    """Item 10, over all the sessions given: gender and race in percent, experience with machine
    learning. Who is not identified any more is not counted. studies: what they are called."""
    sessions = counted.participants
    sessions = sessions[sessions["included"] & ~sessions["deidentified"]]
    asked = counted.answers[counted.answers["about_person"].fillna(value=False)]
    if asked.empty or sessions.empty:
        return
    everybody = pd.MultiIndex.from_frame(sessions[WHOLE])
    for item in ("gender", "race"):
        chosen = asked[(asked["item"] == item) & asked["submitted"]].set_index(WHOLE)["value_text"]
        choices = chosen.reindex(everybody).fillna("").str.split(";")
        known = [option for name, option in paper.PEOPLE if name == item]
        others = sorted({option for options in choices for option in options} - set(known))
        for option in (*known, *others):
            share = np.array([100.0 * (option in options) for options in choices])
            name = f"{item}: {option.replace('_', ' ') or 'not reported'}"
            published = paper.PEOPLE.get((item, option))
            printed = "" if published is None else f"{published:g}"
            of = of_quantity(studies, paper.POOLED, 10, name, PERCENT, printed)
            yield replace(summary(of, share), sd=None)  # nothing varies but yes and no
    levels = asked[(asked["item"] == EXPERIENCE) & asked["submitted"]]["value_text"].dropna()
    experience = plain(levels.str.removeprefix(LEVEL).astype(float))
    if experience.size:
        found_ = paper.find_published(paper.POOLED, "ml experience")
        of = of_quantity(studies, paper.POOLED, 10, "experience with ML", RATING, str(found_))
        yield summary(of, experience)
