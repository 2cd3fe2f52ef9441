"""What is in which wheel."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.representations import package

ROOT = Path(__file__).parents[2]
WHEELS = sorted(ROOT.glob("scripts/wheels/*/pyproject.toml"))


def families() -> dict[str, list[str]]:
    """By package of models, the families that its wheel has."""
    found = {}
    for file in WHEELS:
        read = tomllib.loads(file.read_text("utf-8"))
        inside = read["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
        for source, target in inside.items():
            assert (file.parent / source).resolve() == ROOT / "models" / Path(target).name
            assert Path(target).parent == Path("labapp/_data/models")
        found[read["project"]["name"]] = [Path(target).name for target in inside.values()]
    return found


def test_models_are_in_wheels_that_a_package_index_takes() -> None:
    """No file above 100 MB; what people need without asking for it is in labapp's own."""
    models = ROOT / "models"
    sizes = {
        path.name: sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        for path in models.iterdir()
        if path.is_dir() and not path.name.startswith(".")
    }
    apart = [family for each in families().values() for family in each]
    assert len(apart) == len(set(apart)) > 1
    assert set(apart) <= sizes.keys()
    assert sum(size for name, size in sizes.items() if name not in apart) < 16e6
    for name, each in families().items():
        assert sum(sizes[family] for family in each) < 107e6, name


def test_a_model_that_is_in_another_wheel_is_said_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "models_elsewhere", lambda: {"digits/a": "labapp-models-digits"})
    with pytest.raises(ModelError, match="comes with the package labapp-models-digits") as error:
        package.load_package("digits/a")
    assert error.value.todo.endswith("-m pip install labapp-models-digits")


def test_a_checkout_has_all_models() -> None:
    assert resources.models_elsewhere() == {}
    for each in families().values():
        for family in each:
            assert any((ROOT / "models" / family).iterdir())
