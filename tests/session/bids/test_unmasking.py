"""What leaves the lab of sessions in which pictures were unmasked."""

from __future__ import annotations

import hashlib
import itertools
import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.base.clock import FakeClock
from labapp.models.explanations import package
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import Source
from labapp.record.events.commands import Pause, Resume
from labapp.record.journal.opening import describe, open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.study.plan import parts_of
from labapp.tasks.unmasking.events import StimulusPainted
from labapp.tasks.unmasking.plan import UnmaskingPart
from tests.helpers import stimuli
from tests.helpers.bids import errors_in, rows, validated
from tests.helpers.rooms import Room, make_runner
from tests.helpers.trees import flip
from tests.helpers.unmasking import made, play_unmasking, write_unmasking_study
from tests.session.sessions import virtual
from tests.tampering.places import reseal

STEM = "sub-P01/ses-1/beh/sub-P01_ses-1_task"
BROKEN_OFF = 7
"""So many pictures are answered (the example's three among them) before a pause falls into one."""


def opened(folder: Path, found: StimulusSet, participant: str = "P01") -> Room:
    study = write_unmasking_study(
        folder / "study",
        found,
        blank_ms=500,
        masks={"smallest": 5, "largest": 60, "count": 10},
        breaks={"every": 5, "text": "rest.md"},
    )
    return make_runner(folder, study, participant, scheduler=virtual, clock=FakeClock())


def recorded(folder: Path, found: StimulusSet, participant: str = "P01") -> Path:
    """A session of 90 pictures, one of which is shown twice: a pause falls into it."""
    room = opened(folder, found, participant)
    runner, session = room.runner, room.session
    session.begin()
    assert play_unmasking(runner, [0, 1, 2, 0, 1, 2, 0]) == BROKEN_OFF
    room.clock.set_ns(runner.state.part_state.trial.due_ns)
    runner.send(StimulusPainted(room.clock.now_ns(), "flush", None))
    room.clock.advance(1.0)
    runner.send(Pause("break"), Source.MODERATOR)
    room.clock.advance(20.0)
    runner.send(Resume("moderator"), Source.MODERATOR)
    play_unmasking(runner, itertools.cycle((0, 1, 2)))
    assert runner.finished
    session.close("test over")
    return session.folder.path


def broken_off(folder: Path, found: StimulusSet, answered: int) -> Path:
    """A session that ends after so many answers."""
    room = opened(folder, found)
    room.session.begin()
    play_unmasking(room.runner, [1] * answered)
    room.session.close("test over")
    return room.session.folder.path


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, found: StimulusSet) -> Path:
    return recorded(tmp_path_factory.mktemp("data"), found)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, session: Path) -> Path:
    return export([session], tmp_path_factory.mktemp("bundles") / "bundle")


def planned(session: Path) -> dict[str, UnmaskingPart]:
    parts = parts_of(open_record(session).planned)
    return {part.id: part for part in parts if isinstance(part, UnmaskingPart)}


def test_a_row_is_an_attempt_at_a_picture(bundle: Path, session: Path) -> None:
    found = rows(bundle, f"{STEM}-unmasking_beh")
    assert len(found) == 10 + 80 + 1
    parts = planned(session)
    for row in found:
        part = parts[row["stage"]]
        sequence, mask = part.stimulus(*part.at(int(row["trial"])))
        assert (row["image"], row["method"], row["truth"]) == (
            *(sequence.image, sequence.method),
            sequence.truth,
        )
        assert (float(row["percent"]), int(row["pixels"])) == (mask.percent, mask.pixels)
        assert (int(row["sequence"]), int(row["mask"])) == part.at(int(row["trial"]))
        assert row["prediction"] == sequence.prediction
        assert json.loads(row["logits"]) == dict(
            zip(part.unmasked.classes, sequence.logits, strict=True)
        )
        assert json.loads(row["logits_masked"]) == dict(
            zip(part.unmasked.classes, mask.logits, strict=True)
        )
        assert (row["fill"], row["sign"]) == ("mean", "signed")
        assert row["manifest_sha256"] == part.unmasked.manifest_sha256
        if row["outcome"] == "answered":
            painted = Decimal(row["painted_s"])
            assert painted >= Decimal(row["due_s"])
            assert Decimal(row["input_s"]) - painted == Decimal("0.4")
            assert float(row["reaction_time_ms"]) == 400
            assert row["timed_by"] == "event"
    broken = [row for row in found if row["outcome"] == "interrupted"]
    assert [(row["trial"], row["attempt"], row["excluded"]) for row in broken] == [
        (str(BROKEN_OFF + 1), "1", "true")
    ]
    again = [row for row in found if row["attempt"] == "2"]
    assert [row["trial"] for row in again] == [str(BROKEN_OFF + 1)]


