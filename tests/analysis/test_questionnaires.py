"""Questionnaires in the tables and in the report: items, scores, reliability and figures, by hand
and against R."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy import optimize
from statsmodels.stats.anova import AnovaRM

from labapp.analysis import analyze as language
from labapp.analysis import load, task_report
from labapp.analysis.analyze import analyze, report, write
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.contents import REPORT, SCRIPT
from labapp.analysis.item_sections import (
    item_sections,
    questionnaires,
    reliability_section,
    short,
)
from labapp.analysis.questionnaires import item_rows
from labapp.analysis.reliability import (
    TWO_DEFINITIONS,
    Matrix,
    Reliability,
    alpha,
    alphas_if_dropped,
    item_rest,
    omega,
    one_factor,
    reliability,
)
from labapp.analysis.tables import Tables, build_frame
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import Findings
from labapp.base import resources
from labapp.base.errors import RecordError
from labapp.base.report import kit
from labapp.base.report.page import join_parts, speaking
from labapp.record.events.commands import Next
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    SessionCompleted,
)
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.study.loading import files_digest
from labapp.tasks.questionnaire.machine import Answer
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_equal_to_r import r_is_missing, r_lacks
from tests.analysis.sessions import builder, records, stage_row
from tests.analysis.test_report import Page
from tests.helpers.journals import SessionBuilder
from tests.helpers.nightly import EVERYTHING
from tests.helpers.questionnaires import TLX_PAIRS, TLX_SUBSCALES, own_study
from tests.helpers.sample import examples
from tests.session.sessions import begin_session

MADE = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)

QUESTIONNAIRE_REPORT_MODELS = ("mnist8k/ae5", "mnist8k/ss5")

SHEETS = {
    "sus": "sus",
    "synthetic-end": "as-answered",
    "nasa-tlx-weights": "nasa-tlx-weights",
    "demographics": None,
    "comments": None,
    "own": None,
}

ITEMS = {"synthetic-end": ("frustrating", "stage_easy_1", "stage_easy_2", "comments")}

"""As an older plan has them, which says nothing of what is asked once a stage."""


def asked(part: str, instrument: str, about: str | None, scoring: str | None) -> dict[str, Any]:
    return {
        "part": "questionnaire",
        "id": part,
        "title": "",
        "instrument": instrument,
        "about": about,
        "items": ITEMS.get(instrument, ()),
        "scoring": scoring,
    }


def session(participant: str, tlx: tuple[int, int], *, included: bool = True) -> SessionBuilder:
    """Two stages with the same gradation for all of NASA-TLX after each, and the sheets at the end.

    The second participant goes through the models the other way round.
    """
    models = (
        QUESTIONNAIRE_REPORT_MODELS if participant == "P01" else QUESTIONNAIRE_REPORT_MODELS[::-1]
    )
    plan: list[dict[str, Any]] = []
    for number, model in enumerate(models, 1):
        plan.append(stage_row(f"stage-{number}", model=model, number=number, of=2))
        plan.append(asked(f"tlx-{number}", "nasa-tlx", f"stage-{number}", "nasa-tlx"))
    plan += [asked(name, name, None, scoring) for name, scoring in SHEETS.items()]
    made = builder(*plan, participant=participant, study="asked")
    t_ns, source, unstamped = made.rows[0]
    planned = replace(unstamped.payload, study_sha256=files_digest(instruments()))
    made.rows[0] = (t_ns, source, replace(unstamped, payload=planned))
    for index, part in enumerate(plan):
        made.at(10 * index + 1, PartStarted(index), part["id"])
        if part["part"] == "questionnaire":
            answers = answers_to(part["instrument"], tlx[int(part["id"] == "tlx-2")], participant)
            payload = QuestionnaireSubmitted(part["instrument"], 1, dict(answers))
            made.at(10 * index + 5, payload, part["id"])
        made.at(10 * index + 9, PartEnded(index, "completed"), part["id"])
    failed = () if included else ("min_solved",)
    made.at(500, InclusionDecided(included, failed, {}))
    made.at(500, SessionCompleted())
    return made


def answers_to(instrument: str, gradation: int, participant: str) -> Mapping[str, Any]:
    if instrument == "nasa-tlx":
        return dict.fromkeys(TLX_SUBSCALES, gradation)
    if instrument == "nasa-tlx-weights":
        return {pair: {"chosen": [first]} for pair, (first, _) in TLX_PAIRS.items()}
    if instrument == "sus":
        return {f"sus_{number}": 5 if number % 2 else 1 for number in range(1, 11)}
    if instrument == "synthetic-end":
        return {"stage_easy_1": 5, "stage_easy_2": 2, "frustrating": 3}
    if instrument == "demographics":
        own = {"chosen": ["woman", "self_described"], "described": "a secret of mine"}
        return {"age": {"chosen": ["from_18_to_34"]}, "gender": own, "job": "a trapeze artist"}
    if instrument == "own":
        return {"trust": 2 if participant == "P01" else 5}
    return {"comments": f"{participant} liked the <rings>"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("asked")
    session("P01", (10, 20)).write(root)
    session("P02", (4, 0)).write(root)
    session("P03", (20, 20), included=False).write(root)
    for made in (root / "asked").glob("sub-*"):
        # What the answers are about is known from the files that the session keeps.
        for name, content in instruments().items():
            (made / "study" / name).parent.mkdir(parents=True, exist_ok=True)
            (made / "study" / name).write_bytes(content)
    return root / "asked"


def instruments() -> dict[str, bytes]:
    """The files of the shipped instruments, as a session keeps them with its study."""
    every = sorted((resources.assets() / "instruments").glob("*.yaml"))
    return {f"instruments/{path.name}": path.read_bytes() for path in every}


@pytest.fixture(scope="module")
def counted(folder: Path) -> Tables:
    return load(folder).included()


@pytest.fixture(scope="module")
def text(counted: Tables) -> str:
    return Page(str(join_parts(questionnaires(counted, "s1")))).text


def section(text: str, title: str, following: str) -> str:
    return text[text.index(title) : text.index(following, text.index(title))]


def test_what_a_score_is_made_of_is_defined(
    counted: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EVERYTHING:  # of all reports that of the published study, which has the score
        monkeypatch.setattr(task_report, "reports", task_report.profiles)
    findings = Findings.find(counted)
    defined = {
        name: said
        for each, results in findings.of.items()
        for name, said in each.defined(findings.counted, results).items()
    }
    meaning = defined["Difficulty (after the quiz)"]
    assert "6 minus the answer to “Stage k was easy”" in str(meaning)


def test_workload_by_model(text: str) -> None:
    tlx = section(text, "Questionnaire nasa-tlx", "Questionnaire sus")
    # ae5: P01 first (50), P02 second (0); ss5: P01 second (100), P02 first (20).
    for name in ("Mental demand", "Effort", "Raw TLX", "Weighted TLX"):
        row = tlx[tlx.index(name) :]
        row = row[: row.index("n = 2", row.index("n = 2") + 1)]
        assert "25.0 ± 35.4 median 25.0, n = 2" in row
        assert "60.0 ± 56.6 median 60.0," in row


def test_workload_has_a_figure_with_units_and_n(folder: Path) -> None:
    source = report(load(folder), MADE)
    assert "Workload by model" not in source, "it is among the figures of models, drawn once"
    drawing = source[source.index('aria-label="Ratings by model') :]
    drawing = drawing[: drawing.index("</svg>")]
    for said in ("Mental demand", "Weighted TLX", "n\u2009=\u20092", "0–100", ">ae5<", ">ss5<"):
        assert said in drawing


def test_statements_about_a_stage_are_told_by_its_model(text: str) -> None:
    end = section(text, "Questionnaire synthetic-end", "Questionnaire nasa-tlx-weights")
    # "Stage 1 was easy" is about ae5 for P01 and about ss5 for P02.
    easy = end[end.index("Stage easy") :]
    assert easy.count("3.50 ± 2.12 median 3.50, n = 2") == 2
    assert "Frustrating the answer as it is – – 3.00 ± 0.00 median 3.00, n = 2" in end


def test_scores_of_the_whole_session(text: str) -> None:
    sus = section(text, "Questionnaire sus", "Questionnaire synthetic-end")
    assert "100.0 ± 0.0 median 100.0, n = 2" in sus


def test_ratings_without_a_scoring_are_told_too(text: str) -> None:
    """And those that have one not a second time."""
    own = section(text, "Ratings Mean", "Demographics Instrument")
    assert "own trust whole session 3.50 ± 2.12 median 3.50, n = 2" in own
    assert own.count("n = 2") == 1, "once each"


def test_people_are_told_in_counts_alone(text: str) -> None:
    people = section(text, "Demographics", "Written answers")
    assert "demographics age from 18 to 34 2 2" in people
    assert "demographics gender self described 2 2" in people
    assert "demographics gender woman 2 2" in people
    assert "secret" not in text
    assert "trapeze" not in text


def test_written_answers_are_listed(text: str) -> None:
    listed = text[text.index("Written answers") :]
    assert "P01 comments comments whole session P01 liked the <rings>" in listed
    assert "P02 liked" in listed
    assert "P03" not in listed, "it does not count"


def test_a_deidentified_bundle_tells_nothing_of_people(folder: Path, tmp_path: Path) -> None:
    sessions = sorted(path for path in folder.iterdir() if path.is_dir())
    bundle = export(sessions, tmp_path / "bundle", deidentify=True)
    text = Page(report(load(bundle), MADE)).text
    assert "Questionnaire nasa-tlx" in text
    assert "Demographics" not in text
    assert "Written answers" not in text
    assert "withheld" not in text


def test_answers_say_what_kind_they_are(folder: Path) -> None:
    kinds = load(folder).answers.drop_duplicates("item").set_index("item")["kind"]
    assert kinds["effort"] == "rating"
    assert kinds["gender"] == "choice"
    assert kinds["comments"] == "written"


RELIANCE = """\
id: reliance
version: 2
title: Reliance
source: Made for the tests.
order: shuffled
scale: {points: 5, low: not at all, high: completely, numbers: true}
scores:
  reliance: {mean: [rely, wary, trust], reverse: [wary], from: 0, meaning: 4 most}
