"""`labapp code`: each command as it is typed."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import subprocess
import sys
import wave
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from PySide6.QtGui import QImage
from typer.testing import CliRunner

from labapp.analysis.coding_section import coding_section
from labapp.analysis.tables import load
from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import LabappError
from labapp.base.messages import Message
from labapp.cli.main import app
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.model import Text, Unit, rater_file
from labapp.coding.annotations.redacting import holders, redact
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.simulated import codebook_path
from labapp.coding.annotations.store import (
    annotations_of,
    history_of,
    open_marks,
    open_texts,
    open_units,
)
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import format_named
from labapp.record.journal.opening import open_record
from labapp.session.simulation.simulation_job import simulate_study
from tests.coding.agreement.examples import FLEISS, KRIPPENDORFF, from_counts, from_lines
from tests.coding.annotations.test_simulated import spoken
from tests.helpers.commands import Run
from tests.helpers.exchanged import exchanged_session, marks_in
from tests.helpers.journals import golden_session
from tests.helpers.recorded_sounds import Take, sounding_session

BOOK = resources.assets() / "codebooks" / "think-aloud.yaml"


@pytest.fixture
def code(labapp: Run) -> Run:
    """Runs `labapp code …`."""
    return partial(labapp, "code")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session in which somebody speaks twice."""
    return sounding_session(tmp_path / "data", Take(spoken()), end_s=20.0)


def test_a_session_goes_from_sound_to_frozen_units(code: Run, session: Path) -> None:
    name = session.name
    status, out, _ = code("segment", name, "--by", "anna", "--data", "data")
    assert status == 0
    assert f"{name}: 2 units, " in out
    assert "not frozen" in out
    status, out, _ = code("segment", name, "--by", "anna", "--freeze", "--data", "data", "--json")
    (row,) = json.loads(out)
    assert (row["units"], row["frozen"]) == (2, True)
    assert row["spoken_s"] == pytest.approx(4.5, abs=0.1)
    status, out, _ = code("status", session.parent.name, "--data", "data")
    assert status == 0
    assert "2 frozen" in out
    status, out, _ = code("status", str(session.parent), "--json")
    assert json.loads(out)[0]["units"] == 2
    status, out, _ = code("history", name, "--data", "data")
    assert [line.split()[2] for line in out.splitlines()] == [
        "units.opened", "unit.put", "unit.put", "units.frozen",
    ]  # fmt: skip
    assert code("history", name, "--data", "data", "--rater", "ben")[1] == "Nothing was done yet.\n"
    assert code("verify", name, "--data", "data")[0] == 0
    assert code("verify", session.parent.name, "--data", "data")[0] == 0


def test_damage_ends_with_one(code: Run, session: Path) -> None:
    code("segment", str(session), "--by", "anna", "--freeze")
    path = session.parent / "annotations" / session.name / "units.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"detector"', b'"defector"', 1))
    status, out, _ = code("verify", str(session))
    assert status == 1
    assert "units.jsonl, line 2: it was changed" in out
    status, out, _ = code("verify", str(session), "--json")
    assert not json.loads(out)["ok"]
    assert not rater_file(session, "anna").exists()


def test_a_codebook_is_checked(code: Run) -> None:
    shutil.copy(BOOK, "codebook.yaml")
    status, out, _ = code("check", "codebook.yaml")
    assert status == 0
    assert "valid (think-aloud, version 3" in out
    assert json.loads(code("check", "codebook.yaml", "--json")[1])["id"] == "think-aloud"
    text = Path("codebook.yaml").read_text("utf-8")
    Path("codebook.yaml").write_text(text.replace("tier: strategy", "tier: strategie", 1), "utf-8")
    status, _, err = code("check", "codebook.yaml")
    assert status == 1
    assert "codes[0].tier: there is no tier 'strategie'" in err
    assert code("check", "nothing.yaml")[0] == 2


def test_the_schema_fits_what_is_shipped(code: Run) -> None:
    schema = json.loads(code("schema")[1])
    text = BOOK.read_text("utf-8").replace(" on:", ' "on":').replace("{on:", '{"on":')
    jsonschema.validate(yaml.safe_load(text), schema)


