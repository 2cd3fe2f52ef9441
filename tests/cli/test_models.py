"""`labapp models`, `concepts` and `metrics`: JSON or a table, and clear refusals."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from labapp.base import resources
from labapp.cli import own_models
from labapp.models.concepts import package, recipe, training
from labapp.models.metrics import dci
from labapp.models.metrics.evaluation.scores import without_labels
from labapp.models.metrics.information import mig
from labapp.models.metrics.registry import METRICS
from labapp.models.representations import card as cards
from labapp.models.representations.package import load_package
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.commands import Run
from tests.helpers.nightly import EVERYTHING
from tests.helpers.packages import copied
from tests.helpers.rough_fits import brief_nis as brief_nis
from tests.models.concepts.conftest import toy


@pytest.fixture
def models(labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `labapp models …` in a folder of its own."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return partial(labapp, "models")


def test_list_says_which_models_are_shipped_and_which_ones_own(models: Run, tmp_path: Path) -> None:
    copied(tmp_path / "own", "sinelines/a-rather-long-name")
    copied(tmp_path / "own", "circles/gt", of="circles/gt")
    status, out, _ = models("list")
    assert status == 0
    said = {line.split()[0]: line.split()[1] for line in out.splitlines() if "/" in line}
    assert said["sinelines/a-rather-long-name"] == "own"
    assert said["sinelines/gt"] == "shipped"
    (twice,) = [line for line in out.splitlines() if line.startswith("circles/gt")]
    assert "names two models" in twice
    assert out.splitlines()[-2:] == [
        f"shipped: {resources.models()}",
        f"own:     {tmp_path / 'own'}",
    ]


def test_show_prints_the_card_and_draws_a_sheet_where_it_is_asked_to(
    models: Run, tmp_path: Path
) -> None:
    status, out, _ = models("show", "circles/gt")
    assert status == 0
    assert "architecture: closed-form:circles" in out
    assert "sheet" not in json.loads(models("show", "circles/gt", "--json")[1])
    assert list((tmp_path / "here").iterdir()) == []
    status, out, _ = models("show", "circles/gt", "--out", "dials.png")
    assert out.splitlines()[-1] == "sheet: dials.png"
    drawn = (tmp_path / "here/dials.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    status, out, _ = models("show", "circles/gt", "--json", "--out", "other.png")
    shown = json.loads(out)
    assert (shown["id"], shown["sheet"]) == ("circles/gt", "other.png")
    assert (tmp_path / "here/other.png").read_bytes() == drawn
    status, _, err = models("show", "faces/cnn", "--out", "none.png")
    assert status == 2
    assert "no sliders to draw" in err


def test_show_never_overwrites_what_is_no_such_sheet(models: Run, tmp_path: Path) -> None:
    notes = tmp_path / "here/circles-gt-traversals.png"
    notes.write_text("notes")
    status, out, err = models("show", "circles/gt", "--json", "--out", notes.name)
    assert (status, out) == (3, "")
    assert "exists and is not this sheet" in err
    assert "--out" in err
    assert notes.read_text() == "notes"
    assert [path.name for path in (tmp_path / "here").iterdir()] == [notes.name]


def test_evaluate_says_what_to_do_where_a_card_flatters(
    models: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EVERYTHING:  # which numbers it gets is not the point
        few = partial(dci.GradientBoostingRegressor, n_estimators=10)
        monkeypatch.setattr(dci, "GradientBoostingRegressor", few)
    card = copied(tmp_path / "own", "sinelines/lab") / "model.yaml"
    whole = card.read_text(encoding="utf-8")
    few = whole.replace("count: 50000, held_out: 5000", "count: 150, held_out: 20")
    few = few.partition("\ndisentanglement:")[0]
    card.write_text(few, encoding="utf-8")
    status, out, err = models("evaluate", "sinelines/lab", "--no-metrics", "--json")
    assert (status, json.loads(out)["agrees"], err) == (0, True, "")
    assert "metrics" not in json.loads(out)
    card.write_text(few.replace("mean: 36.6", "mean: 35.6"), encoding="utf-8")
    status, out, err = models("evaluate", "sinelines/lab", "--out", "scores")
    assert (status, out.splitlines()[-1]) == (1, "does not agree")
    assert "differ from those on the card of sinelines/lab" in err
    assert "--data" in err
    assert list((tmp_path / "here").iterdir()) == []


def test_evaluate_gives_every_metric_where_the_data_have_true_factors(
    models: Run, tmp_path: Path
) -> None:
    card = copied(tmp_path / "own", "sinelines/lab") / "model.yaml"
    few = card.read_text(encoding="utf-8").partition("\ndisentanglement:")[0]
    few = few.replace("count: 50000, held_out: 5000", "count: 400, held_out: 40")
    card.write_text(few, encoding="utf-8")
    status, out, _ = models("evaluate", "sinelines/lab", "--json", "--out", "scores")
    assert status == 0
    found = {one["metric"]: one for one in json.loads(out)["metrics"]}
    # Those of a task need labels, which the data have not.
    assert tuple(found) == without_labels()
    assert not {"task-probe", "completeness", "ctl"} & found.keys()
    assert found["ois"]["settings"]["codes"] == "aligned greedily"
    assert found["nis"]["settings"]["factors_are"] == "above the median"
    whole = json.loads((tmp_path / "here/scores/scores.json").read_text(encoding="utf-8"))
    assert whole["scores"] == list(found.values())
    assert whole["factors"] == ["slope", "intercept", "amplitude", "frequency", "phase"]
    assert (tmp_path / "here/scores/mi-mutual_information.svg").is_file()


def test_evaluate_writes_no_folder_that_would_stay_empty(models: Run, tmp_path: Path) -> None:
    for arguments in (("sinelines/gt", "--no-metrics"), ("faces/cnn",)):
        status, out, err = models("evaluate", *arguments, "--out", "scores")
        assert (status, out) == (2, "")
        assert "--out" in err
    assert list((tmp_path / "here").iterdir()) == []


def test_evaluate_computes_nothing_for_a_folder_that_is_there(models: Run, tmp_path: Path) -> None:
    (tmp_path / "here/scores").mkdir()
    status, out, err = models("evaluate", "sinelines/gt", "--out", "scores")
    assert (status, out) == (3, "")
    assert "scores exists" in err


def test_a_model_of_ones_own_is_shown_by_its_id(models: Run, tmp_path: Path) -> None:
    folder = copied(tmp_path / "own", "sinelines/lab")
    status, out, _ = models("show", "sinelines/lab", "--json")
    assert (status, json.loads(out)["folder"]) == (0, str(folder))
    status, _, err = models("show", "mnist/ae5")
    assert status == 2
    assert str(tmp_path / "own") in err
    assert "import-tfjs" in err


def test_a_model_is_called_otherwise_and_its_hash_stays(models: Run, tmp_path: Path) -> None:
    folder = copied(tmp_path / "own", "sinelines/lab")
    card = (folder / "model.yaml").read_bytes()
    status, out, _ = models("title", "sinelines/lab", "Waves  of ours")
    assert (status, out) == (0, "title: Waves of ours\n")
    assert (folder / "model.yaml").read_bytes() == card
    (line,) = [row for row in models("list")[1].splitlines() if row.startswith("sinelines/lab ")]
    assert "Waves of ours" in line
    assert json.loads(models("show", "sinelines/lab", "--json")[1])["title"] == "Waves of ours"
    assert cards.read(folder).title == "Waves of ours"
    assert load_package("sinelines/lab").card.title == "Waves of ours"
    for title in ("", "a" * 201, "a\u202eb"):
        assert models("title", "sinelines/lab", title)[0] == 2
    status, _, err = models("title", "circles/gt", "Mine")
    assert status == 2
    assert "comes with labapp" in err


def test_classifiers_are_listed_as_such(models: Run) -> None:
    rows = [line.split()[:3] for line in models("list")[1].splitlines() if "/" in line]
    assert ["faces/cnn", "shipped", "classifier"] in rows
    assert ["circles/gt", "shipped", "dials"] in rows


def test_a_model_of_ones_own_is_removed_and_no_other(
    models: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_DATA", str(tmp_path / "data"))
    folder = copied(tmp_path / "own", "sinelines/lab")
    study = tmp_path / "mine.yaml"
    study.write_text(STUDY, "utf-8")
    simulate_study(study, 1, "understanding", tmp_path / "data")
    (session,) = (tmp_path / "data/mine").glob("sub-*")
    broken = session.with_name("sub-P9_ses-1_20260102T030405Z")
    broken.mkdir()
    (broken / "journal.sqlite").write_bytes(b"nothing")
    models("title", "sinelines/lab", "Waves")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    status, out, err = models("remove", "sinelines/lab")
    assert (status, out.strip()) == (1, "Nothing was deleted.")
    assert "The study mine uses it in sessions" in err
    assert session.name in err
    assert f"whether these use it: mine/{broken.name}" in err
    assert (folder / "model.yaml").is_file()
    (folder / "notes.txt").write_text("mine", "utf-8")
    status, out, _ = models("remove", "sinelines/lab", "--yes")
    assert status == 0
    assert [path.name for path in folder.iterdir()] == ["notes.txt"], "nothing of anybody else's"
    assert "it also contains notes.txt" in out
    assert models("show", "sinelines/lab")[0] == 2
    for refused in ("circles/gt", "faces/cnn", "sinelines/lab", "../own", "sinelines"):
        assert models("remove", refused, "--yes")[0] == 2
    assert (resources.models() / "circles/gt/model.yaml").is_file()


STUDY = """\
id: mine
title: Mine
version: 1
unnamed_texts: shipped
flow:
  - stages: {task: reconstruction, models: [sinelines/lab], trials: 1, target_alignment: 0.5}
