"""Variables of a study, and conditions of items and attention checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import StudyError, faults_of
from labapp.study import conditions, loading, planner, when
from labapp.study.loading import load
from labapp.study.overview import check, check_all, notices, prior_of, space_of
from labapp.study.plan import BreakPart, Plan
from labapp.study.plugins.part import RepresentationPart
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from tests.helpers.beside import put_beside
from tests.helpers.own_questionnaires import BEFORE, STUDY, USE, conditional_study

CONDITIONS_STUDY = """
id: mine
title: Mine
version: 1
assignment:
  kind: {odd: vae, even: ae}
  condition:
    draw: 2
    included: 1
    cells:
      a: {task: reconstruction, dataset: sinelines}
      b: {task: traversals, dataset: dsprites}
      c: {task: exemplars, dataset: dsprites}
incentive: {text: "texts/{language}/debrief.md", base: 3.75, per_solved: 0.1}
flow:
  - consent: texts/{language}/consent.md
  - each: condition
    flow:
      - tutorial: reconstruction
        only_if: {task: reconstruction}
      - stages: {task: reconstruction, models: ["{dataset}/{kind}"], trials: 2}
        only_if: {task: reconstruction}
      - stages: {task: single-dimension, visualisation: traversals, models: ["{dataset}/vae"]}
        only_if: {task: [traversals, exemplars]}
  - break: texts/{language}/debrief.md
    at_least_s: 30
  - debrief: texts/{language}/debrief.md
