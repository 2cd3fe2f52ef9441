"""Every statistic of judged explanations against scipy, called here on the exported CSV alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from labapp.analysis.analyze import write
from labapp.tasks.judging.report.contents import findings
from tests.helpers.cohort import RISKS, STUDIES, cohort
from tests.helpers.one_test import faults_of
from tests.helpers.statistics_table import of_task

Key = tuple[str, str, str, str, str]
"""Study, quantity, test, what it was compared with, and the value tested against."""
RIGHT = {
    "distinction": "right_distinction",
    "output prediction": "right_output",
    "agreement": "right_agreement",
}
WHO = ["study", "participant", "session"]


FEW = [one for one in STUDIES if one.id in ("bagnet-distinction", "prototree-agreement-tree")]


@pytest.fixture(scope="module", params=[FEW, STUDIES], ids=["few", "all"])
def out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysis")
    write(cohort(studies=request.param), folder)
    return folder


@pytest.fixture(scope="module")
def csv(out: Path) -> dict[str, pd.DataFrame]:
    return {path.stem: pd.read_csv(path) for path in out.glob("*.csv")}


def by_person(frame: pd.DataFrame, column: str, factor: float = 1.0) -> pd.Series[float]:
    known = frame.dropna(subset=[column])
    return known.assign(_=known[column].astype(float)).groupby(WHO)["_"].mean() * factor


def wilcoxon(differences: Any) -> Any:
    # Thirds of a hundred differ in their last digits by how they were computed: those are ties.
    differences = np.round(differences, 9)
    size = np.abs(differences)
    ties = (size == 0).any() or len(set(size)) < len(size)
    return stats.wilcoxon(differences, method="approx" if ties else "exact")


class Expected:
    """Collects (mean, statistic, p) by key."""

    def __init__(self) -> None:
        self.values: dict[Key, tuple[float, float, float]] = {}

    def add(
        self, study: str, quantity: str, test: str, values: Any, found: Any, *, to: str = "",
        against: float | None = None,
    ) -> None:  # fmt: skip
        key = (study, quantity, test, to, "" if against is None else f"{against:g}")
        assert key not in self.values
        statistic, p = (np.nan, np.nan) if found is None else (found.statistic, found.pvalue)
        self.values[key] = (float(np.mean(values)), float(statistic), float(p))

    def mean(self, study: str, quantity: str, values: Any) -> None:
        if len(values):
            self.add(study, quantity, "mean", values, None)

    def one(self, study: str, quantity: str, values: Any, against: float) -> None:
        found = stats.ttest_1samp(values, against)
        self.add(study, quantity, "one-sample t", values, found, against=against)

    def signed(self, study: str, quantity: str, values: Any, against: float) -> None:
        found = wilcoxon(np.asarray(values) - against)
        self.add(study, quantity, "Wilcoxon signed rank", values, found, against=against)

    def both(self, study: str, quantity: str, one: Any, other: Any, to: str, *tests: str) -> None:
        one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
        made: dict[str, Callable[[], Any]] = {
            "two-sample t": lambda: stats.ttest_ind(one, other),
            "paired t": lambda: stats.ttest_rel(one, other),
            "Wilcoxon signed rank": lambda: wilcoxon(one - other),
            "Mann-Whitney U": lambda: stats.mannwhitneyu(one.round(9), other.round(9)),
        }
        for test in tests:
            self.add(study, quantity, test, one, made[test](), to=to)


def accuracies(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Items 1, 2, 3 and the comparison of item 4."""
    photos = csv["judgements"][lambda f: f["task"] != "warm-up"]
    found: dict[tuple[str, str], pd.Series[float]] = {}
    for study, own in photos.groupby("study"):
        for name, column in RIGHT.items():
            values = by_person(own, column, 100)
            if values.empty:
                continue
            found[str(study), name] = values
            chance = 50.0 if name == "agreement" else 25.0
            into.mean(str(study), name, values)
            into.one(str(study), name, values, chance)
            into.signed(str(study), name, values, chance)
            into.add(str(study), name, "Shapiro-Wilk W", values, stats.shapiro(values))
            # Sets are of different sizes here; of equal sizes it is tested below.
            into.add(
                str(study), name, "95 % interval, clustered by set, of the logit", values, None
            )
        if own["right_output"].notna().any():
            one, other = found[str(study), "distinction"], found[str(study), "output prediction"]
            tests = ("two-sample t", "paired t", "Wilcoxon signed rank")
            into.both(str(study), "distinction", one, other, "output prediction", *tests)
    ids = sorted(photos["study"].unique())
    pairs = [
        *combinations([one for one in ids if one.startswith("bagnet")], 2),
        *combinations([one for one in ids if one.startswith("gradcam")], 2),
        ("bagnet-distinction", "gradcam-distinction"),
        ("bagnet-distinction-labels", "gradcam-distinction-labels"),
        ("prototree-agreement", "prototree-agreement-tree"),
    ]
    for one, other in pairs:
        for name in RIGHT:
            if {(one, name), (other, name)} <= set(found):
                first, second = found[one, name], found[other, name]
                tests = ("two-sample t", "Mann-Whitney U")
                into.both(f"{one} + {other}", name, first, second, other, *tests)


