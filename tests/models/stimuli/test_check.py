"""Every planted fault of a stimulus set is named, with its place; a set without any is in order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, library, pictures, sources
from labapp.models.stimuli.check import check
from tests.helpers import stimuli

Json = dict[str, Any]


def planted(folder: Path, name: str, change: Callable[[Json, Path], None]) -> list[str]:
    """The faults of a small set in which something was changed."""
    made = stimuli.write(folder, name)
    path = made.folder / library.MANIFEST
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest, made.folder)
    path.write_text(json.dumps(manifest), "utf-8")
    return check(sources.read(made.folder)).faults


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_the_small_sets_are_in_order(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    found = importing.read_checked(made.folder)
    assert found.manifest == made.manifest
    assert found.warnings == []


def _picture(folder: Path, name: str, *shape: int) -> None:
    """A grey picture of (height, width), or a coloured one of (height, width, 3)."""
    fill = 90 if len(shape) == 2 else (90, 20, 200)
    (folder / name).write_bytes(pictures.png(np.full(shape, fill, np.uint8)))


GENERAL: dict[str, tuple[Callable[[Json, Path], Any], str]] = {
    "missing picture": (
        lambda m, f: (f / "heat-p01-2.png").unlink(),
        "photos[p01].heatmaps[1]: The picture 'heat-p01-2.png' cannot be read: No such file",
    ),
    "unreadable picture": (
        lambda m, f: (f / "heat-p01-2.png").write_bytes(b"<html>"),
        "photos[p01].heatmaps[1]: The picture 'heat-p01-2.png' is not a readable PNG or JPEG file",
    ),
    "wrong format": (
        lambda m, f: Image.new("L", (12, 12)).save(f / "heat-p01-2.png", "TIFF"),
        "photos[p01].heatmaps[1]: The picture 'heat-p01-2.png' is not a readable PNG or JPEG file",
    ),
    "format not admitted": (
        lambda m, f: m["photos"][1].update(photo="photo.gif"),
        "photos[p01].photo: found 'photo.gif'; give a .png or .jpg file inside the folder",
    ),
    "class id with an umlaut": (
        lambda m, f: m["classes"][0].update(id="krähe"),
        "classes[krähe].id: found 'krähe'; letters A to Z, digits, _ . and - are allowed",
    ),
    "set id in capitals": (
        lambda m, f: m.update(id="Birds"),
        "id: found 'Birds'; lower-case letters a to z and digits are allowed",
    ),
    "too few classes": (
        lambda m, f: m.update(classes=m["classes"][:1]),
        "classes: found 1; at least 2 needed",
    ),
    "null byte in a name": (
        lambda m, f: m["photos"][1].update(photo="photo\0.png"),
        "photos[p01].photo: found 'photo\\x00.png'; give a .png or .jpg file",
    ),
    "prototypes that are no list": (
        lambda m, f: m.update(prototypes=5),
        "prototypes: found 5; allowed: a list",
    ),
    "photos that are none": (
        lambda m, f: m.update(photos=5),
        "photos: found 5; allowed: a list",
    ),
    "prototypes that are text": (
        lambda m, f: m.update(prototypes="abc"),
        "prototypes: found 'abc'; allowed: a list",
    ),
    "way out": (
        lambda m, f: m["photos"][1].update(photo="../photo.png"),
        "photos[p01].photo: The picture '../photo.png' is not in the set's folder",
    ),
    "link": (
        lambda m, f: (
            (f / "link.png").symlink_to(f / "heat-p00-1.png"),
            m["photos"][1].update(photo="link.png"),
        ),
        "photos[p01].photo: The picture 'link.png' is a link",
    ),
    "no bird": (
        lambda m, f: m["photos"][1].update(photo="bird:1:test:77:0"),
        "photos[p01].photo: 'bird:1:test:77:0' names no bird",
    ),
    "truth among no classes": (
        lambda m, f: m["photos"][0].update(truth="owl"),
        "photos[p00].truth: 'owl' is not among the classes",
    ),
    "truth among no options": (
        lambda m, f: m["photos"][0].update(truth="s19"),
        "photos[p00].truth: 's19' is not among the options (s00, s01, s02, s03)",
    ),
    "prediction among no options": (
        lambda m, f: m["photos"][1].update(prediction="s19"),
        "photos[p01].prediction: 's19' is not among the options",
    ),
    "option among no classes": (
        lambda m, f: m["photos"][0]["options"].__setitem__(3, "owl"),
        "photos[p00].options[3]: 'owl' is not among the classes",
    ),
    "option twice": (
        lambda m, f: m["photos"][0]["options"].__setitem__(3, "s00"),
        "photos[p00].options: 's00' is there twice",
    ),
    "heatmap too few": (
        lambda m, f: m["photos"][0]["heatmaps"].pop(),
        "photos[p00].heatmaps: found 3 heatmaps for 4 options",
    ),
    "heatmap for two": (
        lambda m, f: m["photos"][0]["heatmaps"].__setitem__(1, "heat-p00-1.png"),
        "photos[p00].heatmaps: 'heat-p00-1.png' is used for two options",
    ),
    "heatmaps differ": (
        lambda m, f: _picture(f, "heat-p00-2.png", 12, 13),
        "photos[p00].heatmaps: the heatmaps differ in size: 12 × 12, 13 × 12",
    ),
    "coloured heatmap": (
        lambda m, f: _picture(f, "heat-p00-2.png", 12, 12, 3),
        "photos[p00].heatmaps[1]: 'heat-p00-2.png' is in colour, but for the scale positive",
    ),
    "no scale": (lambda m, f: m.pop("scale"), "scale: missing; heatmaps need one of"),
    "strengths too few": (
        lambda m, f: m["photos"][0]["strengths"].pop(),
        "photos[p00].strengths: found 3 values for 4 options",
    ),
    "not finite": (
        lambda m, f: m["photos"][0]["logits"].__setitem__(0, float("nan")),
        "photos[p00].logits[0]: found nan; allowed: a finite number",
    ),
    "photo twice": (
        lambda m, f: m["photos"][5].update(photo=m["photos"][0]["photo"]),
        "photos[p05].photo: 'bird:7:test:0:0' is in set 2 and in set 1",
    ),
    "photo an example as well": (
        lambda m, f: m["correct_example"].update(photo=m["photos"][0]["photo"]),
        "correct_example.photo: 'bird:7:test:0:0' is in a worked example and in set 1",
    ),
    "id twice": (
        lambda m, f: m["photos"][5].update(id="p00"),
        "photos[p00].id: two photos have the id 'p00'",
    ),
    "class name twice": (
        lambda m, f: m["classes"][1].update(name=m["classes"][0]["name"]),
        'classes: two classes have the name "Ashby\'s lorrin"',
    ),
    "photo in no set": (lambda m, f: m["photos"][0].pop("set"), "photos[p00].set: missing"),
    "example in a set": (
        lambda m, f: m["correct_example"].update(set=1),
        "correct_example.set: a worked example is in set 1",
    ),
    "example not as it says": (
        lambda m, f: m["incorrect_example"].update(prediction=m["incorrect_example"]["truth"]),
        "incorrect_example.prediction: the prediction of this example is right",
    ),
    "unknown key": (lambda m, f: m["photos"][0].update(lable=1), "photos[p00].lable: unknown key"),
    "accuracy out of range": (
        lambda m, f: m["method"].update(accuracy=101),
        "method.accuracy: found 101",
    ),
}


@pytest.mark.parametrize("fault", GENERAL)
def test_a_planted_fault_is_named(fault: str, tmp_path: Path) -> None:
    change, said = GENERAL[fault]
    found = planted(tmp_path, "heatmaps", change)
    assert any(one.startswith(f"manifest.json, {said}") for one in found), found
    assert len(found) <= 2


ROWS: dict[str, tuple[str, Callable[[Json], Any], str]] = {
    "unknown prototype": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][1].update(prototype="s77-1"),
        "photos[p00].rows[1].prototype: 's77-1' is not among the prototypes",
    ),
    "rank gap": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][2].update(rank=4),
        "photos[p00].rows[0]: the ranks of its class are [1, 2, 4]; expected 1 to 3",
    ),
    "rank against similarity": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][2].update(similarity=9),
        "photos[p00].rows[2].similarity: found 9 at rank 3, but 4.5 at rank 2",
    ),
    "box outside": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][1].update(region=[0.2, 0.2, 1.2, 0.4]),
        "photos[p00].rows[1].region[2]: found 1.2; allowed: less than or equal to 1",
    ),
    "empty box": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][1].update(region=[0.5, 0.2, 0.5, 0.4]),
        "photos[p00].rows[1].region: the box [0.5, 0.2, 0.5, 0.4] is empty",
    ),
    "empty box of a prototype": (
        "prototype-agreement",
        lambda m: m["prototypes"][0].update(box=[0.5, 0.4, 0.7, 0.2]),
        "prototypes[s00-0].box: the box [0.5, 0.4, 0.7, 0.2] is empty",
    ),
    "no region": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][1].pop("region"),
        "photos[p00].rows[1]: neither region nor crop",
    ),
    "no box of a prototype": (
        "prototype-agreement",
        lambda m: m["prototypes"][3].pop("box"),
        "prototypes[s01-0]: neither box nor crop",
    ),
    "prototype of none": (
        "prototype-agreement",
        lambda m: m["prototypes"][59].pop("of"),
        "prototypes[s19-2].of: missing",
    ),
    "prototype of another class": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][2].update(prototype="s05-0", rank=1),
        "photos[p00].rows[2]: a prototype of 's05', which is not 's00', the prediction",
    ),
    "prototype compared twice": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][2].update(prototype="s00-0"),
        "photos[p00].rows: the prototype 's00-0' is compared twice",
    ),
    "option without rows": (
        "prototype-distinction",
        lambda m: m["photos"][0].update(rows=m["photos"][0]["rows"][3:]),
        "photos[p00].rows: there is no row with a prototype of 's00'",
    ),
    "similarity not finite": (
        "prototype-agreement",
        lambda m: m["photos"][0]["rows"][1].update(similarity=float("inf")),
        "photos[p00].rows[1].similarity: found inf",
    ),
    "similarity of a path out of range": (
        "path-agreement",
        lambda m: m["photos"][0]["rows"][1].update(similarity=1.5),
        "photos[p00].rows[1].similarity: found 1.5; a tree's similarities are between 0 and 1",
    ),
    "step undecided": (
        "path-agreement",
        lambda m: m["photos"][0]["rows"][1].pop("present"),
        "photos[p00].rows[1].present: missing",
    ),
    "first wrong beyond": (
        "path-agreement",
        lambda m: m["photos"][1].update(first_wrong=7),
        "photos[p01].first_wrong: found step 7, but 6 steps",
    ),
    "first wrong though right": (
        "path-agreement",
        lambda m: m["photos"][0].update(first_wrong=2),
        "photos[p00].first_wrong: a step is wrong, but the prediction is right",
    ),
    "no steps": (
        "path-agreement",
        lambda m: m["photos"][0].update(rows=[]),
        "photos[p00].rows: there are no steps",
    ),
    "final classes twice": (
        "path-distinction",
        lambda m: m["photos"][0]["final"].update(classes=["s00", "s01", "s02", "s00"]),
        "photos[p00].final.classes: 's00' is listed twice; four different classes",
    ),
    "truth not final": (
        "path-distinction",
        lambda m: m["photos"][0]["final"].update(classes=["s04", "s05", "s06", "s07"]),
        "photos[p00].final.classes: the true class 's00' is not among s04, s05, s06, s07",
    ),
    "final step unknown": (
        "path-distinction",
        lambda m: m["photos"][0]["final"]["absent"].update(prototype="n9"),
        "photos[p00].final.absent.prototype: 'n9' is not among the prototypes",
    ),
}


@pytest.mark.parametrize("fault", ROWS)
def test_a_planted_fault_of_rows_is_named(fault: str, tmp_path: Path) -> None:
    name, change, said = ROWS[fault]
    found = planted(tmp_path, name, lambda manifest, _: change(manifest))
    assert any(one.startswith(f"manifest.json, {said}") for one in found), found
    assert len(found) <= 3


def test_all_faults_are_told_at_once_the_first_fifty_one_by_one(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    for path in made.folder.glob("heat-p0[0-6]*.png"):
        path.unlink()

    def spoil(manifest: Json) -> None:
        manifest["photos"][7]["set"] = 0
        for photo in manifest["photos"][:7]:
            photo["truth"] = "owl"
            photo["logits"] = []
            photo["strengths"] = [1]
            photo["facts"] = {}
            photo["photo"] = "none.png"

    path = made.folder / library.MANIFEST
    manifest = json.loads(path.read_text("utf-8"))
    spoil(manifest)
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(StimuliError) as found:
        importing.read_checked(made.folder)
    said = str(found.value).splitlines()
    # 1 set, 7 truths, 7 strengths, 28 heatmaps, 1 missing photo (told once), 6 times there again.
    assert "(50 faults)" in said[0]
    assert sum(line.startswith("  manifest.json") for line in said) == 50
    assert said[-1] == "Correct these and try again."
    assert sum("photos[p07].set" in line for line in said) == 1
    manifest["photos"][6]["logits"] = [1]
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(StimuliError, match=r"\(51 faults\)") as found:
        importing.read_checked(made.folder)
    assert "  … and 1 more" in found.value.what


def test_what_is_hardly_meant_is_a_warning(tmp_path: Path) -> None:
    def change(manifest: Json) -> None:
        manifest["photos"][7]["set"] = 3
        del manifest["incorrect_example"]

    made = stimuli.edited(stimuli.write(tmp_path, "heatmaps"), change)
    _picture(made.folder, "small.png", 12, 24)
    small = stimuli.edited(made, lambda m: m["photos"][0].update(photo="small.png"))
    assert importing.read_checked(small.folder).warnings == [
        "the sets differ in size: set 1 has 4, set 2 has 3, set 3 has 1 photos",
        "set 2: the model is right about 2 of 3 photos",
        "set 3: the model is right about 0 of 1 photos",
        "there is no incorrect_example: the introduction shows no photo that the model has wrong",
        "photo p00: heatmaps of 12 × 12 are stretched over a photo of 24 × 12",
        "less than 200 pixels per side, which will look coarse: photo p00 (24 × 12)",
    ]


def test_pictures_far_larger_than_screens_are_a_warning(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    _picture(made.folder, "LARGE.PNG", 2001, 2000)
    large = stimuli.edited(made, lambda m: m["photos"][0].update(photo="LARGE.PNG"))
    (said,) = importing.read_checked(large.folder).warnings
    assert said.startswith("the picture 'LARGE.PNG' has 2000 × 2001 pixels, so it will load slowly")


def test_that_no_photo_is_left_is_not_told_besides_what_is_wrong_with_each(tmp_path: Path) -> None:
    def change(manifest: Json, _: Path) -> None:
        for photo in manifest["photos"]:
            photo["photo"] = "photo.gif"

    found = planted(tmp_path, "heatmaps", change)
    assert len(found) == 8
    assert all(".photo: found 'photo.gif'" in one for one in found)


@pytest.mark.parametrize(("content", "said"), [("null", "found null"), ("[]", "found []")])
@pytest.mark.parametrize("name", ["manifest.json", "set.json"])
def test_a_file_of_nothing_is_a_fault(name: str, content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(StimuliError) as refused:
        importing.read_checked(tmp_path)
    assert said in refused.value.what


def test_a_wrong_encoding_is_named_with_its_line_beside_the_other_faults(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    (made.folder / "heat-p01-2.png").unlink()
    path = made.folder / library.MANIFEST
    path.write_bytes(path.read_bytes().replace(b"Tiny set", "Säge".encode("latin-1")))
    with pytest.raises(StimuliError) as found:
        importing.read_checked(made.folder)
    assert "manifest.json, line 3: this is not UTF-8 text (byte 0xe4)." in found.value.what
    assert "Save the file as UTF-8" in found.value.what
    assert "'heat-p01-2.png' cannot be read" in found.value.what