"""

VARIANTS = {
    "id": "tiny/toy",
    "title": "Toy",
    "data": {"dataset": "toy"},
    "learner": {"name": "cbm", "alpha": 0.1},
    "size": "S",
    "variants": {"a": {}, "b": {"seed": 1}},
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with one model."""
    root = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        if not EVERYTHING:
            patch.setitem(recipe.SIZES, "S", replace(recipe.SIZES["S"], toy_epochs=5))
        training.train(toy(), out=root)
    return root


@pytest.fixture
def cli(labapp: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `labapp …` with the models of that folder."""
    monkeypatch.setenv("LABAPP_MODELS", str(own))
    return labapp


def test_models_and_recipes_are_listed(cli: Run) -> None:
    status, out, _ = cli("concepts", "list", "--json")
    assert status == 0
    rows = {row["id"]: row for row in json.loads(out)}
    assert set(recipe.read_shipped()) <= set(rows)
    row = rows["tiny/model"]
    assert (row["learner"], row["size"], row["trained"], row["shipped"]) == (
        "cbm-logits",
        "S",
        True,
        False,
    )
    untrained = next(row for row in rows.values() if not row["trained"])
    assert untrained["learner"]
    _, told, _ = cli("concepts", "list")
    assert f"{untrained['id']} " in told
    assert "OIS" in told
    kinds = {row["id"]: row.get("kind") for row in json.loads(cli("models", "list", "--json")[1])}
    assert kinds["tiny/model"] == "concepts"


def test_a_package_that_is_refused_is_listed_with_the_reason(
    cli: Run, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tiny/model"
    folder.mkdir(parents=True)
    text = (own / "tiny/model/concepts.yaml").read_text(encoding="utf-8")
    (folder / "concepts.yaml").write_text(text.replace("alpha: 0.1", "alpha: 0.2"))
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    status, out, _ = cli("concepts", "list", "--json")
    assert status == 0
    rows = {row["id"]: row for row in json.loads(out)}
    row = rows["tiny/model"]
    assert "a different recipe" in row["problem"]
    assert (row["learner"], row["size"], row["trained"], row["shipped"]) == (
        None,
        None,
        True,
        False,
    )
    assert all({"id", "learner", "size", "shipped"} <= each.keys() for each in rows.values())
    assert "a different recipe" in cli("concepts", "list")[1]


def test_a_card_is_shown_and_so_is_a_recipe_that_is_not_trained(cli: Run, own: Path) -> None:
    for command in ("concepts", "models"):
        _, out, _ = cli(command, "show", "tiny/model", "--json")
        assert json.loads(out)["folder"] == str(own / "tiny/model")
    name = next(each for each in recipe.read_shipped() if each not in package.list_packages())
    _, out, _ = cli("concepts", "show", name, "--json")
    assert json.loads(out)["recipe"]["id"] == name
    status, _, err = cli("concepts", "show", "concepts/none")
    assert status == 2
    assert "There is no model" in err
    status, _, err = cli("models", "show", "tiny/model", "--out", "dials.png")
    assert status == 2
    assert "no sliders" in err


def test_a_file_of_recipes_is_trained_and_what_is_there_is_left(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "recipes.yaml"
    path.write_text(yaml.safe_dump(VARIANTS), encoding="utf-8")
    status, out, _ = cli("concepts", "train", str(path), "--out", str(tmp_path), "--json")
    assert status == 0
    assert json.loads(out) == {
        "folders": [str(tmp_path / "tiny/toy-a"), str(tmp_path / "tiny/toy-b")],
        "there": [],
    }
    codes = [np.load(tmp_path / f"tiny/toy-{name}/codes.npz")["codes"] for name in "ab"]
    assert np.abs(codes[0] - codes[1]).max() > 0.01
    status, out, err = cli("concepts", "train", str(path), "--out", str(tmp_path))
    assert (status, out) == (0, "")
    assert "there already" in err
    status, _, err = cli("models", "train", str(path))
    assert status == 2
    assert "has 2 recipes" in err


def test_numbers_are_computed_again(cli: Run, own: Path) -> None:
    for command in (("concepts", "score"), ("models", "evaluate")):
        status, out, _ = cli(*command, "tiny/model", "--json")
        result = json.loads(out)
        assert (status, result["agrees"]) == (0, True)
        assert result["computed"] == pytest.approx(result["card"], abs=1e-3)
    card = own / "tiny/model/concepts.yaml"
    text = card.read_text(encoding="utf-8")
    stated = yaml.safe_load(text)["scores"]["ois"]
    card.write_text(text.replace(f"ois: {stated}", "ois: 0.0001"), encoding="utf-8")
    try:
        status, out, err = cli("concepts", "score", "tiny/model")
        assert status == 1
        assert "0.0001" in out
        assert "not those on the card" in err
    finally:
        card.write_text(text, encoding="utf-8")


def test_interventions_are_told(cli: Run) -> None:
    _, out, _ = cli("concepts", "intervene", "tiny/model", "--json")
    result = json.loads(out)
    assert [len(result[name]) for name in ("fixed", "subsets", "wrong", "alone")] == [4, 4, 4, 3]
    assert result["fixed"][0] == result["wrong"][0] == result["subsets"][0]
    assert result["fixed"][3] == result["subsets"][3]
    _, told, _ = cli("concepts", "intervene", "tiny/model", "--order", "wrong")
    assert f"{100 * result['wrong'][3]:.1f}" in told
    assert "fixed" not in told
    assert result["score"] == "accuracy"
    _, out, _ = cli("concepts", "intervene", "tiny/model", "--auc", "--json")
    areas = json.loads(out)
    assert areas["score"] == "auc"
    assert 0.5 < areas["fixed"][0] <= 1
    assert areas["fixed"][0] != result["fixed"][0]
    assert areas["fixed"][3] == areas["subsets"][3]
    _, told, _ = cli("concepts", "intervene", "tiny/model", "--auc")
    assert f"{100 * areas['alone'][2]:.1f}" in told
    assert "area under the ROC curve" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "concepts/toy0-cbm", "--size", "XL"), "no size"),
        (("intervene", "tiny/model", "--order", "random"), "no order"),
        (("train", "concepts/none"), "no recipe"),
        (("intervene", "birds/resnet"), "but a concept model (without sliders) is needed"),
    ],
)
def test_wrong_requests_are_refused(cli: Run, arguments: tuple[str, ...], said: str) -> None:
    status, _, err = cli("concepts", *arguments)
    assert status in (2, 3)
    assert said in err


def test_a_model_of_ones_own_is_removed_whole(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    folder = tmp_path / "tiny/model"
    folder.mkdir(parents=True)
    for path in (own / "tiny/model").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert resources.user_models() == tmp_path
    assert own_models.remove("tiny/model") == ["removed: tiny/model"]
    assert not folder.exists()


@pytest.fixture
def metrics(labapp: Run) -> Run:
    """Runs `labapp metrics …` beside codes.npy and factors.npy."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(150, 2)).astype(np.float64)
    np.save("factors.npy", factors)
    np.save("codes.npy", factors + 0.3 * rng.normal(size=factors.shape))
    return partial(labapp, "metrics")


FILES = ("--codes", "codes.npy", "--factors", "factors.npy")

TRAINED = ("concept-probe", "task-probe", "completeness", "ois")

QUICK = [
    option
    for few in (*(f"{name}.epochs=2" for name in TRAINED), "r4.splits=1")
    for option in ("--set", few)
]


def test_one_metric_is_one_json_value_and_nothing_else(metrics: Run) -> None:
    status, out, err = metrics("mig", *FILES, "--json", "--seed", "3", "--as-published")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found) == ["metric", "score", "parts", "settings"]
    known = mig(np.load("codes.npy"), np.load("factors.npy"), as_published=True)
    assert found == known.to_json()


