"""`labapp code assign`, `lock`, `adjudicate` and `redact`, from units to the final coding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import LabappError
from labapp.cli.main import app
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.model import Unit
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.store import annotations_of, open_marks, open_units
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session with four frozen units."""
    session = golden_session(tmp_path / "data")
    with open_units(session, "anna") as units:
        units.put_all([Unit(f"u{n}", (20 + n) * NS, (21 + n) * NS) for n in range(4)])
        units.freeze()
    return session


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(app, ["code", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def code(session: Path, rater: str, *codes: str, done: bool = True) -> None:
    """Give the units of a session codes in their order."""
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    with open_marks(session, rater, book) as marks:
        for number, name in enumerate(codes):
            marks.give(name, unit=f"u{number}")
        if done:
            marks.set_status("done")


def test_from_a_draw_to_the_final_coding(session: Path) -> None:
    study = session.parent
    drawn = json.loads(run("assign", study, "--raters", "anna,ben", "--both", "1", "--json"))
    roles = {a["role"]: a["rater"] for a in drawn["assignments"]}
    assert roles.keys() == {"primary", "second"}
    with pytest.raises(LabappError, match="assigned already"):
        run("assign", study, "--raters", "anna,ben")
    first, second = roles["primary"], roles["second"]
    code(session, first, "explore", "goal", "explore", "goal", done=False)
    with pytest.raises(LabappError, match=f"Not done yet: {first}"):
        run("lock", study)
    code(session, first)
    code(session, second, "explore", "explore", "goal")
    settle = ("adjudicate", study, "--settle", "1", "--by", "cleo", "--reason", "an aim")
    with pytest.raises(LabappError, match="is not locked"):
        run(*settle, "--take", first)
    *told, listed = run("adjudicate", study, "--json").splitlines()
    assert (len(told), listed) == (2, "[]"), "drafts are shown to nobody, and that is said"
    assert all(line.endswith("is not locked.") for line in told)
    assert f"4 marks of {first} are locked" in run("lock", study, "--rater", first)
    assert f"3 marks of {second} are locked" in run("lock", study)
    listed = json.loads(run("adjudicate", study, "--json"))
    assert [row["unit"] for row in listed] == ["u1", "u2", "u3"], "u3 lacks a code of one"
    run(*settle, "--take", second)
    settle = ("adjudicate", study, "--by", "cleo", "--reason", "neither", "--settle")
    with pytest.raises(LabappError, match="no code 'no-such'"):
        run(*settle, "2", "--code", "no-such")
    run(*settle, "3", "--nothing")
    listed = json.loads(run("adjudicate", study, "--json"))
    assert listed[0]["settled"] == {"codes": ["explore"], "by": "cleo", "reason": "an aim"}
    record = open_record(session)
    annotations = annotations_of(record)
    final = final_marks(annotations, assignments_of(record))
    assert [(m.unit, m.code) for m in final] == [
        ("u0", "explore"),
        ("u1", "explore"),
        ("u2", "explore"),
    ]


def test_imported_coding_is_finished_without_a_window(session: Path, tmp_path: Path) -> None:
    study = session.parent
    other = session.with_name(session.name.replace("ses-1", "ses-2"))
    shutil.copytree(session, other)
    with open_units(other, "anna") as units:
        units.put_all([Unit("v", 20 * NS, 21 * NS)])
        units.freeze()
    shutil.copy(resources.assets() / "codebooks" / "think-aloud.yaml", study / "codebook.yaml")
    table = tmp_path / "coded.csv"
    table.write_text("tier,code,onset_s,offset_s,text,memo\nstrategy,explore,20,21,,\n")
    for each in (session, other):
        run("import", table, "--session", each, "--rater", "anna")
    with pytest.raises(LabappError, match="Not done yet: anna") as refused:
        run("lock", study)
    assert "labapp code done" in refused.value.todo
    with pytest.raises(LabappError, match="ben has no marks"):
        run("done", study, "--rater", "ben")
    (row,) = json.loads(run("done", other, "--rater", "anna", "--json"))
    assert (row["session"], row["marks"]) == (other.name, 1)
    assert f"{session.name}: 1 marks of anna are done" in run("done", study, "--rater", "anna")
    with pytest.raises(LabappError, match="not done yet"):
        run("done", study, "--rater", "anna")
    assert len(run("lock", study).splitlines()) == 2


def test_a_study_without_units_says_what_to_do(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    with pytest.raises(LabappError, match="it has no units") as refused:
        run("assign", session.parent, "--raters", "anna,ben")
    assert "labapp code segment" in refused.value.todo


def test_redacting_says_what_it_did(session: Path) -> None:
    out = run("redact", session, "0:21", "22.5", "--by", "anna")
    assert "Redacted from 21.000 to 22.500 s" in out
    out = run("redact", session, "40", "55", "--by", "anna")
    assert "1 note of the moderator from that time stay" in out
    assert len(annotations_of(open_record(session)).redactions) == 2
