"""A pilot is kept apart: beside the data folder, in no count, in no analysis of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.analysis.sources import PILOTS
from labapp.analysis.tables import load as tables_of
from labapp.bids.export import export
from labapp.cli.main import app
from labapp.errors import BundleError, RecordError, UsageError
from labapp.resources import pilot_root
from labapp.session.folder import next_free, taken
from labapp.session.opening import OpenSession
from labapp.session.private import consents
from labapp.session.withdrawal import withdraw
from labapp.study.loading import load
from tests.session.sessions import opened


def agreed(tmp_path: Path, participant: str = "P01", *, pilot: bool) -> OpenSession:
    data = tmp_path / "data"
    folder = pilot_root(data) if pilot else data
    session = opened(tmp_path, data=folder, participant=participant, pilot=pilot)
    session.begin()
    session.give_consent(f"Name of {'pilot' if pilot else 'study'} {participant}")
    session.close("interrupted")
    return session


def test_it_takes_no_label_and_no_place(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, pilot=True)
    assert pilot.planned.pilot
    data, study = tmp_path / "data", load("quickstart").study
    assert pilot.folder.path.is_relative_to(tmp_path / "data-pilot")
    assert taken(data, "quickstart") == {}
    assert next_free(data, study) == "P01"
    assert next_free(pilot_root(data), study) == "P02"
    assert not agreed(tmp_path, pilot=False).planned.pilot


def test_its_signature_is_kept_and_deleted_apart(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, pilot=True)
    agreed(tmp_path, pilot=False)
    secret = tmp_path / "private"
    assert [c.name for c in consents(secret, "quickstart")] == ["Name of study P01"]
    assert [c.name for c in consents(secret, "quickstart.pilot")] == ["Name of pilot P01"]
    withdraw(pilot.folder.path, secret, delete=True)
    assert [c.name for c in consents(secret, "quickstart")] == ["Name of study P01"]
    assert consents(secret, "quickstart.pilot") == []


def test_an_analysis_leaves_it_out_and_says_so_or_takes_nothing_else(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, "P02", pilot=True).folder.path
    other = agreed(tmp_path, pilot=False).folder.path
    tables = tables_of([pilot, other])
    assert list(tables.participants["participant"]) == ["P01"]
    assert any(pilot.name in note and "pilots" in note for note in tables.remarks)
    tables = tables_of([pilot, other], pilot=True)
    assert list(tables.participants["participant"]) == ["P02"]
    assert any(other.name in note and "no pilots" in note for note in tables.remarks)
    assert tables.remarks[0] == PILOTS, "whoever reads the report sees it first"
    with pytest.raises(RecordError, match="are pilots"):
        tables_of(pilot)
    with pytest.raises(RecordError, match="are no pilots"):
        tables_of(other, pilot=True)


def test_a_bundle_holds_one_kind(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, "P02", pilot=True).folder.path
    other = agreed(tmp_path, pilot=False).folder.path
    with pytest.raises(BundleError, match="some are not"):
        export([other, pilot], tmp_path / "mixed")
    assert not (tmp_path / "mixed").exists()
    bundle = export([pilot], tmp_path / "pilots")
    with pytest.raises(RecordError, match="are pilots"):
        tables_of(bundle)
    assert len(tables_of(bundle, pilot=True).participants) == 1


def test_without_a_participant_only_a_pilot_begins(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["run", "quickstart", "--data", str(tmp_path)])
    assert isinstance(said.exception, UsageError)
    assert "--pilot" in said.exception.todo
