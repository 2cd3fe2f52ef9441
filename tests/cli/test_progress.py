"""Long commands say how far they are, also where the standard error is a file or a pipe."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from labapp.base import progress, resources
from tests.helpers.commands import Run
from tests.helpers.drawn import drawn_study
from tests.helpers.journals import golden_session


@pytest.mark.parametrize(
    "command",
    [
        "simulate {study} --participants 1 --out out",
        "analyze {session} --out out",
        "export {session} --out out",
        "sessions verify {session}",
        "studies check {study}",
        "metrics mig --codes codes.npy --factors codes.npy",
        "models evaluate sinelines/gt --no-metrics",
        "models bench sinelines/gt --n 1",
        "concepts train concepts/toy0-cbm --size S --out out",
        "stimuli check {set}",
        "stimuli masks faces-unmasking --out out --count 1",
        "code verify {session}",
    ],
    ids=lambda text: " ".join(text.split()[:2]).partition(" {")[0],
)
def test_there_are_lines_where_there_is_no_terminal(
    command: str, labapp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    class Watched(threading.Thread):
        def start(self) -> None:
            begun.append(self.name)
            super().start()

    monkeypatch.setattr(progress.threading, "Thread", Watched)
    np.save("codes.npy", np.random.default_rng(1).integers(0, 3, (500, 3)).astype(float))
    session = golden_session(tmp_path / "data")
    study = drawn_study(tmp_path, cells="a", draw=1).path
    stimuli = resources.stimuli() / "faces-unmasking"
    status, _, err = labapp(*command.format(session=session, study=study, set=stimuli).split())
    assert status in (0, 1), err
    assert "progress" in begun
