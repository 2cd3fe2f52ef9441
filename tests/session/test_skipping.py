"""A stage is skipped with its texts and questionnaires; a session continues at any later part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.analysis.tables import load as load_tables
from labapp.record.events import Source
from labapp.record.events.commands import ConfirmSkip, Resume, SkipStage, TakeBackSkip
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, planner
from labapp.study.allocation import variants
from labapp.study.overview import prior_of, space_of
from labapp.study.plugins.part import PlannedPart, section_of, sections_of
from tests.helpers.skips import skip_question
from tests.session.sessions import begin_session, part_of
from tests.session.test_resume import drop, go_on

STUDY = """\
id: skipped
title: A study of two stages
version: 1
unnamed_texts: shipped
inclusion: {completed: yes}
flow:
  - consent: texts/{language}/consent.md
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 2
      skip: always
      intro: texts/{language}/words.md
      after: [shipped:seq]
  - break: texts/{language}/words.md
  - questionnaire: shipped:synthetic-end
  - debrief: texts/{language}/words.md
"""
PLAN = [
    "consent",
    *("stage-1-intro", "stage-1", "stage-1-seq"),
    *("stage-2-intro", "stage-2", "stage-2-seq"),
    *("break-1", "questionnaire-1", "debrief"),
]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[OpenSession]:
    """Before consent; closed at the end."""
    path = tmp_path / "study" / "skipped.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STUDY)
    for name in ("consent", "words"):
        text = path.parent / "texts" / "en" / f"{name}.md"
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text("# Words\n\nSome words.\n")
    session = begin_session(tmp_path, study=path)
    assert [part.id for part in session.runner.machine.parts] == PLAN
    yield session
    session.close("over")


def skip_to(session: OpenSession, to: int) -> None:
    """Skip for good to a place in the plan."""
    runner = session.runner
    runner.send(SkipStage(runner.state.index, to), Source.MODERATOR)
    runner.send(ConfirmSkip(), Source.MODERATOR)


def skip_section(session: OpenSession) -> None:
    runner = session.runner
    skip_to(session, section_of(runner.machine.parts, runner.state.index).stop)


def outcomes(session: OpenSession) -> dict[str, str | None]:
    runner = session.runner
    records = zip(runner.machine.parts, runner.state.records, strict=True)
    return {part.id: record.outcome for part, record in records}


def plans() -> dict[str, list[PlannedPart]]:
    """The first plan of every shipped study."""
    made = {}
    for path in loading.shipped():
        loaded = loading.load(path.stem)
        number, drawn = next(iter(variants(loaded.study)))
        made[path.stem] = planner.realise(
            loaded,
            loaded.study.participants.label(number),
            loaded.study.first_session,
            space_of=space_of,
            prior_of=prior_of,
            stimuli_of=stimuli_of,
            drawn=drawn,
        ).parts
    return {name: list(parts) for name, parts in made.items()}


def test_every_shipped_plan_has_its_stages_with_what_belongs_to_them() -> None:
    for name, parts in plans().items():
        sections = sections_of(parts)
        assert [place for section in sections for place in section] == list(range(len(parts)))
        for section in sections:
            own = [parts[place] for place in section]
            numbers = {(part.role, part.number) for part in own if part.has_trials}  # type: ignore[attr-defined]
            assert len(numbers) <= 1, (name, [part.id for part in own])
            if not numbers:
                assert len(own) == 1
        for place, part in enumerate(parts):
            if (about := part.belongs_to()) is not None:
                stage = [each.id for each in parts].index(about)
                assert section_of(parts, stage) == section_of(parts, place), (name, part.id)
            if part.id.endswith("-intro"):
                stage = [each.id for each in parts].index(part.id.removesuffix("-intro"))
                assert section_of(parts, stage) == section_of(parts, place), (name, part.id)


@pytest.mark.parametrize("at", ["stage-1-intro", "stage-1", "stage-1-seq"])
def test_a_stage_is_skipped_with_its_text_and_its_questionnaire(
    session: OpenSession, at: str
) -> None:
    session.give_consent("Somebody")
    if at != "stage-1-intro":
        skip_to(session, PLAN.index(at))
    assert part_of(session) == at
    skip_section(session)
    assert part_of(session) == "stage-2-intro"
    assert {outcomes(session)[f"stage-1{end}"] for end in ("-intro", "", "-seq")} == {"skipped"}


def test_what_is_chosen_is_asked_although_its_stage_was_skipped(session: OpenSession) -> None:
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-1-seq"))
    assert part_of(session) == "stage-1-seq"


def test_nobody_is_asked_about_a_stage_that_was_skipped(session: OpenSession) -> None:
    """Neither where an older console, or a program, ends the stage alone."""
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-1"))
    session.runner.send(SkipStage(), Source.MODERATOR)
    session.runner.send(ConfirmSkip(), Source.MODERATOR)
    assert part_of(session) == "stage-2-intro"
    assert outcomes(session)["stage-1-seq"] == "skipped"


@pytest.mark.parametrize("skipped", [{1}, {2}, {1, 2}, set()])
def test_no_item_at_the_end_asks_about_a_stage_that_was_skipped(
    session: OpenSession, skipped: set[int]
) -> None:
    session.give_consent("Somebody")
    runner = session.runner
    for stage in (1, 2):
        if stage in skipped:
            skip_section(session)
        else:
            skip_to(session, PLAN.index(f"stage-{stage}"))
            while part_of(session) == f"stage-{stage}":
                skip_question(runner, Source.MODERATOR)
            skip_to(session, PLAN.index(f"stage-{stage}-seq") + 1)
    skip_to(session, PLAN.index("questionnaire-1"))
    state = runner.state
    asked = runner.machine.tasks[state.index].asked(state.part_state).ids
    assert {item for item in asked if item.startswith("stage_easy")} == {
        f"stage_easy_{stage}" for stage in {1, 2} - skipped
    }


def test_consent_is_never_passed_over(session: OpenSession) -> None:
    assert len(session.runner.machine.later(session.runner.state)) == 0
    for to in (None, 1, len(PLAN)):
        skip_to(session, 1) if to is None else skip_to(session, to)
        assert part_of(session) == "consent"
    session.give_consent("Somebody")
    for to in (0, 1, len(PLAN) + 1, -1):  # not back, not here, not beyond the end
        skip_to(session, to)
        assert part_of(session) == "stage-1-intro"


def test_it_is_taken_back_as_any_other_skip(session: OpenSession) -> None:
    session.give_consent("Somebody")
    session.runner.send(SkipStage(1, PLAN.index("questionnaire-1")), Source.MODERATOR)
    assert session.runner.state.pending is not None
    session.runner.send(TakeBackSkip("part"), Source.MODERATOR)
    assert part_of(session) == "stage-1-intro"
    assert set(outcomes(session).values()) == {"completed", None}


def test_a_session_that_was_continued_later_resumes_there(
    session: OpenSession, tmp_path: Path
) -> None:
    """The journal is dropped as `kill -9` leaves it, in the middle of it all."""
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-2"))
    assert part_of(session) == "stage-2"
    again = go_on(tmp_path, drop(session))
    assert part_of(again) == "stage-2"
    again.runner.send(Resume("on"), Source.MODERATOR)
    assert again.runner.state.part_state.trial.number == 1
    skip_to(again, PLAN.index("break-1"))
    assert part_of(again) == "break-1"
    skip_to(again, PLAN.index("debrief"))  # also out of a break
    third = go_on(tmp_path, drop(again))
    assert part_of(third) == "debrief"
    third.runner.send(Resume("on"), Source.MODERATOR)
    skip_section(third)
    assert third.runner.state.ended == "completed"
    third.close("completed")
    path = third.folder.path
    events = read_verified_events(path)
    left_out = [event.part_id for event in events if event.kind == "part.skipped"]
    assert left_out == [
        *("stage-1", "stage-1-seq", "stage-2-intro", "stage-2-seq"),
        "questionnaire-1",
    ]
    assert third.runner.machine.fold(events) == third.runner.state
    tables = load_tables(path)
    stages = tables.stages.set_index("stage")
    assert list(stages["outcome"]) == ["skipped", "skipped"]
    assert list(stages["n_trials"]) == [0, 0]
    assert stages["duration_s"].isna()["stage-1"], "it did not take no time: it never was"
    assert tables.participants["excluded_because"][0] == "completed"
    skipped = tables.deviations[tables.deviations["kind"] == "part_skipped"]
    assert set(left_out) < set(skipped["stage"])
    bundle = export([path], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).ok
    assert list(load_tables(bundle).stages["outcome"]) == ["skipped", "skipped"]


def test_an_older_skip_still_reads(session: OpenSession) -> None:
    """A skip without a goal, as all journals until now have it, skips the part alone."""
    session.give_consent("Somebody")
    session.runner.send(SkipStage(), Source.MODERATOR)
    session.runner.send(ConfirmSkip(), Source.MODERATOR)
    assert part_of(session) == "stage-1"
    events = read_verified_events(drop(session))
    older = [
        event._replace(payload={k: v for k, v in event.payload.items() if k != "to"})
        for event in events
    ]
    assert session.runner.machine.fold(older) == session.runner.state
