"""A stimulus set as somebody made it: `manifest.json`, or a header and tables as CSV files.

    set.json         everything of the manifest but what stands in the tables
    classes.csv      id, name, marks, what makes the class as columns concept:CONCEPT, and words in
                     other languages as columns such as name:de and marks:de
    photos.csv       id, set, photo, truth, prediction, options, heatmaps, logits, strengths,
                     first_wrong, final_classes, beliefs, concepts, item, natural, facts as columns
                     that begin with fact:, and score files as columns scores:METHOD
    concepts.csv     id, name, off, on; likewise name:de, off:de and on:de
    prototypes.csv   id, of, photo, crop, left, top, right, bottom
    rows.csv         photo, place, prototype, crop, left, top, right, bottom, similarity, rank,
                     present
    masked.csv       photo, method, percent, fill, sign, logits; file, which is not read

Several values in a cell stand with | between them; `set` is a number or one of correct_example and
incorrect_example; `place` is empty, or one of first, absent and present for the final steps of a
path. The tables are turned into the value that manifest.json would hold, with the file and line
that each part of it comes from.

Reads those photos and prototypes of a set that the schema accepts, and reports the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from labapp.base.errors import StimuliError
from labapp.base.reading import tables
from labapp.models.stimuli import library
from labapp.models.stimuli.library import HEADER, MANIFEST, format_place, schema_fault
from labapp.models.stimuli.manifest import Manifest, Photo

Loc = tuple[str | int, ...]
Json = dict[str, Any]

BOX = ("left", "top", "right", "bottom")
COLUMNS: dict[str, tuple[str, ...]] = {
    "classes.csv": ("id", "name", "marks"),
    "photos.csv": (
        "id", "set", "photo", "truth", "prediction", "options", "heatmaps", "logits", "strengths",
        "first_wrong", "final_classes", "beliefs", "concepts", "item", "natural",
    ),
    "concepts.csv": ("id", "name", "off", "on"),
    "prototypes.csv": ("id", "of", "photo", "crop", *BOX),
    "rows.csv": (
        "photo", "place", "prototype", "crop", *BOX, "similarity", "rank", "present",
    ),
    "masked.csv": ("photo", "method", "percent", "fill", "sign", "logits", "file"),
}  # fmt: skip
REQUIRED: dict[str, tuple[str, ...]] = {
    "classes.csv": ("id", "name"),
    "photos.csv": ("id", "set", "photo", "truth", "prediction"),
    "concepts.csv": ("id", "name", "off", "on"),
    "prototypes.csv": ("id", "photo"),
    "rows.csv": ("photo", "prototype"),
    "masked.csv": ("photo", "method", "percent", "fill", "sign", "logits"),
}
FACT = "fact:"
SCORES = "scores:"
CONCEPT = "concept:"
TRANSLATED = {"classes.csv": ("name", "marks"), "concepts.csv": ("name", "off", "on")}
FREE = {
    "photos.csv": (FACT, SCORES),
    **{table: tuple(f"{key}:" for key in keys) for table, keys in TRANSLATED.items()},
}
FREE["classes.csv"] += (CONCEPT,)
"""How columns begin that a table may have besides."""
EXAMPLES = ("correct_example", "incorrect_example")
PLACES = ("first", "absent", "present")
TRUE, FALSE = {"true", "1", "yes"}, {"false", "0", "no"}


@dataclass
class SetSource:
    """A set before it is checked: its main file, the manifest's value, the faults met while
    reading, and for tables the line that each part of the value comes from."""

    folder: Path
    name: str = MANIFEST
    value: Any = None
    faults: list[str] = field(default_factory=list)
    places: dict[Loc, str] = field(default_factory=dict)

    def where(self, loc: Sequence[str | int]) -> str:
        """A place in the manifest by file and line, or by file and path."""
        path = tuple(loc)
        for length in range(len(path), 0, -1):
            if (place := self.places.get(path[:length])) is not None:
                rest = format_place(path[length:], None)
                return place if length == len(path) else f"{place}, {rest}"
        return f"{self.name}, {format_place(path, self.value)}"


def read(folder: Path) -> SetSource:
    """The set in a folder, and what is wrong in its files. Raises StimuliError: there is none."""
    if (folder / MANIFEST).is_file():
        source = SetSource(folder)
        source.value = _json(source, MANIFEST)
        return source
    if (folder / HEADER).is_file():
        return _tables(folder)
    raise StimuliError(
        f"There is no stimulus set in {folder}: it has neither {MANIFEST} nor {HEADER}.",
        todo="Give the folder that contains one of them. `labapp stimuli schema` and the page "
        "assets/stimuli/README.md describe these files.",
    )


def _text(source: SetSource, name: str) -> str:
    """A file's text; bytes that are not UTF-8 are a fault, and replaced."""
    path = source.folder / name
    content = library.read_bytes(path)
    try:
        return library.as_text(content, Path(name))
    except StimuliError as error:
        source.faults.append(f"{error.what} {error.todo}")
        return content.decode("utf-8-sig", errors="replace")