items:
  - {id: rely, kind: statement, identifying: no, required: no, text: I would rely on this model.}
  - {id: wary, kind: statement, identifying: no, required: no, text: I am wary of this model.}
  - {id: trust, kind: statement, identifying: no, required: no, text: I trust it.}
  - {id: reads, kind: statement, identifying: no, check: 2, text: Please choose 2.}
  - {id: why, kind: written, identifying: yes, required: no, text: "Why?"}
"""

ANSWERS = {"rely": 5, "wary": 2, "trust": 4, "reads": 2}


@pytest.fixture(scope="module")
def session_items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    made = begin_session(folder, study=own_study(folder / "study", RELIANCE))
    for item, value in ANSWERS.items():
        made.runner.send(Answer(item, value))
    made.runner.send(Next())
    made.close("test over")
    return made.folder.path


@pytest.fixture(scope="module")
def tables(session_items: Path) -> Tables:
    return load(session_items)


def test_items_stand_in_the_order_of_their_file_with_all_their_words(tables: Tables) -> None:
    items = tables.items[tables.items["instrument"] == "reliance"]
    assert list(items["item"]) == ["rely", "wary", "trust", "reads", "why"]
    assert list(items["listed"]) == [1, 2, 3, 4, 5]
    wary = items.iloc[1]
    assert (wary["text"], wary["low"], wary["high"]) == ("I am wary of this model.", 1, 5)
    assert json.loads(wary["answers"]) == {"1": "not at all", "5": "completely"}
    assert (wary["reversed_in"], wary["language"], wary["instrument_version"]) == (
        "reliance", "en", 2,
    )  # fmt: skip
    assert items["reversed_in"].notna().sum() == 1
    assert items.iloc[3]["check"] == "2"
    assert items["only_if"].isna().all()


def test_conditions_stand_with_the_items(tmp_path: Path) -> None:
    text = RELIANCE.replace("shuffled", "fixed").replace('text: "W', 'only_if: {wary: 5}, text: "W')
    asked = Instrument.parse(tmp_path / "reliance.yaml", text.encode())
    *others, why = item_rows([asked], "en")
    assert json.loads(why["only_if"]) == {"wary": [5]}
    assert all(item["only_if"] is None for item in others)


def test_the_place_on_the_screen_stands_with_the_answer(
    tables: Tables, session_items: Path
) -> None:
    planned = open_record(session_items).planned.plan
    (part,) = (part for part in planned if part.get("instrument") == "reliance")
    order = list(part["items"])
    assert sorted(order) == sorted([*ANSWERS, "why"])
    answers = tables.answers
    assert {row["item"]: row["place"] for _, row in answers.iterrows()} == {
        item: order.index(item) + 1 for item in answers["item"]
    }


def test_the_score_can_be_made_again_from_the_tables(tables: Tables) -> None:
    asked = tables.answers.merge(tables.scales, on=["study", "instrument", "item"])
    counts = asked["value"].where(~asked["reversed"], asked["low"] + asked["high"] - asked["value"])
    assert (counts + asked["moved"]).mean() == tables.scores["value"].iloc[0] == (4 + 3 + 3) / 3


def test_a_bundle_gives_the_same_tables_and_says_what_the_numbers_mean(
    session_items: Path, tables: Tables, tmp_path: Path
) -> None:
    bundle = export([session_items], tmp_path / "bundle")
    again = load(bundle)
    for name in ("items", "scales", "answers", "scores"):
        assert again.by_name()[name].equals(tables.by_name()[name]), name
    sidecar = json.loads((bundle / "phenotype" / "reliance.json").read_text())
    (wary,) = (column for name, column in sidecar.items() if name.endswith("_wary"))
    assert wary["Levels"] == {
        "1": "not at all", "2": "2", "3": "3", "4": "4", "5": "completely",
    }  # fmt: skip
    assert wary["Description"].startswith("I am wary of this model.")
    assert wary["Description"].endswith("In the score reliance it is reverse-scored.")
    (rely,) = (column for name, column in sidecar.items() if name.endswith("_rely"))
    assert "other way round" not in rely["Description"]


DRAWN = True

LONG = "I trust it, because " + "it has been right whenever I looked and " * 4 + "so on."


@pytest.fixture(scope="module")
def tables_item_sections(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("asked")
    text = RELIANCE.replace("I trust it.", f'"{LONG}"')
    simulate_study(str(own_study(folder / "study", text)), 4, "understanding", folder / "data")
    return load(folder / "data").included()


@pytest.fixture(scope="module")
def page(tables_item_sections: Tables) -> str:
    scales = reliability_section(of(tables_item_sections), tables_item_sections)
    return "".join([*item_sections(tables_item_sections, "s1"), *scales])


def test_items_stand_in_the_order_of_the_file_with_what_is_reversed_in_words(page: str) -> None:
    items = page[page.index("<table") : page.index("Reliability")]
    places = [items.index(name) for name in (">rely<", ">wary, reverse-scored", ">trust<")]
    assert places == sorted(places)
    assert items.count("reverse-scored") == 1
    assert "1: not at all; 5: completely." in page
    assert "Please choose 2" not in page, "a check is no item of the questionnaire"


WIDE = """\
id: felt
version: 1
title: How it felt
source: Made for the tests.
items:
  - {id: hard, kind: scale, points: 21, low: easy, high: hard, identifying: no, text: "How hard?"}
  - {id: good, kind: scale, points: 5, low: bad, high: good, identifying: no, text: "How good?"}
  - {id: sure, kind: slider, identifying: no, text: "How sure?", low: 20, high: 80}
  - {id: often, kind: slider, identifying: no, text: "How often?", low: 20, high: 80}
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("felt")
    simulate_study(str(own_study(folder / "study", WIDE)), 3, "understanding", folder / "data")
    tables = load(folder / "data").included()
    tables.answers.loc[tables.answers["item"] == "often", "touched"] = [False, True, None]
    return tables


