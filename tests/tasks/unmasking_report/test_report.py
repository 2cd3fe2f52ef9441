"""What the report says of masked pictures: sentences, tables, what is missing and why."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labapp.analysis import Tables
from labapp.analysis.analyze import FIGURES, REPORT, analyze, report
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report import sections
from labapp.tasks.unmasking.report.contents import findings
from labapp.tasks.unmasking.report.figures import plates
from labapp.tasks.unmasking.report.results import UnmaskingResults
from labapp.tasks.unmasking.report.sections import (
    ALONE,
    NO_MODEL,
    NO_RANKS,
    ONE_METHOD,
    Overall,
    describe_group,
    main_results,
    of_study,
    overall,
    timing,
)
from tests.analysis.sessions import paired
from tests.analysis.test_report import MADE, Page
from tests.helpers.cohort import STUDIES, session
from tests.helpers.journals import SessionBuilder
from tests.helpers.judged import of_play
from tests.helpers.observers import World, annotated, group_of, observed, tables_with
from tests.helpers.pages import problems
from tests.helpers.rough_fits import rough_fits as rough_fits
from tests.helpers.statistics_table import of_task
from tests.helpers.unmasked import METHODS, found, group, nobody
from tests.helpers.unmasking import CLASSES, UnmaskingPlay, sequence, unmasking_part

STUDY = "unmasking-faces"


def words(html: str) -> str:
    return Page(re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)).text


def section(*groups: UnmaskingResults) -> str:
    """Without the figures, which have tests of their own."""
    for made in groups:
        vars(made)["drawn"] = ()
    return words("".join(of_study(STUDY, groups, "s1")))


@pytest.fixture(scope="module")
def full() -> str:
    """What is said of a study with everything."""
    return section(found())


def part(images: int = 4, masks: int = 3) -> UnmaskingPart:
    """Every image with both methods."""
    made = unmasking_part(sequences=1, masks=masks)
    percents = made.unmasked.percents
    each = [sequence(number, percents) for number in range(images)]
    both = tuple(
        one.model_copy(update={"method": method}) for one in each for method in ("middle", "edge")
    )
    return made.model_copy(update={"sequences": both, "total": len(both) * masks})


def played(participant: str, seed: int, study: str = "judged") -> SessionBuilder:
    """A session in which a class is named the more often the more is shown."""
    rng = np.random.default_rng(seed)
    made_of = part()
    play = UnmaskingPlay.of(made_of)
    for trial in range(1, made_of.trials + 1):
        shown, _ = made_of.stimulus(*made_of.at(trial))
        _, mask = made_of.at(trial)
        right = 1 + CLASSES.index(shown.truth)
        play.respond(right if rng.uniform() < 0.3 * mask else 0, after_s=0.4 + 0.1 * mask)
    return of_play(play, participant, study)


@pytest.fixture(scope="module")
def tables() -> Tables:
    made = [played(f"P{number:02d}", number) for number in range(1, 7)]
    return tables_of([SessionRecords.of(paired(one), "test") for one in made])


def test_the_page_is_whole(tables: Tables) -> None:
    page = report(tables, MADE)
    assert not problems(page)
    said = words(page)
    assert "nan" not in said.lower().split()
    for heading in (
        *("Unmasked images", "Confidence by mask (Biessmann and Refiano 2019, Figure 3)"),
        "the model's wrong prediction repeated (Biessmann and Refiano 2019, Figure 9)",
        *("Psychometric functions, fitted (ours)", "Methods compared (ours)"),
        *("The model and its images", "Timing of stimuli and responses"),
    ):
        assert heading in said, heading
    assert "Metrics by model, unmasking" not in said, "this task has no such metrics"
    assert paper.NOT_OURS in said
    assert "Judged explanations, all studies" not in said


def test_studies_without_masked_pictures_say_nothing_of_them(tables: Tables) -> None:
    assert list(of_study("another", findings(tables.included()), "s1")) == []


def test_what_was_shown_is_told() -> None:
    assert describe_group(group()) == (
        "62 participants, 18,600 annotations. Stimulus set faces-unmasking (manifest "
        "abababababab…): 10 images of 2 classes (anger, happiness), with 3 methods (Gradient, "
        "Guided backpropagation, LRP) and 10 masks that show 5, 6, 8, 11, 15, 19, 26, 34, 45, 60 "
        "% of 48 × 48 pixels. Pixels are ranked by their scores; the others become the mean of the "
        "set's pictures. The model (faces/cnn: accuracy 83.5 % on its test images) is wrong on "
        "4 of the 10."
    )


def means() -> Overall:
    """All methods alike but for their place."""
    frame = pd.DataFrame({"method": list(METHODS), "n": 6200, "median_ms": [610.0, 600.0, 605.0]})
    values = {"labels": 0.5, "accuracy": 0.4, "of_labels": 0.8, "ms": 700.0, "repeated": 0.1}
    for name, value in values.items():
        frame[name] = np.array([1.0, 1.2, 1.1]) * value
        frame[f"{name}_low"], frame[f"{name}_high"] = frame[name] * 0.9, frame[name] * 1.1
    by_mask = pd.DataFrame({"percent": [5.0, 15.0], "n": 1860, "ms": [640.0, 1310.4]})
    return Overall(frame, by_mask)


def test_main_results_are_sentences_with_numbers_beside_the_papers() -> None:
    said = {name: (here, printed) for name, here, printed in main_results(found(), means())}
    here, printed = said["Confidence"]
    assert here.startswith(
        "A class was named in 4.7 % [0.0, 9.7] of annotations at 5 % of the pixels, and in 97.6 % "
        "[92.6, 100.0] of annotations at 60 % of the pixels. At 6 %: 139 of 1,860. Over all masks, "
        "most with Guided backpropagation 60.0 % [54.0, 66.0], LRP 55.0 % "
    )
    assert "663 of 1,860 annotations (36 %)" in printed
    assert said["Reaction time"][0].startswith(
        "The mean is longest at 15 % (1,310 ms, all methods). Over all masks: Gradient mean 700 ms "
        "[630, 770], median 610 ms; "
    )
    assert "guessing reaches 50 %" in said["Accuracy"][0]
    assert "right on 6 of 10 (60.0 %)" in said["The model alone"][0]
    assert said["Ranks"][0].startswith(
        "Average ranks, 1 is best: by people Guided backpropagation 1.30 [1.20, 1.40], LRP 2.00 "
    )
    assert "Kendall's tau-b 0.82 [0.72, 0.92]" in said["Ranks"][0]
    assert said["Algorithmic bias"][0].startswith("On 4 images the model is wrong.")
    assert (
        "it is repeated in 900 ms [860, 950] (median 800 ms, n = 900)"
        in said["Algorithmic bias"][0]
    )
    assert said["Thresholds (ours)"] == (
        (
            "The function for naming the true class is half-way between its ends at Guided "
            "backpropagation 10.0 % [9.3, 10.7], LRP 13.0 % [12.1, 13.9], Gradient 18.0 % [16.7, "
            "19.3] of the pixels."
        ),
        "",
    )
    assert "Friedman's χ²(2) = 88.1, p < 0.001 (n = 62)" in said["Methods compared (ours)"][0]
    assert all(bool(printed) != name.endswith("(ours)") for name, (_, printed) in said.items())


def test_thresholds_outside_the_masks_are_none() -> None:
    own = found()
    fits = own.fits.pooled.assign(why=["", "", "", "outside the range of the masks", "", ""])
    moved = replace(own, fits=replace(own.fits, pooled=fits))
    said = {name: here for name, here, _ in main_results(moved, means())}
    assert said["Thresholds (ours)"] == (
        "The function for naming the true class is half-way between its ends at Guided "
        "backpropagation 10.0 % [9.3, 10.7], LRP 13.0 % [12.1, 13.9] of the pixels. No threshold: "
        "Gradient (outside the range of the masks)."
    )


def test_the_tables_of_the_model_stand_beside_the_papers(full: str) -> None:
    assert "Images by class, as in Biessmann and Refiano 2019, Table 1" in full
    assert re.search(r"anger\s+60\s+5\s+45", full)
    assert re.search(r"happiness\s+60\s+5\s+69", full)
    assert re.search(r"anger\s+0\.89\s+paper 0\.48\s+0\.80\s+paper 0\.47", full)
    assert re.search(r"average, weighted by support .*?120\s+paper 114", full)


def test_classes_that_the_paper_does_not_have_stand_alone() -> None:
    own = found()
    other = replace(
        own,
        classes=own.classes.assign(**{"class": ["cat", "dog"]}),
        report=own.report.assign(**{"class": ["cat", "dog", ""]}),
    )
    assert re.search(r"cat\s+60\s+5\s+–", words(sections.classes(other)))
    assert re.search(r"dog\s+0\.82\s+paper –", words(sections.model(other)))


def test_without_a_pool_it_is_said() -> None:
    own = found(1)
    bare = replace(
        own,
        report=own.report.iloc[:0],
        classes=own.classes.assign(n=pd.array([None, None], "Int64")),
    )
    said = section(bare)
    assert "does not say how the model performs" in said
    assert re.search(r"anger\s+–\s+5\s+45", said)
    # And of one participant.
    assert ALONE in said
    assert "No tests: there is one participant." in said


def test_without_the_model_and_of_nobody_there_are_sensible_words() -> None:
    said = section(found(5, model=False))
    assert NO_MODEL in said
    assert "The model alone" not in said
    none = section(nobody())
    assert "No annotations were analysed, so there are no results from people here." in none
    assert "Confidence" not in none
    assert "0 participants, 0 annotations" in none


def test_what_is_computed_of_one_and_of_nobody_is_said_too() -> None:
    """From tables, through everything."""
    for tables, participants in (
        (observed(1, World(images=2, model=False)), "1 participant, 60 annotations"),
        (tables_with(World(images=2), []), "0 participants, 0 annotations"),
    ):
        (one,) = findings(tables)
        said = words("".join(of_study("made-up", [one], "s1")))
        assert participants in said
        assert "nan" not in said.lower().split()


def test_several_groups_of_a_study_are_told_apart() -> None:
    none = nobody()
    other = replace(none, group=replace(none.group, name=f"{STUDY}, fill black"))
    said = section(none, other)
    assert said.count("Unmasked images") == 2
    assert "Unmasked images: fill black" in said


def test_without_an_image_seen_with_every_method_there_are_no_ranks_and_it_is_said() -> None:
    world = World(images=4)
    halves = [
        annotated(row, "P1", row["truth"])
        for row in world.rows()
        if (row["method"] == "lrp") == (row["image"] in ("image-00", "image-01"))
    ]
    bare = replace(world, model=False)
    (one,) = findings(tables_with(bare, halves))
    said = {name: here for name, here, _ in main_results(one, overall(one.group))}
    assert said["Ranks"] == NO_RANKS
    assert NO_RANKS not in section(nobody())


def test_of_one_method_nothing_is_ranked_and_nothing_is_most() -> None:
    world = replace(World(images=4), methods=("lrp",))
    rows = [annotated(row, f"P{n}", row["truth"]) for n in (1, 2) for row in world.rows()]
    (one,) = findings(tables_with(world, rows))
    said = {name: here for name, here, _ in main_results(one, overall(one.group))}
    assert said["Ranks"] == ONE_METHOD
    assert "Over all masks, with LRP 100.0 % [100.0, 100.0]" in said["Accuracy"]
    assert not any("most with" in here or "highest" in here for here in said.values())
    assert not any(plate.name.endswith("-8-ranks") for plate in plates(one))


def test_tests_say_their_n(full: str) -> None:
    assert re.search(r"all masks\s+62\s+χ²\(2\) = 88\.1\s+p < 0\.001", full)
    assert re.search(r"−15\.0\s+p < 0\.001\*", full)


def test_the_mixed_model_is_there_or_says_why_not(full: str) -> None:
    assert "Guided backpropagation, against Gradient" in full
    assert "No mixed logistic model: there is no annotation." in section(
        replace(
            nobody(),
            comparisons=replace(nobody().comparisons, friedman=found(1).comparisons.friedman),
        )
    )


def test_timing_is_told_with_shares_and_percentiles() -> None:
    said = words("".join(timing(group(4))))
    # Every fourth of the made-up participants was timed without a confirmed frame.
    assert re.search(r"the window system confirmed the frame\s+75\.0 %\s+900", said)
    assert re.search(r"which confirms nothing\s+25\.0 %\s+300", said)
    assert re.search(r"the input event's own time stamp\s+90\.0 %\s+1,080", said)
    # Without the first stimulus, which waits for its screen.
    assert "median 9.0 ms, 95th percentile 13.0 ms, 99th 13.0 ms" in said
    assert "16.67 ms (60 Hz)" in said
    assert re.search(r"below 150 ms \(kept\)\s+0\.0 %\s+0", said)
    assert "1,200 annotations count. None was left out." in said


def test_what_was_broken_off_is_counted_by_its_reason() -> None:
    world = World(images=1)
    rows = [annotated(row, "P01", None) for row in world.rows()]
    broken = [
        row | {"excluded": True, "excluded_because": why, "attempt": 2}
        for row, why in zip(rows, ["interrupted before its end"] * 2 + ["practice"], strict=False)
    ]
    said = words("".join(timing(group_of(tables_with(world, rows + broken)))))
    assert "30 annotations count." in said
    assert "2 interrupted before its end, 1 practice." in said


def test_files_of_real_sessions(tmp_path: Path) -> None:
    folders = [played(f"P{n:02d}", n).write(tmp_path / "data") for n in (1, 2, 3)]
    out = tmp_path / "analysis"
    page = analyze(folders, out)
    assert page.name == REPORT
    assert "Unmasked images" in page.read_text("utf-8")
    names = {path.stem for path in (out / FIGURES).iterdir()}
    assert {"unmasking-3-confidence", "unmasking-6-accuracy", "unmasking-8-ranks"} <= names
    assert {path.suffix for path in (out / FIGURES).iterdir()} == {".svg", ".png", ".pdf", ".md"}
    annotations = pd.read_csv(out / "annotations.csv")
    assert len(annotations) == 3 * 24
    assert len(pd.read_csv(out / "masked_predictions.csv")) == 24
    told_ = of_task(out / "statistics.csv")
    assert set(told_["design"]) == {"unmasking"}
    of_labels = told_[(told_["item"] == 3)]
    assert of_labels["n"].sum() == len(annotations)
    dictionary = pd.read_csv(out / "columns.csv")
    for name in ("annotations", "masked_predictions", "statistics"):
        own = dictionary[dictionary["table"] == name]
        assert own["column"].tolist() == list(pd.read_csv(out / f"{name}.csv").columns)
        assert own["meaning"].notna().all()


def test_studies_of_both_sorts_are_analysed_together(tmp_path: Path) -> None:
    """Judged explanations and masked pictures of two studies: nothing gets into the other's way."""
    folders = [
        session(STUDIES[5], 1).write(tmp_path / "data"),
        played("P01", 1, "faces").write(tmp_path / "data"),
        played("P01", 2, "more-faces").write(tmp_path / "data"),
    ]
    out = tmp_path / "analysis"
    page = Page(analyze(folders, out).read_text("utf-8"))
    assert len(page.ids) == len(set(page.ids))
    assert page.text.count("Confidence by mask (Biessmann and Refiano 2019, Figure 3)") >= 2
    names = {path.name for path in (out / FIGURES).iterdir()}
    assert {
        "judging-accuracy.svg",
        "unmasking-1-faces-6-accuracy.svg",
        "unmasking-2-more-faces-6-accuracy.png",
    } <= names
    told_ = of_task(out / "statistics.csv")
    assert set(told_["study"]) >= {STUDIES[5].id, "faces", "more-faces"}


