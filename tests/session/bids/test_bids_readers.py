"""Bundles of every kind of study open in PyBIDS and ancpbids, which list what is in them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from labapp.session.bids.export import export
from labapp.session.bids.folder import ENTITIES, bids_name
from labapp.session.simulation.at_scale import simulate_at_scale
from tests.helpers.bids import validator_errors
from tests.helpers.sample import sample

with warnings.catch_warnings():
    # Of their own imports; what they say of a bundle must be heard.
    warnings.simplefilter("ignore")
    import ancpbids
    import bids
    from bids.layout import Config

STUDIES = {
    "quickstart": {"reconstruction", "session"},
    "synthetic-think-aloud": {"reconstruction", "singledimension", "session"},
    "gradcam-distinction": {"judging", "session"},
    "protopnet-agreement": {"judging", "session"},
    "prototree-agreement-tree": {"judging", "warmup", "session"},
    "unmasking-faces": {"unmasking", "session"},
}
"""One of each kind of shipped study, and its tasks. `benchmarks/bids_readers.py` opens bundles of
all studies."""


FEW = ("prototree-agreement-tree", "synthetic-think-aloud", "unmasking-faces")
"""In which every task is."""


@pytest.fixture(scope="module", params=sample(sorted(STUDIES), FEW))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A study, and the bundle of two simulated participants."""
    folder = tmp_path_factory.mktemp("bids")
    sessions = simulate_at_scale(request.param, 2, "understanding", folder / "data", number=1)
    return request.param, export(sessions, folder / "bundle")


def test_pybids_lists_tasks_participants_and_sessions(made: tuple[str, Path]) -> None:
    study, bundle = made
    layout = bids.BIDSLayout(bundle)
    assert set(layout.get_tasks()) == STUDIES[study]
    assert layout.get_subjects() == sorted(path.name[4:] for path in bundle.glob("sub-*"))
    assert layout.get_sessions() == ["1"]
    tables = layout.get(suffix=["beh", "events"], extension="tsv")
    assert len(tables) == len(list(bundle.glob("sub-*/ses-*/beh/*.tsv")))
    for file in tables:
        assert not file.get_df().empty


def test_ancpbids_lists_tasks_participants_and_sessions(made: tuple[str, Path]) -> None:
    study, bundle = made
    entities = ancpbids.load_dataset(str(bundle)).query_entities()
    assert entities["task"] == STUDIES[study]
    assert entities["subject"] == {path.name[4:] for path in bundle.glob("sub-*")}
    assert entities["session"] == {"1"}


def test_the_validator_finds_no_error(made: tuple[str, Path]) -> None:
    assert validator_errors(made[1]) == []


def test_no_column_is_called_like_an_entity(made: tuple[str, Path]) -> None:
    """In any table of the bundle: neither like one nor like several of it."""
    _, bundle = made
    for sidecar in bundle.glob("**/*.json"):
        if "sourcedata" not in sidecar.parts:
            names = set(json.loads(sidecar.read_text()))
            assert not {name.removesuffix("s") for name in names} & ENTITIES, sidecar
            assert not names & ENTITIES, sidecar


def test_every_task_is_in_the_sample() -> None:
    assert set().union(*STUDIES.values()) == set().union(*(STUDIES[study] for study in FEW))


def test_the_entities_are_those_of_pybids() -> None:
    assert set(Config.load("bids").entities) == ENTITIES
    assert bids_name("task") == "labapp_task"
    assert bids_name("sessions") == "labapp_sessions"
    assert bids_name("session_id") == "session_id"
