"""The models whose concepts were repaired, with the means of what people did with each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from labapp.analysis import inference
from labapp.analysis.bootstrap import LEVELS, SEED, Float64, divided, interval, weights
from labapp.analysis.inference import levelled
from labapp.analysis.tables import Tables
from labapp.tasks.concept_repair.report.measures import MATCHED, MEASURES, MODEL, PERSON

OIS, COMMON, NIS, AUC = "ois", "ois_common", "nis", "concept_auc"
"""Measures of impurity as sets of stimuli name them: OIS as given, in common coordinates, NIS."""
PREDICTORS = {
    OIS: "OIS",
    COMMON: "OIS, common coordinates",
    NIS: "NIS",
    "ctl": "CTL",
    "icl": "ICL",
    AUC: "Concept AUC",
}
"""Measures that people are compared with: those that sets tell, and how well codes tell their own
concepts, the mean area under the ROC curve. What else sets tell is in the table concept_models."""
SHARES = {"share_trap": "Traps", "share_unrepairable": "Unrepairable"}
"""What sets tell of all the pictures that they were chosen from: the model's own part of what
people can do with it, however careful they are."""
LEAST_MODELS = 12
"""Models of one family from which on something is said of models in general."""
UNKNOWN = "imported"
"""The learner of models of which nobody says how they were trained: that is no family."""
DRAWS = 2000


@dataclass(frozen=True)
class Models:
    """The models of one study.

    Attributes
    ----------
    study : its id.
    known : a row a model of a set: the columns of `MODEL`, `name`, `learner`, `task_accuracy`,
        `concept_accuracy`, and a column a measure of `PREDICTORS` and of `SHARES`.
    people : the rows of the table `concept_participants`.
    """

    study: str
    known: pd.DataFrame
    people: pd.DataFrame

    @property
    def predictors(self) -> list[str]:
        """The measures of `PREDICTORS` that are known of the models."""
        return [name for name in PREDICTORS if name in self.known]

    @property
    def shares(self) -> list[str]:
        """Those of `SHARES` that are known of the models."""
        return [name for name in SHARES if name in self.known]

    @property
    def general(self) -> bool:
        """Whether there are enough models of one family to say something of models in general."""
        met = self.known[self.known["name"].isin(set(self.of(MATCHED)["name"]))]
        one_family = met["learner"].nunique() == 1 and UNKNOWN not in set(met["learner"])
        return one_family and met["model"].nunique() >= LEAST_MODELS

    def of(self, sample: str) -> pd.DataFrame:
        """What each participant did with each model on one sample of pictures: a row a participant,
        name of a model and instruction, the mean over sessions of each measure."""
        own = self.people[self.people["sample"] == sample]
        own = own.merge(self.known[[*MODEL, "name"]], on=list(MODEL), how="left")
        measures = own[list(MEASURES)].astype(np.float64)
        keys = [own[key] for key in (*PERSON, "model", "name", "instruction")]
        return measures.groupby(keys, sort=True).mean().reset_index()

    def means(self, measure: str, sample: str = MATCHED) -> pd.DataFrame:
        """Of each model the mean over participants of a measure: `name`, `n`, `mean`, `low`,
        `high`, by a bootstrap over participants."""
        rows = self.of(sample).groupby([*PERSON, "name"])[measure].mean().dropna().reset_index()
        made = []
        for name in self.known["name"]:
            values = rows[rows["name"] == name][measure].to_numpy(np.float64)
            drawn = weights(values.size, DRAWS)
            means = drawn @ values / values.size if values.size > 1 else np.empty((0,))
            mean = float(values.mean()) if values.size else np.nan
            ends = interval(mean, means)
            made.append((name, values.size, mean, float(ends.low), float(ends.high)))
        return pd.DataFrame(made, columns=["name", "n", "mean", "low", "high"])

    def correlated(self, measure: str, predictor: str, sample: str = MATCHED) -> Correlation:
        """Spearman's correlation over models of a human measure with a measure of the model."""
        rows = self.of(sample).dropna(subset=[measure])
        scores = self.known.groupby("model", sort=False)[predictor].mean().dropna()
        names = [name for name in scores.index if (rows["model"] == name).any()]
        table = rows[rows["model"].isin(names)].pivot_table(
            index=list(PERSON), columns="model", values=measure
        )
        table = table.reindex(columns=names)
        values = table.to_numpy(np.float64)
        x = scores.reindex(names).to_numpy(np.float64)
        if len(names) < 3:
            return Correlation(measure, predictor, len(names), None, None, None, TOO_FEW)
        mean = np.nanmean(values, axis=0)
        rho = inference.spearman(mean, x)
        if rho.statistic is None:
            return Correlation(measure, predictor, len(names), None, None, None, rho.why)
        low, high = _drawn(values, x)
        return Correlation(measure, predictor, len(names), rho.statistic, low, high)


