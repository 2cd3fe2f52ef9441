"""Unmasking with a rule that chooses the mask by the answers so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.analysis.analyze import analyze
from labapp.analysis.declared import Declaration
from labapp.analysis.design.sources import outcomes_of
from labapp.analysis.tables import load
from labapp.analysis.track_sections import average
from labapp.analysis.tracks import beyond
from labapp.base.errors import StudyError
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import payload_of
from labapp.record.events.commands import Pause, Resume, SkipStage
from labapp.record.events.trials import LevelChosen, TrackEnded
from labapp.session.bids.verify import verify
from labapp.session.machine import SessionMachine
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.study.adapting import plan_tracks
from labapp.study.adaptive.tracks import FollowedTracks, Tracks
from labapp.study.design import AnalysisPlan, Outcomes
from labapp.tasks.unmasking.machine import UnmaskingTask
from labapp.tasks.unmasking.planner import UnmaskingStages
from labapp.tasks.unmasking.records import UnmaskingRecords
from labapp.tasks.unmasking.simulated import Observer
from tests.helpers.unmasking import UnmaskingPlay, made, unmasking_part, write_unmasking_study

STAIRCASE = {"method": "up-down", "start": 20.0, "steps": [2, 1], "trials": 8, "guess": 0.2}
"""Two tracks of at most 8 trials in the small part below."""


def rule_of(**declared: Any) -> Any:
    stages = UnmaskingStages.model_validate(
        {
            "task": "unmasking",
            "stimuli": "tiny",
            "intro": "intro.md",
            "masks": [5.0, 10.0, 15.0, 20.0],
            "adaptive": declared,
        }
    )
    return stages.adaptive


def adaptive_part(**declared: Any) -> Any:
    part = unmasking_part(4, 4)
    methods = {each.method for each in part.sequences}
    items = {
        method: tuple(n for n, each in enumerate(part.sequences, 1) if each.method == method)
        for method in sorted(methods)
    }
    tracks = plan_tracks(rule_of(**declared), part.unmasked.percents, items, 1, "turns")
    return unmasking_part(4, 4, adaptive=tracks, total=tracks.most)


def answer(play: UnmaskingPlay, right: bool | None) -> None:
    """Give a right or wrong answer, or none, to the stimulus on the screen."""
    assert play.stimulus is not None
    part = play.machine.parts[0]
    truth = part.sequences[play.stimulus.sequence - 1].truth
    place = 1 + [button.of for button in part.buttons].index(truth)
    play.respond(0 if right is None else place if right else 3 - place)


def chosen(play: UnmaskingPlay) -> list[LevelChosen]:
    return [payload_of(event) for event in play.events if event.kind == LevelChosen.kind]


def test_a_staircase_follows_the_answers_until_its_tracks_are_over() -> None:
    play = UnmaskingPlay.of(adaptive_part(**STAIRCASE))
    while play.state.ended is None and play.stimulus is not None:
        answer(play, play.stimulus.mask >= 3)  # what shows 15 % or more is recognised
    asked = chosen(play)
    assert len(asked) == 16
    assert {each.track for each in asked} == {1, 2}
    first = [each.level for each in asked if each.track == 1]
    # Harder by two after two right answers, easier by one after the reversal, and so on.
    assert first == [4, 4, 2, 3, 3, 2, 3, 3]
    ended = [payload_of(event) for event in play.events if event.kind == TrackEnded.kind]
    assert [each.because for each in ended] == ["trials", "trials"]
    assert play.events[-1].kind == "session.completed"
    kinds = [event.kind for event in play.events]
    assert kinds.count("stimulus.drawn") == kinds.count("trial.ended") == 16


def test_an_interrupted_stimulus_is_shown_again_at_its_level() -> None:
    play = UnmaskingPlay.of(adaptive_part(**STAIRCASE))
    answer(play, True)
    before = play.stimulus
    assert before is not None
    play.send(Pause("moderator"))
    play.send(Resume("moderator"))
    again = play.stimulus
    assert again is not None
    assert (again.number, again.sequence, again.mask) == (2, before.sequence, before.mask)
    assert again.attempt == 2
    assert len(chosen(play)) == 2


@pytest.mark.parametrize(("how", "level"), [("wrong", 4), ("leave-out", 3)])
def test_dont_know_counts_as_declared(how: str, level: int) -> None:
    declared = {**STAIRCASE, "down": 1, "steps": [1], "interleave": "in-turn", "dont_know": how}
    play = UnmaskingPlay.of(adaptive_part(**declared))
    answer(play, True)  # track 1: from 4 to 3
    answer(play, True)
    answer(play, None)  # track 1 again
    answer(play, True)
    assert [each.level for each in chosen(play) if each.track == 1][2] == level


@pytest.mark.parametrize(
    "declared",
    [
        STAIRCASE,
        {**STAIRCASE, "start": [5.0, 20.0], "reversals": 4},
        {"method": "weighted-up-down", "start": 20.0, "trials": 8},
        {"method": "quest", "start": 10.0, "trials": 8},
        {"method": "psi", "trials": 8},
        {"method": "criterion", "start": 20.0, "right": 3, "trials": 8},
    ],
    ids=lambda declared: declared["method"],
)
def test_a_session_that_is_cut_off_anywhere_asks_the_same_next(declared: dict[str, Any]) -> None:
    """Resume and replay fold the journal; wherever it ends, the next decision is the same."""
    part = adaptive_part(**declared)
    play = UnmaskingPlay.of(part)
    answers = (True, False, True, True, None, True)
    n = 0
    while play.state.ended is None and play.stimulus is not None:
        answer(play, answers[n % len(answers)])
        n += 1
    machine = SessionMachine((part,), [UnmaskingTask(part, 0)], {})
    asked = [event for event in play.events if event.kind == LevelChosen.kind]
    for event in asked:
        before = machine.fold(play.events[: event.seq - 1]).part_state
        assert part.adaptive.choose(before.tracking) == payload_of(event)
        # Stored without its drawing: it is not decided again.
        after = machine.fold(play.events[: event.seq]).part_state
        assert part.adaptive.choose(after.tracking) == payload_of(event)


def test_the_records_follow_the_tracks_and_find_a_forged_decision() -> None:
    part = adaptive_part(**STAIRCASE)
    play = UnmaskingPlay.of(part)
    while play.state.ended is None and play.stimulus is not None:
        answer(play, play.stimulus.mask >= 3)

    def follow(forged_at: int | None = None) -> UnmaskingRecords:
        records = UnmaskingRecords({part.id: part})
        known = {records.begins, "trial.ended", LevelChosen.kind, TrackEnded.kind, *records.kinds}
        for event in play.events:
            if event.kind not in known or event.part_id != part.id:
                continue
            payload = payload_of(event)
            if event.seq == forged_at:
                assert isinstance(payload, LevelChosen)
                payload = payload.__replace__(level=1)
            records.take(event, payload, event.t_ns)
        return records

    records = follow()
    assert list(records.doubts()) == []
    tracks = list(records.walk_tracks())
    assert [(each.ended_by, each.n_trials) for each in tracks] == [("trials", 8), ("trials", 8)]
    assert all(10 < (each.threshold or 0) < 18 for each in tracks)
    forged = [event.seq for event in play.events if event.kind == LevelChosen.kind][3]
    assert any(f"event {forged} (level.chosen)" in doubt for doubt in follow(forged).doubts())


def test_a_stage_that_begins_again_begins_its_tracks_again() -> None:
    play = UnmaskingPlay.of(adaptive_part(**STAIRCASE))
    answer(play, True)
    answer(play, True)
    task = play.machine.tasks[0]
    again = task.restarted(play.state.part_state, 2)
    assert again.tracking == play.machine.parts[0].adaptive.begin()
    play.send(SkipStage())
    assert play.state.part_state.outcome in (None, "skipped")


def test_the_plan_reads_its_tracks_back() -> None:
    part = adaptive_part(**STAIRCASE)
    assert type(part).model_validate(part.model_dump(mode="json")) == part
    assert "adaptive" not in unmasking_part().model_dump(mode="json")
    assert isinstance(part.adaptive, Tracks)
    assert FollowedTracks(part.adaptive).state == part.adaptive.begin()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made(tmp_path_factory.mktemp("sets"))


@pytest.mark.parametrize(
    ("declared", "key", "what"),
    [
        ({"method": "updown"}, "adaptive.method", "up-down"),
        ({"method": "up-down", "trials": 20}, "adaptive.start", "missing"),
        ({**STAIRCASE, "start": 90}, "adaptive.start", "5 to 45"),
        ({**STAIRCASE, "steps": [0]}, "adaptive", "one level"),
        ({**STAIRCASE, "trials": 0}, "adaptive.trials", "1"),
        ({**STAIRCASE, "reversal": 6}, "adaptive.reversal", "reversals"),
        ({**STAIRCASE, "guess": 0.8}, "adaptive.guess", "0.707"),
        (
            {"method": "quest", "start": 10, "trials": 20, "target": 0.3, "guess": 0.5},
            "adaptive.guess",
            "0.3",
        ),
        ({"method": "psi", "trials": 9, "start": 5}, "adaptive.start", "unknown"),
        ({"method": "criterion", "start": 45, "right": 9, "trials": 5}, "adaptive", "9"),
    ],
)
def test_mistakes_are_told_where_they_are(
    tmp_path: Path, found: StimulusSet, declared: dict[str, Any], key: str, what: str
) -> None:
    study = write_unmasking_study(tmp_path, found, adaptive=declared)
    with pytest.raises(StudyError) as refused:
        loading.load(study)
    told = str(refused.value)
    assert key in told
    assert what in told
    assert "unmasking.yaml" in told


def test_breaks_inside_an_adaptive_stage_are_refused(tmp_path: Path, found: StimulusSet) -> None:
    study = write_unmasking_study(
        tmp_path, found, adaptive={**STAIRCASE, "start": 45}, breaks={"every": 2, "text": "rest.md"}
    )
    with pytest.raises(StudyError, match="breaks"):
        loading.load(study)


def test_adaptive_sessions_are_simulated_verified_and_analysed(
    tmp_path: Path, found: StimulusSet
) -> None:
    """The observer's own threshold is found, and the next level never waits for a calculation."""
    masks = [3, 4, 6, 8, 10, 13, 17, 22, 28, 36, 47, 60]
    declared = {"method": "up-down", "start": 60, "steps": [3, 1], "trials": 40, "guess": 0.05}
    study = write_unmasking_study(tmp_path / "study", found, masks=masks, adaptive=declared)
    observer = Observer(
        thresholds={"middle": 9.0, "edge": 18.0}, slope=4.0, guess=0.1, misread=0.0, follows=0.0
    )
    options = {"unmasking": observer}
    folders = simulate_study(str(study), 2, "understanding", tmp_path / "out", options=options)
    for folder in folders:
        report = verify(folder)
        assert report.ok, report.problems
    tables = load(folders)
    tracks = tables.tracks
    assert len(tracks) == 4
    assert set(tracks["n_trials"]) == {40}
    means = tracks.groupby("about")["threshold"].mean()
    # 70.7 % are right above the level at which half is recognised.
    assert 6.0 < means["middle"] < 20.0
    assert 12.0 < means["edge"] < 45.0
    assert tracks["threshold_se"].between(0.02, 0.6).all()
    assert tables.stages["threshold"].notna().all()
    assert set(tracks["estimate"]) == {"fit"}
    about = tracks[tracks["about"] == "edge"]
    value, _, _ = average([*about.groupby("participant")], "log", logarithms=False)
    assert value == pytest.approx(about["threshold"].mean()), "as in the analysis of stages"
    geometric, _, _ = average([*about.groupby("participant")], "log", logarithms=True)
    assert geometric == pytest.approx(np.exp(np.log(about["threshold"]).mean()))
    outside = about.assign(threshold=[2.9, 4.0])
    within, *_ = average([*outside.groupby("participant")], "linear", logarithms=True)
    assert within == pytest.approx(4.0), "the other one is extrapolated"
    none = average([*about.assign(threshold=60.1).groupby("participant")], "log", logarithms=True)
    assert none == (None, None, None)
    reached = about.assign(threshold=60 * (1 + 1e-12))
    assert not beyond(reached).any(), "equal but for rounding"
    page = analyze(folders, tmp_path / "de", language="de").read_text("utf-8")
    assert "Schwellen adaptiver Abschnitte" in page
    assert "durch Anpassung einer psychometrischen Funktion" in page
    assert "4 von 4 Verläufen endeten mit der Höchstzahl der Durchgänge" in page
    assert "niedriger ist besser" in page
    assert "Ränge:" not in page, "what no section shows is not defined"
    assert "Genauigkeit nach Maske" not in page, "the rule keeps the share of right answers"
    assert (tmp_path / "de" / "figures" / "unmasking-tracks.svg").exists()
    assert not (tmp_path / "de" / "report-words.yaml").exists()


