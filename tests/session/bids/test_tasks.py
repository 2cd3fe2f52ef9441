"""What leaves the lab of concept repair and judging, and cells and tables of a bundle."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.base.clock import FakeClock
from labapp.models.stimuli import interventions
from labapp.record.events import registered_kinds
from labapp.record.events.commands import Next
from labapp.record.events.lifecycle import LslClock, LslOff, LslOpened, SessionPaused
from labapp.record.journal.opening import open_record
from labapp.session.bids.contents import session_timeline
from labapp.session.bids.derived import codebook
from labapp.session.bids.export import export
from labapp.session.bids.folder import Table, cell
from labapp.session.bids.verify import verify
from labapp.study.plugins.bids import Column, seconds
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import SAME, ConceptGridPart, ConceptRepairPart
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.plan import PhotoQuestion
from tests.helpers import concepts
from tests.helpers.bids import errors_in, rows, validated
from tests.helpers.journals import SessionBuilder
from tests.helpers.judged import JudgedSession
from tests.helpers.rooms import make_runner
from tests.helpers.trees import flip
from tests.session.sessions import virtual

STEM = "sub-P01/ses-1/beh/sub-P01_ses-1_task"

BY = "mouse"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pictures: of each the first concept is set right, taken back where it was not foretold,
    and the picture ended; then the grid with one tick."""
    folder = tmp_path_factory.mktemp("data")
    made = concepts.write(folder / "sets", 4)
    study = concepts.write_study(folder / "study", made, foresee="half")
    room = make_runner(folder, study, "P01", scheduler=virtual, clock=FakeClock())
    room.session.begin()
    runner = room.runner
    while not runner.finished:
        room.clock.advance(1.0)
        part, trial = runner.part, getattr(runner.state.part_state, "trial", None)
        if isinstance(part, ConceptRepairPart) and trial is not None:
            item = part.items[trial.number - 1]
            runner.send(SetConcept(0, interventions.set_to(item.concepts[0]), BY))
            room.clock.advance(0.5)
            if item.foresee:
                runner.send(PickAnswer(SAME, BY))
                runner.send(Foretell(True, BY))
            else:
                runner.send(UndoChange(BY))
            runner.send(RepairDone())
        elif isinstance(part, ConceptGridPart) and trial is not None:
            runner.send(TickPair(0, 1, BY))
            runner.send(Next())
        else:
            runner.send(Next())
    room.session.close("test over")
    return room.session.folder.path


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, session: Path) -> Path:
    return export([session], tmp_path_factory.mktemp("bundles") / "bundle")


def test_a_row_is_a_picture_and_a_pair(bundle: Path) -> None:
    repairs = rows(bundle, f"{STEM}-conceptrepair_beh")
    assert [row["trial"] for row in repairs] == ["1", "2", "3", "4"]
    assert {row["n_changes"] for row in repairs} == {"1"}
    assert [row["foresee"] == "true" for row in repairs] == [
        row["n_undone"] == "0" for row in repairs
    ]
    grid = rows(bundle, f"{STEM}-conceptgrid_beh")
    assert len(grid) == 12
    assert [(row["concept"], row["other"]) for row in grid if row["ticked"] == "true"] == [
        ("size", "side")
    ]


def test_the_timeline_names_concepts_and_states(bundle: Path) -> None:
    found = rows(bundle, f"{STEM}-conceptrepair_events")
    onsets = [Decimal(row["onset"]) for row in found]
    assert onsets == sorted(onsets)
    types = [row["trial_type"] for row in found if row["trial_type"] != "stage"]
    assert types.count("trial") == types.count("set") == types.count("ended") == 4
    assert types.count("chosen") == types.count("foretold") == types.count("undone") == 2
    for row in found:
        if row["trial_type"] == "set":
            assert row["concept"] == "size"
            assert (row["was"], row["device"]) == ("model", BY)
            assert row["to"] in ("off", "on")
            assert len(json.loads(row["probabilities"])) == 8
        if row["trial_type"] == "trial":
            assert len(json.loads(row["beliefs"])) == 4
    (ticked,) = [
        row for row in rows(bundle, f"{STEM}-conceptgrid_events") if row["trial_type"] == "ticked"
    ]
    assert (ticked["concept"], ticked["other"], ticked["on"]) == ("size", "side", "true")
    others = {row["trial_type"] for row in rows(bundle, f"{STEM}-session_events")}
    assert not others & {"concept.set", "grid.ticked", "concepts.drawn"}