def test_seed_and_settings_reach_the_metric(metrics: Run) -> None:
    for file in ("codes.npy", "factors.npy"):
        np.save(file, np.load(file)[:60])
    said = [
        json.loads(metrics("dci", *FILES, "--json", "--seed", seed)[1]) for seed in ("0", "0", "1")
    ]
    assert said[0] == said[1]
    assert said[0]["score"] != said[2]["score"]
    found = json.loads(metrics("mig", *FILES, "--json", "--set", "bins=5")[1])
    assert found["settings"]["bins"] == 5


def test_one_metric_reads_as_a_table_with_the_names_of_its_columns(metrics: Run) -> None:
    codes = np.load("codes.npy")
    lines = ["left,right", *(f"{a!r},{b!r}" for a, b in codes.tolist())]
    Path("codes.csv").write_text("\n".join(lines), encoding="utf-8")
    status, out, err = metrics("mig", "--codes", "codes.csv", "--factors", "factors.npy")
    assert (status, err) == (0, "")
    known = mig(codes, np.load("factors.npy"))
    assert out.startswith(f"mig  {known.score:.4f}  (Mutual information gap; higher is better)")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    matrix = np.asarray(known.parts["mutual_information"])
    assert rows["left"] == [f"{value:.4f}" for value in matrix[0]]
    assert rows["right"] == [f"{value:.4f}" for value in matrix[1]]
    assert "as_published=False" in out