def _json(source: SetSource, name: str) -> Json | None:
    text = _text(source, name)
    try:
        value = library.parse_json(text.encode(), Path(name))
    except StimuliError as error:
        source.faults.append(error.what)
        return None
    if not isinstance(value, dict):
        source.faults.append(
            f"{name}: found {json.dumps(value):.60}; an object with keys is needed"
        )
        return None
    return value


def _tables(folder: Path) -> SetSource:
    source = SetSource(folder, name=HEADER)
    header = _json(source, HEADER)
    value: Json = dict(header or {})
    for key in ("classes", "concepts", "prototypes", "photos", *EXAMPLES):
        if key in value:
            source.faults.append(f"{HEADER}, {key}: belongs in a table, not in {HEADER}")
    value |= {"classes": [], "prototypes": [], "photos": []}
    source.value = value if header is not None else None
    for line, cells in _lines(source, "classes.csv", needed=True):
        source.places["classes", len(value["classes"])] = line
        value["classes"].append(_class(source, line, cells))
    for line, cells in _lines(source, "concepts.csv", needed=False):
        concepts = value.setdefault("concepts", [])
        source.places["concepts", len(concepts)] = line
        concepts.append(_gather_translations(cells, "concepts.csv"))
    for line, cells in _lines(source, "prototypes.csv", needed=False):
        source.places["prototypes", len(value["prototypes"])] = line
        value["prototypes"].append(_gather_box(cells, "box"))
    photos: dict[str, Json] = {}
    for line, cells in _lines(source, "photos.csv", needed=True):
        photo, final = _photo(source, line, cells)
        place = str(photo.get("set"))
        loc: Loc = ("photos", len(value["photos"]))
        if place in EXAMPLES:
            if place in value:
                source.faults.append(f"{line}, set: there is already a {place}")
                continue
            del photo["set"]
            loc = (place,)
            value[place] = photo
        else:
            value["photos"].append(photo)
        source.places[loc] = line
        if final:
            photo["final"] = {"classes": final}
        photos.setdefault(str(photo.get("id")), {"photo": photo, "loc": loc})
    for line, cells in _lines(source, "rows.csv", needed=False):
        _row(source, line, cells, photos)
    for line, cells in _lines(source, "masked.csv", needed=False):
        _add_masked(source, line, cells, photos)
    return source


def _lines(source: SetSource, name: str, *, needed: bool) -> list[tuple[str, Json]]:
    """The lines of a table with their cells by column, empty cells left out."""
    if not (source.folder / name).is_file():
        if needed:
            source.faults.append(f"{name}: missing")
        return []
    out: list[tuple[str, Json]] = []
    try:
        table = tables.read(library.read_bytes(source.folder / name), padded=True)
        own = {column.casefold(): column for column in COLUMNS[name]}
        columns = [own.get(cell.strip().casefold(), cell.strip()) for cell in table.first]
        if not _check_columns(source, name, columns):
            return []
        for line, cells in table.rows:
            pairs = zip(columns, map(str.strip, cells), strict=True)
            out.append((f"{name}, line {line}", {key: cell for key, cell in pairs if cell}))
    except tables.TableError as error:
        source.faults.append(f"{name}: {error.what}. {error.todo}.")
    return out


def _check_columns(source: SetSource, name: str, columns: list[str]) -> bool:
    """Whether a table has the columns it needs and no others."""
    before = len(source.faults)
    for column in columns:
        free = column.startswith(FREE.get(name, ()))
        if column not in COLUMNS[name] and not free:
            allowed = ", ".join(COLUMNS[name])
            source.faults.append(
                f"{name}, line 1: unknown column {column!r}; allowed are {allowed}"
            )
        elif columns.count(column) > 1:
            source.faults.append(f"{name}, line 1: the column {column!r} occurs twice")
    for column in REQUIRED[name]:
        if column not in columns:
            source.faults.append(f"{name}, line 1: the column {column!r} is missing")
    return len(source.faults) == before


