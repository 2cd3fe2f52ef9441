"""Shipped studies and a lab's own, simulated to their end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.analysis.tables import load as load_tables
from labapp.models.stimuli import importing, library
from labapp.record.events.lifecycle import InclusionDecided, PaymentComputed, SessionPlanned
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate, simulate_study
from labapp.study import loading, plan
from labapp.study.loading import load
from labapp.tasks.judging.events import PerformanceComputed, PhotoJudged
from labapp.tasks.judging.plan import AGREEMENT, DISTINCTION, OUTPUT, JudgingPart
from labapp.tasks.reconstruction.report.contents import suggestions
from tests.helpers import hive
from tests.helpers.beside import put_beside
from tests.helpers.formulas import formula_decoders
from tests.helpers.packages import copied
from tests.helpers.studies import ring_decoder, write_study
from tests.models.stimuli.test_readme import written
from tests.session.sessions import surroundings


@pytest.mark.parametrize("strategy", ["understanding", "explanation", "random"])
@pytest.mark.parametrize("name", list(hive.STUDIES))
def test_a_study_is_gone_through(tmp_path: Path, name: str, strategy: str) -> None:
    (folder,) = simulate_study(name, 1, strategy, tmp_path / "out", seed=5)
    assert verify(folder).problems == []
    payloads = [payload for _, payload in open_record(folder).payloads()]
    (planned,) = [payload for payload in payloads if isinstance(payload, SessionPlanned)]
    (part,) = [one for one in plan.parts_of(planned) if isinstance(one, JudgingPart)]
    (told,) = [payload for payload in payloads if isinstance(payload, PerformanceComputed)]
    (decided,) = [payload for payload in payloads if isinstance(payload, InclusionDecided)]
    (paid,) = [payload for payload in payloads if isinstance(payload, PaymentComputed)]
    assert decided.included
    assert told.photos == part.trials == paid.photos
    exercises = 2 if name.startswith("prototree") else 0
    assert sum(isinstance(payload, PhotoJudged) for payload in payloads) == part.trials + exercises
    if strategy == "random":
        return
    correct = sum(photo.correct for photo in part.photos)
    right = {question: told.right.get(question) for question in (OUTPUT, DISTINCTION, AGREEMENT)}
    if strategy == "understanding":
        known = {OUTPUT: correct, DISTINCTION: part.trials, AGREEMENT: part.trials}
        assert right == {one: known[one] if one in told.right else None for one in right}
        if paid.bonus:
            # A quarter of the answers is right by guessing; 0.10 for each beyond it.
            beyond = [max(0, told.right[q] - part.trials / 4) for q in right if right[q]]
            assert paid.bonus == pytest.approx(0.1 * sum(beyond))
    elif AGREEMENT in told.right:
        assert right[AGREEMENT] == correct, "it believes every prediction"


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


STUDY = """\
id: how-near
title: How near is near enough
version: 1
unnamed_texts: shipped
flow:
  - stages:
      {task: reconstruction, marks: true, models: [mnist8k/ae5, mnist8k/ss5], trials: 4,
       skip: after}
  - break: shipped:debrief
    at_least_s: 30
  - stages: {task: reconstruction, marks: true, models: [sinelines/gt], trials: 3, skip: never}
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("how-near")
    path = folder / "how-near.yaml"
    path.write_text(STUDY)
    decoders = {
        "mnist8k/ae5": ring_decoder("mnist8k/ae5", 3),
        "mnist8k/ss5": ring_decoder("mnist8k/ss5", 3, 10),
    }
    around = surroundings(folder, decoders={**formula_decoders(), **decoders})
    return [
        simulate(load(path), label, around, data=folder / "data", strategy="knowing")
        for label in ("P01", "P02")
    ]


def test_marks_of_simulated_participants_suggest_what_they_judged_by(
    folders: list[Path],
) -> None:
    tables = load_tables(folders)
    assert len(tables.trials) == 2 * (4 + 4 + 3)
    assert set(tables.trials["outcome"]) == {"marked"}
    assert tables.stages["completion_rate"].isna().all()
    found = {one.dataset: one for one in suggestions(tables.trials, tables.marks)}
    for dataset, judged in (("mnist", 0.75), ("sinelines", 0.9)):
        best = found[dataset].separation
        assert best is not None
        assert best.balanced_accuracy > 0.9
        assert best.target < judged + 0.1, "the first picture that is close enough was marked"
        assert min(found[dataset].close) > judged - 0.1
        t = found[dataset].skip_after_s
        assert t is not None
        assert abs(t - 2 * np.median(_active(tables, dataset))) <= 2.5


def _active(tables, dataset: str) -> list[float]:  # type: ignore[no-untyped-def]
    own = tables.trials["model"].str.startswith(dataset)
    return list(tables.trials.loc[own, "active_s"])


def test_their_bundle_verifies_also_without_free_text(folders: list[Path], tmp_path: Path) -> None:
    export(folders, tmp_path / "bundle", deidentify=True)
    assert not verify(tmp_path / "bundle").problems
    again = load_tables(tmp_path / "bundle").marks
    assert again["mark"].tolist() == load_tables(folders).marks["mark"].tolist()
