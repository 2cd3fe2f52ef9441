"""A registration says what the study declares, is frozen, and tells what changed later."""

import json
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis.analyze import analyze
from labapp.analysis.declared import RECORD, Registration
from labapp.analysis.sections import registration_section
from labapp.base.errors import ExportExists, RefusedError, StudyError, UsageError
from labapp.base.report.page import join_parts
from labapp.models.representations.card import hash_installed_card
from labapp.session.planning.preregistration import preregister
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from tests.helpers import concepts
from tests.helpers.beside import put_beside
from tests.study.test_design import OWN

TRUST = """
id: trust
version: 1
title: Trust
source: ours
scores: {trust: {mean: [rely, wary], reverse: [wary]}}
items:
- {id: rely, text: I rely on it, points: 7, low: least, high: most}
- {id: wary, text: I am wary, points: 7, low: least, high: most, only_if: {hint: with}}
- {id: check_1, text: Choose the second, points: 7, low: least, high: most, check: 2}
- {id: expertise, text: I know such pictures, points: 7, low: least, high: most}
"""


def study(tmp_path: Path, text: str = OWN) -> LoadedStudy:
    put_beside(tmp_path)
    (tmp_path / "instruments/trust.yaml").write_text(TRUST)
    path = tmp_path / "own.yaml"
    text = text.replace("  within: [model]", "  by_moderator: [dose]\n  within: [model]")
    path.write_text(text + "- questionnaire: trust\n")
    return loading.load(path)


def test_both_forms_say_what_is_declared(tmp_path: Path) -> None:
    loaded = study(tmp_path)
    made = preregister(loaded, tmp_path / "out")
    for form in ("aspredicted.md", "osf.md"):
        text = (made.folder / form).read_text()
        for fact in (
            loaded.sha256,
            made.sha256,
            "hint, between participants: with, without",
            "model, within participants: sinelines/gt, sinelines/vae, sinelines/ae",
            "+1 × sinelines/gt −0.5 × sinelines/vae −0.5 × sinelines/ae",
            "It is expected to be above 0 (one-sided test).",
            "did not answer 2 to check_1 (rule “attention”)",
            "has a median response time below 2 s (rule “too_fast”)",
            "12 participants who are not excluded in each of 4 conditions, 48 in all.",
            "Holm's correction over the tests of one outcome",
            "completion_rate: 0.15 in “first against the others”",
            "at least 5 of them",
        ):
            assert fact in text, (form, fact)
    osf = (made.folder / "osf.md").read_text()
    assert "Before tests: response_time_s: log." in osf
    texts = [(made.folder / form).read_text() for form in ("aspredicted.md", "osf.md")]
    assert made.open == sum(text.count("[To be written by you: ") for text in texts) > 0


def test_the_study_is_frozen_as_it_is(tmp_path: Path) -> None:
    loaded = study(tmp_path)
    made = preregister(loaded, tmp_path / "out")
    record = (made.folder / RECORD).read_bytes()
    assert sha256(record).hexdigest() == made.sha256
    files = json.loads(record)["files"]
    assert files.keys() == loaded.files.keys()
    for name, digest in files.items():
        copy = (made.folder / "study" / name).read_bytes()
        assert copy == loaded.files[name]
        assert sha256(copy).hexdigest() == digest
    with pytest.raises(ExportExists):
        preregister(loaded, tmp_path / "out")
    assert (made.folder / RECORD).read_bytes() == record


def test_later_changes_are_told_one_by_one(tmp_path: Path) -> None:
    made = preregister(study(tmp_path), tmp_path / "out")
    registered = Registration.read(made.folder)
    assert list(registered.changes(study(tmp_path).study.declared)) == []
    changed = OWN.replace("per_cell: 12", "per_cell: 10").replace(
        "  too_fast:  {median_response_s_below: 2}\n", ""
    )
    later = study(tmp_path, changed.replace("correction: holm", "correction: none"))
    assert sorted(registered.changes(later.study.declared)) == [
        'analysis.correction: registered as "holm"; now "none"',
        "design.per_cell: registered as 12; now 10",
        'exclude.too_fast: registered as {"median_response_s_below": 2.0}; now missing',
    ]
    assert registered.find_unregistered(
        ["completion_rate", "seq"], ["first against the others", "ae − vae"]
    ) == ["seq", "ae − vae"]


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"format": 2}', b'{"format": 1}', b"\xff"])
def test_what_is_no_registration_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(RefusedError, match="cannot be read as a registration"):
        Registration.read(tmp_path)