TOO_FEW = "there are fewer than three models"


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho of a human measure with a measure of n models, with its 95 % interval by
    drawing models and people anew; why: there is none."""

    measure: str
    predictor: str
    n: int
    rho: float | None
    low: float | None
    high: float | None
    why: str = ""

    @property
    def title(self) -> str:
        """Of the human measure."""
        return MEASURES[self.measure].title


def _drawn(values: Float64, x: Float64) -> tuple[float | None, float | None]:
    """The interval of rho. values: shape (people, models), NaN where somebody did not meet a model;
    x: shape (models,)."""
    people, models = values.shape
    there = np.isfinite(values)
    drawing = weights(people, DRAWS)
    if not len(drawing):
        return None, None
    mean = divided(drawing @ np.nan_to_num(values), drawing @ there)
    chosen = np.random.default_rng(SEED).integers(models, size=(DRAWS, models))
    picked, scores = np.take_along_axis(mean, chosen, axis=1), x[chosen]
    with np.errstate(invalid="ignore", divide="ignore"):
        ranks = [stats.rankdata(levelled(each), axis=1) for each in (picked, scores)]
        first, other = (each - each.mean(axis=1, keepdims=True) for each in ranks)
        squares = (first**2).sum(axis=1) * (other**2).sum(axis=1)
        rhos = (first * other).sum(axis=1) / np.sqrt(squares)
    distinct = (np.diff(np.sort(scores, axis=1), axis=1) > 0).sum(axis=1) >= 2
    rhos = rhos[distinct & np.isfinite(picked).all(axis=1) & np.isfinite(rhos)]
    if len(rhos) < DRAWS / 2:
        return None, None  # of so few models most draws have no correlation
    low, high = np.percentile(rhos, LEVELS)
    return float(low), float(high)


def models_of(counted: Tables, study: str, people: pd.DataFrame) -> Models:
    """The models of a study. people: the table `concept_participants`."""
    rows = counted.small()["concept_models"]
    rows = rows[rows["study"] == study]
    about = rows.drop_duplicates(list(MODEL))[
        [*MODEL, "learner", "task_accuracy", "concept_accuracy"]
    ]
    scored = rows[rows["measure"].isin([*PREDICTORS, *SHARES])]
    wide = scored.pivot_table(index=list(MODEL), columns="measure", values="value").reset_index()
    pairs = counted.small()["concept_purities"]
    own = pairs[(pairs["study"] == study) & (pairs["concept"] == pairs["other"])]
    areas = own.groupby(list(MODEL))["purity"].mean().rename(AUC).reset_index()
    known = about.merge(wide.drop(columns=AUC, errors="ignore"), on=list(MODEL), how="left")
    known = known.merge(areas, on=list(MODEL), how="left")
    known = known.sort_values(OIS if OIS in known else "model", kind="stable").reset_index(
        drop=True
    )
    names = known["model"].astype(str)
    for apart in (known["stimuli"].astype(str), known["manifest_sha256"].astype(str).str[:8]):
        names = names.where(~names.duplicated(keep=False), names + ", " + apart)
    known = known.assign(name=names)
    known.columns.name = None
    met = people[people["study"] == study]
    return Models(study, known, met)
