"""What the kit says of a task that is broken in one place: which place, and what to do."""

from __future__ import annotations

import cProfile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.study.plugins import registry
from labapp.testing import Unfit, check_task, problems_of, rehearsal
from tests.helpers.installed import EXAMPLE, on_path, write_package

SOUND = (Path(__file__).parent / "pressing.py").read_text()
STUDY = "{id: short, title: Short, version: 1, flow: [{pressing: 4}, {text: 'shipped:debrief'}]}"
APPLIES = "                presses = (*state.presses, payload.strength)\n"
APPLY = "    def apply("
DECIDES = "        ends = UnstampedEvent(PartEnded"

BROKEN: dict[str, tuple[tuple[str, str], tuple[str, ...]]] = {
    "stands still": (
        ("return (pressed, ends) if last else (pressed,)", "return () if last else (pressed,)"),
        ("does not get to the end: it stands still in 'pressing'", "`part.ended`"),
    ),
    "nobody simulates it": (
        ("        return Presser(part, participant)\n", "        return None\n"),
        ("does not know parts of the kind 'pressing'", "simulate"),
    ),
    "goes on for ever": (
        ("return (pressed, ends) if last else (pressed,)", "return (pressed,)"),
        ("events and goes on, button.pressed in 'pressing'", "come to an end"),
    ),
    "asks in vain": (
        (
            "    def apply(",
            "    def wants_begin(self, state):\n        return True\n\n    def apply(",
        ),
        ("asked for Begin again and again", "let `wants_begin`"),
    ),
    "clock in apply": (
        (
            APPLIES,
            APPLIES + "                import time\n                time.perf_counter_ns()\n",
        ),
        ("`apply` reads the clock (time.perf_counter_ns)", "Take `event.t_ns`"),
    ),
    "wall clock in apply": (
        (
            "last_ns=event.t_ns",
            "last_ns=int(__import__('datetime').datetime.now().timestamp())",
        ),
        ("`apply` reads the clock (datetime.now)", "Take `event.t_ns`"),
    ),
    "draws in apply": (
        (APPLIES, APPLIES + "                import random\n                random.random()\n"),
        ("`apply` draws (random.random)", "draw in `decide`"),
    ),
    "draws with a seed in apply": (
        (
            APPLIES,
            APPLIES
            + "                from labapp.study.conditions import generator\n"
            + "                generator(1, 'apply').random()\n",
        ),
        ("`apply` draws (labapp.study.conditions.generator)", "draw in `decide`"),
    ),
    "numpy draws in apply": (
        (
            "last_ns=event.t_ns",
            "last_ns=int(__import__('numpy').random.default_rng().integers(10**9))",
        ),
        ("`apply` draws (a generator without a seed)", "draw in `decide`"),
    ),
    "draws in decide": (
        (
            "ButtonPressed(command.strength)",
            "ButtonPressed(int(__import__('numpy').random.default_rng().integers(10**9)))",
        ),
        ("`decide` answers Press in 'pressing' otherwise when it is asked again", "made again"),
    ),
    "state without an event": (
        (
            DECIDES,
            "        object.__setattr__(state, 'last_ns', state.last_ns + 1)\n" + DECIDES,
        ),
        ("`decide` changes the state of 'pressing'", "without an event: return an event"),
    ),
    "memory of the machine": (
        (
            DECIDES,
            "        self.asked = getattr(self, 'asked', 0) + 1\n" + DECIDES,
        ),
        ("`decide` keeps something in the machine of 'pressing'", "Put it into the state"),
    ),
    "clock in decide": (
        (DECIDES, "        __import__('time').time()\n" + DECIDES),
        ("`decide` reads the clock (time.time)", "`now_ns`"),
    ),
    "fails at what is impossible": (
        ("and 1 <= command.strength <= 9", "and 9 // command.strength >= 0"),
        ("ZeroDivisionError", "no events"),
    ),
    "fails once": (
        (
            DECIDES,
            "        if getattr(command, 'strength', 1) < 1 and 'failed' not in globals():\n"
            "            globals()['failed'] = True\n"
            "            raise KeyError('once')\n" + DECIDES,
        ),
        ("KeyError: 'once'", "went well when it was gone through again"),
    ),
    "no words for an event": (
        ('    """The button was pressed. strength: 1 to 9."""\n\n', ""),
        ("The event button.pressed has no docstring", "say what happened"),
    ),
    "no words for a part": (
        ('    """A button that is pressed. presses: how often."""\n\n', ""),
        ("PressingPart has no docstring", "codebook"),
    ),
    "a text that it does not name": (
        (
            "        return PressingMachine(part, index)\n",
            "        return PressingMachine(part, context.pages('texts/{language}/press.md'))\n",
        ),
        (
            "the text texts/en/press.md is shown, but the study does not refer to it",
            "in the `texts` of",
        ),
    ),
    "a part that JSON changes": (
        ("    presses: tuple[int, ...]\n", "    presses: Any\n"),
        ("is another one when it is read back from a journal", "types that JSON has"),
    ),
    "a screen that cannot be made": (
        ("        self.label = QLabel()\n", "        self.label = QLabel(3, 4, 5)\n"),
        ("PressingScreen of 'pressing' cannot be shown: TypeError", "draw every state"),
    ),
    "takes input in a mirror": (
        (
            "    def render_state(self) -> None:\n",
            (
                "    def mousePressEvent(self, event):\n"
                "        self.session.source.send(Press(3))\n\n"
                "    def render_state(self) -> None:\n"
            ),
        ),
        ("takes input where it is only read (Press)", "ask for everything by `send` of its view"),
    ),
    "takes a shortcut in a mirror": (
        (
            "        self.label = QLabel()\n",
            (
                "        self.label = QLabel()\n"
                "        from PySide6.QtGui import QShortcut\n"
                "        shortcut = QShortcut('1', self)\n"
                "        shortcut.activated.connect(lambda: session.source.send(Press(3)))\n"
            ),
        ),
        ("takes input where it is only read (Press)", "ask for everything by `send` of its view"),
    ),
    "a screen that fails later": (
        ("str(len(self.state.presses))", "str(1 / (2 - len(self.state.presses)))"),
        ("PressingScreen of 'pressing' cannot be shown: ZeroDivisionError", "draw every state"),
    ),
}
"""What is broken: what is put in whose place, and what the sentence about it says."""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "short.yaml"
    path.write_text(STUDY)
    return path


