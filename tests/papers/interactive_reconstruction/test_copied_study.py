"""A copy of a published study under other ids has the same rows, tests, values and figures: they
follow what study and cards declare."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from labapp.analysis.analyze import statistics
from labapp.analysis.columns import table_columns
from labapp.analysis.tables import Tables, build_frame, load
from labapp.analysis.task_report import Findings, ReportedStudy
from labapp.base import resources
from labapp.base.report.page import join_parts
from labapp.papers.interactive_reconstruction import results
from labapp.papers.interactive_reconstruction.profile import PROFILE
from labapp.session.planning.power import plan_groups
from labapp.session.planning.thresholds import People
from labapp.session.simulation.simulation_job import simulate_study

COPIES = {"sinelines/ae": "zz/first", "sinelines/vae": "aa/second", "sinelines/gt": "mm/third"}
"""Other data folders, and in another alphabetical order."""
ORIGINAL = "synthetic-crowd"
STUDY = """
id: my-own
title: Copy
version: 1
unnamed_texts: shipped
seed: 8
replicates: {{paper: "000", study: synthetic-crowd, run: crowd}}
flow:
  - stages:
      task: reconstruction
      models: [{models}]
      trials: 2
      skip: always
      after: [shipped:seq]
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    """Real sessions of the copy, with real models under other ids."""
    folder = tmp_path_factory.mktemp("copied")
    for model, copy in COPIES.items():
        shutil.copytree(resources.models() / model, folder / "models" / copy)
        card = folder / "models" / copy / "model.yaml"
        text = card.read_text("utf-8")
        assert f"id: {model}\n" in text
        card.write_text(text.replace(f"id: {model}\n", f"id: {copy}\n"), "utf-8")
    study = folder / "own.yaml"
    study.write_text(STUDY.format(models=", ".join(COPIES.values())), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABAPP_MODELS", str(folder / "models"))
        simulate_study(str(study), 6, "understanding", folder / "data", 3)
        yield load(folder / "data")


def renamed(text: str) -> str:
    """A text about the copy as one about the original."""
    for model, copy in COPIES.items():
        text = text.replace(copy, model)
    return text.replace("my-own", ORIGINAL)


def as_original(tables: Tables) -> Tables:
    """The same sessions, as if the original had been run."""
    made = {}
    for name, frame in tables.small().items():
        texts = frame.select_dtypes("string").columns
        columns = {column: frame[column].map(renamed, na_action="ignore") for column in texts}
        made[name] = frame.assign(**columns).astype(frame.dtypes.to_dict())
    return Tables.of(made, build_frame([], table_columns()["snapshots"]))


def rows_of(tables: Tables) -> list[str]:
    """What the profile has in the table of statistics, and the terms of the default analyses."""
    every = statistics(Findings.find(tables.included()))
    chosen = every[every["item"].notna() | (every["kind"] == "test")]
    return [renamed(line) for line in chosen.to_csv(index=False, float_format="%.9g").splitlines()]


def test_its_rows_tests_and_published_values_are_the_originals(simulated: Tables) -> None:
    own = rows_of(simulated)
    assert own == rows_of(as_original(simulated))
    assert sum("repeated-measures ANOVA" in line for line in own) >= 3
    text = "\n".join(own)
    known = results.rows()
    printed = next(
        row for row in known
        if (row.study, row.model, row.quantity, row.measure)
        == (ORIGINAL, "ae", "completion_rate", "mean") and row.dataset == "sinelines"
        and row.task == "reconstruction" and row.value is not None
    )  # fmt: skip
    assert printed.spread in text, "what the paper prints stands beside our mean"


def test_its_figures_are_the_originals(simulated: Tables) -> None:
    def drawn(tables: Tables) -> list[tuple[str, str, str]]:
        findings = PROFILE.findings(tables.included(), ())
        plates = PROFILE.plates(tables, findings)
        return [
            (renamed(plate.name), renamed(plate.label), renamed(plate.caption)) for plate in plates
        ]

    own = drawn(simulated)
    assert len(own) == 2
    assert own == drawn(as_original(simulated))


def test_its_sections_and_plan_are_the_originals(simulated: Tables) -> None:
    def said(tables: Tables) -> tuple[str, list[tuple[object, ...]]]:
        counted = tables.included()
        (study,) = counted.participants["study"].unique()
        findings = PROFILE.findings(counted, ())
        shown = ReportedStudy(str(study), "s", tables, counted)
        sections = str(join_parts(PROFILE.sections(shown, findings)))
        # Where a curve begins in its drawing, and ids of drawings, are of no meaning.
        texts = re.sub(r"<svg.*?</svg>", "", sections, flags=re.DOTALL)
        who = sorted(map(str, tables.participants["participant"].unique()))
        people = People(tables, dict.fromkeys(who, "random"), tables.trials, {"random": 1.0})
        groups, left_out = plan_groups(people)
        plan = [
            (group.name, group.words, group.levels, pool.metric, renamed(test.name),
             pool.values.tolist())
            for group in groups for pool in group.pools for test in pool.tests
        ]  # fmt: skip
        assert left_out == []
        return renamed(texts), plan

    assert said(simulated) == said(as_original(simulated))
