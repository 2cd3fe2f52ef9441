"""Versions that are stated in more than one place are those of the code."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
import yaml

from labapp import __version__
from labapp.models.concepts import card as concept_cards
from labapp.models.representations import card as cards
from labapp.models.stimuli.manifest import Manifest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "formats.md"
ROW = re.compile(r"^\| (.+?) \| (\d*) \| .* \| `?([\w.:]*)`? ?\|$", re.MULTILINE)


def _rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text("utf-8"))


def test_the_page_states_the_versions_of_the_code() -> None:
    stated = {code: version for _, version, code in _rows() if code}
    assert len(stated) >= 7
    for code, version in stated.items():
        module, _, name = code.partition(":")
        assert getattr(import_module(module), name) == int(version), code


@pytest.mark.parametrize(
    ("model", "field", "row"),
    [
        (cards.ModelCard, "card", "model packages"),
        (concept_cards.ConceptCard, "card", "model packages"),
        (Manifest, "format", "stimulus sets"),
    ],
)
def test_cards_and_manifests_have_the_version_of_the_page(
    model: type, field: str, row: str
) -> None:
    (version,) = [version for name, version, _ in _rows() if name.startswith(row)]
    assert get_args(model.model_fields[field].annotation) == (int(version),)  # type: ignore[attr-defined]


def test_the_version_of_labapp_has_one_source() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert str(citation["version"]) == __version__
    for file in (ROOT / "pyproject.toml", *ROOT.glob("scripts/wheels/*/pyproject.toml")):
        project = tomllib.loads(file.read_text("utf-8"))
        assert "version" in project["project"]["dynamic"], file
        source = file.parent / project["tool"]["hatch"]["version"]["path"]
        assert source.resolve() == ROOT / "labapp" / "__init__.py"
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_descriptions_for_the_package_index_link_to_no_file() -> None:
    """The index has none of them."""
    projects = ROOT.glob("scripts/wheels/*/pyproject.toml")
    texts = [
        (ROOT / "scripts" / "wheels" / "about.md").read_text("utf-8"),
        *(tomllib.loads(file.read_text("utf-8"))["project"]["readme"]["text"] for file in projects),
    ]
    assert len(texts) == 3
    for text in texts:
        assert not re.findall(r"\]\((?!https?://)", text)
        assert "<img" not in text


def test_notes_of_the_release_fit_on_a_screen() -> None:
    notes = (ROOT / "CHANGELOG.md").read_text("utf-8").partition(f"## {__version__}")[2]
    assert len(notes.partition("\n## ")[0].split()) < 400