@pytest.fixture(scope="module")
def wide_page(wide: Tables) -> str:
    return "".join(item_sections(wide, "s1"))


def test_many_numbers_are_strips_over_the_range_of_the_file(wide_page: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", wide_page, re.DOTALL)
    assert len(figures) == 3, "bars, 21 points, and both sliders, which have the same range"
    bars, points, sliders = figures
    assert ("How good?" in bars, "How hard?" in points) == (True, True)
    assert ("How sure?" in sliders, "How often?" in sliders) == (True, True)
    assert "1: easy; 21: hard." in points
    for figure, ends in ((points, "1 11 21"), (sliders, "20 50 80")):
        ticks = re.findall(r">(\d+)</text>", figure)
        assert " ".join(ticks) == ends
    left_out = "Sliders that were not touched count as no answer and are left out: 1."
    assert (left_out in points, left_out in sliders) == (False, True)


def test_many_numbers_are_told_by_their_ends(wide: Tables, wide_page: str) -> None:
    tables = wide_page[wide_page.index("The numbers that were given") :]
    for item, untouched in (("hard", []), ("sure", [0]), ("often", [1])):
        own = wide.answers[wide.answers["item"] == item]
        values = own.loc[own["touched"].ne(other=False).fillna(value=True), "value"]
        row = tables[tables.index(f">{item}<") :]
        cells = re.findall(r"<td[^>]*>(\d+)</td>", row[: row.index("</tr>")])
        assert [*map(int, cells)] == [int(values.min()), int(values.max()), *untouched], item


def test_every_answer_lies_on_its_number_in_a_strip() -> None:
    values = np.array([3.0, 20.0, 20.0, 7.5, 11.0])
    ax = Figure().subplots()
    kit.lying_strip(ax, 2.0, values)
    given, mean = ax.lines
    assert list(np.asarray(given.get_xdata())) == list(values)
    assert np.asarray(mean.get_xdata())[0] == pytest.approx(values.mean())
    (box,) = ax.patches
    assert isinstance(box, Rectangle)
    ends = [box.get_x(), box.get_x() + box.get_width()]
    assert ends == pytest.approx(np.percentile(values, [25, 75]))
    plain = Figure().subplots()
    kit.lying_strip(plain, 0.0, values)
    assert all(len(line.get_xdata()) for line in plain.lines), "no mark without a place"
    many = Figure().subplots()
    kit.lying_strip(many, 0.0, np.arange(61.0))
    assert len(many.lines) == 1, "of so many only the mean is a mark"


def test_strips_are_told_in_german_too(wide: Tables) -> None:
    spoken, _ = language.choose_language(wide, "de")
    assert spoken is not None
    with speaking(spoken):
        page = "".join(str(part) for part in item_sections(wide, "s1"))
    assert "Regler, die nicht bewegt wurden, gelten als nicht beantwortet" in page
    own = {*wide.items["text"], *wide.items["item"], "felt"}
    english = {text for text in spoken.missing if text not in own and " " in text}
    assert not english


def test_long_words_are_cut_at_a_blank(tables_item_sections: Tables, page: str) -> None:
    assert LONG not in page
    assert short(LONG) in page
    assert short(LONG).endswith(" …")
    assert LONG.startswith(short(LONG).removesuffix(" …"))
    assert tables_item_sections.items.set_index("item")["text"]["trust"] == LONG


def test_every_answer_is_counted(tables_item_sections: Tables, page: str) -> None:
    answers = tables_item_sections.answers[tables_item_sections.answers["item"] == "rely"]["value"]
    row = page[page.index(">rely<") :]
    cells = re.findall(r"<td[^>]*>(\d+)</td>", row[: row.index("</tr>")])
    assert [int(cell) for cell in cells] == [int((answers == n).sum()) for n in range(1, 6)]


def test_scales_have_alpha_omega_and_the_reasons(tables_item_sections: Tables) -> None:
    (scale,) = of(asked_reliability(study(n=20), per_stage=False))
    page = "".join(reliability_section([scale], tables_item_sections))
    assert scale.alpha.value is not None
    assert scale.omega.value is not None
    assert f"{scale.alpha.value:.2f}" in page
    assert f"{scale.omega.value:.2f}" in page
    (few,) = of(asked_reliability(study(n=4), per_stage=False))
    page = "".join(reliability_section([few], tables_item_sections))
    assert "Alpha and omega, reliance: fewer than 5 people answered all items." in page


def test_an_analysis_has_the_tables_and_the_section(tmp_path: Path) -> None:
    data = tmp_path / "data"
    simulate_study(str(own_study(tmp_path / "study", RELIANCE)), 5, "understanding", data)
    page = analyze([data], tmp_path / "out").read_text()
    for name in ("items", "scales", "reliability"):
        assert (tmp_path / "out" / f"{name}.csv").is_file()
    assert "Items of reliance" in page
    assert "Reliability of the scales" in page
    assert "check_scale(" in (tmp_path / "out" / "analysis.R").read_text()


def ask(part: str, instrument: str, about: str | None = None, **more: Any) -> dict[str, Any]:
    row = {
        "part": "questionnaire",
        "id": part,
        "title": "",
        "instrument": instrument,
        "about": about,
    }
    return row | {"scoring": instrument} | more


def scores(*asked: tuple[dict[str, Any], dict[str, Any] | None]) -> list[Row]:
    """The rows of scores after these parts, each answered so (None: shown and not submitted)."""
    made = builder(stage_row(), *(part for part, _ in asked))
    for index, (part, answers) in enumerate(asked, start=1):
        made.at(10 * index, PartStarted(index), part["id"])
        if answers is None:
            made.at(10 * index + 1, ResponseChanged(part["instrument"], "seq", 2), part["id"])
        else:
            payload = QuestionnaireSubmitted(part["instrument"], 3, answers)
            made.at(10 * index + 2, payload, part["id"])
    return records(made).rows()["scores"]


RATINGS = dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True))

