"""Whatever stands in a manifest or a table, there are faults or a set, and never a crash."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from labapp.base.errors import StimuliError
from labapp.models.stimuli import library, sources
from labapp.models.stimuli.check import check
from labapp.models.stimuli.library import StimulusSet
from tests.helpers import concepts, stimuli
from tests.helpers.sample import examples
from tests.models.stimuli.test_sources import as_tables

INTERVENTIONS = "interventions"
NAMES = st.sampled_from((*stimuli.NAMES, INTERVENTIONS))
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.just([1, "a", None]),
    st.sampled_from(["s00", "s01", "p00", "p01", "../x.png", "bird:1:test:1:1", "a.png", "1"]),
)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """Every small set, in a folder each; beside it its manifest as it was."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (*stimuli.NAMES, INTERVENTIONS):
            made = small(Path(folder), name)
            shutil.copy(made.folder / library.MANIFEST, Path(folder) / f"{name}.json")
        yield Path(folder)


def small(folder: Path, name: str) -> StimulusSet:
    """The small set of a name."""
    if name == INTERVENTIONS:
        return concepts.write(folder, 2, each=1, natural=1, name=f"tiny-{name}")
    return stimuli.write(folder, name)


def changed(value: Any, odd: Any, random: Random) -> Any:
    """The value with one place of it, anywhere, made odd or left out."""
    at = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = random.choice(keys)
        inner = at[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.75:
            at = inner
            continue
        if random.random() < 0.5:
            at[key] = odd
        else:
            del at[key]
        return value


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES, odd=ODD, seed=st.integers(0, 10**6))
def test_an_odd_manifest_is_told_or_taken(root: Path, name: str, odd: Any, seed: int) -> None:
    folder = root / f"tiny-{name}"
    value = json.loads((root / f"{name}.json").read_text("utf-8"))
    text = json.dumps(changed(value, odd, Random(seed)))
    (folder / library.MANIFEST).write_text(text, "utf-8")
    found = check(sources.read(folder))
    assert (found.manifest is None) == bool(found.faults)
    assert all(isinstance(one, str) and one.startswith("manifest.json") for one in found.faults)


@examples(60)
@given(st.binary(max_size=200))
def test_any_bytes_are_told(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / library.MANIFEST).write_bytes(content)
        assert check(sources.read(folder)).faults
        with pytest.raises(StimuliError):
            library.load(folder)


@examples(30)
@given(
    name=st.sampled_from(["prototype-distinction", "path-distinction", "scores", INTERVENTIONS]),
    table=st.sampled_from([*sources.COLUMNS, "set.json"]),
    place=st.floats(0, 1),
    put=st.sampled_from(
        [b"", b",", b'"', b"\n", b"\xff", b"\0", b";", b"nan", b"-1", b"|", b"x,y"]
    ),
)
def test_a_damaged_table_is_told_or_taken(name: str, table: str, place: float, put: bytes) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = as_tables(small(Path(root), name))
        assume((folder / table).exists())
        content = (folder / table).read_bytes()
        at = round(place * len(content))
        (folder / table).write_bytes(content[:at] + put + content[at + len(put) :])
        found = check(sources.read(folder))
        assert (found.manifest is None) == bool(found.faults)
