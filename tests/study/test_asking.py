"""Conditions of items and attention checks that cannot be meant: told with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import StudyError, faults_of
from labapp.study.loading import load
from labapp.study.overview import check_all, notices
from tests.helpers.own_questionnaires import BEFORE, STUDY, USE, conditional_study


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


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "what"),
    [
        ("rely: [1, 2, 3, 4]", "rely: 8", 11, "only_if.rely", "rely is never 8; it is one of: 1"),
        ("rely: [1, 2, 3, 4]", "rely: yes", 11, "only_if.rely", "rely is never True"),
        ("rely: [1, 2, 3, 4]", "rely: []", 11, "only_if.rely", "it never holds"),
        ("rely: [1, 2, 3, 4]", "rly: 1", 11, "only_if.rly", "no item and no variable 'rly'"),
        ("rely: [1, 2, 3, 4]", "bad: 1", 11, "only_if.bad", "depends on itself"),
        ("rely: [1, 2, 3, 4]", "hinted: 1", 11, "only_if.hinted", "hinted is asked after it"),
        ("rely: [1, 2, 3, 4]", "use.rely: 1", 11, "only_if.use.rely", "by its id alone: rely"),
        ('hint: "with"', 'hint: "wth"', 13, "only_if.hint", "never 'wth'; it is one of: 'with'"),
        ('hint: "with"', 'hnt: "with"', 13, "only_if.hnt", "no variable 'hnt'; there are: rely"),
        ("before.tools: p", "befor.tools: p", 18, "befor.tools", "'befor' is not asked before"),
        ("before.tools: p", "before.tool: p", 18, "before.tool", "no item 'tool'; it has: tools"),
        ("tools: python", "tools: pyton", 18, "before.tools", "before.tools is never 'pyton'"),
        ("before.age: [70, 71]", "before.age: 17", 19, "before.age", "before.age is never 17"),
        ("before.age: [70, 71]", "code: x", 19, "only_if.code", "what code is answered cannot be"),
        ("before.age: [70, 71]", "bad: 1, rely: 7", 19, "only_if.bad", "it is never asked"),
        ("per_page: 3", "order: shuffled", 11, "only_if.rely", "the items are shuffled"),
        ("check: 2", "check: 8", 12, "items[2].check", "8 is no answer to it; it is one of: 1, 2"),
        ("check: 2", "check: []", 12, "items[2].check", "needs a right answer"),
        ("check: 2", "check: 2, required: no", 12, "items[2].check", "must be answered"),
        ("[rely, bad]", "[rely, bad, attention]", 12, "items[2].check", "and it is in trust"),
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
    assert all("hint is an item and a variable of the study" in what for *_, what in told)


def test_it_is_told_where_a_questionnaire_is_asked_too_early(tmp_path: Path) -> None:
    study = STUDY.replace(
        "  - questionnaire: before\n  - questionnaire: use\n",
        "  - questionnaire: use\n  - questionnaire: before\n",
    )
    told = faults(tmp_path, study=study)
    assert [(line, "is not asked before it" in what) for _, line, _, what in told] == [
        (18, True),
        (19, True),
    ]
    assert "(asked in flow[0])" in told[0][3]


def test_what_was_asked_in_another_session_decides_nothing(tmp_path: Path) -> None:
    study = STUDY.replace("design:\n", "design:\n  sessions: [pre, post]\n").replace(
        "  - questionnaire: before\n  - questionnaire: use\n",
        "  - {questionnaire: before, only_if: {session: pre}}\n"
        "  - {questionnaire: use, only_if: {session: post}}\n",
    )
    told = faults(tmp_path, study=study)
    assert [(line, "is not asked before it" in what) for _, line, _, what in told] == [
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
    assert "nobody who is asked has all of these together" in told[0][3]


def test_an_item_once_a_stage_decides_nothing(tmp_path: Path) -> None:
    before = BEFORE.replace("required: yes}", "required: yes, repeat: stages}")
    told = faults(tmp_path, before=before)
    assert [(line, what.partition(";")[0]) for _, line, _, what in told] == [
        (19, "before.age is asked once for each stage")
    ]


@pytest.mark.parametrize(
    ("limit", "check", "what"),
    [
        (1, ", check: 2", "nobody would fail: attention checks that are asked: 1"),
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
