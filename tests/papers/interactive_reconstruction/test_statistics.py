"""Every number of the table of statistics, computed anew by scipy and statsmodels from the CSV
files that an analysis writes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from math import gamma, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import linalg, stats
from statsmodels.stats.anova import AnovaRM, anova_lm

from tests.helpers.one_test import faults_of
from tests.helpers.sample import EVERYTHING
from tests.papers.interactive_reconstruction.conftest import MODELS, PARTICIPANTS, Analysed, read

STAGES_IN_PERCENT = ("completion_rate", "correctness_rate")
WHO = ["participant", "session"]
Expected = dict[str, float]


@pytest.fixture(params=["whole", "gapped"])
def known(request: pytest.FixtureRequest) -> Analysed:
    return request.getfixturevalue(str(request.param))


def test_each_row_is_one_test(known: Analysed) -> None:
    table = read(known.folder, "statistics")
    assert table["p"].notna().sum() > 50
    assert faults_of(table) == []


def values(known: Analysed, row: pd.Series[Any]) -> pd.DataFrame:
    """One value a participant and model, from the tables stages and scores alone: columns p, m,
    y."""
    return _values(known.folder, row["study"], row["group"].partition(",")[0], row["quantity"])


@cache
def _values(folder: Path, study: str, task: str, name: str) -> pd.DataFrame:
    """Many rows are of the same values."""
    stages, scores = read(folder, "stages"), read(folder, "scores")
    own = stages[(stages["study"] == study) & (stages["task"] == task)]
    if name in own:
        y = own[name] * (100 if name in STAGES_IN_PERCENT else 1)
    else:
        given = scores[scores["study"] == study]
        answers = {
            (one["participant"], one["about"], one["score"]): one["value"]
            for _, one in given.iterrows()
        } | {
            (one["participant"], "", one["score"]): one["value"]
            for _, one in given[given["about"].isna()].iterrows()
        }
        y = [
            6 - answers[stage["participant"], stage["stage"], "stage_easy"]
            if name == "post_quiz_difficulty"
            else answers.get((stage["participant"], stage["stage"], name), np.nan)
            for _, stage in own.iterrows()
        ]
    frame = pd.DataFrame({"p": own["participant"], "m": own["model"], "y": y})
    return frame.dropna().reset_index(drop=True)


def wide(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.pivot(index="p", columns="m", values="y")


def complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Those of participants with every model."""
    return frame[frame["p"].isin(wide(frame).dropna().index)]


def samples(frame: pd.DataFrame) -> list[Any]:
    return [frame.loc[frame["m"] == model, "y"].to_numpy() for model in MODELS]


def both(frame: pd.DataFrame, row: pd.Series[Any]) -> tuple[Any, Any]:
    """Of the pair's models: values of participants with both, or of all."""
    if row["design"].startswith("within"):
        pairs = wide(frame)[[row["model"], row["compared_with"]]].dropna()
        return pairs[row["model"]].to_numpy(), pairs[row["compared_with"]].to_numpy()
    one, other = (frame.loc[frame["m"] == row[key], "y"] for key in ("model", "compared_with"))
    return one.to_numpy(), other.to_numpy()


