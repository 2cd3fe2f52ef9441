"""Masked pictures go out to another model, and what it says of them comes back with the set."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, library, masked_pictures, pictures
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking, recorded_outputs
from tests.helpers import stimuli
from tests.models.stimuli.test_sources import as_tables

MASKING = Masking((5.0, 20.5, 60.0), "grey", "absolute")


def test_every_masked_picture_is_written_with_a_line(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "out" / "masked"
    assert masked_pictures.write(made, MASKING, out) == 10 * 2 * 3
    with (out / "masked.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == 60
    assert lines[1] == {
        "photo": "p00", "method": "middle", "percent": "20.5", "fill": "grey",
        "sign": "absolute", "logits": "", "file": "middle/p00-20.5.png",
    }  # fmt: skip
    files = {path.relative_to(out).as_posix() for path in out.rglob("*.png")}
    assert files == {line["file"] for line in lines}
    ref = MaskedRef(made.id, "p00", "middle", "grey", "absolute", 20.5)
    shown = pictures.native((out / "middle" / "p00-20.5.png").read_bytes(), "p00.png")
    assert np.array_equal(shown, masked_pictures.picture(made, ref))


def test_what_another_model_says_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From tables whose set says nothing of masked photos to a set that does."""
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    plain = stimuli.edited(
        stimuli.write(tmp_path, "scores"),
        lambda m: [
            one.pop("masked")
            for one in (*m["photos"], m["correct_example"], m["incorrect_example"])
        ],
    )
    assert recorded_outputs(plain, MASKING, plain.manifest.photos[0], "middle") == ()
    assert importing.load_any(str(plain.folder)) == plain
    folder = as_tables(plain)
    masked_pictures.write(importing.load_any(str(folder)), MASKING, tmp_path / "masked")
    with (tmp_path / "masked" / "masked.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    for line in lines:
        grey = pictures.native((tmp_path / "masked" / line["file"]).read_bytes(), line["file"])
        line["logits"] = f"{grey.mean():.3f}|{-grey.mean():.3f}"
    with (folder / "masked.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    target, found = importing.import_set(folder)
    assert found.warnings == []
    taken = library.load(target)
    for photo in taken.manifest.photos:
        for method in ("middle", "edge"):
            said = recorded_outputs(taken, MASKING, photo, method)
            refs = [
                MaskedRef(taken.id, photo.id, method, "grey", "absolute", percent)
                for percent in MASKING.percents
            ]
            expected = [round(float(masked_pictures.picture(taken, ref).mean()), 3) for ref in refs]
            assert [one[0] for one in said] == expected
            assert recorded_outputs(taken, Masking(masked_pictures.sizes()), photo, method) == ()


def test_names_with_dashes_are_pictures_of_their_own(tmp_path: Path) -> None:
    def dashed(manifest: stimuli.Json) -> None:
        manifest["methods"][0]["id"], manifest["methods"][1]["id"] = "b-c", "c"
        manifest["photos"] = manifest["photos"][:2]
        named = (*manifest["photos"], manifest["correct_example"], manifest["incorrect_example"])
        for photo, id_ in zip(named, ("a", "a-b", "right", "wrong"), strict=True):
            photo |= {"id": id_, "masked": []}
            photo["scores"] = dict(zip(("b-c", "c"), photo["scores"].values(), strict=True))

    made = stimuli.edited(stimuli.write(tmp_path, "scores"), dashed)
    assert masked_pictures.write(made, MASKING, tmp_path / "out") == 4 * 2 * 3
    assert len(list((tmp_path / "out").rglob("*.png"))) == 4 * 2 * 3


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "masked"
    out.mkdir()
    with pytest.raises(StimuliError, match="exists; nothing is overwritten"):
        masked_pictures.write(made, MASKING, out)
    out.rmdir()
    (made.folder / "p05-edge.npy").unlink()
    with pytest.raises(StimuliError, match=r"The score file 'p05-edge\.npy' cannot be read"):
        masked_pictures.write(made, MASKING, out)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny-scores"]


def test_other_sets_have_no_masks(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    with pytest.raises(StimuliError, match="tiny-heatmaps is of the kind heatmaps"):
        masked_pictures.write(made, MASKING, tmp_path / "out")
    assert json.loads((made.folder / "manifest.json").read_text("utf-8"))["kind"] == "heatmaps"