"""


def write(tmp_path: Path, text: str = CONDITIONS_STUDY) -> Path:
    path = tmp_path / "mine.yaml"
    put_beside(tmp_path)
    path.write_text(text)
    return path


def planned(path: Path, participant: str, *drawn: str) -> Plan:
    return planner.realise(
        loading.load(path), participant, space_of=space_of, prior_of=prior_of, drawn=drawn
    )


def stages(made: Plan) -> list[RepresentationPart]:
    return [part for part in made.parts if isinstance(part, RepresentationPart)]


def test_each_drawn_cell_is_gone_through_with_its_variables(tmp_path: Path) -> None:
    path = write(tmp_path)
    check(path)
    odd, even = planned(path, "P01", "b", "a"), planned(path, "P02", "a", "c")
    assert [part.model for part in stages(odd)] == ["dsprites/vae", "sinelines/vae"]
    assert [part.model for part in stages(even)] == ["sinelines/ae", "dsprites/vae"]
    assert isinstance(stages(odd)[0], SingleDimensionPart)
    assert [(part.number, part.of) for part in stages(odd)] == [(1, 2), (2, 2)]
    assert odd.assignment == {
        "number": 1,
        "kind": "vae",
        "condition": ["b", "a"],
        "models": ["dsprites/vae", "sinelines/vae"],
    }
    ids = [part.id for part in odd.parts]
    assert ids == [
        "consent",
        "incentive",
        "stage-1-intro",
        "stage-1",
        "tutorial",
        "stage-2-intro",
        "stage-2",
        "break-1",
        "debrief",
    ]
    assert isinstance(rest := odd.parts[-2], BreakPart)
    assert rest.at_least_s == 30


def test_amounts_are_filled_in(tmp_path: Path) -> None:
    part = planned(write(tmp_path), "P01", "a", "b").parts[1]
    assert getattr(part, "values", None) == {
        "base": "$3.75",
        "per_solved": "$0.10",
        "per_correct": "",
        "per_above_chance": "",
    }


def test_every_condition_is_among_the_variants(tmp_path: Path) -> None:
    rules = loading.load(write(tmp_path)).study.assignment
    shown = set(conditions.variants(rules))
    assert {number for number, _ in shown} == {1, 2}
    assert {cell for _, cells in shown for cell in cells} == {"a", "b", "c"}
    assert all(len(set(cells)) == 2 for _, cells in shown)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("each: condition", "each: cond", "the drawn variable is 'condition'"),
        ("{dataset}/vae", "{data}/vae", "there is no variable 'data' here"),
        ("{task: reconstruction}\n      - stages", "{tusk: 1}\n      - stages", "'tusk'"),
        ("{task: reconstruction}\n      - stages", "{task: r}\n      - stages", "is never 'r'"),
        ("[traversals, exemplars]", "[traversals, exemplar]", "task is never 'exemplar'"),
        ("at_least_s: 30", "only_if: {task: exemplars}", "no variable 'task' here"),
        ("at_least_s: 30", "only_if: {condition: a}", "no variable 'condition' here"),
        (
            "at_least_s: 30",
            "only_if: {kind: ea}",
            "line 26, only_if: kind is never 'ea'; it is one of: 'vae'",
        ),
        ("draw: 2", "draw: 4", "a draw of at most 3, the number of cells"),
        ("included: 1", "included: 0", "assignment.condition.included: found 0; allowed"),
        ("c: {task: exemplars, dataset", "c: {task: exemplars, data", "the same variables"),
        ("kind: {odd", "task: {odd", "names that are not in use; 'task' is"),
        ("kind: {odd", "language: {odd", "names that are not in use; 'language' is"),
    ],
)
def test_wrong_variables_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = CONDITIONS_STUDY.replace(old, new)
    assert text != CONDITIONS_STUDY
    with pytest.raises(StudyError) as refused:
        check(write(tmp_path, text))
    assert said in str(refused.value)


def test_what_is_drawn_once_is_known_in_the_whole_flow(tmp_path: Path) -> None:
    text = CONDITIONS_STUDY.replace("draw: 2", "draw: 1")
    path = write(tmp_path, text.replace("at_least_s: 30", "only_if: {task: exemplars, kind: ae}"))
    check(path)
    asked = {
        (label, cell): any(isinstance(part, BreakPart) for part in planned(path, label, cell).parts)
        for label in ("P01", "P02")
        for cell in "abc"
    }
    assert [key for key, found in asked.items() if found] == [("P02", "c")]


def test_a_condition_matches_by_value_or_by_several() -> None:
    scope: conditions.Scope = {"task": "a", "n": 5}
    assert when.holds({}, scope)
    assert when.holds({"task": "a", "n": (4, 5)}, scope)
    assert not when.holds({"task": ("b", "c")}, scope)


def faults(folder: Path, **changed: str) -> list[tuple[str, int, str, str]]:
    """File, line, key and words of every fault of the study."""
    checked = check_all(conditional_study(folder, **changed))
    return [
        (Path(fault.file).name, fault.line or 0, fault.key, fault.what)
        for error in checked.errors
        for fault in error.faults
    ]


def test_what_is_meant_is_in_order(tmp_path: Path) -> None:
    assert faults(tmp_path) == []


@pytest.mark.parametrize("where", ["", "before."], ids=["inside", "of another questionnaire"])
def test_nothing_follows_from_an_item_that_can_have_several_values(
    where: str, tmp_path: Path
) -> None:
    """Who ticks both is asked the last item."""
    tools = BEFORE.partition("items:\n")[2].partition("  - {id: age")[0]
    asked = "  - {id: %s, kind: statement, identifying: no, text: How, only_if: {%s}}\n"
    items = (
        tools if not where else "",
        asked % ("how", f"{where}tools: python"),
        asked % ("too", f"{where}tools: matlab, how: 1"),
    )
    assert faults(tmp_path, use=USE.replace("items:\n", "items:\n" + "".join(items))) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "what"),
    [
        ("rely: [1, 2, 3, 4]", "rely: 8", 11, "only_if.rely", "rely is never 8; it is one of: 1"),
        ("rely: [1, 2, 3, 4]", "rely: yes", 11, "only_if.rely", "rely is never True"),
        ("rely: [1, 2, 3, 4]", "rely: []", 11, "only_if.rely", "this is never true"),
        ("rely: [1, 2, 3, 4]", "rly: 1", 11, "only_if.rly", "no item and no variable 'rly'"),
        ("rely: [1, 2, 3, 4]", "bad: 1", 11, "only_if.bad", "depends on itself"),
        ("rely: [1, 2, 3, 4]", "hinted: 1", 11, "only_if.hinted", "hinted is asked after it"),
        ("rely: [1, 2, 3, 4]", "use.rely: 1", 11, "only_if.use.rely", "only by its id: rely"),
        ('hint: "with"', 'hint: "wth"', 13, "only_if.hint", "never 'wth'; it is one of: 'with'"),
        ('hint: "with"', 'hnt: "with"', 13, "only_if.hnt", "no variable 'hnt'; there are: rely"),
        ("before.tools: p", "befor.tools: p", 18, "befor.tools", "'befor' is asked before"),
        ("before.tools: p", "before.tool: p", 18, "before.tool", "no item 'tool'; it has: tools"),
        ("tools: python", "tools: pyton", 18, "before.tools", "before.tools is never 'pyton'"),
        ("before.age: [70, 71]", "before.age: 17", 19, "before.age", "before.age is never 17"),
        (
            "before.age: [70, 71]",
            "code: x",
            19,
            "only_if.code",
            "the possible answers to code cannot be",
        ),
        ("before.age: [70, 71]", "bad: 1, rely: 7", 19, "only_if.bad", "it is never asked"),
        ("per_page: 3", "order: shuffled", 11, "only_if.rely", "the items are shuffled"),
        (
            "check: 2",
            "check: 8",
            12,
            "items[2].check",
            "8 is not an answer to it; it is one of: 1, 2",
        ),
        ("check: 2", "check: []", 12, "items[2].check", "needs a right answer"),
        ("check: 2", "check: 2, required: no", 12, "items[2].check", "must be answered"),
        ("[rely, bad]", "[rely, bad, attention]", 12, "items[2].check", "but it is in trust"),
        ("id: code\n", "id: code\n    check: x\n", 15, "items[4].check", "needs a right answer"),
        ("rely: [1, 2, 3, 4]", "rely: {a: 1}", 11, "only_if", "allowed"),
    ],
)
def test_a_condition_or_check_that_cannot_be_meant_is_refused_with_its_line(
    old: str, new: str, line: int, key: str, what: str, tmp_path: Path
) -> None:
    assert USE.count(old) == 1, old
    told = faults(tmp_path, use=USE.replace(old, new))
    assert [(file, at) for file, at, _, _ in told] == [("use.yaml", line)], told
    assert key in told[0][2]
    assert what in told[0][3]


def test_a_name_for_an_item_and_a_variable_is_refused(tmp_path: Path) -> None:
    use = USE.replace("id: rely", "id: hint").replace("rely: [", "hint: [")
    use = use.replace("mean: [rely, bad]", "mean: [hint, bad]").replace('hint: "with"', "hint: 7")
    told = faults(tmp_path, use=use)
    assert [line for _, line, _, _ in told] == [11, 13]
    assert all("hint is both an item and a variable of the study" in what for *_, what in told)


def test_it_is_told_where_a_questionnaire_is_asked_too_early(tmp_path: Path) -> None:
    study = STUDY.replace(
        "  - questionnaire: before\n  - questionnaire: use\n",
        "  - questionnaire: use\n  - questionnaire: before\n",
    )
    told = faults(tmp_path, study=study)
    assert [(line, "is asked before it" in what) for _, line, _, what in told] == [
        (18, True),
        (19, True),
    ]
    assert "(asked in own.yaml, line 11)" in told[0][3]
    assert study.splitlines()[10] == "  - questionnaire: use"


def test_what_was_asked_in_another_session_decides_nothing(tmp_path: Path) -> None:
    study = STUDY.replace("design:\n", "design:\n  sessions: [pre, post]\n").replace(
        "  - questionnaire: before\n  - questionnaire: use\n",
        "  - {questionnaire: before, only_if: {session: pre}}\n"
        "  - {questionnaire: use, only_if: {session: post}}\n",
    )
    told = faults(tmp_path, study=study)
    assert [(line, "is asked before it" in what) for _, line, _, what in told] == [
        (18, True),
        (19, True),
    ]


def test_a_condition_that_nobody_meets_who_is_asked_is_refused(tmp_path: Path) -> None:
    study = STUDY.replace(
        "- questionnaire: use", "- questionnaire: use\n    only_if: {hint: without}"
    )
    told = faults(tmp_path, study=study)
    assert [(line, key) for _, line, key, _ in told] == [(13, "items[3].only_if.hint")]
    assert "hint is never 'with'; it is one of: 'without'" in told[0][3]


def test_conditions_that_nobody_meets_together_are_refused(tmp_path: Path) -> None:
    """Each of them is met by somebody."""
    study = STUDY.replace(
        'design:\n  between: {hint: ["with", "without"]}\n  by_moderator: [hint]\n',
        "assignment:\n  cell: {cells: {a: {hint: with, light: 1}, b: {hint: no_, light: 2}}}\n",
    )
    use = USE.replace('{hint: "with"}', '{hint: "with", light: 2}')
    told = faults(tmp_path, study=study, use=use)
    assert [(line, key) for _, line, key, _ in told] == [(13, "items[3].only_if")]
    assert "nobody who is asked can have all of these together" in told[0][3]


def test_an_item_once_a_stage_decides_nothing(tmp_path: Path) -> None:
    before = BEFORE.replace("required: yes}", "required: yes, repeat: stages}")
    told = faults(tmp_path, before=before)
    assert [(line, what.partition(";")[0]) for _, line, _, what in told] == [
        (19, "before.age is asked once for each stage")
    ]


@pytest.mark.parametrize(
    ("limit", "check", "what"),
    [
        (1, ", check: 2", "nobody would fail; the number of checks that are asked is 1"),
        (0, "", "has an attention check"),
    ],
)
def test_a_rule_on_checks_that_nobody_can_fail_is_refused(
    limit: int, check: str, what: str, tmp_path: Path
) -> None:
    rule = STUDY.replace("failed_checks_above: 0", f"failed_checks_above: {limit}")
    told = faults(tmp_path, study=rule, use=USE.replace(", check: 2", check))
    assert [(line, key) for _, line, key, _ in told] == [(9, "exclude.read.failed_checks_above")]
    assert what in told[0][3]


def test_a_session_is_not_begun_with_such_a_mistake(tmp_path: Path) -> None:
    path = conditional_study(tmp_path, use=USE.replace('hint: "with"', "hnt: 1"))
    with pytest.raises(StudyError) as caught:
        load(path)
    assert [fault.line for fault in faults_of(caught.value)] == [13]


def test_what_tells_of_an_answer_that_identifies_is_told(tmp_path: Path) -> None:
    loaded = load(conditional_study(tmp_path))
    (line,) = [line for line in notices(loaded) if "asked only after" in line]
    assert "use.pension." in line
    assert "use.code" not in line
