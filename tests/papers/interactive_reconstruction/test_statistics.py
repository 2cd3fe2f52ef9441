"""Statistics, groups and changes of interactive reconstruction."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
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

from labapp.analysis import Tables, load
from labapp.analysis.columns import table_columns
from labapp.analysis.tables import build_frame
from labapp.papers.interactive_reconstruction import sections
from labapp.papers.interactive_reconstruction.figures import changes
from labapp.papers.interactive_reconstruction.profile import PROFILE, findings
from labapp.papers.interactive_reconstruction.results import StudyGroup, comparisons, groups_of
from labapp.tasks.reconstruction.report.contents import METRICS
from tests.analysis.test_report import quiet_session
from tests.helpers.compared import group_of
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
    for end, share in ((row["effect_low"], 0.95), (row["effect_high"], 0.05)):
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


GROUPS_WHO = {"study": "s", "session": "1"}


def tables(
    stages: list[dict[str, Any]],
    scores: list[dict[str, Any]] | None = None,
    *,
    paper: str | None = "000",
) -> Tables:
    """Tables of stages of reconstruction, everything else empty. paper: whose study is repeated."""
    repeats = {"replicates_paper": paper, "replicates_study": paper and "mnist-crowd"}

    common = {**GROUPS_WHO, "task": "reconstruction", "included": True}
    people = dict.fromkeys((row.get("study", "s"), row["participant"]) for row in stages)
    rows = {
        "stages": [common | row for row in stages],
        "participants": [
            {
                **GROUPS_WHO,
                "study": study,
                "participant": one,
                "included": True,
                "simulated": False,
                "study_version": 1,
            }
            | repeats
            for study, one in people
        ],
        "scores": [GROUPS_WHO | row for row in scores or []],
    }
    columns = table_columns()
    frames = empty() | {name: build_frame(some, columns[name]) for name, some in rows.items()}
    return Tables.of(frames, frames["snapshots"])


@cache
def empty() -> dict[str, pd.DataFrame]:
    frames = {name: build_frame([], columns) for name, columns in table_columns().items()}
    return frames | {"trials": frames["trials"].astype({"excluded": bool})}


def stage(participant: str, model: str, value: float = 1.0, **more: Any) -> dict[str, Any]:
    number = more.pop("stage_number", 1)
    return {
        "participant": participant,
        "model": model,
        "stage": f"stage-{number}-{model}",
        "stage_number": number,
        "response_time_s": value,
    } | more


def names(groups: list[StudyGroup]) -> list[tuple[str, tuple[str, ...], bool]]:
    return [(group.name, group.models, group.within) for group in groups]


def test_what_nobody_meets_together_is_apart() -> None:
    """5 and 10 dimensions of the think-aloud study."""
    met = {"P01": ("ss5", "ae5", "tc5"), "P02": ("ae10", "ss10", "tc10"), "P03": ("ae5", "ss5")}
    groups = groups_of(
        tables([stage(who, f"mnist8k/{one}") for who, some in met.items() for one in some])
    )
    assert names(groups) == [
        (
            f"reconstruction, mnist (ae{n}, tc{n}, ss{n})",
            tuple(f"mnist8k/{one}{n}" for one in ("ae", "tc", "ss")),
            True,
        )
        for n in (5, 10)
    ]
    assert [group.participants for group in groups] == [2, 1]


def test_one_model_each_is_one_group_between_participants() -> None:
    some = ("ss10", "ae5", "ig5", "ss5")
    rows = [stage(f"P{n}", f"mnist8k/{one}") for n, one in enumerate([*some, *some])]
    (group,) = groups_of(tables(rows))
    assert names([group]) == [
        (
            "reconstruction, mnist",
            ("mnist8k/ae5", "mnist8k/ig5", "mnist8k/ss5", "mnist8k/ss10"),
            False,
        )
    ]
    assert group.participants == 8


def test_who_took_part_twice_counts_with_the_first_model_where_each_meets_one() -> None:
    some = ("ae5", "vae5", "ss5")
    rows = [stage(f"P{n}", f"mnist8k/{one}", float(n)) for n, one in enumerate(some * 3)]
    rows.append(stage("P0", "mnist8k/ss5", 99.0, session="2"))
    known = tables(rows)
    met = [("P0", "1", "mnist8k/ae5"), ("P0", "2", "mnist8k/ss5"), ("P2", "1", "mnist8k/ss5")]
    questions: list[dict[str, Any]] = [
        {**GROUPS_WHO, "participant": who, "session": session, "model": model, "role": "stage"}
        | {"task": "reconstruction", "excluded": False}
        for who, session, model in met
    ]
    known = replace(known, trials=build_frame(questions, table_columns()["trials"]))
    (group,) = groups_of(known)
    assert (len(group.models), group.within, group.participants, group.first_only) == (
        *(3, False, 9),
        1,
    )
    assert group.values["response_time_s"].to_list() == list(range(9))
    assert group.trials["session"].to_list() == ["1", "1"]
    said = " ".join(sections.of_task("reconstruction", findings(known)))
    assert "9 participants, 3 models between participants." in said
    assert "1 participant also saw another model; only the first counts." in said


def test_models_that_are_met_together_are_within_beside_others_that_are_not() -> None:
    rows = [stage(f"P{n}", f"x/{one}") for n in range(3) for one in "ab"]
    rows += [stage(f"P{n}", f"x/{one}") for n, one in enumerate("cdcd", start=3)]
    assert names(groups_of(tables(rows))) == [
        ("reconstruction, unknown data set (x/a, x/b)", ("x/a", "x/b"), True),
        ("reconstruction, unknown data set (x/c, x/d)", ("x/c", "x/d"), False),
    ]


def test_studies_tasks_and_data_sets_are_apart_and_other_tasks_are_none() -> None:
    rows = [
        stage("P01", "dsprites/ae"),
        stage("P01", "sinelines/gt"),
        stage("P01", "sinelines/gt", task="single-dimension-exemplars"),
        stage("P01", "sinelines/gt", task="calibration"),
        stage("P01", "sinelines/gt", study="other"),
    ]
    found = [(one.study, one.task, one.dataset) for one in groups_of(tables(rows))]
    assert found == [
        ("other", "reconstruction", "sinelines"),
        ("s", "reconstruction", "dsprites"),
        ("s", "reconstruction", "sinelines"),
        ("s", "single-dimension-exemplars", "sinelines"),
    ]
    assert groups_of(tables([stage("P01", "x/y", task="unmasking")])) == []


def test_without_the_papers_analysis_models_of_one_task_are_one_comparison() -> None:
    """Three models of two data sets that participants met together, with values and no tests."""
    met = ("sinelines/gt", "dsprites/ae", "mnist8k/ae5")
    known = tables([stage(f"P{n}", model) for n in range(6) for model in met], paper=None)
    (result,) = findings(known)
    assert names([result.group]) == [("reconstruction", result.group.models, True)]
    assert set(result.group.models) == set(met)
    assert (result.group.follows, result.n_tests) == (False, 0)
    (compared,) = result.compared
    assert (compared.omnibus, compared.pairs, len(compared.rows)) == (None, [], 3)
    assert PROFILE.compared(known) == [], "such a study is planned by its design"


def test_a_model_in_two_stages_has_their_mean() -> None:
    rows = [stage("P01", "x/a", 2.0), stage("P01", "x/a", 5.0, stage_number=2)]
    (group,) = groups_of(tables(rows))
    assert group.values[["response_time_s", "stage"]].to_numpy().tolist() == [
        [3.5, "stage-1-x/a;stage-2-x/a"]
    ]
    assert not group.within


EASY = {"instrument": "synthetic-end", "score": "stage_easy"}


def test_values_are_in_the_unit_of_their_metric_and_of_questionnaires_too() -> None:
    rows = [stage("P01", "x/a", completion_rate=0.4), stage("P01", "x/b", stage_number=2)]
    asked = {"participant": "P01", "instrument": "nasa-tlx", "score": "effort"}
    scores = [
        asked | {"about": "stage-1-x/a", "value": 35.0},
        asked | {"about": None, "value": 90.0},
        asked | {"about": "stage-2-x/b", "value": 2.0} | EASY,
        asked | EASY | {"about": None, "score": "frustrating", "value": 5.0},
    ]
    (group,) = groups_of(tables(rows, scores))
    own = group.values.set_index("model")
    assert own["completion_rate"].tolist()[0] == pytest.approx(40)
    assert own["effort"].dropna().to_dict() == {"x/a": 35.0}
    assert own["post_quiz_difficulty"].dropna().to_dict() == {"x/b": 4.0}
    assert "seq" not in own, "it was not asked"


def test_a_group_of_one_model_or_one_participant_has_values_without_tests() -> None:
    (group,) = groups_of(tables([stage("P01", "x/a"), stage("P02", "x/a", 3.0)]))
    (one,) = comparisons(group)
    assert (one.values("x/a").mean, one.omnibus, one.pairs) == (2.0, None, [])
    alone = tables([stage("P01", "x/a"), stage("P01", "x/b", 3.0)])
    (found,) = findings(alone)
    (compared,) = found.compared
    assert compared.omnibus is not None
    assert compared.omnibus.why == "there are too few values"
    assert compared.pairs[0].why == "there are too few values"
    assert (found.n_tests, found.threshold) == (0, 0.05)


def test_nobody_at_all() -> None:
    assert findings(tables([])) == ()


def test_simulated_sessions_have_their_groups(whole: Analysed) -> None:
    groups = [one.group for one in whole.groups]
    assert [(g.study, g.task, g.within, g.participants, g.simulated) for g in groups] == [
        ("small-between", "reconstruction", False, 8, 8),
        ("small-within", "reconstruction", True, 5, 5),
        ("small-within", "single-dimension-exemplars", True, 5, 5),
    ]
    assert all(group.models == MODELS for group in groups)
    assert [len(group.trials) for group in groups] == [8, 5 * 3, 5 * 3 * 5]
    repeats = {one.metric.column for one in whole.groups[1].compared if one.repeats}
    assert repeats == {"error_auc_mean"}


@pytest.mark.parametrize("skipped", ["unsolved", "left_out"])
def test_they_are_the_columns_of_the_table_of_stages(tmp_path: Path, skipped: str) -> None:
    declared = {"missing": {"skipped_trials": skipped}}
    outcomes = ["solved", "skipped", "solved", "solved", "solved"]
    for label in ("P01", "P02"):
        quiet_session(label, outcomes, declared).write(tmp_path)
    tables = load(tmp_path).included()
    (found,) = findings(tables)
    stages = tables.stages.set_index("participant")
    assert set(stages["change_completion_rate"]) == {0.5 if skipped == "unsolved" else 0.0}
    shown = set()
    for one in found.compared:
        column = f"change_{one.metric.column}"
        own = changes(found.group, one.metric).set_index("participant")["change"]
        if column not in stages:
            assert own.empty
            continue
        expected = stages[column].dropna().astype(float) * one.metric.factor
        assert own.to_dict() == pytest.approx(expected.to_dict())
        if len(own):
            shown.add(one.metric.column)
    assert shown == {
        *("completion_rate", "response_time_s", "slide_distance"),
        *("error_auc_sum", "error_auc_mean"),
    }


def test_each_session_of_a_participant_has_first_and_last_questions_of_its_own() -> None:
    """The stages of two sessions bear the same id."""
    group = group_of(n=1)
    metric = next(one for one in METRICS if one.column == "response_time_s")
    # 7 questions of 1 s less each, and 3 of 10 s more each: -4 s and 20 s.
    again = group.trials[group.trials["trial"] <= 3].assign(session="2")
    again["duration_s"] = 10.0 * again["trial"]
    both = replace(group, trials=pd.concat([group.trials, again]))
    assert changes(both, metric)["change"].to_list() == pytest.approx([(20 - 4) / 2] * 3)
