"""Which sessions count: the study's rules, the tables, the bundle and the flow diagram."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis import Tables, load
from labapp.analysis.analyze import analyze
from labapp.analysis.inclusion import (
    GivenAnswer,
    Judged,
    conditions,
    find_failed_rules,
    fold_inclusion_status,
    inclusion_kinds,
    values_of,
)
from labapp.analysis.participation import Arm, Flow, _draw_flow, flow_of
from labapp.analysis.retention import retention
from labapp.base.errors import RecordError
from labapp.base.figure_style import FigureLook, looking
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.page import join_parts
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    PaymentComputed,
    SessionCompleted,
    SessionEnded,
)
from labapp.record.journal.read import payloads, read_rows
from labapp.session.bids.export import export
from labapp.session.condition_assignment import session_states
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import decide_by_hand, withdraw
from labapp.study import loading, overview
from labapp.study.design import ExcludeRule
from labapp.tasks.reconstruction.events import TrialSolved
from tests.analysis.sessions import begin_trial, builder, end_trial, paired, stage_row
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.nightly import EVERYTHING
from tests.session.test_slots import slotted

DRAWN = {"number": 3, "dimensions": 5, "condition": ["a", "b"], "models": ["x/y"]}


def session(participant: str = "P01", *, outcome: str = "completed") -> SessionBuilder:
    """One solved question, and the stage's end."""
    made = builder(stage_row(), participant=participant, study="counted")
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 10)
    made.at(12, TrialSolved(1, (3.0, 1.0, 0.5), 0.8), "stage-1", 1)
    end_trial(made, 13, "solved")
    made.at(20, PartEnded(0, outcome), "stage-1")
    return made


def decided(made: SessionBuilder, *failed: str) -> SessionBuilder:
    made.at(21, InclusionDecided(not failed, failed, {}))
    made.at(21, SessionCompleted())
    return made


def test_what_the_session_decided_is_taken_as_it_is() -> None:
    inclusion_status = fold_inclusion_status(
        paired(decided(session(), "min_solved", "practice_correct"))
    )
    assert (inclusion_status.included, inclusion_status.failed) == (
        False,
        ("min_solved", "practice_correct"),
    )
    assert inclusion_status.achieved.solved == 1
    assert fold_inclusion_status(paired(decided(session(outcome="skipped")))).included


@pytest.mark.parametrize(
    ("outcome", "end", "failed"),
    [
        ("completed", SessionCompleted(), ()),
        ("completed", None, ("completed",)),
        ("completed", SessionEnded("late"), ("completed",)),
        ("skipped", SessionCompleted(), ("completed",)),
        ("completed", SessionEnded("left", "keep"), ("completed", "withdrawn")),
    ],
)
def test_an_undecided_session_counts_when_every_part_was_done(
    outcome: str, end: Any, failed: tuple[str, ...]
) -> None:
    made = session(outcome=outcome)
    if end is not None:
        made.at(21, end)
    inclusion_status = fold_inclusion_status(paired(made))
    assert inclusion_status.failed == failed
    assert inclusion_status.included is not bool(failed)


def test_the_other_kinds_of_events_make_no_difference() -> None:
    events = paired(decided(session()))
    assert {event.kind for event, _ in events} - inclusion_kinds()
    assert fold_inclusion_status(
        pair for pair in events if pair[0].kind in inclusion_kinds()
    ) == fold_inclusion_status(events)


def test_conditions_are_the_variables_in_words() -> None:
    assert conditions(DRAWN) == "condition: a, b; dimensions: 5"
    assert conditions({"number": 1}) == ""


