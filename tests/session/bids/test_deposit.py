"""The folder of a deposit: only what may be shared, and what a repository asks for."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from labapp.analysis import load
from labapp.base.errors import BundleError, ExportExists, UsageError
from labapp.record.journal.sessions import exports_of
from labapp.session.bids.deposit import LICENSES, Creator, Metadata, citation, deposit
from labapp.session.bids.psychds import data_file
from labapp.session.bids.verify import verify
from labapp.session.withdrawal import decide_by_hand, withdraw
from labapp.tasks.consent.events import ConsentGiven
from tests.helpers.bids import validator_errors
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.trees import snapshot
from tests.session.bids.test_deidentified import SAID
from tests.session.bids.test_export import renamed

METADATA = Metadata.of(
    "cc-by-4.0",
    ["Curie, Marie; University of Paris; 0000-0002-1825-0097", "Doe, Jo Ann"],
    keywords=["think-aloud", "think-aloud", " interpretability "],
    doi="https://doi.org/10.5281/zenodo.1234567",
)


def agreeing(participant: str, agreed: bool) -> SessionBuilder:
    """A session whose participant was asked whether the sound may be passed on."""
    builder = renamed(participant)
    at = next(i for i, row in enumerate(builder.rows) if isinstance(row[2].payload, ConsentGiven))
    t_ns, source, unstamped = builder.rows[at]
    payload = replace(unstamped.payload, uses={"share_audio": agreed})
    builder.rows[at] = (t_ns, source, replace(unstamped, payload=payload))
    return builder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with sound: two who are in it, of whom one keeps the voice back; one who is excluded;
    two who withdrew, one with data that are kept and one with deleted data."""
    root = tmp_path_factory.mktemp("study")
    data, private = root / "data", root / "private"
    agreeing("P01", True).write(data)
    agreeing("P02", False).write(data)
    decide_by_hand(agreeing("P03", True).write(data), False, "fire alarm")
    withdraw(agreeing("P04", True).write(data), private, delete=False)
    withdraw(agreeing("P05", True).write(data), private, delete=True)
    return data / "golden"


