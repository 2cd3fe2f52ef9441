"""A model, or a set made elsewhere, runs from import to bundle by a study file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.models.stimuli import importing, library
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading, plan
from labapp.tasks.judging.events import PerformanceComputed, PhotoJudged
from labapp.tasks.judging.plan import JudgingPart
from tests.helpers.beside import put_beside
from tests.helpers.packages import copied
from tests.helpers.studies import write_study
from tests.models.stimuli.test_readme import written


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study of GradCAM with the documentation's set instead of the birds."""
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    (tmp_path / "made").mkdir()
    importing.import_set(written(tmp_path / "made", ["set.json", "classes.csv", "photos.csv"]))
    text = loading.load("gradcam-distinction").path.read_text("utf-8")
    for old, new in {
        "id: gradcam-distinction\n": "id: cats-and-dogs-study\n",
        "stimuli: birds-gradcam": "stimuli: cats-and-dogs",
        "hive-trade-off-species": "hive-trade-off-objects",
        **{f"      s{n}: {{set: {n}}}\n": "" for n in range(3, 11)},
    }.items():
        assert old in text
        text = text.replace(old, new)
    path = put_beside(tmp_path / "studies") / "cats-and-dogs-study.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_session_with_a_set_of_ones_own(study: Path, tmp_path: Path) -> None:
    (session,) = simulate_study(str(study), 1, "understanding", tmp_path / "data")
    payloads = [payload for _, payload in open_record(session).payloads()]
    (planned,) = [payload for payload in payloads if isinstance(payload, SessionPlanned)]
    (part,) = [one for one in plan.parts_of(planned) if isinstance(one, JudgingPart)]
    assert part.explained.names == {"cat": "cat", "dog": "dog"}
    assert part.explained.manifest_sha256 == library.load("cats-and-dogs").sha256
    assert part.photos[0].facts.keys() == {"brightness"}
    (judged,) = [payload for payload in payloads if isinstance(payload, PhotoJudged)]
    assert judged.right["distinction"]
    (told,) = [payload for payload in payloads if isinstance(payload, PerformanceComputed)]
    assert (told.photos, told.right["distinction"]) == (1, 1)
    assert verify(export([session], tmp_path / "bundle")).ok


def test_a_session_with_a_model_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    folder = copied(tmp_path / "own", "sinelines/lab")
    study = write_study(tmp_path, "sinelines/lab", trials=1)
    (session,) = simulate_study(str(study), 1, "understanding", tmp_path / "data")
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).ok
    card = bundle / "sourcedata/labapp/models/sinelines/lab/model.yaml"
    assert card.read_bytes() == (folder / "model.yaml").read_bytes()