PAIRS = {item: {"chosen": [pair[0]]} for item, pair in TLX_PAIRS.items()}

"""Weights 5 4 3 2 1 0 in the order of the subscales."""


def test_a_row_a_score_with_what_it_is_about() -> None:
    rows = scores((ask("t", "nasa-tlx", "stage-1"), RATINGS))
    by_name = {row["score"]: row for row in rows}
    assert list(by_name) == [*TLX_SUBSCALES, "raw_tlx"]
    row = by_name["temporal_demand"]
    assert (row["value"], row["low"], row["high"]) == (60.0, 0, 100)
    assert (row["stage"], row["about"], row["instrument_version"]) == ("t", "stage-1", 3)
    assert row["model"] == stage_row()["model"]
    assert "weighted_tlx" not in by_name


def test_the_weighted_workload_takes_the_weights_about_the_same_stage() -> None:
    whole = sum(w * 5 * r for w, r in zip((5, 4, 3, 2, 1, 0), RATINGS.values(), strict=True))
    other = {item: {"chosen": [pair[1]]} for item, pair in TLX_PAIRS.items()}
    rows = scores(
        (ask("t", "nasa-tlx", "stage-1"), RATINGS),
        (ask("w-all", "nasa-tlx-weights"), other),
        (ask("w-1", "nasa-tlx-weights", "stage-1"), PAIRS),
    )
    (weighted,) = (row for row in rows if row["score"] == "weighted_tlx")
    assert weighted["value"] == whole / 15
    assert (weighted["stage"], weighted["instrument"]) == ("t", "nasa-tlx")
    rows = scores(
        (ask("w-all", "nasa-tlx-weights"), PAIRS), (ask("t", "nasa-tlx", "stage-1"), RATINGS)
    )
    (weighted,) = (row for row in rows if row["score"] == "weighted_tlx")
    assert weighted["value"] == whole / 15, (
        "those about the whole session, where there are no other"
    )