def variance_within(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    own = complete(frame)
    test = AnovaRM(own, "y", "p", within=["m"]).fit().anova_table.iloc[0]
    sums = anova_lm(smf.ols("y ~ C(p) + C(m)", own).fit())["sum_sq"]
    partial = sums["C(m)"] / (sums["C(m)"] + sums["Residual"])
    return of_f(row, test["F Value"], test["Pr > F"], test["Num DF"], test["Den DF"], partial) | {
        "n": own["p"].nunique(),
        "n_left_out": frame["p"].nunique() - own["p"].nunique(),
    }


def variance_between(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    found = stats.f_oneway(*samples(frame))
    sums = anova_lm(smf.ols("y ~ C(m)", frame).fit())["sum_sq"]
    share = sums["C(m)"] / sums.sum()
    of = (found.statistic, found.pvalue, 2, len(frame) - 3)
    return of_f(row, *of, share) | {"n": len(frame), "n_left_out": 0}


def of_f(
    row: pd.Series[Any], f: float, p: float, df: float, error: float, effect: float
) -> Expected:
    for end, share in ((row["effect_low"], 0.975), (row["effect_high"], 0.025)):
        noncentral = end / (1 - end) * (df + error + 1)
        if noncentral > 0:
            assert stats.ncf.cdf(f, df, error, noncentral) == pytest.approx(share, abs=1e-6)
        else:
            assert stats.f.cdf(f, df, error) <= share
    return {"statistic": f, "p": p, "df": df, "df_2": error, "effect": effect}


def generalised(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    within = row["design"].startswith("within")
    own = complete(frame) if within else frame
    sums = anova_lm(smf.ols("y ~ C(p) + C(m)" if within else "y ~ C(m)", own).fit())["sum_sq"]
    return {"effect": sums["C(m)"] / sums.sum()}


def t_paired(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    one, other = both(frame, row)
    found = stats.ttest_rel(one, other)
    ends = found.confidence_interval()
    scale = sqrt(one.size)
    noncentral(row, found.statistic, found.df, scale, 1.0)
    return of_t(found, ends, one, other) | {"effect": found.statistic / scale}


def t_independent(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    one, other = both(frame, row)
    found = stats.ttest_ind(one, other)
    ends = found.confidence_interval()
    scale, df = sqrt(one.size * other.size / (one.size + other.size)), found.df
    small = gamma(df / 2) / (sqrt(df / 2) * gamma((df - 1) / 2))
    noncentral(row, found.statistic, df, scale, small)
    return of_t(found, ends, one, other) | {"effect": small * found.statistic / scale}


def noncentral(row: pd.Series[Any], t: float, df: float, scale: float, small: float) -> None:
    for end, share in ((row["effect_low"], 0.975), (row["effect_high"], 0.025)):
        at = end / small * scale
        assert stats.nct.cdf(t, df, at) == pytest.approx(share, abs=1e-6)


def of_t(found: Any, ends: Any, one: Any, other: Any) -> Expected:
    return {
        "statistic": found.statistic,
        "p": found.pvalue,
        "df": found.df,
        "difference": one.mean() - other.mean(),
        "low": ends.low,
        "high": ends.high,
        "n": one.size,
        "n_2": other.size,
    }


def wilcoxon(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    one, other = both(frame, row)
    apart = np.round(one - other, 9)
    ties = np.unique(np.abs(apart)).size < apart.size or not apart.all()
    found = stats.wilcoxon(apart, method="approx" if ties else "exact")
    return {"statistic": found.statistic, "p": found.pvalue}


def mann_whitney(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    found = stats.mannwhitneyu(*(np.round(one, 9) for one in both(frame, row)))
    return {"statistic": found.statistic, "p": found.pvalue}


def friedman(frame: pd.DataFrame, _: pd.Series[Any]) -> Expected:
    found = stats.friedmanchisquare(*wide(complete(frame)).round(9).to_numpy().T)
    return {"statistic": found.statistic, "p": found.pvalue, "df": 2}


def kruskal(frame: pd.DataFrame, _: pd.Series[Any]) -> Expected:
    found = stats.kruskal(*(np.round(one, 9) for one in samples(frame)))
    return {"statistic": found.statistic, "p": found.pvalue, "df": 2}


def normal(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    if isinstance(row["compared_with"], str):
        one, other = both(frame, row)
        rest = one - other
    elif row["design"].startswith("within"):
        rest = smf.ols("y ~ C(p) + C(m)", complete(frame)).fit().resid
    else:
        rest = smf.ols("y ~ C(m)", frame).fit().resid
    found = stats.shapiro(rest)
    return {"statistic": found.statistic, "p": found.pvalue}


def brown_forsythe(frame: pd.DataFrame, _: pd.Series[Any]) -> Expected:
    found = stats.levene(*samples(frame), center="median")
    return {"statistic": found.statistic, "p": found.pvalue, "df": 2, "df_2": len(frame) - 3}


def eigenvalues(frame: pd.DataFrame) -> Any:
    """Of the covariance of Helmert's contrasts between models."""
    contrasts = wide(complete(frame)).to_numpy() @ linalg.helmert(3).T
    return np.linalg.eigvalsh(np.cov(contrasts.T))


def mauchly(frame: pd.DataFrame, _: pd.Series[Any]) -> Expected:
    own = eigenvalues(frame)
    w = own.prod() / own.mean() ** 2
    n = complete(frame)["p"].nunique()
    chi_square = -(n - 1 - (2 * 4 + 2 + 2) / 12) * np.log(w)
    return {"statistic": w, "p": stats.chi2.sf(chi_square, 2), "df": 2}


def greenhouse_geisser(frame: pd.DataFrame, _: pd.Series[Any]) -> Expected:
    own = eigenvalues(frame)
    shrink = own.sum() ** 2 / (2 * np.square(own).sum())
    plain = AnovaRM(complete(frame), "y", "p", within=["m"]).fit().anova_table.iloc[0]
    df, error = shrink * plain["Num DF"], shrink * plain["Den DF"]
    f = plain["F Value"]
    return {"statistic": f, "p": stats.f.sf(f, df, error), "df": df, "df_2": error}


def mixed(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    """Generalised least squares with the variances that statsmodels estimates; its own test takes
    the coefficients' covariance from numerical second derivatives, which is 4 % off here."""
    own = frame.assign(y=frame["y"] / frame["y"].std())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.mixedlm("y ~ C(m)", own, groups=own["p"]).fit()
    people = pd.get_dummies(own["p"]).to_numpy(float)
    spread = fit.scale * np.eye(len(own)) + fit.cov_re.iloc[0, 0] * people @ people.T
    test = sm.GLS(own["y"], fit.model.exog, spread).fit(cov_type="fixed scale")
    if "estimated as 0" in str(row["why"]):  # where its search ends near 0
        assert fit.cov_re.iloc[0, 0] < 0.1 * fit.scale
        test = sm.OLS(own["y"], fit.model.exog).fit()
    expected = test.wald_test(np.eye(3)[1:], use_f=False, scalar=True).statistic
    assert row["statistic"] == pytest.approx(float(expected), rel=1e-3)
    return {"df": 2, "n": frame["p"].nunique()}


def summary(frame: pd.DataFrame, row: pd.Series[Any]) -> Expected:
    own = frame.loc[frame["m"] == row["model"], "y"].to_numpy()
    return {
        "n": own.size,
        "mean": np.mean(own),
        "median": np.median(own),
        "sd": np.std(own, ddof=1),
        "sd_population": np.std(own),
    }


BY_TEST: dict[str, Callable[[pd.DataFrame, pd.Series[Any]], Expected]] = {
    "mean": summary,
    "repeated-measures ANOVA": variance_within,
    "one-way ANOVA": variance_between,
    "generalised eta squared": generalised,
    "paired t": t_paired,
    "two-sample t": t_independent,
    "Wilcoxon signed rank": wilcoxon,
    "Mann-Whitney U": mann_whitney,
    "Friedman chi-square": friedman,
    "Kruskal-Wallis H": kruskal,
    "Shapiro-Wilk W": normal,
    "Brown-Forsythe F": brown_forsythe,
    "Mauchly's W": mauchly,
    "repeated-measures ANOVA, Greenhouse-Geisser": greenhouse_geisser,
    "linear mixed model, Wald chi-square": mixed,
}


# scipy warns of a sample that does not vary; against one that does, t has a value all the same.
@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
def test_every_row_is_what_scipy_and_statsmodels_say(known: Analysed) -> None:
    rows = known.of_profile()
    assert len(rows) > 300
    if not EVERYTHING:  # of each test every eighth row
        rows = rows[rows.groupby("test").cumcount() % 8 == 0]
    checked: dict[str, int] = {}
    for _, row in rows.iterrows():
        about = (row["group"], row["quantity"], row["test"], row["model"], row["compared_with"])
        has = row["test"] == "mean" or not np.isnan([row["p"], row["effect"]]).all()
        if not has:
            assert isinstance(row["why"], str), about
            continue
        for name, expected in BY_TEST[row["test"]](values(known, row), row).items():
            assert row[name] == pytest.approx(expected, rel=1e-6, abs=1e-9), (*about, name)
        checked[row["test"]] = checked.get(row["test"], 0) + 1
    gaps = {"linear mixed model, Wald chi-square"}
    assert set(checked) >= set(BY_TEST) - gaps
    assert min(checked.values()) >= (2 if EVERYTHING else 1)


def test_without_a_value_there_is_nothing_to_test(known: Analysed) -> None:
    """Where no p is given, the values are too few or do not vary."""
    rows = known.of_profile()
    missing = rows[rows["p"].isna() & rows["test"].isin(["paired t", "two-sample t"])]
    assert len(missing)
    for _, row in missing.iterrows():
        one, other = both(values(known, row), row)
        apart = one - other if row["test"] == "paired t" else np.concatenate([one, other])
        few = min(one.size, other.size) < 2
        assert few or np.ptp(apart) < 1e-9 or (np.ptp(one) == np.ptp(other) == 0)


def test_a_participant_who_lacks_a_model_is_in_the_mixed_model_only(gapped: Analysed) -> None:
    rows = gapped.of_profile()
    own = rows[(rows["study"] == "small-within") & (rows["quantity"] == "response_time_s")]
    own = own[own["group"].str.startswith("reconstruction")]
    variance = own[own["test"] == "repeated-measures ANOVA"].iloc[0]
    everybody = PARTICIPANTS["small-within"]
    assert (variance["n"], variance["n_left_out"]) == (everybody - 1, 1)
    fitted = own[own["item"] == 5]
    assert fitted["n"].tolist() == [everybody]
    pairs = own[own["test"] == "paired t"]
    assert pairs["n"].tolist() == [everybody - 1, everybody - 1, everybody]
    single = rows[rows["group"].str.startswith("single")]
    assert not (single["item"] == 5).any(), "nobody lacks a model there"


def test_correction_is_over_the_tests_that_were_made(known: Analysed) -> None:
    rows = known.of_profile()
    made = rows[
        rows["test"].isin(["repeated-measures ANOVA", "one-way ANOVA", "paired t", "two-sample t"])
    ]
    has = made["p"].notna()
    once = has & (made["quantity"] != "error_auc_mean")
    n = int(once.sum())
    assert made["counted"].astype(bool).tolist() == once.tolist()
    assert (made["n_tests"] == n).all()
    assert rows["counted"].fillna(False).astype(bool).sum() == n
    expected = np.minimum(1.0, made.loc[has, "p"] * n)
    assert made.loc[has, "p_corrected"].to_numpy() == pytest.approx(expected.to_numpy())
    assert not made["ours"].any()
    others = rows[~rows.index.isin(made.index) & (rows["test"] != "mean")]
    assert others["ours"].all()


def test_stars_are_of_the_plain_p_and_of_five_values(known: Analysed) -> None:
    rows = known.of_profile()
    made = rows[rows["n_tests"].notna() & rows["p"].notna()]
    assert made["stars"].notna().any()
    for _, row in made.iterrows():
        between = row["design"].startswith("between")
        n = row[["n", "n_2"]].min() if isinstance(row["compared_with"], str) else row["n"]
        if between and not isinstance(row["compared_with"], str):
            n = min(one.size for one in samples(values(known, row)))
        wanted = sum(row["p"] < limit for limit in (0.0001, 0.001, 0.01, 0.05)) if n >= 5 else 0
        assert ("" if pd.isna(row["stars"]) else row["stars"]) == "*" * wanted
