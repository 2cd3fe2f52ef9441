"""`labapp code export`, `import` and `codebook`, as a user types them."""

from __future__ import annotations

import csv
import hashlib
import json
import wave
from functools import partial
from pathlib import Path

import pytest

from labapp.coding.annotations.store import history_of
from labapp.record.journal.opening import open_record
from tests.helpers.commands import Run
from tests.helpers.exchanged import exchanged_session, marks_in


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return exchanged_session(tmp_path / "data")


@pytest.fixture
def typed(labapp: Run) -> Run:
    """Runs `labapp code …`."""
    return partial(labapp, "code")


def test_a_table_goes_out_is_changed_and_comes_back(
    session: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "anna.csv"
    code, told, _ = typed("export", session, "--rater", "anna", "--to", "csv", "--out", out)
    assert code == 0
    assert told.split("\n") == [str(out), "8 codes, 18 units.", ""]
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["tier", "code", "onset_s", "offset_s", "text", "memo"]
    (goal,) = (row for row in rows if row["code"] == "goal" and row["onset_s"] == "8.000000")
    goal["code"] = "names"
    with out.with_name("changed.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    bring = ("import", out.with_name("changed.csv"), "--session", session, "--rater", "anna")
    before = marks_in(session)

    code, told, _ = typed(*bring, "--dry-run")
    assert code == 0
    assert "mark recoded   0:08.000–0:12.500  strategy names  (was strategy goal)" in told
    assert "Nothing was changed (--dry-run)." in told
    assert marks_in(session) == before

    code, told, _ = typed(*bring, "--json")
    assert code == 0
    plan = json.loads(told)
    assert plan["applied"]
    assert [step["what"] for step in plan["steps"]] == ["mark recoded"]
    after = marks_in(session)
    assert [after[name].code for name in before if after[name] != before[name]] == ["names"]
    (line,) = (
        s.line for s in history_of(open_record(session), "anna") if s.line.kind == "imported"
    )
    sha256 = hashlib.sha256(out.with_name("changed.csv").read_bytes()).hexdigest()
    assert line.body == {"sha256": sha256, "format": "csv"}


def test_several_sound_files_become_a_folder_and_joined_one(
    session: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "elan"
    code, _, told_err = typed("export", session, "--rater", "anna", "--to", "eaf", "--out", out)
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        f"{session.name}_segment-01.eaf", f"{session.name}_segment-02.eaf",
    ]  # fmt: skip
    assert "not in it: 2 units where there is no sound (--no-sound takes them along)" in told_err
    joined = tmp_path / "one.TextGrid"
    code, told, _ = typed(
        "export", session, "--rater", "anna", "--to", "textgrid", "--out", joined, "--joined"
    )
    assert code == 0
    assert told.split("\n")[:2] == [str(joined), str(joined.with_suffix(".wav"))]
    with wave.open(str(joined.with_suffix(".wav"))) as sound:
        assert sound.getnframes() / sound.getframerate() == pytest.approx(125.0, abs=0.1)


def test_what_cannot_be_is_said_and_nothing_changed(
    session: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "anna.csv"
    assert typed("export", session, "--rater", "anna", "--to", "csv", "--out", out)[0] == 0
    content = out.read_bytes()
    for words, why in (
        (("--rater", "anna", "--to", "csv", "--out", out), "exists already"),
        (("--rater", "zoe", "--to", "csv", "--out", tmp_path / "z.csv"), "zoe gave no marks"),
        (("--rater", "anna", "--to", "docx", "--out", tmp_path / "z"), "no format 'docx'"),
        (
            ("--rater", "anna", "--to", "eaf", "--out", tmp_path / "z", "--joined", "--no-sound"),
            "--no-sound goes with neither",
        ),
    ):
        code, _, told = typed("export", session, *words)
        assert code != 0
        assert why in told
    assert out.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anna.csv", "data"]
    code, _, told = typed(
        "import", tmp_path / "not there.csv", "--session", session, "--rater", "anna"
    )
    assert code == 2
    assert "Nothing was changed." in told


def test_a_codebook_becomes_a_table(session: Path, tmp_path: Path, typed: Run) -> None:
    out = tmp_path / "codes.csv"
    source = session.parent / "codebook.yaml"
    assert typed("codebook", source, "--to", "csv", "--out", out)[0] == 0
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["code"] for row in rows] == [
        "explore", "goal", "random", "names", "uncertain", "insight", "sure",
    ]  # fmt: skip
    assert rows[5]["kind"] == "point"


def test_a_codebook_goes_out_to_other_tools_and_into_a_study_without_one(
    session: Path, tmp_path: Path, typed: Run
) -> None:
    out, study = tmp_path / "codes.qdc", session.parent
    assert typed("codebook", study, "--to", "qdc", "--out", out)[0] == 0
    code, _, told = typed("codebook", study, "--from", out)
    assert code != 0
    assert "has a codebook" in told
    empty = tmp_path / "empty"
    empty.mkdir()
    code, told, _ = typed("codebook", empty, "--from", out)
    assert code == 0
    assert told.splitlines()[0] == str(empty / "codebook.yaml")
    assert typed("check", empty / "codebook.yaml")[0] == 0
    for words, why in (
        (("--to", "qdc"), "What to do"), (("--from", out, "--to", "csv"), "--from goes with"),
        (("--to", "docx", "--out", tmp_path / "a"), "not written as 'docx'"),
    ):  # fmt: skip
        code, _, told = typed("codebook", study, *words)
        assert code != 0
        assert why in told


def test_a_project_goes_out_and_comes_back(session: Path, tmp_path: Path, typed: Run) -> None:
    out = tmp_path / "P01.qdpx"
    code, told, _ = typed("export", session, "--rater", "anna", "--to", "qdpx", "--out", out)
    assert code == 0
    assert told.split("\n") == [str(out), "8 codes, 16 units.", ""]
    code, told, _ = typed("import", out, "--session", session, "--rater", "anna")
    assert code == 0
    assert "8 marks as they are." in told
    code, told, _ = typed("import", out, "--session", session, "--rater", "ben")
    assert code == 0
    codes = [
        sorted((m.tier, m.code, m.unit or "") for m in marks_in(session, rater).values())
        for rater in ("anna", "ben")
    ]
    assert codes[0] == codes[1]