def test_what_was_not_submitted_or_names_no_function_has_no_score() -> None:
    assert scores((ask("s", "seq"), None)) == []
    assert scores((ask("c", "comments", scoring=None), {"comments": "fine"})) == []
    with pytest.raises(RecordError, match="the scoring 'of tomorrow' is unknown here"):
        scores((ask("c", "own", scoring="of tomorrow"), {"a": 1}))


def test_items_as_they_are_have_no_limits_of_a_score() -> None:
    (row,) = scores((ask("u", "mine", scoring="as-answered"), {"effort": 4, "why": "so"}))
    assert (row["score"], row["value"], row["low"], row["high"]) == ("effort", 4.0, None, None)


@pytest.mark.parametrize(
    ("instrument", "said"),
    [
        ("synthetic-end", {}),  # an older plan says nothing of it: the shipped file does
        ("of-my-own", {"per_stage": ["stage_easy"]}),
    ],
)
def test_what_is_asked_once_a_stage_is_about_that_stage(
    instrument: str, said: dict[str, Any]
) -> None:
    items = ["frustrating", "stage_easy_1", "stage_easy_2"]
    asked = ask("end", instrument, scoring="as-answered", items=items, **said)
    rows = scores((asked, {"frustrating": 3, "stage_easy_1": 5, "stage_easy_2": 4}))
    told = [(row["score"], row["about"], row["value"]) for row in rows]
    assert told == [
        ("frustrating", None, 3.0),
        ("stage_easy", "stage-1", 5.0),
        ("stage_easy_2", None, 4.0),  # the plan has no such stage
    ]
    assert rows[1]["model"] == stage_row()["model"]


def test_a_plan_from_before_scoring_still_has_its_seq() -> None:
    old = ask("s", "seq", "stage-1")
    del old["scoring"]
    (row,) = scores((old, {"seq": 6}))
    assert (row["score"], row["value"]) == ("seq", 6.0)


@pytest.mark.parametrize(
    ("instrument", "said", "about_person"),
    [
        ("lab-demographics", {}, True),
        ("demography", {}, False),
        ("demographics", {"about_person": False}, False),
        ("us", {"about_person": True}, True),
    ],
)
def test_whom_it_asks_about_the_plan_says_and_of_an_older_one_the_name(
    instrument: str, said: dict[str, Any], about_person: bool
) -> None:
    made = builder(ask("q", instrument, scoring=None, **said))
    made.at(1, PartStarted(0), "q")
    made.at(2, ResponseChanged(instrument, "age", 3), "q")
    assert [row["about_person"] for row in records(made).rows()["answers"]] == [about_person]


