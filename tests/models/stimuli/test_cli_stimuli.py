"""`labapp stimuli`: what it prints, and that faults are messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner, Result

from labapp.base.errors import CheckFailed, LabappError, StimuliError, UsageError
from labapp.cli.main import app
from labapp.models.stimuli.manifest import Manifest
from tests.helpers import stimuli


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["stimuli", *map(str, args)])


def refused(*args: str | Path) -> LabappError:
    """The error of a command that fails."""
    error = run(*args).exception
    assert isinstance(error, LabappError), error
    return error


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    return tmp_path / "own"


def test_a_set_is_checked_imported_and_listed(own: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "path-agreement")
    assert run("check", made.folder).stdout == (
        f"{made.folder}: valid (8 photos).\nShown: 6 steps of a path.\n"
    )
    assert not own.exists()
    assert run("import", made.folder).stdout == f"stimuli: {own / made.id}\n"
    rows = {row["id"]: row for row in json.loads(run("list", "--json").stdout)}
    assert rows[made.id] == {
        "id": made.id,
        "source": "own",
        "folder": str(own / made.id),
        "title": "Tiny set: path-agreement",
        "kind": "path",
        "method": "Tiny",
        "sets": 2,
        "photos": 8,
    }
    assert "tiny-path-agreement" in run("list").stdout
    assert "own      Tiny set: path-agreement (2 sets, 8 photos)" in run("list").stdout
    assert "Faces: anger and happiness (1 set, 10 photos)" in run("list").stdout


def test_a_damaged_set_is_listed_with_its_problem(own: Path) -> None:
    made = stimuli.write(own, "heatmaps")
    (made.folder / "manifest.json").write_text("{", "utf-8")
    (row,) = [row for row in json.loads(run("list", "--json").stdout) if row["source"] == "own"]
    assert "not valid JSON" in row["problem"]
    assert run("list").exit_code == 0


def test_warnings_are_told_beside(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    stimuli.edited(made, lambda m: m.pop("correct_example"))
    done = run("check", made.folder)
    assert "warning: there is no correct_example" in done.stderr
    assert ": valid (" in done.stdout


def test_words_that_would_be_read_as_they_stand_are_told(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    stimuli.edited(made, lambda m: m["classes"][1].update(name="The <b>second</b> {kind}"))
    done = run("check", made.folder)
    (line,) = (
        number
        for number, text in enumerate(
            (made.folder / "manifest.json").read_text("utf-8").splitlines(), 1
        )
        if "<b>second" in text
    )
    for what in ("classes[1].name: {kind}: nothing is filled in", "classes[1].name: <b>: HTML is"):
        assert f"manifest.json, line {line}, {what}" in done.stderr


def test_faults_are_refused(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    stimuli.edited(made, lambda m: m["photos"][0].update(truth="s19"))
    for command in ("check", "import"):
        error = refused(command, made.folder)
        assert isinstance(error, StimuliError | CheckFailed)
        assert "photos[p00].truth: 's19' is not among the options" in error.what


def test_the_schema_is_that_of_manifests() -> None:
    schema = json.loads(run("schema").stdout)
    assert schema.pop("$schema")
    assert schema == TypeAdapter(Manifest).json_schema()
    assert set(schema["required"]) >= {"id", "kind", "photos"}


def test_only_known_sets_are_built_and_nothing_is_overwritten(tmp_path: Path) -> None:
    error = refused("build", "birds-lime", "--out", tmp_path / "new")
    assert isinstance(error, UsageError)
    assert "birds-gradcam" in error.todo
    error = refused("build", "birds-gradcam", "--out", tmp_path)
    assert f"{tmp_path} already exists, and nothing is overwritten." in error.what
