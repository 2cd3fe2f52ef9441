"""What `labapp` offers to scripts, and the names that modules had until 0.1."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labapp
from labapp.base.former_names import MODULES, ROOMS
from labapp.models.representations import load_package
from labapp.public import OFFERED
from tests.helpers.installed import ROOT
from tests.helpers.journals import golden_session


def test_labapp_has_what_it_offers() -> None:
    assert set(OFFERED) | {"__version__"} == set(labapp.__all__)
    for name in OFFERED:
        assert getattr(labapp, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        labapp.nothing  # noqa: B018


FORMER = ROOMS | MODULES


def test_a_former_name_is_the_same_module() -> None:
    for former, name in FORMER.items():
        spec = import_module(name).__spec__
        sys.modules.pop(former, None)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            module = import_module(former)
        assert f"{former} is {name} now" in {str(each.message) for each in told}
        assert module is import_module(name), former
        assert module.__spec__ is spec, former


def test_classes_are_the_same_by_both_names() -> None:
    code = (
        "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from labapp.events import Payload as before\n"
        "from labapp.events.registry import Payload as before_too\n"
        "from labapp.record.events import Payload as now\n"
        "assert before is before_too is now\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


@pytest.mark.parametrize("kind", [list, np.float64, np.float32])
def test_a_model_is_asked_for_pictures(kind: type) -> None:
    dials = load_package("sinelines/gt").space.dimensions
    states = [[(dial.low + dial.high) / 2 for dial in dials]] * 2  # type: ignore[union-attr]
    z = states if kind is list else np.asarray(states, dtype=kind)
    pictures = labapp.decode("sinelines/gt", z)
    assert pictures.shape[0] == 2
    assert pictures.dtype == np.float32
    one = labapp.decode("sinelines/gt", z[0])
    assert np.array_equal(one, pictures[0])


@pytest.mark.parametrize(
    ("z", "says"),
    [
        ([0.0] * 40, "shape"),
        ([1e6], "not 1e"),
        ([float("nan")], "not nan"),
    ],
)
def test_what_no_dial_has_is_refused(z: list[float], says: str) -> None:
    n = len(load_package("sinelines/gt").space)
    wrong = z if len(z) > 1 else z + [0.0] * (n - 1)
    with pytest.raises(ValueError, match=says):
        labapp.decode("sinelines/gt", wrong)


def test_a_metric_by_its_name() -> None:
    generator = np.random.default_rng(0)
    factors = generator.integers(0, 4, (200, 2)).astype(float)
    score = labapp.metric("mig")(factors, factors, seed=0)
    assert score.score == pytest.approx(1.0, abs=0.02)


def test_the_page_of_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block of code runs as it is written."""
    study = tmp_path / "sessions" / "quickstart"
    study.parent.mkdir()
    session = study / golden_session(tmp_path / "made").name
    next((tmp_path / "made").iterdir()).rename(study)
    page = (ROOT / "docs" / "guide" / "python.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    assert names["session"] == session.relative_to(tmp_path)
    assert len(names["tables"].participants) == 1
    assert (tmp_path / names["report"]).name == "report.html"
    assert names["row"].shape == (3, *names["picture"].shape)
    assert 0 < float(capsys.readouterr().out) < 1
    assert (tmp_path / "screen.png").read_bytes().startswith(b"\x89PNG")


IMPORTED = (
    "labapp.analysis.answered:AnsweredAttempt",
    "labapp.analysis.answered:answered",
    "labapp.analysis.answered:answers_row",
    "labapp.analysis.answered:mean",
    "labapp.analysis.column:INCLUDED",
    "labapp.analysis.column:TRIAL",
    "labapp.analysis.column:WHERE",
    "labapp.analysis.column:WHO",
    "labapp.analysis.column:number",
    "labapp.analysis.column:seconds",
    "labapp.analysis.column:text",
    "labapp.analysis.column:whole",
    "labapp.analysis.column:yes",
    "labapp.analysis.task_records:Key",
    "labapp.analysis.task_records:Ran",
    "labapp.analysis.task_records:Row",
    "labapp.analysis.task_records:TaskRecords",
    "labapp.analysis.task_records:TaskTables",
    "labapp.analysis.task_report:ReportedStudy",
    "labapp.analysis.task_report:TaskReport",
    "labapp.errors:StudyError",
    "labapp.events.commands:Command",
    "labapp.events.commands:HandIn",
    "labapp.events.commands:Next",
    "labapp.events.dials:no_dial",
    "labapp.events.dials:no_dial_state",
    "labapp.events.durations:Pauses",
    "labapp.events.registry:Payload",
    "labapp.events.registry:kind",
    "labapp.events.trials:StageTimeExpired",
    "labapp.events:Event",
    "labapp.events:Payload",
    "labapp.plugins.bids:Cells",
    "labapp.plugins.bids:Column",
    "labapp.plugins.bids:STAGE_TYPE",
    "labapp.plugins.bids:TIME_EXPIRED_TYPE",
    "labapp.plugins.bids:TaskFiles",
    "labapp.plugins.bids:TaskRows",
    "labapp.plugins.part:PlannedPart",
    "labapp.plugins.part:RepresentationPart",
    "labapp.plugins.pictures:DecodedPictures",
    "labapp.plugins.pictures:PictureContext",
    "labapp.plugins.pictures:Session",
    "labapp.plugins.questions:QuestionsMachine",
    "labapp.plugins.simulated:Actor",
    "labapp.plugins.simulated:Answerer",
    "labapp.plugins.simulated:DEVICE",
    "labapp.plugins.simulated:SimulatedParticipant",
    "labapp.plugins.simulated:Step",
    "labapp.plugins.stage:limit_words",
    "labapp.plugins.task_type:MachineContext",
    "labapp.plugins.task_type:TaskType",
    "labapp.plugins:questions",
    "labapp.report.formats:decimal",
    "labapp.report.listing:NONE",
    "labapp.report.page:Html",
    "labapp.report.page:heading",
    "labapp.report.page:table",
    "labapp.report.page:two_lines",
    "labapp.representations.decoding:Array",
    "labapp.representations.decoding:decode_rows",
    "labapp.representations.display:Display",
    "labapp.representations.priors:BaseSampling",
    "labapp.representations.space:Discrete",
    "labapp.representations.space:LatentSpace",
    "labapp.simulation.names:TURNS_DIALS",
    "labapp.simulation.percept:Eye",
    "labapp.simulation.view:on_screen",
    "labapp.study.assignment:attempt_at",
    "labapp.study.assignment:generator",
    "labapp.study.assignment:in_rounds",
    "labapp.study.conditions:Scope",
    "labapp.study.planner:Planner",
    "labapp.study.representations:stage_fields",
    "labapp.study.representations:stages_of_models",
    "labapp.study.sampling:draw_state",
    "labapp.study.stages:RepresentationStages",
    "labapp.ui.moderator.part_words:PartWords",
    "labapp.ui.participant.question_screen:QuestionScreen",
    "labapp.ui.participant.view:SessionView",
    "labapp.ui.widgets.cards:AnswerRow",
    "labapp.ui.widgets.scale:Look",
    "labapp.ui.widgets.scale:Scale",
    "labapp.ui.widgets.series:view_of",
    "labapp.ui:theme",
)
"""What the example of a task imported at 1d6919a9, before modules had moved."""


@pytest.mark.parametrize("name", IMPORTED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_package_of_an_earlier_version_imports_is_there(name: str) -> None:
    module, _, attribute = name.partition(":")
    assert hasattr(import_module(module), attribute)