def test_choices_and_what_was_written_beside_them() -> None:
    made = builder(ask("d", "demographics", scoring=None))
    made.at(1, PartStarted(0), "d")
    own = {"chosen": ["woman", "own"], "described": "my words"}
    made.at(2, ResponseChanged("demographics", "gender", {"chosen": ["man"]}), "d")
    made.at(4, ResponseChanged("demographics", "gender", own), "d")
    made.at(5, ResponseChanged("demographics", "age", {"chosen": ["from_70"]}), "d")
    made.at(6, ResponseChanged("demographics", "age", {"chosen": []}), "d")
    made.at(7, QuestionnaireSubmitted("demographics", 1, {"gender": own}), "d")
    rows = {row["item"]: row for row in records(made).rows()["answers"]}
    gender, age = rows["gender"], rows["age"]
    assert (gender["value_text"], gender["described"]) == ("woman;own", "my words")
    assert (gender["first_value_text"], gender["first_s"], gender["last_s"]) == ("man", 1.0, 3.0)
    assert (gender["changes"], gender["submitted_s"]) == (1, 6.0)
    assert (age["value_text"], age["first_value_text"], age["submitted"]) == (
        None,
        "from_70",
        False,
    )


_NUMBERS = """
43 51 30 39 61 92 45 63 64 51 54 63 73 47 71 70 68 69 76 86 48 61 63 45 47 54 84 35
81 78 56 66 71 83 47 43 55 49 44 54 49 34 58 67 42 56 66 68 35 71 75 50 55 70 66 41
72 82 72 67 71 83 31 67 61 45 47 62 80 41 64 53 53 58 58 67 34 67 60 47 39 59 74 41
69 62 57 42 55 63 25 68 83 83 45 59 77 35 77 77 54 72 79 77 46 81 90 50 72 60 54 36
74 85 64 69 79 79 63 65 60 65 75 55 80 60 65 70 46 57 75 85 46 50 58 68 54 64 78 52
50 40 33 34 43 64 33 64 61 52 62 66 80 41 53 66 52 50 63 80 37 40 37 42 58 50 57 49
63 54 42 48 66 75 33 66 77 66 63 88 76 72 78 75 58 74 80 78 49 48 57 44 45 51 83 38
85 85 71 71 77 74 55 82 82 39 59 64 78 39
"""

ATTITUDE = np.array(_NUMBERS.split(), dtype=float).reshape(30, 7)

"""`attitude` of R: seven shares of favourable answers in 30 departments (Chatterjee and Price)."""


def test_alpha_is_that_of_psych() -> None:
    """psych::alpha(attitude): closed forms."""
    found = alpha(ATTITUDE)
    assert found.value == pytest.approx(0.843142769565, abs=1e-8)
    assert (found.low, found.high) == (
        pytest.approx(0.7393757, abs=5e-8),
        pytest.approx(0.9157731, abs=5e-8),
    )
    assert alphas_if_dropped(ATTITUDE) == pytest.approx(
        [0.809760206309, 0.796917457274, 0.827847765939, 0.803030975023, 0.795386574198,
         0.863872311446, 0.840464868265], abs=1e-8,
    )  # fmt: skip
    assert item_rest(ATTITUDE) == pytest.approx(
        [0.671262057224, 0.742109710222, 0.560711111480, 0.714445498134, 0.786275593834,
         0.265034339197, 0.460810549468], abs=1e-8,
    )  # fmt: skip


def test_omega_is_that_of_factanal_and_psych() -> None:
    """factanal(attitude, 1) and psych::fa(attitude, 1, fm = "ml"); omega of the raw items from
    factanal, of standardised ones psych::omega(attitude, 1, fm = "ml")$omega.tot."""
    found = omega(ATTITUDE)
    assert found.value == pytest.approx(0.856326792898, abs=1e-4)
    psych = [0.852477611320, 0.902238263313, 0.592706101054, 0.730699091943, 0.764994952485,
             0.246093054617, 0.377847920053]  # fmt: skip
    assert found.loadings == pytest.approx(psych, abs=1e-4)
    correlations = np.corrcoef(ATTITUDE, rowvar=False)
    _, own, converged = one_factor(correlations)
    assert converged
    assert 1 - own.sum() / correlations.sum() == pytest.approx(0.848156187752, abs=1e-4)


def test_no_other_factor_is_more_likely() -> None:
    """The likelihood written out, minimised over loadings and own variances by another method."""
    correlations = np.corrcoef(ATTITUDE, rowvar=False)

    def misfit(parameters: Matrix) -> float:
        loadings, own = parameters[:7], np.exp(parameters[7:])
        model = np.outer(loadings, loadings) + np.diag(own)
        told = np.linalg.slogdet(model)[1] - np.linalg.slogdet(correlations)[1]
        return float(told + np.trace(np.linalg.solve(model, correlations)) - 7)

    loadings, own, _ = one_factor(correlations)
    ours = misfit(np.concatenate([loadings, np.log(own)]))
    other = optimize.minimize(misfit, np.concatenate([np.full(7, 0.5), np.log(np.full(7, 0.5))]))
    assert ours <= other.fun + 1e-8
    assert other.x[:7] == pytest.approx(loadings, abs=1e-3)


def scale(n: int, k: int, seed: int) -> Matrix:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
    return np.asarray(np.clip(np.round(4 + made), 1, 7), dtype=np.float64)


@pytest.mark.parametrize(
    ("rows", "why_alpha", "why_omega"),
    [
        (scale(4, 5, 1), "fewer than 5 people", "fewer than 5 people"),
        (np.column_stack([scale(20, 4, 2), np.full(20, 3.0)]), "the same answer", "same answer"),
        (
            np.column_stack([scale(20, 1, 3), 8 - scale(20, 1, 3)]),
            "negatively correlated on average",
            "3 items",
        ),
        (scale(30, 2, 4), "", "fewer than 3 items"),
        (scale(6, 6, 5), "", "too few people"),
        (np.column_stack([scale(30, 3, 6)] * 2), "", "can be computed from others"),
        (scale(30, 1, 7), "one item", "one item"),
    ],
)
def test_what_cannot_be_said_is_told_with_the_reason(
    rows: Matrix, why_alpha: str, why_omega: str
) -> None:
    found, of_factor = alpha(rows), omega(rows)
    assert (found.value is None) == bool(why_alpha)
    assert why_alpha in found.why
    assert of_factor.value is None
    assert why_omega in of_factor.why


