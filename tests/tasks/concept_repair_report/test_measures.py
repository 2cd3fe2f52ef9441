"""What simulated participants were made to do is what tables and plans say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labapp.analysis import Tables, load
from labapp.session.resuming import read_verified_events
from labapp.tasks.concept_repair.report import contents
from labapp.tasks.concept_repair.report.measures import (
    MATCHED,
    MEASURES,
    NATURAL,
    PROMPTED_S,
    RepairRows,
    by_person,
    correlation,
)
from tests.helpers import repairers

STRATEGIES = ("oracle", "stubborn", "misled", "learner")

WHO = {f"P{number:02}": name for number, name in enumerate(STRATEGIES, start=1)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repairers")
    made = repairers.sets(folder / "sets")
    loaded = repairers.study(folder / "study", made, time_limit_s=None)
    repairers.sessions(folder, loaded, STRATEGIES)
    return folder


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return load(folder / "data")


@pytest.fixture(scope="module")
def rows(tables: Tables) -> RepairRows:
    return RepairRows.of(tables.included())


@pytest.fixture(scope="module")
def people(rows: RepairRows) -> pd.DataFrame:
    made = by_person(rows)
    return made.assign(strategy=made["participant"].map(WHO))


def of(people: pd.DataFrame, strategy: str, sample: str = MATCHED) -> pd.DataFrame:
    return people[(people["strategy"] == strategy) & (people["sample"] == sample)]


def test_everybody_has_a_row_a_model_and_sample(people: pd.DataFrame) -> None:
    assert len(people) == len(STRATEGIES) * 2 * 2
    matched = people[people["sample"] == MATCHED]
    assert (matched["n_pictures"] == 6).all()
    assert (people[people["sample"] == NATURAL]["n_pictures"] == 3).all()


def test_the_oracle_repairs_all_and_touches_nothing_else(people: pd.DataFrame) -> None:
    own = of(people, "oracle")
    assert own["success"].tolist() == [1.0, 1.0]
    assert own["gain"].tolist() == [0.5, 0.5]  # three pictures of six were wrong
    assert own["controls_touched"].tolist() == [0.0, 0.0]
    assert (own["settings_correct"] == 1).all()
    assert (own["undone"] == 0).all()


def test_the_stubborn_touch_all_controls_and_set_every_concept(people: pd.DataFrame) -> None:
    own = of(people, "stubborn")
    assert own["controls_touched"].tolist() == [1.0, 1.0]
    assert own["changes"].tolist() == [4.0, 4.0]
    assert (own["n_settings"] == 24).all()
    assert (own["n_set_correct_before"] >= 12).all()  # all of the controls, at least


def test_harm_is_that_of_the_events(folder: Path, people: pd.DataFrame) -> None:
    """Counted again from the events and the plan, for those who confirm everything."""
    harms: Counter[tuple[str, str]] = Counter()
    chances: Counter[tuple[str, str]] = Counter()
    for session in sorted((folder / "data" / "repaired").glob("sub-P02*")):
        events = list(read_verified_events(session))
        plan = next(e for e in events if e.kind == "session.planned").payload["plan"]
        parts = {part["id"]: part for part in plan if part["part"] == "concept_repair"}
        for event in events:
            if event.kind != "concept.set":
                continue
            part = parts[event.part_id or ""]
            item = part["items"][(event.trial or 1) - 1]
            before, after = (
                event.payload[f"answer_{at}"] == item["truth"] for at in ("before", "after")
            )
            true = item["concepts"][event.payload["concept"]] == (event.payload["to"] == 2)
            if before and true:
                key = part["repaired"]["model"], item["sample"]
                chances[key] += 1
                harms[key] += not after
    assert sum(harms.values()) > 0
    for (model, sample), n in chances.items():
        own = of(people, "stubborn", sample)
        own = own[own["model"] == model]
        assert own["n_set_correct_before"].item() == n
        assert own["harm"].item() == pytest.approx(harms[model, sample] / n)


def test_what_was_taken_back_and_foretold_is_counted(tables: Tables, people: pd.DataFrame) -> None:
    changes = tables.more["concept_changes"]
    undone = changes[(changes["change_kind"] == "undo") & (changes["role"] == "stage")]
    assert set(undone["participant"]) == {"P03"}
    misled = people[people["strategy"] == "misled"]
    assert (misled["undone"] * misled["n_pictures"]).sum() == pytest.approx(len(undone))
    told = changes[changes["foretold_correct"].notna() & ~changes["seen_before"].astype(bool)]
    assert people["n_foretold"].sum() == len(told)
    # The card alone is right about a model whose switches hardly leak.
    pure = people[(people["model"] == "concepts/tiny-pure") & (people["strategy"] == "oracle")]
    assert pure[pure["sample"] == MATCHED]["foresee"].dropna().gt(0.5).all()


def test_always_the_same_is_told_beside_what_was_foretold(
    tables: Tables, people: pd.DataFrame
) -> None:
    """The misled foretell by the card; whoever said "the same" each time would have been right as
    often as the answer stayed."""
    changes = tables.more["concept_changes"]
    told = changes[changes["foretold_correct"].notna() & (changes["role"] == "stage")]
    told = told[~told["seen_before"].astype(bool) & (told["sample"] == MATCHED)]
    shares = set()
    for _, row in people[people["sample"] == MATCHED].iterrows():
        own = told[(told["participant"] == row["participant"]) & (told["model"] == row["model"])]
        right = own["foretold_correct"].astype(float).mean()
        stayed = (own["answer_before"] == own["answer_after"]).mean()
        assert row["foretold"] == pytest.approx(right)
        assert row["unchanged"] == pytest.approx(stayed)
        assert row["foretold_less_unchanged"] == pytest.approx(right - stayed)
        shares.add(round(stayed, 3))
    assert len(shares) > 2  # it differs, so that accuracy alone compares nothing


def test_planted_surprises_are_found_again(folder: Path, rows: RepairRows) -> None:
    """Every utterance that was made from a surprise within five seconds of an update, also where it
    begins when the picture has been left."""
    planted: Counter[str] = Counter()
    for session in sorted((folder / "data" / "repaired").glob("sub-*")):
        moments = []
        for event in read_verified_events(session):
            if event.kind in ("concept.set", "concept.undone"):
                moments.append((event.t_ns, "change"))
            if event.kind == "speech.simulated" and event.payload["codes"].get("surprise"):
                moments.append((event.payload["t0_ns"], "surprise"))
        latest = None
        for at, what in sorted(moments):
            if what != "surprise":
                latest = at if what == "change" else None
            elif latest is not None and at - latest <= 5_000_000_000:
                planted[session.name[4:7]] += 1
    found = Counter(rows.surprises["participant"].tolist())
    assert sum(found.values()) > 0
    assert found == planted


def test_a_surprise_is_of_the_picture_of_its_update(
    tables: Tables, rows: RepairRows, people: pd.DataFrame
) -> None:
    """Whoever presses Done and says "oh" then says it of the picture that was left."""
    frames = tables.by_name()
    first = rows.surprises.iloc[0]
    who = ["study", "participant", "session"]
    mine = (frames["coded"][[*who, "mark"]] == first[[*who, "mark"]]).all(axis=1)
    assert mine.sum() == 1
    coded = frames["coded"].copy()
    coded.loc[mine, "trial"] = first["trial"] + 1
    own = frames | {"coded": coded}
    after = RepairRows.of(Tables.of(own, own["snapshots"]).included())
    columns = [*who, "stage", "trial", "attempt", "change"]
    pd.testing.assert_frame_equal(rows.surprises[columns], after.surprises[columns])
    assert by_person(after)["surprises"].tolist() == people["surprises"].tolist()


def test_what_is_said_after_a_prompt_is_left_out(tables: Tables, rows: RepairRows) -> None:
    first = rows.surprises.iloc[0]
    prompt = {
        **{name: first[name] for name in ("study", "participant", "session")},
        "kind": "prompt",
        "onset_s": float(first["onset_s"]) - PROMPTED_S / 2,
        "taken_back": False,
    }
    frames = tables.by_name()
    frames["notes"] = pd.concat(
        [frames["notes"], pd.DataFrame([prompt])], ignore_index=True
    ).astype(frames["notes"].dtypes.to_dict())
    prompted = RepairRows.of(Tables.of(frames, frames["snapshots"]).included())
    assert len(prompted.surprises) < len(rows.surprises)
    assert first["mark"] not in set(prompted.surprises["mark"])


def test_nothing_coded_is_no_surprise_and_not_none(tables: Tables, rows: RepairRows) -> None:
    """What counts is that somebody finished coding by a codebook with the code: a session in which
    nobody was surprised has 0 of them, and one of which only other tiers are coded has none."""
    who = rows.surprises["participant"].iloc[0]
    frames = {
        name: frame[frame["participant"] == who] if "participant" in frame else frame
        for name, frame in tables.by_name().items()
    }

    def surprises(**changed: object) -> pd.Series[float]:
        own = frames | {
            "coded": frames["coded"].iloc[:0],
            "participants": frames["participants"].assign(**changed),
        }
        people = by_person(RepairRows.of(Tables.of(own, own["snapshots"]).included()))
        assert people["success"].notna().all()
        return people["surprises"]

    assert (surprises() == 0).all()
    assert surprises(codes_completed=None).isna().all()
    assert surprises(codes_completed="expectation;leak").isna().all()
    marked = frames | {"participants": frames["participants"].assign(codes_completed=None)}
    assert RepairRows.of(Tables.of(marked, marked["snapshots"]).included()).surprises.empty


def test_traps_are_a_sample_of_their_own(tmp_path: Path) -> None:
    tables = repairers.cohort(
        tmp_path, ["careful"], items={"repair": 2, "control": 2, "trap": 2, "unrepairable": 1}
    )
    people = by_person(RepairRows.of(tables.included()))
    assert people.groupby("sample")["n_pictures"].unique().map(list).to_dict() == {
        "matched": [4],
        "traps": [3],
    }


@pytest.mark.parametrize(
    ("ticked", "value"),
    [((True, False, False), 1.0), ((False, True, True), -1.0), ((False,) * 3, None)],
)
def test_ticks_are_correlated_with_the_matrix(
    ticked: tuple[bool, ...], value: float | None
) -> None:
    grid = pd.DataFrame({"ticked": ticked, "deviation": [-0.4, 0.1, 0.1]})
    found = correlation(grid)
    assert found == (value if value is None else pytest.approx(value))


def test_every_measure_has_a_value_of_somebody(people: pd.DataFrame) -> None:
    for name in MEASURES.keys() - {"foresee_unsure"}:  # whoever sees exactly is sure
        assert people[name].notna().any(), name
        assert np.isfinite(people[name].dropna().astype(float)).all()


def test_why_there_is_no_slope_is_what_the_study_leaves_out(tmp_path: Path) -> None:
    """Where one change is given with each picture nothing is set freely; where nothing is foretold,
    there is no wrong answer."""
    why = {
        instruction: {
            slope.name.split(": ")[1].split(" by ")[0]: slope.why
            for slope in contents.slopes(
                repairers.cohort(
                    tmp_path / instruction, ["careful"], instruction=instruction, foresee=foresee
                ).included()
            )
        }
        for instruction, foresee in (("foresight", "all"), ("repair", "none"))
    }
    given, free = why["foresight"], why["repair"]
    assert "nothing true is set" in given["a harm"]
    assert given["an answer forecast wrongly"] == ""
    assert free["an answer forecast wrongly"] == "no answer is forecast in these pictures"
    assert "nobody codes what they say" in given["a surprise after a setting"]
