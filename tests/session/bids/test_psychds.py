"""A Psych-DS dataset follows the rules of its schema and has the numbers of the analysis."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.analysis.columns import row_meanings, table_columns
from labapp.base.errors import UsageError
from labapp.session.bids.export import export
from labapp.session.bids.psychds import SCHEMA_VERSION, data_file
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.journals import golden_session
from tests.helpers.trees import snapshot
from tests.session.bids.test_deidentified import SAID

# Psych-DS 1.5.0: rules.files.tabular_data.data.Datafile.fileRegex and the official keywords of
# objects.common_principles.keywords.
FILE = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
KEYWORDS = {
    "study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the session (`data`) and a dataset (`dataset`)."""
    root = tmp_path_factory.mktemp("psychds")
    export([golden_session(root / "data")], root / "dataset", format="psychds")
    return root


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def described(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def named(description: Any) -> list[str]:
    return [variable["name"] for variable in description["variableMeasured"]]


def test_every_file_has_the_name_that_psychds_asks_for(made: Path) -> None:
    names = [path.name for path in (made / "dataset/data").glob("*.csv")]
    assert len(names) > 10
    for name in names:
        assert FILE.fullmatch(name), name
        keys = {pair.split("-")[0] for pair in name.removesuffix("_data.csv").split("_")}
        assert keys <= KEYWORDS
    assert data_file("gradcam-distinction", "codes_all") == (
        "data/study-gradcamDistinction_description-codesAll_data"
    )


def test_every_column_is_described_and_nothing_else(made: Path) -> None:
    """rules.csv_data.Datafile.columnsMatchMetadata, rules.compiled_metadata.CompiledMetadata."""
    whole = described(made / "dataset/dataset_description.json")
    assert (whole["@context"], whole["@type"]) == ("https://schema.org/", "Dataset")
    assert whole["name"] == "The golden session's study"
    assert whole["description"]
    assert whole["schemaVersion"] == SCHEMA_VERSION
    assert len(set(named(whole))) == len(whole["variableMeasured"])
    columns = set()
    for path in sorted((made / "dataset/data").glob("*.csv")):
        header, *rows = read(path)
        assert rows
        assert len(set(header)) == len(header)
        assert {len(row) for row in rows} == {len(header)}
        own = described(path.with_suffix(".json"))
        assert named(own) == header
        columns |= set(header)
    assert columns == set(named(whole))
    for variable in whole["variableMeasured"]:
        assert variable["@type"] == "PropertyValue"
        assert variable["description"]
        assert set(variable) <= {"@type", "name", "description", "unitText"}
    words = {variable["name"]: variable["description"] for variable in whole["variableMeasured"]}
    assert words["stage"].startswith("in trials, stages")


def test_the_data_dictionary_has_every_column_of_every_file(made: Path) -> None:
    header, *rows = read(made / "dataset/documentation/data_dictionary.csv")
    assert header == ["file", "column", "type", "unit", "meaning"]
    columns = [
        (path.relative_to(made / "dataset").as_posix(), column)
        for path in (made / "dataset/data").glob("*.csv")
        for column in read(path)[0]
    ]
    assert sorted((row[0], row[1]) for row in rows) == sorted(columns)


def test_the_numbers_are_those_of_the_analysis(made: Path) -> None:
    (session,) = (made / "data").glob("*/sub-*")
    tables = load([session]).small()
    files = {path.name for path in (made / "dataset/data").glob("*.csv")}
    expected = {f"{Path(data_file('golden', name)).name}.csv" for name in tables}
    assert files <= expected
    for name, frame in tables.items():
        path = made / "dataset" / f"{data_file('golden', name)}.csv"
        assert path.exists() is not frame.empty
        if frame.empty:
            continue
        there = pd.read_csv(path)
        assert list(there) == list(frame)
        for column in frame.select_dtypes(["number", "boolean"]):
            same = frame[column].astype("Float64").reset_index(drop=True)
            given = there[column].astype("Float64")
            pd.testing.assert_series_equal(given, same, check_names=False, rtol=1e-12)
    trials = pd.read_csv(made / "dataset" / f"{data_file('golden', 'trials')}.csv")
    assert json.loads(trials["z_start"].iloc[0]) == tables["trials"]["z_start"].iloc[0]


def test_the_readme_says_what_is_in_it(made: Path) -> None:
    text = (made / "dataset/README.md").read_text()
    assert "1 session of 1 participant" in text
    assert "NOT de-identified" in text
    assert "Interactive reconstruction" in text
    assert "Single Ease Question" in text
    for path in (made / "dataset/data").glob("*.csv"):
        rows = len(read(path)) - 1
        assert re.search(rf"\| `data/{path.name}` \| [a-z, -]+ \| {rows} \|", text), path.name
    trials = read(made / "dataset/data/study-golden_description-trials_data.csv")
    assert f"| an attempt at a question | 9 | {len(trials[0])} |" in text


def test_it_is_said_of_every_table_what_a_row_is() -> None:
    assert row_meanings().keys() == table_columns().keys()


def test_a_deidentified_dataset_has_none_of_what_was_withheld(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    private = tmp_path / "private"
    for name, options in (("plain", {}), ("shared", {"deidentify": True, "private": private})):
        dataset = export([session], tmp_path / name, format="psychds", **options)  # type: ignore[arg-type]
        content = b"\n".join(snapshot(dataset).values())
        there = [word for word in SAID if word.encode() in content]
        assert bool(there) is (name == "plain")
        assert (b"was de-identified" in content) is (name == "shared")
        assert not list(dataset.rglob("*.wav"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("data", "plain", "private", "shared")
    ]


def test_a_bundle_gives_the_same_dataset(made: Path, tmp_path: Path) -> None:
    (session,) = (made / "data").glob("*/sub-*")
    bundle = export([session], tmp_path / "bundle", zip=True)
    assert snapshot(export([bundle], tmp_path / "dataset", format="psychds")) == snapshot(
        made / "dataset"
    )


def test_it_has_no_sound(made: Path, tmp_path: Path) -> None:
    (session,) = (made / "data").glob("*/sub-*")
    with pytest.raises(UsageError, match="The format psychds cannot have sound as 'flac'"):
        export([session], tmp_path / "dataset", format="psychds", sound="flac")


def test_simulated_participants_are_called_so(tmp_path: Path) -> None:
    simulate_study("quickstart", 2, "random", tmp_path / "data", 1)
    dataset = export([tmp_path / "data/quickstart"], tmp_path / "dataset", format="psychds")
    text = (dataset / "README.md").read_text()
    assert "All participants were simulated by a program." in text
    assert "In 2 of 2 sessions, the participant was simulated by a program" in text
    trials = pd.read_csv(dataset / f"{data_file('quickstart', 'trials')}.csv")
    expected = load([tmp_path / "data/quickstart"]).trials
    assert trials["duration_s"].sum() == pytest.approx(expected["duration_s"].sum())
    assert len(trials) == len(expected)
