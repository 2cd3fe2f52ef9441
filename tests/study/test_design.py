"""What a study declares of its design: read, repeated in the first event, refused with its line."""

from pathlib import Path

import pytest

from labapp.base.errors import StudyError
from labapp.study import loading
from labapp.study.design import Design
from labapp.study.schema import Study
from tests.helpers.beside import put_beside

OWN = """\
id: own
title: Own
version: 1
seed: 1
design:
  between: {hint: ["with", "without"], dose: [1, 2]}
  within: [model]
  measured: [expertise]
  sessions: [1, 2]
  order: williams
  assign: slots
  per_cell: 12
exclude:
  attention: {item: check_1, answer_not: 2}
  too_fast:  {median_response_s_below: 2}
missing: {scale_items: {at_least: 5}, skipped_trials: unsolved}
analysis:
  outcomes: {primary: [completion_rate], secondary: [response_time_s, trust]}
  transform: {response_time_s: log}
  contrasts:
  - name: first against the others
    model: {sinelines/gt: 1, sinelines/vae: -0.5, sinelines/ae: "-1/2"}
  correction: holm
  family: per_outcome
  smallest_effect: {completion_rate: {contrast: first against the others, raw: 0.15}}
hypotheses:
- {text: "…", outcome: completion_rate, contrast: first against the others, direction: greater}
flow:
- consent: texts/{language}/consent.md
- stages:
    task: reconstruction
    models: [sinelines/gt, sinelines/vae, sinelines/ae]
    trials: 5
"""


def load(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "own.yaml"
    put_beside(path.parent)
    path.write_text(text)
    return loading.load(path).study


def test_a_declared_design_is_read_and_repeated_as_plain_values(tmp_path: Path) -> None:
    study = load(tmp_path, OWN)
    assert study.declared["design"] == {
        "between": {"hint": ["with", "without"], "dose": [1, 2]},
        "within": ["model"],
        "measured": ["expertise"],
        "sessions": [1, 2],
        "order": "williams",
        "assign": "slots",
        "per_cell": 12,
    }
    fields = ("design", "exclude", "missing", "analysis", "hypotheses")
    declared = study.declared
    assert declared.pop("models") == ["sinelines/gt", "sinelines/vae", "sinelines/ae"]
    again = Study.model_validate({**study.model_dump(exclude=set(fields)), **declared})
    assert all(getattr(again, field) == getattr(study, field) for field in fields)
    assert study.factor_levels == {
        "hint": ("with", "without"),
        "dose": ("1", "2"),
        "model": ("sinelines/gt", "sinelines/vae", "sinelines/ae"),
        "expertise": (),
        "session": ("1", "2"),
    }


def test_the_cells_are_every_combination() -> None:
    design = Design(between={"hint": ("with", "without"), "dose": (1, 2)})
    assert [tuple(cell.values()) for cell in design.cells] == [
        ("with", 1),
        ("with", 2),
        ("without", 1),
        ("without", 2),
    ]
    assert Design().cells == ({},)


def test_a_study_without_these_keys_declares_nothing() -> None:
    assert loading.load("quickstart").study.declared == {}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('["with", "without"]', "[yes, no]", 6, 'a text in quotes, such as "yes"'),
        ('["with", "without"]', '["a", "a"]', 6, "'a' again"),
        ("dose: [1, 2]", "number: [1, 2]", 6, "a factor with a different name; 'number'"),
        ("dose: [1, 2]", "model: [a, b]", 6, "'model' is met within"),
        ("within: [model]", "within: [model, {dose: [1, 2]}]", 5, "'dose' is both"),
        ("within: [model]", "within: [feedback]", 7, "{feedback: [a, b]}"),
        ("within: [model]", "within: [model, model]", 7, "'model' again"),
        ("order: williams", "order: william", 10, "'latin-square'"),
        ("per_cell: 12", "per_cell: 0", 12, "greater than or equal to 1"),
        ("answer_not: 2", "answer_no: 2", 14, "did you mean 'answer_not'?"),
        ("answer_not: 2", "answer_not: 2, below: 1", 14, "item with one of"),
        ("{item: check_1, answer_not: 2}", "{score: trust, answer: 2}", 14, "below and above"),
        ("{item: check_1, answer_not: 2}", "{below: 2}", 14, "exactly one criterion"),
        ("sinelines/gt: 1,", "sinelines/g: 1,", 22, "its levels are: sinelines/gt, sinelines/vae"),
        ("model: {sinelines/gt", "modell: {sinelines/gt", 22, "there is no factor 'modell'"),
        ('"-1/2"', '"-1/0"', 22, 'a fraction in quotes such as "-1/3"'),
        ('"-1/2"', "-0.4", 21, "add up to 0.1"),
        ("contrast: first against the others, raw", "contrast: first, raw", 25, "contrast 'first'"),
        ("raw: 0.15", "raw: 0.15, standardised: 1", 25, "either raw or standardised"),
        (
            "contrast: first against the others, dir",
            "contrast: last, dir",
            27,
            "no contrast 'last'",
        ),
        (
            ", contrast: first against the others, direction: greater",
            ", term: [tint]",
            27,
            "'tint'",
        ),
        (
            ", contrast: first against the others, direction: greater",
            "",
            27,
            "`term` as one of [hint], [dose], [model]",
        ),
        (", direction: greater", ", term: model", 27, "either contrast or term"),
        ("direction: greater", "direction: bigger", 27, "'greater', 'less', 'two-sided'"),
        (
            "trials: 5",
            "trials: 5\n    order: random",
            34,
            "the design in line 5 already sets the order",
        ),
        ("seed: 1", "seed: 1\nassignment: {dose: {odd: 1, even: 2}}", 5, "line 6 has a design"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in OWN
    with pytest.raises(StudyError) as refused:
        load(tmp_path, OWN.replace(old, new, 1))
    problems = [text for text in str(refused.value).splitlines() if text.startswith("  line ")]
    assert any(text.startswith(f"  line {line}, ") and says in text for text in problems), problems
