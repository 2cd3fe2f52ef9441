"""Which stages are compared with each other: of one study and one task.

Where a study declares the paper's analysis (paper 000), models of several data sets are compared
apart, as there; in any other, models that participants met in one task are one comparison, whatever
data set they are of.

Where participants meet several models each, models that no participant meets together are groups
apart (5 and 10 dimensions in the think-aloud study); where each meets one, all are one group. There
somebody who took part twice, with another model, counts with the first (5.2.2: each person once).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from labapp.analysis.columns import Metric
from labapp.analysis.declared import declared_of, follows, repeated_study
from labapp.analysis.tables import Tables
from labapp.profiles.interactive_reconstruction.model_cards import published_name, shown_name
from labapp.profiles.interactive_reconstruction.results import Group
from labapp.representations.card import dataset_of
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.labels.names import NAME, PAPER
from labapp.tasks.reconstruction.report.metrics import METRICS
from labapp.tasks.single_dimension.report.metrics import SINGLE_METRICS

TRAVERSALS, EXEMPLARS = "single-dimension-traversals", "single-dimension-exemplars"
TASKS = (RECONSTRUCTION, EXEMPLARS, TRAVERSALS)
"""In the order of Table A.3."""
FAMILIES = ("ae", "vae", "ig", "tc", "ss", "gt")
"""From the least understood to the best, by the names that the paper gives models."""
EASY = ("synthetic-end", "stage_easy")
"""The questionnaire after the quiz, and its statement “Stage k was easy”."""
HIGHEST_ANSWER = 6
"""The difficulty after the quiz is this less the answer to “Stage k was easy” (Table A.3)."""
_WHO = ["study", "participant", "session"]


SCORE_METRICS = (
    Metric("post_quiz_difficulty", "Difficulty (after the quiz)", "1–5", 1.0, 2, (1, 5)),
    Metric("mental_demand", "Mental demand", "0–100", limits=(0, 100)),
    Metric("physical_demand", "Physical demand", "0–100", limits=(0, 100)),
    Metric("temporal_demand", "Temporal demand", "0–100", limits=(0, 100)),
    Metric("performance", "Performance", "0 perfect – 100 failure", limits=(0, 100)),
    Metric("effort", "Effort", "0–100", limits=(0, 100)),
    Metric("frustration", "Frustration", "0–100", limits=(0, 100)),
    Metric("raw_tlx", "Raw TLX", "0–100", limits=(0, 100)),
    Metric("weighted_tlx", "Weighted TLX", "0–100", limits=(0, 100)),
    Metric("systematic_plan", "Had a systematic plan", "1–5", 1.0, 2, (1, 5)),
    Metric("random_experimenting", "Experimented at random", "1–5", 1.0, 2, (1, 5)),
    Metric("understood_dimensions", "Understood the dimensions", "1–5", 1.0, 2, (1, 5)),
)
"""What questionnaires say of a stage, by the names of their scores (Table A.3, Figure 9); the
difficulty after the quiz is 6 less the answer to “Stage k was easy”."""


def metrics_of(task: str) -> tuple[Metric, ...]:
    """The metrics of a task's stages, those of the paper's figures first."""
    return (*(METRICS if task == RECONSTRUCTION else SINGLE_METRICS), *SCORE_METRICS)


def in_order(models: Iterable[str]) -> tuple[str, ...]:
    """Those of the paper, by their cards, by number of dimensions and then as `FAMILIES`; others by
    id."""

    def place(model: str) -> tuple[bool, int, int, str]:
        match = re.fullmatch(r"([a-z]+)(\d*)", published_name(model))
        if match is None or match[1] not in FAMILIES:
            return True, 0, 0, model
        return False, int(match[2] or 0), FAMILIES.index(match[1]), model

    return tuple(sorted(set(models), key=place))


def groups_of(counted: Tables) -> list[Group]:
    """The groups by study and task, and by data set where the study declares the paper's analysis;
    counted: the tables of the sessions that count."""
    stages = counted.stages[counted.stages["task"].isin(TASKS)]
    if stages.empty:
        return []
    stages = _with_scores(stages, counted.scores)
    studies = {str(study) for study in stages["study"].unique()}
    declared = {study: follows(counted, study, NAME, PAPER) for study in studies}
    sets = stages["model"].map(dataset_of).where(stages["study"].map(declared), "")
    stages = stages.assign(dataset=sets)
    trials = counted.trials
    trials = trials[(trials["role"] == "stage") & ~trials["excluded"]]
    programs = counted.participants[counted.participants["simulated"]]
    simulated = set(zip(programs["study"], programs["participant"], strict=True))
    result = []
    cells = [
        ((str(study), TASKS.index(str(task)), str(dataset)), own)
        for (study, task, dataset), own in stages.groupby(["study", "task", "dataset"])
    ]
    for (study, place, dataset), own in sorted(cells, key=lambda cell: cell[0]):
        task = TASKS[place]
        parts = list(_meeting(own))
        for models, within in parts:
            some = own[own["model"].isin(models)]
            again = pd.Series(False, some.index) if within else _again(some)
            values = _values(some[~again], metrics_of(task))
            left_out = frozenset(
                zip(some.loc[again, "participant"], some.loc[again, "model"], strict=True)
            )
            of_group = (trials["study"] == study) & (trials["task"] == task)
            names = ", ".join(map(shown_name, models))
            apart = f" ({names})" if len(parts) > 1 else ""
            result.append(
                Group(
                    study=study,
                    task=task,
                    name=f"{task}{dataset and ', '}{dataset}{apart}",
                    models=models,
                    within=within,
                    values=values,
                    trials=_without(trials[of_group & trials["model"].isin(models)], left_out),
                    simulated=sum(
                        (study, value) in simulated for value in set(values["participant"])
                    ),
                    first_only=some.loc[again, "participant"].nunique(),
                    follows=declared[study],
                    repeats=repeated_study(counted, study, PAPER),
                    missing=declared_of(counted, study).missing,
                )
            )
    return result


def _meeting(stages: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Sets of models that are compared, those of fewer dimensions first; of each whether within
    participants: at least half of them met several models."""
    met = stages.groupby("participant")["model"].agg(frozenset)
    together = sorted(set(met), key=sorted)
    parts: list[set[str]] = []
    for models in together:
        apart = [part for part in parts if not part & models]
        parts = [*apart, set(models).union(*(part for part in parts if part & models))]
    several = [
        part
        for part in parts
        if _mostly_several([met_together for met_together in met if met_together <= part])
    ]
    one_each = set().union(*(part for part in parts if part not in several))
    meetings = [(in_order(part), True) for part in several]
    if one_each:
        meetings.append((in_order(one_each), False))
    ordered = in_order(str(model) for part in parts for model in part)
    yield from sorted(meetings, key=lambda meeting: ordered.index(meeting[0][0]))


