"""From a study file to one participant's plan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from labapp.base.errors import RecordError, SessionError
from labapp.models.representations import card
from labapp.record.events.lifecycle import SessionPlanned
from labapp.session.overview import next_free, overview
from labapp.study import plan, planner
from labapp.study.loading import load
from labapp.study.overview import check, prior_of, space_of
from labapp.study.plan import QuestionnairePart
from labapp.study.plugins.texts import fill, pages, placeholders
from labapp.study.schema import Participants
from labapp.tasks.reconstruction.plan import ReconstructionPart
from tests.study.test_refusals import GOOD
from tests.study.test_refusals import write_refusals as write


def realised(participant: str = "P01", **more: object) -> plan.Plan:
    return planner.realise(
        load("quickstart"), participant, space_of=space_of, prior_of=prior_of, **more
    )  # type: ignore[arg-type]


def test_the_quick_start_is_what_it_says() -> None:
    parts = realised().parts
    assert [part.id for part in parts] == [
        "consent",
        "tutorial",
        "practice-intro",
        "practice",
        *(f"stage-{n}{what}" for n in (1, 2, 3) for what in ("-intro", "", "-seq")),
        "debrief",
    ]
    stages = [p for p in parts if isinstance(p, ReconstructionPart) and p.role == "stage"]
    assert {stage.model for stage in stages} == {"sinelines/gt", "sinelines/vae", "sinelines/ae"}
    assert all(stage.trials == 5 and stage.skip == "always" for stage in stages)
    assert all(stage.target_alignment == 0.9 and stage.skip_after_s == 30 for stage in stages)
    assert {s.model: s.sampling for s in stages}["sinelines/gt"] == "prior"
    asked = [part for part in parts if isinstance(part, QuestionnairePart)]
    assert [part.about for part in asked] == ["stage-1", "stage-2", "stage-3"]


def test_equal_arguments_give_the_equal_plan_and_six_participants_all_orders() -> None:
    assert realised("P03") == realised("P03")
    orders = {tuple(realised(f"P{n:02d}").assignment["models"]) for n in range(1, 7)}
    assert len(orders) == 6
    assert realised("P03", seed=1).seed == 1


def test_a_plan_comes_back_from_its_first_event() -> None:
    made = realised()
    rows = plan.to_rows(made.parts)
    planned = SessionPlanned(
        "quickstart", 1, "0", "P01", "1", made.seed, made.assignment, "improved", "en", "on", rows
    )
    assert plan.parts_of(planned) == made.parts
    for row, why in (({"part": "dance"}, "kind 'dance'"), ({"part": "text"}, "cannot be read")):
        broken = SessionPlanned(
            "quickstart", 1, "0", "P01", "1", 0, {}, "improved", "en", "on", (row,)
        )
        with pytest.raises((SessionError, RecordError), match=why):
            plan.parts_of(broken)


@pytest.mark.parametrize("label", ["P1", "p01", "P00", "Q01", "P-01", "P01 ", "../P01", "P٠١", ""])
def test_a_participant_of_another_form_is_refused(label: str) -> None:
    with pytest.raises(SessionError, match="labels like P01"):
        realised(label)


@pytest.mark.parametrize("session", ["", "a b", "1/2", "é"])
def test_a_session_label_of_another_form_is_refused(session: str) -> None:
    with pytest.raises(SessionError, match="session label"):
        realised(session=session)


@pytest.mark.parametrize("pattern", ["P{:02d}", "S2P{:02d}", "2{:d}", "{:03d}x7", "{}"])
def test_labels_give_their_numbers_back(pattern: str) -> None:
    participants = Participants(pattern=pattern)
    for number in (1, 2, 9, 10, 42, 99, 100, 123):
        assert participants.number(participants.label(number)) == number
    assert participants.number("nobody") is None


def test_circles_as_a_stage_draw_from_their_dials(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, GOOD.replace("sinelines/gt", "circles/gt")))
    made = planner.realise(loaded, "P01", space_of=space_of, prior_of=prior_of)
    stages = [part for part in made.parts if isinstance(part, ReconstructionPart)]
    assert {s.model: s.sampling for s in stages} == {
        "circles/gt": "uniform",
        "sinelines/ae": "held_out",
    }


def test_questions_on_a_generator_are_drawn_within_its_limits(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, GOOD))
    made = planner.realise(
        loaded, "P01", space_of=space_of, prior_of=lambda model: model == "sinelines/ae"
    )
    stages = [part for part in made.parts if isinstance(part, ReconstructionPart)]
    assert {s.model: s.sampling for s in stages} == {
        "sinelines/gt": "prior",
        "sinelines/ae": "uniform",
    }


def test_the_overview_names_the_next_free_participants(tmp_path: Path) -> None:
    (tmp_path / "quickstart" / "sub-P02_ses-1_20260102T030405Z").mkdir(parents=True)
    (tmp_path / "quickstart" / "notes").mkdir()
    assert next_free(load("quickstart"), tmp_path, 3) == ["P01", "P03", "P04"]
    shown = overview("quickstart", 2, tmp_path)
    assert not shown.people, "an empty folder is no session"
    (problem,) = shown.problems
    assert "The session folder sub-P02_" in problem
    assert list(shown.plans) == ["P01", "P03"]
    assert any("P03" in line and "→" in line for line in shown.lines())


def test_a_calibration_is_introduced_as_one(tmp_path: Path) -> None:
    text = GOOD.replace("      trials: 3", "      trials: 3\n      marks: true")
    made = planner.realise(load(write(tmp_path, text)), "P01", space_of=space_of)
    stages = [part for part in made.parts if isinstance(part, ReconstructionPart)]
    assert [part.marks for part in stages] == [True, True]
    documents = [part.document for part in made.parts if part.id.endswith("-intro")]
    assert documents == ["texts/en/calibration-first.md", "texts/en/calibration-further.md"]
    own = text.replace(
        "      trials: 3", "      trials: 3\n      intro: texts/{language}/consent.md"
    )
    made = planner.realise(load(write(tmp_path, own)), "P01", space_of=space_of)
    assert made.parts[1].document == "texts/en/consent.md"  # type: ignore[union-attr]


def test_texts() -> None:
    assert pages("one\n\n---\ntwo\n---  \n\n") == ["one", "two"]
    assert fill("{trials} of {stages} {unknown}", {"trials": "5"}) == "5 of {stages} {unknown}"
    found = placeholders("by [your institution], [name of lab] [a link](x) [Insert date](y)")
    assert found == ["[your institution]", "[name of lab]"]
    found = placeholders(
        "[Ihre Hochschule], [Name der Leitung], [Name des Labors], [Ihrem](x) [ja]"
    )
    assert found == ["[Ihre Hochschule]", "[Name der Leitung]", "[Name des Labors]"]


def test_a_check_of_many_plans_reads_each_card_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[Path] = Counter()
    reading = card.read

    def counted(folder: Path) -> card.ModelCard:
        read[folder] += 1
        return reading(folder)

    monkeypatch.setattr(card, "read", counted)
    plans: list[plan.Plan] = []
    check("mnist-crowd", plans=plans)
    assert len(plans) == 7
    assert max(read.values()) <= 5, "and not for each stage of each plan"
