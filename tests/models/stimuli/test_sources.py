"""Where pictures come from: imports, references, the library and colours."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from labapp.base.errors import StimuliError
from labapp.base.resources import assets
from labapp.models.datasets.birds import BirdRows
from labapp.models.stimuli import importing, library, pictures, sources
from labapp.models.stimuli import masked_pictures as masking
from labapp.models.stimuli.check import check, find_reserved_pictures, reference_pairs
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import ColourMap, Concept, Manifest, Photo
from tests.helpers import stimuli

Json = dict[str, Any]


def as_tables(made: StimulusSet, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """The same set with a header and tables instead of its manifest."""
    path = made.folder / library.MANIFEST
    manifest = json.loads(path.read_text("utf-8"))
    path.unlink()

    def table(name: str, lines: list[Json]) -> None:
        names = (key for line in lines for key in line)
        free = dict.fromkeys(key for key in names if ":" in key)
        out = io.StringIO()
        writer = csv.DictWriter(out, [*sources.COLUMNS[name], *free], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(lines)
        (made.folder / name).write_bytes(out.getvalue().encode(encoding))

    def boxed(one: Json, key: str) -> Json:
        flat = {k: v for k, v in one.items() if k != key}
        return flat | dict(zip(sources.BOX, one.get(key) or (), strict=False))

    photos, rows, masked = [], [], []
    there = [key for key in sources.EXAMPLES if key in manifest]
    examples = [manifest.pop(key) | {"set": key} for key in there]
    for photo in [*manifest.pop("photos"), *examples]:
        inner = photo.pop("rows", [])
        final = photo.pop("final", None)
        facts = photo.pop("facts", {})
        rows += [boxed(row, "region") | {"photo": photo["id"]} for row in inner]
        if final is not None:
            photo["final_classes"] = final.pop("classes")
            rows += [
                boxed(row, "region") | {"photo": photo["id"], "place": place}
                for place, row in final.items()
            ]
        scores = {f"scores:{name}": ref for name, ref in photo.pop("scores", {}).items()}
        for one in photo.pop("masked", []):
            one["logits"] = "|".join(map(str, one["logits"]))
            masked.append({"photo": photo["id"], **one})
        cells = {k: "|".join(map(str, v)) if isinstance(v, list) else v for k, v in photo.items()}
        photos.append(cells | scores | {f"fact:{name}": value for name, value in facts.items()})
    table("photos.csv", photos)
    if rows:
        table("rows.csv", rows)
    if masked:
        table("masked.csv", masked)
    classes = manifest.pop("classes")
    made_by = [class_.pop("concepts", {}) for class_ in classes]
    cells_of = [{f"concept:{name}": on for name, on in rule.items()} for rule in made_by]
    made_classes = [class_ | cells for class_, cells in zip(classes, cells_of, strict=True)]
    table("classes.csv", list(map(translated, made_classes)))
    if concepts := manifest.pop("concepts", []):
        table("concepts.csv", list(map(translated, concepts)))
    if prototypes := manifest.pop("prototypes", []):
        table("prototypes.csv", [boxed(one, "box") for one in prototypes])
    (made.folder / "set.json").write_text(json.dumps(manifest), "utf-8")
    return made.folder


def translated(cells: dict[str, Any]) -> dict[str, Any]:
    """The cells with those of other languages as columns such as `name:de`."""
    cells = dict(cells)
    languages = cells.pop("translations", {})
    others = {
        f"{key}:{language}": word
        for language, words in languages.items()
        for key, word in words.items()
    }
    return cells | others


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_tables_hold_the_same_set(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    assert importing.read_checked(as_tables(made)).manifest == made.manifest


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "utf-8"), (",", "utf-8-sig")])
def test_tables_as_spreadsheets_write_them(delimiter: str, encoding: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "path-distinction")
    folder = as_tables(made, delimiter, encoding)
    assert importing.read_checked(folder).manifest == made.manifest


PLANTED: dict[str, tuple[str, Callable[[str], str], str]] = {
    "missing picture": (
        "photos.csv",
        lambda text: text.replace("heat-p01-2.png", "heat.png"),
        "photos.csv, line 3, heatmaps[1]: The picture 'heat.png' cannot be read",
    ),
    "truth not among the options": (
        "photos.csv",
        lambda text: text.replace("test:1:1,s01,s00", "test:1:1,s09,s00"),
        "photos.csv, line 3, truth: 's09' is not among the options (s01, s02, s03, s00)",
    ),
    "id twice": (
        "photos.csv",
        lambda text: text.replace("\np01,", "\np00,"),
        "photos.csv, line 3, id: two photos have the id 'p00'",
    ),
    "set is no number": (
        "photos.csv",
        lambda text: text.replace("p01,1,", "p01,one,"),
        "photos.csv, line 3, set: found 'one'",
    ),
    "decimal comma": (
        "photos.csv",
        lambda text: text.replace("0.9", '"0,9"', 1),
        "photos.csv, line 2, fact:visible: write '0,9' with a decimal point",
    ),
    "unknown column": (
        "photos.csv",
        lambda text: text.replace("truth", "label", 1),
        "photos.csv, line 1: unknown column 'label'; allowed are id, set, photo, truth",
    ),
    "missing column": (
        "classes.csv",
        lambda text: text.replace("name", "marks", 1),
        "classes.csv, line 1: the column 'name' is missing",
    ),
    "column twice": (
        "classes.csv",
        lambda text: text.replace("id,name,marks", "id,name,name"),
        "classes.csv, line 1: the column 'name' occurs twice",
    ),
    "too many cells": (
        "classes.csv",
        lambda text: text.replace("s03,", "s03,x,y,z,", 1),
        "classes.csv: line 5 has 6 cells, and line 1 has 3",
    ),
    "open quote": (
        "classes.csv",
        lambda text: text.replace("s03,", 's03,"x" y,', 1),
        "classes.csv: line 5 is not CSV",
    ),
    "in the header, not in a table": (
        "set.json",
        lambda text: text.replace("{", '{"photos": [], ', 1),
        "set.json, photos: belongs in a table, not in set.json",
    ),
    "header": (
        "set.json",
        lambda text: text.replace('"positive"', '"warm"'),
        "set.json, scale: found 'warm'",
    ),
    "example twice": (
        "photos.csv",
        lambda text: text.replace("incorrect_example", "correct_example"),
        "photos.csv, line 11, set: there is already a correct_example",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_named_by_line(fault: str, tmp_path: Path) -> None:
    name, change, said = PLANTED[fault]
    folder = as_tables(stimuli.write(tmp_path, "heatmaps"))
    text = (folder / name).read_text("utf-8")
    assert change(text) != text
    (folder / name).write_text(change(text), "utf-8")
    found = check(sources.read(folder)).faults
    assert any(one.startswith(said) for one in found), found


ROWS: dict[str, tuple[Callable[[str], str], str]] = {
    "unknown prototype": (
        lambda text: text.replace(",n0,", ",n77,", 1),
        "rows.csv, line 2, prototype: 'n77' is not among the prototypes",
    ),
    "unknown photo": (
        lambda text: text.replace("p00,", "p77,", 1),
        "rows.csv, line 2, photo: there is no photo 'p77' in photos.csv",
    ),
    "similarity out of range": (
        lambda text: text.replace(",0.9,", ",1.9,", 1),
        "rows.csv, line 2, similarity: found 1.9; a tree's similarities are between 0 and 1",
    ),
    "similarity not finite": (
        lambda text: text.replace(",0.9,", ",nan,", 1),
        "rows.csv, line 2, similarity: found nan; allowed: a finite number",
    ),
    "box is no number": (
        lambda text: text.replace(",0.0,0.3,", ",left,0.3,", 1),
        "rows.csv, line 2, region[0]: found 'left'",
    ),
    "present or not": (
        lambda text: text.replace("True", "perhaps", 1),
        "rows.csv, line 2, present: found 'perhaps'; allowed are true and false",
    ),
    "unknown place": (
        lambda text: text.replace(",first,", ",last,", 1),
        "rows.csv, line 6, place: found 'last'; allowed are an empty cell, first, absent, present",
    ),
}


@pytest.mark.parametrize("fault", ROWS)
def test_a_planted_fault_of_a_row_is_named_by_line(fault: str, tmp_path: Path) -> None:
    change, said = ROWS[fault]
    folder = as_tables(stimuli.write(tmp_path, "path-distinction"))
    text = (folder / "rows.csv").read_text("utf-8")
    assert change(text) != text
    (folder / "rows.csv").write_text(change(text), "utf-8")
    found = check(sources.read(folder)).faults
    assert any(one.startswith(said) for one in found), found


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_tables_are_read_as_spreadsheet_programs_save_them(tmp_path: Path, encoding: str) -> None:
    folder = as_tables(stimuli.write(tmp_path, "heatmaps"))
    path = folder / "classes.csv"
    text = path.read_text("utf-8").replace("Calder's", "Käthes").replace("id,", "Id,")
    path.write_bytes(text.replace(",", ";").encode(encoding))
    source = sources.read(folder)
    assert check(source).faults == []
    assert any("Käthes" in class_["name"] for class_ in source.value["classes"])


def test_a_missing_table_is_told(tmp_path: Path) -> None:
    folder = as_tables(stimuli.write(tmp_path, "heatmaps"))
    (folder / "classes.csv").unlink()
    assert "classes.csv: missing" in check(sources.read(folder)).faults


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    return tmp_path / "own"


def test_a_set_is_taken_with_its_pictures_alone(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    (made.folder / "notes.txt").write_text("not part of the set")
    folder, found = importing.import_set(made.folder)
    assert folder == own / "tiny-heatmaps"
    assert found.warnings == []
    taken = library.load("tiny-heatmaps")
    assert taken.manifest == made.manifest
    names = {path.name for path in folder.iterdir()}
    assert names == {path.name for path in made.folder.iterdir()} - {"notes.txt"}
    for path in folder.glob("*.png"):
        assert path.read_bytes() == (made.folder / path.name).read_bytes()


def test_nothing_is_overwritten(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    folder, _ = importing.import_set(made.folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    stimuli.edited(made, lambda m: m.update(title="Another"))
    with pytest.raises(StimuliError, match="There is already a stimulus set 'tiny-heatmaps'"):
        importing.import_set(made.folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_set_with_faults_leaves_nothing_behind(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    (made.folder / "heat-p00-1.png").unlink()
    with pytest.raises(StimuliError, match=r"cannot be shown \(1 fault\)"):
        importing.import_set(made.folder)
    assert not own.exists()
    with pytest.raises(StimuliError, match=r"neither manifest\.json nor set\.json"):
        importing.import_set(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    own.write_text("a file")
    with pytest.raises(StimuliError, match="could not be written"):
        importing.import_set(made.folder)


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_a_manifest_comes_back_from_its_bytes(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    content = importing.manifest_text(made.manifest)
    assert library.parse(content, tmp_path / "manifest.json") == made.manifest
    assert importing.manifest_text(library.parse(content, tmp_path / "manifest.json")) == content
    assert len(content.splitlines()) > len(made.manifest.photos)


BIRD = "bird:7:test:3:2"


def test_a_bird_is_the_one_the_model_saw(tmp_path: Path) -> None:
    rows = BirdRows("test", 5, 7)
    seen = rows.instances(np.array([2 * 20 + 3]))[0]
    shown = pictures.read(tmp_path, BIRD, 96)
    assert np.array_equal(
        shown, np.rint(seen * np.float32(255)).astype(np.uint8).transpose(1, 2, 0)
    )
    assert pictures.read(tmp_path, BIRD).shape == (512, 512, 3)
    assert pictures.read(tmp_path, BIRD.replace("test", "train")).shape == (384, 384, 3)
    assert pictures.bird_ref(7, "test", 3, 2) == BIRD


@pytest.mark.parametrize("ref", ["bird:7:test:20:0", "bird:7:exam:1:0", "bird:7:test:1"])
def test_what_names_no_bird_is_refused(ref: str, tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match="names no bird"):
        pictures.read(tmp_path, ref)


def test_files_are_read_as_rgb(tmp_path: Path) -> None:
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    (tmp_path / "grey.png").write_bytes(pictures.png(grey))
    assert np.array_equal(pictures.read(tmp_path, "grey.png"), np.repeat(grey[..., None], 3, 2))
    Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "deep.png")
    assert np.array_equal(pictures.read(tmp_path, "deep.png")[..., 0], grey)
    clear = np.zeros((2, 2, 4), np.uint8)
    Image.fromarray(clear).save(tmp_path / "clear.png")
    assert (pictures.read(tmp_path, "clear.png") == 255).all()
    colour = np.full((16, 16, 3), (200, 60, 30), np.uint8)
    (tmp_path / "photo.jpg").write_bytes(pictures.jpeg(colour))
    assert np.abs(pictures.read(tmp_path, "photo.jpg").astype(int) - colour).max() <= 2


def test_a_photo_is_turned_as_the_camera_was(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (20, 10)).save(tmp_path / "photo.jpg", exif=exif)
    assert pictures.read(tmp_path, "photo.jpg").shape == (20, 10, 3)


def test_what_cannot_be_shown_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"not a picture")
    Image.new("RGB", (2, 2)).save(tmp_path / "b.gif")
    (tmp_path / "b.gif").rename(tmp_path / "b.png")
    Image.new("RGB", (2, 2)).save(tmp_path / "c.png")
    (tmp_path / "c.png").rename(tmp_path / "c.jpg")
    whole = pictures.png(np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8))
    (tmp_path / "d.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "e.png").symlink_to(tmp_path / "a.png")
    (tmp_path / "deep").symlink_to(tmp_path.parent, target_is_directory=True)
    for ref, said in {
        "a.png": "'a.png' is not a readable PNG or JPEG file",
        "b.png": "'b.png' is not a readable PNG or JPEG file",
        "c.jpg": "'c.jpg' is really a PNG file",
        "d.png": "'d.png' is not a readable",
        "e.png": "'e.png' is a link",
        "deep/a.png": "'deep/a.png' is a link",
        "../a.png": "is not in the set's folder",
        "/etc/a.png": "is not in the set's folder",
        "none.png": "'none.png' cannot be read: No such file",
    }.items():
        with pytest.raises(StimuliError) as found:
            pictures.read(tmp_path, ref)
        assert said in found.value.what, ref


def test_giants_are_refused_before_they_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "wide.png")
    with pytest.raises(StimuliError, match="9000 × 9000 pixels"):
        pictures.read(tmp_path, "wide.png")
    monkeypatch.setattr(pictures, "LARGEST_BYTES", 100)
    (tmp_path / "long.png").write_bytes(bytes(101))
    with pytest.raises(StimuliError, match=r"'long.png' cannot be read: it has 101 bytes"):
        pictures.read(tmp_path, "long.png")


MANIFEST = library.load(assets() / "stimuli" / "dsprites-four-cbm").manifest


def photo(name: str, *concepts: bool, item: str | None = "control") -> Photo:
    return Photo.model_validate(
        {
            "id": name,
            "set": 1,
            "photo": f"{name}.png",
            "truth": "c0",
            "prediction": "c0",
            "concepts": concepts,
            "item": item,
        }
    )


def manifest(*photos: Photo) -> Manifest:
    concepts = tuple(
        Concept(id=f"k{n}", name=f"k{n}", off="off", on="on")
        for n in range(len(photos[0].concepts))
    )
    return MANIFEST.model_copy(update={"photos": photos, "concepts": concepts})


def names(made: Manifest) -> list[tuple[str, str, int]]:
    return [(pair.off.id, pair.on.id, len(pair.differing)) for pair in reference_pairs(made, 1)]


def test_a_pair_differs_in_its_concept_alone_where_there_is_one() -> None:
    made = manifest(photo("a", False, False), photo("b", True, True), photo("c", True, False))
    assert names(made) == [("a", "c", 0), ("c", "b", 0)]


def test_where_none_does_the_nearest_pair_is_taken() -> None:
    made = manifest(photo("a", False, False, False), photo("b", True, True, False),
                    photo("c", True, True, True))  # fmt: skip
    assert names(made) == [("a", "b", 1), ("a", "b", 1), ("b", "c", 0)]


def test_pictures_are_used_again_and_taken_from_what_there_is_most_of() -> None:
    rare = photo("rare", False, False, item="trap")
    made = manifest(
        rare, *(photo(f"a{n}", False, False) for n in range(3)),
        photo("b", True, False), photo("c", False, True),
    )  # fmt: skip
    assert names(made) == [("a0", "b", 0), ("a0", "c", 0)]
    assert find_reserved_pictures(reference_pairs(made, 1)) == {"a0.png", "b.png", "c.png"}


def test_a_concept_that_all_pictures_have_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="all pictures show 'k1' in the same way"):
        reference_pairs(manifest(photo("a", False, True), photo("b", True, True)), 1)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_pairs_show_both_states_and_nothing_nearer_is_passed_over(
    rows: list[tuple[bool, bool, bool]],
) -> None:
    made = manifest(*(photo(f"p{n}", *row) for n, row in enumerate(rows)))
    if any(len({row[place] for row in rows}) == 1 for place in range(3)):
        with pytest.raises(ValueError, match="in the same way"):
            reference_pairs(made, 1)
        return
    pairs = reference_pairs(made, 1)
    assert [pair.concept for pair in pairs] == [0, 1, 2]
    for pair in pairs:
        assert (pair.off.concepts[pair.concept], pair.on.concepts[pair.concept]) == (False, True)
        nearest = min(
            sum(a != b for a, b in zip(off, on, strict=True)) - 1
            for off in rows
            for on in rows
            if on[pair.concept] and not off[pair.concept]
        )
        assert len(pair.differing) == nearest
        assert pair.differing == tuple(
            place
            for place in range(3)
            if place != pair.concept and pair.off.concepts[place] != pair.on.concepts[place]
        )
    assert len(find_reserved_pictures(pairs)) <= 2 * len(pairs)


@pytest.mark.parametrize("folder", sorted((assets() / "stimuli").glob("*/answers.npy")))
def test_shipped_sets_show_every_concept_alone_and_keep_enough_pictures(folder: object) -> None:
    """Six of each kind for a stage and five for a practice stay, as the shipped studies ask for."""
    made = library.load(folder.parent).manifest  # type: ignore[attr-defined]
    pairs = reference_pairs(made, 1)
    assert {pair.differing for pair in pairs} == {()}
    left = [each for each in made.photos if each.photo not in find_reserved_pictures(pairs)]
    if not any(each.item for each in made.photos):  # changes are drawn beforehand
        assert sum(each.set == 1 for each in left) >= 5
        return
    for kind in ("repair", "control"):
        assert sum(each.item == kind and not each.natural for each in left) >= 6
    assert sum(each.natural for each in left) >= 6
    assert len(left) >= 3 * 6 + 5


@pytest.mark.parametrize("name", stimuli.NAMES)
def test_a_set_is_read_from_its_folder(name: str, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    assert made.id == f"tiny-{name}"
    assert made.manifest.sets == (1, 2)
    assert made.manifest.correct_example is not None
    assert made.manifest.correct_example.correct
    assert made.manifest.incorrect_example is not None
    assert not made.manifest.incorrect_example.correct
    content = (made.folder / "manifest.json").read_bytes()
    assert made.sha256 == hashlib.sha256(content).hexdigest()


def test_an_own_set_is_found_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path))
    made = stimuli.write(tmp_path, "heatmaps")
    assert library.load("tiny-heatmaps") == made
    assert made.folder in library.set_folders()
    with pytest.raises(StimuliError, match="no stimulus set 'tiny-maps'") as found:
        library.load("tiny-maps")
    assert "tiny-heatmaps" in found.value.todo
    (tmp_path / "tiny-heatmaps").rename(tmp_path / "other")
    with pytest.raises(StimuliError, match="has the id 'tiny-heatmaps'"):
        library.load("other")


def test_an_id_of_a_shipped_and_of_an_own_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = stimuli.write(tmp_path / "shipped", "heatmaps")
    own = stimuli.write(tmp_path / "own", "heatmaps")
    monkeypatch.setattr(library, "shipped_folder", lambda: tmp_path / "shipped")
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    with pytest.raises(StimuliError, match="Two stimulus sets have the id") as refused:
        library.load("tiny-heatmaps")
    assert str(shipped.folder) in refused.value.what
    assert str(own.folder) in refused.value.what
    assert library.load(own.folder) == own


def test_an_id_is_not_a_folder_where_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    own = stimuli.write(tmp_path / "own", "heatmaps")
    other = stimuli.write(tmp_path / "here", "heatmaps")
    monkeypatch.chdir(tmp_path / "here")
    assert library.find("tiny-heatmaps") == own.folder
    assert library.find("./tiny-heatmaps").resolve() == other.folder
    assert library.find(Path("tiny-heatmaps")).resolve() == other.folder
    own.folder.rename(tmp_path / "gone")
    assert library.find("tiny-heatmaps").resolve() == other.folder


def test_a_folder_of_tables_is_told_to_be_imported_first(tmp_path: Path) -> None:
    (tmp_path / library.HEADER).write_text("{}")
    with pytest.raises(StimuliError, match="consists of tables") as told:
        library.find(tmp_path)
    assert f"labapp stimuli import {tmp_path}" in told.value.todo


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"id": 1,\n oops}', "line 2: this is not valid JSON"),
        (b'{"id": "a", "id": "b"}', "the key 'id' is given twice"),
        ('{\n"id": "Säge"}'.encode("latin-1"), "line 2: this is not UTF-8 text (byte 0xe4)"),
        (b"[" * 100_000, "not valid JSON"),
        (b"{}", "id: missing"),
        (b'{"photoz": 1}', "photoz: unknown key"),
        (b"[]", "the file: found []"),
    ],
)
def test_unreadable_manifests_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(StimuliError) as found:
        library.load(tmp_path)
    assert said in found.value.what
    assert found.value.todo


def test_faults_name_the_photo_by_its_id(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "prototype-agreement")

    with pytest.raises(StimuliError) as found:
        stimuli.edited(made, lambda m: m["photos"][1]["rows"][0].update(similarity="far"))
    assert "photos[p01].rows[0].similarity: found 'far'" in found.value.what


def test_the_key_that_was_meant_is_told(tmp_path: Path) -> None:
    (tmp_path / library.MANIFEST).write_text('{"license": "MIT", "xyz": 1}')
    with pytest.raises(StimuliError) as told:
        library.load(tmp_path)
    assert "license: unknown key (did you mean 'licence'?)" in told.value.what
    assert "xyz: unknown key\n" in f"{told.value.what}\n"


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    path = made.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8-sig")
    assert library.load(made.folder).manifest == made.manifest


@pytest.mark.parametrize("name", get_args(ColourMap))
def test_the_tables_are_those_of_matplotlib(name: ColourMap) -> None:
    known = {"rdbu_r": "RdBu_r", "puor_r": "PuOr_r"}.get(name, name)
    expected = matplotlib.colormaps[known](np.arange(256), bytes=True)[:, :3]
    assert np.array_equal(masking.table(name), expected)


def test_a_positive_map_is_half_photo_half_colour() -> None:
    photo = np.full((8, 8, 3), 100, np.uint8)
    heat = np.full((2, 2), 255, np.uint8)
    shown = masking.overlay(photo, heat, "positive", "jet")
    expected = 0.5 * 100 + 0.5 * masking.table("jet")[255]
    assert np.abs(shown - expected).max() <= 0.5


def test_maps_are_not_stretched_one_by_one() -> None:
    photo = np.zeros((8, 8, 3), np.uint8)
    weak = masking.overlay(photo, np.array([[0, 60]], np.uint8), "positive", "jet")
    assert weak[..., 0].max() < 10  # no red: blue to cyan alone


def test_a_signed_map_is_white_at_nothing_and_darker_at_edges() -> None:
    flat = np.full((16, 16, 3), 90, np.uint8)
    nothing = np.full((4, 4, 3), 128, np.uint8)
    shown = masking.overlay(flat, nothing, "signed", "rdbu_r")
    assert shown.min() > 240
    split = flat.copy()
    split[:, 8:] = 200
    edged = masking.overlay(split, nothing, "signed", "rdbu_r")
    assert edged[:, 7:9].max() < 190
    assert edged[:, [0, 15]].min() > 240


def test_grain_is_no_edge() -> None:
    rng = np.random.default_rng(1)
    photo = np.full((64, 64, 3), 60.0)
    photo[:, 32:] = 110
    photo += rng.normal(0, 12, (64, 64, 1))
    nothing = np.full((4, 4), 128, np.uint8)
    shown = masking.overlay(photo.round().astype(np.uint8), nothing, "signed", "rdbu_r")
    assert shown[:, 31:33].mean() < 200
    assert shown[:, :28].mean() > 0.99 * masking.table("rdbu_r")[128].mean()


def test_a_ready_picture_is_shown_as_it_is() -> None:
    rng = np.random.default_rng(1)
    ready = rng.integers(0, 255, (8, 8, 3), np.uint8)
    shown = masking.overlay(np.zeros((8, 8, 3), np.uint8), ready, "ready", "jet")
    assert np.array_equal(shown, ready)


def test_enlarging_keeps_places_and_constants() -> None:
    grid = np.zeros((3, 3), np.float32)
    grid[1, 2] = 1
    large = masking.enlarge_bilinear(grid, 90, 90)
    assert np.unravel_index(large.argmax(), large.shape)[1] >= 74
    assert abs(int(np.unravel_index(large.argmax(), large.shape)[0]) - 45) <= 1
    assert np.allclose(masking.enlarge_bilinear(np.full((3, 5), 7, np.float32), 40, 20), 7)
    assert masking.enlarge_bilinear(np.ones((1, 1), np.float32), 4, 4).shape == (4, 4)