def test_tables_say_who_counts(tmp_path: Path) -> None:
    made = decided(session("P01"))
    made.at(20.5, PaymentComputed("€", 3.0, 0.5, 3.5, 1, 0))
    made.write(tmp_path)
    decided(session("P02"), "min_solved").write(tmp_path)
    tables = load(tmp_path)
    rows = tables.participants.set_index("participant")
    assert rows["included"].tolist() == [True, False]
    assert rows.loc["P02", "excluded_because"] == "min_solved"
    assert rows["n_solved"].tolist() == [1, 1]
    assert rows.loc["P01", "payment_total"] == 3.5
    assert rows.loc["P01", "payment_currency"] == "€"
    for frame in (tables.stages, tables.trials):
        assert frame.set_index("participant")["included"].to_dict() == {"P01": True, "P02": False}
    counted = tables.included()
    assert counted.stages["participant"].tolist() == ["P01"]
    assert counted.snapshots["participant"].unique().tolist() == ["P01"]
    assert counted.participants["participant"].tolist() == ["P01", "P02"]


def cells(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return next(csv.DictReader(file, delimiter="\t"))


def test_a_bundle_says_who_counts_also_without_identities(tmp_path: Path) -> None:
    made = session()
    payload = made.rows[0][2].payload
    msgspec.structs.force_setattr(payload, "assignment", DRAWN)
    made.at(20.5, PaymentComputed("€", 3.0, 0.5, 3.5, 1, 0))
    folder = decided(made, "min_solved").write(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle", deidentify=True)
    person = cells(bundle / "participants.tsv")
    assert (person["included"], person["excluded_because"]) == ("false", "min_solved")
    assert person["conditions"] == "condition: a, b; dimensions: 5"
    one = cells(bundle / "sub-P01" / "sub-P01_sessions.tsv")
    assert (one["solved"], one["payment"], one["payment_currency"]) == ("1", "3.5", "€")
    tables = load(bundle)
    assert tables.participants["excluded_because"].tolist() == ["min_solved"]


def test_who_withdrew_after_the_decision_does_not_count(tmp_path: Path) -> None:
    folders = [decided(session(label)).write(tmp_path / "data") for label in ("P01", "P02")]
    withdraw(folders[1], tmp_path / "private", delete=False)
    left = load(tmp_path / "data")
    assert left.participants["participant"].tolist() == ["P01"]
    assert [each.participant for each in left.withdrawn] == ["P02"]
    assert any(folders[1].name in note for note in left.remarks)
    bundle = export(folders, tmp_path / "bundle", withdrawn=True)
    reduced = export([bundle], tmp_path / "reduced", withdrawn=True, deidentify=True)
    for source in (tmp_path / "data", bundle, reduced):
        tables = load(source, withdrawn=True)
        assert tables.participants["included"].tolist() == [True, False]
        assert tables.participants["excluded_because"].tolist()[1] == "withdrawn"
        assert tables.included().stages["participant"].tolist() == ["P01"]
    for made in (bundle, reduced):
        assert cells(made / "sub-P02" / "sub-P02_sessions.tsv")["excluded_because"] == "withdrawn"
    again = export([bundle], tmp_path / "again")
    assert not (again / "sub-P02").exists()
    with pytest.raises(RecordError, match="withdrew"):
        analyze([folders[1]], tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_what_is_to_be_deleted_is_never_analysed(tmp_path: Path) -> None:
    made = session()
    made.at(21, SessionEnded("left", "delete"))
    made.write(tmp_path)
    with pytest.raises(RecordError, match="wants the data deleted"):
        load(tmp_path, withdrawn=True)


def test_the_golden_session_counts(tmp_path: Path) -> None:
    row = load(golden_session(tmp_path)).participants.iloc[0]
    assert row["included"]
    assert row["n_solved"] == 5


INSTRUMENT = """\
id: opinions
version: 1
title: Opinions
source: ours
scores: {trust: {mean: [t1, t2], reverse: [t2]}}
scale: {points: 5, low: not at all, high: very much}
items:
- {kind: statement, id: t1, text: I trust it.}
- {kind: statement, id: check_1, text: Choose 2 here.}
- {kind: statement, id: t2, text: I distrust it.}
- kind: choice
  id: saw
  text: What did you see?
  identifying: false
  options:
  - {id: lines, text: Lines}
  - {id: dots, text: Dots}
  - {id: words, text: Words}
  - {id: nothing, text: Nothing}
"""

STUDY = """\
id: ruled
title: Ruled
version: 1
unnamed_texts: shipped
seed: 3
design:
  between: {hint: ["with", "without"]}
  by_moderator: [hint]
  within: [model]
exclude:
  attention: {item: check_1, answer_not: [2, 3, 4, 5]}
  saw_dots: {item: opinions.saw, answer: [dots]}
  low_trust: {score: trust, below: 2}
  fast: {median_response_s_below: 3}
  slow: {median_response_s_above: 60}
  unsolved: {completion_rate_below: 0.2}
  seq_high: {item: seq, above: 6}
flow:
- stages:
    task: reconstruction
    models: [sinelines/gt, sinelines/vae]
    trials: 2
    skip: always
    after: [shipped:seq]
- questionnaire: opinions
"""

MANY = 6 if EVERYTHING else 4

RULES = ("attention", "saw_dots", "low_trust", "fast", "slow", "unsolved", "seq_high")


def ruled(folder: Path, text: str = STUDY) -> Path:
    (folder / "instruments").mkdir(parents=True, exist_ok=True)
    (folder / "instruments" / "opinions.yaml").write_text(INSTRUMENT)
    path = folder / "ruled.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ruled")
    study = ruled(folder / "study")
    simulate_study(str(study), MANY, "understanding=0.6,random=0.4", folder / "data", careless=0.2)
    return folder / "data"


@pytest.fixture(scope="module")
def tables(data: Path) -> Tables:
    return load([data])


def by_hand(tables: Any) -> dict[str, set[str]]:
    """Who fails what, from the tables alone, by pandas."""
    answers, scores, trials, stages = tables.answers, tables.scores, tables.trials, tables.stages
    people = list(tables.participants["participant"])
    own = answers[answers["submitted"].astype(bool)].set_index("participant")
    counted = trials[(trials["role"] == "stage") & ~trials["excluded"] & ~trials["keyboard_away"]]
    counted = counted[counted["outcome"].isin(["solved", "skipped"])]
    medians = counted.groupby("participant")["duration_s"].median().reindex(people)
    rates = stages.groupby("participant")["completion_rate"].mean().reindex(people)
    trust = scores[scores["score"] == "trust"].set_index("participant")["value"].reindex(people)
    check = own[own["item"] == "check_1"]["value"].reindex(people)
    saw = own[own["item"] == "saw"]["value_text"].reindex(people)
    seq = own[own["instrument"] == "seq"]["value"].groupby("participant").max().reindex(people)
    failing = {
        "attention": check.notna() & (check == 1),
        "saw_dots": saw == "dots",
        "low_trust": trust < 2,
        "fast": medians < 3,
        "slow": medians > 60,
        "unsolved": rates < 0.2,
        "seq_high": seq > 6,
    }
    return {who: {rule for rule, fails in failing.items() if fails[who]} for who in people}


def test_the_session_and_the_tables_decide_alike(data: Path, tables: Tables) -> None:
    expected = by_hand(tables)
    assert len({rule for rules in expected.values() for rule in rules}) >= 3, "no rule is tried"
    assert any(not rules for rules in expected.values()), expected
    people = tables.participants.set_index("participant").fillna({"excluded_because": ""})
    for folder in sorted((data / "ruled").glob("sub-*")):
        (decided,) = payloads(read_rows(folder, ("inclusion.decided",)))
        event = decided[1]
        who = folder.name.split("_")[0].removeprefix("sub-")
        assert set(event.failed) - {"completed"} == expected[who], who  # type: ignore[attr-defined]
        reasons = str(people.loc[who, "excluded_because"])
        assert set(filter(None, reasons.split(", "))) == set(event.failed)  # type: ignore[attr-defined]
        assert bool(people.loc[who, "included"]) is not bool(event.failed)  # type: ignore[attr-defined]


def test_who_fails_is_replaced(data: Path, tables: Tables, tmp_path: Path) -> None:
    loaded = loading.load(ruled(tmp_path))
    states = {row.participant: row.state for row in session_states(data / loaded.study.id)}
    people = tables.participants
    included = people.set_index("participant")["included"]
    assert {who for who, state in states.items() if state == "included"} == set(
        included[included].index
    )
    assert "excluded" in states.values()


def test_a_bundle_and_its_copy_without_names_say_the_same(
    data: Path, tables: Tables, tmp_path: Path
) -> None:
    sessions = sorted((data / "ruled").glob("sub-*"))
    here = tables.participants.set_index("participant")["excluded_because"]
    for deidentify in (False, True):
        out = tmp_path / f"bundle-{deidentify}"
        export(sessions, out, deidentify=deidentify)
        there = load([out]).participants.set_index("participant")["excluded_because"]
        pd.testing.assert_series_equal(here, there.reindex(here.index))
        described = next(out.rglob("*sessions.json")).read_text()
        assert "did not answer 2 or 3 or 4 or 5 to check_1" in described


def test_the_report_says_who_is_left_out_and_why(tables: Tables) -> None:
    page = str(join_parts(retention(tables.participants, "ruled", "s1", tables.withdrawn)))
    assert "Check_1: not 2 or 3 or 4 or 5" in page
    assert "not applied" not in page


@pytest.mark.parametrize(
    ("rule", "values", "fails"),
    [
        ({"answer_not": 2}, (2.0,), False),
        ({"answer_not": 2}, (3.0,), True),
        ({"answer_not": "2"}, (2.0,), False),
        ({"answer_not": ["a", "b"]}, ("a", "b"), False),
        ({"answer_not": ["a", "b"]}, ("a", "c"), True),
        ({"answer": ["a", "b"]}, ("c", "b"), True),
        ({"answer": "a"}, (), False),
        ({"answer_not": "a"}, (), False),
        ({"below": 3}, (2.0,), True),
        ({"below": 3}, (3.0,), False),
        ({"above": 3}, ("text",), False),
    ],
)
def test_a_rule_on_an_answer(rule: dict[str, Any], values: tuple[Any, ...], fails: bool) -> None:
    rules = {"own": ExcludeRule.model_validate({"item": "q", **rule})}
    judged = Judged(
        (GivenAnswer("i", "q", values), GivenAnswer("i", "other", ("z", 99.0))), (), (), (), 0.0
    )
    assert find_failed_rules(rules, judged) == (("own",) if fails else ())
    assert not find_failed_rules({"own": rules["own"].model_copy(update={"item": "j.q"})}, judged)


def test_an_answer_is_judged_as_the_table_has_it() -> None:
    assert values_of(None) == values_of("") == ()
    assert values_of(3) == (3.0,)
    assert values_of("a;b") == ("a", "b")


def test_stops_of_the_program_are_judged_by_their_seconds() -> None:
    rules = {"broken": ExcludeRule(interrupted_s_above=60)}
    assert find_failed_rules(rules, Judged((), (), (), (), 60.5)) == ("broken",)
    assert not find_failed_rules(rules, Judged((), (), (), (), 60.0))


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("a: {item: check_9, answer: 2}", "has an item 'check_9'; there are: "),
        ("a: {item: check_1, answer: 6}", "6 is not an answer to check_1; possible are: whole"),
        (
            "a: {item: saw, answer_not: circles}",
            "'circles' is not an answer to saw; possible are",
        ),
        ("a: {item: saw, below: 2}", "saw has no number that could be below another"),
        ("a: {item: check_1, below: 1}", "nobody would fail: check_1 ranges from 1 to 5"),
        ("a: {score: trust, above: 0.5}", "everybody would fail: trust ranges from 1 to 5"),
        ("a: {score: trust, above: 5}", "nobody would fail: trust ranges from 1 to 5"),
        ("a: {score: faith, above: 3}", "has a score 'faith'; there are: "),
        (
            "completed: {score: trust, above: 3}",
            "'completed' is a reason that every study already has",
        ),
    ],
)
def test_a_rule_that_cannot_be_is_told_with_its_line(tmp_path: Path, rule: str, says: str) -> None:
    at = STUDY.index("exclude:\n")
    text = f"{STUDY[:at]}exclude:\n  {rule}\n{STUDY[STUDY.index('flow:') :]}"
    checked = overview.check_all(str(ruled(tmp_path, text)))
    (error,) = checked.errors
    assert says in str(error)
    assert "line 11, exclude." in str(error)