def test_the_timeline_has_pictures_and_responses_at_their_own_times(
    bundle: Path, session: Path
) -> None:
    found = rows(bundle, f"{STEM}-unmasking_events")
    beh = {
        (row["stage"], row["trial"], row["attempt"]): row
        for row in rows(bundle, f"{STEM}-unmasking_beh")
    }
    onsets = [Decimal(row["onset"]) for row in found]
    assert onsets == sorted(onsets)
    trials = [row for row in found if row["trial_type"] == "trial"]
    responses = [row for row in found if row["trial_type"] == "response"]
    assert (len(trials), len(responses)) == (91, 90)
    for row in trials:
        own = beh[row["stage"], row["trial"], row["attempt"]]
        assert float(row["onset"]) == float(own["painted_s"])
        assert row["stim_file"] == own["stim_file"]
        if own["outcome"] == "answered":
            assert row["duration"] == row["response_time"] == "0.4"
            assert row["working_duration"] == "0.4"
            assert row["response"] == (own["response"] if own["button"] != "0" else "don't know")
            assert row["correct"] == own["correct"]
        else:
            assert row["response_time"] == row["response"] == row["correct"] == "n/a"
            assert (row["duration"], row["working_duration"]) == ("21", "1")
            assert row["outcome"] == "interrupted"
    for row in responses:
        own = beh[row["stage"], row["trial"], row["attempt"]]
        assert float(row["onset"]) == float(own["input_s"])
        assert (row["device"], row["timed_by"]) == ("key", "event")
    stages = [row for row in found if row["trial_type"] == "stage"]
    assert [row["stage"] for row in stages] == ["practice", "stage-1-block-1", "stage-1-block-2"]
    assert not {row["trial_type"] for row in rows(bundle, f"{STEM}-session_events")} & {
        "response",
        "response.given",
    }


def test_each_picture_lies_once_below_stimuli_named_by_its_hash(
    tmp_path: Path, session: Path, found: StimulusSet
) -> None:
    other = recorded(tmp_path / "other", found, "P02")
    bundle = export([session, other], tmp_path / "bundle")
    named = {
        row["stim_file"]
        for name in (STEM, STEM.replace("P01", "P02"))
        for row in rows(bundle, f"{name}-unmasking_events")
        if row["trial_type"] == "trial"
    }
    there = {path.name for path in (bundle / "stimuli").iterdir()}
    assert named == there
    assert len(there) == 90
    for path in (bundle / "stimuli").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    assert verify(bundle).problems == []
    flip(bundle / "stimuli" / min(there), 20)
    assert [problem.partition(":")[0] for problem in verify(bundle).problems] == [
        f"stimuli/{min(there)}"
    ]


