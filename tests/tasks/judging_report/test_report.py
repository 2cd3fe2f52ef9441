"""The report on judged explanations, lengths of explanations, and simulated studies."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import Tables
from labapp.analysis.analyze import FIGURES, analyze, report
from labapp.analysis.inference import SMALLEST
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.base import resources
from labapp.base.report.page import join_parts
from labapp.models.stimuli import library
from labapp.models.stimuli.manifest import Manifest, Method
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.loading import load
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.plan import JudgingTask, PhotoQuestion
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.contents import NO_VALUE, findings, of_study, overview
from labapp.tasks.judging.report.opinions import durations
from labapp.tasks.judging.report.published import (
    INVENTED,
    KNOWN_OBJECTS,
    NOT_OURS,
    design_of,
    find_published,
)
from labapp.tasks.judging.report.statistics import (
    MEAN,
    chance,
    first_wrong_steps,
    lengths,
    of_group,
    of_set,
    remark,
    sentence,
)
from tests.analysis.sessions import paired
from tests.analysis.test_report import MADE, Page
from tests.helpers import hive
from tests.helpers.cohort import STUDIES, Study, cohort, session
from tests.helpers.journals import golden_session
from tests.helpers.judged import JudgedSession
from tests.helpers.pages import problems
from tests.helpers.statistics_table import of_task


@pytest.fixture(scope="module")
def tables() -> Tables:
    return cohort(6)


@pytest.fixture(scope="module")
def alone() -> Tables:
    return cohort(6, [study for study in STUDIES if study.id == "protopnet-agreement"])


@pytest.fixture(scope="module")
def page(tables: Tables) -> str:
    return report(tables, MADE)


def words(page: str) -> str:
    return Page(page).text


def section(tables: Tables) -> str:
    """The words of the task alone, without those of the rest of the page."""
    results = findings(tables.included())
    of_studies = (part for study in results.by_study for part in of_study(study, results))
    return words(join_parts([*of_studies, overview(results)]))


def assert_whole(page: str) -> None:
    assert not problems(page)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).lower().split()


def test_the_page_is_whole(page: str) -> None:
    assert_whole(page)


def test_every_study_has_its_tables_and_all_have_one(page: str, tables: Tables) -> None:
    said = words(page)
    assert said.count("Judged explanations, all studies") == 2, "a heading and a link to it"
    for title in (
        *("Accuracy", "Steps of the tree", "Rated similarity", "Belief in predictions"),
        *("Minimum accuracy at which a black box would be preferred", "Self-rated understanding"),
        *("The score that participants saw", "Between studies", "Understanding, all studies"),
        "Who took part",
    ):
        assert title in said, title
    # The drawn figures: accuracy, ratings by rank, belief, trade-off, understanding, and who took
    # part in each study.
    assert page.count("<figure>") == 5 + len(tables.participants["study"].unique())
    assert "among the written answers." in said
    assert "because of" in said


def test_the_papers_values_stand_beside_with_what_they_are(page: str) -> None:
    said = words(page)
    for printed in ("42.0 ± 15.7", "60.0 ± 18.3", "52.8 ± 19.9, p = 0.33", "86.8 ± 6.5"):
        assert printed in said
    assert "−0.52, p = 0.12" in said
    assert said.count(NOT_OURS) == len(STUDIES) + 1
    assert "42.0 ± 15.7 vs 27.8 ± 16.3, p < .001" in said
    assert "42.0 ± 15.7 vs 56.0 ± 16.4, p < .001" in said
    assert "27.8 ± 16.3, not significant" in said
    assert "3.8 ± 0.9 vs 3.6 ± 1.0, p = 0.006" in said


def test_made_up_labels_are_never_beside_the_papers_without_a_word(
    tables: Tables, page: str
) -> None:
    assert INVENTED in words(page)
    printed = [one for one in findings(tables.included()).all if "labels" in one.study]
    of_labels = [of for of in printed if re.search(r"45\.4|53\.2|36\.8|32\.0$", of.published)]
    assert {of.item for of in of_labels} == {"1", "2", "3"}
    assert all(KNOWN_OBJECTS in of.published for of in of_labels)


def test_studies_alone_are_compared_with_nothing(alone: Tables) -> None:
    page = report(alone, MADE)
    assert_whole(page)
    said = words(page)
    assert "Between studies" not in said
    assert INVENTED not in said
    assert "Understanding, all studies" not in said
    assert "Judged explanations, all studies" in said


def test_what_is_not_judged_says_nothing_of_it(tmp_path: Path) -> None:
    out = tmp_path / "analysis"
    page = analyze([golden_session(tmp_path / "data")], out).read_text()
    # The definitions are the same for all.
    assert "Judged explanations, all studies" not in page
    assert not [path for path in (out / FIGURES).iterdir() if path.name.startswith("judging")]
    statistics = of_task(out / "statistics.csv")
    assert set(statistics["design"]) <= {"within participants", "between participants"}


def test_of_the_last_two_steps_one_end_of_four_is_chance() -> None:
    """Also where the set lists more classes than stand at the ends."""

    def choose(trial: PhotoTrial, question: PhotoQuestion) -> int:
        return question.right or question.first

    made = [
        JudgedSession("path-distinction", f"P{n:02d}", photos=4 + n, choose=choose).builder()
        for n in (1, 2)
    ]
    for one in made:
        for shown in one.rows[0][2].payload.as_dict()["plan"][0]["photos"]:
            shown["options"] = ["finch", "gull", "heron", "ibis", "kite", "lark"]
    found = tables_of([SessionRecords.of(paired(one), "test") for one in made])
    assert set(found.judgements["options"]) == {"finch;gull;heron;ibis"}
    # All are right, of which guessing gets a quarter.
    assert found.participants["above_chance"].tolist() == [5 - 5 / 4, 6 - 6 / 4]
    of_groups = findings(found.included())
    accuracy = [one for one in of_groups.all if one.item == "1" and one.against is not None]
    assert {one.against for one in accuracy} == {25.0}
    (group,) = of_groups.groups
    for options in ("finch;gull", "finch;gull;heron;ibis;kite;lark"):
        told = replace(group, photos=group.photos.assign(options=options))
        assert chance(told, "distinction") == 25.0
    said = section(found)
    assert "differs from chance (25 %)" in said
    assert "with the last two steps of a tree, one in four" in said


def test_chance_is_told_as_it_is() -> None:
    """Of sets with other numbers of classes to choose from too."""
    made = JudgedSession("heatmap-distinction").builder()
    for shown in made.rows[0][2].payload.as_dict()["plan"][0]["photos"]:
        shown["options"] = [*shown["options"], "kite"]
    studies = [made, JudgedSession("prototype-agreement", study="agreed").builder()]
    found = tables_of([SessionRecords.of(paired(one), "test") for one in studies])
    assert "differs from chance (20 %, agreement 50 %)" in section(found)


def test_a_number_of_the_paper_says_where_guessing_gets_another_share_right() -> None:
    found = tables_of(
        [SessionRecords.of(paired(JudgedSession("heatmap-distinction").builder()), "test")]
    )
    (group,) = findings(found.included()).groups
    for options, words in (
        ("finch;gull;heron;ibis", ""),
        ("finch;gull", " (guessing reaches 25 % right there, 50 % here)"),
    ):
        photos = group.photos.assign(options=options)
        told = replace(group, design="gradcam-distinction", photos=photos)
        printed = {one.quantity: one.published for one in of_group(told) if one.item == "1"}
        assert printed == {
            "distinction": f"27.8 ± 16.3, not significant{words}",
            "output prediction": f"34.6 ± 19.0{words}",
        }


def test_a_session_of_other_tasks_too_is_not_timed_beside_the_paper() -> None:
    found = tables_of(
        [SessionRecords.of(paired(JudgedSession("heatmap-distinction").builder()), "test")]
    )
    for tasks, printed in (("heatmap-distinction", "7.0"), ("reconstruction, heatmap", "")):
        own = replace(found, participants=found.participants.assign(tasks=tasks))
        (timed,) = durations(own, "judged", "gradcam-distinction", [])
        assert timed.published == printed


@pytest.mark.parametrize("task", ["path-agreement", "path-first-step"])
def test_where_the_model_first_goes_wrong_is_told(task: JudgingTask) -> None:
    """From the table: a photo that two people judged counts once, one that the model has right not
    at all."""
    firsts = {1: [3, None, 2, 3, None], 2: [3, 1, None, 3, 2]}
    made = []
    for participant, number in (("P01", 1), ("P02", 2), ("P03", 2)):
        one = JudgedSession(task, participant, set=number, photos=10).builder()
        photos = one.rows[0][2].payload.as_dict()["plan"][0]["photos"]
        wrong = [shown for shown in photos if shown["truth"] != shown["prediction"]]
        for shown, first in zip(wrong, firsts[number], strict=True):
            shown["first_wrong"] = first
        made.append(one)
    found = tables_of([SessionRecords.of(paired(one), "test") for one in made])
    (group,) = findings(found.included()).groups
    # Of three steps: the first is the last but two; none where nothing is wrong on the way.
    assert list(first_wrong_steps(group).items()) == [(2, 1), (1, 2), (0, 4), (None, 3)]
    assert (
        "The model has 10 different photos among them wrong; first wrong step of its path: "
        "last but two 1, last but one 2, last 4, none 3 photos."
    ) in section(found)


def test_nothing_is_told_of_wrong_steps_where_the_model_is_right(tables: Tables) -> None:
    for study in ("prototree-distinction", "protopnet-agreement"):
        assert "first wrong step of its path" not in section(tables.of_study(study))


def test_many_studies_are_counted_in_the_title_and_listed_below(page: str) -> None:
    assert "<h1>Report: 9 studies</h1>" in page
    assert "<title>Report: 9 studies</title>" in page
    header = page[page.index("<header>") : page.index("</header>")]
    small = header[header.index('<p class="quiet"><a') :]
    small = small[: small.index("</p>")]
    for study in STUDIES:
        assert f">{study.id}</a>" in small
        assert header.count(f">{study.id}<") == 1, "once in the header"


def test_a_few_studies_are_the_title(tables: Tables) -> None:
    three = [study.id for study in STUDIES[5:8]]
    said = report(tables.of_study(*three), MADE)
    assert f"<h1>Report: {', '.join(sorted(three))}</h1>" in said
    header = said[: said.index("</header>")]
    assert all(f">{study}</a>" in header[header.index("<nav>") :] for study in three)
    four = report(tables.of_study(*three, STUDIES[0].id), MADE)
    assert "<h1>Report: 4 studies</h1>" in four


def test_of_one_session_it_is_said_once_a_quantity_that_no_test_has_a_value() -> None:
    found = cohort(1, [STUDIES[0]])
    said = report(found, MADE)
    quantities = {
        (one.of, one.compared_with) for one in findings(found.included()).all if one.test != MEAN
    }
    assert all(one.p is None for one in findings(found.included()).all)
    assert len(quantities) > 5
    # And once it is said what that means.
    assert words(said).count(NO_VALUE) == len(quantities)
    assert words(said).count("No value: there are too few values, or they do not vary.") == 2


def test_tests_without_a_value_stand_together_below_those_with_one() -> None:
    said = words(report(cohort(2, [STUDIES[0]]), MADE))
    # Of two sessions there is a t, but no W of Shapiro and Wilk.
    assert re.search(r"t\(1\) = \S+, p = \S+ ours: .*? no value: Shapiro–Wilk W", said)


def test_figures_are_files_too(tmp_path: Path) -> None:
    folder = session(STUDIES[5], 1).write(tmp_path / "data")
    out = tmp_path / "analysis"
    analyze([folder], out)
    names = sorted(path.name for path in (out / FIGURES).iterdir())
    assert names == [
        "captions.md",
        *(f"flow.{ending}" for ending in ("pdf", "png", "svg")),
        *(
            f"judging-{name}.{ending}"
            for name in ("accuracy", "belief", "ratings-by-rank", "trade-off", "understanding")
            for ending in ("pdf", "png", "svg")
        ),
    ]
    begins = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml", ".md": b"#"}
    for path in (out / FIGURES).iterdir():
        assert path.read_bytes().startswith(begins[path.suffix])
    assert len((out / "judgements.csv").read_text().splitlines()) == 1 + 6


def test_nobody_who_does_not_count_is_in_a_number(alone: Tables) -> None:
    own = alone.of_study("protopnet-agreement")
    own.participants.loc[own.participants["participant"] == "P01", "included"] = False
    found = findings(own.included())
    assert {one.n for one in found.all if one.item in ("1", "9", "12")} == {5}
    assert all(one.n <= 5 for one in found.all if one.item == "8"), "sliders may be untouched"


def test_stars_need_five_and_a_small_p() -> None:
    studies = [Study("sure", "prototype-agreement", "ProtoPNet", False, 80.0)]
    results = findings(cohort(6, studies).included()).all
    for one in results:
        if one.p is not None:
            smallest = min(one.n, one.n if one.n_2 is None else one.n_2)
            assert one.significant == (one.p < 0.001 and smallest >= SMALLEST)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.id)
def test_the_shipped_studies_are_the_published_ones(study: Study) -> None:
    assert design_of(study.method, study.task, labels=study.labels) == study.id
    known = ("distinction", "agreement")
    assert any(find_published(study.id, name) is not None for name in known)


def test_another_spelling_and_another_method() -> None:
    assert design_of("Grad-CAM", "heatmap-distinction", labels=True) == "gradcam-distinction-labels"
    assert (
        find_published(design_of("LIME", "heatmap-distinction", labels=False), "distinction")
        is None
    )


NONE = pd.DataFrame({"set": [], "photo": [], "of": [], "prototype": []})

SHIPPED = {
    "protopnet-agreement": (4, 6),
    "protopnet-distinction": (4, 6),
    "prototree-agreement": (3, 6),
    "prototree-agreement-tree": (3, 6),
    "prototree-distinction": (1, 4),
}

"""Rows of a class, or steps shown, in the shipped sets."""


def path(*steps: int) -> pd.DataFrame:
    return pd.DataFrame({"set": 1, "photo": range(len(steps)), "n_steps": steps})


def test_each_photo_counts_once_whoever_judged_it() -> None:
    photos = pd.concat([path(3, 6, 6), path(3, 6, 6)])
    assert lengths("path-agreement", photos, NONE) == {3: 1, 6: 2}
    rows = pd.DataFrame(
        [
            {"set": 1, "photo": "p", "of": of, "prototype": f"{of}{n}"}
            for of, many in (("a", 4), ("b", 6))
            for n in range(many)
        ]
    )
    twice = pd.concat([rows, rows])
    assert lengths("prototype-distinction", path(), twice) == {4: 1, 6: 1}
    assert lengths("heatmap-distinction", path(3), rows) == {}


def test_nothing_is_said_where_it_is_as_published_or_nothing_is_known() -> None:
    for here in ({9: 10}, {}):
        assert remark("prototree-agreement", here) == ""
        assert sentence("prototree-agreement", "path-agreement", here) == ""
    assert remark("mine-agreement", {3: 1}) == ""
    assert remark("gradcam-distinction", {3: 1}) == ""


def test_the_words() -> None:
    assert remark("prototree-agreement", {3: 2, 6: 4}) == "with 9 steps, here 3 to 6"
    assert remark("protopnet-agreement", {4: 1}) == "with about 10 rows, here 4"
    said = sentence("prototree-distinction", "path-distinction", {1: 20, 4: 80})
    assert said == (
        "Before the two open steps, 1 to 4 steps of a path are shown (1 in 20 of 100 "
        "photos), in the paper 7 (figure A15)."
    )


def shown(manifest: dict[str, Any]) -> Counter[int]:
    """Steps of the photos, or rows of a class, as the manifest counts them."""
    if manifest["kind"] == "path":
        return Counter(len(photo["rows"]) for photo in manifest["photos"])
    of = {one["id"]: one["of"] for one in manifest["prototypes"]}
    return Counter(
        n
        for photo in manifest["photos"]
        for n in Counter(of[row["prototype"]] for row in photo["rows"]).values()
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_sets_are_as_the_studies_and_the_readme_say(name: str) -> None:
    loaded = load(name)
    comment = " ".join(
        line.removeprefix("#").strip()
        for line in decoded(loaded.files[f"{name}.yaml"]).splitlines()
        if line.startswith("#")
    )
    stimuli = next(
        item.stages.stimuli for item in loaded.study.flow if getattr(item, "stages", None)
    )
    folder = resources.stimuli() / stimuli
    counts = shown(json.loads((folder / "manifest.json").read_text()))
    assert (min(counts), max(counts)) == SHIPPED[name]
    readme = " ".join((resources.stimuli() / "README.md").read_text().split())
    least, most = SHIPPED[name]
    if name == "prototree-distinction":
        assert "these have 3 to 6, so that in the distinction 1 to 4 are shown" in comment
        assert f"1 step in {counts[1]} of {sum(counts.values())} photos" in readme
    else:
        assert f"these have {least} to {most}" in comment
        assert f"{least} to {most}" in readme
    assert paper.LENGTHS[name].source.split(";")[0] in comment


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("birds-prototree", "Paths have 3 to 6 steps, in the paper 9 (figure A16)."),
        (
            "birds-prototree-distinction",
            "Before the two open steps, 1 to 4 steps of a path are shown",
        ),
        ("birds-protopnet", "A class has 4 to 6 rows, in the paper about 10 (figure A14"),
        ("birds-protopnet-distinction", "A class has 4 to 6 rows, in the paper about 10"),
        ("birds-gradcam", ""),
    ],
)
def test_a_set_is_told_by_what_is_in_it(name: str, said: str) -> None:
    manifest = library.load(name).manifest
    assert of_set(manifest).startswith(said)
    assert bool(said) == bool(of_set(manifest))
    other = manifest.model_copy(update={"id": "mine", "method": _named(manifest)})
    assert "paper" not in of_set(other), "another method: the paper had none of it"


def _named(manifest: Manifest) -> Method:
    return manifest.method.model_copy(update={"name": "Mine"})


def decoded(content: bytes) -> str:
    return content.decode()


EXPECTED = {
    # Study: right about the class, about the output, about the model, in percent.
    **{name: {"distinction": 100.0} for name in hive.STUDIES if "distinction" in name},
    **{name: {"agreement": 100.0} for name in hive.STUDIES if "agreement" in name},
    **{
        f"{method}-distinction{labels}": {"distinction": 100.0, "output prediction": 50.0}
        for method in ("gradcam", "bagnet")
        for labels in ("", "-labels")
    },
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One participant of each study who knows the truth."""
    root = tmp_path_factory.mktemp("simulated")
    for name in hive.STUDIES:
        simulate_study(name, 1, "understanding", root / name, seed=5)
    analyze([root / name for name in hive.STUDIES], root / "analysis")
    return root / "analysis"