def test_the_rules_of_the_study_above_are_in_order(tmp_path: Path) -> None:
    assert overview.check_all(str(ruled(tmp_path))).errors == ()


PARTICIPATION_DRAWN = True

DECLARED = json.dumps(
    {
        "exclude": {
            "attention": {"item": "check", "answer_not": 2},
            "slow": {"score": "s", "above": 9},
        }
    }
)

REASONS = ("withdrawn", "completed", "by_hand", "min_solved", "attention", "slow", "another")

sessions = st.lists(
    st.tuples(
        st.sampled_from(["completed", "declined", "ended"]),
        st.lists(st.sampled_from(REASONS), unique=True),
        st.sampled_from(["with", "without"]),
    ),
    min_size=1,
    max_size=30,
)


def rows(drawn: list[tuple[str, list[str], str]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "study": "own",
                "participant": f"P{number}",
                "outcome": outcome,
                "included": outcome != "declined" and not failed,
                "excluded_because": ", ".join(failed) or None,
                "declared": DECLARED,
                "factor_hint": level,
            }
            for number, (outcome, failed, level) in enumerate(drawn)
        ]
    )


@given(drawn=sessions)
def test_every_session_is_in_one_box(drawn: list[tuple[str, list[str], str]]) -> None:
    table = rows(drawn)
    flow = flow_of(table)
    assert flow.began == len(table)
    assert flow.declined + flow.left_out + flow.analysed == flow.began
    assert (
        flow.analysed == table["included"].sum() == sum(arm.analysed for arm in flow.arms.values())
    )
    assigned = sum(arm.assigned for arm in flow.arms.values())
    assert assigned + sum(flow.unassigned.values()) == flow.recruited
    withdrew = [outcome != "declined" and "withdrawn" in failed for outcome, failed, _ in drawn]
    assert sum(flow.unassigned.values()) == sum(withdrew), "all others have a level"
    assert flow.left_out == len(table) - table["included"].sum() - flow.declined