def test_a_note_and_settings_of_the_impurity_scores(metrics: Run) -> None:
    truth = np.random.default_rng(1).integers(0, 2, size=(1000, 2)).astype(float)
    np.save("factors.npy", truth)
    np.save("codes.npy", truth[:, ::-1])
    out = metrics("ois", *FILES, "--set", "epochs=5", "--set", "coordinates=standardised")[1]
    assert "note: Codes were taken in the order of the concepts. If they are aligned" in " ".join(
        out.split()
    )
    assert "epochs=5" in out
    assert "coordinates=standardised" in out
    assert (
        "note: Codes" not in metrics("ois", *FILES, "--set", "epochs=5", "--set", "align=true")[1]
    )
    assert "counts as impurity" in out
    status, _, err = metrics("ois", *FILES, "--set", "coordinates=x")
    assert status != 0
    assert "as given, standardised, ranks" in " ".join(err.split())


def test_other_rows_to_learn_from(metrics: Run) -> None:
    rng = np.random.default_rng(2)
    for name, rows in (("", 200), ("learnt-", 400)):
        truth = rng.integers(0, 2, size=(rows, 2)).astype(float)
        np.save(f"{name}factors.npy", truth)
        np.save(f"{name}codes.npy", truth + 0.3 * rng.normal(size=truth.shape))
    more = ("--train-codes", "learnt-codes.npy", "--train-factors", "learnt-factors.npy")
    found = json.loads(metrics("nis", *FILES, *more, "--binarize", "--json")[1])
    assert (found["settings"]["rows"], found["settings"]["training_rows"]) == (200, 400)
    out = " ".join(metrics("nis", *FILES, *more)[1].split())
    assert "note: By the paper's text, its own hand-made codes" in out
    for wrong in (("nis", *FILES, *more[:2]), ("ois", *FILES, *more), ("all", *FILES, *more)):
        assert metrics(*wrong)[0] != 0


