"""What leaves the lab of sessions in which explanations were judged."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.plan import Question
from tests.helpers.bids import errors_in, rows, validated
from tests.helpers.judged import JudgedSession
from tests.helpers.trees import flip

PICTURES = {"photo-1.png": b"one", "photo-2.png": b"two"}
SLIDERS = {"low_risk": {"value": 80, "touched": True}, "high_risk": {"value": 76, "touched": False}}
STEM = "sub-P01/ses-1/beh/sub-P01_ses-1_task"


def choose(trial: PhotoTrial, question: Question) -> int:
    """Agreement 1, 2, 3, 4 with the photos; everything else as its last answer."""
    return trial.number if question.id == "agreement" else question.last


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    said = [("trade-off", SLIDERS)]
    one = JudgedSession("path-agreement", warm_up=True, choose=choose, after=said)
    return one.write(tmp_path_factory.mktemp("data"), pictures=PICTURES)


def test_a_photo_is_a_row_and_an_answer_an_event(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
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


def test_sliders_have_two_columns(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
    (row,) = rows(bundle, "phenotype/trade-off")
    assert row["ses_1_questionnaire_1_low_risk"] == "80"
    assert row["ses_1_questionnaire_1_low_risk_touched"] == "true"
    assert row["ses_1_questionnaire_1_high_risk_touched"] == "false"
    assert row["ses_1_questionnaire_1_high_risk"] == "n/a", "nobody answered it"


@pytest.mark.parametrize("deidentify", [False, True])
def test_the_pictures_go_along_and_are_checked(
    session: Path, tmp_path: Path, deidentify: bool
) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=deidentify)
    kept = bundle / "sourcedata/labapp/sub-P01/ses-1/stimuli"
    assert sorted(path.read_bytes() for path in kept.iterdir()) == [b"one", b"two"]
    report = verify(bundle)
    assert report.ok, report.problems
    assert report.checked["pictures"] == 2
    if deidentify:
        photos = rows(bundle, f"{STEM}-judging_beh")
        assert [row["photo"] for row in photos] == [f"photo-{n}" for n in range(1, 5)]
        assert photos[0]["truth"] == "gull"


def test_valid_bids(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
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
    assert "stimuli/more.png: the journal does not name it" in problems


def test_a_deidentified_copy_says_the_same_of_the_photos(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    whole, reduced = load(session), load(bundle)
    for name in ("judgements", "similarities", "stages"):
        pd.testing.assert_frame_equal(whole.by_name()[name], reduced.by_name()[name])
    sliders = whole.answers.set_index("item").loc["low_risk"]
    assert (sliders["value"], sliders["touched"]) == (80, True)
    assert "low_risk" not in set(reduced.answers["item"]), "an instrument that is not in the study"
