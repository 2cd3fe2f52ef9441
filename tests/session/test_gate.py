"""What `studies check` refuses is neither run nor simulated, planned or registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base.errors import StudyError, faults_of
from labapp.cli.planning import _contrasts, _preregister
from labapp.models.stimuli.library import MANIFEST
from labapp.session.gate import gate, look_at
from labapp.session.planning.plan import plan
from labapp.session.simulation.simulation_job import checked
from labapp.study import loading
from labapp.ui.starting import RunOptions, open_new
from tests.analysis.test_checking import PLAN
from tests.analysis.test_exclusion import STUDY, ruled
from tests.helpers.judging_studies import write_judging_study

WAYS: dict[str, Callable[[str, Path], object]] = {
    "run": lambda study, out: open_new(study, "P01", None, RunOptions(data=out)),
    "simulate": lambda study, out: checked(study, 2, "understanding", out),
    "plan": lambda study, out: plan(study),
    "plan --contrasts": lambda study, out: _contrasts(study, [], None, json_=False),
    "plan --preregister": lambda study, out: _preregister(study, out, None, json_=False),
}
FAULTS = {
    "an unknown covariate": ("  within: [model]\n", "  within: [model]\n  measured: [skil]\n"),
    "an unknown outcome": ("[completion_rate, trust]", "[completion_rate, trus]"),
    "an effect that cannot be": ("raw: 0.1", "raw: 15"),
    "an unknown item in a rule": ("opinions.saw", "opinions.seen"),
    "a factor that nothing depends on": ("  by_moderator: [hint]\n", ""),
    "an unknown related study": ("flow:\n", "related: [quickstrat]\nflow:\n"),
    "a model that is not there": ("models: [sinelines/gt, ", "models: [sinelines/nowhere, "),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_one_gate_refuses_the_same_everywhere(tmp_path: Path, fault: str) -> None:
    known, wrong = FAULTS[fault]
    text = STUDY.replace("flow:\n", f"{PLAN}flow:\n")
    assert known in text
    assert not look_at(ruled(tmp_path, text)).errors
    study = str(ruled(tmp_path, text.replace(known, wrong, 1)))
    wanted = StudyError.together(look_at(study).errors)
    for way, begin in WAYS.items():
        out = tmp_path / way
        with pytest.raises(StudyError) as refused:
            begin(study, out)
        assert str(refused.value) == str(wanted), way
        assert not out.exists(), f"{way} has written something"


def test_what_is_in_order_passes(tmp_path: Path) -> None:
    path = ruled(tmp_path)
    assert gate(path).sha256 == loading.load(path).sha256


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (lambda folder: next(folder.glob("*-1.png")).unlink(), "cannot be read: No such file"),
        (lambda folder: next(folder.glob("*-1.png")).write_bytes(b"no"), "is no whole picture"),
        (lambda folder: (folder / MANIFEST).write_text("{"), "not readable as JSON"),
    ],
    ids=["missing", "damaged", "no manifest"],
)
def test_what_is_wrong_with_a_set_is_told_once_at_the_line_that_names_it(
    break_: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    path = write_judging_study(tmp_path, "heatmaps")
    folder = tmp_path / "tiny-heatmaps"
    assert not look_at(path).errors
    break_(folder)
    (told,) = (fault for error in look_at(path).errors for fault in faults_of(error))
    lines = path.read_text("utf-8").split("\n")
    assert f"stimuli: {folder}" in lines[told.line - 1]
    assert told.key == "flow[0].stages.stimuli"
    assert said in told.what