def test_a_session_stands_under_its_first_reason() -> None:
    drawn = [("completed", ["slow", "by_hand"], "with"), ("ended", ["completed", "slow"], "with")]
    drawn += [("completed", ["slow", "attention"], "without"), ("completed", [], "without")]
    flow = flow_of(rows(drawn))
    assert flow == Flow(
        4,
        0,
        {
            "Did not finish": 1,
            "Excluded by hand": 1,
            "Check: not 2": 1,
        },
        1,
        {
            "with": Arm({"Did not finish": 1, "Excluded by hand": 1}, 0),
            "without": Arm({"Check: not 2": 1}, 1),
        },
    )


@pytest.mark.parametrize("width", [10.0, 3.33])
def test_no_text_leaves_its_box(width: float) -> None:
    reasons = {"Withdrew": 1, "a-rule-with-a-long-name: the participant has a time below 2 s": 12}
    long = {"a-rule-with-a-long-name: the participant has a time below 2 s": 3}
    flow = Flow(800, 3, reasons, 784, {f"with, dose {n}": Arm(long, 196) for n in range(4)})
    with looking(FigureLook(width_in=width)):
        figure = _draw_flow(flow)
    figure.canvas.draw()
    (ax,) = figure.axes
    boxes = [patch.get_window_extent() for patch in ax.patches if patch.get_width()]  # type: ignore[attr-defined]
    texts = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(texts) == 2 + 1 + 3 * 4
    for text in texts:
        assert any(
            box.x0 <= text.x0 and text.x1 <= box.x1 and box.y0 <= text.y0 and text.y1 <= box.y1
            for box in boxes
        )
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])


