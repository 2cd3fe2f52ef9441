"""The numbers of a study in one file for Excel, SPSS or Stata, with labels.

Two layouts: *long* has a row for each participant and stage, *wide* a row for each participant and
a column for each measure and model, as JASP and jamovi take repeated measures. Both have what is
known of the session, the factors of the design, the measures of the stages, and answers and scores
of questionnaires. `variables.csv` says what each variable is and where it comes from.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from labapp.analysis.columns import table_columns
from labapp.analysis.tables import Tables

FORMATS = {"xlsx": "Excel", "sav": "SPSS", "dta": "Stata"}
"""The endings of the files, with the programs that read them."""
VARIABLES = "variables.csv"
NOT_ASKED, UNKNOWN = -98, -97
"""In SPSS missing values: of a question that was not asked because of an earlier answer, and of one
that was answered by not knowing."""
WHY_MISSING = {NOT_ASKED: ("a", "not asked"), UNKNOWN: ("b", "don't know")}
"""What stands for them in Stata, as .a and .b, and their words."""
LONGEST_NAME = {"sav": 64, "dta": 28}
"""Stata takes 32, of which pyreadstat needs some for the names of value labels."""
LONGEST_TEXT = {"xlsx": 32_767, "sav": 32_767, "dta": 2_000_000_000}
"""Bytes of a text; longer ones are cut, and the variable's label says so."""
LONGEST_LABEL = {"sav": 256, "dta": 80}
RESERVED = {
    "all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with", "if", "in",
    "byte", "int", "long", "float", "double", "using", "strl", "_n", "_all",
}  # fmt: skip
KEYS = ["study", "participant", "session"]
LEFT_OUT = {"study_sha256", "app_versions", "seed", "source", "n_events", "models", "tasks"}
"""Of the table of participants: what says nothing about people."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A column of a file.

    Attributes
    ----------
    name : as in the file; letters, digits and underscores.
    label : what it is, with its unit.
    source : the table and column, or the questionnaire and item, that it comes from.
    values : what numbers stand for.
    """

    name: str
    label: str
    source: str
    values: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Data:
    """One layout: columns by the names of the variables, in their order.

    why : by variable, of each row why it has no number, by the keys of `WHY_MISSING`; else missing.
    """

    frame: pd.DataFrame
    variables: tuple[Variable, ...]
    why: Mapping[str, pd.Series] = field(default_factory=dict)


def long(tables: Tables) -> Data:
    """A row for each participant and stage; one for a participant without stages."""
    return _arrange_data(tables, wide=False)


def wide(tables: Tables) -> Data:
    """A row for each participant."""
    return _arrange_data(tables, wide=True)


