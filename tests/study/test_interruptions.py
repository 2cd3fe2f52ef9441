"""Items between the rounds of `each`: after every so many, or after some drawn at random."""

from __future__ import annotations

from pathlib import Path

import pytest
from numpy.random import default_rng

from labapp.analysis import load as load_tables
from labapp.base.errors import StudyError
from labapp.base.report.listing import sentence
from labapp.base.report.page import speaking
from labapp.session import condition_assignment
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading, planner
from labapp.study.design import Declared
from labapp.study.flow import Interruption
from labapp.study.overview import notices, prior_of, space_of
from labapp.study.plan import Plan
from tests.analysis.test_report_language import german_for_nobody
from tests.helpers.beside import put_beside

STUDY = """\
id: own
title: Own
version: 1
unnamed_texts: shipped
design:
  within: [scene: [a, b, c, d, e, f]]
flow:
- each: scene
  flow:
  - questionnaire: seq
  interrupt:
    WHERE
    flow:
    - questionnaire: nasa-tlx
"""


def write(folder: Path, where: str, text: str = STUDY) -> Path:
    put_beside(folder)
    path = folder / "own.yaml"
    path.write_text(text.replace("WHERE", where), "utf-8")
    return path


def planned(path: Path, participant: str) -> Plan:
    loaded = loading.load(path)
    drawn = condition_assignment.preview(path.parent, loaded, participant)
    return planner.realise(loaded, participant, space_of=space_of, prior_of=prior_of, drawn=drawn)


def rounds_before(plan: Plan) -> list[int]:
    """After how many rounds each interruption comes."""
    asked = [getattr(part, "instrument", "") for part in plan.parts]
    return [asked[:at].count("seq") for at, name in enumerate(asked) if name == "nasa-tlx"]


@pytest.mark.parametrize(
    ("where", "after"),
    [
        ("every: 2", [2, 4]),
        ("every: 1", [1, 2, 3, 4, 5]),
        ("every: 2\n    first: 1", [1, 3, 5]),
        ("every: 4", [4]),
        ("every: 6", []),
    ],
)
def test_it_comes_after_every_so_many_rounds_and_never_after_the_last(
    where: str, after: list[int], tmp_path: Path
) -> None:
    plan = planned(write(tmp_path, where), "P01")
    assert rounds_before(plan) == after
    assert len({part.id for part in plan.parts}) == len(plan.parts)
    told = [each for each in notices(loading.load(tmp_path / "own.yaml")) if "interrupt" in each]
    never = "line 11, flow[0].interrupt: It never comes, because scene has 6 rounds at most."
    assert told == ([] if after else [never])


def test_random_interruptions_differ_between_people_and_are_the_same_when_planned_again(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "times: 2")
    after = [rounds_before(planned(path, f"P{number:02}")) for number in range(1, 13)]
    assert all(len(set(each)) == 2 and set(each) <= {1, 2, 3, 4, 5} for each in after)
    assert len(set(map(tuple, after))) > 3
    assert rounds_before(planned(path, "P01")) == after[0]


def test_what_is_shown_of_random_orders_has_no_empty_list_of_slots(tmp_path: Path) -> None:
    path = write(tmp_path, "every: 2")
    path.write_text(path.read_text("utf-8").replace("f]\n", "f]\n  order: random\n"), "utf-8")
    shown = condition_assignment.coverage(tmp_path / "data", loading.load(path))
    assert shown is not None
    lines = shown.lines()
    assert "Balance now, by places (included or running):" in lines
    assert not any(line.startswith("Slots") for line in lines)


def test_each_place_between_rounds_is_drawn_equally_often() -> None:
    interruption = Interruption.model_construct(flow=(), every=None, first=None, times=1)
    drawn = [place for seed in range(5000) for place in interruption.after(6, default_rng(seed))]
    counts = [drawn.count(place) for place in range(1, 6)]
    assert all(abs(count - 1000) < 150 for count in counts), counts


def test_a_simulated_session_goes_through_them(tmp_path: Path) -> None:
    path = write(tmp_path, "times: 2")
    sessions = simulate_study(str(path), 2, "random", tmp_path / "sessions")
    for session in sessions:
        assert verify(session).ok, verify(session).problems
    answers = load_tables(sessions[0].parent).answers
    asked = answers.groupby("participant")["instrument"].value_counts().unstack()
    assert list(asked["seq"]) == [6, 6]
    assert (asked["nasa-tlx"] % 2 == 0).all()


@pytest.mark.parametrize(
    ("where", "text", "told"),
    [
        ("every: 2\n    times: 2", STUDY, "line 11, .*either 'every' or 'times'"),
        ("first: 1", STUDY, "line 11, .*either 'every' or 'times'"),
        ("times: 2\n    first: 1", STUDY, "line 11, .*'first' needs 'every'"),
        ("times: 6", STUDY, "line 12, .*fewer than the 6 rounds of scene"),
        ("every: 0", STUDY, "line 12, .*greater than or equal to 1"),
        ("evry: 2", STUDY, "line 12, .*did you mean 'every'"),
        ("every: 2", STUDY.replace("nasa-tlx", "none"), "line 14.*none"),
        (
            "every: 2",
            STUDY.replace("questionnaire: nasa-tlx", "consent: x.md"),
            "line 14, ",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(where: str, text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=told):
        loading.load(write(tmp_path, where, text))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("every: 2", "after every 2 rounds"),
        ("every: 1\n    first: 3", "after every round, for the first time after round 3"),
        ("times: 1", "after 1 round drawn at random for each participant"),
        ("times: 2", "after 2 rounds drawn at random for each participant"),
    ],
)
def test_the_declaration_says_what_comes_between_rounds_and_when(
    tmp_path: Path, where: str, words: str
) -> None:
    loaded = loading.load(write(tmp_path / "study", where))
    (own,) = Declared.model_validate(loaded.study.declared).interrupts
    assert (own.each, own.asked, own.when) == ("scene", ("nasa-tlx",), words)
    for language, begin in (("en", "There was one round per scene"), ("de", "Zwischen den Runden")):
        with speaking(german_for_nobody() if language == "de" else None):
            told = sentence("methods.interrupts", each="scene", asked=["TLX"], when=own.when)
        assert told.startswith(begin)
        assert "TLX" in told
        assert ("after" in told) is (language == "en"), told


def test_whatever_may_come_after_a_round_is_looked_up_for_every_order(tmp_path: Path) -> None:
    flow = STUDY.replace("- questionnaire: nasa-tlx", "- text: pause-{scene}.md").replace(
        "  within:", "  order: latin-square\n  within:"
    )
    path = write(tmp_path, "every: 2", flow)
    with pytest.raises(StudyError, match="pause-") as caught:
        loading.load(path)
    assert all(f"pause-{scene}.md" in str(caught.value) for scene in "abcdef")
    for scene in "abcdef":
        (tmp_path / f"pause-{scene}.md").write_text("# A pause\n\nRest a little.\n", "utf-8")
    sessions = simulate_study(str(path), 6, "random", tmp_path / "sessions")
    for session in sessions:  # in each order a text that its copy of the study has
        assert verify(session).ok, verify(session).problems
        assert len([*session.glob("study/pause-*.md")]) == 6
