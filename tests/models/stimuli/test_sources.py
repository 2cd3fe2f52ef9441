"""A set in tables is the same set as one in JSON, and its faults are named by file and line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labapp.models.stimuli import importing, library, sources
from labapp.models.stimuli.check import check
from labapp.models.stimuli.library import StimulusSet
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
        "classes.csv, line 1: the column 'name' is there twice",
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
        "set.json, photos: stands in a table, not in set.json",
    ),
    "header": (
        "set.json",
        lambda text: text.replace('"positive"', '"warm"'),
        "set.json, scale: found 'warm'",
    ),
    "example twice": (
        "photos.csv",
        lambda text: text.replace("incorrect_example", "correct_example"),
        "photos.csv, line 11, set: there is a correct_example already",
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
        "rows.csv, line 2, similarity: found 1.9; a tree's similarities lie between 0 and 1",
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
        "rows.csv, line 6, place: found 'last'; allowed are nothing, first, absent, present",
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