def write(tables: Tables, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write both layouts in each format of `FORMATS`, and `variables.csv`. Returns the paths.
    Raises OSError."""
    layouts = {"long": long(tables), "wide": wide(tables)}
    written = []
    if "xlsx" in formats:
        written.append(folder / "data.xlsx")
        _write_xlsx(layouts, written[-1])
    for ending in ("sav", "dta"):
        if ending in formats:
            for name, data in layouts.items():
                written.append(folder / f"{name}.{ending}")
                _write_pyreadstat(data, written[-1], ending)
    written.append(folder / VARIABLES)
    _variables(layouts).to_csv(written[-1], index=False)
    return written


@dataclass(frozen=True, slots=True)
class _Column:
    """Values by row of what they are about: of people, or of people and a stage."""

    name: str
    label: str
    source: str
    series: pd.Series
    values: Mapping[float, str] = field(default_factory=dict)
    why: pd.Series | None = None


def _arrange_data(tables: Tables, *, wide: bool) -> Data:
    people = tables.participants.set_index(KEYS)
    stages = tables.stages.set_index([*KEYS, "stage"])
    of_people = [*_columns_of(tables, "participants", people), *_answers(tables, None)]
    of_stages = [*_columns_of(tables, "stages", stages), *_answers(tables, "stage")]
    if not wide:
        index: pd.Index[Any] = stages.index.append(_without_stages(people, stages))
        keys = cast("pd.MultiIndex", index).droplevel(["stage"])
        spread = [_at(column, keys) for column in of_people]
        spread += [_at(column, index) for column in of_stages]
        names: list[str] = [*KEYS, "stage"]
    else:
        index = people.index
        spread = list(of_people)
        cells = _cells(tables.stages)
        for column in of_stages:
            if column.name not in ("stage", "model"):
                spread += _side_by_side(column, cells)
        spread = [_at(column, index) for column in spread]
        names = list(KEYS)
    frame = index.to_frame(index=False)
    labels = {"stage": "id of the stage, as in the plan"}
    made = [Variable(name, labels.get(name, _label("participants", name)), name) for name in names]
    columns = {name: frame[name].astype("string") for name in names}
    why = {}
    for column in spread:
        unknown = column.why is not None and (column.why == UNKNOWN).any()
        if column.series.isna().all() and not unknown:
            continue
        name = _unique(_plain(column.name), columns, 64)
        columns[name] = column.series.reset_index(drop=True)
        if column.why is not None and column.why.notna().any():
            why[name] = column.why.reset_index(drop=True)
        values = column.values
        if pd.api.types.is_bool_dtype(columns[name].dtype):
            values = {0.0: "no", 1.0: "yes"}
        made.append(Variable(name, column.label, column.source, values))
        if unknown:
            own = _unique(f"{name}_dont_know", columns, 64)
            told = (why[name] == UNKNOWN).fillna(value=False).astype("boolean")
            columns[own] = cast("pd.Series", told.where(told | columns[name].notna()))
            words = f"Answered by not knowing: {column.label}"
            made.append(Variable(own, words, column.source, {0.0: "no", 1.0: "yes"}))
    return Data(pd.DataFrame(columns), tuple(made), why)


def _without_stages(people: pd.DataFrame, stages: pd.DataFrame) -> pd.MultiIndex:
    have = set(stages.reset_index("stage").index)
    left = [(*key, pd.NA) for key in people.index if key not in have]
    return pd.MultiIndex.from_tuples(left, names=[*KEYS, "stage"])


def _columns_of(tables: Tables, table: str, frame: pd.DataFrame) -> Iterator[_Column]:
    """What a table says of each of its rows; of people what could be mistaken for that of a stage
    has a name of its own."""
    other = {"participants": "stages", "stages": ""}[table]
    taken = {column.name for column in table_columns()[other]} if other else set()
    merged = {column.name: column for column in tables.merged}
    for name in frame.columns:
        if name not in LEFT_OUT:
            own = f"session_{name}" if name in taken else name
            known = merged.get(name) if table == "participants" else None
            values = known.values if known is not None and known.is_numeric else {}
            yield _Column(
                own,
                _label(table, name) if known is None else known.meaning,
                f"{table}.{name}",
                frame[name],
                {float(number): text for number, text in values.items() if _is_number(number)},
            )


def _label(table: str, name: str) -> str:
    known = next((each for each in table_columns()[table] if each.name == name), None)
    if known is None:
        return f"{name}: a factor of the design"
    return f"{known.meaning} ({known.unit})" if known.unit else known.meaning


def _answers(tables: Tables, about: str | None) -> Iterator[_Column]:
    """Answers and scores of questionnaires about a stage, or about the whole session (None)."""
    stages = set(zip(*(tables.stages[key] for key in (*KEYS, "stage")), strict=True))
    for frame, item, kind in (
        (tables.answers, "item", "answers"),
        (tables.scores, "score", "scores"),
    ):
        if frame.empty:
            continue
        rows = frame
        if kind == "answers":  # what was not asked is in no answer that was submitted
            rows = frame[frame["submitted"].fillna(False) | ~frame["asked"].fillna(True)]
        keys = list(zip(*(rows[key] for key in (*KEYS, "about")), strict=True))
        rows = rows[[(key in stages) == (about is not None) for key in keys]]
        for (instrument, name), own in rows.groupby(["instrument", item], sort=False):
            yield from _occasions(tables, own, str(instrument), str(name), kind, about)


def _occasions(
    tables: Tables, rows: pd.DataFrame, instrument: str, name: str, kind: str, about: str | None
) -> Iterator[_Column]:
    """A column for each time that the question was asked about the same stage or session, and the
    change of a number since the first time."""
    keys = [*KEYS, "about"] if about is not None else KEYS
    times = rows.groupby(keys, sort=False).cumcount() + 1
    # A score may have the name of an item, and another value: in NASA-TLX five times as much.
    items = tables.worded
    named = ((items["instrument"] == instrument) & (items["item"] == name)).any()
    ending = "_score" if kind == "scores" and named else ""
    first: pd.Series | None = None
    for time in sorted(times.unique()):
        own = rows[times == time].set_index(keys).rename_axis(index={"about": "stage"})
        text = kind == "answers" and own["value"].isna().all() and own["value_text"].notna().any()
        why = None
        if kind == "answers":
            why = pd.Series(pd.NA, own.index, dtype="Int64")
            why[~own["asked"].astype("boolean").fillna(True)] = NOT_ASKED
            why[own["dont_know"].astype("boolean").fillna(False)] = UNKNOWN
        series = own["value_text"] if text else own["value"].astype("Float64")
        label, values = _wording(tables, own, instrument, name, kind)
        column, source = f"{instrument}_{name}{ending}", f"{kind}: {instrument}, {name}"
        if time > 1:
            column, source = f"{column}_{time}", f"{source}, time {time}"
        yield _Column(column, label, source, series, {} if text else values, why)
        if time == 1:
            first = None if text else series
        elif first is not None and not text:
            source = f"{source} minus time 1"
            yield _Column(
                f"{column}_change", f"Change since time 1: {label}", source, series - first
            )


def _wording(
    tables: Tables, rows: pd.DataFrame, instrument: str, name: str, kind: str
) -> tuple[str, dict[float, str]]:
    """The words of a question and what its numbers stand for; of a score its meaning."""
    if kind == "scores":
        return f"{instrument}, {name}: {rows['meaning'].iloc[0]}", {}
    items = tables.worded
    own = items[(items["instrument"] == instrument) & (items["item"] == name)]
    if own.empty:
        return f"{instrument}, {name}", {}
    labels = json.loads(own["answers"].iloc[0]) if isinstance(own["answers"].iloc[0], str) else {}
    numbers = {float(key): str(text) for key, text in labels.items() if _is_number(key)}
    return str(own["text"].iloc[0]), numbers


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _at(column: _Column, index: pd.Index) -> _Column:
    """The column at the rows of an index; missing if it has none."""
    series = column.series[~column.series.index.duplicated(keep="last")].reindex(index)
    why = column.why
    if why is not None:
        why = why[~why.index.duplicated(keep="last")].reindex(index)
    return replace(column, series=series, why=why)


def _cells(stages: pd.DataFrame) -> pd.Series:
    """By participant and stage what tells it from the participant's others: the model if each
    was met once, else the number of the stage."""
    by_model = stages["model"].notna().all() and not stages.duplicated([*KEYS, "model"]).any()
    cells = stages["model"] if by_model else "stage_" + stages["stage_number"].astype("string")
    cells.index = pd.MultiIndex.from_frame(stages[[*KEYS, "stage"]])
    return cells


def _side_by_side(column: _Column, cells: pd.Series) -> Iterator[_Column]:
    at = cells.reindex(column.series.index)
    for cell in sorted(at.dropna().unique()):
        chosen = (at == cell).fillna(False).to_numpy(bool)
        own, why = column.series[chosen].droplevel("stage"), column.why
        yield replace(
            column,
            name=f"{column.name}_{cell}",
            label=f"{column.label}; {cell}",
            source=f"{column.source}, {cell}",
            series=own,
            why=None if why is None else why[chosen].droplevel("stage"),
        )


def _plain(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "v"
    plain = plain if plain[0].isalpha() else f"v_{plain}"
    return f"{plain}_" if plain.lower() in RESERVED else plain


def _unique(name: str, taken: Iterable[str], longest: int) -> str:
    """The name, or one that is short enough and that nobody has: programs do not tell upper case
    from lower case."""
    known = {each.lower() for each in taken}
    if len(name) <= longest and name.lower() not in known:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()
    for length in range(4, 20):
        short = f"{name[: longest - length - 1]}_{digest[:length]}"
        if short.lower() not in known:
            return short
    raise AssertionError(name)


def _names(data: Data, ending: str) -> dict[str, str]:
    """The variables' names in a format."""
    names: dict[str, str] = {}
    for variable in data.variables:
        names[variable.name] = _unique(variable.name, names.values(), LONGEST_NAME[ending])
    return names


def _variables(layouts: Mapping[str, Data]) -> pd.DataFrame:
    rows = []
    for layout, data in layouts.items():
        stata = _names(data, "dta")
        for variable in data.variables:
            values = "; ".join(f"{number:g} = {text}" for number, text in variable.values.items())
            rows.append(
                {
                    "layout": layout, "variable": variable.name, "in_stata": stata[variable.name],
                    "label": variable.label, "values": values, "source": variable.source,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def _cut(series: pd.Series, ending: str) -> tuple[pd.Series, bool]:
    """Texts that are not longer than a format takes, and whether one was cut."""
    longest = LONGEST_TEXT[ending]
    texts = series.astype("string").str.replace(_CONTROLS, "␛", regex=True)
    encoded = texts.map(lambda text: len(text.encode()), na_action="ignore")
    if not (encoded > longest).any():
        return texts, False
    cut = texts.map(
        lambda text: text.encode()[:longest].decode(errors="ignore"), na_action="ignore"
    )
    return cut, True


_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"


def _is_text(series: pd.Series) -> bool:
    return not (pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series))


def _write_pyreadstat(data: Data, path: Path, ending: str) -> None:
    import pyreadstat

    names = _names(data, ending)
    columns: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    value_labels: dict[str, Any] = {}
    missing: dict[str, Any] = {}
    for variable in data.variables:
        name, series, label = names[variable.name], data.frame[variable.name], variable.label
        if _is_text(series):
            series, cut = _cut(series, ending)
            label = f"{label} (cut)" if cut else label
            columns[name] = series.astype(object).where(series.notna(), "")
        else:
            values = series.astype("Float64").astype(object).where(series.notna(), float("nan"))
            known: dict[Any, str] = dict(variable.values)
            why = data.why.get(variable.name)
            for number, (letter, words) in WHY_MISSING.items():
                if why is not None and (mask := (why == number).fillna(False)).any():
                    code = number if ending == "sav" else letter
                    values[mask.to_numpy(bool) & series.isna()] = code
                    known[code] = words
                    missing.setdefault(name, []).append(code)
            whole = (isinstance(key, str) or float(key).is_integer() for key in known)
            if known and (ending == "sav" or all(whole)):  # Stata labels whole numbers alone
                value_labels[name] = known
            columns[name] = values if name in missing and ending == "dta" else values.astype(float)
        labels[name] = label[: LONGEST_LABEL[ending]]
    frame = pd.DataFrame(columns)
    if ending == "sav":
        pyreadstat.write_sav(
            frame, path, column_labels=labels, variable_value_labels=value_labels,
            missing_ranges=missing,
        )  # fmt: skip
    else:
        pyreadstat.write_dta(
            frame, path, column_labels=labels, variable_value_labels=value_labels,
            missing_user_values=missing, version=15,
        )  # fmt: skip


def _write_xlsx(layouts: Mapping[str, Data], path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)

    def sheet(name: str, frame: pd.DataFrame) -> None:
        made = book.create_sheet(name)
        made.freeze_panes = "A2"
        made.append(list(frame.columns))
        texts = {name for name in frame.columns if _is_text(frame[name])}
        shown = frame.assign(**{name: _cut(frame[name], "xlsx")[0] for name in texts})
        for row in shown.itertuples(index=False, name=None):
            cells: list[object] = []
            for column, value in zip(shown.columns, row, strict=True):
                if pd.isna(value):
                    cells.append(None)
                elif column in texts:
                    cell = WriteOnlyCell(made, str(value))
                    cell.data_type = "s"  # what begins with = is a text, and no formula
                    cells.append(cell)
                else:
                    cells.append(value.item() if hasattr(value, "item") else value)
            made.append(cells)

    sheet("Data", layouts["long"].frame)
    sheet("Wide", layouts["wide"].frame)
    sheet("Variables", _variables(layouts).drop(columns="values"))
    values = [
        {"variable": variable.name, "value": number, "stands for": text}
        for variable in layouts["long"].variables
        for number, text in variable.values.items()
    ]
    sheet("Values", pd.DataFrame(values, columns=["variable", "value", "stands for"]))
    book.save(path)