def _class(source: SetSource, line: str, cells: Json) -> Json:
    """A class, with the concepts that make it in one value."""
    made_by = {
        key.removeprefix(CONCEPT): _truth(source, line, key, cell)
        for key, cell in cells.items()
        if key.startswith(CONCEPT)
    }
    rest = {key: cell for key, cell in cells.items() if not key.startswith(CONCEPT)}
    return _gather_translations(rest, "classes.csv") | ({"concepts": made_by} if made_by else {})


def _gather_translations(cells: Json, table: str) -> Json:
    """Cells with those of other languages, such as `name:de`, in one value."""
    out: Json = {}
    for column, cell in cells.items():
        key, _, language = column.partition(":")
        if language and key in TRANSLATED[table]:
            out.setdefault("translations", {}).setdefault(language, {})[key] = cell
        else:
            out[column] = cell
    return out


def _photo(source: SetSource, line: str, cells: Json) -> tuple[Json, list[str]]:
    """A photo, and the classes of its final steps."""
    photo: Json = {
        key: cells[key] for key in ("id", "photo", "truth", "prediction", "item") if key in cells
    }
    for key in ("options", "heatmaps"):
        if key in cells:
            photo[key] = _list(cells[key])
    for key in ("logits", "strengths", "beliefs"):
        if key in cells:
            photo[key] = [_number(source, line, key, entry, float) for entry in _list(cells[key])]
    if "concepts" in cells:
        values = _list(cells["concepts"])
        photo["concepts"] = [_truth(source, line, "concepts", value) for value in values]
    if "natural" in cells:
        photo["natural"] = _truth(source, line, "natural", cells["natural"])
    if (place := cells.get("set")) is not None:
        photo["set"] = place if place in EXAMPLES else _number(source, line, "set", place, int)
    if "first_wrong" in cells:
        photo["first_wrong"] = _number(source, line, "first_wrong", cells["first_wrong"], int)
    facts = {key.removeprefix(FACT): key for key in cells if key.startswith(FACT)}
    if facts:
        photo["facts"] = {
            name: _number(source, line, key, cells[key], float) for name, key in facts.items()
        }
    scores = {k.removeprefix(SCORES): cell for k, cell in cells.items() if k.startswith(SCORES)}
    if scores:
        photo["scores"] = scores
    return photo, _list(cells.get("final_classes", ""))


def _row(source: SetSource, line: str, cells: Json, photos: dict[str, Json]) -> None:
    """Put a row into its photo."""
    entry = _its_photo(source, line, cells, photos)
    if entry is None:
        return
    place = cells.pop("place", "")
    row = _gather_box(cells, "region")
    for key, kind in (("similarity", float), ("rank", int)):
        if key in row:
            row[key] = _number(source, line, key, row[key], kind)
    if "present" in row:
        row["present"] = _truth(source, line, "present", row["present"])
    photo, loc = entry["photo"], entry["loc"]
    if place in PLACES:
        photo.setdefault("final", {})[place] = row
        source.places[*loc, "final", place] = line
    elif place:
        allowed = ", ".join(PLACES)
        source.faults.append(
            f"{line}, place: found {place!r}; allowed are an empty cell, {allowed}"
        )
    else:
        rows = photo.setdefault("rows", [])
        source.places[*loc, "rows", len(rows)] = line
        rows.append(row)


def _add_masked(source: SetSource, line: str, cells: Json, photos: dict[str, Json]) -> None:
    """Add what the model predicts for a masked photo to the photo."""
    entry = _its_photo(source, line, cells, photos)
    if entry is None:
        return
    cells.pop("file", None)
    if "percent" in cells:
        cells["percent"] = _number(source, line, "percent", cells["percent"], float)
    if "logits" in cells:
        logits = _list(cells["logits"])
        cells["logits"] = [_number(source, line, "logits", logit, float) for logit in logits]
    masked = entry["photo"].setdefault("masked", [])
    source.places[*entry["loc"], "masked", len(masked)] = line
    masked.append(cells)


def _its_photo(source: SetSource, line: str, cells: Json, photos: dict[str, Json]) -> Json | None:
    """The photo that a line of another table names, with its place."""
    of = cells.pop("photo", None)
    entry = photos.get(str(of))
    if entry is None:
        source.faults.append(f"{line}, photo: there is no photo {of!r} in photos.csv")
    return entry


