"""What the report says of questionnaires, against figures by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis import load, task_report
from labapp.analysis.analyze import report
from labapp.analysis.item_sections import questionnaires
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import Findings
from labapp.base import resources
from labapp.base.report.page import joined
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    SessionCompleted,
)
from labapp.record.events.trials import QuestionnaireSubmitted
from labapp.session.bids.export import export
from labapp.study.loading import files_digest
from tests.analysis.sessions import builder, stage_row
from tests.analysis.test_report import Page
from tests.helpers.journals import SessionBuilder
from tests.helpers.nightly import EVERYTHING
from tests.helpers.questionnaires import TLX_PAIRS, TLX_SUBSCALES

MADE = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
MODELS = ("mnist8k/ae5", "mnist8k/ss5")
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
    models = MODELS if participant == "P01" else MODELS[::-1]
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
    return Page(str(joined(questionnaires(counted, "s1")))).text


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
    assert "6 less the answer to “Stage k was easy”" in str(meaning)


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