def test_an_item_that_goes_against_the_others_is_told() -> None:
    rows = scale(60, 5, 8)
    rows[:, 2] = 8 - rows[:, 2]
    assert "should be reversed" in omega(rows).why
    rows[:, 2] = 8 - rows[:, 2]
    assert omega(rows).why == ""


def test_a_factor_that_explains_an_item_wholly_gives_no_number() -> None:
    rng = np.random.default_rng(3)
    factor = rng.normal(size=200)
    noise = rng.normal(size=(200, 2))
    rows = np.column_stack([factor, factor[:, None] + 0.8 * noise])
    rows[:, 1:] -= 0.5 * noise.mean(axis=1, keepdims=True)
    found = omega(rows)
    assert found.value is None
    assert "Heywood" in found.why


@examples(40)
@given(arrays(np.float64, (12, 4), elements=st.integers(1, 7).map(float)))
def test_what_must_hold_of_any_answers(rows: Matrix) -> None:
    found = alpha(rows)
    assert (found.value is None) == bool(found.why)
    if found.value is not None:
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high <= 1
        moved = alpha(3 * rows[:, ::-1] + 2)
        assert moved.value == pytest.approx(found.value)
    of_factor = omega(rows)
    if of_factor.value is not None:
        assert 0 <= of_factor.value < 1
        assert omega(8 - rows).value == pytest.approx(of_factor.value, abs=1e-4)


RELIABILITY_ITEMS = ("rely", "trust", "wary", "good", "depend", "use")

REVERSED = "wary"


def asked_reliability(
    tables: Tables,
    versions: Sequence[int] = (1,),
    *,
    per_stage: bool = True,
    gaps: int = 0,
    rule: str = "mean",
    enough: int = 6,
) -> Tables:
    """The sheets of six items, one of them reversed, after each stage or once; gaps: so many people
    leave the first item out."""
    rng = np.random.default_rng(5)
    frames = tables.by_name()
    shared = {"study": "own", "instrument": "reliance"}
    people = frames["stages"].drop_duplicates(None if per_stage else "participant")
    answers, scores = [], []
    for at, stage in enumerate(people.to_dict("records")):
        person = int(stage["participant"][1:]) - 1
        version = versions[person % len(versions)]
        kept = ("participant", "session", "model", "position")
        who = {name: stage[name] for name in kept if name in stage} | {
            name: value for name, value in stage.items() if name.startswith("factor_")
        }
        who |= shared | {"stage": f"asked-{at}", "instrument_version": version}
        if not per_stage:
            who["model"] = None
        true = rng.normal()
        given = {
            item: int(np.clip(round(4 + weight * true + rng.normal()), 1, 7))
            for item, weight in zip(RELIABILITY_ITEMS, (1.4, 1.2, -1.0, 0.8, 1.1, 0.6), strict=True)
        }
        if person < gaps:
            del given[RELIABILITY_ITEMS[0]]
        answers += [
            who | {"item": item, "value": value, "kind": "rating", "submitted": True, "asked": True}
            for item, value in given.items()
        ]
        counts = [8 - value if item == REVERSED else value for item, value in given.items()]
        if len(counts) >= enough:
            value = np.mean(counts) * (6 if rule == "sum" else 1)
            scores.append(who | {"score": "reliance", "value": value, "meaning": "most"})
    scales = [
        shared | {
            "instrument_version": version, "score": "reliance", "rule": rule, "n_items": 6,
            "enough": enough, "listed": listed, "item": item, "reversed": item == REVERSED,
            "low": 1, "high": 7, "moved": 0, "times": 1,
        }
        for version in versions
        for listed, item in enumerate(RELIABILITY_ITEMS, start=1)
    ]  # fmt: skip
    columns = tables.columns
    made = {"answers": answers, "scores": scores, "scales": scales}
    frames |= {name: build_frame(rows, columns[name]) for name, rows in made.items()}
    return Tables.of(frames, frames["snapshots"])


def of(tables: Tables) -> list[Reliability]:
    return list(reliability(tables, read_declaration(tables, "own")))


def matrix(tables: Tables, **where: Any) -> np.ndarray[Any, Any]:
    rows = tables.answers
    for name, value in where.items():
        rows = rows[rows[name] == value]
    wide = rows.pivot_table(index=["participant", "stage"], columns="item", values="value")
    wide[REVERSED] = 8 - wide[REVERSED]
    return wide[list(RELIABILITY_ITEMS)].dropna().to_numpy(dtype=float)


def by_hand(rows: np.ndarray[Any, Any]) -> float:
    own = rows.var(axis=0, ddof=1).sum() / rows.sum(axis=1).var(ddof=1)
    return float(6 / 5 * (1 - own))


def test_each_occasion_stands_by_itself() -> None:
    tables = asked_reliability(study(n=20))
    found = of(tables)
    assert [result.occasion for result in found] == sorted(MODELS)
    for result in found:
        assert (len(result.complete), result.cells) == (20, ("model",))
        assert result.alpha.value == pytest.approx(by_hand(matrix(tables, model=result.occasion)))
        assert result.omega.value is not None