def _gather_box(cells: Json, key: str) -> Json:
    """Cells with the four of a box as one value; numbers that are none are left for the check."""
    box = [cells[side] for side in BOX if side in cells]
    out = {name: value for name, value in cells.items() if name not in BOX}
    if box:
        out[key] = [_plain(value) for value in box]
    return out


def _plain(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _number(
    source: SetSource, line: str, column: str, cell: str, kind: Callable[[str], float]
) -> float | str:
    """A number; one that cannot be read stays as it is, and is refused by the schema."""
    try:
        return kind(cell)
    except ValueError:
        if "," in cell:
            source.faults.append(f"{line}, {column}: write {cell!r} with a decimal point")
        return cell


def _truth(source: SetSource, line: str, column: str, cell: str) -> bool:
    """Whether something is so; a cell that does not say it is a fault."""
    if cell.lower() not in TRUE | FALSE:
        source.faults.append(f"{line}, {column}: found {cell!r}; allowed are true and false")
    return cell.lower() in TRUE


def _list(cell: str) -> list[str]:
    return [entry.strip() for entry in cell.split("|")] if cell else []


def encode_manifest(value: Json) -> bytes:
    """A manifest's bytes: a key a line, and a line for each photo, class and prototype."""
    lines = []
    for key, item in value.items():
        if isinstance(item, list) and item:
            inner = ",\n  ".join(_compact(inner_item) for inner_item in item)
            lines.append(f" {json.dumps(key)}: [\n  {inner}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {_compact(item)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class ReadableSet:
    """The photos and prototypes of a manifest that could be read, and their places in the source.

    Attributes
    ----------
    manifest : with only the readable ones.
    photos, prototypes : their places in the lists of the source.
    prototype_ids : ids of all prototypes, readable or not.
    whole : whether nothing was left out.
    """

    manifest: Manifest
    photos: tuple[int, ...]
    prototypes: tuple[int, ...]
    prototype_ids: frozenset[str]
    whole: bool

    def every_photo(self) -> Iterator[tuple[Loc, Photo]]:
        """All photos with their places, the worked examples last."""
        for place, photo in zip(self.photos, self.manifest.photos, strict=True):
            yield ("photos", place), photo
        for key in EXAMPLES:
            if (example := getattr(self.manifest, key)) is not None:
                yield (key,), example


def readable(source: SetSource) -> tuple[ReadableSet | None, list[str]]:
    """What can be read of a set (None if its manifest cannot), and what the schema refuses."""
    faults: list[str] = []
    bad: set[Loc] = set()
    try:
        manifest = Manifest.model_validate(source.value)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False):
            loc = error["loc"]
            items = error["input"]
            # A list may be too short only because some of its items were refused.
            short = error["type"] == "too_short" and isinstance(items, list)
            if not short or len(items) < error["ctx"]["min_length"]:
                faults.append(f"{source.where(loc)}: {schema_fault(error)}")
            bad.add(loc[:1] if loc[:1] in [(key,) for key in EXAMPLES] else loc[:2])
        try:
            manifest = Manifest.model_validate(_without(source.value, bad))
        except ValidationError:
            return None, faults
    return (
        ReadableSet(
            manifest,
            _places(source.value, "photos", bad),
            _places(source.value, "prototypes", bad),
            frozenset(
                str(item.get("id"))
                for item in _items(source.value, "prototypes")
                if item is not None
            ),
            not faults,
        ),
        faults,
    )


def _items(value: Any, key: str) -> list[Any]:
    """The items of a list of the manifest; None for an item that is no object."""
    items = value.get(key) if isinstance(value, dict) else None
    there = items if isinstance(items, list) else []
    return [item if isinstance(item, dict) else None for item in there]


def _places(value: Any, key: str, bad: set[Loc]) -> tuple[int, ...]:
    return tuple(n for n in range(len(_items(value, key))) if (key, n) not in bad)


def _without(value: Any, bad: set[Loc]) -> Any:
    """The value without the parts that were refused."""
    if not isinstance(value, dict):
        return value
    out = {key: item for key, item in value.items() if (key,) not in bad}
    for key in ("photos", "prototypes"):
        if isinstance(out.get(key), list):
            out[key] = [item for n, item in enumerate(out[key]) if (key, n) not in bad]
    return out