def test_it_is_in_order_as_it_stands(tmp_path: Path, study: Path) -> None:
    with on_path(write_package(tmp_path / "site", "pressing", SOUND)):
        check_task(registry.task_types()[-1], study, examples=10)


@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named(
    tmp_path: Path, study: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "MOST_EVENTS", 500)
    (old, new), told = BROKEN[name]
    assert SOUND.count(old) == 1
    site = write_package(tmp_path / "site", "pressing", SOUND.replace(old, new))
    with on_path(site), pytest.raises(Unfit) as unfit:
        check_task(registry.task_types()[-1], study, examples=10)
    assert len(unfit.value.sentences) <= 3, "a fault is each only once"
    for words in told:
        assert words in unfit.value.sentences[0]


TRIALS: dict[str, tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "an answer in no table": (
        "records",
        (
            ("self.confidence = payload.confidence", "self.confidence = 3"),
            ('lambda stage: stage.mean_of("confidence")', "lambda stage: 3.0"),
        ),
        (
            "The tables are the same when RateConfidence is sent with another `confidence`",
            "the task's records give it to a column",
        ),
    ),
    "an answer that is not kept": (
        "machine",
        (
            ("ConfidenceRated(confidence, device),)", "ConfidenceRated(3, device),)"),
            ("confidence != question.confidence", "question.confidence is None"),
        ),
        (
            "The tables are the same when RateConfidence is sent with another `confidence`",
            "Let the event hold it",
        ),
    ),
    "forgets a column": (
        "records",
        (('whole("confidence", ', 'whole("sureness", '),),
        ("Question has no 'sureness' for the column 'sureness'",),
    ),
    "forgets what a column means": (
        "records",
        (('"how sure the participant was, 1 not at all to 5"', '""'),),
        ("The column 'confidence' of the table 'counterfactual_choices' is not", "say what it"),
    ),
    "misspells what it shows": (
        "task",
        (('shown = ("counterfactual.shown",)', 'shown = ("counterfactual.shwon",)'),),
        ("`shown` names 'counterfactual.shwon'", "there is no such kind of event"),
    ),
    "forgets which texts are kept": (
        "events",
        (("    choice: Index\n    device: Word\n", "    choice: Index\n    device: str\n"),),
        (
            "The text in the field 'device' of 'counterfactual.chosen' is lost in a de-identified",
            "annotate it with `Word`",
        ),
    ),
    "names a column that every timeline has": (
        "bids",
        (('Column("candidate", "chosen', 'Column("model", "chosen'),),
        ("task-counterfactualchoice in the bundle has the column 'model' twice", "leave it out"),
    ),
    "keeps a text that is none": (
        "task",
        (
            (
                "    scored = (",
                '    kept_text = "labapp_counterfactual.task:KEPT_TEXT"\n    scored = (',
            ),
            ("TASK = Cou", 'KEPT_TEXT = {"counterfactual.chosen": ("hand",)}\nTASK = Cou'),
        ),
        ("`kept_text` names the field 'hand' of 'counterfactual.chosen'", "there is no such field"),
    ),
    "forgets an event": (
        "records",
        (("            ConfidenceRated,\n", ""),),
        ("(counterfactual.rated)", "it would be missing from all tables"),
    ),
}
"""What is broken in the example package, in which module, and what the sentence about it says."""