@pytest.fixture(scope="module")
def made(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A deposit of it with sound."""
    out = tmp_path_factory.mktemp("deposit") / "deposit"
    report = deposit([study], out, METADATA, audio=True, private=study.parents[1] / "private")
    told = "\n".join(report.lines())
    assert "The dataset has 3 sessions of 3 participants" in told
    assert "2 participants withdrew" in told
    assert "your consent form" in told
    return out


def test_its_bundle_is_valid_bids(made: Path) -> None:
    assert validator_errors(made / "bids") == []
    assert verify(made / "bids").problems == []


def test_people_who_withdrew_are_left_out_and_counted(made: Path) -> None:
    people = pd.read_csv(made / f"{data_file('golden', 'participants')}.csv")
    assert list(people["participant"]) == ["P01", "P02", "P03"]
    for name, content in snapshot(made).items():
        assert b"P04" not in content, name
        assert b"P05" not in content, name
        assert "P04" not in name
    text = (made / "README.md").read_text()
    assert "2 participants withdrew from the study. The dataset contains nothing from them" in text
    assert "2 sessions of 2 participants count in the analysis" in text
    assert "with the reason: the researcher excluded the session, with a reason (1)" in text


def test_the_sound_is_that_of_those_who_agreed(made: Path) -> None:
    sounds = {path.relative_to(made).parts[3] for path in made.rglob("*.flac")}
    assert sounds == {"sub-P01", "sub-P03"}
    assert not list(made.rglob("*.wav"))
    text = (made / "README.md").read_text()
    assert "The sound of 1 session was left out" in text
    assert "A voice identifies the person who speaks" in text


def test_nothing_that_is_withheld_is_in_it(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    deposit([session], tmp_path / "deposit", METADATA, private=tmp_path / "private")
    content = b"\n".join(snapshot(tmp_path / "deposit").values())
    assert [word for word in SAID if word.encode() in content] == []
    assert b"2026-" not in content, "dates are moved, and the day of the deposit is not told"
    assert not (tmp_path / "deposit/bids").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "deposit", "private"]


def test_the_numbers_are_those_of_the_analysis_of_its_bundle(made: Path) -> None:
    tables = load([made / "bids"]).small()
    for name, frame in tables.items():
        path = made / f"{data_file('golden', name)}.csv"
        assert path.exists() is not frame.empty
        if not frame.empty:
            with path.open(encoding="utf-8", newline="") as file:
                assert len(list(csv.reader(file))) == len(frame) + 1
    trials = pd.read_csv(made / f"{data_file('golden', 'trials')}.csv")
    assert trials["duration_s"].sum() == pytest.approx(tables["trials"]["duration_s"].sum())


def test_creators_licence_and_doi_are_where_repositories_look(made: Path) -> None:
    description = json.loads((made / "dataset_description.json").read_text())
    assert description["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert description["identifier"] == "https://doi.org/10.5281/zenodo.1234567"
    assert description["keywords"] == ["think-aloud", "interpretability"]
    assert description["author"][0] == {
        "@type": "Person",
        "name": "Marie Curie",
        "givenName": "Marie",
        "familyName": "Curie",
        "affiliation": {"@type": "Organization", "name": "University of Paris"},
        "identifier": "https://orcid.org/0000-0002-1825-0097",
    }
    zenodo = json.loads((made / ".zenodo.json").read_text())
    assert zenodo["upload_type"] == "dataset"
    assert (zenodo["license"], zenodo["doi"]) == ("cc-by-4.0", "10.5281/zenodo.1234567")
    assert zenodo["creators"] == [
        {
            "name": "Curie, Marie",
            "affiliation": "University of Paris",
            "orcid": "0000-0002-1825-0097",
        },
        {"name": "Doe, Jo Ann"},
    ]
    cff = yaml.safe_load((made / "CITATION.cff").read_text())
    assert (cff["cff-version"], cff["type"], cff["license"]) == ("1.2.0", "dataset", "CC-BY-4.0")
    assert cff["title"] == zenodo["title"] == description["name"] == "The golden session's study"
    assert [author["family-names"] for author in cff["authors"]] == ["Curie", "Doe"]
    cited = "Curie, M., & Doe, J. A. The golden session's study [Data set]. https://doi.org/10.5281"
    assert cited in (made / "README.md").read_text()
    assert "SPDX-License-Identifier: CC-BY-4.0" in (made / "LICENSE.txt").read_text()


def test_own_words_take_the_place_of_those_of_the_study(tmp_path: Path) -> None:
    metadata = Metadata.of(
        "CC0-1.0", ["Doe, Jo"], title="Waves & circles", description="What <people> saw."
    )
    session = golden_session(tmp_path / "data")
    out = deposit([session], tmp_path / "d", metadata, private=tmp_path / "private").path
    description = json.loads((out / "dataset_description.json").read_text())
    assert (description["name"], description["description"]) == (
        "Waves & circles",
        "What <people> saw.",
    )
    zenodo = json.loads((out / ".zenodo.json").read_text())
    assert zenodo["description"] == "<p>What &lt;people&gt; saw.</p>"
    assert "doi" not in zenodo
    assert (out / "README.md").read_text().startswith("# Waves & circles\n\nWhat <people> saw.")


def test_the_study_knows_where_its_data_went(study: Path, made: Path) -> None:
    (session,) = study.glob("sub-P01*")
    assert str(made.resolve()) in exports_of(session)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    out = tmp_path / "deposit"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(ExportExists, match="never overwrites"):
        deposit([session], out, METADATA, private=tmp_path / "private")
    assert snapshot(out) == {"mine.txt": b"mine"}


def test_pilots_are_refused(tmp_path: Path) -> None:
    builder = golden_builder()
    t_ns, source, unstamped = builder.rows[0]
    builder.rows[0] = (
        t_ns,
        source,
        replace(unstamped, payload=replace(unstamped.payload, pilot=True)),
    )
    session = builder.write(tmp_path / "data")
    with pytest.raises(BundleError, match="These sessions are pilots"):
        deposit([session], tmp_path / "deposit", METADATA, private=tmp_path / "private")
    assert not (tmp_path / "deposit").exists()


@pytest.mark.parametrize("license_", [None, "", "MIT", "CC-BY"])
def test_no_licence_is_guessed(license_: str | None) -> None:
    with pytest.raises(UsageError, match="labapp does not choose one") as told:
        Metadata.of(license_, ["Doe, Jo"])
    assert all(name in str(told.value.todo) for name in LICENSES)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Jo Doe", "separated by a comma"),
        ("Doe,", "separated by a comma"),
        ("", "separated by a comma"),
        ("Doe, Jo; A; B", "more than a name"),
        ("Doe, Jo; A; 0000-0002-1825-0098", "check digit"),
    ],
)
def test_a_creator_that_cannot_be_read_is_told(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Creator.parse(text)


def test_creators_are_read_as_they_are_written() -> None:
    assert Creator.parse(" Doe , Jo ") == Creator("Doe", "Jo")
    orcid = "0000-0002-1694-233X"
    expected = Creator("Doe", "Jo", "Here, and there", orcid)
    assert Creator.parse(f"Doe, Jo; https://orcid.org/{orcid}; Here, and there") == expected
    with pytest.raises(UsageError, match="No creator was given"):
        Metadata.of("CC0-1.0", [])
    with pytest.raises(UsageError, match="is not a DOI"):
        Metadata.of("CC0-1.0", ["Doe, Jo"], doi="zenodo.1234567")
    three = Metadata.of("CC0-1.0", ["Doe, Jo", "Roe, Al", "Poe, Ed Al"])
    assert citation(three, "Title") == "Doe, J., Roe, A., & Poe, E. A. Title [Data set]."