def test_two_versions_are_compared(code: Run) -> None:
    text = BOOK.read_text("utf-8")
    Path("old.yaml").write_text(text, "utf-8")
    what = "moves a slider to see what it does"
    Path("new.yaml").write_text(text.replace(what, "moves any slider"), "utf-8")
    status, out, err = code("diff", "old.yaml", "new.yaml")
    assert (status, out) == (
        0,
        f"* code explore: when was '{what}', and is now 'moves any slider'\n",
    )
    assert "increase the version number" in err
    (change,) = json.loads(code("diff", "old.yaml", "new.yaml", "--json")[1])
    assert change["definition"]
    assert code("diff", "old.yaml", "old.yaml")[1] == "Nothing differs.\n"
    Path("new.yaml").write_text(text.replace("codebook: think", "codebook: rethink"), "utf-8")
    assert code("diff", "old.yaml", "new.yaml")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [("verify", "nothing"), ("status", "nothing"), ("history", "nothing"),
     ("segment", "nothing", "--by", "anna"), ("segment", "x")],
)  # fmt: skip
def test_what_is_not_there_is_told(code: Run, arguments: tuple[str, ...]) -> None:
    status, _, err = code(*arguments)
    assert status == 2
    assert err


UNSAID = "Nobody has said who speaks"


def test_it_is_told_that_nobody_said_who_speaks_until_somebody_does(
    code: Run, session: Path, tmp_path: Path
) -> None:
    name, study = session.name, session.parent.name
    for options in ((), ("--freeze",)):
        status, _, err = code("segment", name, "--by", "anna", *options, "--data", "data")
        assert (status, UNSAID in err) == (0, True)
    _, out, _ = code("status", study, "--data", "data")
    assert "speakers not set" in out
    assert UNSAID in out
    _, out, _ = code("speakers", name, "--data", "data")
    assert len(out.splitlines()) == 2
    status, _, err = code("speakers", name, "--confirm", "--data", "data")
    assert (status, "--by" in err) == (2, True)
    status, out, _ = code("speakers", name, "--confirm", "--by", "ben", "--data", "data")
    assert (status, "are confirmed" in out) == (0, True)
    _, out, _ = code("status", study, "--data", "data")
    assert UNSAID not in out
    (row,) = json.loads(code("status", study, "--data", "data", "--json")[1])
    assert row["speakers_said"] is True


def test_a_table_says_who_speaks_at_its_times_or_nothing_is_changed(
    code: Run, session: Path, tmp_path: Path
) -> None:
    name = session.name
    code("segment", name, "--by", "anna", "--freeze", "--data", "data")
    (first, second) = json.loads(code("speakers", name, "--data", "data", "--json")[1])
    table = tmp_path / "who.csv"
    at = (first["t0_s"] + first["t1_s"]) / 2
    for text, told in (
        ("0.1,moderator", "there is no unit at 0.1"),
        (f"{at},teacher", "'teacher' is not one of"),
        (f"{at}", "'' is not one of"),
    ):
        table.write_text(f"time,speaker\n{at:.2f},moderator\n{text}\n")
        status, _, err = code(
            "speakers", name, "--map", "who.csv", "--by", "anna", "--data", "data"
        )
        assert (status, told in err, "line 3" in err) == (3, True, True), err
        assert json.loads(code("speakers", name, "--data", "data", "--json")[1]) == [first, second]
    table.write_text(f"time;speaker\n{at:.2f};moderator\n")
    status, out, _ = code("speakers", name, "--map", "who.csv", "--by", "anna", "--data", "data")
    assert (status, "1 units now have a different speaker" in out) == (0, True)
    rows = json.loads(code("speakers", name, "--data", "data", "--json")[1])
    assert [row["speaker"] for row in rows] == ["moderator", "participant"]
    table.write_text(f"time,speaker\n{at:.2f},other\n")
    _, out, _ = code("speakers", name, "--map", "who.csv", "--by", "ben", "--data", "data")
    assert "1 changes wait until the person who froze" in out


@pytest.fixture
def agree(labapp: Run) -> Run:
    """Runs `labapp code agree …`."""
    return partial(labapp, "code", "agree")


def write(rows: list[list[int | None]] | list[list[int]], name: str = "ratings.csv") -> str:
    lines = ["unit," + ",".join(f"r{at}" for at in range(len(rows[0])))]
    for at, row in enumerate(rows):
        cells = ",".join("" if cell is None else str(cell) for cell in row)
        lines.append(f"u{at},{cells}")
    Path(name).write_text("\n".join(lines) + "\n", "utf-8")
    return name


