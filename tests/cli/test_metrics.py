"""`labapp metrics`: one JSON value or a table, a folder of numbers and figures, clear refusals."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from labapp.models.metrics.information import mig
from labapp.models.metrics.registry import METRICS
from tests.helpers.commands import Run
from tests.helpers.rough_fits import brief_nis as brief_nis


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
    assert "note: Codes were taken in the order of the concepts; aligned" in " ".join(out.split())
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
    assert "one row only" in found["ois"]["reason"]
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
        (("mig", "--codes", "short.npy", "--factors", "factors.npy"), 3, "codes have 9 rows"),
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