def test_the_bundle_is_whole_and_valid(bundle: Path) -> None:
    assert verify(bundle).problems == []
    result = validated(bundle)
    assert errors_in(result) == []
    assert sorted(result["summary"]["tasks"]) == ["concept grid", "concept repair", "session"]


def test_a_deidentified_copy_says_the_same(tmp_path: Path, session: Path) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).problems == []
    whole, reduced = load(session), load(bundle)
    for name in ("repairs", "concept_changes", "concept_grids", "concept_models", "concept_curves"):
        pd.testing.assert_frame_equal(whole.by_name()[name], reduced.by_name()[name])
    assert "withheld" not in (bundle / f"{STEM}-conceptrepair_events.tsv").read_text("utf-8")


def test_the_sets_manifest_and_pictures_go_along(bundle: Path, session: Path) -> None:
    source = bundle / "sourcedata/labapp/sub-P01/ses-1"
    assert (source / "study/stimuli/tiny-concepts-4/manifest.json").is_file()
    assert len(list((session / "stimuli").iterdir())) == 4


PICTURES = {"photo-1.png": b"one", "photo-2.png": b"two"}

SLIDERS = {"low_risk": {"value": 80, "touched": True}, "high_risk": {"value": 76, "touched": False}}


def choose(trial: PhotoTrial, question: PhotoQuestion) -> int:
    """Agreement 1, 2, 3, 4 with the photos; everything else as its last answer."""
    return trial.number if question.id == "agreement" else question.last


@pytest.fixture(scope="module")
def session_judging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    said = [("trade-off", SLIDERS)]
    one = JudgedSession("path-agreement", warm_up=True, choose=choose, after=said)
    return one.write(tmp_path_factory.mktemp("data"), pictures=PICTURES)


def test_a_photo_is_a_row_and_an_answer_an_event(session_judging: Path, tmp_path: Path) -> None:
    bundle = export([session_judging], tmp_path / "bundle")
    photos = rows(bundle, f"{STEM}-judging_beh")
    assert [row["agreement"] for row in photos] == ["1", "2", "3", "4"]
    assert [row["right_agreement"] for row in photos] == ["false", "true", "true", "false"]
    assert {row["labapp_task"] for row in photos} == {"path-agreement"}
    events = rows(bundle, f"{STEM}-judging_events")
    assert [row["trial_type"] for row in events[:3]] == ["stage", "trial", "judgement"]
    assert events[1]["photo"] == "photo-1"
    assert (events[2]["item"], events[2]["value"], events[2]["device"]) == (
        *("similarity_1", "4"),
        "mouse",
    )
    assert (events[2]["prototype"], events[2]["model_similarity"]) == ("p1", "0.4")
    assert events[1]["working_duration"] == "10"
    assert sum(row["trial_type"] == "judged" for row in events) == 4
    exercises = rows(bundle, f"{STEM}-warmup_beh")
    assert [(row["verdict"], row["right_verdict"]) for row in exercises] == [
        *[("2", "false"), ("2", "true")]
    ]
    assert not {row["trial_type"] for row in rows(bundle, f"{STEM}-session_events")} & {
        "judgement.made",
        "photo.judged",
    }


def test_sliders_have_two_columns(session_judging: Path, tmp_path: Path) -> None:
    bundle = export([session_judging], tmp_path / "bundle")
    (row,) = rows(bundle, "phenotype/trade-off")
    assert row["ses_1_questionnaire_1_low_risk"] == "80"
    assert row["ses_1_questionnaire_1_low_risk_touched"] == "true"
    assert row["ses_1_questionnaire_1_high_risk_touched"] == "false"
    assert row["ses_1_questionnaire_1_high_risk"] == "n/a", "nobody answered it"


@pytest.mark.parametrize("deidentify", [False, True])
def test_the_pictures_go_along_and_are_checked(
    session_judging: Path, tmp_path: Path, deidentify: bool
) -> None:
    bundle = export([session_judging], tmp_path / "bundle", deidentify=deidentify)
    kept = bundle / "sourcedata/labapp/sub-P01/ses-1/stimuli"
    assert sorted(path.read_bytes() for path in kept.iterdir()) == [b"one", b"two"]
    report = verify(bundle)
    assert report.ok, report.problems
    assert report.checked["pictures"] == 2
    if deidentify:
        photos = rows(bundle, f"{STEM}-judging_beh")
        assert [row["photo"] for row in photos] == [f"photo-{n}" for n in range(1, 5)]
        assert photos[0]["truth"] == "gull"