@pytest.mark.parametrize(
    ("level", "value"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548814),
        ("interval", 0.8491071428571428),
        ("ratio", 0.7974027747116121),
    ],
)
def test_alpha_of_a_table_is_one_json_value(agree: Run, level: str, value: float) -> None:
    name = write(from_lines(KRIPPENDORFF))
    status, out, err = agree("--table", name, "--measure", "alpha", "--level", level, "--json")
    assert (status, err.count("\n")) == (0, 1)
    assert "11 of 12 units" in err
    assert json.loads(out) == {
        "measure": "alpha",
        "level": level,
        "value": pytest.approx(value, abs=1e-12),
        "n_units": 12,
        "n_raters": 4,
        "notes": ["11 of 12 units have two ratings or more; the others cannot be compared."],
    }


def test_fleiss_and_kappa_of_a_table(agree: Run) -> None:
    status, out, err = agree("--table", write(from_counts(FLEISS)), "--measure", "fleiss", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["value"] == pytest.approx(0.20993070442195522, abs=1e-12)
    status, out, err = agree("--table", write([[1, 1], [2, 2], [1, 2]]), "--measure", "kappa")
    assert (status, err) == (0, "")
    assert out.splitlines() == ["Cohen's kappa, nominal: 0.4", "3 units, 2 raters"]


def test_none_has_its_reason(agree: Run) -> None:
    name = write([[1, 1], [1, 1]])
    status, out, _ = agree("--table", name, "--measure", "kappa", "--json")
    assert status == 0
    assert json.loads(out) == {
        "measure": "kappa",
        "level": "nominal",
        "value": None,
        "n_units": 2,
        "n_raters": 2,
        "reason": "all gave only “1”, so agreement by chance is certain",
    }
    assert "Why: all gave only “1”" in agree("--table", name, "--measure", "kappa")[1]


def test_a_code_that_looks_like_a_missing_rating_is_told(agree: Run) -> None:
    Path("ratings.csv").write_text("unit,a,b\nu1,NA,x\nu2,x,NA\n", "utf-8")
    status, _, err = agree("--table", "ratings.csv")
    assert status == 0
    assert "'NA' appears in 2 cells and counts as a code" in err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Nothing to compare was given"),
        (("--table", "none.csv"), 2, "There is no file none.csv"),
        (("--table", "ratings.csv", "--measure", "pi"), 2, "one of alpha, kappa, fleiss"),
        (("--table", "ratings.csv", "--level", "big"), 2, "one of nominal, ordinal"),
        (
            ("--table", "ratings.csv", "--level", "ratio"),
            3,
            "line 2, column a: “x” is not a number",
        ),
        (
            ("--table", "ratings.csv", "--measure", "kappa", "--level", "ratio"),
            3,
            "only with the level nominal",
        ),
    ],
)
def test_refusals_say_what_to_do(
    agree: Run, arguments: tuple[str, ...], status: int, words: str
) -> None:
    Path("ratings.csv").write_text("unit,a,b\nu1,x,y\n", "utf-8")
    code, out, err = agree(*arguments)
    assert (code, out) == (status, "")
    assert words in err


@pytest.fixture
def session_governing(tmp_path: Path) -> Path:
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


def code_governing(session: Path, rater: str, *codes: str, done: bool = True) -> None:
    """Give the units of a session codes in their order."""
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    with open_marks(session, rater, book) as marks:
        for number, name in enumerate(codes):
            marks.give(name, unit=f"u{number}")
        if done:
            marks.set_status("done")


def test_from_a_draw_to_the_final_coding(session_governing: Path) -> None:
    study = session_governing.parent
    drawn = json.loads(run("assign", study, "--raters", "anna,ben", "--both", "1", "--json"))
    roles = {a["role"]: a["rater"] for a in drawn["assignments"]}
    assert roles.keys() == {"primary", "second"}
    with pytest.raises(LabappError, match="assigned already"):
        run("assign", study, "--raters", "anna,ben")
    first, second = roles["primary"], roles["second"]
    code_governing(session_governing, first, "explore", "goal", "explore", "goal", done=False)
    with pytest.raises(LabappError, match=f"Not done yet: {first}"):
        run("lock", study)
    code_governing(session_governing, first)
    code_governing(session_governing, second, "explore", "explore", "goal")
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
    record = open_record(session_governing)
    annotations = annotations_of(record)
    final = final_marks(annotations, assignments_of(record))
    assert [(m.unit, m.code) for m in final] == [
        ("u0", "explore"),
        ("u1", "explore"),
        ("u2", "explore"),
    ]