def test_the_labels_of_a_task(metrics: Run) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, size=(200, 2)).astype(float)
    label = truth.sum(axis=1) % 2
    np.save("factors.npy", truth)
    np.save("codes.npy", truth + 2 * label[:, None])
    np.save("labels.npy", label)
    Path("labels.csv").write_text("class\n" + "\n".join(f"{y:g}" for y in label), encoding="utf-8")
    for file in ("labels.npy", "labels.csv"):
        found = json.loads(metrics("ctl", *FILES, "--labels", file, "--json")[1])
        # Neither concept tells of the parity, and each code tells it all.
        assert found["score"] == pytest.approx(1.0, abs=0.03)
    status, _, err = metrics("ctl", *FILES)
    assert (status, "--labels" in err) == (3, True)
    learn = ("--train-codes", "codes.npy", "--train-factors", "factors.npy")
    probe = ("task-probe", *FILES, "--labels", "labels.npy", "--set", "epochs=30", *learn)
    status, _, err = metrics(*probe)
    assert (status, "--train-labels" in err) == (3, True)
    told = json.loads(metrics(*probe, "--train-labels", "labels.npy", "--json")[1])
    assert told["score"] > 0.99
    assert told["settings"]["training_rows"] == 200


def test_correlations_of_the_factors_that_tell_most(metrics: Run) -> None:
    a, b = np.array([(0, 0), (0, 1), (1, 0), (1, 1)] * 30).T
    rows = [f"{x},{1 - x},{y},{i % 5}" for i, (x, y) in enumerate(zip(a, b, strict=True))]
    Path("marks.csv").write_text("crest,bare,=ring,noise\n" + "\n".join(rows), encoding="utf-8")
    np.save("species.npy", 2 * a + b)
    asked = ("correlations", "--factors", "marks.csv", "--labels", "species.npy", "--top", "3")
    found = json.loads(metrics(*asked, "--json")[1])
    assert found["factors"] == ["crest", "bare", "=ring"]
    np.testing.assert_allclose(found["correlations"], [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-9)
    assert found["mean"] == pytest.approx(1 / 3)
    status, out, _ = metrics(*asked, "--out", "found")
    assert status == 0
    assert "mean correlation of two factors, in size: 0.3333" in out
    assert "crest 0.6931, bare 0.6931, =ring 0.6931" in " ".join(out.split())
    folder = Path("found")
    assert json.loads((folder / "correlations.json").read_text(encoding="utf-8")) == found
    with (folder / "correlations.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert [line[0] for line in lines] == ["factor", "crest", "bare", "'=ring"]
    assert ElementTree.parse(folder / "correlations.svg").getroot().tag.endswith("svg")
    for wrong, said in (
        (asked[:3], "--labels"),
        ((*asked, "--codes", "codes.npy"), "no --codes"),
        (("mig", *FILES, "--top", "3"), "--top is for correlations"),
        (("mig", "--factors", "marks.csv"), "--codes"),
        ((*asked, "--out", "found"), "found exists"),
    ):
        status, out, err = metrics(*wrong)
        assert status != 0
        assert said in " ".join(err.split())


def test_all_gives_a_table_and_writes_numbers_and_figures(metrics: Run) -> None:
    np.save("factors.npy", np.load("factors.npy") > 0)
    np.save("labels.npy", np.load("factors.npy").sum(axis=1))
    more = ("--labels", "labels.npy", "--out", "scores", "--set", "ois.align=true", *QUICK)
    status, out, _ = metrics("all", *FILES, *more)
    assert status == 0
    folder = Path("scores")
    whole = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    assert (whole["codes"], whole["factors"]) == (["c1", "c2"], ["z1", "z2"])
    found = {one["metric"]: one for one in whole["scores"]}
    assert tuple(found) == tuple(METRICS)
    assert found["ois"]["settings"]["codes"] == "aligned greedily"
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        table = {row["metric"]: row for row in csv.DictReader(file)}
    shown = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    for name, one in found.items():
        assert float(table[name]["score"]) == one["score"]
        assert f" {one['score']:.4f} " in shown[name]
        assert table[name]["better"] == METRICS[name].better
    images = {path.stem for path in folder.glob("*.png")}
    assert {"matrices", "mi-mutual_information", "dci-importance", "ois-purity"} <= images
    for image in images:
        assert (folder / f"{image}.png").read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(folder / f"{image}.svg").getroot().tag.endswith("svg")
    for path in folder.iterdir():
        assert str(Path("scores") / path.name) in out


def test_a_metric_of_all_that_cannot_be_computed_says_why(metrics: Run) -> None:
    few = np.load("codes.npy")[:100]
    np.save("codes.npy", few)
    np.save("factors.npy", few * 2)
    status, out, _ = metrics("all", *FILES, "--json", *QUICK)
    assert status == 0
    found = {one["metric"]: one for one in json.loads(out)}
    assert found["mig"]["score"] > 0.1
    assert found["ois"]["score"] is None
    assert "only one row" in found["ois"]["reason"]
    whole = json.loads(metrics("ois", *FILES, "--binarize", "--json", "--set", "epochs=2")[1])
    assert whole["settings"]["factors_are"] == "above the median"


def test_a_folder_that_is_there_is_not_touched(metrics: Run) -> None:
    Path("scores").mkdir()
    Path("scores/notes.txt").write_text("mine")
    status, out, err = metrics("mig", *FILES, "--out", "scores")
    assert (status, out) == (3, "")
    assert "scores exists" in err
    assert [path.name for path in Path("scores").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("mug", *FILES), 2, "mi, mig, sap"),
        (
            ("mig", "--codes", "none.npy", "--factors", "factors.npy"),
            2,
            "There is no file none.npy",
        ),
        (
            ("mig", "--codes", "short.npy", "--factors", "factors.npy"),
            3,
            "there are 9 rows of codes",
        ),
        (("mig", "--codes", "holes.npy", "--factors", "factors.npy"), 3, "row 4, column 1 is nan"),
        (("mig", "--codes", "line.npy", "--factors", "factors.npy"), 3, "shape (150,)"),
        (("all", "--codes", "line.npy", "--factors", "factors.npy"), 3, "shape (150,)"),
        (("mig", "--codes", "codes.npy"), 2, "--factors"),
        (("mig", *FILES, "--seed", "-1"), 2, "--seed"),
        (("mig", *FILES, "--set", "bins"), 2, "bins=20"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_said_and_no_json_comes(
    metrics: Run, arguments: tuple[str, ...], status: int, said: str
) -> None:
    codes = np.load("codes.npy")
    np.save("short.npy", codes[:9])
    np.save("line.npy", codes[:, 0])
    codes[4, 1] = np.nan
    np.save("holes.npy", codes)
    before = sorted(Path.cwd().iterdir())
    found, out, err = metrics(*arguments, "--json", "--out", "scores")
    assert (found, out) == (status, "")
    assert said in err
    assert sorted(Path.cwd().iterdir()) == before
