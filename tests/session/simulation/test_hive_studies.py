"""All nine HIVE studies run to their end with every strategy, and come to what their plan says."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.record.events.lifecycle import InclusionDecided, PaymentComputed, SessionPlanned
from labapp.record.journal.opening import open_record
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import plan
from labapp.tasks.judging.events import PerformanceComputed, PhotoJudged
from labapp.tasks.judging.plan import AGREEMENT, DISTINCTION, OUTPUT, JudgingPart
from tests.helpers import hive


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
