"""Simulated sessions of two small studies, analysed once for all tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.analyze import write
from labapp.analysis.task_report import Findings
from labapp.papers.interactive_reconstruction.profile import PROFILE, GroupFindings
from labapp.papers.interactive_reconstruction.results import GroupResults
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.sample import EVERYTHING
from tests.helpers.undrawn import without_drawing

MODELS = ("sinelines/ae", "sinelines/vae", "sinelines/gt")
HEAD = """
id: {id}
title: {id}
version: 1
unnamed_texts: shipped
language: en
presentation: as_published
seed: 5
participants: {{pattern: "P{{:02d}}"}}
recording: {{audio: off}}
analysis: {{profile: ross2021}}
"""
WITHIN = (
    HEAD.format(id="small-within")
    + """
flow:
  - consent: shipped:consent-crowd
  - stages:
      task: reconstruction
      models: [sinelines/ae, sinelines/vae, sinelines/gt]
      order: random
      trials: 1
      target_alignment: 0.90
      skip: after
      skip_after_s: 30
      think_aloud: false
      after: [shipped:seq, shipped:nasa-tlx, shipped:understanding]
  - stages:
      task: single-dimension
      visualisation: exemplars
      models: [sinelines/ae, sinelines/vae, sinelines/gt]
      order: random
      questions_per_dimension: 1
      think_aloud: false
      after: [shipped:seq]
  - questionnaire: shipped:synthetic-end
  - debrief: shipped:debrief-synthetic
"""
)
BETWEEN = (
    HEAD.format(id="small-between")
    + """
assignment:
  model:
    draw: 1
    included: 3
    cells: {ae: {}, vae: {}, gt: {}}
flow:
  - consent: shipped:consent-crowd
  - stages:
      task: reconstruction
      models: ["sinelines/{model}"]
      trials: 1
      target_alignment: 0.90
      skip: after
      skip_after_s: 30
      think_aloud: false
      after: [shipped:seq]
  - debrief: shipped:debrief-synthetic
"""
)
PARTICIPANTS = {"small-within": 5, "small-between": 8}


@dataclass(frozen=True)
class Analysed:
    """What is known of some sessions, and the folder with the files that were written."""

    tables: Tables
    found: Findings
    folder: Path

    @property
    def groups(self) -> tuple[GroupResults, ...]:
        """What the models of each group say."""
        of_models: GroupFindings = self.found.of[PROFILE]
        return of_models.groups

    def of_profile(self) -> pd.DataFrame:
        """The rows of the table of statistics that are the profile's, not the default analyses'."""
        rows = self.csv("statistics")
        items = pd.to_numeric(rows["item"], errors="coerce")
        return rows.assign(item=items)[items.notna()]

    def csv(self, name: str) -> pd.DataFrame:
        """A table as anybody reads it; of the statistics those of the profile."""
        rows = read(self.folder, name)
        return rows[rows["kind"].isna()] if name == "statistics" else rows


@cache
def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv")


def analysed(tables: Tables, folder: Path, found: Findings) -> Analysed:
    with without_drawing():
        write(tables, folder, found)
    return Analysed(tables, found, folder)


def of_the_profile(counted: Tables) -> Findings:
    return Findings(counted, {PROFILE: PROFILE.findings(counted, ())})


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Sessions of both studies."""
    folder = tmp_path_factory.mktemp("compared")
    for text in (WITHIN, BETWEEN):
        name = text.split()[1]
        path = folder / f"{name}.yaml"
        path.write_text(text)
        simulate_study(str(path), PARTICIPANTS[name], "understanding", folder / name, seed=3)
    return load([folder / name for name in PARTICIPANTS])


@pytest.fixture(scope="session")
def whole(simulated: Tables, tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    """As they were recorded; what the profile says of them and, in `make nightly`, the default
    analyses."""
    counted = simulated.included()
    found = Findings.find(counted) if EVERYTHING else of_the_profile(counted)
    return analysed(simulated, tmp_path_factory.mktemp("whole"), found)


@pytest.fixture(scope="session")
def gapped(simulated: Tables, tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    """A participant of the first study lacks a model, and one left some dials where they were, so
    that not everything is solved. What the profile says of them, without the default analyses."""
    stages = simulated.stages.copy()
    within = (stages["study"] == "small-within") & (stages["task"] == "reconstruction")
    lacks = within & (stages["participant"] == "P01") & (stages["model"] == MODELS[0])
    unsolved = within & (stages["model"] == MODELS[0]) & (stages["stage_number"] != 2)
    stages.loc[unsolved, "completion_rate"] = 0.5
    frames = simulated.by_name() | {"stages": stages[~lacks].reset_index(drop=True)}
    tables = Tables.of(frames, frames["snapshots"])
    found = of_the_profile(tables.included())
    return analysed(tables, tmp_path_factory.mktemp("gapped"), found)
