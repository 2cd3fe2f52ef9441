"""What each participant did with each model: one row per participant, model and sample of pictures.

Pictures that can be repaired or left alone and were chosen for it (matched), those that were drawn
whatever the model makes of them (natural), and those that were chosen because they cannot be set
right (traps) are never pooled: the first are the primary ones.

Also the models whose concepts were repaired, with the means of what people did with each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy

from labapp.analysis import inference
from labapp.analysis.bootstrap import LEVELS, SEED, Float64, divide_or_nan, interval, weights
from labapp.analysis.column import Column, columns_in, number
from labapp.analysis.inference import round_for_ranks
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables, build_frame
from labapp.analysis.task_records import Row

MODEL = ("study", "stimuli", "manifest_sha256", "model")
"""What tells models of a report apart."""
PERSON = ("study", "participant")
SESSION = (*PERSON, "session")
TRIAL = (*SESSION, "stage", "trial", "attempt")
MATCHED, NATURAL, TRAPS = "matched", "natural", "traps"
SAMPLES = (MATCHED, NATURAL, TRAPS)
"""The first is primary, the second secondary, the third exploratory."""
BUILT_IN = ("trap", "unrepairable")
"""Types of pictures that were chosen because they cannot be set right."""
OWN = ("correction", "confirmation")
"""Changes that set a concept on or off."""
SURPRISE = "surprise"
"""The code of an utterance that an expectation was violated, as in the codebook
`concept-repair`."""
WITHIN_S = 5.0
"""Seconds after an update in which an utterance is about it."""
PROMPTED_S = 10.0
"""Seconds after a prompt of the moderator in which what is said may answer it, and is left out."""


@dataclass(frozen=True)
class Measure:
    """A measure of what people do.

    Attributes
    ----------
    title : as figures and tables call it.
    unit : its unit.
    meaning : how it is worked out, for the dictionary of columns and the definitions.
    share : whether it is shown in percent.
    rises : 1 if it is said to rise with impurity, -1 if to fall, 0 if nothing is said.
    """

    title: str
    unit: str
    meaning: str
    share: bool = True
    rises: int = 0


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "success": Measure(
            "Success", "0-1", "pictures finished with Done and a correct answer / all"
        ),
        "gain": Measure(
            "Gain",
            "-1 to 1",
            "right when the picture was left, minus right without any change; mean over pictures",
            rises=-1,
        ),
        "harm": Measure(
            "Harm", "0-1",
            "settings to the true value that turned a right answer wrong / all such settings "
            "while the answer was right",
            rises=1,
        ),
        "harm_corrections": Measure("Harm by corrections", "0-1", "the same for corrections"),
        "harm_confirmations": Measure("Harm by confirmations", "0-1", "the same for confirmations"),
        "foresee": Measure(
            "Forecast, minus chance", "-1 to 1",
            "answers forecast correctly / answers forecast, of those not seen before in the "
            "picture, minus the share expected from guessing among the classes",
            rises=-1,
        ),
        "foretold": Measure("Forecast correctly", "0-1", "the same without subtracting guesses"),
        "unchanged": Measure(
            "Answer unchanged", "0-1",
            "share of the same answers that stayed as they were: how often a person is right "
            "who always forecasts “the same”",
        ),
        "foretold_less_unchanged": Measure(
            "Forecast correctly, minus unchanged", "-1 to 1",
            "foretold minus unchanged",
            rises=-1,
        ),
        "foresee_sure": Measure(
            "Forecast correctly, sure", "0-1", "foresee, for answers that people were sure about"
        ),
        "foresee_unsure": Measure("Forecast correctly, unsure", "0-1", "foresee, for the others"),
        "settings_correct": Measure(
            "True settings", "0-1", "corrections and confirmations that set the true value / all"
        ),
        "sure": Measure("Sure", "0-1", "answers forecast with certainty / answers forecast"),
        "side_effects": Measure(
            "Changes with a side effect", "0-1",
            "settings after which the answer says the opposite of another concept / all settings",
            rises=1,
        ),
        "changes": Measure("Changes", "a picture", "settings per picture", share=False),
        "undone": Measure("Undone", "a picture", "changes taken back per picture", share=False),
        "first_change_s": Measure(
            "First change", "s", "median time from a picture's appearance to the first choice",
            share=False,
        ),
        "controls_touched": Measure(
            "Controls touched", "0-1",
            "control pictures in which a change was chosen / all of them; empty in an audit",
        ),
        "surprises": Measure(
            "Surprises", "a minute",
            f"utterances coded as surprise, begun within {WITHIN_S:g} s after an update and not "
            f"within {PROMPTED_S:g} s after a prompt, a minute at pictures; empty where nobody "
            "finished coding the session by a codebook that has the code",
            share=False, rises=1,
        ),
        "grid": Measure(
            "Grid", "-1 to 1",
            "correlation, over pairs of concepts, of the ticks with the absolute deviation of the "
            "purity matrix; computed over all pictures of a stage, so it is the same in both "
            "samples; empty if nothing or everything is ticked",
            share=False, rises=0,
        ),
    }
)  # fmt: skip
"""By column of the table."""

CONCEPT_PARTICIPANTS: tuple[Column, ...] = (
    *columns_in("""
        text study: id of the study
        text participant: label of the participant
        text session: label of the session
        text stimuli: id of the stimulus set
        text manifest_sha256: hash of the set's manifest
        text model: id of the concept model
        text sample: matched (pictures chosen to be repaired or left alone), natural (drawn
            regardless of the model's answer) or traps (chosen because they cannot be repaired)
        text instruction: repair, audit or foresight
        whole n_pictures: pictures that count
        whole n_settings: number of corrections and confirmations, without those of the plan
        whole n_set_correct_before: settings to the true value while the answer was right
        whole n_foretold: answers forecast, of those not seen before in the picture
    """),
    *(number(name, measure.meaning, measure.unit) for name, measure in MEASURES.items()),
)
"""One row per participant, model and sample."""


@dataclass(frozen=True)
class RepairRows:
    """The rows of the tables that count, of stages alone.

    Attributes
    ----------
    repairs, changes, grids : DataFrame
        Of `repairs`, `concept_changes` (with `surprised`, whether an utterance in the seconds after
        it is coded so; NA where nobody finished coding the session) and `concept_grids`.
    surprises : utterances coded as surprise that count, with their trial.
    coded : the sessions of which somebody finished coding surprises: without the code in one of
        them, nobody was surprised.
    """

    repairs: pd.DataFrame
    changes: pd.DataFrame
    grids: pd.DataFrame
    surprises: pd.DataFrame
    coded: frozenset[tuple[str, str, str]]

    @classmethod
    def of(cls, counted: Tables) -> RepairRows:
        tables = counted.small()
        repairs = _counting(tables["repairs"])
        changes = _counting(tables["concept_changes"])
        grids = tables["concept_grids"]
        grids = grids[~grids["excluded"].fillna(value=True) & grids["ticked"].notna()]
        spoken = counted.coded[counted.coded["speaker"].fillna("participant") == "participant"]
        coded = frozenset(_find_finished(counted.participants))
        whose = zip(*(spoken[name] for name in SESSION), strict=True)
        spoken = spoken[np.array([who in coded for who in whose], dtype=bool)]
        surprises = _select_unprompted(spoken[spoken["code"] == SURPRISE], counted.notes)
        surprises = _soon_after(surprises, tables["concept_changes"], changes)
        hit = set(zip(*(surprises[name] for name in (*TRIAL, "change")), strict=True))
        keys = list(zip(*(changes[name] for name in (*TRIAL, "change")), strict=True))
        surprised = [key in hit if key[:3] in coded else None for key in keys]
        changes = changes.assign(surprised=pd.array(surprised, "boolean"))
        return cls(repairs, changes, grids, surprises, coded)

    def settings(self) -> pd.DataFrame:
        """The settings that participants chose themselves."""
        changes = self.changes
        return changes[changes["change_kind"].isin(OWN) & ~changes["given"].astype(bool)]

    def while_right(self) -> pd.DataFrame:
        """Settings to what is true with the answer right before: those that can do harm."""
        chosen = self.settings()
        true = chosen["state_correct"].fillna(value=False).astype(bool)
        return chosen[true & chosen["correct_before"].astype(bool)]

    def foretold(self) -> pd.DataFrame:
        """Changes whose answer was foretold, and not remembered: it had not been seen before."""
        seen = self.changes["seen_before"].astype(bool)
        return self.changes[self.changes["foretold_correct"].notna() & ~seen]


def _counting(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of stages, of attempts that count, with traps as a sample of their own."""
    own = frame[(frame["role"] == "stage") & ~frame["excluded"].astype(bool)]
    traps = (own["sample"] == MATCHED) & own["item"].isin(BUILT_IN)
    return own.assign(sample=own["sample"].mask(traps, TRAPS)).reset_index(drop=True)


def _find_finished(sessions: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """The sessions that somebody finished coding by a codebook with the code."""
    codes = sessions["codes_completed"].fillna("").str.split(";")
    finished = sessions[codes.map(lambda own: SURPRISE in own)]
    for study, participant, session in finished[list(SESSION)].itertuples(index=False):
        yield str(study), str(participant), str(session)


def _select_unprompted(marks: pd.DataFrame, notes: pd.DataFrame) -> pd.DataFrame:
    """Marks that do not begin within some seconds after a prompt."""
    prompts = notes[(notes["kind"] == "prompt") & ~notes["taken_back"].fillna(value=False)]
    times = {
        who: group["onset_s"].to_numpy(np.float64)
        for who, group in prompts.groupby(list(SESSION), sort=False)
    }
    keep = []
    for *who, onset in marks[[*SESSION, "onset_s"]].itertuples(index=False):
        since = float(onset) - times.get(tuple(who), np.empty(0))
        keep.append(not bool(((since >= 0) & (since <= PROMPTED_S)).any()))
    return marks[np.array(keep, dtype=bool)]


def _soon_after(marks: pd.DataFrame, every: pd.DataFrame, counting: pd.DataFrame) -> pd.DataFrame:
    """Marks that begin within some seconds after an update, as marks of the last one before and of
    its picture, which may have been left meanwhile. every: all updates of the sessions; counting:
    the updates that count, of which marks are left."""
    key = [*TRIAL, "change"]
    updates = every[[*key, "session_s"]].dropna(subset="session_s")
    after = pd.merge_asof(
        marks.drop(columns=[*TRIAL[len(SESSION) :]]).sort_values("onset_s"),
        updates.sort_values(["session_s", "change"]),
        left_on="onset_s",
        right_on="session_s",
        by=list(SESSION),
    )
    soon = after["onset_s"] - after["session_s"] <= WITHIN_S
    return after[soon].merge(counting[key], on=key)


def by_person(rows: RepairRows) -> pd.DataFrame:
    """The table `concept_participants`."""
    keys = [*SESSION, *MODEL[1:], "sample", "instruction"]
    settings, right, foretold = rows.settings(), rows.while_right(), rows.foretold()
    grids = dict(iter(rows.grids.groupby([*SESSION, *MODEL[1:]], sort=False)))
    spoken = rows.surprises.groupby(list(TRIAL), sort=False).size()
    others = {name: dict(iter(frame.groupby(keys, sort=False))) for name, frame in (
        ("settings", settings), ("right", right), ("foretold", foretold), ("changes", rows.changes),
    )}  # fmt: skip
    made: list[Row] = []
    for key, repairs in rows.repairs.groupby(keys, sort=True):
        own = {name: frames.get(key, settings[:0]) for name, frames in others.items()}
        grid = grids.get(tuple(key[: len(SESSION) + len(MODEL) - 1]))
        made.append(
            dict(zip(keys, key, strict=True))
            | {
                "n_pictures": len(repairs),
                "n_settings": len(own["settings"]),
                "n_set_correct_before": len(own["right"]),
                "n_foretold": len(own["foretold"]),
            }
            | _of_pictures(repairs)
            | _of_settings(own["settings"], own["right"])
            | _of_foretold(own["foretold"])
            | {
                "surprises": _a_minute(repairs, spoken) if tuple(key[:3]) in rows.coded else None,
                "grid": None if grid is None else correlation(grid),
            }
        )
    return build_frame(made, CONCEPT_PARTICIPANTS)


def _of_pictures(repairs: pd.DataFrame) -> Row:
    controls = repairs[repairs["item"] == "control"]
    instruction = str(repairs["instruction"].iloc[0])
    first = repairs["first_change_s"].dropna()
    if instruction == "foresight":  # nothing is set freely, so that there is no success
        return {}
    return {
        "success": _mean(repairs["success"]),
        "gain": _mean(repairs["gain"]),
        "changes": _mean(repairs["n_changes"]),
        "undone": _mean(repairs["n_undone"]),
        "first_change_s": float(first.median()) if len(first) else None,
        # In an audit everything is to be set.
        "controls_touched": None if instruction == "audit" else _mean(controls["touched"]),
    }


def _of_settings(settings: pd.DataFrame, right: pd.DataFrame) -> Row:
    effects = settings["n_side_effects"].dropna()
    return {
        "settings_correct": _mean(settings["state_correct"]),
        "side_effects": _mean(effects > 0),
        "harm": _mean(right["harm"]),
        **{f"harm_{kind}s": _mean(right[right["change_kind"] == kind]["harm"]) for kind in OWN},
    }


def _of_foretold(foretold: pd.DataFrame) -> Row:
    hits = foretold["foretold_correct"].astype("boolean")
    sure = foretold["sure"].astype("boolean").fillna(value=False)
    rate, chance = _mean(hits), _mean(foretold["chance"])
    same = _mean(foretold["answer_after"] == foretold["answer_before"])
    return {
        "foresee": None if rate is None or chance is None else rate - chance,
        "foretold": rate,
        "unchanged": same,
        "foretold_less_unchanged": None if rate is None or same is None else rate - same,
        "foresee_sure": _mean(hits[sure]),
        "foresee_unsure": _mean(hits[~sure]),
        "sure": _mean(foretold["sure"]),
    }


def _a_minute(repairs: pd.DataFrame, spoken: pd.Series[int]) -> float | None:
    minutes = float(repairs["response_s"].fillna(0).sum()) / 60
    keys = zip(*(repairs[name] for name in TRIAL), strict=True)
    marks = sum(int(spoken.get(key, 0)) for key in keys)
    return marks / minutes if minutes > 0 else None


def correlation(grid: pd.DataFrame) -> float | None:
    """Pearson's correlation of ticks with absolute deviations over the pairs of a grid; None if
    either is the same for all pairs."""
    known = grid[grid["deviation"].notna()]
    ticks = known["ticked"].astype(float).to_numpy()
    sizes = known["deviation"].abs().to_numpy(np.float64)
    if ticks.size < 3 or np.ptp(ticks) == 0 or np.ptp(sizes) == 0:
        return None
    return float(np.corrcoef(ticks, sizes)[0, 1])


def _mean(values: pd.Series[Any]) -> float | None:
    known = values.dropna().to_numpy(np.float64)
    return float(known.mean()) if known.size else None


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
class StudyModels:
    """The models of one study.

    Attributes
    ----------
    study : its id.
    known : one row per model of a set: the columns of `MODEL`, `name`, `learner`, `task_accuracy`,
        `concept_accuracy`, and one column per measure of `PREDICTORS` and of `SHARES`.
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

    @cached_property
    def _of(self) -> dict[str, pd.DataFrame]:
        """By sample what `of` has found; every table, figure and test asks for it."""
        return {}

    def of(self, sample: str) -> pd.DataFrame:
        """What each participant did with each model on one sample of pictures: one row per
        participant, name of a model and instruction, the mean over sessions of each measure."""
        if sample not in self._of:
            own = self.people[self.people["sample"] == sample]
            own = own.merge(self.known[[*MODEL, "name"]], on=list(MODEL), how="left")
            measures = own[list(MEASURES)].astype(np.float64)
            keys = [own[key] for key in (*PERSON, "model", "name", "instruction")]
            self._of[sample] = measures.groupby(keys, sort=True).mean().reset_index()
        return self._of[sample]

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

    def correlate(self, measure: str, predictor: str, sample: str = MATCHED) -> Statistic:
        """Spearman's correlation over models of a human measure with a measure of the model, with
        its 95 % bootstrap interval over models and people."""
        rows = self.of(sample).dropna(subset=[measure])
        scores = self.known.groupby("model", sort=False)[predictor].mean().dropna()
        names = [name for name in scores.index if (rows["model"] == name).any()]
        known = Statistic(
            item="2", group=sample, quantity=measure, test="Spearman rho", n=len(names),
            compared_with=PREDICTORS.get(predictor, predictor),
        )  # fmt: skip
        if len(names) < 3:
            return replace(known, why=TOO_FEW)
        met = rows[rows["model"].isin(names)]
        table = met.pivot_table(index=list(PERSON), columns="model", values=measure)
        values = table.reindex(columns=names).to_numpy(np.float64)
        x = scores.reindex(names).to_numpy(np.float64)
        rho = inference.spearman(np.nanmean(values, axis=0), x)
        if rho.statistic is None:
            return replace(known, why=rho.why)
        low, high = _bootstrap_rho(values, x)
        return replace(known, statistic=rho.statistic, low=low, high=high)


TOO_FEW = "there are fewer than three models"


def _bootstrap_rho(values: Float64, x: Float64) -> tuple[float | None, float | None]:
    """The interval of rho. values: shape (people, models), NaN if somebody did not meet a model;
    x: shape (models,)."""
    people, models = values.shape
    there = np.isfinite(values)
    drawing = weights(people, DRAWS)
    if not len(drawing):
        return None, None
    mean = divide_or_nan(drawing @ np.nan_to_num(values), drawing @ there)
    chosen = np.random.default_rng(SEED).integers(models, size=(DRAWS, models))
    picked, scores = np.take_along_axis(mean, chosen, axis=1), x[chosen]
    with np.errstate(invalid="ignore", divide="ignore"):
        ranks = [scipy.stats.rankdata(round_for_ranks(each), axis=1) for each in (picked, scores)]
        first, other = (each - each.mean(axis=1, keepdims=True) for each in ranks)
        squares = (first**2).sum(axis=1) * (other**2).sum(axis=1)
        rhos = (first * other).sum(axis=1) / np.sqrt(squares)
    distinct = (np.diff(np.sort(scores, axis=1), axis=1) > 0).sum(axis=1) >= 2
    rhos = rhos[distinct & np.isfinite(picked).all(axis=1) & np.isfinite(rhos)]
    if len(rhos) < DRAWS / 2:
        return None, None  # of so few models most draws have no correlation
    low, high = np.percentile(rhos, LEVELS)
    return float(low), float(high)


def models_of(counted: Tables, study: str, people: pd.DataFrame) -> StudyModels:
    """The models of a study. people: the table `concept_participants`."""
    rows = counted.small()["concept_models"]
    rows = rows[rows["study"] == study]
    columns = [*MODEL, "learner", "task_accuracy", "concept_accuracy"]
    about = rows.drop_duplicates(list(MODEL))[columns]
    scored = rows[rows["measure"].isin([*PREDICTORS, *SHARES])]
    wide = scored.pivot_table(index=list(MODEL), columns="measure", values="value").reset_index()
    pairs = counted.small()["concept_purities"]
    own = pairs[(pairs["study"] == study) & (pairs["concept"] == pairs["other"])]
    areas = own.groupby(list(MODEL))["purity"].mean().rename(AUC).reset_index()
    known = about.merge(wide.drop(columns=AUC, errors="ignore"), on=list(MODEL), how="left")
    known = known.merge(areas, on=list(MODEL), how="left")
    known = known.sort_values(OIS if OIS in known else "model", kind="stable", ignore_index=True)
    names = known["model"].astype(str)
    for apart in (known["stimuli"].astype(str), known["manifest_sha256"].astype(str).str[:8]):
        names = names.where(~names.duplicated(keep=False), names + ", " + apart)
    known = known.assign(name=names)
    known.columns.name = None
    return StudyModels(study, known, people[people["study"] == study])
