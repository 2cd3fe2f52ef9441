"""`labapp code quotes`: what was said, with the screen at that moment, and nothing that may not."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from labapp.analysis.coding_section import coding_section
from labapp.analysis.tables import load
from labapp.base.messages import Message
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import Text
from labapp.coding.annotations.redacting import holders, redact
from labapp.coding.annotations.simulated import codebook_path
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import format_named
from labapp.record.journal.opening import open_record
from labapp.session.simulation.simulation_job import simulate_study

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
        (["--code", "none", "--out", "x.md"], "Nobody has the code"),
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
    left_out = "on words that nobody has read against the sound"
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