@pytest.mark.parametrize("name", TRIALS)
def test_what_is_broken_in_a_task_with_trials_is_named(tmp_path: Path, name: str) -> None:
    module, changes, told = TRIALS[name]
    site = write_package(tmp_path / "site", "broken", where="labapp_counterfactual.task")
    shutil.copytree(EXAMPLE / "labapp_counterfactual", site / "labapp_counterfactual")
    file = site / "labapp_counterfactual" / f"{module}.py"
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file.write_text(text)
    study = tmp_path / "short.yaml"
    study.write_text(
        "{id: short, title: Short, version: 1, unnamed_texts: shipped, flow: [{stages: "
        "{task: counterfactual-choice, models: [circles/gt], questions: 2, candidates: 2}}]}"
    )
    with on_path(site), pytest.raises(Unfit) as unfit:
        check_task(registry.task_types()[-1], study, examples=1, strategy="understanding")
    for words in told:
        assert words in unfit.value.sentences[0]


def test_a_profiler_that_runs_sees_no_fault(tmp_path: Path, study: Path) -> None:
    """As for whoever looks why a task is slow."""
    profile = cProfile.Profile()
    with on_path(write_package(tmp_path / "site", "pressing", SOUND)):
        sentences = profile.runcall(problems_of, registry.task_types()[-1], study, examples=2)
    assert sentences == ()
    assert any("problems_of" in str(row.code) for row in profile.getstats())


def test_what_is_no_task_and_what_nobody_installed(study: Path) -> None:
    (sentence,) = problems_of(3, study)  # type: ignore[arg-type]
    assert "derives from labapp.study.plugins.registry.TaskType" in sentence
    other = type(registry.task_types()[0])()
    (sentence,) = problems_of(other, study)
    assert "labapp does not know the task: no entry point" in sentence


def test_a_study_without_the_task(tmp_path: Path) -> None:
    bare = tmp_path / "bare.yaml"
    bare.write_text("{id: bare, title: Bare, version: 1, flow: [{text: 'shipped:debrief'}]}")
    (sentence,) = problems_of(registry.task_types()[0], bare)
    assert "has no part of the task" in sentence


def test_the_package_that_the_kit_needs_is_named() -> None:
    without = "import sys; sys.modules['hypothesis'] = None; import labapp.testing"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert done.returncode
    assert "The conformance kit needs the package hypothesis" in done.stderr
