"""The zoo of paper 002, 5.1: its recipes, what is kept of it, and the sections made of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks import model_zoo
from benchmarks.reproduction import figure_1a, metric_disagreements, metric_ranks, zoo_models
from benchmarks.reproduction.results import Store
from benchmarks.reproduction.verdicts import Verdict
from labapp.base.errors import ModelError
from labapp.models.representations import card as cards

RESULTS = Store(None).at("M")
Score = Callable[[int, int], float]
"""Of the number of the objective and the seed."""


def kept(scores: Mapping[str, Score], data: str = "sinelines") -> dict[str, dict[str, Any]]:
    """All models of a data set; a metric that is not given is noise."""
    random = np.random.default_rng(0)
    every = {}
    names = list(model_zoo.OBJECTIVES)
    for name, recipe in model_zoo.recipes(data, model_zoo.SEEDS):
        place = names.index(name)
        every[recipe.id] = {
            "recipe_sha256": recipe.digest,
            "precision": recipe.optimizer.precision,
            "error": 1.0,
            "rows": 5_000,
            "factors": ["a", "b"],
            "scores": {
                metric: scores[metric](place, recipe.seed) if metric in scores else random.random()
                for metric in model_zoo.METRICS
            },
            "mutual_information": np.full((10, 2), place / 10).tolist(),
            "importance": np.eye(10)[:, :2].tolist(),
        }
    return every


@pytest.fixture
def zoo(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, dict[str, Any]]], None]:
    """Puts models in the place of those that are kept."""
    return lambda every: monkeypatch.setattr(model_zoo, "kept", lambda: every)


# --- training -------------------------------------------------------------------------------------


def test_the_recipes_are_three_seeds_of_eight_objectives_the_first_seeds_first() -> None:
    for data in model_zoo.DATA:
        every = list(model_zoo.recipes(data, 3))
        assert [recipe.seed for _, recipe in every] == [0] * 8 + [1] * 8 + [2] * 8
        assert len({recipe.digest for _, recipe in every}) == 24
        assert {recipe.dimensions for _, recipe in every} == {10}
        assert {recipe.data.dataset for _, recipe in every} == {data}
    weights = [recipe.objective.kl for _, recipe in every if recipe.objective.name == "vae"]
    assert weights[:5] == [1, 2, 4, 8, 16]


def test_a_model_counts_in_either_precision_and_of_its_own_recipe_alone() -> None:
    pairs = zip(*(model_zoo.recipes("dsprites", 1, p) for p in model_zoo.PRECISIONS), strict=True)
    (_, plain), (_, short) = next(pairs)
    _, other = next(pairs)[0]
    assert plain.digest != short.digest
    for recipe in (plain, short):
        entry = {"recipe_sha256": recipe.digest}
        assert model_zoo.counts(entry, plain)
        assert model_zoo.counts(entry, short)
        assert not model_zoo.counts(entry, other)
    assert not model_zoo.counts(None, plain)


def test_what_is_scored_is_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_zoo, "FILE", tmp_path / "zoo.json")
    trained: list[str] = []
    monkeypatch.setattr(model_zoo, "trained", lambda recipe, work: trained.append(recipe.id))
    monkeypatch.setattr(
        model_zoo, "scored", lambda recipe, work: {"recipe_sha256": recipe.digest, "scores": {}}
    )
    command = ["model_zoo", "--work", str(tmp_path / "work"), "--data", "sinelines"]
    monkeypatch.setattr("sys.argv", [*command, "--seeds", "1"])
    model_zoo.main()
    assert len(trained) == 8
    # One that is of another recipe now is trained anew, and so are those of a further seed.
    model_zoo.keep(trained[3], {"recipe_sha256": "0" * 64, "scores": {}})
    monkeypatch.setattr("sys.argv", [*command, "--seeds", "2"])
    model_zoo.main()
    assert trained[8:9] == trained[3:4]
    assert len(trained) == 8 + 1 + 8
    assert list(model_zoo.kept()) == sorted(set(trained))


def test_a_model_of_another_recipe_is_not_scored_as_one_of_this(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, recipe = next(model_zoo.recipes("sinelines", 1))
    (tmp_path / recipe.id).mkdir(parents=True)
    for digest in (recipe.digest, "0" * 64):
        made = SimpleNamespace(training=SimpleNamespace(recipe_sha256=digest))
        monkeypatch.setattr(cards, "read", lambda folder, made=made: made)
        if digest == recipe.digest:
            assert model_zoo.trained(recipe, tmp_path) == tmp_path / recipe.id
        else:
            with pytest.raises(ModelError, match="another recipe"):
                model_zoo.trained(recipe, tmp_path)


def test_what_is_kept_is_of_the_recipes_as_they_are() -> None:
    every = model_zoo.kept()
    assert sum(map(len, zoo_models.models().values())) == len(every) > 0
    for entry in every.values():
        assert set(entry["scores"]) == set(model_zoo.METRICS)
        assert np.shape(entry["mutual_information"]) == (10, len(entry["factors"]))
        # The share of a code in a factor's regressor.
        np.testing.assert_allclose(np.sum(entry["importance"], axis=0), 1, atol=1e-4)


# --- rank correlations ----------------------------------------------------------------------------


def verdicts(data: str = "dSprites") -> list[Verdict]:
    return [claim.verdict for claim in metric_ranks.claims(RESULTS) if f"on {data}" in claim.says]


def test_metrics_that_agree_and_metrics_that_do_not(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    def along(place: int, seed: int) -> float:
        return place + seed / 10

    agreeing = dict.fromkeys(metric_ranks.IN_THE_PAPER, along)
    both = {**kept(agreeing), **kept(agreeing, "dsprites")}
    zoo(both)
    assert verdicts() == verdicts("Sinelines") == [Verdict.HOLDS] * 4
    # Of a data set without models nothing can be told.
    zoo(kept(agreeing))
    assert verdicts() == [Verdict.OPEN] * 4
    against = {**agreeing, "dcimig": lambda place, seed: -place - seed / 10}
    zoo({**kept(against), **kept(agreeing, "dsprites")})
    # Each data set is judged by itself; what the paper does not have is not counted to it.
    assert verdicts("Sinelines") == [Verdict.FAILS, Verdict.FAILS, Verdict.HOLDS, Verdict.FAILS]
    assert verdicts() == [Verdict.HOLDS] * 4
    sources = [claim.source for claim in metric_ranks.claims(RESULTS)]
    assert sources == ["paper"] * 4 + ["beyond"] * 4
    assert "| DCIMIG and MIG | -1.00 |" in "\n".join(metric_ranks.body(RESULTS))


def test_lower_is_better_for_impurity(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    zoo(kept({"mig": lambda place, seed: place, "ois": lambda place, seed: -place}))
    models = zoo_models.models()["sinelines"]
    assert metric_ranks.rho(models, ("mig", "ois"), by_objective=False).mean == pytest.approx(1)


def test_a_metric_that_scores_all_models_alike_leaves_the_claim_of_all_open(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    alike: dict[str, Score] = {
        name: lambda place, seed: place + seed / 100 for name in metric_ranks.IN_THE_PAPER
    }
    zoo(kept(alike))
    of_data = zoo_models.models()["sinelines"]
    assert verdicts("Sinelines") == [Verdict.HOLDS] * 4
    zoo(kept({**alike, "sap": lambda place, seed: 0.5}))
    assert verdicts("Sinelines") == [*[Verdict.HOLDS] * 3, Verdict.OPEN]
    # Of models with three seeds each, n counts what is drawn from.
    for by_objective, n in ((True, 8), (False, 24)):
        assert metric_ranks.rho(of_data, ("mig", "sap"), by_objective=by_objective).n == n


def test_the_bootstrap_is_that_of_a_plain_loop() -> None:
    random = np.random.default_rng(1)
    one = random.integers(0, 6, 12).astype(float)
    other = one + random.normal(size=12).round()
    other[5] = np.nan
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4])
    drawn = metric_ranks.resampled(one, other, groups)
    assert drawn.shape == (metric_ranks.DRAWS,)
    chosen = np.random.default_rng(metric_ranks.SEED).integers(5, size=(metric_ranks.DRAWS, 5))
    for draw in range(30):
        rows = np.concatenate([np.flatnonzero(groups == group) for group in chosen[draw]])
        rows = rows[rows != 5]
        known = stats.spearmanr(one[rows], other[rows]).statistic
        assert drawn[draw] == pytest.approx(known)


def test_intervals_over_objectives_are_wider_where_seeds_are_alike(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    def bent(place: int, seed: int) -> float:
        return (3 * place) % 8 + seed / 100

    zoo(kept({"mig": lambda place, seed: place + seed / 100, "dci": bent}))
    models = zoo_models.models()["sinelines"]
    over = [metric_ranks.rho(models, ("mig", "dci"), by_objective=by) for by in (False, True)]
    widths = [evidence.high - evidence.low for evidence in over]
    assert widths[1] > widths[0]


# --- disagreements --------------------------------------------------------------------------------


def pairs(found: Sequence[metric_disagreements.Disagreement]) -> list[tuple[str, str]]:
    return [(pair.first.name, pair.second.name) for pair in found]


def test_the_pair_that_two_metrics_order_most_differently(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    def swapped(place: int, seed: int) -> float:
        # The first and the last objective change places, with their first seed alone.
        if seed == 0 and place in (0, 7):
            place = 7 - place
        return place + seed / 10

    zoo(kept({"mig": lambda place, seed: place + seed / 10, "dcimig": swapped}))
    models = zoo_models.models()["sinelines"]
    found = metric_disagreements.disagreements(models, "mig")
    assert pairs(found)[0] == ("ae, seed 0", "tcvae-10, seed 0")
    assert found[0].strength == pytest.approx(7 / 7.2)
    for pair in found:
        assert pair.first.score("dcimig") > pair.second.score("dcimig")
        assert pair.first.score("mig") < pair.second.score("mig")
    assert "| Sinelines | MIG and DCIMIG | 276 |" in "\n".join(metric_disagreements.body(RESULTS))
    assert list(metric_disagreements.draw(RESULTS)) == ["metric-disagreements-sinelines"]


def test_metrics_that_agree_have_no_such_pair(
    zoo: Callable[[Mapping[str, dict[str, Any]]], None],
) -> None:
    same: Score = lambda place, seed: place + seed / 10  # noqa: E731
    zoo(kept({"mig": same, "dcimig": same}))
    models = zoo_models.models()["sinelines"]
    assert metric_disagreements.disagreements(models, "mig") == []


# --- Figure 1(a) ----------------------------------------------------------------------------------


def test_the_stand_in_for_cub_is_called_so() -> None:
    table, names = figure_1a.attributes()
    assert table.shape == (20, 11)
    assert len(names) == 11
    text = "\n".join(figure_1a.body(RESULTS))
    assert text.startswith("**Not CUB**")
    result, chosen = figure_1a.found()
    assert len(chosen) == 10
    # A breast band is that of two species, the least telling attribute.
    assert "breast band" not in chosen
    assert f"Mean \\|r\\| of two of them: {result.mean:.2f}." in text