def test_numbers_that_can_be_counted_by_hand() -> None:
    """Three people see two images; guided backpropagation shows enough from 15 % on, LRP to two of
    the three, and the gradient at 45 %. The model is wrong about the first image."""
    world = World(percents=(5.0, 15.0, 45.0), images=2)
    enough = {"gradient": (45, 45, 45), "guided_backprop": (15, 15, 15), "lrp": (15, 15, 45)}
    rows = [
        annotated(
            row,
            f"P{person}",
            row["truth"] if row["percent"] >= enough[row["method"]][person] else None,
            400.0 + 10 * row["percent"],
        )
        for person in range(3)
        for row in world.rows()
    ]
    (one,) = findings(tables_with(world, rows))
    said = {name: here for name, here, _ in main_results(one, overall(one.group))}
    assert said["Confidence"] == (
        "A class was named in 0.0 % [0.0, 0.0] of annotations at 5 % of the pixels, and in 100.0 % "
        "[100.0, 100.0] of annotations at 45 % of the pixels. Over all masks, most with "
        "GUIDED_BACKPROP 66.7 % [66.7, 66.7], LRP 55.6 % [33.3, 66.7], GRADIENT 33.3 % "
        "[33.3, 33.3]."
    )
    assert said["Reaction time"] == (
        "The mean is longest at 45 % (850 ms, all methods). Over all masks: GRADIENT mean 617 ms "
        "[617, 617], median 550 ms; GUIDED_BACKPROP mean 617 ms [617, 617], median 550 ms; LRP "
        "mean 617 ms [617, 617], median 550 ms."
    )
    assert "(ours; guessing reaches 50 %): GRADIENT 100.0 % [100.0, 100.0]" in said["Accuracy"]
    assert "On the whole images it is right on 1 of 2 (50.0 %)." in said["The model alone"]
    by_people = said["Ranks"].split("by people ")[1].split(";")[0]
    assert re.sub(r" \[.*?\]", "", by_people) == "GUIDED_BACKPROP 1.67, LRP 2.00, GRADIENT 2.33"
    assert said["Algorithmic bias"].startswith(
        "On 1 image the model is wrong. Its wrong prediction is repeated most with GRADIENT 0.0 % "
    )
    assert "another class is named in" in said["Algorithmic bias"]
    assert "it is repeated in" not in said["Algorithmic bias"], "nobody did"
