"""A declared design in the flow: what each participant meets, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import SessionError, StudyError
from labapp.study import allocation, loading, planner
from labapp.study.design import Design
from labapp.study.overview import check, check_all, notices, prior_of, space_of
from labapp.study.plan import Plan, to_rows
from labapp.study.plugins.part import with_trials
from tests.helpers.beside import put_beside

STUDY = """\
id: own
title: Own
version: 1
design:
  between: {hint: ["with", "without"], dim: [vae, ae]}
  within: [model, {feedback: [none, full]}, {light: [1, 2]}]
  sessions: [pre, post]
  per_cell: 12
flow:
- text: texts/{language}/debrief.md
  only_if: {session: post}
- each: feedback
  flow:
  - each: light
    flow:
    - text: texts/{language}/{hint}.md
      only_if: {feedback: full, light: [1, 3], dim: ae}
    - stages: {task: reconstruction, models: [sinelines/vae, sinelines/ae], trials: 1}
- stages: {task: reconstruction, models: [sinelines/ae, sinelines/vae], trials: 1}
"""
STUDY = STUDY.replace("light: [1, 3]", "light: 1")


def write(tmp_path: Path, text: str = STUDY) -> Path:
    folder = tmp_path / "texts" / "en"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("with", "without"):
        (folder / f"{name}.md").write_text(f"# {name}\n")
    path = tmp_path / "own.yaml"
    put_beside(path.parent)
    path.write_text(text)
    return path


def planned(path: Path, *drawn: str, participant: str = "P01", session: str | None = None) -> Plan:
    return planner.realise(
        loading.load(path), participant, session, space_of=space_of, prior_of=prior_of, drawn=drawn
    )


def test_a_participant_goes_through_the_factors_as_the_flow_nests_them(tmp_path: Path) -> None:
    path = write(tmp_path)
    loaded = check(path)
    orders = set()
    for number in range(1, 9):
        slot = f"dim: ae, hint: with #{number}"
        made = planned(path, slot)
        chosen = made.assignment
        assert chosen["slot"] == [slot]
        assert (chosen["hint"], chosen["dim"]) == ("with", "ae")
        stages = [part for part in with_trials(made.parts) if part.measures]
        levels = [
            (part.levels.get("feedback"), part.levels.get("light"), part.model) for part in stages
        ]
        models = chosen["models"][:2]
        wanted = [
            (feedback, light, model)
            for feedback in chosen["feedback"]
            for light in chosen["light"]
            for model in models
        ]
        assert levels == [*wanted, *((None, None, model) for model in models)]
        orders.add((*chosen["feedback"], *chosen["light"], *models))
        text = next(part for part in made.parts if "texts/en/with.md" in part.documents())
        assert text.levels == {"feedback": "full", "light": "1"}
        assert to_rows(made.parts)[made.parts.index(text)]["levels"] == text.levels
    assert len(orders) > 2
    assert not any(
        "with" in name
        for part in planned(path, "dim: vae, hint: with #1").parts
        for name in part.documents()
    )
    again = planned(path, "dim: ae, hint: with #1", session="post")
    first = planned(path, "dim: ae, hint: with #1")
    assert again.assignment == first.assignment
    assert len(again.parts) == len(first.parts) + 1
    with pytest.raises(
        SessionError, match="'late' is not a session of own, which has these sessions: pre, post"
    ):
        planned(path, "dim: ae, hint: with #1", session="late")
    assert len(list(allocation.variants(loaded.study))) == 4


def test_by_number_no_place_is_drawn(tmp_path: Path) -> None:
    path = write(tmp_path, STUDY.replace("  per_cell: 12\n", "  assign: number\n"))
    check(path)
    made = [planned(path, participant=f"P{n:02d}") for n in range(1, 9)]
    cells = [plan.assignment["slot"][0].rpartition(" #")[0] for plan in made]
    assert len(set(cells[:4])) == len(set(cells[4:])) == 4
    assert [plan.assignment["slot"][0][-1] for plan in made] == ["1"] * 4 + ["2"] * 4


def test_who_gets_a_slot_can_be_named_for_a_preview(tmp_path: Path) -> None:
    rule = allocation.rule_of(loading.load(write(tmp_path)).study)
    assert rule is not None
    assert rule.named("dim: ae, hint: with") == ("dim: ae, hint: with #1",)
    assert rule.named("dim: ae, hint: with #7") == ("dim: ae, hint: with #7",)
    assert rule.named("dim: a, hint: with") is None
    assert rule.named("") is None
    assert rule.at_order("dim: ae, hint: with", 3) == "dim: ae, hint: with #3"
    assert rule.at_order(None, 2) == f"{rule.cells[0]} #2"
    alone = allocation.Slots(Design(within=("model",)))
    assert alone.named("#2") == ("#2",)
    assert alone.named(alone.at_order(None, 4) or "") == ("#4",)


def test_numbers_that_do_not_come_out_even_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, STUDY.replace("per_cell: 12", "per_cell: 11"))
    told = "\n".join(notices(check(path)))
    assert (
        "line 8, design.per_cell: 11 participants per cell do not fully balance the 2 levels"
        in told
    )
    assert "such as 10 or 12" in told
    assert "design" not in "\n".join(notices(check(write(tmp_path))))
    text = STUDY.replace("within: [model, ", "within: [")
    told = "\n".join(notices(check(write(tmp_path, text))))
    assert "line 4, design: Stages list 2 models, but `within` does not name `model`" in told


@pytest.mark.parametrize(
    ("measured", "says"),
    [
        ("[seq, skill]", "an item or a score 'skill'; there are: seq"),
        ("[seq.skill]", "an item or a score 'seq.skill'; there are: seq"),
        ("[seq, seq.seq]", "'seq.seq' is 'seq' again"),
        ("[seq]", ""),
        ("[seq.seq]", ""),
    ],
)
def test_what_is_measured_is_an_item_or_a_score(tmp_path: Path, measured: str, says: str) -> None:
    text = STUDY.replace("  per_cell: 12\n", f"  measured: {measured}\n").replace(
        "trials: 1}", "trials: 1, after: [seq]}"
    )
    told = [str(error) for error in check_all(write(tmp_path, text)).errors]
    assert ["line 8, design.measured[" in each and says in each for each in told] == [True] * bool(
        says
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("each: light", "each: hint", 14, "'hint' is not a factor within participants"),
        ("each: light", "each: lights", 14, "there are: feedback, light"),
        ("- each: light", "- each: feedback", 14, "inside another `each: feedback`"),
        (
            ", {light: [1, 2]}",
            ", {light: [1, 2]}, {tone: [a, b]}",
            6,
            "nothing in the flow runs through the levels of tone",
        ),
        (
            "models: [sinelines/ae,",
            "models: ['dsprites/{dim}',",
            6,
            "everybody must see every model, but for",
        ),
        ("{hint}.md", "{hints}.md", 16, "there is no variable 'hints' here; there are: language"),
        ("models: [sinelines/vae,", "models: ['sinelines/{feed}',", 18, "no variable 'feed'"),
        ("only_if: {feedback: full,", "only_if: {feedback: all,", 17, "feedback is never 'all'"),
        (
            "only_if: {session: post}",
            "only_if: {feedback: full}",
            11,
            "no variable 'feedback' here",
        ),
        (
            "dim: [vae, ae]",
            'dim: [vae, ae, "x, hint: y"], slot: [a, b]',
            5,
            "'slot' is already in use",
        ),
    ],
)
def test_what_does_not_fit_the_flow_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in STUDY
    with pytest.raises(StudyError) as refused:
        loading.load(write(tmp_path, STUDY.replace(old, new, 1)))
    assert says in str(refused.value)
    told = [text for text in str(refused.value).splitlines() if says in text]
    assert any(f"line {line}," in text or f"line {line}:" in text for text in told), told


def test_a_design_of_models_needs_some(tmp_path: Path) -> None:
    text = STUDY.replace("sinelines/vae, sinelines/ae", "sinelines/ae").replace(
        "sinelines/ae, sinelines/vae", "sinelines/ae"
    )
    with pytest.raises(StudyError, match=r"line 6, .*the stages list only sinelines/ae"):
        loading.load(write(tmp_path, text))
    flow = STUDY.partition("- each")[0]
    with pytest.raises(StudyError, match=r"line 6, .*no stages in the flow list models"):
        loading.load(write(tmp_path, flow))


def test_an_each_within_itself_is_refused_in_older_studies_too(tmp_path: Path) -> None:
    text = """\
id: own
title: Own
version: 1
assignment: {condition: {cells: {a: {x: 1}, b: {x: 2}}}}
flow:
- each: condition
  flow:
  - each: condition
    flow:
    - stages: {task: reconstruction, models: [sinelines/gt], trials: 1}
"""
    with pytest.raises(StudyError, match=r"line 8, .*inside another `each: condition`"):
        loading.load(write(tmp_path, text))


def test_a_session_in_which_nothing_is_met_is_no_error_of_the_check(tmp_path: Path) -> None:
    text = """\
id: own
title: Own
version: 1
design:
  between: {hint: [with, without]}
  by_moderator: [hint]
  sessions: [pre, post]
flow:
- stages: {task: reconstruction, models: [sinelines/gt], trials: 1}
  only_if: {session: post}
"""
    notices(check(write(tmp_path, text)))