def test_imported_coding_is_finished_without_a_window(
    session_governing: Path, tmp_path: Path
) -> None:
    study = session_governing.parent
    other = session_governing.with_name(session_governing.name.replace("ses-1", "ses-2"))
    shutil.copytree(session_governing, other)
    with open_units(other, "anna") as units:
        units.put_all([Unit("v", 20 * NS, 21 * NS)])
        units.freeze()
    shutil.copy(resources.assets() / "codebooks" / "think-aloud.yaml", study / "codebook.yaml")
    table = tmp_path / "coded.csv"
    table.write_text("tier,code,onset_s,offset_s,text,memo\nstrategy,explore,20,21,,\n")
    for each in (session_governing, other):
        run("import", table, "--session", each, "--rater", "anna")
    with pytest.raises(LabappError, match="Not done yet: anna") as refused:
        run("lock", study)
    assert "labapp code done" in refused.value.todo
    with pytest.raises(LabappError, match="ben has no marks"):
        run("done", study, "--rater", "ben")
    (row,) = json.loads(run("done", other, "--rater", "anna", "--json"))
    assert (row["session"], row["marks"]) == (other.name, 1)
    assert f"{session_governing.name}: 1 marks of anna are done" in run(
        "done", study, "--rater", "anna"
    )
    with pytest.raises(LabappError, match="not done yet"):
        run("done", study, "--rater", "anna")
    assert len(run("lock", study).splitlines()) == 2