def test_valid_bids(session_judging: Path, tmp_path: Path) -> None:
    bundle = export([session_judging], tmp_path / "bundle")
    result = validated(bundle)
    assert errors_in(result) == []
    assert sorted(result["summary"]["tasks"]) == [
        "judging explanations",
        "session",
        "warm-up with a decision tree",
    ]


def test_a_changed_lost_or_foreign_picture_is_named(tmp_path: Path) -> None:
    folder = JudgedSession("prototype-agreement").write(tmp_path, pictures=PICTURES)
    assert verify(folder).ok
    first, second = sorted((folder / "stimuli").iterdir())
    flip(first, 1)
    second.unlink()
    (folder / "stimuli" / "more.png").write_bytes(b"more")
    problems = verify(folder).problems
    assert f"stimuli/{first.name}: not the picture that was shown (SHA-256)" in problems
    assert f"stimuli/{second.name}: missing" in problems
    assert "stimuli/more.png: not mentioned in the journal" in problems


def test_a_deidentified_copy_says_the_same_of_the_photos(
    session_judging: Path, tmp_path: Path
) -> None:
    bundle = export([session_judging], tmp_path / "bundle", deidentify=True)
    whole, reduced = load(session_judging), load(bundle)
    for name in ("judgements", "similarities", "stages"):
        pd.testing.assert_frame_equal(whole.by_name()[name], reduced.by_name()[name])
    sliders = whole.answers.set_index("item").loc["low_risk"]
    assert (sliders["value"], sliders["touched"]) == (80, True)
    assert "low_risk" not in set(reduced.answers["item"]), "an instrument that is not in the study"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        ("", "n/a"),
        (True, "true"),
        (3, "3"),
        (2.0, "2"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (1e300, "1e+300"),
        ([0.5, 1.0], "[0.5,1.0]"),
        ("two\twords\nand more", "two words and more"),
        ("größer — 7", "größer — 7"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


@given(st.text())
def test_any_text_fits_one_cell(text: str) -> None:
    table = Table((Column("a", "A."), Column("b", "B.")), [{"a": text, "b": 1}])
    lines = table.text().split("\n")
    assert len(lines) == 3
    assert len(lines[1].split("\t")) == 2
    assert len(table.text().splitlines()) == 2


@given(st.integers(-(10**15), 10**15))
def test_seconds_are_exact(t_ns: int) -> None:
    from decimal import Decimal

    assert Decimal(seconds(t_ns)) == Decimal(t_ns) / 10**9


def test_the_codebook_has_every_kind_and_field() -> None:
    described = {row["kind"]: row for row in codebook()["events"]}
    assert set(described) == set(registered_kinds())
    for kind, cls in registered_kinds().items():
        assert list(described[kind]["fields"]) == list(cls.__struct_fields__)
        assert described[kind]["meaning"]


def test_a_crash_inside_a_pause_is_one_pause(tmp_path: Path) -> None:
    builder = SessionBuilder()
    builder.plan([])
    builder.segment(0, 1)
    builder.at(10, SessionPaused("break"))
    builder.segment(50, 2, gap_from=10)
    from labapp.record.events.lifecycle import SessionResumed

    builder.at(60, SessionResumed("moderator"))
    record = open_record(builder.write(tmp_path))
    rows = session_timeline(record.payloads()).rows
    found = [(r["trial_type"], r["onset"], r.get("duration")) for r in rows]
    assert found == [("segment", "0", "10"), ("pause", "10", "50"), ("segment", "50", None)]
    assert [(p.kind, p.start_ns, p.end_ns) for p in record.outline.pauses] == [
        ("pause", 10_000_000_000, 60_000_000_000)
    ]
    assert record.working_s == 10


def test_the_clock_of_lsl_stands_at_the_moment_it_was_read(tmp_path: Path) -> None:
    builder = SessionBuilder()
    builder.plan([])
    builder.segment(0, 1)
    builder.at(1, LslOpened("labapp-5fd0", ("events",), "1.16"))
    builder.at(7, LslClock(5_250_000_000, 81234.000123))
    builder.at(8, LslOff("The library was not found."))
    rows = session_timeline(open_record(builder.write(tmp_path)).payloads()).rows
    told = [(r["trial_type"], r["onset"], r.get("value"), r.get("text")) for r in rows[1:]]
    assert told == [
        ("lsl.opened", "1", None, "labapp-5fd0"),
        ("lsl.clock", "5.25", "81234.000123", None),
        ("lsl.off", "8", None, "The library was not found."),
    ]