def _mostly_several(met: Sequence[frozenset[str]]) -> bool:
    """met: the models of each participant."""
    return 2 * sum(len(models) > 1 for models in met) >= len(met)


def _again(stages: pd.DataFrame) -> pd.Series[bool]:
    """Which stages are of another model than the participant's first, in the order of the table."""
    first = stages.groupby("participant")["model"].transform("first")
    return stages["model"] != first


def _without(trials: pd.DataFrame, left_out: frozenset[tuple[str, str]]) -> pd.DataFrame:
    """left_out: participants and models."""
    counted = [
        both not in left_out for both in zip(trials["participant"], trials["model"], strict=True)
    ]
    return trials[np.array(counted, dtype=bool)].reset_index(drop=True)


def _with_scores(stages: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The stages with a column a score that a questionnaire gave them; NaN where none did."""
    named = [metric.column for metric in SCORE_METRICS]
    asked = scores[scores["about"].notna()][[*_WHO, "about", "instrument", "score", "value"]]
    asked = asked.rename(columns={"about": "stage"})
    easy = asked[(asked["instrument"] == EASY[0]) & (asked["score"] == EASY[1])]
    difficulty = easy.assign(score=named[0], value=HIGHEST_ANSWER - easy["value"])
    both = pd.concat([difficulty, asked[asked["score"].isin(named[1:])]], ignore_index=True)
    wide = both.pivot_table(index=[*_WHO, "stage"], columns="score", values="value", aggfunc="mean")
    wide = wide.reindex(columns=named).reset_index()
    return stages.merge(wide, on=[*_WHO, "stage"], how="left")


def _values(stages: pd.DataFrame, metrics: Iterable[Metric]) -> pd.DataFrame:
    """One row a participant and model, in the metrics' units; metrics without a value are left out.
    A participant who had a model in several stages has the mean of them, and their names with ;
    between them."""
    columns = {
        metric.column: stages[metric.column].astype("float64") * metric.factor
        for metric in metrics
        if stages[metric.column].notna().any()
    }
    frame = stages[["participant", "session", "model", "stage"]].assign(**columns)
    by = frame.groupby(["participant", "model"], sort=True)
    names = by[["session", "stage"]].agg(_listed)
    table = pd.concat([names, by[list(columns)].mean()], axis=1).reset_index()
    return table[["participant", "session", "model", "stage", *columns]]


def _listed(names: pd.Series[str]) -> str:
    return ";".join(dict.fromkeys(names))