def test_who_knows_the_truth_is_right_about_all_but_the_output(out: Path) -> None:
    rows = of_task(out / "statistics.csv")
    accuracy = rows[(rows["item"] == 1) & (rows["test"] == "mean")]
    found = {
        study: dict(zip(some["quantity"], some["mean"], strict=True))
        for study, some in accuracy.groupby("study")
    }
    assert found == EXPECTED
    for name in hive.STUDIES:
        own = accuracy[accuracy["study"] == name]
        assert (own["design"] == name).all()
        assert own["published"].notna().all()


def test_every_item_of_the_list_is_there(out: Path) -> None:
    rows = of_task(out / "statistics.csv")
    # 11, the reasons, are listed in the report.
    assert set(rows["item"]) == {*range(1, 11), 12, 13}
    said = Page((out / "report.html").read_text()).text
    assert said.count("Judged explanations, all studies") == 2
    assert "reason" in said
    figures = [path.name for path in (out / "figures").iterdir()]
    assert len([name for name in figures if not name.startswith("flow")]) == 16


def test_who_follows_the_path_believes_every_prediction(tmp_path: Path) -> None:
    simulate_study("prototree-agreement", 2, "explanation", tmp_path / "out", seed=5)
    analyze([tmp_path / "out"], tmp_path / "analysis")
    rows = of_task(tmp_path / "analysis" / "statistics.csv").set_index(["quantity", "test"])
    assert rows.loc[("agreement", "mean"), "mean"].item() == 50.0
    belief = rows.loc[("belief, model wrong", "one-sample t")]
    assert (belief["mean"] >= 3).all()
    ratings = rows.loc[("similarity, others", "mean")]
    assert (ratings["n"] == 0).all()