def test_the_sets_manifest_goes_along_and_is_checked(tmp_path: Path, session: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
    copied = bundle / "sourcedata/labapp/sub-P01/ses-1/study/stimuli/tiny-scores/manifest.json"
    (part, *_) = planned(session).values()
    assert hashlib.sha256(copied.read_bytes()).hexdigest() == part.unmasked.manifest_sha256
    copied.write_bytes(copied.read_bytes() + b" ")
    problems = verify(bundle).problems
    assert any("not the one with which the session was planned" in problem for problem in problems)


def test_a_changed_or_lost_picture_of_the_session_is_named(
    tmp_path: Path, found: StimulusSet
) -> None:
    folder = broken_off(tmp_path, found, 12)
    beh = rows(export([folder], tmp_path / "whole"), f"{STEM}-unmasking_beh")
    first, second = beh[0]["stim_file"], beh[1]["stim_file"]
    flip(folder / "stimuli" / first, 20)
    (folder / "stimuli" / second).unlink()
    assert set(verify(folder).problems) == {
        f"stimuli/{first}: not the picture that was shown (SHA-256)",
        f"stimuli/{second}: missing",
    }
    damaged = rows(export([folder], tmp_path / "bundle"), f"{STEM}-unmasking_beh")
    assert [row["stim_file"] for row in damaged[:3]] == [first, "n/a", beh[2]["stim_file"]]


def test_a_picture_that_was_not_shown_does_not_lie_below_stimuli(
    tmp_path: Path, found: StimulusSet
) -> None:
    bundle = export([broken_off(tmp_path, found, 12)], tmp_path / "bundle")
    assert len(list((bundle / "stimuli").iterdir())) == 12
    beh = rows(bundle, f"{STEM}-unmasking_beh")
    assert [row["outcome"] for row in beh] == ["answered"] * 12 + ["interrupted"]
    assert verify(bundle).ok


def test_a_table_with_a_row_too_few_is_found(tmp_path: Path, session: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
    for name in ("beh", "events"):
        path = bundle / f"{STEM}-unmasking_{name}.tsv"
        *kept, last = path.read_text("utf-8").splitlines()
        assert last
        path.write_text("\n".join(kept) + "\n", "utf-8")
    reseal(bundle)
    told = "\n".join(verify(bundle).problems)
    assert f"{STEM}-unmasking_beh.tsv: it has 90 rows, but the journal gives 91" in told
    assert f"{STEM}-unmasking_events.tsv: " in told
    # Of tables of an earlier format the rows are counted.
    reseal(bundle, table_format=0)
    told = "\n".join(verify(bundle).problems)
    assert f"{STEM}-unmasking_beh.tsv: 90 questions, the journal has 91" in told
    assert f"{STEM}-unmasking_events.tsv: 89 rows of response, the journal has 90" in told


def test_a_deidentified_copy_says_the_same_of_the_pictures(tmp_path: Path, session: Path) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).problems == []
    whole, reduced = load(session), load(bundle)
    for name in ("annotations", "masked_predictions", "trials", "stages"):
        pd.testing.assert_frame_equal(whole.by_name()[name], reduced.by_name()[name])
    assert "withheld" not in (bundle / f"{STEM}-unmasking_events.tsv").read_text("utf-8")


def test_a_bundle_can_be_reduced_further(tmp_path: Path, bundle: Path) -> None:
    reduced = export([bundle], tmp_path / "reduced", deidentify=True)
    assert verify(reduced).ok
    name = f"{STEM}-unmasking_beh"
    assert rows(reduced, name) == rows(bundle, name)
    assert len(list((reduced / "stimuli").iterdir())) == 90


def test_valid_bids(bundle: Path) -> None:
    result = validated(bundle)
    issues = result["issues"]["issues"]
    assert errors_in(result) == []
    assert not any("STIM" in issue["code"] for issue in issues)
    assert sorted(result["summary"]["tasks"]) == ["session", "unmasking"]


def test_the_list_of_sessions_counts_the_pictures_that_were_answered(bundle: Path) -> None:
    (line,) = rows(bundle, "sub-P01/sub-P01_sessions")
    assert (line["stimuli"], line["photos"], line["included"]) == ("80", "0", "true")


def test_every_column_is_in_the_codebook(bundle: Path) -> None:
    book = json.loads((bundle / "sourcedata/labapp/codebook.json").read_text("utf-8"))
    for kind in ("events", "beh"):
        (first, *_) = rows(bundle, f"{STEM}-unmasking_{kind}")
        described = book[f"task-unmasking_{kind}.tsv"]
        assert list(described) == list(first)
        assert all(entry["Description"].endswith((".", "…")) for entry in described.values())
    kinds = {entry["kind"] for entry in book["events"]}
    assert {"stimulus.drawn", "stimulus.shown", "response.given"} <= kinds


def test_the_session_is_told_in_counts(session: Path) -> None:
    (facts,) = describe(session)
    assert facts["questions"] == {"answered": 90}


@pytest.mark.parametrize(
    ("model", "same", "said"),
    [
        ("faces/cnn", True, "included"),
        ("faces/cnn", False, "the model installed at export is a different version"),
        ("faces/none", True, "not installed here at export"),
    ],
)
def test_the_card_of_the_explained_model_goes_along_if_it_is_the_sessions(
    tmp_path: Path, model: str, same: bool, said: str
) -> None:
    folder = package.find("faces/cnn")
    weights = package.read(folder).weights_sha256 if same else "0" * 64
    found = stimuli.edited(
        made(tmp_path), lambda manifest: manifest["method"].update(classifier=model, sha256=weights)
    )
    bundle = export([broken_off(tmp_path, found, 4)], tmp_path / "bundle")
    source = bundle / "sourcedata/labapp"
    facts = json.loads((source / "sub-P01/ses-1/session.json").read_text("utf-8"))
    assert facts["model_cards"] == {model: said}
    kept = source / "models" / model / package.CARD
    if said == "included":
        assert kept.read_bytes() == (folder / package.CARD).read_bytes()
    else:
        assert not kept.exists()
    events = rows(bundle, f"{STEM}-unmasking_events")
    assert {row["model"] for row in events} == {model}