def test_what_is_asked_once_is_one_occasion() -> None:
    (found,) = of(asked_reliability(study(n=20), per_stage=False))
    assert (found.occasion, found.cells, len(found.complete)) == ("", (), 20)


def test_the_same_asked_again_is_another_occasion() -> None:
    tables = asked_reliability(study(n=10, models=MODELS[:1]))
    again = tables.answers.assign(stage=tables.answers["stage"] + "-later")
    frames = tables.by_name() | {"answers": pd.concat([tables.answers, again], ignore_index=True)}
    found = of(Tables.of(frames, frames["snapshots"]))
    assert [result.occasion for result in found] == ["", "time 2"]
    assert {len(result.complete) for result in found} == {10}


def test_versions_are_never_pooled() -> None:
    found = of(asked_reliability(study(n=24), (1, 2), per_stage=False))
    assert [(r.about["instrument_version"], len(r.complete)) for r in found] == [(1, 12), (2, 12)]


def test_a_scale_that_is_declared_in_two_ways_has_no_number() -> None:
    tables = asked_reliability(study(n=20), per_stage=False)
    other = tables.scales.assign(reversed=False)
    frames = tables.by_name() | {"scales": pd.concat([tables.scales, other], ignore_index=True)}
    (found,) = of(Tables.of(frames, frames["snapshots"]))
    assert (found.alpha.value, found.alpha.why) == (None, TWO_DEFINITIONS)


def test_missing_answers_are_counted() -> None:
    tables = asked_reliability(study(n=20), per_stage=False, gaps=7)
    (found,) = of(tables)
    assert (len(found.complete), found.n_incomplete, found.n_unscored) == (13, 7, 7)
    (found,) = of(asked_reliability(study(n=20), per_stage=False, gaps=7, enough=5))
    assert (len(found.complete), found.n_incomplete, found.n_unscored) == (13, 7, 0)


def test_too_few_people_are_told() -> None:
    (found,) = of(asked_reliability(study(n=4), per_stage=False))
    assert found.alpha.value is None
    assert "fewer than 5 people" in found.alpha.why


def test_a_scale_is_an_outcome_of_the_declared_design() -> None:
    """Its analysis of variance is AnovaRM's on the scores made by hand from the answers."""
    declared = {
        "design": {"within": ["model"]},
        "analysis": {"outcomes": {"primary": ["reliance"]}},
    }
    tables = asked_reliability(study(declared, n=15))
    answers = tables.answers
    counts = answers["value"].where(answers["item"] != REVERSED, 8 - answers["value"])
    made = answers.assign(value=counts).groupby(["participant", "model"], as_index=False)["value"]
    theirs = AnovaRM(made.mean(), "value", "participant", within=["model"]).fit().anova_table
    findings = Findings.find(tables.included())
    rows = pd.DataFrame(REPORT.statistics(findings.of[REPORT]))
    ours = rows[(rows["quantity"] == "reliance") & (rows["test"] == "ANOVA F")].iloc[0]
    assert ours["statistic"] == pytest.approx(theirs["F Value"].iloc[0], abs=1e-8)
    assert ours["p"] == pytest.approx(theirs["Pr > F"].iloc[0], abs=1e-8)
    assert (rows["kind"] == "contrast").sum() == 3


@pytest.mark.r
@pytest.mark.parametrize(
    "more",
    [{}, {"per_stage": False, "versions": (1, 2), "rule": "sum", "gaps": 5, "enough": 5}],
    ids=["each model", "two versions of a sum with gaps"],
)
def test_r_has_the_same_numbers(more: Mapping[str, Any], tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)
    tables = asked_reliability(study(n=60), **more)
    done = r_says(tables, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) numbers compared, 0 off", done.stdout)
    assert told is not None
    compared = pd.read_csv(tmp_path / "analysis-R.csv")
    asked_for = compared[compared["quantity"].str.startswith("reliance reliance")]
    scales = len(of(tables))
    for what in ("alpha", "omega", "n", "scores missing"):
        assert (asked_for["what"] == what).sum() == scales, what
    # The script asks psych as well where R has it; our test machines do not always.
    by_psych = (asked_for["what"] == "alpha, by psych").sum()
    assert by_psych == (scales if r_lacks("psych") == [] else 0)
    assert asked_for["what"].str.match(r"score \d+").sum() == len(tables.scores)


@pytest.mark.r
@pytest.mark.parametrize("column", ["alpha", "omega"])
def test_r_finds_what_is_off(column: str, tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)

    def spoil(folder: Path) -> None:
        path = folder / "reliability.csv"
        rows = pd.read_csv(path)
        rows.loc[rows["item"].isna(), column] += 1e-3
        rows.to_csv(path, index=False)

    done = r_says(asked_reliability(study(n=26), per_stage=False), tmp_path, spoil)
    assert done.returncode == 1
    assert re.search(r"[1-9]\d* off", done.stdout)


def r_says(tables: Tables, folder: Path, spoil: Any = None) -> subprocess.CompletedProcess[str]:
    findings = Findings.find(tables.included())
    write(tables, folder, findings)
    REPORT.write(findings.of[REPORT], folder)
    if spoil is not None:
        spoil(folder)
    command = ["Rscript", str(Path(folder.name) / SCRIPT)]
    return subprocess.run(
        command, cwd=folder.parent, capture_output=True, text=True, timeout=100, check=False
    )