def steps(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Item 4."""
    warm_up = csv["judgements"][lambda f: f["task"] == "warm-up"]
    for study, own in warm_up.groupby("study"):
        values = by_person(own, "right_verdict", 100)
        into.mean(str(study), "warm-up, prediction rightly judged", values)
        values = by_person(own, "right_mistake", 100)
        into.mean(str(study), "warm-up, first mistake found", values)
    tree = csv["judgements"][lambda f: f["first_step_error"].notna()]
    right = tree["model_correct"].astype(bool)
    for kind, some in (
        ("all photos", tree),
        ("model wrong", tree[~right]),
        ("model right", tree[right]),
    ):
        for error in ("exact", "too_early", "too_late"):
            if (kind, error) == ("model right", "too_late"):
                assert (some["first_step_error"] != error).all()
                continue
            hit = some.assign(hit=some["first_step_error"] == error)
            name = f"first step disagreed with, {kind}: {error.replace('_', ' ')}"
            into.mean("prototree-agreement-tree", name, by_person(hit, "hit", 100))


def similarities(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Items 5 and 6."""
    for study_, own in csv["similarities"].groupby("study"):
        study = str(study_)
        chosen = own["of_chosen"].astype(bool)
        one, other = own[chosen]["rating"], own[~chosen]["rating"]
        into.mean(study, "similarity, chosen", one)
        into.mean(study, "similarity, others", other)
        into.both(study, "similarity, chosen", one, other, "others, ratings", "two-sample t")
        both = pd.concat(
            [by_person(own[chosen], "rating"), by_person(own[~chosen], "rating")], axis=1
        ).dropna()
        name = "similarity, chosen, by session"
        tests = ("paired t", "Wilcoxon signed rank")
        into.both(study, name, both.iloc[:, 0], both.iloc[:, 1], "others, by session", *tests)
        tree = study.startswith("prototree")
        against = "similarity" if tree else "rank"
        if tree:
            found = stats.pearsonr(own["rating"], own["similarity"])
            name = "rating and the model's similarity, pairs"
            into.add(study, name, "Pearson r", own["rating"], found, to="model's similarity")
        else:
            means = own.groupby("rank")["rating"].mean()
            for rank in means.index:
                values = own[own["rank"] == rank]["rating"]
                into.mean(study, f"rating at rank {rank:g}", values)
            few = len(means) < 3
            rho = None if few else stats.spearmanr(means.index, means)
            name = "mean rating and the model's rank"
            into.add(study, name, "Spearman rho", means, rho, to="model's rank")
        rhos = [stats.spearmanr(p["rating"], p[against]).statistic for _, p in own.groupby(WHO)]
        into.one(study, f"Spearman's rho of rating and {against}, by session", rhos, 0.0)


def belief(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Items 7 and 12."""
    photos = csv["judgements"][lambda f: (f["task"] != "warm-up") & f["agreement"].notna()]
    for study_, own in photos.groupby("study"):
        study, right = str(study_), own["model_correct"].astype(bool)
        for kind, some in (("all", own), ("model right", own[right]), ("model wrong", own[~right])):
            into.one(study, f"belief, {kind}", some["agreement"], 2.5)
            values = by_person(some, "agreement")
            into.one(study, f"belief, {kind}, by session", values, 2.5)
            into.signed(study, f"belief, {kind}, by session", values, 2.5)
        stages = csv["stages"][csv["stages"]["study"] == study]
        into.mean(study, "photos rightly assigned, as told", stages["hits"])
        name = "photos rightly assigned, mean over all ways to break the ties"
        into.mean(study, name, stages["expected_hits"])
        into.mean(study, "photos among which the lot decided", stages["n_ties"])


def confidences(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Item 13: how sure people are of an answer, and whether more so where it is right."""
    photos = csv["judgements"][lambda f: f["task"] != "warm-up"]
    for study_, own in photos.groupby("study"):
        for name, column in (("distinction", "distinction"), ("output prediction", "output")):
            sure, right = f"{column}_confidence", f"right_{column}"
            asked = own.dropna(subset=[sure, right])
            if asked.empty:
                continue
            study, quantity = str(study_), f"confidence, {name}"
            rightly = asked[right].astype(bool)
            one, other = by_person(asked[rightly], sure), by_person(asked[~rightly], sure)
            into.mean(study, quantity, by_person(asked, sure))
            into.mean(study, f"{quantity}, answered rightly", one)
            into.mean(study, f"{quantity}, answered wrongly", other)
            both = pd.concat([one, other], axis=1, join="inner").to_numpy()
            tests = ("paired t", "Wilcoxon signed rank")
            to = "answered wrongly, same sessions"
            into.both(study, f"{quantity}, answered rightly", both[:, 0], both[:, 1], to, *tests)


def questionnaires(csv: dict[str, pd.DataFrame], into: Expected) -> None:
    """Items 8, 9 and 10."""
    answers = csv["answers"]
    studies = [study for study in STUDIES if study.id in set(csv["participants"]["study"])]
    whole = " + ".join(sorted(study.id for study in studies))
    times = ("after intro", "after task", "after results")
    for study in (*studies, None):
        own = answers if study is None else answers[answers["study"] == study.id]
        name = whole if study is None else study.id
        said = own[own["item"] == "understanding"]
        at = [said[said.groupby(WHO).cumcount() == place]["value"] for place in range(3)]
        for place, when in enumerate(times):
            into.mean(name, f"understanding {when}", at[place])
        tests = ("two-sample t", "paired t", "Wilcoxon signed rank")
        into.both(name, "understanding after task", at[1], at[2], "after results", *tests)
        if study is None:
            continue
        by_risk = {risk: own[own["item"] == risk].sort_values(WHO) for risk in RISKS}
        for risk, rows in by_risk.items():
            quantity = f"least accuracy, {risk.removesuffix('_risk')} risk"
            untouched = ~rows["touched"].astype(bool)
            assert (rows["value"].isna() == untouched).all()
            given = rows["value"].dropna()
            into.mean(name, quantity, given)
            into.one(name, quantity, given, study.accuracy)
            into.signed(name, quantity, given, study.accuracy)
            into.mean(name, f"{quantity}, not answered", [100 * untouched.mean()])
        pairs = [by_risk[risk].set_index([*WHO])["value"] for risk in ("low_risk", "high_risk")]
        both = pd.concat(pairs, axis=1, keys=["low", "high"]).dropna()
        low, high = both["low"], both["high"]
        tests = ("paired t", "Wilcoxon signed rank")
        into.both(name, "least accuracy, low risk", low, high, "high risk", *tests)
        people = csv["participants"]
        into.mean(name, "duration", people[people["study"] == name]["duration_s"] / 60)
    sessions = len(csv["participants"])
    for item in ("gender", "race"):
        rows = answers[answers["item"] == item]["value_text"].str.split(";")
        options = set(rows.explode()) | {"woman", "man", "non_binary", "white", "black", "asian"}
        options |= {"american_indian", "hispanic", "pacific_islander"}
        of_item = {"gender": {"woman", "man", "non_binary"}}
        mine = of_item["gender"] if item == "gender" else options - of_item["gender"]
        for option in mine:
            share = 100 * sum(option in row for row in rows) / sessions
            into.mean(whole, f"{item}: {option.replace('_', ' ')}", [share])
        into.mean(whole, f"{item}: not reported", [100 * (sessions - len(rows)) / sessions])
    levels = answers[answers["item"] == "ml_experience"]["value_text"].str[-1].astype(int)
    into.mean(whole, "experience with ML", levels)


def test_every_statistic_is_scipys_on_the_exported_tables(csv: dict[str, pd.DataFrame]) -> None:
    into = Expected()
    for part in (accuracies, steps, similarities, belief, confidences, questionnaires):
        part(csv, into)
    found = {}
    statistics = csv["statistics"]
    for _, row in statistics[statistics["kind"].isna()].iterrows():
        against = "" if pd.isna(row["against"]) else f"{row['against']:g}"
        to = "" if pd.isna(row["compared_with"]) else row["compared_with"]
        key = (row["study"], row["quantity"], row["test"], to, against)
        assert key not in found
        found[key] = (row["mean"], row["statistic"], row["p"])
    assert found.keys() == into.values.keys()
    for key, expected in into.values.items():
        np.testing.assert_allclose(found[key], expected, rtol=1e-9, atol=1e-12, err_msg=str(key))
    enough = 150 if csv["participants"]["study"].nunique() == len(STUDIES) else 30
    assert sum(np.isfinite(p) for _, _, p in found.values()) > enough


def test_n_sd_and_degrees_of_freedom(csv: dict[str, pd.DataFrame]) -> None:
    rows = csv["statistics"]
    accuracy = rows[(rows["item"] == 1) & (rows["test"] == "one-sample t")]
    photos = csv["judgements"]
    for _, row in accuracy.iterrows():
        own = photos[(photos["study"] == row["study"]) & (photos["task"] != "warm-up")]
        values = by_person(own, RIGHT[row["quantity"]], 100)
        assert (row["n"], row["df"]) == (7, 6)
        assert row["sd"] == pytest.approx(values.std(ddof=1))
    items = set(rows[rows["test"] == "two-sample t"]["item"])
    whole = csv["participants"]["study"].nunique() == len(STUDIES)
    assert items == {2, 3, 4, 5, 9} if whole else items
    assert (rows["ours"] | ~rows["test"].isin(["paired t", "Wilcoxon signed rank"])).all()


def test_each_row_is_one_test(csv: dict[str, pd.DataFrame]) -> None:
    assert csv["statistics"]["p"].notna().sum() >= 50
    assert faults_of(csv["statistics"]) == []


def test_the_clustered_interval_of_equal_sets_is_that_of_their_means() -> None:
    tables = cohort(8, [STUDIES[5]]).included()
    photos = tables.judgements.astype({"right_agreement": float})
    means = photos.groupby("set")["right_agreement"].apply(lambda right: 100 * right.mean())
    share = means.mean() / 100
    error = stats.sem(means) / 100 / (share * (1 - share))
    ends = stats.t.interval(0.95, len(means) - 1, np.log(share / (1 - share)), error)
    low, high = (100 / (1 + np.exp(-end)) for end in ends)
    rows = findings(tables).all
    (row,) = [row for row in rows if row.low is not None and row.statistic is None]
    assert (row.low, row.high, row.df) == pytest.approx((low, high, 3))


def test_few_sessions_have_no_star_and_one_has_no_test(tmp_path: Path) -> None:
    (tmp_path / "four").mkdir()
    write(cohort(4, [STUDIES[7]]), tmp_path / "four")
    rows = of_task(tmp_path / "four" / "statistics.csv")
    few = rows[(rows["n"] < 5) & rows["p"].notna()]
    assert len(few) > 5
    assert not few["significant"].astype(bool).any()
    write(cohort(1, [STUDIES[7]]), tmp_path / "one")
    rows = of_task(tmp_path / "one" / "statistics.csv")
    alone = rows[(rows["item"] == 1) & (rows["test"] == "one-sample t")]
    assert (alone["n"].item(), alone["p"].isna().item()) == (1, True)
