"""The tables and the page, and the command from files to them."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from labapp.base.errors import ExportExists
from labapp.cli.main import main
from labapp.coding.annotations import rounds, store
from labapp.coding.annotations.model import Assignment, Unit
from labapp.coding.annotations.reliability.gathering import CodedSession, gather
from labapp.coding.annotations.reliability.results import results_of
from labapp.coding.annotations.reliability.study import write
from labapp.coding.annotations.rounds import Draw, save_draw
from tests.coding.annotations.reliability.coded import (
    BOOK,
    S,
    rater,
    session,
    span_marks,
    unit_marks,
)
from tests.helpers.journals import golden_session

ANNA = ["explore"] * 5 + ["goal"] * 4 + ["random"] * 3
BEN = ["explore"] * 4 + ["goal"] * 5 + ["random", "explore", "random"]

Run = Callable[..., tuple[int, str, str]]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(out: Path, *sessions: CodedSession) -> Path:
    gathered = gather(sessions, {BOOK.sha256: BOOK})
    results = [results_of(tier, step=1000) for tier in gathered.tiers]
    return write(results, gathered.left_out, out)


def test_every_number_is_there_with_what_it_is_or_why_not(tmp_path: Path) -> None:
    anna = unit_marks("anna", ANNA) + unit_marks("anna", ["sure=3"] * 12)
    anna += unit_marks("anna", ["hair", "face", None] * 4) + span_marks("anna", [(1, 2, "reading")])
    anna += span_marks("anna", [(1, 2, "uncertain"), (5, 5, "insight")])
    ben = unit_marks("ben", BEN) + unit_marks("ben", ["sure=3"] * 12)
    ben += unit_marks("ben", ["hair face", "face", None] * 4)
    ben += span_marks("ben", [(1.5, 2.5, "turning"), (1, 3, "uncertain"), (9, 9, "insight")])
    page = written(tmp_path / "out", session([rater("anna", anna), rater("ben", ben)]))
    figures = rows(tmp_path / "out" / "agreement.csv")
    assert {row["tier"] for row in figures} == {"strategy", "topic", "sure", "doing", "affect"}
    for row in figures:
        assert bool(row["value"]) != bool(row["no_value_because"]), row
        assert row["what"]
        assert row["no_interval_because"]
        assert row["round"] == "independent"
    text = page.read_text("utf-8")
    assert "## strategy (small, version 1)" in text
    assert "### Between raters: anna, ben" in text
    assert "| all | Cohen's kappa | 0.742 (at most 0.871) | none |" in text
    assert "grid of 1 s" in text
    assert "none: all gave only 3, so nothing varies" in text
    assert "These are guidelines, not verdicts" in text
    assert "*No interval*: marks from one participant are not independent" in text
    assert "mood of small, version 1: nobody used a code" in text


def test_confusions_add_up(tmp_path: Path) -> None:
    written(
        tmp_path / "out",
        session([rater("anna", unit_marks("anna", ANNA)), rater("ben", unit_marks("ben", BEN))]),
    )
    table = {
        (row["code_a"], row["code_b"]): int(row["n"])
        for row in rows(tmp_path / "out" / "confusion.csv")
    }
    assert len(table) == 9
    assert table["explore", "goal"] == table["random", "explore"] == 1
    assert sum(table.values()) == 12


def test_each_disagreement_can_be_listened_to(tmp_path: Path) -> None:
    anna = unit_marks("anna", ANNA) + span_marks("anna", [(1, 3, "reading")])
    ben = unit_marks("ben", BEN) + span_marks("ben", [(1, 2.5, "reading"), (2.5, 4, "turning")])
    written(tmp_path / "out", session([rater("anna", anna), rater("ben", ben)]))
    table = rows(tmp_path / "out" / "disagreements.csv")
    units = [row for row in table if row["unit"]]
    assert [(row["unit"], row["onset"], row["codes"]) for row in units] == [
        ("u4", "8.0", "anna: explore; ben: goal"),
        ("u10", "20.0", "anna: random; ben: explore"),
    ]
    assert units[1]["listen"] == "labapp replay sub-P01_ses-1_20260102T030405Z --at 0:20.0"
    assert [(row["onset"], row["offset"], row["codes"]) for row in table if not row["unit"]] == [
        ("2.5", "3.0", "anna: reading; ben: turning"),
        ("3.0", "4.0", "anna: (no code); ben: turning"),
    ]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    with pytest.raises(ExportExists):
        written(tmp_path, session([]))


def test_names_carry_nothing_out(tmp_path: Path) -> None:
    page = written(
        tmp_path / "out",
        session([rater("a|<b>", unit_marks("a|<b>", ANNA)), rater("*c*", unit_marks("*c*", BEN))]),
    )
    text = page.read_text("utf-8")
    assert "\\*c\\*, a\\|\\<b\\>" in text
    assert "<b>" not in text


@pytest.fixture
def agree(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `labapp code agree …`: (status, output, error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["labapp", "code", "agree", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A session on the disk with twelve frozen units, coded by two; returns its folder."""
    folder = golden_session(tmp_path / "data")
    with store.open_units(folder, "anna") as units:
        units.put_all([Unit(f"u{at}", 2 * at * S, (2 * at + 1) * S) for at in range(12)])
        units.freeze()
    for name, given in (("anna", ANNA), ("ben", BEN)):
        with store.open_marks(folder, name, BOOK) as marks:
            for at, code in enumerate(given):
                marks.give(code, unit=f"u{at}")
            marks.set_status("done")
    return folder