def test_thresholds_beyond_the_levels_are_counted_and_not_averaged(
    tmp_path: Path, found: StimulusSet
) -> None:
    declared = {"method": "up-down", "start": 8, "trials": 24, "estimate": "reversals"}
    study = write_unmasking_study(
        tmp_path / "study", found, masks=[5, 6, 7, 8], adaptive=declared | {"guess": 0.05}
    )
    observer = Observer(
        thresholds={"middle": 5.0, "edge": 11.0}, slope=4.0, guess=0.1, misread=0.0, follows=0.0
    )
    options = {"unmasking": observer}
    folders = simulate_study(str(study), 2, "understanding", tmp_path / "out", options=options)
    assert all(verify(folder).ok for folder in folders)
    tables = load(folders)
    edge = tables.tracks[tables.tracks["about"] == "edge"]
    assert (edge["reversals"] > 1).any(), "their mean would look reached"
    assert beyond(edge).all()
    assert tables.stages["threshold"].isna().all(), "the mean of two tracks with one beyond"
    plan = AnalysisPlan(outcomes=Outcomes(primary=("threshold",)))
    left = outcomes_of(tables, Declaration(study="s", analysis=plan)).left_out
    assert [each.why for each in left] == [
        "2 of 2 thresholds lie beyond the levels and are left out"
    ]
    n = int(beyond(tables.tracks).sum())
    page = analyze(folders, tmp_path / "de", language="de").read_text("utf-8")
    assert f"{n} von 4 Schwellen liegen außerhalb der gezeigten Stufen" in page
    assert f"Stufen ({n} von 4 Verläufen) haben keinen Wert" in page
    assert "&gt; 8<" in page
    assert not (tmp_path / "de" / "report-words.yaml").exists()