def test_a_study_without_units_says_what_to_do(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    with pytest.raises(LabappError, match="it has no units") as refused:
        run("assign", session.parent, "--raters", "anna,ben")
    assert "labapp code segment" in refused.value.todo


def test_redacting_says_what_it_did(session_governing: Path) -> None:
    out = run("redact", session_governing, "0:21", "22.5", "--by", "anna")
    assert "Redacted from 21.000 to 22.500 s" in out
    out = run("redact", session_governing, "40", "55", "--by", "anna")
    assert "1 note from the moderator at that time stay" in out
    assert len(annotations_of(open_record(session_governing)).redactions) == 2


STUDY = """\
id: aloud
title: Aloud
version: 1
unnamed_texts: shipped
seed: 3
flow:
- stages: {task: reconstruction, models: [sinelines/gt], order: as_listed, trials: 2}
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aloud")
    (folder / "aloud.yaml").write_text(STUDY)
    simulate_study(
        str(folder / "aloud.yaml"), 2, "understanding", folder / "data", 1, thinks_aloud=True
    )
    return folder / "data" / "aloud"


@pytest.fixture
def study(simulated: Path, tmp_path: Path) -> Path:
    """A copy that may be written to."""
    return Path(shutil.copytree(simulated, tmp_path / "data" / "aloud"))


def quotes(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "labapp", "code", "quotes", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_quotes_are_the_words_with_the_screen_of_their_moment(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "quotes.csv"
    done = quotes(study, "--most", "2", "--size", "800x500", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    written = rows(out)
    assert told["n_quotes"] == told["n_pictures"] == len(written)
    coded = load(study).coded
    planted = {(str(who), str(text)) for who, text in coded[["participant", "text"]].to_numpy()}
    for row in written:
        assert (row["participant"], row["text"]) in planted
        image = QImage(str(tmp_path / row["picture"]))
        assert (image.width(), image.height()) == (800, 500)
    for session in study.glob("sub-*"):
        files = [entry.file for entry in holders(study, session.name)]
        assert files == [str(out), str(tmp_path / "quotes_pictures")]
    assert "exists already" in quotes(study, "--out", out).stderr


def test_a_page_holds_its_pictures(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "quotes.html"
    done = quotes(study, "--code", "sure", "--most", "1", "--out", out)
    assert done.returncode == 0, done.stderr
    html = out.read_text("utf-8")
    assert "affect: Sure" in html  # the code's name, not its id
    assert html.count("data:image/png;base64,") == html.count("<blockquote") == 1
    assert [path.name for path in tmp_path.glob("quotes*")] == ["quotes.html"]


def test_a_persons_coding_counts_and_redacted_words_are_gone(study: Path, tmp_path: Path) -> None:
    session = sorted(study.glob("sub-P01*"))[0]
    spoken = annotations_of(open_record(session))
    first, second = spoken.segmentation.units[:2]
    with open_marks(session, "anna", codebooks.read(codebook_path())) as marks:
        marks.give("uncertain", unit=first.id)
        marks.give("sure", unit=second.id)
        marks.set_status("done")
    words = spoken.texts[first.id].text
    redact(session, first.t0_ns, first.t1_ns, "anna")
    out = tmp_path / "quotes.md"
    done = quotes(study, "--where", "participant=P01", "--out", out)
    assert done.returncode == 0, done.stderr
    text = out.read_text("utf-8")
    assert text.count("> “") == 1, "anna's coding, not the program's"
    assert words not in text
    assert "redacted as a whole" in text
    assert text.count("![") == 1
    assert "— P02" not in text


def test_what_cannot_be_is_told(study: Path, tmp_path: Path) -> None:
    for options, told in (
        (["--where", "shoe=44", "--out", "x.md"], "not chosen by"),
        (["--where", "shoe", "--out", "x.md"], "a name and a value"),
        (["--code", "none", "--out", "x.md"], "No participant has the code"),
        (["--out", "x.docx"], "ending"),
    ):
        done = quotes(study, *options)
        assert done.returncode != 0
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_words_that_nobody_has_read_are_quoted_nowhere(study: Path, tmp_path: Path) -> None:
    """One rule for quotes, the report, de-identified bundles and exports: `may_be_quoted`."""
    session = sorted(study.glob("sub-*"))[0]
    known = annotations_of(open_record(session)).texts
    with open_texts(session, "recogniser") as texts:
        texts.put_all(
            Text(unit, "The Merck bound hide is the best", (), "recogniser") for unit in known
        )
    plain, drafts = tmp_path / "quotes.md", tmp_path / "drafts.md"
    said = quotes(study, "--out", plain, "--no-pictures")
    assert said.returncode == 0, said.stderr
    assert "Merck" not in plain.read_text()
    left_out = "on words that nobody has checked against the sound"
    assert left_out in said.stderr
    assert left_out in plain.read_text()
    said = quotes(study, "--out", drafts, "--no-pictures", "--unread")
    lines = [line for line in drafts.read_text().splitlines() if line.startswith("> — ")]
    marked = [line for line in lines if "not read against the sound" in line]
    assert 0 < len(marked) < len(lines)
    assert f"the words of {len(marked)} of them" in said.stderr
    tables = load([study])
    report = "".join(map(str, coding_section(tables, "aloud", "a")))
    assert "Merck" not in report
    assert left_out in report
    assert "were not read against the sound by a person" in report
    exported = export_coding(
        open_record(session), "simulated", format_named("csv"), tmp_path / "out.csv", base="session"
    )
    assert Message("lost_unread", n=len(known)) in exported.lost


@pytest.fixture
def session_exchanging(tmp_path: Path) -> Path:
    return exchanged_session(tmp_path / "data")


@pytest.fixture
def typed(labapp: Run) -> Run:
    """Runs `labapp code …`."""
    return partial(labapp, "code")


def test_a_table_goes_out_is_changed_and_comes_back(
    session_exchanging: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "anna.csv"
    code, told, _ = typed(
        "export", session_exchanging, "--rater", "anna", "--to", "csv", "--out", out
    )
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
    bring = (
        "import",
        out.with_name("changed.csv"),
        "--session",
        session_exchanging,
        "--rater",
        "anna",
    )
    before = marks_in(session_exchanging)

    code, told, _ = typed(*bring, "--dry-run")
    assert code == 0
    assert "mark recoded   0:08.000–0:12.500  strategy names  (was strategy goal)" in told
    assert "Nothing was changed (--dry-run)." in told
    assert marks_in(session_exchanging) == before

    code, told, _ = typed(*bring, "--json")
    assert code == 0
    plan = json.loads(told)
    assert plan["applied"]
    assert [step["what"] for step in plan["steps"]] == ["mark recoded"]
    after = marks_in(session_exchanging)
    assert [after[name].code for name in before if after[name] != before[name]] == ["names"]
    (line,) = (
        s.line
        for s in history_of(open_record(session_exchanging), "anna")
        if s.line.kind == "imported"
    )
    sha256 = hashlib.sha256(out.with_name("changed.csv").read_bytes()).hexdigest()
    assert line.body == {"sha256": sha256, "format": "csv"}


def test_several_sound_files_become_a_folder_and_joined_one(
    session_exchanging: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "elan"
    code, _, told_err = typed(
        "export", session_exchanging, "--rater", "anna", "--to", "eaf", "--out", out
    )
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        f"{session_exchanging.name}_segment-01.eaf", f"{session_exchanging.name}_segment-02.eaf",
    ]  # fmt: skip
    assert "not in it: 2 units where there is no sound (--no-sound includes them)" in told_err
    joined = tmp_path / "one.TextGrid"
    code, told, _ = typed(
        "export",
        session_exchanging,
        "--rater",
        "anna",
        "--to",
        "textgrid",
        "--out",
        joined,
        "--joined",
    )
    assert code == 0
    assert told.split("\n")[:2] == [str(joined), str(joined.with_suffix(".wav"))]
    with wave.open(str(joined.with_suffix(".wav"))) as sound:
        assert sound.getnframes() / sound.getframerate() == pytest.approx(125.0, abs=0.1)


def test_what_cannot_be_is_said_and_nothing_changed(
    session_exchanging: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "anna.csv"
    assert (
        typed("export", session_exchanging, "--rater", "anna", "--to", "csv", "--out", out)[0] == 0
    )
    content = out.read_bytes()
    for words, why in (
        (("--rater", "anna", "--to", "csv", "--out", out), "already exists"),
        (
            ("--rater", "zoe", "--to", "csv", "--out", tmp_path / "z.csv"),
            "zoe has not coded anything",
        ),
        (("--rater", "anna", "--to", "docx", "--out", tmp_path / "z"), "no format 'docx'"),
        (
            ("--rater", "anna", "--to", "eaf", "--out", tmp_path / "z", "--joined", "--no-sound"),
            "--no-sound cannot be combined",
        ),
    ):
        code, _, told = typed("export", session_exchanging, *words)
        assert code != 0
        assert why in told
    assert out.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anna.csv", "data"]
    code, _, told = typed(
        "import", tmp_path / "not there.csv", "--session", session_exchanging, "--rater", "anna"
    )
    assert code == 2
    assert "Nothing was changed." in told


def test_a_codebook_becomes_a_table(session_exchanging: Path, tmp_path: Path, typed: Run) -> None:
    out = tmp_path / "codes.csv"
    source = session_exchanging.parent / "codebook.yaml"
    assert typed("codebook", source, "--to", "csv", "--out", out)[0] == 0
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["code"] for row in rows] == [
        "explore", "goal", "random", "names", "uncertain", "insight", "sure",
    ]  # fmt: skip
    assert rows[5]["kind"] == "point"


def test_a_codebook_goes_out_to_other_tools_and_into_a_study_without_one(
    session_exchanging: Path, tmp_path: Path, typed: Run
) -> None:
    out, study = tmp_path / "codes.qdc", session_exchanging.parent
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
        (("--to", "qdc"), "what to do"),
        (("--from", out, "--to", "csv"), "--from cannot be combined with"),
        (("--to", "docx", "--out", tmp_path / "a"), "cannot be written as 'docx'"),
    ):  # fmt: skip
        code, _, told = typed("codebook", study, *words)
        assert code != 0
        assert why in told


def test_a_project_goes_out_and_comes_back(
    session_exchanging: Path, tmp_path: Path, typed: Run
) -> None:
    out = tmp_path / "P01.qdpx"
    code, told, _ = typed(
        "export", session_exchanging, "--rater", "anna", "--to", "qdpx", "--out", out
    )
    assert code == 0
    assert told.split("\n") == [str(out), "8 codes, 16 units.", ""]
    code, told, _ = typed("import", out, "--session", session_exchanging, "--rater", "anna")
    assert code == 0
    assert "8 marks as they are." in told
    code, told, _ = typed("import", out, "--session", session_exchanging, "--rater", "ben")
    assert code == 0
    codes = [
        sorted((m.tier, m.code, m.unit or "") for m in marks_in(session_exchanging, rater).values())
        for rater in ("anna", "ben")
    ]
    assert codes[0] == codes[1]