def lock(folder: Path) -> None:
    assert len(rounds.close(folder.parent).closed) == 2


def test_from_the_files_of_two_raters_to_their_kappa(
    agree: Run, coded: Path, tmp_path: Path
) -> None:
    status, out, err = agree(str(coded.parent), "--out", str(tmp_path / "early"))
    assert status == 0
    assert out.startswith("There is nothing to compare.")
    assert "ben: independent coding that is not locked yet (done)" in err
    lock(coded)
    status, out, err = agree(
        str(coded.parent), "--out", str(tmp_path / "out"), "--grid", "100ms", "--json"
    )
    assert status == 0, err
    result = json.loads(out)
    kappa = next(f for f in result["figures"] if (f["tier"], f["code"]) == ("strategy", ""))
    assert kappa["measure"] == "Cohen's kappa"
    assert kappa["value"] == pytest.approx(cohen_kappa_score(ANNA, BEN), abs=1e-12)
    assert kappa["n"] == 12
    assert Path(result["page"]).is_file()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "agreement.csv", "agreement.md", "confusion.csv", "disagreements.csv",
    }  # fmt: skip
    assert any("moderator" in line for line in result["left_out"])


def test_a_study_goes_by_its_name_too(agree: Run, coded: Path, tmp_path: Path) -> None:
    lock(coded)
    study, data = coded.parent.name, coded.parent.parent
    status, out, err = agree(study, "--data", str(data), "--out", str(tmp_path / "out"))
    assert status == 0, err
    assert "strategy, independent: Cohen's kappa 0.742, 12 units, anna, ben" in out
    assert agree(str(coded), "--out", str(tmp_path / "session"))[0] == 0


def test_locked_coding_is_compared_after_a_later_round_was_opened(
    agree: Run, coded: Path, tmp_path: Path
) -> None:
    lock(coded)
    with store.open_marks(coded, "ben", BOOK, round="reconciled") as marks:
        marks.give("explore", unit="u4")
    status, out, err = agree(str(coded.parent), "--out", str(tmp_path / "out"))
    assert status == 0, err
    assert "strategy, independent: Cohen's kappa 0.742, 12 units, anna, ben" in out
    assert "ben: what was settled after a discussion" in err


def test_a_session_that_cannot_be_read_is_told_and_the_others_are_compared(
    agree: Run, coded: Path, tmp_path: Path
) -> None:
    lock(coded)
    broken = coded.with_name("sub-P09_ses-1_20260102T030405Z")
    broken.mkdir()
    (broken / "journal.sqlite").write_bytes(b"none")
    status, out, err = agree(str(coded.parent), "--out", str(tmp_path / "out"))
    assert status == 0, err
    assert "12 units" in out
    assert f"Left out: {broken.name}:" in err


def test_a_second_rater_is_compared_on_what_was_drawn(
    agree: Run, coded: Path, tmp_path: Path
) -> None:
    lock(coded)
    name = coded.name
    assignments = (
        Assignment(name, "anna", 0, 60 * S, draw="d"),
        Assignment(name, "ben", 0, 10 * S, "second", draw="d"),
    )
    save_draw(coded.parent, Draw("d", ("anna", "ben"), 0.2, 1, assignments, 5, 1))
    with store.open_marks(coded, "cleo", BOOK, round="training") as marks:
        marks.give("glad", unit="u0")
    status, out, err = agree(str(coded.parent), "--out", str(tmp_path / "out"))
    assert status == 0, err
    assert "strategy, independent: Cohen's kappa 0.000, 5 units, anna, ben" in out
    assert f"ben, {name}: 7 marks outside the part that was to be coded" in err
    assert "mood, training: Krippendorff's alpha none (there is only one rater)" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("STUDY",), "--out is missing"),
        (("none", "--out", "OUT"), "no study, session or bundle 'none'"),
        (("STUDY", "--out", "OUT", "--grid", "fast"), "--grid fast"),
        (("STUDY", "--out", "OUT", "--grid", "0.5ms"), "--grid 0.5ms"),
        (("STUDY", "--out", "OUT", "--grid", "0s"), "--grid 0s"),
        (("STUDY", "--out", "OUT", "--measure", "alpha"), "--measure: only with --table"),
        (("STUDY", "--table", "STUDY"), "STUDY: not beside --table"),
        (("STUDY", "--out", "OUT", "--repeat", "anna"), "two names of one person's codings"),
        (("STUDY", "--out", "OUT", "--repeat", "anna=eve"), "eve has made no marks here"),
        (("STUDY", "STUDY", "--out", "OUT"), "is given twice"),
    ],
)
def test_refusals(
    agree: Run, coded: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    places = {"STUDY": str(coded.parent), "OUT": str(tmp_path / "out")}
    status, _, err = agree(*(places.get(each, each) for each in arguments))
    assert status == 2
    assert words in err
    assert not (tmp_path / "out").exists()