Ends = tuple[float, float, float, float]


def drawn_paths(width: float, cells: int) -> tuple[list[Ends], list[Ends]]:
    """The boxes of a diagram (left, top, right, bottom) and its lines (from x, y to x, y), in the
    points of its SVG."""
    reasons = {"Withdrew": 1, "slow": 12}
    flow = Flow(800, 3, reasons, 794, {f"cell {n}": Arm({"slow": 1}, 1) for n in range(cells)})
    with looking(FigureLook(width_in=width)):
        svg = ReportFigure("flow", _draw_flow(flow), "", "").svg
    boxes, lines = [], []
    for path, look in re.findall(r'<path d="([^"]*)"[^>]*style="([^"]*)"', svg):
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
        if "fill: none" not in look:
            continue  # the ground, and the points of arrows
        if path.strip().endswith("z"):
            (left, right), (top, bottom) = ((min(at), max(at)) for at in zip(*points, strict=True))
            boxes.append((left, top, right, bottom))
        else:
            lines.append((*points[0], *points[-1]))
    return boxes, lines


@pytest.mark.parametrize("width", [10.0, 3.33])
@pytest.mark.parametrize("cells", [0, 1, 2, 3, 4, 5, 9, 12])
def test_lines_lead_from_the_first_box_to_every_other_and_through_none(
    width: float, cells: int
) -> None:
    boxes, lines = drawn_paths(width, cells)
    assert len(boxes) == (2 + 1 + 3 * cells if cells else 3 + 2)
    near = 1.0  # an arrow ends just before its box

    def on(point: tuple[float, float], shape: Ends) -> bool:
        (left, right), (top, bottom) = sorted(shape[::2]), sorted(shape[1::2])
        return left - near <= point[0] <= right + near and top - near <= point[1] <= bottom + near

    reached, left_over = [boxes[0]], list(lines)
    while joined := [
        line
        for line in left_over
        if any(on(line[:2], shape) or on(shape[2:], line) for shape in reached)
    ]:
        left_over = [line for line in left_over if line not in joined]
        reached += [*joined, *(box for line in joined for box in boxes if on(line[2:], box))]
    assert not left_over
    assert set(boxes) <= set(reached)
    for left, top, right, bottom in boxes:
        for x, y, to_x, to_y in lines:
            across = min(right, max(x, to_x)) - max(left, min(x, to_x))
            down = min(bottom, max(y, to_y)) - max(top, min(y, to_y))
            assert across <= 0.1 or down <= 0.1, "a line goes through a box"


def test_the_diagram_stands_in_the_report_and_beside_it(tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=3)
    simulate_study(str(loaded.path), 5, "understanding", tmp_path / "data")
    first = min((tmp_path / "data" / "drawn").glob("sub-P01_*"))
    decide_by_hand(first, False, "fire alarm")
    analyze([tmp_path / "data"], tmp_path / "out")
    flow = flow_of(load([tmp_path / "data"]).participants)
    assert (flow.began, flow.reasons, flow.analysed) == (5, {"Excluded by hand": 1}, 4)
    assert sum(arm.analysed for arm in flow.arms.values()) == 4
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Flow of participants: began 5, recruited 5, not analysed 1, analysed 4" in report
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / "out" / "figures" / f"flow.{ending}").stat().st_size > 500
    captions: Any = (tmp_path / "out" / "figures" / "captions.md").read_text()
    assert "## flow\n\n**Flow of participants of drawn.**" in captions
