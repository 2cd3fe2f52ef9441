"""Every planted fault of a set of pixel scores is named, in a manifest and in tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.models.stimuli import importing, library, pictures, score_files, sources
from labapp.models.stimuli.check import check, inner_faults
from tests.helpers import stimuli
from tests.models.stimuli.test_check import planted
from tests.models.stimuli.test_sources import as_tables

Json = dict[str, Any]


def scored(folder: Path, name: str, rows: int, columns: int) -> None:
    values = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    (folder / name).write_bytes(score_files.encode_scores(values))


FAULTS: dict[str, tuple[Callable[[Json, Path], Any], str]] = {
    "no methods": (
        lambda m, f: [m.pop("methods"), [p.update(scores={}, masked=[]) for p in m["photos"]]],
        "methods: missing; the methods whose scores the photos have are needed",
    ),
    "a method twice": (
        lambda m, f: m["methods"].append({"id": "edge", "name": "Other"}),
        "methods: two methods have the id 'edge'",
    ),
    "a name of a method twice": (
        lambda m, f: m["methods"][1].update(name="Middle"),
        "methods: two methods have the name 'Middle'",
    ),
    "a method without scores": (
        lambda m, f: m["photos"][1]["scores"].pop("edge"),
        "photos[p01].scores: there are no scores of the method 'edge'",
    ),
    "scores of no method": (
        lambda m, f: m["photos"][1]["scores"].update(lrp="p01-lrp.npy"),
        "photos[p01].scores.lrp: 'lrp' is not among the methods",
    ),
    "one file for two methods": (
        lambda m, f: m["photos"][1]["scores"].update(edge="p01-middle.npy"),
        "photos[p01].scores: 'p01-middle.npy' stands for two methods",
    ),
    "no options": (
        lambda m, f: m["photos"][1].update(options=[], logits=[]),
        "photos[p01].options: found none; all classes are needed, in their order (disc, ring)",
    ),
    "options in another order": (
        lambda m, f: m["photos"][1].update(options=["ring", "disc"]),
        "photos[p01].options: found ring, disc; all classes are needed, in their order",
    ),
    "no logits": (
        lambda m, f: m["photos"][1].update(logits=[]),
        "photos[p01].logits: missing; the model's scores of all classes are needed",
    ),
    "a prediction that the logits deny": (
        lambda m, f: m["photos"][1].update(logits=[2.0, 1.0]),
        "photos[p01].prediction: found 'ring', but 'disc' has the greatest logit",
    ),
    "a score file that is missing": (
        lambda m, f: (f / "p01-edge.npy").unlink(),
        "photos[p01].scores.edge: The score file 'p01-edge.npy' cannot be read: No such file",
    ),
    "a score file that is a picture": (
        lambda m, f: (f / "p01-edge.npy").write_bytes((f / "p01.png").read_bytes()),
        "photos[p01].scores.edge: The score file 'p01-edge.npy' is not readable as .npy",
    ),
    "a score file of another ending": (
        lambda m, f: m["photos"][1]["scores"].update(edge="p01-edge.csv"),
        "photos[p01].scores.edge: found 'p01-edge.csv'; name a .npy file below the folder",
    ),
    "another grid": (
        lambda m, f: scored(f, "p01-edge.npy", 12, 24),
        "photos[p01].scores.edge: 'p01-edge.npy' is of 24 × 12 cells, others of 24 × 24",
    ),
    "a photo without whole blocks": (
        lambda m, f: (f / "p01.png").write_bytes(pictures.png(np.zeros((48, 50), np.uint8))),
        "photos[p01].scores.middle: a photo of 50 × 48 pixels has no whole blocks for 24 × 24",
    ),
    "a grey photo and a coloured mean": (
        lambda m, f: m.update(mean_level=[0.1, 0.2, 0.3]),
        "photos[p00].photo: 'p00.png' is grey, but mean_level has red, green and blue",
    ),
    "a mean beyond white": (
        lambda m, f: m.update(mean_level=[127.0]),
        "mean_level.",
    ),
    "an output of no method": (
        lambda m, f: m["photos"][1]["masked"][0].update(method="lrp"),
        "photos[p01].masked[0].method: 'lrp' is not among the methods",
    ),
    "an output with too many numbers": (
        lambda m, f: m["photos"][1]["masked"][0].update(logits=[1.0, 2.0, 3.0]),
        "photos[p01].masked[0].logits: found 3 values, but 2 classes",
    ),
    "an output twice": (
        lambda m, f: m["photos"][1]["masked"].append(m["photos"][1]["masked"][0]),
        "photos[p01].masked[20]: the photo masked by middle, 5 %, mean, signed is there already",
    ),
    "an unknown fill": (
        lambda m, f: m["photos"][1]["masked"][0].update(fill="pink"),
        "photos[p01].masked[0].fill: found 'pink'",
    ),
    "a count of no class": (
        lambda m, f: m["pool"][0].update(truth="square"),
        "pool[0].truth: 'square' is not among the classes",
    ),
    "a count twice": (
        lambda m, f: m["pool"].append(m["pool"][0]),
        "pool[4]: disc predicted as disc is counted already",
    ),
    "a wrong example": (
        lambda m, f: m["correct_example"].update(prediction="ring", logits=[0.0, 1.0]),
        "correct_example.prediction: the prediction of this example is wrong",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(fault: str, tmp_path: Path) -> None:
    change, said = FAULTS[fault]
    found = planted(tmp_path, "scores", change)
    assert any(one.startswith(f"manifest.json, {said}") for one in found), found


def test_what_does_not_need_the_files_is_found_without_them(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    assert inner_faults(made.manifest) == []
    photo = made.manifest.photos[0].model_copy(update={"logits": (), "scores": {}})
    odd = made.manifest.model_copy(update={"photos": (photo, *made.manifest.photos[1:])})
    assert inner_faults(odd) == [
        "photos[p00].logits: missing; the model's scores of all classes are needed",
        "photos[p00].scores: there are no scores of the method 'middle'",
        "photos[p00].scores: there are no scores of the method 'edge'",
    ]


WARNINGS: dict[str, tuple[Callable[[Json], Any], str]] = {
    "no mean level": (lambda m: m.pop("mean_level"), "mean_level is missing: "),
    "all right": (
        lambda m: [p.update(prediction=p["truth"], logits=[]) for p in m["photos"]],
        "the model is right in all photos",
    ),
    "another accuracy": (
        lambda m: m["method"].update(accuracy=90.0),
        "pool counts 60 of 80 photos as right, but the accuracy of the model is 90 %",
    ),
    "outputs of some photos": (
        lambda m: m["photos"][1]["masked"].pop(),
        "the model's output for masked photos is missing for some photos: e.g. edge, 60 %",
    ),
    "no example": (lambda m: m.pop("correct_example"), "there is no correct_example"),
}


@pytest.mark.parametrize("odd", WARNINGS)
def test_what_is_hardly_meant_is_warned_of(odd: str, tmp_path: Path) -> None:
    change, said = WARNINGS[odd]

    def both(manifest: Json) -> None:
        change(manifest)
        for photo in manifest["photos"]:
            photo["logits"] = photo["logits"] or [
                float(photo["truth"] == c) for c in stimuli.SHAPES
            ]

    made = stimuli.edited(stimuli.write(tmp_path, "scores"), both)
    assert any(one.startswith(said) for one in importing.read_checked(made.folder).warnings)


def test_the_mean_level_is_computed_for_who_did_not(tmp_path: Path) -> None:
    made = stimuli.edited(stimuli.write(tmp_path, "scores"), lambda m: m.pop("mean_level"))
    mean = np.mean([pictures.read(made.folder, one.photo) for one in made.manifest.photos]) / 255
    (said,) = importing.read_checked(made.folder).warnings
    assert said.endswith(f"of these photos it is [{mean:.4f}]")


def test_equal_scores_are_told(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    (made.folder / "p01-edge.npy").write_bytes(score_files.encode_scores(np.zeros((24, 24))))
    (said,) = importing.read_checked(made.folder).warnings
    assert said.startswith("all scores in 'p01-edge.npy' are equal")


def test_score_files_are_taken_with_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    made = stimuli.write(tmp_path, "scores")
    (made.folder / "unused.npy").write_bytes(b"")
    folder, found = importing.import_set(made.folder)
    assert found.warnings == []
    assert library.load("tiny-scores").manifest == made.manifest
    names = {path.name for path in made.folder.iterdir()} - {"unused.npy"}
    assert {path.name for path in folder.iterdir()} == names
    assert len([name for name in names if name.endswith(".npy")]) == 20
    for name in names - {"manifest.json"}:
        assert (folder / name).read_bytes() == (made.folder / name).read_bytes()


TABLES: dict[str, tuple[str, Callable[[str], str], str]] = {
    "missing score file": (
        "photos.csv",
        lambda text: text.replace("p01-edge.npy", "none.npy"),
        "photos.csv, line 3, scores.edge: The score file 'none.npy' cannot be read",
    ),
    "scores of no method": (
        "photos.csv",
        lambda text: text.replace("scores:edge", "scores:lrp", 1),
        "photos.csv, line 2, scores.lrp: 'lrp' is not among the methods",
    ),
    "output of no photo": (
        "masked.csv",
        lambda text: text.replace("p00,", "p77,", 1),
        "masked.csv, line 2, photo: there is no photo 'p77' in photos.csv",
    ),
    "output without logits": (
        "masked.csv",
        lambda text: "\n".join(
            line.rsplit(",", 2)[0] + ",," if n == 1 else line
            for n, line in enumerate(text.split("\n"))
        ),
        "masked.csv, line 2, logits: missing",
    ),
    "decimal comma": (
        "masked.csv",
        lambda text: text.replace("p00,middle,6.0", 'p00,middle,"6,5"'),
        "masked.csv, line 3, percent: write '6,5' with a decimal point",
    ),
    "no such percentage": (
        "masked.csv",
        lambda text: text.replace("p00,middle,6.0", "p00,middle,160"),
        "masked.csv, line 3, percent: found 160.0; allowed: less than or equal to 100",
    ),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_planted_fault_is_named_by_line(fault: str, tmp_path: Path) -> None:
    table, change, said = TABLES[fault]
    folder = as_tables(stimuli.write(tmp_path, "scores"))
    text = (folder / table).read_text("utf-8").replace("\r\n", "\n")
    changed = change(text)
    assert changed != text
    (folder / table).write_text(changed, "utf-8")
    found = check(sources.read(folder)).faults
    assert any(one.startswith(said) for one in found), found