def test_a_study_that_declares_nothing_has_nothing_to_register(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not declare any hypotheses"):
        preregister(loading.load("quickstart"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


PROCEDURE = OWN.replace(
    "flow:\n- consent: texts/{language}/consent.md\n",
    "when_interrupted: restart_stage\nflow:\n- consent: texts/{language}/consent.md\n"
    "- text: extra.md\n  only_if: {hint: with}\n",
)


def test_the_forms_say_who_meets_what_and_by_which_rules(tmp_path: Path) -> None:
    (tmp_path / "extra.md").write_text("# Extra\n")
    loaded = study(tmp_path, PROCEDURE)
    made = preregister(loaded, tmp_path / "out")
    for form in ("aspredicted.md", "osf.md"):
        text = (made.folder / form).read_text()
        for fact in (
            "* text extra.md: only where hint is with",
            "* item trust.wary: asked only where hint is with",
            "Checks of attention and comprehension:",
            "check_1, passed by 2",
            "solved from an alignment of 90 % on (alignment by the distance ",
            "can be skipped ",
            "begins again with its first question",
            f"* model sinelines/gt: {hash_installed_card('sinelines/gt')[:12]}",
        ):
            assert fact in text, (form, fact)


def test_models_are_frozen_and_another_one_is_told(tmp_path: Path) -> None:
    made = preregister(study(tmp_path), tmp_path / "out")
    registration = Registration.read(made.folder)
    names = ("sinelines/gt", "sinelines/vae", "sinelines/ae")
    assert registration.models == {name: hash_installed_card(name) for name in names}
    people = pd.DataFrame(
        [("own", f"P{n}", "1", 1, registration.study_sha256, False) for n in range(3)],
        columns=["study", "participant", "session", "study_version", "study_sha256", "simulated"],
    ).assign(started_utc=None, included=False, declared=json.dumps(registration.declared))
    same = {("own", f"P{n}", "1"): dict(registration.models) for n in range(3)}

    def told(cards: dict[tuple[str, str, str], dict[str, str]]) -> str:
        return str(join_parts(registration_section([registration], "own", people, None, cards)))

    assert "differs from the registered one" not in told(same)
    other = {**same, ("own", "P1", "1"): {"sinelines/vae": "0" * 64, "sinelines/new": "1" * 64}}
    assert "1 session of 3 had a model sinelines/vae that differs from the registered one" in told(
        other
    )
    assert "sinelines/new was shown but is not a registered model" in told(other)
    # A registration of an earlier version names none.
    record = json.loads((made.folder / RECORD).read_text())
    (tmp_path / RECORD).write_text(json.dumps({k: v for k, v in record.items() if k != "models"}))
    registration = Registration.read(tmp_path)
    assert "another model" not in told(other)


def test_a_report_compares_the_models_of_its_sessions(tmp_path: Path) -> None:
    made = preregister(study(tmp_path), tmp_path / "out")
    record = json.loads((made.folder / RECORD).read_text())
    record["models"]["sinelines/vae"] = "0" * 64
    (tmp_path / RECORD).write_text(json.dumps(record))
    simulate_study(str(tmp_path / "own.yaml"), 2, "knowing", tmp_path / "data")
    page = analyze([tmp_path / "data"], tmp_path / "report", registrations=[tmp_path / RECORD])
    text = page.read_text("utf-8")
    assert (
        "4 sessions of 4 had a model sinelines/vae that differs from the registered one" in text
    ), "two each"
    assert "a model sinelines/gt that differs" not in text


def of_task(tmp_path: Path, hypothesis: str) -> Path:
    path = concepts.write_study(tmp_path / "study", concepts.write(tmp_path, 2))
    cells = "{a: {which: first}, b: {which: second}}"
    path.write_text(
        path.read_text("utf-8")
        + f"assignment: {{place: {{draw: 1, included: 3, cells: {cells}}}}}\n"
        + f"hypotheses:\n  - {hypothesis}\n",
        "utf-8",
    )
    return path


def test_a_hypothesis_that_a_task_tests_is_registered_with_its_measure_and_method(
    tmp_path: Path,
) -> None:
    path = of_task(tmp_path, "{text: Impure models are forecast worse., test: leak_sensitivity}")
    made = preregister(loading.load(path), tmp_path / "out")
    for form in ("aspredicted.md", "osf.md"):
        text = (made.folder / form).read_text("utf-8")
        assert "1. (primary) Impure models are forecast worse. Tested by “leak_sensitivity”" in text
        assert "* primary: d' of forecasts that the answer moves" in text
        assert "the number of models less two as degrees of freedom" in text
        assert "analyses of variance" not in text  # no outcome of the design is declared
        assert "6 participants who are not excluded; the study file has 2 places" in text
    declared = Registration.read(made.folder).declared
    assert declared["hypotheses"][0]["test"] == "leak_sensitivity"


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("{text: A, test: no_such}", "none of the study's tasks has a test 'no_such'"),
        ("{text: A, test: card_trust, outcome: gain}", "an outcome, or the test of a task"),
        ("{text: A}", "an outcome, or the test of a task"),
        ("{text: A, test: card_trust, direction: less}", "without contrast, term and direction"),
    ],
)
def test_a_hypothesis_names_one_test_that_there_is(
    hypothesis: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match=told):
        loading.load(of_task(tmp_path, hypothesis))
