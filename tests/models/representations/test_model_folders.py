"""Two folders of models, the shipped one and the user's: what an id finds, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models import catalog as models_catalog
from labapp.models.representations import package
from tests.helpers.packages import copied


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models; it does not exist yet."""
    folder = tmp_path / "own models"
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


def test_the_users_folder_is_no_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABAPP_MODELS")
    monkeypatch.delenv("LABAPP_PRIVATE", raising=False)
    folder = resources.user_models()
    assert folder.is_absolute()
    assert not folder.is_relative_to(Path(resources.__file__).parents[1])
    assert folder.parent == resources.private_root().parent


def test_a_folder_named_twice_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(resources.models() / ".." / "models"))
    assert resources.model_roots() == (resources.models(),)
    assert package.find("sinelines/gt") == resources.models() / "sinelines/gt"


def test_a_model_of_the_users_is_found_beside_the_shipped_ones(own: Path) -> None:
    shipped = package.list_packages()
    folder = copied(own, "sinelines/lab")
    assert package.find("sinelines/lab") == folder
    assert package.load_package("sinelines/lab").id == "sinelines/lab"
    assert package.find("sinelines/gt") == resources.models() / "sinelines/gt"
    assert package.list_packages() == sorted([*shipped, "sinelines/lab"])


def test_the_list_says_where_each_comes_from(own: Path) -> None:
    folder = copied(own, "sinelines/lab")
    (own / "sinelines/broken").mkdir()
    (own / "sinelines/broken/model.yaml").write_text("card: 1\n")
    rows = {row["id"]: row for row in models_catalog.models()}
    assert (rows["sinelines/lab"]["source"], rows["sinelines/lab"]["folder"]) == (
        "own",
        str(folder),
    )
    assert rows["sinelines/broken"]["source"] == "own"
    assert "problem" in rows["sinelines/broken"]
    assert rows["sinelines/gt"]["source"] == "shipped"
    (row,) = [row for row in models_catalog.models(own) if "problem" not in row]
    assert row["source"] == "own"


def test_an_id_that_names_two_models_is_refused_and_never_shadowed(own: Path) -> None:
    folder = copied(own, "sinelines/gt")
    with pytest.raises(ModelError) as caught:
        package.load_package("sinelines/gt")
    assert str(folder) in caught.value.what
    assert str(resources.models() / "sinelines/gt") in caught.value.what
    assert caught.value.todo
    assert package.load_package(folder).id == "sinelines/gt", "by its folder it can be had"
    (row,) = [row for row in models_catalog.models() if row["id"] == "sinelines/gt"]
    assert row["problem"] == caught.value.what
    assert package.list_packages().count("sinelines/gt") == 1


def test_a_model_that_is_missing_is_looked_up_where_the_message_says(own: Path) -> None:
    copied(own, "sinelines/lab")
    with pytest.raises(ModelError) as caught:
        package.find("mnist/ae5")
    todo = caught.value.todo
    for part in (str(own), str(resources.models()), "import-tfjs", "train", "sinelines/lab"):
        assert part in todo


def test_an_id_of_the_users_cannot_lead_out_by_a_link(own: Path, tmp_path: Path) -> None:
    outside = copied(tmp_path / "elsewhere", "sinelines/lab")
    (own / "sinelines").mkdir(parents=True)
    (own / "sinelines/lab").symlink_to(outside)
    with pytest.raises(ModelError, match="link out of the models folder"):
        package.find("sinelines/lab")


def test_a_new_package_takes_no_id_that_is_taken(own: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        package.refuse_existing(own / "sinelines/vae")
    assert str(resources.models() / "sinelines/vae") in caught.value.what
    copied(own, "sinelines/lab")
    with pytest.raises(ModelError, match="never overwritten"):
        package.refuse_existing(own / "sinelines/lab")
    with pytest.raises(ModelError, match="is taken"):
        package.refuse_existing(resources.models() / "sinelines/lab")
    package.refuse_existing(own / "sinelines/new")
    package.refuse_existing(tmp_path / "a folder of its own" / "sinelines/vae")
