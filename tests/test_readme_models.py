"""What models/README.md and the recipes say of the shipped models is what their cards say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.models.explanations import data as classifiers
from labapp.models.metrics.evaluation.scores import compute_all
from labapp.models.metrics.information import mutual_information
from labapp.models.metrics.r4 import r4
from labapp.models.metrics.registry import METRICS
from labapp.models.representations import card, package, recipe
from labapp.models.representations.measuring import load_labelled_encodings
from scripts import models_metrics, models_picture
from scripts.models_table import (
    classifiers_table,
    concepts_table,
    faces_table,
    faces_told,
    metrics_table,
    table,
)

ROOT = Path(__file__).resolve().parents[1]
TRAINED = [
    name
    for name in package.list_packages(resources.models())
    if card.read(resources.models() / name).training is not None
]


def test_the_tables_of_the_models_are_those_of_the_cards() -> None:
    readme = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    assert table() in readme
    assert metrics_table() in readme
    assert classifiers_table() in readme
    assert faces_table() in readme
    assert faces_told() in readme
    assert concepts_table() in readme


KEPT = json.loads(models_metrics.FILE.read_text(encoding="utf-8"))
SCORES = {name: one["scores"] for name, one in KEPT.items()}
QUICK = ("mi", "mig", "sap", "modularity", "dcimig", "factorvae")


def test_the_kept_scores_are_of_every_metric_and_model_with_true_factors() -> None:
    measured = [
        name
        for name in package.list_packages(resources.models())
        if card.read(resources.models() / name).disentanglement is not None
    ]
    assert sorted(SCORES) == sorted(measured) == sorted(models_metrics.MODELS)
    assert {name.split("/")[0] for name in measured} == {"dsprites", "sinelines"}
    assert all(tuple(scores) == models_metrics.NAMES for scores in SCORES.values())


def test_the_kept_scores_are_of_the_models_as_they_are() -> None:
    for name, one in KEPT.items():
        folder = resources.models() / name
        for kept, file in (
            ("weights_sha256", folder / "decoder.safetensors"),
            ("latents_sha256", folder / "latents.npz"),
        ):
            found = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else None
            assert one[kept] == found, (name, kept)


def test_scores_of_a_model_that_is_another_now_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models_metrics.kept() == SCORES
    changed = {**KEPT, "dsprites/ae": {**KEPT["dsprites/ae"], "weights_sha256": "0" * 64}}
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(models_metrics, "FILE", path)
    assert sorted(models_metrics.kept()) == sorted(set(SCORES) - {"dsprites/ae"})


@pytest.mark.parametrize("name", ["dsprites/vae", "sinelines/ae", "sinelines/gt"])
def test_the_kept_scores_are_found_again(name: str) -> None:
    rows = load_labelled_encodings(name)
    assert rows is not None
    for outcome in compute_all(rows.codes, rows.factors, names=QUICK):
        assert outcome.score is not None
        kept = SCORES[name][outcome.metric.name]
        assert outcome.score.score == pytest.approx(kept["score"], abs=0.001)
        told = outcome.score.to_json()["settings"]
        assert isinstance(told, dict)
        assert kept["settings"].items() <= told.items()


@pytest.mark.parametrize(
    "name", ["explicitness", "betavae", "ois", "nis", "alignment-accuracy", "icl"]
)
def test_the_kept_scores_of_slower_metrics_are_found_again(name: str) -> None:
    found, kept = models_metrics.row("sinelines/vae", name), SCORES["sinelines/vae"][name]
    # Networks differ a little between processors.
    assert found["score"] == pytest.approx(kept["score"], abs=0.004)
    assert found["settings"] == kept["settings"]


def test_the_kept_r4_of_the_true_factors_is_that_of_any_of_them() -> None:
    """Of one pair, for all of them take minutes: each factor is its own code."""
    rows, kept = load_labelled_encodings("sinelines/gt"), SCORES["sinelines/gt"]["r4"]
    assert rows is not None
    found = r4(rows.codes[:, [2]], rows.factors[:, [2]])
    assert found.score == pytest.approx(kept["score"], abs=0.0002)
    assert kept["settings"].items() <= found.settings.items()


def test_the_kept_scores_are_the_cards() -> None:
    for name, scores in SCORES.items():
        measured = card.read(resources.models() / name).disentanglement
        assert measured is not None
        assert scores["mig"]["score"] == pytest.approx(measured.mig, abs=1e-5)
        # Trees differ a little between releases of scikit-learn.
        assert scores["dci"]["score"] == pytest.approx(measured.dci.disentanglement, abs=0.02)


def test_the_picture_beside_the_tables_shows_what_the_metrics_were_computed_from() -> None:
    shown = models_picture.representation("sinelines/vae", "VAE")
    rows, kept = load_labelled_encodings("sinelines/vae"), SCORES["sinelines/vae"]
    assert rows is not None
    assert (shown.codes, shown.factors) == (rows.code_names, rows.factor_names)
    # The share of each factor's entropy that its most telling code has.
    entropies = mutual_information(rows.factors, rows.factors).matrix.diagonal()
    share = (shown.information / entropies).max(axis=0).mean()
    assert share == pytest.approx(kept["mi"]["score"], abs=0.001)
    mig, dci = (f"{kept[name]['score']:.2f}" for name in ("mig", "dci"))
    assert shown.scores.startswith(f"MIG {mig}, DCI {dci}, DCI as published ")
    readme = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    assert models_picture.FILE.is_file()
    assert f"../docs/pictures/{models_picture.FILE.name}" in readme


def test_which_models_the_metrics_put_first_is_as_the_readme_says() -> None:
    entangled = set()
    for data in ("dsprites", "sinelines"):
        for name in models_metrics.NAMES:
            metric = METRICS[name]
            sign = 1 if metric.better == "higher" else -1
            ae, vae, gt = (
                sign * SCORES[f"{data}/{kind}"][name]["score"] for kind in ("ae", "vae", "gt")
            )
            assert gt > max(ae, vae), (data, name)
            if ae >= vae:
                entangled.add((data, metric.label))
    assert entangled == {
        ("dsprites", "Modularity"),
        ("dsprites", "Explicitness"),
        ("dsprites", "BetaVAE"),
        ("dsprites", "FactorVAE"),
        ("dsprites", "Concept probe"),
        ("sinelines", "Explicitness"),
        ("sinelines", "Concept probe"),
    }


def test_the_recipe_for_ones_own_pictures_is_one(tmp_path: Path) -> None:
    readme = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    path = tmp_path / "recipe.yaml"
    path.write_text(readme.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    found = classifiers.read(path)
    assert found.data.dataset == "folder"
    assert found.data.names == ("anger", "happiness")
    shipped = classifiers.read(resources.models() / "recipes" / "faces-cnn.yaml")
    assert found.schedule == shipped.schedule


@pytest.mark.parametrize("name", TRAINED)
def test_a_shipped_model_was_made_by_the_recipe_of_its_name(name: str) -> None:
    found = card.read(resources.models() / name)
    made_by = recipe.read(resources.models() / "recipes" / f"{name.replace('/', '-')}.yaml")
    assert found.training is not None
    assert found.training.recipe_sha256 == made_by.digest
    assert (found.title, found.notes) == (made_by.title, made_by.notes)
    assert found.data == made_by.data


def test_the_shipped_weights_are_small_enough_to_ship() -> None:
    size = sum(path.stat().st_size for path in resources.models().glob("*/*/*"))
    assert size < 130e6
