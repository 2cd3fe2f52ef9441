"""Labels of outcomes that are written with and without their questionnaire."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.checking import check_study
from labapp.analysis.design.sections import _remark
from labapp.analysis.item_sections import _item
from labapp.analysis.track_sections import AskedAbout
from labapp.base.report.labels import Labels, Worded, label_measure, labelling
from labapp.base.report.page import speaking
from labapp.session.overview import overview
from labapp.study.design import Declared
from tests.analysis.test_report_language import german_for_nobody


@pytest.mark.parametrize("written", ["understood", "experience.understood"])
@pytest.mark.parametrize("key", ["understood", "experience.understood"])
def test_a_label_is_shown_for_an_outcome_however_both_are_written(written: str, key: str) -> None:
    declared = Declared.model_validate(
        {"analysis": {"outcomes": {"primary": [written]}}, "labels": {key: "Felt understanding"}}
    )
    labels = declared.labels_in("en")
    assert Labels(labels).label(written) == "Felt understanding"
    with labelling(labels):
        for name in ("understood", "experience.understood"):
            assert label_measure(name, "experience") == "Felt understanding"


def test_a_longer_key_is_only_of_its_own_questionnaire() -> None:
    with labelling({"before.trust": "Trust before", "trust": "Trust"}):
        assert label_measure("before.trust", "before") == "Trust before"
        assert label_measure("trust", "before") == "Trust before"
        assert label_measure("after.trust", "after") == "Trust"


def test_a_label_without_a_questionnaire_is_of_no_item_that_two_have() -> None:
    asked = dict.fromkeys(("before.trust", "after.trust"), Worded())
    assert not Labels({"trust": "Trust"}, items=asked).label("after.trust")
    own = {"trust": "Trust", "before.trust": "Trust before"}
    assert Labels(own, items=asked).label("after.trust") == "Trust"
    assert Labels(own, items=asked).label("before.trust") == "Trust before"


AGAIN = """\
id: again
title: Again
version: 1
source: Ours.
items:
- {id: effort, kind: slider, text: "How hard was it?", low: 0, high: 100}
- id: often
  kind: choice
  text: How often?
  options: [{id: rarely, text: Rarely}, {id: daily, text: Daily}]
"""


@pytest.mark.parametrize(
    ("labels", "primary", "wrong"),
    [
        ("{effort: Ease}", "nasa-tlx.effort", "again.effort and nasa-tlx.effort"),
        ("{effort: Ease, nasa-tlx.effort: Work}", "again.effort", ""),
        ("{again.effort: Ease}", "again.effort", ""),
        ("{hint: Hint}", "again.effort", ""),
        ("{often: Frequent}", "again.effort", "often itself and again.often"),
    ],
)
def test_a_label_of_a_name_with_two_meanings_is_refused(
    tmp_path: Path, labels: str, primary: str, wrong: str
) -> None:
    (tmp_path / "instruments").mkdir()
    (tmp_path / "instruments" / "again.yaml").write_text(AGAIN)
    path = tmp_path / "shown.yaml"
    lines = (line for line in SHOWN.splitlines() if not line.startswith("labels:"))
    more = [f"labels: {labels}", "exclude: {often: {item: again.often, answer: rarely}}"]
    outcomes = f"analysis: {{outcomes: {{primary: [{primary}]}}}}"
    path.write_text("\n".join([*lines, "- questionnaire: again", *more, outcomes]) + "\n")
    told = [str(each) for each in check_study(path).errors if "labels" in str(each)]
    assert [wrong in each for each in told] == [True] * bool(wrong), told


def test_items_random_effects_and_tracks_are_called_as_the_study_says() -> None:
    dials = AskedAbout("single-dimension", (), "Dial", "spread")
    removed = "estimated as 0 and removed: (1 | participant:factor_net)"
    with labelling({"net": "Model type", "wary": "Caution", "trust.rely": "Reliance"}):
        assert "Caution" in _item("I was wary.", "trust", "wary", turned=False)
        assert "Reliance" in _item("I rely on it.", "trust", "rely", turned=False)
        assert "calm" in _item("I was calm.", "trust", "calm", turned=False)
        assert _remark(removed).endswith("removed: random intercepts of participant × Model type")
        assert dials.name_of(2) == "Dial 2"
        assert dials.name_of("net") == "Model type"
        with speaking(german_for_nobody()):
            assert "Model type" in _remark(removed)
            assert not {"removed", "participant"} & set(_remark(removed).split())
            assert dials.name_of(2) == "Regler 2"


SHOWN = """\
id: shown
title: Shown
version: 1
unnamed_texts: shipped
design: {between: {hint: ["with", "without"]}, within: [{net: [gt, vae]}], per_cell: 2}
labels: {hint: Hint, "with": With a hint, net: Model, gt: The true factors, vae: VAE}
flow:
- each: net
  flow:
  - questionnaire: shipped:nasa-tlx
"""


def test_columns_of_labels_are_aligned_and_next_participants_have_them(tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(SHOWN)
    lines = overview(str(path), 3, tmp_path / "data").lines()
    balance = lines[next(at for at, line in enumerate(lines) if line.startswith("Balance now")) :]
    assert balance[2:4] == ["    The true factors  0  0", "    VAE               0  0"]
    head = next(at for at, line in enumerate(lines) if line.startswith("Next participants"))
    assert lines[head].endswith("and their order of Model:")
    first = lines[head + 1].strip()
    assert first.startswith("P01  Hint: ")
    assert "The true factors" in first
    assert "gt" not in first
    cells = [line.index("0 of 2 included") for line in lines if "0 of 2 included" in line]
    assert len(set(cells)) == 1


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ("{nasa-tlx.effort: Ease}", ""),
        ("{effort: Ease}", ""),
        (
            "{effort: Ease, nasa-tlx.effort: How easy}",
            "'effort' is nasa-tlx.effort, which has its own label",
        ),
        ("{nasa-tlx.easy: Ease}", "'nasa-tlx.easy' is not a factor, level, model"),
        ("{easy.effort: Ease}", "'easy.effort' is not a factor, level, model"),
    ],
)
def test_a_key_that_names_nothing_is_refused(tmp_path: Path, labels: str, wrong: str) -> None:
    path = tmp_path / "shown.yaml"
    lines = (line for line in SHOWN.splitlines() if not line.startswith("labels:"))
    path.write_text("\n".join([*lines, f"labels: {labels}"]) + "\n")
    told = "\n".join(map(str, check_study(path).errors))
    assert (wrong in told) if wrong else "labels" not in told, told
